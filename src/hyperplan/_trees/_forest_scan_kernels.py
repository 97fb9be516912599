"""The best threshold of one column within one node of a forest's tree.

A column holds codes: bins, or ranks of values.  Large nodes are scanned through a histogram of the codes, small ones by
sorting ``code << 32 | place`` (place: position within the node).  Either way the winner is a pair of neighbouring codes
of the node; scans return ``(gain, code on the left, code on the right)``; gain -1: the column is constant, -2: no
admissible threshold.  The gain is the weighted decrease of the impurity.

Two ways to keep the sums of a node: two classes with counts (``units``: rows, counts and counts of class 1 in the
fields of one uint64), and any criterion with weights (``pairs``: weight, and target or class, of a row; one sum per
class, or one sum of targets).  Both stand in the order of `rows`: what belongs to ``rows[p]`` is at p.

`rows` and what belongs to them are those of the node alone, and numbers of rows are unsigned: Numba need not ask
whether an index is negative, and the compiler can make vectors of the loops.
"""

import math

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._criterion_kernels import ENTROPY

CONSTANT, INADMISSIBLE = -1.0, -2.0
FIELD = np.uint64(21)  # bits of a field of `unit`
MASK = np.uint64((1 << 21) - 1)
COUNT_ONE, ROW_ONE = np.uint64(1 << 21), np.uint64(1 << 42)
PLACE = np.uint64(0xFFFFFFFF)
CODE_SHIFT = np.uint64(32)
BY_INSERTION = 12  # keys sorted by insertion
SHORT_DIGITS = 256  # keys sorted by digits of four bits instead of eight
CLASSES, ONE_TARGET, MANY_TARGETS = range(3)  # entries of `means`
EQUALLY_GOOD = 1.0 + 1e-10  # gains closer than this are equal but for rounding: the first feature drawn wins
W, ROWS, SUMS = range(3)  # columns of a cell of the general histogram; the sums follow


@inner_kernel
def fields(unit):
    """Rows, weight and weight of class 1."""
    ones = np.float64(np.int64(unit & MASK))
    weight = np.float64(np.int64((unit >> FIELD) & MASK))
    return np.int64(unit >> (FIELD + FIELD)), weight, ones


@inner_kernel
def x_log_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@inner_kernel
def two_class_entropy(weight, ones):
    """Weight times entropy in bits."""
    return x_log_x(weight) - x_log_x(ones) - x_log_x(weight - ones)


@inner_kernel
def two_class_gain(criterion, wl, sl, weight, ones):
    """Weighted decrease of the impurity when the left child has weight `wl` and weight `sl` of class 1."""
    wr = weight - wl
    if criterion == ENTROPY:
        after = two_class_entropy(wl, sl) + two_class_entropy(wr, ones - sl)
        return max(two_class_entropy(weight, ones) - after, 0.0)
    t = sl * weight - ones * wl
    return 2.0 * (t * t / (wl * wr)) / weight


@inner_kernel
def sort_by_insertion(keys, n):  # OUT: keys
    for i in range(1, n):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@view_kernel
def sort_by_digits(keys, n, low, high, spare, counts):  # OUT: keys, spare, counts
    """Stable radix sort by the codes, which lie between `low` and `high`; few keys are sorted by short digits."""
    digit = np.uint64(4) if n < SHORT_DIGITS else np.uint64(8)
    size = 1 << np.int64(digit)
    mask, shift, width = np.uint64(size - 1), CODE_SHIFT, np.uint64(high - low)
    offset = np.uint64(low) << CODE_SHIFT
    swapped = False
    while width > np.uint64(0):
        source, target = (spare, keys) if swapped else (keys, spare)
        for b in range(size):
            counts[b] = 0
        for i in range(n):
            counts[((source[i] - offset) >> shift) & mask] += 1
        total = 0
        for b in range(size):
            here = counts[b]
            counts[b] = total
            total += here
        for i in range(n):
            b = ((source[i] - offset) >> shift) & mask
            target[counts[b]] = source[i]
            counts[b] += 1
        swapped = not swapped
        shift += digit
        width >>= digit
    if swapped:
        for i in range(n):
            keys[i] = spare[i]


@inner_kernel
def sorted_keys(column, rows, keys, spare, digits):  # OUT: keys, spare, digits
    """Codes of the node with their places, in increasing order; returns False for a constant column."""
    n = rows.shape[0]
    low, high = np.int64(column[rows[0]]), np.int64(column[rows[0]])
    for p in range(n):
        code = np.int64(column[rows[p]])
        low, high = min(low, code), max(high, code)
        keys[p] = np.uint64((code << 32) | p)
    if low == high:
        return False
    if n <= BY_INSERTION:
        sort_by_insertion(keys, n)
    else:
        sort_by_digits(keys, n, low, high, spare, digits)
    return True


@inner_kernel
def best_of_two(totals, limits, n, n_rows, seen, codes):  # OUT: seen
    """Best of the candidates whose left children stand in ``seen[:, :n]`` (weight, ones, rows; gains are added).

    The last entry is the whole node.
    """
    weight, ones = totals
    criterion, min_leaf, min_weight = limits
    wl, sl, nl, gains = seen[0], seen[1], seen[2], seen[3]
    m = n - 1
    if criterion == ENTROPY:
        for i in range(m):
            gains[i] = two_class_gain(criterion, wl[i], sl[i], weight, ones)
    else:
        double = 2.0 / weight
        for i in range(m):
            t = sl[i] * weight - ones * wl[i]
            gains[i] = double * (t * t / (wl[i] * (weight - wl[i])))
    if min_leaf > 1 or min_weight > 0.0:
        for i in range(m):
            if min(nl[i], n_rows - nl[i]) < min_leaf or min(wl[i], weight - wl[i]) < min_weight:
                gains[i] = INADMISSIBLE
    best, winner = -1.0, -1
    for i in range(m):
        if gains[i] > best:
            best, winner = gains[i], i
    if winner < 0:
        return CONSTANT if m == 0 else INADMISSIBLE, 0, 0
    return best, np.int64(codes[winner]), np.int64(codes[winner + 1])


@inner_kernel
def scan_two_sorted(column, rows, total, limits, units, keys, spare, digits, seen, codes):  # OUT: keys...
    """Two classes, small node; ``limits = (criterion, least rows, least weight)``."""
    if not sorted_keys(column, rows, keys, spare, digits):
        return CONSTANT, 0, 0
    n, m, below = rows.shape[0], np.int64(0), np.uint64(0)  # no literal, for which calls would be compiled once more
    keys[n] = ~np.uint64(0)
    for i in range(n):
        key = keys[i]
        below += units[key & PLACE]
        seen[0, m] = np.float64(np.int64((below >> FIELD) & MASK))
        seen[1, m] = np.float64(np.int64(below & MASK))
        seen[2, m] = np.float64(np.int64(below >> (FIELD + FIELD)))
        codes[m] = np.int64(key >> CODE_SHIFT)
        m += np.int64(keys[i + 1] >> CODE_SHIFT != key >> CODE_SHIFT)
    n_rows, weight, ones = fields(total)
    return best_of_two((weight, ones), limits, m, n_rows, seen, codes)


@inner_kernel
def scan_two_histogram(column, rows, total, limits, n_codes, units, cells, seen, codes):  # OUT: cells...
    """Two classes, large node: one uint64 per code holds rows, weight and weight of class 1."""
    for p in range(rows.shape[0]):
        cells[column[rows[p]]] += units[p]
    m, below = np.int64(0), np.uint64(0)
    for b in range(n_codes):
        cell = cells[b]
        cells[b] = 0
        below += cell
        seen[0, m] = np.float64(np.int64((below >> FIELD) & MASK))
        seen[1, m] = np.float64(np.int64(below & MASK))
        seen[2, m] = np.float64(np.int64(below >> (FIELD + FIELD)))
        codes[m] = b
        m += np.int64(cell != np.uint64(0))
    n_rows, weight, ones = fields(total)
    return best_of_two((weight, ones), limits, m, n_rows, seen, codes)


@inner_kernel
def mean_gain(wl, sl, weight, total):
    """Decrease of the sum of squares when the left child has weight `wl` and sum `sl`."""
    t = sl * weight - total * wl
    return t * t / (wl * (weight - wl)) / weight


@inner_kernel
def class_term(criterion, x):
    return x_log_x(x) if criterion == ENTROPY else x * x


@inner_kernel
def class_gain(criterion, wl, terms_left, weight, terms_right, terms):
    """Weighted decrease of Gini index or entropy from the sums over classes of `class_term`."""
    wr = weight - wl
    if criterion == ENTROPY:
        gain = (terms_left - x_log_x(wl)) + (terms_right - x_log_x(wr)) - (terms - x_log_x(weight))
    else:
        gain = terms_left / wl + terms_right / wr - terms / weight
    return max(gain, 0.0)


@inner_kernel
def sum_of_terms(criterion, sums):
    total = 0.0
    for c in range(sums.shape[0]):
        total += class_term(criterion, max(sums[c], 0.0))
    return total


@inner_kernel
def move(criterion, c, amount, left, right):  # OUT: left, right; returns the changes of both sums of terms
    a, b = left[c], right[c]
    left[c] = a + amount
    right[c] = max(b - amount, 0.0)
    up = class_term(criterion, left[c]) - class_term(criterion, a)
    return up, class_term(criterion, right[c]) - class_term(criterion, b)


@inner_kernel
def enough(nl, n_rows, wl, weight, limits):
    """Whether both children have the rows and the weight they need."""
    return min(nl, n_rows - nl) >= limits[1] and min(wl, weight - wl) >= max(limits[2], 1e-300)


@inner_kernel
def scan_means_sorted(column, rows, totals, limits, pairs, keys, spare, digits):  # OUT: keys, spare, digits
    """Squared error, small node; ``totals = (weight, sum)``, ``pairs[p] = (weight, target)``."""
    if not sorted_keys(column, rows, keys, spare, digits):
        return CONSTANT, 0, 0
    n, (weight, total) = rows.shape[0], totals
    wl, sl, best, left, right = 0.0, 0.0, INADMISSIBLE, 0, 0
    for i in range(n - 1):
        key = keys[i]
        place = key & PLACE
        wl += pairs[place, 0]
        sl += pairs[place, 0] * pairs[place, 1]
        after = keys[i + 1] >> CODE_SHIFT
        if after == key >> CODE_SHIFT:
            continue
        gain = mean_gain(wl, sl, weight, total)
        if gain > best and enough(i + 1, n, wl, weight, limits):
            best, left, right = gain, np.int64(key >> CODE_SHIFT), np.int64(after)
    return best, left, right


@inner_kernel
def scan_means_histogram(column, rows, totals, limits, n_codes, pairs, table):  # OUT: table
    """Squared error, large node."""
    for p in range(rows.shape[0]):
        code = column[rows[p]]
        table[code, W] += pairs[p, 0]
        table[code, ROWS] += 1.0
        table[code, SUMS] += pairs[p, 0] * pairs[p, 1]
    n, (weight, total) = rows.shape[0], totals
    wl, sl, nl, best, left, right, last, n_seen = 0.0, 0.0, 0.0, INADMISSIBLE, 0, 0, 0, 0
    for b in range(n_codes):
        if table[b, ROWS] == 0.0:
            continue
        if n_seen > 0:
            gain = mean_gain(wl, sl, weight, total)
            if gain > best and enough(np.int64(nl), n, wl, weight, limits):
                best, left, right = gain, last, b
        wl += table[b, W]
        nl += table[b, ROWS]
        sl += table[b, SUMS]
        table[b, W], table[b, ROWS], table[b, SUMS] = 0.0, 0.0, 0.0
        last = b
        n_seen += 1
    return CONSTANT if n_seen == 1 else best, left, right


@inner_kernel
def scan_classes_sorted(column, rows, limits, pairs, sums, sides, keys, spare, digits):  # OUT: sides...
    """Any number of classes, small node; ``pairs[p] = (weight, class)``, `sides`: room for both children."""
    if not sorted_keys(column, rows, keys, spare, digits):
        return CONSTANT, 0, 0
    criterion, below, above, n, weight = limits[0], sides[0], sides[1], rows.shape[0], 0.0
    for c in range(sums.shape[0]):
        below[c], above[c] = 0.0, sums[c]
        weight += sums[c]
    terms = sum_of_terms(criterion, sums)
    terms_left, terms_right, wl, best, left, right = 0.0, terms, 0.0, INADMISSIBLE, 0, 0
    for i in range(n - 1):
        key = keys[i]
        place = key & PLACE
        wl += pairs[place, 0]
        up, down = move(criterion, np.int64(pairs[place, 1]), pairs[place, 0], below, above)
        terms_left += up
        terms_right += down
        after = keys[i + 1] >> CODE_SHIFT
        if after == key >> CODE_SHIFT:
            continue
        gain = class_gain(criterion, wl, terms_left, weight, terms_right, terms)
        if gain > best and enough(i + 1, n, wl, weight, limits):
            best, left, right = gain, np.int64(key >> CODE_SHIFT), np.int64(after)
    return best, left, right


@inner_kernel
def scan_classes_histogram(column, rows, limits, n_codes, pairs, sums, sides, table):  # OUT: sides, table
    """Any number of classes, large node."""
    for p in range(rows.shape[0]):
        code = column[rows[p]]
        table[code, ROWS] += 1.0
        table[code, SUMS + np.int64(pairs[p, 1])] += pairs[p, 0]
    criterion, below, above, n, weight = limits[0], sides[0], sides[1], rows.shape[0], 0.0
    for c in range(sums.shape[0]):
        below[c], above[c] = 0.0, sums[c]
        weight += sums[c]
    terms = sum_of_terms(criterion, sums)
    terms_left, terms_right, wl, nl, best = 0.0, terms, 0.0, 0.0, INADMISSIBLE
    left, right, last, n_seen = 0, 0, 0, 0
    for b in range(n_codes):
        if table[b, ROWS] == 0.0:
            continue
        if n_seen > 0:
            gain = class_gain(criterion, wl, terms_left, weight, terms_right, terms)
            if gain > best and enough(np.int64(nl), n, wl, weight, limits):
                best, left, right = gain, last, b
        nl += table[b, ROWS]
        table[b, ROWS] = 0.0
        for c in range(sums.shape[0]):
            amount = table[b, SUMS + c]
            if amount != 0.0:
                up, down = move(criterion, c, amount, below, above)
                terms_left += up
                terms_right += down
                wl += amount
                table[b, SUMS + c] = 0.0
        last = b
        n_seen += 1
    return CONSTANT if n_seen == 1 else best, left, right
