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

BLOCK = 64  # rows that walk together


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
def decide_by_number(X, feature, threshold, fallback, depth, left):  # OUT: left
    for i in range(X.shape[0]):
        x = X[i, feature]
        left[depth, i] = fallback if math.isnan(x) else np.int8(x <= threshold)


@kernel
def decide(X, node, depth, trees, left):  # OUT: left
    """The model's own decision for each row (1 is left), where it asks for a set of codes or has stand-ins."""
    feature, last = trees.feature[node], trees.n_codes[node]
    for i in range(X.shape[0]):
        x = X[i, feature]
        if math.isnan(x):
            others = (trees.other_feature, trees.other_threshold, trees.other_reversed)
            left[depth, i] = np.int8(substitute(X, i, node, others[0], others[1], others[2], trees.missing_left))
        elif last > 0:
            code = np.int64(x) if 0.0 <= x < last else last
            left[depth, i] = np.int8((trees.codes[node, code >> 6] >> np.uint64(code & 63)) & np.uint64(1))
        else:
            left[depth, i] = np.int8(x <= trees.threshold[node])


@kernel
def follow(left, depth, side, earlier, n, one):  # OUT: one
    """Which rows have passed all tests of the feature so far."""
    for b in range(n):
        one[depth + 1, b] = one[earlier, b] if left[depth, b] == side else 0.0


@kernel
def fill_terms(rules, m, old_z, ratio, here, term):  # OUT: term
    """Coefficients of an edge at the m points of a rule.

    With the feature's z and o before this edge (1 and 1 if it is new) and after it, a row's factor changes by
    F(z', o') / F(z, o), and its sums will count (o' - z') / F(z', o') - (o - z) / F(z, o).  These take three values,
    by (o, o') = (1, 1), (1, 0) and (0, 0), and are written as sums of multiples of o and o'.
    """
    new_z = old_z * ratio
    for q in range(m):
        t, s, weight = rules[m, 0, q], rules[m, 1, q], rules[m, 2, q]
        inverse = 1.0 / (s * old_z + t)
        kept, failed = (s * new_z + t) * inverse, s * new_z * inverse
        term[here, 0, q] = -weight * (1.0 / s + (1.0 - old_z) * inverse)
        term[here, 1, q] = weight * ((1.0 - new_z) / (s * new_z + t) + 1.0 / s)
        term[here, 2, q], term[here, 3, q] = failed - ratio, kept - failed


@fast_kernel
def pass_factors(one, term, here, earlier, ratio, m, n, factor):  # OUT: factor
    """Multiply by the factor of the edge to depth `here`."""
    for q in range(m):
        with_before, with_now = term[here, 2, q], term[here, 3, q]
        for b in range(n):
            change = ratio + one[earlier, b] * with_before + one[here, b] * with_now
            factor[here, q, b] = factor[here - 1, q, b] * change


@fast_kernel
def pass_sums(source, line, scale, one, term, here, earlier, size, sums, above, phi, row):  # OUT: sums, phi
    """Add ``scale * source[line]`` to the sums of the parent, and its part in the edge's feature to phi[row]."""
    m, n = size
    for q in range(m):
        with_before, with_now = term[here, 0, q], term[here, 1, q]
        for b in range(n):
            amount = scale * source[line, q, b]
            sums[above, q, b] += amount
            phi[row, b] += amount * (one[earlier, b] * with_before + one[here, b] * with_now)


@kernel
def clear_sums(sums, first, last, m, n):  # OUT: sums
    for line in range(first, last):
        for q in range(m):
            for b in range(n):
                sums[line, q, b] = 0.0


# Arrays are passed whole, with the lines to use: a view counts references, which costs as much as a line of work.
@kernel
def explain_tree(X, trees, tree, n_outputs, rules, m, work, phi):  # OUT: work, phi
    """Add one tree to phi (n_features * n_outputs, BLOCK) for at most BLOCK rows; m points are needed."""
    n, width, simple, depth = X.shape[0], trees.value.shape[1], trees.other_feature.shape[1] == 0, 0
    work.node[0], work.stage[0], work.feature[0], work.zero[0] = trees.root[tree], 0, -1, 1.0
    for b in range(n):
        work.one[0, b] = 1.0
        for q in range(m):
            work.factor[0, q, b] = 1.0
    while depth >= 0:
        node, stage = work.node[depth], work.stage[depth]
        if trees.left[node] >= 0 and stage < 2:
            feature, here, earlier = trees.feature[node], depth + 1, depth
            if stage == 0:
                clear_sums(work.sums, depth * width, here * width, m, n)
                if simple and trees.n_codes[node] == 0:
                    fallback = np.int8(trees.missing_left[node])
                    decide_by_number(X, feature, trees.threshold[node], fallback, depth, work.left)
                else:
                    decide(X, node, depth, trees, work.left)
            work.stage[depth] = stage + 1
            child = trees.left[node] if stage == 0 else trees.right[node]
            while earlier > 0 and work.feature[earlier] != feature:
                earlier -= 1
            ratio, old_z = trees.share[child], work.zero[earlier]
            work.node[here], work.stage[here], work.feature[here] = child, 0, feature
            work.earlier[here], work.zero[here] = earlier, old_z * ratio
            follow(work.left, depth, 1 - stage, earlier, n, work.one)
            fill_terms(rules, m, old_z, ratio, here, work.term)
            pass_factors(work.one, work.term, here, earlier, ratio, m, n, work.factor)
            depth = here
            continue
        for k in range(width if depth > 0 else 0):
            above, row = (depth - 1) * width + k, work.feature[depth] * n_outputs + trees.output[tree] + k
            at = (depth, work.earlier[depth], (m, n))
            if trees.left[node] < 0:
                pass_sums(
                    work.factor, depth, trees.value[node, k], work.one, work.term, at[0], at[1], at[2],
                    work.sums, above, phi, row,
                )  # fmt: skip
            else:
                pass_sums(
                    work.sums, depth * width + k, 1.0, work.one, work.term, at[0], at[1], at[2],
                    work.sums, above, phi, row,
                )  # fmt: skip
        depth -= 1


@kernel
def explain_rows(X, trees, n_points, rules, work, phi, out):  # OUT: work, phi, out
    """Values (n, n_features, n_outputs) of all trees; rules[m]: points of Gauss's rule, 1 - points, weights."""
    n_outputs = out.shape[2]
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK]
        phi[:] = 0.0
        for tree in range(trees.root.shape[0]):
            if n_points[tree] > 0:
                explain_tree(rows, trees, tree, n_outputs, rules, n_points[tree], work, phi)
        for i in range(rows.shape[0]):
            for f in range(out.shape[1]):
                for k in range(n_outputs):
                    out[start + i, f, k] = phi[f * n_outputs + k, i]
