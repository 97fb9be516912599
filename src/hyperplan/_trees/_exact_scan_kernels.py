"""The best threshold of one sorted column within one node, for each kind of criterion.

A column is an array of pairs sorted by value: ``values[2 p + 1]`` is the float32 value at position p and
``rows[2 p]`` its row (two views of the same memory), missing values last.  Without weights and with two classes, the
sign bit of the row is its label, so that the scan reads one stream of memory; others mask it away (`row_at`).
Candidates stand between neighbours that differ by more than `TIE`.  With missing values the scan runs twice, with them
on the right and on the left.  The winner goes to ``cand = [score, threshold, position, missing left?, rows on the
left, extra]``; score -inf: no admissible threshold.
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._criterion_kernels import (
    ENTROPY,
    GAIN_RATIO,
    HEAD,
    LOWER,
    MOMENT,
    UPPER,
    WEIGHT,
    add_row,
    clear_totals,
    keeps_order,
    row_weight,
    split_entropy,
    split_score,
)

SCORE, THRESHOLD, POSITION, MISSING_LEFT, N_LEFT, EXTRA, N_CANDIDATE = range(7)
LEFT, RIGHT, NODE, LEFT_CHILD, RIGHT_CHILD, N_SUMS = range(6)  # vectors of sums in the scratch memory
ZERO = np.int64(0)  # for arguments of kernels: for a literal 0 they would be compiled once more
TIE = np.float32(1e-7)  # float32 values closer than this count as equal
ROUNDING = (
    1e-12  # scores that differ by less (relatively) are equal, and the first wins: sums depend on the order of rows
)


@inner_kernel
def row_at(rows, p):
    return rows[2 * p] & 0x7FFFFFFF


@inner_kernel
def add_outputs(rows, start, end, codes, real, weight, stride, tot):  # OUT: tot
    """`add_rows` for several outputs."""
    for p in range(start, end):
        row = rows[2 * p] & 0x7FFFFFFF
        w = weight[row] if weight.shape[0] > 0 else 1.0
        tot[WEIGHT] += w
        for k in range(codes.shape[1]):
            tot[HEAD + k * stride + codes[row, k]] += w
        if codes.shape[0] == 0:
            for k in range(real.shape[1]):
                wy = w * real[row, k]
                tot[HEAD + k] += wy
                tot[MOMENT] += wy * real[row, k]


@view_kernel
def add_rows(rows, start, end, codes, real, weight, stride, tot):  # OUT: tot
    """Add the rows at positions [start, end)."""
    if codes.shape[1] > 1 or real.shape[1] > 1:
        add_outputs(rows, start, end, codes, real, weight, stride, tot)
        return
    total, first, second = 0.0, 0.0, 0.0
    for p in range(start, end):
        row = rows[2 * p] & 0x7FFFFFFF
        w = weight[row] if weight.shape[0] > 0 else 1.0
        total += w
        if codes.shape[0] > 0:
            tot[HEAD + codes[row, 0]] += w
        else:
            wy = w * real[row, 0]
            first += wy
            second += wy * real[row, 0]
    tot[WEIGHT] += total
    tot[HEAD] += first
    tot[MOMENT] += second


@inner_kernel
def note(cand, score, values, start, p, last, n_missing, side):  # OUT: cand
    """Store the split between positions p - 1 and p; at p = last the missing values are alone on the right."""
    cand[SCORE] = score
    cand[THRESHOLD] = (
        math.inf if p == last else np.float64(values[2 * p - 1]) / 2.0 + np.float64(values[2 * p + 1]) / 2.0
    )
    cand[POSITION] = p - start
    cand[N_LEFT] = p - start + side * n_missing
    n_right = last - p + (1 - side) * n_missing
    cand[MISSING_LEFT] = side if n_missing > 0 else cand[N_LEFT] > n_right


@inner_kernel
def scan_range(start, end, n_missing, side, min_leaf):
    """First and last admissible position, given how many rows each child needs."""
    extra = n_missing * side
    first = start + max(1, min_leaf - extra)
    last = end - n_missing
    if side == 1 or n_missing == 0:
        last -= 1
    return first, min(last, end - extra - min_leaf)


@inner_kernel
def scan_mean(values, rows, start, end, n_missing, cst, real, weight, mins, totals, cand):  # OUT: cand
    """One output, squared error or two-class Gini: the largest between-group sum of squares.

    With t = sl W - S wl that sum is ``t^2 / (wl wr W)``; fractions are compared by multiplying out.
    ``mins = (rows, weight)`` of a leaf, ``totals = (weight W, sum S, lower, upper)`` of the node.
    """
    W, S, lower, upper = totals
    min_leaf, min_weight = mins
    weighted, last_value = weight.shape[0] > 0, end - n_missing
    best_num, best_den, best_p, best_side, bar = -1.0, 1.0, start - 1, ZERO, -1.0
    for side in range(2 if n_missing > 0 else 1):
        t, wl = 0.0, 0.0
        if side == 1:
            for p in range(last_value, end):
                w = row_weight(weight, row_at(rows, p))
                t += w * (real[row_at(rows, p), 0] * W - S)
                wl += w
        first, last = scan_range(start, end, n_missing, side, min_leaf)
        for p in range(start, min(first, last + 1) - 1):
            w = weight[row_at(rows, p)] if weighted else 1.0
            t += w * (real[row_at(rows, p), 0] * W - S)
            wl += w
        for p in range(first, last + 1):
            row = row_at(rows, p - 1)
            if weighted:
                t += weight[row] * (real[row, 0] * W - S)
                wl += weight[row]
            else:
                t += real[row, 0] * W - S
                wl += 1.0
            wr = W - wl
            num, den = t * t, wl * wr
            if num * best_den > bar * den and wl > 0.0 and wr > 0.0:  # seldom: the branches below are off the path
                if p < last_value and values[2 * p + 1] <= values[2 * p - 1] + TIE:
                    continue
                if wl < min_weight or wr < min_weight:
                    continue
                if cst != 0:
                    sl = (t + S * wl) / W
                    if not keeps_order(cst, sl / wl, (S - sl) / wr, lower, upper):
                        continue
                best_num, best_den, best_p, best_side = num, den, p, side
                bar = num + ROUNDING * num
    if best_p >= start:
        note(cand, best_num / best_den, values, start, best_p, last_value, n_missing, best_side)


@inner_kernel
def scan_labels(values, rows, start, end, min_leaf, ones, cand):  # OUT: cand
    """`scan_mean` for two classes without weights and missing values: labels come as sign bits of the rows."""
    W = np.float64(end - start)
    first, last = start + min_leaf, end - min_leaf
    best_num, best_den, best_p = -1.0, 1.0, start - 1
    t = 0.0
    for p in range(start, first - 1):
        t += W * (rows[2 * p] < 0) - ones
    for p in range(first, last + 1):
        t += W * (rows[2 * p - 2] < 0) - ones
        wl = np.float64(p - start)
        num, den = t * t, wl * (W - wl)
        if num * best_den > best_num * den and values[2 * p + 1] > values[2 * p - 1] + TIE:
            best_num, best_den, best_p = num, den, p
    if best_p >= start:
        note(cand, best_num / best_den, values, start, best_p, end, ZERO, ZERO)


@inner_kernel
def x_log_x(x, table):
    if table.shape[0] > 0:
        return table[np.intp(x)]
    return x * math.log2(x) if x > 0.0 else 0.0


@inner_kernel
def start_classes(rows, first, end, targets, tot, left, right):  # OUT: left, right
    """Class weights of the missing rows [first, end) on the left, of the others on the right."""
    codes, real, weight, stride = targets.codes, targets.real, targets.weight, targets.stride
    clear_totals(left)
    for p in range(first, end):
        add_row(codes, real, weight, stride, row_at(rows, p), 1.0, left)
    right[WEIGHT] = tot[WEIGHT] - left[WEIGHT]
    for i in range(HEAD, tot.shape[0]):
        right[i] = tot[i] - left[i]


@inner_kernel
def class_terms(counts, targets, use_entropy):
    """Sum over classes of the squares, or of x log2 x."""
    found = 0.0
    for c in range(targets.n_classes[0]):
        x = max(counts[HEAD + c], 0.0)
        found += x_log_x(x, targets.table) if use_entropy else x * x
    return found


@inner_kernel
def scan_classes(values, rows, start, end, n_missing, cst, targets, rule, tot, sums, cand):  # OUT: cand
    """One output, any number of classes, Gini or entropy: terms of the class that moves are updated, not all."""
    use_entropy = rule.criterion == ENTROPY
    left, right, table = sums[LEFT], sums[RIGHT], targets.table
    codes, weight, min_weight = targets.codes, targets.weight, rule.min_weight
    last_value = end - n_missing
    bar, best_den = -math.inf, 1.0
    for side in range(2 if n_missing > 0 else 1):
        start_classes(rows, last_value if side == 1 else end, end, targets, tot, left, right)
        wl, W = left[WEIGHT], tot[WEIGHT]
        terms_left, terms_right = class_terms(left, targets, use_entropy), class_terms(right, targets, use_entropy)
        first, last = scan_range(start, end, n_missing, side, rule.min_leaf)
        for p in range(start + 1, last + 1):
            row = row_at(rows, p - 1)
            w = row_weight(weight, row)
            c = HEAD + codes[row, 0]
            a, b = left[c], right[c]
            if use_entropy:
                after = max(b - w, 0.0)
                terms_left += x_log_x(a + w, table) - x_log_x(a, table)
                terms_right += x_log_x(after, table) - x_log_x(max(b, 0.0), table)
            else:
                terms_left += w * (2.0 * a + w)
                terms_right -= w * (2.0 * b - w)
            left[c] = a + w
            right[c] = b - w
            wl += w
            if p < first or (p < last_value and values[2 * p + 1] <= values[2 * p - 1] + TIE):
                continue
            wr = W - wl
            if use_entropy:
                num = terms_left + terms_right - x_log_x(wl, table) - x_log_x(max(wr, 0.0), table)
                den = 1.0
            else:
                num, den = terms_left * wr + terms_right * wl, wl * wr
            if num * best_den > bar * den and wl > 0.0 and wr > 0.0:
                if wl < min_weight or wr < min_weight:
                    continue
                if cst != 0 and not keeps_order(cst, left[HEAD + 1] / wl, right[HEAD + 1] / wr, tot[LOWER], tot[UPPER]):
                    continue
                bar, best_den = num + ROUNDING * abs(num), den
                note(cand, num / den, values, start, p, last_value, n_missing, side)


@inner_kernel
def admissible(left, right, cst, rule, targets, tot):
    """Weight and monotone constraints of a split given by the sums of its children."""
    wl, wr = left[WEIGHT], right[WEIGHT]
    if wl <= 0.0 or wr <= 0.0 or wl < rule.min_weight or wr < rule.min_weight:
        return False
    if cst == 0:
        return True
    i = HEAD + targets.mean_column
    return keeps_order(cst, left[i] / wl, right[i] / wr, tot[LOWER], tot[UPPER])


@inner_kernel
def scan_general(values, rows, start, end, n_missing, cst, targets, rule, tot, sums, cand):  # OUT: cand
    """Any criterion that the sums of both children decide; costs their length at every candidate."""
    left, right = sums[LEFT], sums[RIGHT]
    codes, real, weight, stride = targets.codes, targets.real, targets.weight, targets.stride
    last_value = end - n_missing
    n_boundaries, bar = 0, -math.inf
    for side in range(2 if n_missing > 0 else 1):
        start_classes(rows, last_value if side == 1 else end, end, targets, tot, left, right)
        first, last = scan_range(start, end, n_missing, side, rule.min_leaf)
        for p in range(start + 1, last + 1):
            row = row_at(rows, p - 1)
            add_row(codes, real, weight, stride, row, 1.0, left)
            add_row(codes, real, weight, stride, row, -1.0, right)
            if p < last_value and values[2 * p + 1] <= values[2 * p - 1] + TIE:
                continue
            n_boundaries += 1
            if p < first or not admissible(left, right, cst, rule, targets, tot):
                continue
            score = split_score(rule.criterion, left, right, tot, targets)
            if score > bar:
                bar = score + ROUNDING * abs(score)
                note(cand, score, values, start, p, last_value, n_missing, side)
                cand[EXTRA] = split_entropy(left[WEIGHT], right[WEIGHT])
    if rule.criterion == GAIN_RATIO and cand[SCORE] > -math.inf:
        penalise_thresholds(n_boundaries, tot[WEIGHT], cand)


@inner_kernel
def penalise_thresholds(n_boundaries, weight, cand):  # OUT: cand
    """C4.5: the gain pays for the choice among thresholds, then is divided by the entropy of the split."""
    cand[SCORE] -= math.log2(np.float64(max(n_boundaries, 1))) / weight
    cand[EXTRA] = cand[SCORE] / cand[EXTRA] if cand[EXTRA] > 0.0 else -math.inf


@inner_kernel
def draw_threshold(values, start, last, state):
    """Uniform between the least and the largest value of a sorted column, never the largest."""
    low, high = np.float64(values[2 * start + 1]), np.float64(values[2 * last - 1])
    drawn = low + next_uniform(state) * (high - low)
    return drawn if drawn < high else low


@inner_kernel
def first_above(values, start, last, threshold):
    """First position of a sorted column whose value exceeds the threshold."""
    low, high = start, last
    while low < high:
        middle = (low + high) // 2
        if values[2 * middle + 1] <= threshold:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def scan_random(values, rows, span, cst, targets, rule, tot, sums, state, cand):  # OUT: cand
    """One threshold drawn uniformly; missing values go to a side drawn by lot."""
    start, end, n_missing = span
    left, right = sums[LEFT], sums[RIGHT]
    last_value = end - n_missing
    threshold = draw_threshold(values, start, last_value, state)
    side = 1 if n_missing > 0 and next_uniform(state) < 0.5 else 0
    start_classes(rows, last_value if side == 1 else end, end, targets, tot, left, right)
    p = first_above(values, start, last_value, threshold)
    add_rows(rows, start, p, targets.codes, targets.real, targets.weight, targets.stride, left)
    right[WEIGHT] = tot[WEIGHT] - left[WEIGHT]
    for i in range(HEAD, tot.shape[0]):
        right[i] = tot[i] - left[i]
    n_left = p - start + side * n_missing
    if min(n_left, end - start - n_left) < max(rule.min_leaf, 1):
        return
    if not admissible(left, right, cst, rule, targets, tot):
        return
    score = split_score(rule.criterion, left, right, tot, targets)
    if score > -math.inf:
        note(cand, score, values, start, p, -1, n_missing, side)
        cand[THRESHOLD] = threshold
        cand[MISSING_LEFT] = side if n_missing > 0 else n_left > end - start - n_left
        cand[N_LEFT] = n_left
        cand[EXTRA] = split_entropy(left[WEIGHT], right[WEIGHT])
        if rule.criterion == GAIN_RATIO:
            penalise_thresholds(1, tot[WEIGHT], cand)
