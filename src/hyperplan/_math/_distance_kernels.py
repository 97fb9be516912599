"""Tiles of distances between rows of two tables, and the exact repair of squared distances from a matrix product."""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, kernel

SQUARED, EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI = range(5)  # the first two are sums of squares
PANEL = 128  # columns that are worked on together: with 4 coordinates they stay in the first cache


@kernel
def fill_tile(a, b, code, power, tile):  # OUT: tile
    """tile[i, j] = distance between a[i] and b[j]; differences first, so that nothing cancels.

    Panels of b have one width, the last one is filled up: all entries are computed by the same instructions,
    wherever they stand in the tile, so that d(x, y) = d(y, x) to the bit.
    """
    # a: (n, d), b: (m, d), tile: (n, m), all C order and float64.  Panels of b are turned: j is the fast index.
    n, m, d = a.shape[0], b.shape[0], b.shape[1]
    padded = max(4, (d + 3) // 4 * 4)
    pair, turned = np.zeros((2, padded)), np.zeros((padded, PANEL))  # coordinates beyond d are equal: they add nothing
    sums = np.empty((2, PANEL))
    for first in range(0, m, PANEL):
        width = min(PANEL, m - first)
        for j in range(width):
            for k in range(d):
                turned[k, j] = b[first + j, k]
        for i in range(0, n, 2):
            other = min(i + 1, n - 1)
            for k in range(d):
                pair[0, k], pair[1, k] = a[i, k], a[other, k]
            if code <= EUCLIDEAN:
                sum_squares(pair, turned, sums)
            elif code == MANHATTAN:
                sum_sizes(pair, turned, sums)
            elif code == CHEBYSHEV:
                find_largest(pair, turned, sums)
            else:
                sum_powers(pair, turned, power, sums)
            finish_row(sums[0], code, power, tile[i, first : first + width])
            finish_row(sums[1], code, power, tile[other, first : first + width])


@fast_kernel
def sum_squares(pair, turned, sums):  # OUT: sums
    """sums[r, j] = sum_k (pair[r, k] - turned[k, j])^2 for both rows of a pair; four coordinates at a time."""
    for j in range(PANEL):
        sums[0, j] = sums[1, j] = 0.0
    for k in range(0, turned.shape[0], 4):
        x0, x1, x2, x3 = pair[0, k], pair[0, k + 1], pair[0, k + 2], pair[0, k + 3]
        y0, y1, y2, y3 = pair[1, k], pair[1, k + 1], pair[1, k + 2], pair[1, k + 3]
        for j in range(PANEL):
            t0, t1, t2, t3 = turned[k, j], turned[k + 1, j], turned[k + 2, j], turned[k + 3, j]
            g0, g1, g2, g3 = x0 - t0, x1 - t1, x2 - t2, x3 - t3
            h0, h1, h2, h3 = y0 - t0, y1 - t1, y2 - t2, y3 - t3
            sums[0, j] += g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
            sums[1, j] += h0 * h0 + h1 * h1 + h2 * h2 + h3 * h3


@inner_kernel
def sum_sizes(pair, turned, sums):  # OUT: sums
    """sums[r, j] = sum_k |pair[r, k] - turned[k, j]|."""
    for j in range(PANEL):
        sums[0, j] = sums[1, j] = 0.0
    for k in range(0, turned.shape[0], 2):
        x0, x1, y0, y1 = pair[0, k], pair[0, k + 1], pair[1, k], pair[1, k + 1]
        for j in range(PANEL):
            t0, t1 = turned[k, j], turned[k + 1, j]
            sums[0, j] += abs(x0 - t0) + abs(x1 - t1)
            sums[1, j] += abs(y0 - t0) + abs(y1 - t1)


@inner_kernel
def find_largest(pair, turned, sums):  # OUT: sums
    """sums[r, j] = max_k |pair[r, k] - turned[k, j]|."""
    for j in range(PANEL):
        sums[0, j] = sums[1, j] = 0.0
    for k in range(turned.shape[0]):
        x, y = pair[0, k], pair[1, k]
        for j in range(PANEL):
            g, h = abs(x - turned[k, j]), abs(y - turned[k, j])
            sums[0, j] = g if g > sums[0, j] else sums[0, j]
            sums[1, j] = h if h > sums[1, j] else sums[1, j]


@inner_kernel
def sum_powers(pair, turned, power, sums):  # OUT: sums
    """sums[r, j] = sum_k |pair[r, k] - turned[k, j]|^power."""
    for j in range(PANEL):
        sums[0, j] = sums[1, j] = 0.0
    for k in range(turned.shape[0]):
        x, y = pair[0, k], pair[1, k]
        for j in range(PANEL):
            sums[0, j] += abs(x - turned[k, j]) ** power
            sums[1, j] += abs(y - turned[k, j]) ** power


@inner_kernel
def finish_row(sums, code, power, row):  # OUT: row
    """The roots that make distances of sums."""
    if code == EUCLIDEAN:
        for j in range(row.shape[0]):
            row[j] = math.sqrt(sums[j])
    elif code == MINKOWSKI:
        for j in range(row.shape[0]):
            row[j] = sums[j] ** (1.0 / power)
    else:
        for j in range(row.shape[0]):
            row[j] = sums[j]


@kernel
def finish_products(a, b, a_squares, b_squares, doubt, code, tile):  # OUT: tile
    """Turn inner products into (squared) distances; entries that lost digits to cancellation are computed again.

    |a|^2 + |b|^2 - 2 ab has an error of a few eps (|a|^2 + |b|^2): where the result is below `doubt` times that sum,
    its relative error would exceed a few eps / doubt.
    """
    # a: (n, d), b: (m, d), a_squares: (n,), b_squares: (m,), tile: (n, m) inner products; C order, float64
    for i in range(tile.shape[0]):
        doubtful = 0
        for j in range(tile.shape[1]):
            size = a_squares[i] + b_squares[j]
            tile[i, j] = size - 2.0 * tile[i, j]
            doubtful += not tile[i, j] >= doubt * size  # also what is not a number
        if doubtful:
            for j in range(tile.shape[1]):
                if not tile[i, j] >= doubt * (a_squares[i] + b_squares[j]):
                    tile[i, j] = squared_distance(a[i], b[j])
    if code == EUCLIDEAN:
        for i in range(tile.shape[0]):
            for j in range(tile.shape[1]):
                tile[i, j] = math.sqrt(tile[i, j])


@fast_kernel
def squared_distance(x, y):
    """sum_k (x[k] - y[k])^2."""
    total = 0.0
    for k in range(x.shape[0]):
        gap = x[k] - y[k]
        total += gap * gap
    return total
