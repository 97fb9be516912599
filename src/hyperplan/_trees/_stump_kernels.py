"""The best tree with one split, on columns that were sorted once; X comes as the order of its rows by each column.

``order[j, p]`` is the row at position p of column j; its sign bit says that no threshold fits behind it, because the
next value is the same (or there is none).  Scans do the sums of the general trees in the same order, so that both find
the same split; two columns go side by side, which hides the latency of the running sums.  All weights are positive.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._criterion_kernels import EPSILON, HEAD, IMPURITY, MOMENT, WEIGHT, clear_totals, impurity
from hyperplan._trees._exact_grow_kernels import decrease, draw_order, write_node
from hyperplan._trees._exact_scan_kernels import ROUNDING, TIE

SCORE, POSITION, N_FOUND = range(3)
ROW = 0x7FFFFFFF


@kernel
def rows_by_value(values, rows, order):  # OUT: order
    """Order of the rows from sorted pairs (see the exact scans); `values` and `rows` are views of the pairs."""
    n = order.shape[1]
    for j in range(order.shape[0]):
        for p in range(n):
            tied = p == n - 1 or values[j, 2 * p + 3] <= values[j, 2 * p + 1] + TIE
            row = np.int64(rows[j, 2 * p]) & ROW
            order[j, p] = np.int32(row - 0x80000000 if tied else row)


@kernel
def root_sums(rows, targets, tot):  # OUT: tot
    """Sums of all rows, in the order of the first column."""
    codes, real, weight = targets.codes, targets.real, targets.weight
    clear_totals(tot)
    add_sums(rows, 0, rows.shape[0], codes, real, weight, tot)
    tot[IMPURITY] = impurity(targets.criterion, tot, targets)


@kernel
def add_sums(rows, start, end, codes, real, weight, tot):  # OUT: tot
    total, first, second = 0.0, 0.0, 0.0
    for p in range(start, end):
        row = rows[p] & ROW
        w = weight[row]
        total += w
        if codes.shape[0] > 0:
            tot[HEAD + codes[row, 0]] += w
        else:
            first += w * real[row, 0]
            second += w * real[row, 0] * real[row, 0]
    tot[WEIGHT] += total
    tot[HEAD] += first
    tot[MOMENT] += second


@kernel
def sign_weights(codes, weight, signed):  # OUT: signed
    for i in range(weight.shape[0]):
        signed[i] = weight[i] if codes[i, 0] == 1 else -weight[i]


@kernel
def fill_terms(real, weight, total, sums, terms):  # OUT: terms
    """What a row adds to the running sums: ``w (y W - S)`` and w."""
    for i in range(weight.shape[0]):
        terms[i, 0] = weight[i] * (real[i, 0] * total - sums)
        terms[i, 1] = weight[i]


@kernel
def scan_signed(order, first, last, signed, W, S, found):  # OUT: found
    """Two classes: the largest ``t^2 / (wl wr)`` of columns [first, last), t and wl as for general trees."""
    up = W - S
    j = first
    while j < last:
        pair = min(2, last - j)
        a, b = order[j], order[j + pair - 1]
        ta, wa, na, da, sa, pa = 0.0, 0.0, -1.0, 1.0, -math.inf, -1
        tb, wb, nb, db, sb, pb = 0.0, 0.0, -1.0, 1.0, -math.inf, -1
        for p in range(a.shape[0]):
            ra, rb = a[p], b[p]
            x, y = signed[ra & ROW], signed[rb & ROW]
            ta += x * (up if x > 0.0 else S)
            wa += abs(x)
            tb += y * (up if y > 0.0 else S)
            wb += abs(y)
            if ra >= 0:
                den = wa * (W - wa)
                if ta * ta * da > na * den and den > 0.0:
                    na, da, pa = ta * ta + ROUNDING * (ta * ta), den, p + 1
                    sa = ta * ta / den
            if rb >= 0:
                den = wb * (W - wb)
                if tb * tb * db > nb * den and den > 0.0:
                    nb, db, pb = tb * tb + ROUNDING * (tb * tb), den, p + 1
                    sb = tb * tb / den
        found[j, SCORE], found[j, POSITION] = sa, pa
        found[j + pair - 1, SCORE], found[j + pair - 1, POSITION] = sb, pb
        j += pair


@kernel
def scan_terms(order, first, last, terms, W, found):  # OUT: found
    """Numbers: the same with the sums of `fill_terms`."""
    j = first
    while j < last:
        pair = min(2, last - j)
        a, b = order[j], order[j + pair - 1]
        ta, wa, na, da, sa, pa = 0.0, 0.0, -1.0, 1.0, -math.inf, -1
        tb, wb, nb, db, sb, pb = 0.0, 0.0, -1.0, 1.0, -math.inf, -1
        for p in range(a.shape[0]):
            ra, rb = a[p], b[p]
            x, y = terms[ra & ROW], terms[rb & ROW]
            ta += x[0]
            wa += x[1]
            tb += y[0]
            wb += y[1]
            if ra >= 0:
                den = wa * (W - wa)
                if ta * ta * da > na * den and den > 0.0:
                    na, da, pa = ta * ta + ROUNDING * (ta * ta), den, p + 1
                    sa = ta * ta / den
            if rb >= 0:
                den = wb * (W - wb)
                if tb * tb * db > nb * den and den > 0.0:
                    nb, db, pb = tb * tb + ROUNDING * (tb * tb), den, p + 1
                    sb = tb * tb / den
        found[j, SCORE], found[j, POSITION] = sa, pa
        found[j + pair - 1, SCORE], found[j + pair - 1, POSITION] = sb, pb
        j += pair


@kernel
def scan_gini(order, first, last, codes, weight, tot, sides, found):  # OUT: sides, found
    """Several classes; `sides` (2, n_classes) holds the class weights on the left and on the right."""
    left, right, W = sides[0], sides[1], tot[WEIGHT]
    for j in range(first, last):
        rows = order[j]
        terms_left, terms_right, wl = 0.0, 0.0, 0.0
        for c in range(left.shape[0]):
            left[c] = 0.0
            right[c] = tot[HEAD + c]
            terms_right += right[c] * right[c]
        bar, best_den, score, best_p = -math.inf, 1.0, -math.inf, -1
        for p in range(rows.shape[0]):
            row = rows[p] & ROW
            w, c = weight[row], codes[row, 0]
            terms_left += w * (2.0 * left[c] + w)
            terms_right -= w * (2.0 * right[c] - w)
            left[c] += w
            right[c] -= w
            wl += w
            if rows[p] < 0:
                continue
            wr = W - wl
            num, den = terms_left * wr + terms_right * wl, wl * wr
            if num * best_den > bar * den and wr > 0.0:
                bar, best_den, score, best_p = num + ROUNDING * abs(num), den, num / den, p + 1
        found[j, SCORE], found[j, POSITION] = score, best_p


@kernel
def finish_stump(order, found, key, targets, rule, totals, ranks, nodes, is_left):  # OUT: totals..., is_left
    """Choose among the columns in the random order of `key`, write the nodes; returns their number (1 or 3).

    ``totals`` are sums of root, left and right; ``ranks = (order of features, state)``.
    """
    n = order.shape[1]
    root, left, right = totals[0], totals[1], totals[2]
    write_node(nodes, 0, root, n, targets, rule)
    draw_order(key, order.shape[0], order.shape[0], ranks[1], ranks[0])
    best, j = -math.inf, -1
    for feature in ranks[0]:
        if found[feature, SCORE] > best:
            best, j = found[feature, SCORE] + ROUNDING * abs(found[feature, SCORE]), feature
    is_left[:] = 1
    if j < 0 or root[IMPURITY] <= EPSILON:
        return 1
    position, rows = np.intp(found[j, POSITION]), order[j]
    codes, real, weight = targets.codes, targets.real, targets.weight
    clear_totals(left)
    clear_totals(right)
    add_sums(rows, 0, position, codes, real, weight, left)
    add_sums(rows, position, n, codes, real, weight, right)
    left[IMPURITY], right[IMPURITY] = impurity(rule.criterion, left, targets), impurity(rule.criterion, right, targets)
    if decrease(root, left, right, rule.total_weight) + EPSILON < 0.0:
        return 1
    for p in range(position, n):
        is_left[rows[p] & ROW] = 0
    write_node(nodes, 1, left, position, targets, rule)
    write_node(nodes, 2, right, n - position, targets, rule)
    nodes.feature[0] = j
    nodes.missing_go_to_left[0] = position > n - position
    nodes.children_left[0], nodes.children_right[0] = 1, 2
    return 3
