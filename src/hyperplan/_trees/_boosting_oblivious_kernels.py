"""One test for all nodes of a level (oblivious trees).

A candidate (feature, bin, side of missing values) is worth the sum of its gains over the nodes where it is admissible;
nodes where it is not, or where it gains nothing, stay whole at this level and may be split further down.
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._histogram_kernels import HESSIAN, bounded_gain, node_value


@kernel
def split_gain(nodes, node, left, n_left, rules, monotone):
    """Gain of a split at one node, 0 when a child would be too small."""
    total, n_rows = nodes.packed[node], nodes.stop[node] - nodes.start[node]
    right = total - left
    if n_left < rules.min_samples or n_rows - n_left < rules.min_samples:
        return 0.0
    if (left & HESSIAN) < rules.min_hessian or (right & HESSIAN) < rules.min_hessian:
        return 0.0
    lower, upper = nodes.lower[node], nodes.upper[node]
    parent = node_value(total, rules, lower, upper) * np.float64(total >> 32)
    gain = bounded_gain(left, right, parent, rules, monotone, lower, upper)
    return gain if gain > rules.min_gain else 0.0


@kernel
def scan_level(data, nodes, level, rules, constraints, work, feature, best):  # OUT: best
    """Best test on one feature for the nodes in `level`; best = (total gain, bin, missing_left)."""
    best[0], best[1], best[2] = 0.0, -1.0, 0.0
    n_bins, has_missing = data.n_bins[feature], np.int64(data.has_missing[feature])
    totals = np.zeros((1 + has_missing, n_bins))
    monotone = constraints.monotone[feature]
    for node in level:
        slot = nodes.slot[node]
        hist, counts = work.hist[slot, feature], work.counts[slot, feature]
        for missing_left in range(1 + has_missing):
            left = hist[data.missing_bin] if missing_left else np.int64(0)
            n_left = np.int64(counts[data.missing_bin]) if missing_left else np.int64(0)
            for b in range(n_bins - 1 + (has_missing if not missing_left else 0)):
                left += hist[b]
                n_left += counts[b]
                totals[missing_left, b] += split_gain(nodes, node, left, n_left, rules, monotone)
    for missing_left in range(1 + has_missing):
        for b in range(n_bins):
            if totals[missing_left, b] > best[0]:
                best[0], best[1], best[2] = totals[missing_left, b], np.float64(b), np.float64(missing_left)


@kernel
def apply_level(nodes, level, feature, split_bin, missing_left, data, rules, constraints, work, use):  # OUT: nodes, use
    """Give the level's test to its nodes; use[j] = 1 where it splits node level[j]."""
    for j in range(level.shape[0]):
        node = level[j]
        hist, counts = work.hist[nodes.slot[node], feature], work.counts[nodes.slot[node], feature]
        left = hist[data.missing_bin] if missing_left else np.int64(0)
        n_left = np.int64(counts[data.missing_bin]) if missing_left else np.int64(0)
        for b in range(split_bin + 1):
            left += hist[b]
            n_left += counts[b]
        gain = split_gain(nodes, node, left, n_left, rules, constraints.monotone[feature])
        use[j] = np.uint8(gain > 0.0)
        if gain > 0.0:
            nodes.gain[node], nodes.feature[node], nodes.left_packed[node] = gain, feature, left
            nodes.bin[node], nodes.missing_left[node] = split_bin, missing_left
