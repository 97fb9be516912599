"""Rows through all trees of a forest.  X is float32 in C order, one row per observation.

``table`` holds one node per row: threshold (float32 bits, read through ``cut``, another view of the same memory),
feature (bit 30: missing values go right; -1: leaf), left and right child.  The row of ``values`` that belongs to leaf i
is ``table[i, LEFT]``.  Sixteen rows walk side by side, which hides the wait for memory; whichever arrives makes room
for the next.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel

THRESHOLD, FEATURE, LEFT = range(3)
MISSING_RIGHT = 30
FEATURE_MASK = (1 << 30) - 1
LANES = 16


@inner_kernel
def child(X, i, f, node, table, cut):
    """Child of an inner node with feature word f that row i goes to."""
    x = X[i, f & FEATURE_MASK]
    right = np.int64(x > cut[node, THRESHOLD]) | (np.int64(x != x) & np.int64(f >> MISSING_RIGHT))
    return np.int64(table[node, LEFT + right])


@inner_kernel
def leaf_of(X, i, root, table, cut):
    node = root
    f = table[node, FEATURE]
    while f >= 0:
        node = child(X, i, f, node, table, cut)
        f = table[node, FEATURE]
    return node


@inner_kernel
def walk_tree(X, root, table, cut, lanes, found):  # OUT: lanes, found: the leaf of each row
    n, nodes, rows = X.shape[0], lanes[0], lanes[1]
    active = min(LANES, n)
    for k in range(active):
        nodes[k], rows[k] = root, k
    following = active
    while active > 0:
        k = 0
        while k < active:
            node = nodes[k]
            f = table[node, FEATURE]
            if f >= 0:
                nodes[k] = child(X, rows[k], f, node, table, cut)
                k += 1
                continue
            found[rows[k]] = node
            if following < n:
                nodes[k], rows[k] = root, following
                following += 1
            else:
                active -= 1
                nodes[k], rows[k] = nodes[active], rows[active]


@inner_kernel
def add_values(out, i, values, k):  # OUT: out
    for c in range(values.shape[1]):
        out[i, c] += values[k, c]


@view_kernel
def add_trees(X, table, cut, values, roots, lanes, found, out):  # OUT: lanes, found; out: the sums over all trees
    n = X.shape[0]
    for t in range(roots.shape[0]):
        walk_tree(X, roots[t], table, cut, lanes, found)
        for i in range(n):
            add_values(out, i, values, table[found[i], LEFT])


@view_kernel
def leaves_of_trees(X, table, cut, roots, lanes, found, out):  # OUT: lanes, found; out: node numbers within each tree
    n = X.shape[0]
    for t in range(roots.shape[0]):
        walk_tree(X, roots[t], table, cut, lanes, found)
        for i in range(n):
            out[i, t] = found[i] - roots[t]


@inner_kernel
def row_loss(sums, count, target, n_classes):
    """Mean over outputs of the squared error, or of the wrong answers of the largest share (the first of equals)."""
    q, loss = target.shape[0], 0.0
    if n_classes.shape[0] == 0:
        for k in range(q):
            gap = sums[k] / count - target[k]
            loss += gap * gap
        return loss / q
    stride = sums.shape[0] // q
    for k in range(q):
        best = 0
        for c in range(1, n_classes[k]):
            if sums[k * stride + c] > sums[k * stride + best]:
                best = c
        loss += best != target[k]
    return loss / q


@view_kernel
def add_out_of_bag(X, outside, y, n_classes, table, cut, values, roots, out, count, curve):  # OUT: last three
    """Sums over the trees that did not see a row, how many these are, and the loss after each tree.

    ``outside[t, i]``: tree t did not see row i; ``curve[t] = (loss, rows)`` summed over the rows with an answer.
    """
    for t in range(roots.shape[0]):
        for i in range(X.shape[0]):
            if outside[t, i]:
                add_values(out, i, values, table[leaf_of(X, i, roots[t], table, cut), LEFT])
                count[i] += 1
            if count[i] > 0:
                curve[t, 0] += row_loss(out[i], count[i], y[i], n_classes)
                curve[t, 1] += 1.0
