"""First centres by k-means++: squared distances to candidates, and what is left of the distances with each of them.

A tile has a row per candidate and a column per row of X, which is C-ordered, float32 or float64.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel
from hyperplan._solvers._k_means_kernels import ordered_gap

BLOCK = 1024  # rows whose distances have a sum of their own
ROUNDING = 1e-14  # share of the squared norms that their difference cannot be told from
CLOSE = 2000.0  # times the possible error: squared distances below are measured again in float64


@view_kernel
def exact_gaps(X, seeds, tile):  # OUT: tile
    """Squared distances of all rows to all seeds in float64."""
    for t in range(seeds.shape[0]):
        for i in range(X.shape[0]):
            tile[t, i] = ordered_gap(X[i], seeds[t])


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
def weigh(tile, weight, closest, left, sums):  # OUT: left, sums
    """Distances to the nearest centre with each candidate, and their weighted sums by blocks of rows."""
    # tile, left: (t, m); weight: (m,), or empty when all rows count once; closest: (m,); sums: (t, blocks) float64
    for t in range(tile.shape[0]):
        for b in range(sums.shape[1]):
            first, last = b * BLOCK, min((b + 1) * BLOCK, tile.shape[1])
            if weight.shape[0] > 0:
                sums[t, b] = least_weighted(
                    tile[t, first:last], weight[first:last], closest[first:last], left[t, first:last]
                )
            else:
                sums[t, b] = least(tile[t, first:last], closest[first:last], left[t, first:last])


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
