"""Categorical columns of exact trees: categories in the order of their targets, sets of categories, walks.

A categorical column has an auxiliary twin: (code, row) pairs sorted by code, which every split partitions like all
columns (see `_exact_grow_kernels`).  Before a node is searched the column itself is rewritten: categories in the order
of their mean target, with their rank as value.  Then thresholds of the rank are scanned like any others.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._criterion_kernels import row_weight
from hyperplan._trees._exact_scan_kernels import row_at

POWER_STEPS = 64  # of the power iteration for the principal axis; categories need an order, not its last digits
AXIS_CHANGE = 1e-10


@kernel
def find_runs(values, start, end, runs):  # OUT: runs
    """Starts of the runs of equal codes, then the end of the last one; returns the number of runs."""
    n, p = 0, start
    while p < end and not math.isnan(values[2 * p + 1]):
        if p == start or values[2 * p + 1] != values[2 * p - 1]:
            runs[n] = p
            n += 1
        p += 1
    runs[n] = p
    return n


@kernel
def mean_keys(rows, runs, n_runs, real, weight, keys):  # OUT: keys
    """Mean target (or share of the second class) of each run."""
    for r in range(n_runs):
        total, mass = 0.0, 0.0
        for p in range(runs[r], runs[r + 1]):
            row = row_at(rows, p)
            w = row_weight(weight, row)
            total += w * real[row, 0]
            mass += w
        keys[r] = total / mass if mass > 0.0 else 0.0


@kernel
def run_means(rows, runs, n_runs, targets, means, masses):  # OUT: means, masses
    """Class shares or means of each run, minus those of all runs."""
    centre = means[n_runs]
    centre[:] = 0.0
    everything = 0.0
    for r in range(n_runs):
        means[r, :] = 0.0
        masses[r] = 0.0
        for p in range(runs[r], runs[r + 1]):
            row = row_at(rows, p)
            w = row_weight(targets.weight, row)
            masses[r] += w
            if targets.codes.shape[0] > 0:
                for k in range(targets.codes.shape[1]):
                    means[r, k * targets.stride + targets.codes[row, k]] += w
            else:
                for k in range(targets.real.shape[1]):
                    means[r, k] += w * targets.real[row, k]
        everything += masses[r]
        for c in range(means.shape[1]):
            centre[c] += means[r, c]
            means[r, c] /= masses[r] if masses[r] > 0.0 else 1.0
    for r in range(n_runs):
        for c in range(means.shape[1]):
            means[r, c] -= centre[c] / everything


@kernel
def principal_keys(means, masses, n_runs, axis, keys):  # OUT: axis, keys
    """Coordinates of the centred means along their first principal component (power iteration)."""
    width, most = means.shape[1], -1.0
    for r in range(n_runs):
        size = 0.0
        for c in range(width):
            size += masses[r] * means[r, c] * means[r, c]
        if size > most:  # the largest deviation is never orthogonal to all others
            most = size
            for c in range(width):
                axis[0, c] = means[r, c]
    old, new = axis[0], axis[1]
    for _ in range(POWER_STEPS):
        new[:] = 0.0
        for r in range(n_runs):
            dot = 0.0
            for c in range(width):
                dot += means[r, c] * old[c]
            for c in range(width):
                new[c] += masses[r] * dot * means[r, c]
        norm = 0.0
        for c in range(width):
            norm += new[c] * new[c]
        norm, change = math.sqrt(norm), 0.0
        for c in range(width):
            step = new[c] / norm if norm > 0.0 else 0.0
            change = max(change, abs(step - old[c]))
            old[c] = step
        if change <= AXIS_CHANGE:
            break
    for r in range(n_runs):
        keys[r] = 0.0
        for c in range(width):
            keys[r] += means[r, c] * old[c]


@kernel
def sort_runs(keys, n, order, spare):  # OUT: order, spare
    """Numbers 0..n-1 by key, equal ones in their order (merge sort)."""
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            a, b = low, middle
            for i in range(low, high):
                if a < middle and (b >= high or keys[order[a]] <= keys[order[b]]):
                    spare[i] = order[a]
                    a += 1
                else:
                    spare[i] = order[b]
                    b += 1
        for i in range(n):
            order[i] = spare[i]
        width *= 2


@kernel
def order_categories(columns, j, twin, start, end, targets, work):  # OUT: columns, work
    """Rewrite positions [start, end) of column j: categories by target, ranks as values, missing ones last."""
    runs, order = work.runs[0], work.runs[1]
    rows, values = columns.rows[twin], columns.values[twin]
    n_runs = find_runs(values, start, end, runs)
    if targets.n_classes.shape[0] == 1 and targets.n_classes[0] <= 2:
        mean_keys(rows, runs, n_runs, targets.real, targets.weight, work.run_keys[0])
    else:
        run_means(rows, runs, n_runs, targets, work.run_means, work.run_keys[1])
        principal_keys(work.run_means, work.run_keys[1], n_runs, work.axis, work.run_keys[0])
    sort_runs(work.run_keys[0], n_runs, order, work.runs[2])
    target, ranks = columns.pairs[j], columns.values[j]
    p = start
    for r in range(n_runs):
        for q in range(runs[order[r]], runs[order[r] + 1]):
            target[p] = columns.pairs[twin, q]
            ranks[2 * p + 1] = np.float32(r)
            p += 1
    for q in range(runs[n_runs], end):
        target[p] = columns.pairs[twin, q]
        p += 1


@kernel
def has_bit(words, code):
    return (words[code >> 6] >> np.uint64(code & 63)) & np.uint64(1) > np.uint64(0)


@kernel
def write_set(columns, twin, start, end, goes_left, words):  # OUT: words
    """The set of codes that go left; those that the node never saw go to the larger child.

    Returns how many of the node's categories go left.
    """
    rows, values = columns.rows[twin], columns.values[twin]
    n_left, count = 0, 0
    for p in range(start, end):
        n_left += goes_left[row_at(rows, p)]
    everything = np.uint64(0xFFFFFFFFFFFFFFFF) if n_left > end - start - n_left else np.uint64(0)
    words[:] = everything
    for p in range(start, end):
        x = values[2 * p + 1]
        if math.isnan(x):
            break
        if p > start and x == values[2 * p - 1]:
            continue
        code = np.intp(x)
        bit = np.uint64(1) << np.uint64(code & 63)
        if goes_left[row_at(rows, p)]:
            words[code >> 6] |= bit
            count += 1
        else:
            words[code >> 6] &= ~bit
    return count


@kernel
def categorical_leaves(X, nodes, n_values, leaves):  # OUT: leaves
    """Leaf of each row; X is float32, one row per observation, codes in the columns with `n_values`.

    Any code that is not among these counts as ``n_values``: a category that training never saw.
    """
    for i in range(X.shape[0]):
        node = 0
        while nodes.children_left[node] >= 0:
            f = nodes.feature[node]
            x = X[i, f]
            if math.isnan(x):
                goes_left = nodes.missing_go_to_left[node] > 0
            elif n_values[f] > 0:
                code = np.intp(x) if 0.0 <= x < n_values[f] else n_values[f]
                goes_left = has_bit(nodes.categories[node], code)
            else:
                goes_left = x <= nodes.threshold[node]
            node = nodes.children_left[node] if goes_left else nodes.children_right[node]
        leaves[i] = node
