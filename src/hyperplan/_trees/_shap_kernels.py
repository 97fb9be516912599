"""Shapley values of trees, in time proportional to the nodes.

Owen's integral writes the Shapley value of feature f for one leaf of value v as

    phi_f = v int_0^1 (o_f - z_f) prod_{g != f} F_g(t) dt,    F_g(t) = (1 - t) z_g + t o_g,

over the features g on the way to the leaf: z_g is the share of the training weight that g's splits send this way, and
o_g is 1 if they all send the row this way, else 0.  The integrand is a polynomial, for which Gauss's rule with half as
many points as features is exact.  At fixed t all leaves below an edge share the factor of that edge: a walk through
the tree multiplies factors on its way down and collects sums on its way up.  All factors lie between 0 and 1, and no
polynomial is ever divided.

Rows go through a tree in blocks, so that the innermost loops run over rows.  X is float32, one row per observation.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._trees._surrogate_kernels import substitute

BLOCK = 32  # rows that walk together


@kernel
def measure(trees, parent, distinct, depth, reach):  # OUT: parent, distinct, depth, reach
    """Of every node: parent, features and splits above it, product of shares.  Children follow their parents."""
    for t in range(trees.root.shape[0]):
        parent[trees.root[t]], reach[trees.root[t]] = -1, 1.0
    for node in range(trees.left.shape[0]):
        up, seen = parent[node], False
        while up >= 0 and trees.left[node] >= 0:
            seen = seen or trees.feature[up] == trees.feature[node]
            up = parent[up]
        for child in (trees.left[node], trees.right[node]):
            if trees.left[node] >= 0:
                parent[child] = node
                distinct[child] = distinct[node] + (0 if seen else 1)
                depth[child] = depth[node] + 1
                reach[child] = reach[node] * trees.share[child]


@kernel
def decide(X, node, trees, left):  # OUT: left
    """The model's own decision for each row: 1 is left."""
    feature, threshold, last = trees.feature[node], trees.threshold[node], trees.n_codes[node]
    fallback = np.int8(trees.missing_left[node])
    n_others = trees.other_feature.shape[1]
    for i in range(X.shape[0]):
        x = X[i, feature]
        if math.isnan(x):
            left[i] = fallback
            if n_others > 0:
                others = (trees.other_feature, trees.other_threshold, trees.other_reversed)
                left[i] = np.int8(substitute(X, i, node, others[0], others[1], others[2], trees.missing_left))
        elif last > 0:
            code = np.int64(x) if 0.0 <= x < last else last
            left[i] = np.int8((trees.codes[node, code >> 6] >> np.uint64(code & 63)) & np.uint64(1))
        else:
            left[i] = np.int8(x <= threshold)


@fast_kernel
def pass_factors(above, before, now, ratio, term, n_points, n, below):  # OUT: below
    """Multiply by the factor of an edge; lines are points, columns rows."""
    for q in range(n_points):
        with_before, with_now = term[2, q], term[3, q]
        for b in range(n):
            below[q, b] = above[q, b] * (ratio + before[b] * with_before + now[b] * with_now)


@fast_kernel
def pass_sums(below, scale, before, now, term, n_points, n, above, phi):  # OUT: above, phi
    """Add ``scale * below`` to the sums of the parent, and its part in the edge's feature to phi."""
    for q in range(n_points):
        with_before, with_now = term[0, q], term[1, q]
        for b in range(n):
            amount = scale * below[q, b]
            above[q, b] += amount
            phi[b] += amount * (before[b] * with_before + now[b] * with_now)


@kernel
def go_down(trees, child, side, depth, rule, work, n):  # OUT: work
    """Enter a child: `depth` is the parent's, and work.left[depth] what the rows decided there.

    With the feature's z and o before this edge (1 and 1 if it is new) and after it, a row's factor changes by
    F(z', o') / F(z, o), and its sums will count (o' - z') / F(z', o') - (o - z) / F(z, o).  These take three values,
    by (o, o') = (1, 1), (1, 0) and (0, 0).
    """
    points, rest, weight = rule
    feature = trees.feature[work.node[depth]]
    earlier = depth
    while earlier > 0 and work.feature[earlier] != feature:
        earlier -= 1
    here = depth + 1
    ratio, old_z = trees.share[child], work.zero[earlier]
    new_z = old_z * ratio
    work.node[here], work.feature[here], work.earlier[here], work.zero[here] = child, feature, earlier, new_z
    before, now, left, term = work.one[earlier], work.one[here], work.left[depth], work.term[here]
    for b in range(n):
        now[b] = before[b] if left[b] == side else 0.0
    for q in range(points.shape[0]):
        t, s = points[q], rest[q]
        inverse = 1.0 / (s * old_z + t)
        kept, failed = (s * new_z + t) * inverse, s * new_z * inverse
        term[0, q] = -weight[q] * (1.0 / s + (1.0 - old_z) * inverse)
        term[1, q] = weight[q] * ((1.0 - new_z) / (s * new_z + t) + 1.0 / s)
        term[2, q], term[3, q] = failed - ratio, kept - failed
    pass_factors(work.factor[depth], before, now, ratio, term, points.shape[0], n, work.factor[here])


@kernel
def go_up(trees, depth, first, n_points, work, n, phi):  # OUT: work, phi
    """Leave the node at `depth`: its sums go to its parent, and to the feature of the edge between them."""
    node, before, now = work.node[depth], work.one[work.earlier[depth]], work.one[depth]
    term, feature = work.term[depth], work.feature[depth]
    for k in range(trees.value.shape[1]):
        target, above = phi[feature, first + k], work.sum[depth - 1, k]
        if trees.left[node] < 0:
            if trees.value[node, k] != 0.0:
                pass_sums(work.factor[depth], trees.value[node, k], before, now, term, n_points, n, above, target)
        else:
            pass_sums(work.sum[depth, k], 1.0, before, now, term, n_points, n, above, target)


@kernel
def explain_tree(X, trees, tree, rule, work, phi):  # OUT: work, phi
    """Add one tree to phi (n_features, n_outputs, BLOCK) for at most BLOCK rows."""
    n, n_points, depth = X.shape[0], rule[0].shape[0], 0
    work.node[0], work.stage[0] = trees.root[tree], 0
    work.feature[0], work.zero[0], work.one[0, :n] = -1, 1.0, 1.0
    work.factor[0, :n_points, :n] = 1.0
    while depth >= 0:
        node, stage = work.node[depth], work.stage[depth]
        if trees.left[node] >= 0 and stage < 2:
            if stage == 0:
                work.sum[depth, :, :n_points, :n] = 0.0
                decide(X, node, trees, work.left[depth])
            work.stage[depth] = stage + 1
            child = trees.left[node] if stage == 0 else trees.right[node]
            go_down(trees, child, 1 - stage, depth, rule, work, n)
            depth += 1
            work.stage[depth] = 0
            continue
        if depth > 0:
            go_up(trees, depth, trees.output[tree], n_points, work, n, phi)
        depth -= 1


@kernel
def explain_rows(X, trees, n_points, rules, work, phi, out):  # OUT: work, phi, out
    """Values (n, n_features, n_outputs) of all trees; rules: (points, 1 - points, weights), one line per number."""
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK]
        phi[:] = 0.0
        for tree in range(trees.root.shape[0]):
            m = n_points[tree]
            if m > 0:
                rule = (rules[m, 0, :m], rules[m, 1, :m], rules[m, 2, :m])
                explain_tree(rows, trees, tree, rule, work, phi)
        for i in range(rows.shape[0]):
            for f in range(phi.shape[0]):
                for k in range(phi.shape[1]):
                    out[start + i, f, k] = phi[f, k, i]
