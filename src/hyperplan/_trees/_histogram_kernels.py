"""Histograms of packed gradients, and the best split of a histogram.

A row carries one int64, ``(gradient << 32) + hessian``, both integers: one addition updates both sums, and integer
sums are exact, so that neither the order of the rows nor the cut into tasks can change a bit.  Sums of a node fit in
their half by the choice of the scale (`quantise`).  Bins come four features to a word, see `_binning_kernels`.

A split is described by (gain, bin, missing_left, left): rows with a bin <= `bin` go left, `left` is their packed sum.
Gains are in quantised units, ``G_l^2 / (H_l + l2) + G_r^2 / (H_r + l2) - G^2 / (H + l2)``.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel, prefetch, view_kernel
from hyperplan._trees._binning_kernels import WIDTH

BLOCK = 256  # rows gathered at a time
AHEAD = 32  # rows between asking for a row and reading it
GROUP = 16  # words of a cache line

HESSIAN = np.int64(0xFFFFFFFF)
TINY = 1e-15  # keeps 0 / 0 away when there is neither curvature nor penalty
ROUNDING = 1e-12  # gains below this part of the terms they come from are rounding errors
MARGIN = 4e-6  # more than the rounding errors of ten operations in single precision
LARGEST_SUM = 2**31 - 1  # no sum of a node is as large


@view_kernel
def add_all_rows(words, packed, start, stop, hist):  # OUT: hist
    # words: (n_samples,) uint32 of one unit; hist: (4, n_bins) int64, C order
    h0, h1, h2, h3 = hist[0], hist[1], hist[2], hist[3]
    byte = np.uint32(255)
    for i in range(start, stop):
        value, word = packed[i], words[i]
        h0[word & byte] += value
        h1[(word >> np.uint32(8)) & byte] += value
        h2[(word >> np.uint32(16)) & byte] += value
        h3[word >> np.uint32(24)] += value


@view_kernel
def add_rows(words, packed, rows, start, stop, hist):  # OUT: hist
    # like add_all_rows for rows[start:stop]
    h0, h1, h2, h3 = hist[0], hist[1], hist[2], hist[3]
    byte = np.uint32(255)
    for i in range(start, stop):
        row = rows[i]
        value, word = packed[row], words[row]
        h0[word & byte] += value
        h1[(word >> np.uint32(8)) & byte] += value
        h2[(word >> np.uint32(16)) & byte] += value
        h3[word >> np.uint32(24)] += value


@view_kernel
def count_rows(words, rows, start, stop, counts):  # OUT: counts
    # counts: (4, n_bins) int32: how many of rows[start:stop] fall into each bin
    h0, h1, h2, h3 = counts[0], counts[1], counts[2], counts[3]
    byte = np.uint32(255)
    for i in range(start, stop):
        word = words[rows[i]]
        h0[word & byte] += 1
        h1[(word >> np.uint32(8)) & byte] += 1
        h2[(word >> np.uint32(16)) & byte] += 1
        h3[word >> np.uint32(24)] += 1


@view_kernel
def count_words(words, n, counts):  # OUT: counts
    # like count_rows for words[:n]
    h0, h1, h2, h3 = counts[0], counts[1], counts[2], counts[3]
    byte = np.uint32(255)
    for i in range(n):
        word = words[i]
        h0[word & byte] += 1
        h1[(word >> np.uint32(8)) & byte] += 1
        h2[(word >> np.uint32(16)) & byte] += 1
        h3[word >> np.uint32(24)] += 1


@kernel
def add_lines(lines, packed, rows, start, stop, first, last, hist, counts, counted):  # OUT: hist, counts
    """`add_rows` (and, when `counted`, `count_rows`) of words first .. last - 1 for few rows of many.

    lines: (n_samples, n_words) C order; hist, counts: (n_features, n_bins) of all features.  Rows are gathered in
    blocks, whole cache lines at a time, and the histograms of a word are filled from the block.
    """
    block, values = np.empty((GROUP, BLOCK), np.uint32), np.empty(BLOCK, np.int64)
    for group in range(first, last, GROUP):
        n_words = min(GROUP, last - group)
        columns = lines[:, group : group + n_words]
        for begin in range(start, stop, BLOCK):
            n = min(BLOCK, stop - begin)
            for i in range(n):
                later = rows[min(begin + i + AHEAD, stop - 1)]
                prefetch(packed, later)
                prefetch(columns, later)
                row = rows[begin + i]
                values[i] = packed[row]
                for u in range(n_words):
                    block[u, i] = columns[row, u]
            for u in range(n_words):
                place = slice((group + u) * WIDTH, (group + u) * WIDTH + WIDTH)
                add_all_rows(block[u], values, 0, n, hist[place])
                if counted:
                    count_words(block[u], n, counts[place])


@view_kernel
def clamp(value, lower, upper):
    return min(max(value, lower), upper)


@view_kernel
def node_value(packed, rules, lower, upper):
    """``-G / (H + l2)`` in quantised units, within the bounds that monotone ancestors impose."""
    return clamp(-np.float64(packed >> 32) / (np.float64(packed & HESSIAN) + rules.l2 + TINY), lower, upper)


@view_kernel
def bounded_gain(left, right, parent_loss, rules, monotone, lower, upper):
    """Gain when leaf values are bounded or must increase (monotone = 1) or decrease (-1) from left to right; -1: no."""
    low, high = node_value(left, rules, lower, upper), node_value(right, rules, lower, upper)
    if (monotone > 0 and low > high) or (monotone < 0 and low < high):
        return -1.0
    loss_left = low * np.float64(left >> 32)
    loss_right = high * np.float64(right >> 32)
    if loss_left + loss_right + ROUNDING * (abs(loss_left) + abs(loss_right)) >= parent_loss:
        return -1.0
    return parent_loss - loss_left - loss_right


@view_kernel
def fill_gains(prefix, n, total, rules, gains):  # OUT: gains
    """Children's terms of the gain when the left sums are prefix[:n]; -1 where a child has too little hessian."""
    g_total, h_total = np.float64(np.int32(total >> 32)), np.float64(total & HESSIAN)
    l2, least = rules.l2 + TINY, rules.min_hessian
    for b in range(n):
        g = np.float64(np.int32(prefix[b] >> 32))
        h = np.float64(prefix[b] & HESSIAN)
        g_right, h_right = g_total - g, h_total - h
        a, c = h + l2, h_right + l2
        gain = (g * g * c + g_right * g_right * a) / (a * c)
        gains[b] = gain if (h >= least) & (h_right >= least) else -1.0


@view_kernel
def drop_small(counts, used, n, missing, n_rows, rules, gains):  # OUT: gains
    """-1 where a child would have fewer than min_samples rows; `missing` rows go left with the first bins."""
    left = missing
    for j in range(n):
        left += counts[used[j]]
        if left < rules.min_samples or n_rows - left < rules.min_samples:
            gains[j] = -1.0


@view_kernel
def fill_prefix(hist, counts, counted, n, used, prefix):  # OUT: used, prefix
    """Running sums of the bins that hold rows: prefix[j] is the sum up to bin used[j].  Returns how many there are.

    A split after an empty bin is the same as one after the bin before it, which comes first and wins.
    """
    running, m = np.int64(0), 0
    for b in range(n):
        running += hist[b]
        used[m] = b
        prefix[m] = running
        m += np.int64(counts[b] != 0) if counted else np.int64(hist[b] != 0)
    return m


@view_kernel
def scan_numbers(hist, counts, n_bins, has_missing, missing_bin, node, rules, work, f, out):  # OUT: work, out
    """Best split of one numerical feature without constraints.

    node: (packed, n_rows, counted, lower, upper); counts are used when `counted`.  work: (prefix, gains, used).
    out: (gain, bin, missing_left, left) of all features, of which entry f is written.
    """
    total, n_rows, counted = node[0], node[1], node[2]
    prefix, gains, used = work
    gain_out, bin_out, missing_out, left_out = out
    g, h = np.float64(total >> 32), np.float64(total & HESSIAN)
    parent = g * g / (h + rules.l2 + TINY)
    best, best_at, best_missing = parent * (1.0 + ROUNDING) + rules.min_gain, -1, 0
    n = fill_prefix(hist, counts, counted, n_bins - 1 + has_missing, used, prefix)
    fill_gains(prefix, n, total, rules, gains)
    if counted:
        drop_small(counts, used, n, np.int64(0), n_rows, rules, gains)
    for j in range(n):
        if gains[j] > best:
            best, best_at = gains[j], j
    left_out[f] = prefix[best_at] if best_at >= 0 else 0
    if has_missing and hist[missing_bin] != 0:
        n -= np.int64(n > 0 and used[n - 1] == n_bins - 1)  # all rows would go left
        for j in range(n):
            prefix[j] += hist[missing_bin]
        fill_gains(prefix, n, total, rules, gains)
        if counted:
            drop_small(counts, used, n, np.int64(counts[missing_bin]), n_rows, rules, gains)
        for j in range(n - 1, -1, -1):
            if gains[j] > best:
                best, best_at, best_missing = gains[j], j, 1
                left_out[f] = prefix[j]
    gain_out[f] = best - parent if best_at >= 0 else -1.0
    bin_out[f], missing_out[f] = used[best_at] if best_at >= 0 else -1, best_missing
    if best_missing:  # this scan comes from the right: of equal splits, through empty bins, the last one wins
        bin_out[f] = used[best_at + 1] - 1


@view_kernel
def fill_running(hist, n, first, prefix):  # OUT: prefix
    """``first`` plus the running sums of hist[:n]."""
    running = first
    for b in range(n):
        running += hist[b]
        prefix[b] = running


@view_kernel
def largest_gain(n, total, rules, work):  # OUT: work
    """The largest of the children's terms of the gain in single precision, at least 0.

    work: (prefix, halves, gains, bits): sums of the left sides, the same memory as (hessian, gradient) pairs, room for
    the gains and the same room as integers, whose order is that of numbers >= 0: a maximum of integers vectorises.
    """
    _, halves, gains, bits = work
    g_total, h_total = np.int32(total >> 32), np.int32(total & HESSIAN)
    l2, least = np.float32(rules.l2 + TINY), np.int32(min(math.ceil(rules.min_hessian), LARGEST_SUM))
    for b in range(n):
        h, g_left = halves[2 * b], halves[2 * b + 1]
        h_right = np.int32(h_total - h)
        g, g_right = np.float32(g_left), np.float32(np.int32(g_total - g_left))
        a, c = np.float32(h) + l2, np.float32(h_right) + l2
        gain = (g * g * c + g_right * g_right * a) / (a * c)
        gains[b] = gain if (h >= least) & (h_right >= least) else np.float32(-1.0)
    best = np.int32(0)
    for b in range(n):
        best = max(best, bits[b])
    bits[0] = best
    return np.float64(gains[0])


@view_kernel
def bound_numbers(hist, n_bins, has_missing, missing_bin, total, rules, work):  # OUT: work
    """At least the gain that `scan_numbers` would find, by at most a few millionths of its terms; -1: it finds none."""
    n = n_bins - 1 + has_missing
    fill_running(hist, n, np.int64(0), work[0])
    best = largest_gain(n, total, rules, work)
    if has_missing and hist[missing_bin] != 0:
        fill_running(hist, n_bins - 1, hist[missing_bin], work[0])
        best = max(best, largest_gain(n_bins - 1, total, rules, work))
    g, h = np.float64(total >> 32), np.float64(total & HESSIAN)
    parent, best = g * g / (h + rules.l2 + TINY), best * (1.0 + MARGIN)
    return best - parent if best > parent * (1.0 + ROUNDING) + rules.min_gain else -1.0


@view_kernel
def scan_bounded(hist, counts, n_bins, has_missing, missing_bin, node, rules, monotone, f, out):  # OUT: out
    """`scan_numbers` when values are bounded or must be monotone."""
    total, n_rows, counted, lower, upper = node
    gain_out, bin_out, missing_out, left_out = out
    parent = node_value(total, rules, lower, upper) * np.float64(total >> 32)
    best = rules.min_gain
    gain_out[f], bin_out[f], missing_out[f], left_out[f] = -1.0, -1, 0, 0
    for missing_left in range(1 + has_missing):
        left = hist[missing_bin] if missing_left else np.int64(0)
        n_left = np.int64(counts[missing_bin]) if missing_left and counted else np.int64(0)
        for b in range(n_bins - 1 + (has_missing if not missing_left else 0)):
            left += hist[b]
            right = total - left
            if counted:
                n_left += counts[b]
                if n_left < rules.min_samples or n_rows - n_left < rules.min_samples:
                    continue
            if (left & HESSIAN) < rules.min_hessian or (right & HESSIAN) < rules.min_hessian:
                continue
            gain = bounded_gain(left, right, parent, rules, monotone, lower, upper)
            if gain > best:
                best = gain
                gain_out[f], bin_out[f], missing_out[f], left_out[f] = gain, b, missing_left, left


@view_kernel
def sort_categories(hist, n_bins, has_missing, missing_bin, node, rules, keys, order):  # OUT: keys, order
    """Categories with enough rows by increasing ``G / (H + smoothing)``; returns how many."""
    total, n_rows = node[0], node[1]
    factor = np.float64(n_rows) / max(np.float64(total & HESSIAN), TINY)
    used = 0
    for position in range(n_bins + has_missing):
        b = position if position < n_bins else missing_bin
        h = np.float64(hist[b] & HESSIAN)
        if h * factor < rules.category_support:
            continue
        key = np.float64(hist[b] >> 32) / (h + rules.category_smoothing)
        low, high = 0, used
        while low < high:
            middle = (low + high) // 2
            if keys[middle] <= key:
                low = middle + 1
            else:
                high = middle
        for j in range(used, low, -1):
            keys[j], order[j] = keys[j - 1], order[j - 1]
        keys[low], order[low] = key, b
        used += 1
    return used


@view_kernel
def scan_categories(hist, counts, n_bins, has_missing, missing_bin, node, rules, monotone, work, f, out, chosen):
    # OUT: work, out, chosen
    """Best set of categories to send left, among prefixes and suffixes of their order by mean gradient.

    chosen: (8,) uint32, bit b is set when bin b goes left.  Categories with few rows go right.
    """
    total, n_rows, counted, lower, upper = node
    gain_out, bin_out, missing_out, left_out = out
    keys, order = work
    gain_out[f], bin_out[f], missing_out[f], left_out[f] = -1.0, -1, 0, 0
    used = sort_categories(hist, n_bins, has_missing, missing_bin, node, rules, keys, order)
    if used < 2:
        return
    parent = node_value(total, rules, lower, upper) * np.float64(total >> 32)
    best, best_length, best_from_end = rules.min_gain, 0, 0
    for from_end in range(2):
        left, n_left = np.int64(0), np.int64(0)
        for i in range((used + 1) // 2 - from_end):
            b = order[used - 1 - i] if from_end else order[i]
            left += hist[b]
            right = total - left
            if counted:
                n_left += counts[b]
                if n_left < rules.min_samples or n_rows - n_left < rules.min_samples:
                    continue
            if (left & HESSIAN) < rules.min_hessian or (right & HESSIAN) < rules.min_hessian:
                continue
            gain = bounded_gain(left, right, parent, rules, monotone, lower, upper)
            if gain > best:
                best, best_length, best_from_end = gain, i + 1, from_end
                gain_out[f], bin_out[f], left_out[f] = gain, 0, left
    chosen[:] = 0
    for i in range(best_length):
        b = order[used - 1 - i] if best_from_end else order[i]
        chosen[b >> 5] |= np.uint32(1) << np.uint32(b & 31)
        if b == missing_bin:
            missing_out[f] = 1
