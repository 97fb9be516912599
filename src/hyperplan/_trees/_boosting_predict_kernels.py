"""Predictions of many trees, by bit masks or by walking.

Bit masks: the leaves of a tree are numbered from left to right, and a row starts with a one for every leaf.  A node
that sends the row right clears the leaves of its left subtree, a range of bits.  When all nodes have had their say, in
any order, the lowest one left is the row's leaf.  Nothing branches, and 32 rows fit in one instruction, as bins and
masks are bytes (8 leaves each).  Walking is for few rows, and for trees with very many leaves.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._binning_kernels import WIDTH, guarded

BLOCK = 512  # rows that go through all trees together
BLOCK_BYTES = 2**17  # of their bins; with many features, fewer rows go together


@kernel
def bin_block(X, used, edges, limits, missing_bin, start, stop, bins):  # OUT: bins
    # X: (n_samples, n_features), any order.  used: features to bin.  bins: (len(used), rows) uint8
    last = used.shape[0] - 1
    for j0 in range(0, last + 1, WIDTH):
        j1, j2, j3 = min(j0 + 1, last), min(j0 + 2, last), min(j0 + 3, last)
        f0, f1, f2, f3 = used[j0], used[j1], used[j2], used[j3]
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
            bins[j0, i - start] = guarded(b0, x0, limits[f0], missing_bin)
            bins[j1, i - start] = guarded(b1, x1, limits[f1], missing_bin)
            bins[j2, i - start] = guarded(b2, x2, limits[f2], missing_bin)
            bins[j3, i - start] = guarded(b3, x3, limits[f3], missing_bin)


@kernel
def unpack_block(words, used, start, stop, bins):  # OUT: bins
    """Bins of rows start .. stop - 1 from words, as in `bin_block`."""
    for j in range(used.shape[0]):
        shift = np.uint32(8 * (used[j] % WIDTH))
        column = words[used[j] // WIDTH]
        for i in range(start, stop):
            bins[j, i - start] = (column[i] >> shift) & np.uint32(255)


@kernel
def clear_right(bins, first, span, keep, plane):  # OUT: plane
    """Clear the leaves outside `keep` where ``first <= bin < first + span``: rows that a numerical test sends right."""
    for i in range(plane.shape[0]):
        plane[i] &= keep if np.uint8(bins[i] - first) < span else np.uint8(255)


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
def find_first_of_four(planes, leaf):  # OUT: leaf
    """The lowest leaf left of up to 32, without branches or tables; ones below the lowest one of a byte are counted."""
    p0, p1, p2, p3 = planes[0], planes[1], planes[2], planes[3]
    for i in range(leaf.shape[0]):
        bits, base = p3[i], np.uint8(24)
        bits, base = (p2[i], np.uint8(16)) if p2[i] != 0 else (bits, base)
        bits, base = (p1[i], np.uint8(8)) if p1[i] != 0 else (bits, base)
        bits, base = (p0[i], np.uint8(0)) if p0[i] != 0 else (bits, base)
        below = np.uint8(np.uint8(bits - 1) & np.uint8(~bits))
        pairs = np.uint8(below - ((below >> 1) & 0x55))
        fours = np.uint8((pairs & 0x33) + ((pairs >> 2) & 0x33))
        leaf[i] = np.uint8(base + ((fours + (fours >> 4)) & 0x0F))


@kernel
def add_values(leaf, values, n, out):  # OUT: out
    for i in range(n):
        out[i] += values[leaf[i]]


@kernel
def predict_block(bins, n, masks, low_bit, planes, right, first_tree, last_tree, out):  # OUT: planes, right, out
    """Add trees first_tree .. last_tree - 1 to out[output of the tree, :n] for a block of binned rows."""
    for t in range(first_tree, last_tree):
        n_planes = masks.n_planes[t]
        planes[: max(n_planes, 4)] = 255
        for j in range(masks.node_start[t], masks.node_start[t + 1]):
            column = bins[masks.feature[j]]
            if masks.category[j] >= 0:
                fill_right_category(column, masks.chosen[masks.category[j]], right)
            for m in range(masks.mask_start[j], masks.mask_start[j + 1]):
                if masks.category[j] >= 0:
                    clear_leaves(right, masks.keep[m], planes[masks.plane[m]])
                else:
                    clear_right(column, masks.first[j], masks.span[j], masks.keep[m], planes[masks.plane[m]])
        values = masks.value[masks.value_start[t] :]
        target = out[masks.output[t]]
        if n_planes <= 4:
            find_first_of_four(planes, right)
            add_values(right, values, n, target)
        else:
            add_first_leaf(planes, n_planes, low_bit, values, n, target)


@kernel
def block_rows(n_features):
    return max(64, min(BLOCK, BLOCK_BYTES // max(n_features, 1) // 64 * 64))


@kernel
def predict_rows(X, edges, limits, missing_bin, masks, low_bit, start, stop, n_trees, out):  # OUT: out
    # X: (n_samples, n_features), any order; out: (n_outputs, n_samples), rows start .. stop - 1 are predicted
    block = block_rows(masks.used.shape[0])
    bins = np.zeros((masks.used.shape[0], block), np.uint8)
    planes, right = np.empty((32, block), np.uint8), np.empty(block, np.uint8)
    for low in range(start, stop, block):
        high = min(low + block, stop)
        bin_block(X, masks.used, edges, limits, missing_bin, low, high, bins)
        predict_block(bins, high - low, masks, low_bit, planes, right, 0, n_trees, out[:, low:high])


@kernel
def predict_words(words, masks, low_bit, start, stop, first_tree, last_tree, out):  # OUT: out
    """`predict_rows` for rows that are binned already, for some of the trees."""
    block = block_rows(masks.used.shape[0])
    bins = np.zeros((masks.used.shape[0], block), np.uint8)
    planes, right = np.empty((32, block), np.uint8), np.empty(block, np.uint8)
    for low in range(start, stop, block):
        high = min(low + block, stop)
        unpack_block(words, masks.used, low, high, bins)
        predict_block(bins, high - low, masks, low_bit, planes, right, first_tree, last_tree, out[:, low:high])


@kernel
def fill_leaf_ranges(root, left, right, first, end):  # OUT: first, end
    """Leaves of each node, numbered from left to right within its tree; children come after their parent."""
    for node in range(left.shape[0] - 1, -1, -1):  # numbers of leaves
        end[node] = 1 if left[node] < 0 else end[left[node]] + end[right[node]]
    for tree in range(root.shape[0]):
        first[root[tree]] = 0
    for node in range(left.shape[0]):
        if left[node] >= 0:
            first[left[node]] = first[node]
            first[right[node]] = first[node] + end[left[node]]
    for node in range(left.shape[0]):
        end[node] += first[node]


@kernel
def is_chosen(forest, node, b):
    """Whether a categorical test sends bin b left."""
    return (forest.chosen[node, b >> 5] >> np.uint32(b & 31)) & np.uint32(1) != 0


@kernel
def leaf_of_values(forest, tree, X, i, edges, limits, missing_bin):
    """Node where row i of X ends; only the values that are asked for are looked at."""
    node = forest.root[tree]
    while forest.left[node] >= 0:
        f = forest.feature[node]
        value = np.float64(X[i, f])
        if forest.category[node]:  # edges of categories are at 0.5, 1.5, ...
            found = value <= limits[f]
            go_left = is_chosen(forest, node, np.int64(max(0.0, math.ceil(value - 0.5))) if found else missing_bin)
        elif value <= limits[f]:
            go_left = value <= edges[f, forest.bin[node]]
        else:
            go_left = forest.missing_left[node] != 0
        node = forest.left[node] if go_left else forest.right[node]
    return node


@kernel
def leaf_of_words(forest, tree, words, i, missing_bin):
    """Node where row i of binned data ends."""
    node = forest.root[tree]
    while forest.left[node] >= 0:
        f = forest.feature[node]
        b = np.int64((words[f // WIDTH, i] >> np.uint32(8 * (f % WIDTH))) & np.uint32(255))
        if forest.category[node]:
            go_left = is_chosen(forest, node, b)
        else:
            go_left = b <= forest.bin[node] or (b == missing_bin and forest.missing_left[node] != 0)
        node = forest.left[node] if go_left else forest.right[node]
    return node


@kernel
def walk_rows(X, edges, limits, missing_bin, forest, start, stop, n_trees, out):  # OUT: out
    """`predict_rows` by walking every tree."""
    for i in range(start, stop):
        for t in range(n_trees):
            leaf = leaf_of_values(forest, t, X, i, edges, limits, np.int64(missing_bin))
            out[forest.output[t], i] += forest.value[leaf]


@kernel
def walk_words(words, missing_bin, forest, rows, first_tree, last_tree, out):  # OUT: out
    """Add trees first_tree .. last_tree - 1 at binned `rows` by walking."""
    for j in range(rows.shape[0]):
        i = rows[j]
        for t in range(first_tree, last_tree):
            out[forest.output[t], i] += forest.value[leaf_of_words(forest, t, words, i, missing_bin)]
