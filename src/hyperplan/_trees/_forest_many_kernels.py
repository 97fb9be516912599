"""Several targets at once: the sum over targets of the decrease of the squared error.

``stats[p]`` holds weight and targets of a row, `sums` the weighted sums of the node's targets, `left` those of its left
child.  The Gini index is the squared error of the indicators of the classes: these functions serve both.  See
`_forest_scan_kernels` for what the scans return.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel
from hyperplan._trees._forest_scan_kernels import (
    CODE_SHIFT,
    CONSTANT,
    INADMISSIBLE,
    PLACE,
    ROWS,
    SUMS,
    W,
    enough,
    sorted_keys,
)

LEFT_ROWS, LEFT_WEIGHT, GAIN, LEFT_SUMS = range(4)  # rows of `seen`; the targets follow


@inner_kernel
def add_many(stats, sums):  # OUT: sums; returns the weight and the sum of the targets' variances
    """Sums and variances from targets shifted by the first: where all are equal the variance is zero."""
    weight, spread = 0.0, 0.0
    for p in range(stats.shape[0]):
        weight += stats[p, 0]
    for k in range(sums.shape[0]):
        first, s1, s2 = stats[0, 1 + k], 0.0, 0.0
        for p in range(stats.shape[0]):
            d = stats[p, 1 + k] - first
            s1 += stats[p, 0] * d
            s2 += stats[p, 0] * d * d
        sums[k] = s1 + first * weight
        spread += max(s2 / weight - (s1 / weight) * (s1 / weight), 0.0)
    return weight, spread


@inner_kernel
def many_gain(wl, left, weight, sums):
    """Decrease of the sums of squares when the left child has weight `wl` and sums `left`."""
    total = 0.0
    for k in range(sums.shape[0]):
        t = left[k] * weight - sums[k] * wl
        total += t * t
    return total / (wl * (weight - wl)) / weight


@inner_kernel
def add_targets(stats, p, left):  # OUT: left; returns the weight of the row
    w = stats[p, 0]
    for k in range(left.shape[0]):
        left[k] += w * stats[p, 1 + k]
    return w


@inner_kernel
def best_of_many(weight, limits, m, n_rows, sums, seen, codes):  # OUT: seen
    """Best of the candidates whose left children stand in ``seen[:, :m]`` (rows, weight, gain, sums of the targets).

    The last entry is the whole node.  Loops over candidates, one target after another, so that they become vectors.
    """
    nl, wl, gains = seen[LEFT_ROWS], seen[LEFT_WEIGHT], seen[GAIN]
    for i in range(m - 1):
        gains[i] = 0.0
    for k in range(sums.shape[0]):
        left, total = seen[LEFT_SUMS + k], sums[k]
        for i in range(m - 1):
            t = left[i] * weight - total * wl[i]
            gains[i] += t * t
    for i in range(m - 1):
        gains[i] /= wl[i] * (weight - wl[i])
    best, winner = -1.0, -1
    for i in range(m - 1):
        if gains[i] > best and enough(nl[i], n_rows, wl[i], weight, limits):
            best, winner = gains[i], i
    if winner < 0:
        return CONSTANT if m == 1 else INADMISSIBLE, 0, 0
    return best / weight, np.int64(codes[winner]), np.int64(codes[winner + 1])


@inner_kernel
def scan_many_sorted(column, rows, stats, weight, limits, work):  # OUT: work
    """Small node."""
    keys, seen, codes, left = work.keys, work.seen, work.codes[0], work.sides[0]
    if not sorted_keys(column, rows, keys, work.spare, work.digits):
        return CONSTANT, 0, 0
    n, m, wl = rows.shape[0], np.int64(0), 0.0
    keys[n] = ~np.uint64(0)
    left[:] = 0.0
    for i in range(n):
        key = keys[i]
        p = key & PLACE
        w = stats[p, 0]
        wl += w
        seen[LEFT_ROWS, m], seen[LEFT_WEIGHT, m], codes[m] = i + 1.0, wl, np.int64(key >> CODE_SHIFT)
        for k in range(left.shape[0]):
            left[k] += w * stats[p, 1 + k]
            seen[LEFT_SUMS + k, m] = left[k]
        m += np.int64(keys[i + 1] >> CODE_SHIFT != key >> CODE_SHIFT)
    return best_of_many(weight, limits, m, n, work.sums, seen, codes)


@inner_kernel
def fill_table(column, rows, stats, table):  # OUT: table: weight, rows and sums of each code
    for p in range(stats.shape[0]):
        code, w = column[rows[p]], stats[p, 0]
        table[code, W] += w
        table[code, ROWS] += 1.0
        for k in range(stats.shape[1] - 1):
            table[code, SUMS + k] += w * stats[p, 1 + k]


@inner_kernel
def scan_many_histogram(column, rows, stats, weight, limits, n_codes, work):  # OUT: work
    """Large node."""
    table, seen, codes, left = work.table, work.seen, work.codes[0], work.sides[0]
    fill_table(column, rows, stats, table)
    m, wl, nl = np.int64(0), 0.0, 0.0
    left[:] = 0.0
    for b in range(n_codes):
        if table[b, ROWS] == 0.0:
            continue
        nl += table[b, ROWS]
        wl += table[b, W]
        seen[LEFT_ROWS, m], seen[LEFT_WEIGHT, m], codes[m] = nl, wl, b
        for k in range(left.shape[0]):
            left[k] += table[b, SUMS + k]
            seen[LEFT_SUMS + k, m] = left[k]
        table[b, :] = 0.0
        m += 1
    return best_of_many(weight, limits, m, rows.shape[0], work.sums, seen, codes)


@inner_kernel
def judge_many(codes, cut, weight, limits, stats, sums, left):  # OUT: left
    """Gain of a drawn threshold."""
    wl, nl = 0.0, 0
    left[:] = 0.0
    for p in range(stats.shape[0]):
        if codes[p] <= cut:
            wl += add_targets(stats, p, left)
            nl += 1
    if not enough(nl, stats.shape[0], wl, weight, limits):
        return INADMISSIBLE
    return many_gain(wl, left, weight, sums)


@inner_kernel
def move_stats(source, p, target, i):  # OUT: target
    for c in range(source.shape[1]):
        target[i, c] = source[p, c]


@inner_kernel
def divide_many(codes, column, cut, rows, stats, spill, spare):  # OUT: rows, stats, spill, spare
    """Rows and stats with codes up to `cut` first, in order; how many.  Codes as for `divide_two`."""
    left, right, known = 0, 0, codes.shape[0] > 0
    for p in range(rows.shape[0]):
        row = rows[p]
        code = codes[p] if known else column[row]
        if code <= cut:
            rows[left] = row
            move_stats(stats, p, stats, left)
            left += 1
        else:
            spill[right] = row
            move_stats(stats, p, spare, right)
            right += 1
    for i in range(right):
        rows[left + i] = spill[i]
        move_stats(spare, i, stats, left + i)
    return left
