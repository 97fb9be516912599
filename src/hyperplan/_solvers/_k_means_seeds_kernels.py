"""First centres by k-means++: squared distances to candidates, and what is left of the distances with each of them.

A tile has a row per candidate and a column per row of X, which is C-ordered, float32 or float64.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel
from hyperplan._solvers._k_means_kernels import ordered_gap

BLOCK = 1024  # rows whose distances have a sum of their own
STRIP = 1024  # rows whose products are in the first cache together
ROUNDING = 1e-14  # share of the squared norms that their difference cannot be told from
CLOSE = 2000.0  # times the possible error: squared distances below are measured again in float64


@view_kernel
def exact_gaps(X, seeds, tile):  # OUT: tile
    """Squared distances of all rows to all seeds in float64."""
    for t in range(seeds.shape[0]):
        for i in range(X.shape[0]):
            tile[t, i] = ordered_gap(X[i], seeds[t])


@fast_kernel
def products(turned, start, narrow, tile):  # OUT: tile
    """Products of seeds with neighbouring rows, from the first row `start` on; a strip of rows stays in the cache."""
    # turned: (d, n) float32, a row of X in each column; narrow: (t, d) float32; tile: (t, m) float32
    d = turned.shape[0]
    for first in range(0, tile.shape[1], STRIP):
        last = min(first + STRIP, tile.shape[1])
        a, b = start + first, start + last  # slices of rows of `turned`: contiguous, so vectorised
        for j in range(0, d - d % 4, 4):
            for t in range(tile.shape[0]):
                x, y, z, w = turned[j, a:b], turned[j + 1, a:b], turned[j + 2, a:b], turned[j + 3, a:b]
                add_four(x, y, z, w, narrow[t, j : j + 4], j == 0, tile[t, first:last])
        for j in range(d - d % 4, d):
            for t in range(tile.shape[0]):
                add_one(turned[j, a:b], narrow[t, j], j == 0, tile[t, first:last])


@fast_kernel
def add_four(x, y, z, w, factors, is_first, out):  # OUT: out
    e, f, g, h = factors[0], factors[1], factors[2], factors[3]
    if is_first:
        for r in range(out.shape[0]):
            out[r] = (e * x[r] + f * y[r]) + (g * z[r] + h * w[r])
    else:
        for r in range(out.shape[0]):
            out[r] += (e * x[r] + f * y[r]) + (g * z[r] + h * w[r])


@fast_kernel
def add_one(x, factor, is_first, out):  # OUT: out
    for r in range(out.shape[0]):
        out[r] = factor * x[r] + (np.float32(0.0) if is_first else out[r])


@view_kernel
def screened_gaps(tile, squares, seed_squares, error, X, seeds, scale):  # OUT: tile
    """Turn float32 products into squared distances; what is small against its rounding is measured again."""
    # tile: (t, m) float32; squares: (m,) and seed_squares: (t,) float32, of the scaled rows; seeds: (t, d) float64
    unit, limit = scale * scale, np.float32(CLOSE * error)
    for t in range(tile.shape[0]):
        for start in range(0, tile.shape[1], BLOCK):
            stop = min(start + BLOCK, tile.shape[1])
            if expand(tile[t, start:stop], squares[start:stop], seed_squares[t], limit):
                for r in range(start, stop):
                    if not tile[t, r] >= limit * (squares[r] + seed_squares[t]):
                        tile[t, r] = np.float32(ordered_gap(X[r], seeds[t]) * unit)


@inner_kernel
def expand(values, squares, seed_square, limit):  # OUT: values
    """|x|^2 + |z|^2 - 2 x'z in place; whether one is too small to be trusted."""
    small = False
    for r in range(values.shape[0]):
        both = squares[r] + seed_square
        gap = both - values[r] - values[r]
        small |= not gap >= limit * both
        values[r] = gap
    return small


@fast_kernel
def weigh(tile, start, weight, closest, left, sums):  # OUT: left, sums
    """Distances to the nearest centre with each candidate, and their weighted sums by blocks of rows."""
    # tile: (t, m), the rows from `start` on, which begins a block; weight: (n,), or empty when all rows count once;
    # closest: (n,); left: (t, n); sums: (t, blocks) float64
    for t in range(tile.shape[0]):
        for first in range(0, tile.shape[1], BLOCK):
            last = min(first + BLOCK, tile.shape[1])
            a, b = start + first, start + last
            if weight.shape[0] > 0:
                total = least_weighted(tile[t, first:last], weight[a:b], closest[a:b], left[t, a:b])
            else:
                total = least(tile[t, first:last], closest[a:b], left[t, a:b])
            sums[t, a // BLOCK] = total


@fast_kernel
def least(values, closest, left):  # OUT: left
    total = 0.0
    for r in range(values.shape[0]):
        value = closest[r] if closest[r] < values[r] else values[r]
        left[r] = value
        total += np.float64(value)
    return total


@fast_kernel
def least_weighted(values, weight, closest, left):  # OUT: left
    total = 0.0
    for r in range(values.shape[0]):
        value = closest[r] if closest[r] < values[r] else values[r]
        left[r] = value
        total += weight[r] * np.float64(value)
    return total


@view_kernel
def sparse_gaps(matrix, squares, seeds, seed_squares, tile):  # OUT: tile
    """Squared distances of sparse rows to seeds in float64; what rounding leaves of equal rows becomes zero."""
    # matrix: CSR; squares: (m,) of its rows; seeds: (t, d) float64; seed_squares: (t,)
    for t in range(seeds.shape[0]):
        for i in range(matrix.n_rows):
            product = 0.0
            for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
                product += matrix.data[e] * seeds[t, matrix.indices[e]]
            both = squares[i] + seed_squares[t]
            gap = both - 2.0 * product
            tile[t, i] = gap if gap > ROUNDING * both else 0.0
