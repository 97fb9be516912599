"""Exhaustive search for neighbours: short sorted lists that tiles of scores or distances are held against."""

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel

BLOCK = 64  # columns that are looked at together: most blocks hold nothing worth a second look


@view_kernel
def keep_largest(tile, first, best, places):  # OUT: best, places
    """Offer the columns of a tile, numbered from `first`, to the lists of the largest scores of each row."""
    # tile: (m, w) float32, C order; best: (m, size) float32, falling; places: (m, size) int32
    last = best.shape[1] - 1
    for i in range(tile.shape[0]):
        least = best[i, last]
        for start in range(0, tile.shape[1], BLOCK):
            stop = min(start + BLOCK, tile.shape[1])
            if any_above(tile[i, start:stop], least):
                for j in range(start, stop):
                    value = tile[i, j]
                    if value > least:
                        spot = last
                        while spot > 0 and best[i, spot - 1] < value:
                            best[i, spot], places[i, spot] = best[i, spot - 1], places[i, spot - 1]
                            spot -= 1
                        best[i, spot], places[i, spot] = value, first + j
                        least = best[i, last]


@inner_kernel
def any_above(values, least):
    """Whether one is above; a bool and a slice of its own are what the compiler vectorises."""
    above = False
    for j in range(values.shape[0]):
        above |= values[j] > least
    return above


@inner_kernel
def any_below(values, most):
    """Whether one is below."""
    below = False
    for j in range(values.shape[0]):
        below |= values[j] < most
    return below


@view_kernel
def keep_smallest(tile, first, distances, found):  # OUT: distances, found
    """Offer the columns of a tile, numbered from `first`, to the lists of the smallest distances of each row.

    Columns come in order, so that of equal ones the first stays.
    """
    # tile: (m, w) float64, C order; distances: (m, k) float64, rising; found: (m, k) int64
    last = distances.shape[1] - 1
    for i in range(tile.shape[0]):
        worst = distances[i, last]
        for start in range(0, tile.shape[1], BLOCK):
            stop = min(start + BLOCK, tile.shape[1])
            if any_below(tile[i, start:stop], worst):
                for j in range(start, stop):
                    value = tile[i, j]
                    if value < worst:
                        spot = last
                        while spot > 0 and distances[i, spot - 1] > value:
                            distances[i, spot], found[i, spot] = distances[i, spot - 1], found[i, spot - 1]
                            spot -= 1
                        distances[i, spot], found[i, spot] = value, first + j
                        worst = distances[i, last]


@fast_kernel
def squared_gap(x, y):
    """sum_k (x[k] - y[k])^2 in float64."""
    total = 0.0
    for k in range(x.shape[0]):
        gap = np.float64(x[k]) - np.float64(y[k])
        total += gap * gap
    return total


@inner_kernel
def offer(value, place, distances, found):  # OUT: distances, found
    """Put a row into a sorted list if it is nearer than the last, or as near with a smaller number."""
    spot = distances.shape[0] - 1
    if value > distances[spot] or (value == distances[spot] and place >= found[spot]):
        return
    while spot > 0 and (distances[spot - 1] > value or (distances[spot - 1] == value and found[spot - 1] > place)):
        distances[spot], found[spot] = distances[spot - 1], found[spot - 1]
        spot -= 1
    distances[spot], found[spot] = value, place


@view_kernel
def settle(Q, X, places, lowest, distances, found, settled):  # OUT: distances, found, settled
    """Measure the candidates of each query exactly, and sort them; ties go to the smaller row number.

    Whoever is no candidate has a squared distance of at least `lowest`: a list is settled when its last is below.
    """
    # Q: (m, d), X: (n, d), C order, float32 or float64; places: (m, size) int32
    # distances: (m, k) squares, found: (m, k) int64
    for i in range(Q.shape[0]):
        for j in range(distances.shape[1]):
            distances[i, j], found[i, j] = np.inf, X.shape[0]
        for c in range(places.shape[1]):
            place = np.int64(places[i, c])
            offer(squared_gap(Q[i], X[place]), place, distances[i], found[i])
        settled[i] = distances[i, distances.shape[1] - 1] < lowest[i]


@view_kernel
def measure_above(tile, first, least, Q, X, distances, found):  # OUT: distances, found
    """Measure every row whose score is not below `least`, and offer it to the list unless it is there."""
    # tile: (m, w) float32; least: (m,) float32; the others as for `settle`
    for i in range(tile.shape[0]):
        for start in range(0, tile.shape[1], BLOCK):
            stop = min(start + BLOCK, tile.shape[1])
            if any_above(tile[i, start:stop], least[i]):
                for j in range(start, stop):
                    if tile[i, j] > least[i] and not is_in(found[i], first + j):
                        offer(squared_gap(Q[i], X[first + j]), first + j, distances[i], found[i])


@inner_kernel
def is_in(found, place):
    for j in range(found.shape[0]):  # noqa: SIM110  (a loop compiles faster than `any`)
        if found[j] == place:
            return True
    return False


@view_kernel
def pick_within(tile, first, limits, rows, columns, values):  # OUT: rows, columns, values
    """List the entries of a tile that are at most the limit of their row; returns how many there are."""
    # tile: (m, w) float64, C order; limits: (m,); rows, columns: int64, values: float64, each with room for the tile
    count = 0
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if tile[i, j] <= limits[i]:
                rows[count], columns[count], values[count] = i, first + j, tile[i, j]
                count += 1
    return count


@view_kernel
def gather_lists(rows, columns, values, ends, found, distances):  # OUT: ends, found, distances
    """Sort triples by row, keeping their order; `ends` holds where each row begins, and then where it ends."""
    for c in range(rows.shape[0]):
        place = ends[rows[c]]
        found[place], distances[place] = columns[c], values[c]
        ends[rows[c]] = place + 1
