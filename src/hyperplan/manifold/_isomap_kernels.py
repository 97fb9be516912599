"""What maps of geodesic distances do with whole matrices: join components, link new rows, stretch, compare."""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, view_kernel


@view_kernel
def nearest_outside(tile, row_labels, column_labels, first, best, places):  # OUT: best, places
    """Offer the columns of a tile, numbered from `first`, to the rows of other components; ties keep the first."""
    # tile: (m, w) float64, C order; labels: int32; best: (m,), places: (m,) int64
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if tile[i, j] < best[i] and row_labels[i] != column_labels[j]:
                best[i] = tile[i, j]
                places[i] = first + j


@view_kernel
def pair_minima(tile, codes, own, first_row, column_labels, first_column, values, rows, columns):
    """Offer the entries of a tile to the shortest links from a component to those with a larger label."""
    # OUT: values, rows, columns: (number of labels in these rows, number of labels); codes: place of each row therein;
    # own: its label; of equally short links the one with the smallest row and then column stays
    for i in range(tile.shape[0]):
        a, row = codes[i], first_row + i
        for j in range(tile.shape[1]):
            b, column = column_labels[j], first_column + j
            if own[i] < b and tile[i, j] <= values[a, b]:
                is_first = row < rows[a, b] or (row == rows[a, b] and column < columns[a, b])
                if tile[i, j] < values[a, b] or is_first:
                    values[a, b] = tile[i, j]
                    rows[a, b] = row
                    columns[a, b] = column


@view_kernel
def link_rows(table, starts, rows, lengths, out):  # OUT: out
    """``out[q, j] = min over the neighbours z of q of (length to z + table[z, j])``."""
    # table: (n, m) float32 or float64, C order; out: (number of queries, m) float64, C order
    for q in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[q, j] = np.inf
        for t in range(starts[q], starts[q + 1]):
            z, length = rows[t], lengths[t]
            for j in range(out.shape[1]):
                far, known = length + table[z, j], out[q, j]  # read first: conditional stores are slow
                out[q, j] = far if far < known else known


@view_kernel
def smallest_positive(rows):
    """The smallest positive entry, infinite without one."""
    # rows: (m, n) float32 or float64, C order
    least = np.inf
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if 0.0 < rows[i, j] < least:
                least = rows[i, j]
    return least


@view_kernel
def stretch_rows(rows, own, codes, floor):  # OUT: rows
    """``d + floor^2 / d`` for pairs of known, different codes; its least value, twice the floor, where d is zero."""
    # rows: (m, n) distances from rows with the codes `own` to rows with the codes `codes`; -1 is unknown
    for i in range(rows.shape[0]):
        if own[i] >= 0:
            for j in range(rows.shape[1]):
                if codes[j] >= 0 and codes[j] != own[i]:
                    d = np.float64(rows[i, j])
                    rows[i, j] = d + floor * (floor / d) if d > 0.0 else 2.0 * floor


@fast_kernel
def compare_rows(rows, first, coordinates, squares, sums):  # OUT: sums
    """Sums for the correlation of distances with those of an embedding in 1, 2, ... dimensions, pairs i < j only.

    ``sums[0]`` and ``sums[1]`` add up x and x^2, ``sums[2 + 3 d:5 + 3 d]`` y, y^2 and x y in d + 1 dimensions.
    """
    # rows: (m, n) float32 or float64, distances from the rows numbered from `first`; coordinates: (p, n), C order;
    # squares: (n,), room
    n = rows.shape[1]
    for r in range(rows.shape[0]):
        i = first + r
        x_sum, xx_sum = 0.0, 0.0
        for j in range(i + 1, n):
            x = np.float64(rows[r, j])
            squares[j] = 0.0
            x_sum += x
            xx_sum += x * x
        sums[0] += x_sum
        sums[1] += xx_sum
        for d in range(coordinates.shape[0]):
            here, y_sum, yy_sum, xy_sum = coordinates[d, i], 0.0, 0.0, 0.0
            for j in range(i + 1, n):
                gap = coordinates[d, j] - here
                square = squares[j] + gap * gap
                y = math.sqrt(square)
                squares[j] = square
                y_sum += y
                yy_sum += square
                xy_sum += y * np.float64(rows[r, j])
            sums[2 + 3 * d] += y_sum
            sums[3 + 3 * d] += yy_sum
            sums[4 + 3 * d] += xy_sum
