"""Rows through all trees of a forest.  X is float32 in C order, one row per observation.

``table`` holds one node per row: threshold (float32 bits, read through ``cut``, another view of the same memory),
feature (bit 30: missing values go right), left and right child.  A leaf is its own child and its feature is 0; the row
of ``values`` that belongs to node i is ``leaf[i]``.  Four rows walk side by side, which hides the wait for memory.
"""

import numpy as np

from hyperplan._core.jit import kernel

THRESHOLD, FEATURE, LEFT = range(3)
MISSING_RIGHT = 30
FEATURE_MASK = (1 << 30) - 1


@kernel
def step(X, i, node, table, cut):
    f = table[node, FEATURE]
    x = X[i, f & FEATURE_MASK]
    right = np.int64(x > cut[node, THRESHOLD]) | (np.int64(x != x) & np.int64(f >> MISSING_RIGHT))
    return np.int64(table[node, LEFT + right])


@kernel
def leaf_of(X, i, root, table, cut):
    node = root
    after = step(X, i, node, table, cut)
    while after != node:
        node = after
        after = step(X, i, node, table, cut)
    return node


@kernel
def four_leaves(X, i, root, table, cut):
    """Leaves of rows i .. i + 3."""
    a, b, c, d = root, root, root, root
    while True:
        na, nb = step(X, i, a, table, cut), step(X, i + 1, b, table, cut)
        nc, nd = step(X, i + 2, c, table, cut), step(X, i + 3, d, table, cut)
        if na == a and nb == b and nc == c and nd == d:
            return a, b, c, d
        a, b, c, d = na, nb, nc, nd


@kernel
def add_values(out, i, values, k):  # OUT: out
    for c in range(values.shape[1]):
        out[i, c] += values[k, c]


@kernel
def add_trees(X, table, cut, leaf, values, roots, out):  # OUT: out, the sums over all trees
    n = X.shape[0]
    for t in range(roots.shape[0]):
        root = roots[t]
        for i in range(0, n - 3, 4):
            a, b, c, d = four_leaves(X, i, root, table, cut)
            add_values(out, i, values, leaf[a])
            add_values(out, i + 1, values, leaf[b])
            add_values(out, i + 2, values, leaf[c])
            add_values(out, i + 3, values, leaf[d])
        for i in range(n - n % 4, n):
            add_values(out, i, values, leaf[leaf_of(X, i, root, table, cut)])


@kernel
def leaves_of_trees(X, table, cut, roots, out):  # OUT: out, node numbers within each tree
    n = X.shape[0]
    for t in range(roots.shape[0]):
        root = roots[t]
        for i in range(0, n - 3, 4):
            a, b, c, d = four_leaves(X, i, root, table, cut)
            out[i, t], out[i + 1, t], out[i + 2, t], out[i + 3, t] = a - root, b - root, c - root, d - root
        for i in range(n - n % 4, n):
            out[i, t] = leaf_of(X, i, root, table, cut) - root


@kernel
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


@kernel
def add_out_of_bag(X, outside, y, n_classes, table, cut, leaf, values, roots, out, count, curve):  # OUT: last three
    """Sums over the trees that did not see a row, how many these are, and the loss after each tree.

    ``outside[t, i]``: tree t did not see row i; ``curve[t] = (loss, rows)`` summed over the rows with an answer.
    """
    for t in range(roots.shape[0]):
        for i in range(X.shape[0]):
            if outside[t, i]:
                add_values(out, i, values, leaf[leaf_of(X, i, roots[t], table, cut)])
                count[i] += 1
            if count[i] > 0:
                curve[t, 0] += row_loss(out[i], count[i], y[i], n_classes)
                curve[t, 1] += 1.0
