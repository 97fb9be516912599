"""The best of random thresholds, one for each drawn column of a node (extremely randomised trees).

Columns hold float32 values as int32 of the same order (``ordered``), so that extremes and comparisons are integer
operations.  The threshold is uniform between the extremes of the node; it depends on the node's key and the column.

``blocks`` holds the matrix by columns and by rows, and two rooms for rows.  A large node (level 0) reads the columns
one by one.  Once its rows fit in a room they are copied there together (levels 1 and 2), and all drawn columns of a row
are read at once: they lie next to each other.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel
from hyperplan._trees._forest_draw_kernels import column_seed, draw_feature, undo_draws
from hyperplan._trees._forest_many_kernels import judge_many
from hyperplan._trees._forest_scan_kernels import (
    CONSTANT,
    EQUALLY_GOOD,
    INADMISSIBLE,
    MANY_TARGETS,
    ONE_TARGET,
    class_gain,
    enough,
    fields,
    mean_gain,
    sum_of_terms,
    two_class_gain,
)

TIE = np.float32(1e-7)
WORTH_A_COPY = 8  # rows of a node from which they are copied
ONE, ZERO = np.int64(1), np.int64(0)


@view_kernel
def ordered(bits):
    """Between float32 bits and integers of the same order; its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@inner_kernel
def draw_cut(low_code, high_code, seed, state):  # OUT: state
    """Threshold between two extremes: whether there is one, the largest code on its left, and its value."""
    low32, high32 = np.int32(ordered(low_code)).view(np.float32), np.int32(ordered(high_code)).view(np.float32)
    low, high = np.float64(low32), np.float64(high32)
    if high32 <= low32 + TIE:
        return False, np.int64(0), 0.0
    state[0] = seed
    cut = low + next_uniform(state) * (high - low)
    cut = cut if cut < high else low
    code = np.int64(ordered(np.float32(cut).view(np.int32))) - np.int64(np.float64(np.float32(cut)) > cut)
    return True, max(code, np.int64(low_code)), cut


@inner_kernel
def judge_two(codes, cut, total, limits, units):
    """Gain of the drawn threshold for two classes with counts."""
    below = np.uint64(0)
    for p in range(units.shape[0]):
        below += units[p] if codes[p] <= cut else np.uint64(0)
    n_rows, weight, ones = fields(total)
    nl, wl, sl = fields(below)
    if not enough(nl, n_rows, wl, weight, limits):
        return INADMISSIBLE
    return two_class_gain(limits[0], wl, sl, weight, ones)


@fast_kernel
def sums_below(codes, cut, pairs):
    """Rows, weight and weighted target over the codes up to `cut`."""
    weight, total, count = 0.0, 0.0, 0
    for p in range(pairs.shape[0]):
        inside = codes[p] <= cut
        weight += pairs[p, 0] if inside else 0.0
        total += pairs[p, 0] * pairs[p, 1] if inside else 0.0
        count += np.int64(inside)
    return count, weight, total


@inner_kernel
def judge_means(codes, cut, totals, limits, pairs):
    """Gain of the drawn threshold for the squared error."""
    nl, wl, sl = sums_below(codes, cut, pairs)
    if not enough(nl, pairs.shape[0], wl, totals[0], limits):
        return INADMISSIBLE
    return mean_gain(wl, sl, totals[0], totals[1])


@inner_kernel
def judge_classes(codes, cut, limits, pairs, sums, sides):  # OUT: sides
    """Gain of the drawn threshold for any number of classes."""
    left, right = sides[0], sides[1]
    nl, wl, weight = 0, 0.0, 0.0
    for c in range(sums.shape[0]):
        left[c] = 0.0
    for p in range(pairs.shape[0]):
        if codes[p] <= cut:
            left[np.uint64(pairs[p, 1])] += pairs[p, 0]
            wl += pairs[p, 0]
            nl += 1
    for c in range(sums.shape[0]):
        right[c] = max(sums[c] - left[c], 0.0)
        weight += sums[c]
    if not enough(nl, pairs.shape[0], wl, weight, limits):
        return INADMISSIBLE
    terms_left, terms_right = sum_of_terms(limits[0], left), sum_of_terms(limits[0], right)
    return class_gain(limits[0], wl, terms_left, weight, terms_right, sum_of_terms(limits[0], sums))


@inner_kernel
def judge(codes, cut, targets, totals, limits, means, work):  # OUT: work.sides
    """Gain of the drawn threshold; two classes with counts have one total, all else the weight and a sum."""
    if len(totals) == 1:
        return judge_two(codes, cut, totals[0], limits, targets)
    if len(means) == MANY_TARGETS:
        return judge_many(codes, cut, totals[0], limits, targets, work.sums, work.sides[0])
    if len(means) == ONE_TARGET:
        return judge_means(codes, cut, totals, limits, targets)
    return judge_classes(codes, cut, limits, targets, work.sums, work.sides)


@inner_kernel
def extremes(codes, n):
    low, high = codes[0], codes[0]
    for i in range(n):
        low = min(low, codes[i])
        high = max(high, codes[i])
    return low, high


@inner_kernel
def copy_rows(source, rows, target):  # OUT: target, rows: numbers within the copy
    for p in range(rows.shape[0]):
        here, room = source[rows[p]], target[p]
        for j in range(source.shape[1]):
            room[j] = here[j]
        rows[p] = p


@inner_kernel
def move_rows_nearer(blocks, level, rows):  # OUT: rows, blocks; returns the level that holds the node's rows
    nearest, n = level, rows.shape[0]
    while nearest < 2 and WORTH_A_COPY <= n <= blocks[nearest + 2].shape[0]:
        nearest += 1
    if nearest > level:
        copy_rows(blocks[level + 1], rows, blocks[nearest + 1])
    return nearest


@inner_kernel
def read_column(column, rows, codes):  # OUT: codes
    for p in range(rows.shape[0]):
        codes[p] = column[rows[p]]


@inner_kernel
def read_row(row, features, codes, p):  # OUT: codes[:, p]
    for k in range(features.shape[0]):
        codes[k, p] = row[features[k]]


@inner_kernel
def read_rows(room, rows, features, codes):  # OUT: codes of all features, one row after another
    for p in range(rows.shape[0]):
        read_row(room[rows[p]], features, codes, p)


@inner_kernel
def search_random(blocks, level, rows, targets, totals, most, key, rule, means, work):  # OUT: work
    """Best of the drawn features: gain, feature (-1 without one), largest code on the left, threshold, codes.

    The search ends when a gain reaches `most`.
    """
    order, swaps, draw, state, drawn = work.order, work.swaps, work.draw, work.state, work.drawn
    limits, d, n = (rule.criterion, rule.min_leaf, rule.min_weight), order.shape[0], rows.shape[0]
    codes = work.codes if level == 0 else work.near
    draw[0] = key
    i, usable, best, winner, left, cut, kept = ZERO, 0, CONSTANT, -ONE, ZERO, 0.0, ZERO
    while i < d and (i < rule.max_features or usable == 0) and best * EQUALLY_GOOD < most:
        ahead = rule.max_features - i if level > 0 and n > 2 and i < rule.max_features else ONE
        first = 1 - kept if level == 0 else (i if i < rule.max_features else ZERO)
        for k in range(first, first + ahead):
            drawn[k] = draw_feature(order, swaps, i, draw)
            i += 1
        if level == 0:
            read_column(blocks[0][drawn[first]], rows, codes[first])
        else:
            read_rows(blocks[level + 1], rows, drawn[first : first + ahead], codes[first:])
        for k in range(first, first + ahead):
            low, high = extremes(codes[k], n)
            some, code, threshold = draw_cut(low, high, column_seed(key, drawn[k]), state)
            gain = judge(codes[k], code, targets, totals, limits, means, work) if some else CONSTANT
            usable += gain != CONSTANT
            if gain >= 0.0 and (winner < 0 or gain > best * EQUALLY_GOOD):
                best, winner, left, cut, kept = gain, np.int64(drawn[k]), code, threshold, k
                if best * EQUALLY_GOOD >= most:
                    break
    undo_draws(order, swaps, i)
    return best, winner, left, cut, codes[kept]
