"""One random threshold of a column within one node (extremely randomised trees).

Columns hold float32 values as int32 of the same order (``ordered``), so that extremes and comparisons are integer
operations.  The threshold is uniform between the extremes of the node; it depends on the node's key and the column.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._trees._forest_scan_kernels import (
    CODE_LEFT,
    CODE_RIGHT,
    CONSTANT,
    CUT,
    GAIN,
    INADMISSIBLE,
    class_gain,
    enough,
    fields,
    mean_gain,
    sum_of_terms,
    two_class_gain,
)

TIE = np.float32(1e-7)


@kernel
def ordered(bits):
    """Between float32 bits and integers of the same order; its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@kernel
def decoded(code, pun_bits, pun_real):  # OUT: pun_bits, pun_real: the same memory
    pun_bits[0] = ordered(code)
    return np.float64(pun_real[0])


@kernel
def gather_extremes(column, rows, start, end, codes):  # OUT: codes; returns least and largest
    for p in range(start, end):
        codes[p - start] = column[rows[p]]
    low, high = codes[0], codes[0]
    for i in range(1, end - start):
        low = min(low, codes[i])
        high = max(high, codes[i])
    return low, high


@kernel
def draw_cut(column, rows, span, seed, codes, pun_bits, pun_real, state, found):  # OUT: codes and after
    """Draw the threshold of a column; values with a code up to ``found[CODE_LEFT]`` are on the left."""
    low_code, high_code = gather_extremes(column, rows, span[0], span[1], codes)
    low, high = decoded(low_code, pun_bits, pun_real), decoded(high_code, pun_bits, pun_real)
    if np.float32(high) <= np.float32(low) + TIE:
        found[GAIN] = CONSTANT
        return False
    state[0] = seed
    cut = low + next_uniform(state) * (high - low)
    cut = cut if cut < high else low
    pun_real[0] = np.float32(cut)
    code = ordered(pun_bits[0]) - np.int64(np.float64(pun_real[0]) > cut)
    found[CODE_LEFT] = np.float64(max(code, np.int64(low_code)))
    found[CODE_RIGHT] = found[CODE_LEFT]
    found[CUT] = cut
    return True


@kernel
def units_below(codes, units, n, cut):
    below = np.uint64(0)
    for i in range(n):
        below += units[i] if codes[i] <= cut else np.uint64(0)
    return below


@kernel
def judge_two_random(codes, n, total, limits, units, found):  # OUT: found
    """Gain of the drawn threshold for two classes with counts."""
    below = units_below(codes, units, n, np.int64(found[CODE_LEFT]))
    n_rows, weight, ones = fields(total)
    nl, wl, sl = fields(below)
    found[GAIN] = INADMISSIBLE
    if enough(nl, n_rows, wl, weight, limits):
        found[GAIN] = two_class_gain(limits[0], wl, sl, weight, ones)


@fast_kernel
def sums_below(codes, rowwise, n, cut):
    """Rows, and both columns of `rowwise`, over the codes up to `cut`."""
    first, second, count = 0.0, 0.0, 0
    for i in range(n):
        inside = codes[i] <= cut
        first += rowwise[i, 0] if inside else 0.0
        second += rowwise[i, 1] if inside else 0.0
        count += np.int64(inside)
    return count, first, second


@kernel
def judge_means_random(codes, n, totals, limits, rowwise, found):  # OUT: found
    """Gain of the drawn threshold for the squared error."""
    nl, wl, sl = sums_below(codes, rowwise, n, np.int64(found[CODE_LEFT]))
    found[GAIN] = INADMISSIBLE
    if enough(nl, n, wl, totals[0], limits):
        found[GAIN] = mean_gain(wl, sl, totals[0], totals[1])


@kernel
def judge_classes_random(codes, n, limits, rowwise, sums, sides, found):  # OUT: sides, found
    """Gain of the drawn threshold for any number of classes."""
    left, right, cut = sides[0], sides[1], np.int64(found[CODE_LEFT])
    left[:] = 0.0
    nl, wl, weight = 0, 0.0, 0.0
    for i in range(n):
        if codes[i] <= cut:
            left[np.int64(rowwise[i, 1])] += rowwise[i, 0]
            wl += rowwise[i, 0]
            nl += 1
    for c in range(sums.shape[0]):
        right[c] = max(sums[c] - left[c], 0.0)
        weight += sums[c]
    found[GAIN] = INADMISSIBLE
    if enough(nl, n, wl, weight, limits):
        terms_left, terms_right = sum_of_terms(limits[0], left), sum_of_terms(limits[0], right)
        found[GAIN] = class_gain(limits[0], wl, terms_left, weight, terms_right, sum_of_terms(limits[0], sums))
