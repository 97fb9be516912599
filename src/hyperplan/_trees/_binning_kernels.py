"""Values to bins, and bins four to a word.

A word is a uint32 that holds the bins of four neighbouring features of one row (feature 4u + k in byte k): one load
serves four histograms, and a gather through row numbers touches a quarter of the cache lines.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

WIDTH = 4  # features in a word
ROWS_TOGETHER = 2048  # rows binned word by word: their cache lines serve the next word too
FEW_ROWS = 256  # rows gathered column by column


@kernel
def guarded(position, value, limit, missing_bin):
    """The bin found by searching, or the one for missing values when `value` is NaN or an unknown category."""
    return position if value <= limit else np.int64(missing_bin)


@kernel
def fill_words(X, edges, n_bins, limits, missing_bin, start, stop, words):  # OUT: words
    # X: (n_samples, n_features), any order; rows start .. stop - 1 are binned, in blocks that share cache lines.
    # A last, incomplete word repeats the last feature.
    last, n_words = X.shape[1] - 1, words.shape[0]
    firsts = np.empty(edges.shape[0])  # side by side, they stay in the cache
    for f in range(edges.shape[0]):
        firsts[f] = edges[f, 0]
    for low in range(start, stop, ROWS_TOGETHER):
        high = min(low + ROWS_TOGETHER, stop)
        unit = 0
        while unit < n_words:
            simple = unit
            while simple < n_words and has_two_bins(n_bins, simple):
                simple += 1
            if simple > unit:
                fill_words_of_two(X, firsts, limits, missing_bin, unit, simple, low, high, words)
                unit = simple
                continue
            f0 = unit * WIDTH
            features = f0, min(f0 + 1, last), min(f0 + 2, last), min(f0 + 3, last)
            fill_word(X, edges, limits, missing_bin, features, low, high, words[unit])
            unit += 1


@kernel
def has_two_bins(n_bins, unit):
    """Whether no feature of a word has more than two bins."""
    most = 0
    for f in range(unit * WIDTH, min(unit * WIDTH + WIDTH, n_bins.shape[0])):
        most = max(most, n_bins[f])
    return most <= 2


@kernel
def fill_word(X, edges, limits, missing_bin, features, start, stop, words):  # OUT: words
    """Four binary searches without branches run side by side, which hides the latency of each."""
    f0, f1, f2, f3 = features
    e0, e1, e2, e3 = edges[f0], edges[f1], edges[f2], edges[f3]
    for i in range(start, stop):
        x0, x1 = np.float64(X[i, f0]), np.float64(X[i, f1])
        x2, x3 = np.float64(X[i, f2]), np.float64(X[i, f3])
        b0, b1, b2, b3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        step = 128
        for _ in range(8):
            b0 += step * np.int64(e0[b0 + step - 1] < x0)
            b1 += step * np.int64(e1[b1 + step - 1] < x1)
            b2 += step * np.int64(e2[b2 + step - 1] < x2)
            b3 += step * np.int64(e3[b3 + step - 1] < x3)
            step >>= 1
        b0 = guarded(b0, x0, limits[f0], missing_bin)
        b1 = guarded(b1, x1, limits[f1], missing_bin)
        b2 = guarded(b2, x2, limits[f2], missing_bin)
        b3 = guarded(b3, x3, limits[f3], missing_bin)
        words[i] = np.uint32(b0 | (b1 << 8) | (b2 << 16) | (b3 << 24))


@kernel
def fill_words_of_two(X, firsts, limits, missing_bin, first, last, start, stop, words):  # OUT: words
    """`fill_word` of words first .. last - 1 whose features have at most two bins, such as indicators, row by row."""
    for i in range(start, stop):
        row = X[i]
        for unit in range(first, last):
            f0, word = unit * WIDTH, np.uint32(0)
            for k in range(WIDTH):
                f = f0 + k if f0 + k < row.shape[0] else row.shape[0] - 1
                x = np.float64(row[f])
                b = guarded(np.int64(firsts[f] < x), x, limits[f], missing_bin)
                word |= np.uint32(b) << np.uint32(8 * k)
            words[unit, i] = word


@kernel
def mark_missing(words, missing_bin, n_features, start, stop, has_missing):  # OUT: has_missing
    """1 for each feature with a missing value among the rows."""
    for unit in range(words.shape[0]):
        for k in range(min(WIDTH, n_features - unit * WIDTH)):
            shift = np.uint32(8 * k)
            found = 0
            for i in range(start, stop):
                found |= np.int64(((words[unit, i] >> shift) & np.uint32(255)) == missing_bin)
            if found:
                has_missing[unit * WIDTH + k] = 1


@kernel
def gather_columns(X, rows, first, out, counts):  # OUT: out, counts
    """Values of columns first, first + 1, ... at `rows` that are not missing, as float64: out[j, :counts[j]].

    X in any order; a handful of columns together, which share cache lines when X is in C order.
    """
    counts[:] = 0
    columns = X[:, first:]
    for low in range(0, rows.shape[0], FEW_ROWS):  # whose cache lines wait for the next column
        high = min(low + FEW_ROWS, rows.shape[0])
        for j in range(out.shape[0]):
            column, n = out[j], counts[j]
            for i in range(low, high):
                value = np.float64(columns[rows[i], j])
                column[n] = value
                n += np.int64(not math.isnan(value))
            counts[j] = n


@kernel
def find_few(values, found):  # OUT: found
    """The distinct values in increasing order, found[:n] for the n returned; -1 when there are more than room."""
    n, last = 0, 0
    for i in range(values.shape[0]):
        value = values[i]
        if n > 0 and value == found[last]:
            continue
        last = 0
        while last < n and found[last] < value:
            last += 1
        if last < n and found[last] == value:
            continue
        if n == found.shape[0]:
            return -1
        for j in range(n, last, -1):
            found[j] = found[j - 1]
        found[last] = value
        n += 1
    return n


@kernel
def find_pairs(X, rows, first, last, pairs, plain):  # OUT: pairs, plain
    """Columns first .. last - 1 with at most two values at `rows`, none of them missing, in one pass row by row.

    X in C order.  plain[f] is 1 and pairs[:, f] are the values, in no order, if it is such a column.  Gives up, with
    zeros in `plain`, when most columns are found not to be.
    """
    plain[first:last] = 1
    n_plain = last - first
    one, two = pairs[0, first:last], pairs[1, first:last]
    marks = plain[first:last]
    for i in range(rows.shape[0]):
        row = X[rows[i], first:last]
        if i == 0:
            for j in range(row.shape[0]):
                one[j], two[j] = row[j], row[j]
        strange = False
        for j in range(row.shape[0]):
            strange |= (row[j] != one[j]) & (row[j] != two[j]) & (marks[j] != 0)
        if not strange:
            continue
        for j in range(row.shape[0]):
            if marks[j] and row[j] != one[j] and row[j] != two[j]:
                if one[j] == two[j] and not math.isnan(row[j]):
                    two[j] = row[j]
                else:
                    marks[j] = 0
                    n_plain -= 1
        if 2 * n_plain < last - first:
            marks[:] = 0
            return
