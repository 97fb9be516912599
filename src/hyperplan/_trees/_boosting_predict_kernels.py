"""Predictions of many trees, by bit masks or by walking.

Bit masks: the leaves of a tree are numbered from left to right, and a row starts with a one for every leaf.  A node
that sends the row right clears the leaves of its left subtree, a range of bits.  When all nodes have had their say, in
any order, the lowest one left is the row's leaf.  Nothing branches, and 32 rows fit in one instruction, as bins and
masks are bytes (8 leaves each).  Walking is for few rows, and for trees with very many leaves.
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._binning_kernels import WIDTH, guarded

BLOCK = 256  # rows that go through all trees together


@kernel
def bin_block(X, edges, limits, missing_bin, start, stop, bins):  # OUT: bins
    # X: (n_samples, n_features), any order.  bins: (n_features, BLOCK) uint8
    n_features = X.shape[1]
    for f0 in range(0, n_features, WIDTH):
        last = n_features - 1
        f1, f2, f3 = min(f0 + 1, last), min(f0 + 2, last), min(f0 + 3, last)
        e0, e1, e2, e3 = edges[f0], edges[f1], edges[f2], edges[f3]
        for i in range(start, stop):
            x0, x1 = np.float64(X[i, f0]), np.float64(X[i, f1])
            x2, x3 = np.float64(X[i, f2]), np.float64(X[i, f3])
            b0, b1, b2, b3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            step = 128
            for _ in range(8):
                b0 += step * np.int64(e0[b0 + step - 1] < x0)
                b1 += step * np.int64(e1[b1 + step - 1] < x1)
                b2 += step * np.int64(e2[b2 + step - 1] < x2)
                b3 += step * np.int64(e3[b3 + step - 1] < x3)
                step >>= 1
            bins[f0, i - start] = guarded(b0, x0, limits[f0], missing_bin)
            bins[f1, i - start] = guarded(b1, x1, limits[f1], missing_bin)
            bins[f2, i - start] = guarded(b2, x2, limits[f2], missing_bin)
            bins[f3, i - start] = guarded(b3, x3, limits[f3], missing_bin)


@kernel
def unpack_block(words, n_features, start, stop, bins):  # OUT: bins
    """Bins of rows start .. stop - 1 from words, as in `bin_block`."""
    for f in range(n_features):
        shift = np.uint32(8 * (f % WIDTH))
        column = words[f // WIDTH]
        for i in range(start, stop):
            bins[f, i - start] = (column[i] >> shift) & np.uint32(255)


@kernel
def fill_right(bins, first, span, right):  # OUT: right
    """255 where ``first <= bin < first + span``, else 0: the rows that a numerical test sends right."""
    for i in range(right.shape[0]):
        right[i] = np.uint8(255) if np.uint8(bins[i] - first) < span else np.uint8(0)


@kernel
def fill_right_category(bins, chosen, right):  # OUT: right
    for i in range(right.shape[0]):
        b = bins[i]
        side = (chosen[b >> 5] >> np.uint32(b & 31)) & np.uint32(1)
        right[i] = np.uint8(0) if side else np.uint8(255)


@kernel
def clear_leaves(right, keep, plane):  # OUT: plane
    """Clear the leaves outside `keep` where the row goes right."""
    for i in range(plane.shape[0]):
        plane[i] &= np.uint8(keep | ~right[i])


@kernel
def add_first_leaf(planes, n_planes, low_bit, values, n, out):  # OUT: out
    """Add the value of the lowest leaf left; low_bit: (256,) position of the lowest one of a byte."""
    for i in range(n):
        p = 0
        while p < n_planes - 1 and planes[p, i] == 0:
            p += 1
        out[i] += values[8 * p + low_bit[planes[p, i]]]


@kernel
def add_first_of_four(planes, places, values, n, out):  # OUT: out
    """`add_first_leaf` for up to 32 leaves, without branches; places: (32,) table of de Bruijn's sequence."""
    p0, p1, p2, p3 = planes[0], planes[1], planes[2], planes[3]
    for i in range(n):
        mask = np.uint32(p0[i]) | np.uint32(p1[i]) << np.uint32(8)
        mask |= np.uint32(p2[i]) << np.uint32(16) | np.uint32(p3[i]) << np.uint32(24)
        lowest = np.uint32(mask & np.uint32(-np.int64(mask)))
        out[i] += values[places[np.uint32(lowest * np.uint32(0x077CB531)) >> np.uint32(27)]]


@kernel
def predict_block(bins, n, masks, tables, planes, right, first_tree, last_tree, out):  # OUT: planes, right, out
    """Add trees first_tree .. last_tree - 1 to out[output of the tree, :n] for a block of binned rows."""
    low_bit, places = tables
    for t in range(first_tree, last_tree):
        n_planes = masks.n_planes[t]
        for p in range(max(n_planes, 4)):
            planes[p, :] = 255
        for j in range(masks.node_start[t], masks.node_start[t + 1]):
            column = bins[masks.feature[j]]
            if masks.category[j] >= 0:
                fill_right_category(column, masks.chosen[masks.category[j]], right)
            else:
                fill_right(column, masks.first[j], masks.span[j], right)
            for m in range(masks.mask_start[j], masks.mask_start[j + 1]):
                clear_leaves(right, masks.keep[m], planes[masks.plane[m]])
        values = masks.value[masks.value_start[t] :]
        target = out[masks.output[t]]
        if n_planes <= 4:
            add_first_of_four(planes, places, values, n, target)
        else:
            add_first_leaf(planes, n_planes, low_bit, values, n, target)


@kernel
def predict_rows(X, edges, limits, missing_bin, masks, tables, start, stop, n_trees, out):  # OUT: out
    # X: (n_samples, n_features), any order; out: (n_outputs, n_samples), rows start .. stop - 1 are predicted
    bins = np.zeros((X.shape[1], BLOCK), np.uint8)
    planes, right = np.empty((32, BLOCK), np.uint8), np.empty(BLOCK, np.uint8)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        bin_block(X, edges, limits, missing_bin, low, high, bins)
        predict_block(bins, high - low, masks, tables, planes, right, 0, n_trees, out[:, low:high])


@kernel
def predict_words(words, n_features, masks, tables, start, stop, first_tree, last_tree, out):  # OUT: out
    """`predict_rows` for rows that are binned already, for some of the trees."""
    bins = np.zeros((n_features, BLOCK), np.uint8)
    planes, right = np.empty((32, BLOCK), np.uint8), np.empty(BLOCK, np.uint8)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        unpack_block(words, n_features, low, high, bins)
        predict_block(bins, high - low, masks, tables, planes, right, first_tree, last_tree, out[:, low:high])


@kernel
def leaf_of(forest, tree, bins, missing_bin):
    """Number of the node where a row with these bins (one per feature) ends."""
    node = forest.root[tree]
    while forest.left[node] >= 0:
        b = np.int64(bins[forest.feature[node]])
        if forest.category[node]:
            go_left = (forest.chosen[node, b >> 5] >> np.uint32(b & 31)) & np.uint32(1) != 0
        else:
            go_left = b <= forest.bin[node] or (b == missing_bin and forest.missing_left[node] != 0)
        node = forest.left[node] if go_left else forest.right[node]
    return node


@kernel
def walk_rows(X, edges, limits, missing_bin, forest, start, stop, n_trees, out):  # OUT: out
    """`predict_rows` by walking every tree."""
    bins = np.zeros((X.shape[1], 1), np.uint8)
    for i in range(start, stop):
        bin_block(X, edges, limits, missing_bin, i, i + 1, bins)
        for t in range(n_trees):
            out[forest.output[t], i] += forest.value[leaf_of(forest, t, bins[:, 0], missing_bin)]


@kernel
def walk_words(words, n_features, missing_bin, forest, rows, first_tree, last_tree, out):  # OUT: out
    """Add trees first_tree .. last_tree - 1 at binned `rows` by walking."""
    bins = np.zeros(n_features, np.uint8)
    for j in range(rows.shape[0]):
        i = rows[j]
        for f in range(n_features):
            bins[f] = (words[f // WIDTH, i] >> np.uint32(8 * (f % WIDTH))) & np.uint32(255)
        for t in range(first_tree, last_tree):
            out[forest.output[t], i] += forest.value[leaf_of(forest, t, bins, missing_bin)]
