"""The absolute error: weighted medians of growing sets by a Fenwick tree over the node's ranks of y, O(n log n).

Rows sorted by output k stand in column ``rule.n_features + k``, partitioned along with the others, so that ranks
within a node are positions there.  Columns are read by position, as in the scans.
"""

import math

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._criterion_kernels import (
    HEAD,
    IMPURITY,
    LOWER,
    UPPER,
    WEIGHT,
    keeps_order,
    row_weight,
)
from hyperplan._trees._exact_scan_kernels import ROUNDING, SCORE, TIE, note, row_at


@view_kernel
def rank_rows(columns, start, end, targets, rule):  # OUT: targets.rank
    """Ranks of the node's rows in each output."""
    for k in range(targets.n_classes.shape[0]):
        rows = columns.rows[rule.n_features + k]
        rank = targets.rank
        for p in range(start, end):
            rank[row_at(rows, p), k] = p - start


@inner_kernel
def fenwick_add(tree, rank, w, wy):  # OUT: tree (weights in column 0, weighted targets in column 1)
    i = rank + 1
    while i < tree.shape[0]:
        tree[i, 0] += w
        tree[i, 1] += wy
        i += i & -i


@inner_kernel
def fenwick_find(tree, top, half, strict):
    """Longest prefix whose weight is <= half (< half if `strict`), its weight and its weighted targets."""
    position, weight, moment = 0, 0.0, 0.0
    step = top
    while step > 0:
        ahead = position + step
        if ahead < tree.shape[0]:
            reached = weight + tree[ahead, 0]
            if reached < half or (reached == half and not strict):
                position, weight = ahead, reached
                moment += tree[ahead, 1]
        step >>= 1
    return position, weight, moment


@inner_kernel
def running_errors(rows, ordered, span, direction, k, targets, scratch):  # OUT: scratch
    """Add to ``scratch[1, i, 0]`` the absolute error of the first i + 1 rows (direction 1),
    or to ``scratch[1, i, 1]`` that of the rows from i on (-1); their medians go to ``scratch[2]``.

    `rows` and ``span = (start, end, n_missing, side)`` give the order of the rows, `ordered` the rows by target.
    """
    start, end, n_missing, side = span
    m, back = end - start, 0 if direction == 1 else 1
    tree = scratch[0, : m + 1]
    weights, real, rank = targets.weight, targets.real, targets.rank
    for i in range(m + 1):
        tree[i, 0], tree[i, 1] = 0.0, 0.0
    top = 1
    while 2 * top <= m:
        top *= 2
    total_w, total_wy = 0.0, 0.0
    for step in range(m):
        i = step if direction == 1 else m - 1 - step
        p = start + i
        if side == 1:
            p = end - n_missing + i if i < n_missing else p - n_missing
        row = row_at(rows, p)
        w, y = row_weight(weights, row), real[row, k]
        fenwick_add(tree, rank[row, k], w, w * y)
        total_w += w
        total_wy += w * y
        position, weight, moment = fenwick_find(tree, top, 0.5 * total_w, False)
        median = real[row_at(ordered, start + min(position, m - 1)), k]
        if weight == 0.5 * total_w:
            before = fenwick_find(tree, top, 0.5 * total_w, True)[0]
            median = 0.5 * (median + real[row_at(ordered, start + before), k])
        scratch[1, i, back] += (total_wy - moment - median * (total_w - weight)) + (median * weight - moment)
        scratch[2, i, back] = median


@inner_kernel
def scan_median(columns, j, start, end, n_missing, cst, targets, rule, tot, scratch, cand):  # OUT: cand
    """Least sum of absolute deviations from the children's medians."""
    rows, values = columns.rows[j], columns.values[j]
    m, last_value = end - start, end - n_missing
    errors, medians, weight = scratch[1], scratch[2], targets.weight
    bar = -math.inf
    for side in range(2 if n_missing > 0 else 1):
        for i in range(m):
            errors[i, 0], errors[i, 1] = 0.0, 0.0
        span = (start, end, n_missing, side)
        for k in range(targets.n_classes.shape[0]):
            ordered = columns.rows[rule.n_features + k]
            running_errors(rows, ordered, span, 1, k, targets, scratch)
            running_errors(rows, ordered, span, -1, k, targets, scratch)
        wl = 0.0
        extra = side * n_missing
        for i in range(1, m):
            inner = i - 1 - extra
            wl += row_weight(weight, row_at(rows, start + inner if inner >= 0 else last_value + i - 1))
            p = start + i - extra
            if i < rule.min_leaf or m - i < rule.min_leaf or p <= start or p > last_value:
                continue
            if p < last_value and values[2 * p + 1] <= values[2 * p - 1] + TIE:
                continue
            wr = tot[WEIGHT] - wl
            if wl <= 0.0 or wr <= 0.0 or wl < rule.min_weight or wr < rule.min_weight:
                continue
            if cst != 0 and not keeps_order(cst, medians[i - 1, 0], medians[i, 1], tot[LOWER], tot[UPPER]):
                continue
            score = -errors[i - 1, 0] - errors[i, 1]
            if score > bar:
                bar = score + ROUNDING * abs(score)
                note(cand, score, values, start, p, last_value, n_missing, side)


@inner_kernel
def median_of_side(ordered, start, end, k, goes_left, side, targets, weight):
    """Weighted median of output k over the node's rows on one side (side 2: all), and the sum of deviations."""
    weights, real = targets.weight, targets.real
    below, median, previous, at_half = 0.0, math.nan, math.nan, False
    for p in range(start, end):
        row = row_at(ordered, p)
        if side < 2 and goes_left[row] != side:
            continue
        y = real[row, k]
        below += row_weight(weights, row)
        if at_half:
            median = 0.5 * (previous + y)
            break
        if below > 0.5 * weight:
            median = y
            break
        at_half = below == 0.5 * weight
        previous = y
    total = 0.0
    for p in range(start, end):
        row = row_at(ordered, p)
        if side == 2 or goes_left[row] == side:
            total += row_weight(weights, row) * abs(real[row, k] - median)
    return median, total


@inner_kernel
def median_totals(columns, start, end, goes_left, side, targets, rule, tot):  # OUT: tot
    """Medians in place of the sums, mean absolute deviation as impurity."""
    q, found = targets.n_classes.shape[0], 0.0
    for k in range(q):
        ordered = columns.rows[rule.n_features + k]
        median, total = median_of_side(ordered, start, end, k, goes_left, side, targets, tot[WEIGHT])
        tot[HEAD + k] = median
        found += total
    tot[IMPURITY] = targets.scale * found / (tot[WEIGHT] * q)


@inner_kernel
def random_median_score(columns, j, span, cst, targets, rule, tot, goes_left, cand):  # OUT: cand, goes_left
    """Score of the threshold in `cand` under the absolute error; -inf where it breaks a monotone constraint."""
    start, end, n_missing = span
    rows, weight = columns.rows[j], targets.weight
    wl, wr = 0.0, 0.0
    for p in range(start, end):
        row = row_at(rows, p)
        missing = p >= end - n_missing
        left = cand[3] > 0.0 if missing else p - start < cand[2]
        goes_left[row] = left
        if left:
            wl += row_weight(weight, row)
        else:
            wr += row_weight(weight, row)
    score = 0.0
    for k in range(targets.n_classes.shape[0]):
        ordered = columns.rows[rule.n_features + k]
        medians = (0.0, 0.0)
        for side in range(2):
            w = wl if side == 1 else wr
            median, total = median_of_side(ordered, start, end, k, goes_left, side, targets, w)
            medians = (medians[1], median)  # right, then left
            score -= total
        if cst != 0 and not keeps_order(cst, medians[1], medians[0], tot[LOWER], tot[UPPER]):
            score = -math.inf
    cand[SCORE] = score
