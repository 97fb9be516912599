"""Weights that a forest puts on its training rows, and their quantiles.  No X here.

``members[first[a] : first[a + 1]]`` are the training rows in leaf a of the joined forest, as ranks of their targets;
``share`` are their weights within the leaf.
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._forest_scan_kernels import CODE_SHIFT, PLACE, sort_by_digits


@kernel
def sort_members(leaf_of_row, weight, rank, place, members, share):  # OUT: place, members, share
    """Rows of one tree by leaf; leaf numbers count from 0, `place` starts as the first place of each leaf."""
    for i in range(leaf_of_row.shape[0]):
        if weight[i] > 0.0:
            p = place[leaf_of_row[i]]
            members[p] = rank[i]
            share[p] = weight[i]
            place[leaf_of_row[i]] = p + 1
    start = 0
    for a in range(place.shape[0]):
        total = 0.0
        for p in range(start, place[a]):
            total += share[p]
        for p in range(start, place[a]):
            share[p] /= total
        start = place[a]


@kernel
def weighted_quantiles(keys, n, share, sorted_y, levels, out):  # OUT: out
    """Least target whose cumulated share reaches each (increasing) level; keys are sorted ranks with places."""
    total, q, rank = 0.0, 0, 0
    for i in range(n):
        place = np.int64(keys[i] & PLACE)
        total += share[place]
        rank = np.int64(keys[i] >> CODE_SHIFT)
        while q < levels.shape[0] and total >= levels[q] - 1e-12:
            out[q] = sorted_y[rank]
            q += 1
    while q < levels.shape[0]:
        out[q] = sorted_y[rank]
        q += 1


@kernel
def quantiles_of_rows(leaves, first, members, share, sorted_y, levels, keys, spare, digits, picked, out):  # OUT: keys..
    """Quantiles for each row from the members of its leaves, `leaves` of shape (n_rows, n_trees)."""
    m = leaves.shape[1]
    for i in range(leaves.shape[0]):
        n, low, high = 0, sorted_y.shape[0], 0
        for t in range(m):
            for p in range(first[leaves[i, t]], first[leaves[i, t] + 1]):
                rank = np.int64(members[p])
                low, high = min(low, rank), max(high, rank)
                keys[n] = np.uint64((rank << 32) | n)
                picked[n] = share[p] / m
                n += 1
        sort_by_digits(keys, n, low, high, spare, digits)
        weighted_quantiles(keys, n, picked, sorted_y, levels, out[i])
