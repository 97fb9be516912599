"""One random threshold of a column within one node (extremely randomised trees).

Columns hold float32 values as int32 of the same order (``ordered``), so that extremes and comparisons are integer
operations.  The threshold is uniform between the extremes of the node; it depends on the node's key and the column.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel
from hyperplan._trees._forest_scan_kernels import (
    INADMISSIBLE,
    class_gain,
    enough,
    fields,
    mean_gain,
    sum_of_terms,
    two_class_gain,
)

TIE = np.float32(1e-7)
FEW = 48  # rows up to which extremes are found on the way: loops over vectors do not pay


@view_kernel
def ordered(bits):
    """Between float32 bits and integers of the same order; its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@inner_kernel
def gather_extremes(column, rows, start, end, codes):  # OUT: codes; returns least and largest
    n = end - start
    low = column[rows[start]]
    high = low
    if n <= FEW:
        for i in range(n):
            code = column[rows[start + i]]
            codes[i] = code
            low = min(low, code)
            high = max(high, code)
        return low, high
    for i in range(n):
        codes[i] = column[rows[start + i]]
    for i in range(n):
        low = min(low, codes[i])
        high = max(high, codes[i])
    return low, high


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
def judge_two(codes, cut, span, total, limits, units):
    """Gain of the drawn threshold for two classes with counts."""
    start, end = span
    below = np.uint64(0)
    for p in range(start, end):
        below += units[p] if codes[p - start] <= cut else np.uint64(0)
    n_rows, weight, ones = fields(total)
    nl, wl, sl = fields(below)
    if not enough(nl, n_rows, wl, weight, limits):
        return INADMISSIBLE
    return two_class_gain(limits[0], wl, sl, weight, ones)


@fast_kernel
def sums_below(codes, cut, start, end, pairs):
    """Rows, weight and weighted target over the codes up to `cut`."""
    weight, total, count = 0.0, 0.0, 0
    for p in range(start, end):
        inside = codes[p - start] <= cut
        weight += pairs[p, 0] if inside else 0.0
        total += pairs[p, 0] * pairs[p, 1] if inside else 0.0
        count += np.int64(inside)
    return count, weight, total


@inner_kernel
def judge_means(codes, cut, span, totals, limits, pairs):
    """Gain of the drawn threshold for the squared error."""
    start, end = span
    nl, wl, sl = sums_below(codes, cut, start, end, pairs)
    if not enough(nl, end - start, wl, totals[0], limits):
        return INADMISSIBLE
    return mean_gain(wl, sl, totals[0], totals[1])


@inner_kernel
def judge_classes(codes, cut, span, limits, pairs, sums, sides):  # OUT: sides
    """Gain of the drawn threshold for any number of classes."""
    start, end = span
    left, right = sides[0], sides[1]
    nl, wl, weight = 0, 0.0, 0.0
    for c in range(sums.shape[0]):
        left[c] = 0.0
    for p in range(start, end):
        if codes[p - start] <= cut:
            left[np.int64(pairs[p, 1])] += pairs[p, 0]
            wl += pairs[p, 0]
            nl += 1
    for c in range(sums.shape[0]):
        right[c] = max(sums[c] - left[c], 0.0)
        weight += sums[c]
    if not enough(nl, end - start, wl, weight, limits):
        return INADMISSIBLE
    terms_left, terms_right = sum_of_terms(limits[0], left), sum_of_terms(limits[0], right)
    return class_gain(limits[0], wl, terms_left, weight, terms_right, sum_of_terms(limits[0], sums))
