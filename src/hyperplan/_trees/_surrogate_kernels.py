"""Surrogate splits: the threshold of another column that sends most rows where the split sends them, and walks.

X is float32, one row per observation, any memory order; NaN marks missing values.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

AGREEMENT, ASSOCIATION, THRESHOLD, REVERSED, N_FOUND = range(5)
TIE = np.float32(1e-7)  # float32 values closer than this count as equal


@kernel
def best_agreement(X, rows, order, column, goes_left, weight, found):  # OUT: found
    """Best threshold of a column, in either sense, for rows whose split is known; `order` sorts them by the column.

    Agreement is the share of the rows with a value that go the same way; association is how much of the smaller
    side's share it saves: ``(min(p_l, p_r) - (1 - agreement)) / min(p_l, p_r)``.
    """
    found[AGREEMENT], found[ASSOCIATION] = 0.0, -math.inf
    m = order.shape[0]
    while m > 0 and math.isnan(X[rows[order[m - 1]], column]):
        m -= 1
    left, right = 0.0, 0.0
    for p in range(m):
        w = weight[order[p]]
        if goes_left[order[p]]:
            left += w
        else:
            right += w
    total, smaller = left + right, min(left, right)
    if smaller <= 0.0:
        return
    same, best = right, -math.inf  # rows that agree when nothing is below the threshold
    for p in range(m - 1):
        i = order[p]
        same += weight[i] if goes_left[i] else -weight[i]
        low, high = X[rows[i], column], X[rows[order[p + 1]], column]
        if high <= low + TIE:
            continue
        agreeing = max(same, total - same)
        if agreeing > best:
            best = agreeing
            found[THRESHOLD] = np.float64(low) / 2.0 + np.float64(high) / 2.0
            found[REVERSED] = same < total - same
    if best > -math.inf:
        found[AGREEMENT] = best / total
        found[ASSOCIATION] = (smaller - (total - best)) / smaller


@kernel
def substitute(X, i, node, feature, threshold, backwards, fallback):
    """Side of a row whose value is missing: that of the first surrogate it has a value for; 1 is left."""
    for s in range(feature.shape[1]):
        f = feature[node, s]
        if f < 0:
            break
        x = X[i, f]
        if not math.isnan(x):
            return (x <= threshold[node, s]) != backwards[node, s]
    return fallback[node] > 0


@kernel
def surrogate_leaves(X, left, right, feature, threshold, missing_left, surrogates, leaves):  # OUT: leaves
    """Leaf of each row; ``surrogates = (feature, threshold, reversed)``, one line per node."""
    others, thresholds, backwards = surrogates
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            x = X[i, feature[node]]
            if math.isnan(x):
                goes_left = substitute(X, i, node, others, thresholds, backwards, missing_left)
            else:
                goes_left = x <= threshold[node]
            node = left[node] if goes_left else right[node]
        leaves[i] = node
