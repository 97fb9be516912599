"""Steps of scaling by majorisation: what every point is pulled to by the distances it should have from the others."""

import math

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def guttman_rows(wanted, points, first, squares, ratios, moved, totals):  # OUT: squares, ratios, moved, totals
    """``moved[c, i] = 1/n sum_j wanted_ij (x_i - x_j) / |x_i - x_j|`` for the rows i from `first` on.

    `totals` gets the sums of ``(|x_i - x_j| - wanted_ij)^2`` and ``|x_i - x_j|^2``.  Points that coincide pull nowhere.
    """
    # wanted: (m, n) C order; points: (p, n), a row per coordinate; moved: (p, m); squares, ratios: (n,); all float64
    p, n = points.shape
    misfit, size = 0.0, 0.0
    for r in range(wanted.shape[0]):
        for j in range(n):
            squares[j] = 0.0
        for c in range(p):
            own = points[c, first + r]
            for j in range(n):
                gap = own - points[c, j]
                squares[j] += gap * gap
        for j in range(n):
            distance = math.sqrt(squares[j])
            gap = distance - wanted[r, j]
            misfit += gap * gap
            size += squares[j]
            ratios[j] = wanted[r, j] / distance if squares[j] > 0.0 else 0.0
        for c in range(p):
            own, pull = points[c, first + r], 0.0
            for j in range(n):
                pull += ratios[j] * (own - points[c, j])
            moved[c, r] = pull / n
    totals[0], totals[1] = misfit, size


@kernel
def pair_distances(points, one, other, distances):  # OUT: distances
    """``distances[t] = |points[one[t]] - points[other[t]]|``."""
    # points: (n, p) C order, float64; one, other: (m,) int32; distances: (m,) float64
    for t in range(one.shape[0]):
        total = 0.0
        for c in range(points.shape[1]):
            gap = points[one[t], c] - points[other[t], c]
            total += gap * gap
        distances[t] = math.sqrt(total)


@kernel
def guttman_pairs(points, one, other, wanted, distances, pulls):  # OUT: pulls
    """Add the pulls of a list of pairs to both of their points."""
    # points, pulls: (n, p) C order; one, other: (m,) int32; wanted, distances: (m,); float64
    for t in range(one.shape[0]):
        if distances[t] > 0.0:
            ratio = wanted[t] / distances[t]
            for c in range(points.shape[1]):
                pull = ratio * (points[one[t], c] - points[other[t], c])
                pulls[one[t], c] += pull
                pulls[other[t], c] -= pull


@kernel
def place_rows(points, wanted, max_iter, tolerance, goal, placed):  # OUT: goal, placed
    """Move new points, one by one, to where ``sum_j (|y - x_j| - wanted_j)^2`` is least near their start.

    Each step goes to the mean of the points at the wanted distances in the directions of y: the sum never rises.
    A point is done when a step is not longer than `tolerance`.
    """
    # points: (n, p), wanted: (m, n), placed: (m, p) C order; goal: (p,) scratch; all float64
    n, p = points.shape
    for q in range(placed.shape[0]):
        for _ in range(max_iter):
            for c in range(p):
                goal[c] = 0.0
            for j in range(n):
                square = 0.0
                for c in range(p):
                    gap = placed[q, c] - points[j, c]
                    square += gap * gap
                ratio = wanted[q, j] / math.sqrt(square) if square > 0.0 else 0.0
                for c in range(p):
                    goal[c] += points[j, c] + ratio * (placed[q, c] - points[j, c])
            step = 0.0
            for c in range(p):
                gap = goal[c] / n - placed[q, c]
                step += gap * gap
                placed[q, c] = goal[c] / n
            if step <= tolerance * tolerance:
                break
