"""Points to a regular grid and back, by polynomials through the nearest nodes (Lagrange).

Grids have three axes; with fewer columns the first ones have one node.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@kernel
def lagrange_weights(x, denominators, weights):  # OUT: weights
    """Weights of the nodes ``1 - p/2, ..., p/2`` for the value at x in [0, 1); one node has the weight 1."""
    # denominators, weights: (p,)
    p = weights.shape[0]
    low = 1 - p // 2 if p > 1 else 0
    product = 1.0
    for i in range(p):
        weights[i] = product / denominators[i]
        product *= x - (low + i)
    product = 1.0
    for i in range(p - 1, -1, -1):
        weights[i] *= product
        product *= x - (low + i)


@kernel
def find_place(x, origin, inverse, denominators, weights):  # OUT: weights
    """First node of the stencil around x; the weights of its nodes are left in `weights`."""
    p = weights.shape[0]
    if p == 1:
        weights[0] = 1.0
        return np.int64(0)
    place = (x - origin) * inverse
    cell = np.floor(place)
    lagrange_weights(place - cell, denominators, weights)
    return np.int64(cell) + 1 - p // 2


@fast_kernel
def add_line(factor, weights, line):  # OUT: line
    for e in range(weights.shape[0]):
        line[e] += factor * weights[e]


@fast_kernel
def line_sum(weights, line):
    total = 0.0
    for e in range(weights.shape[0]):
        total += weights[e] * line[e]
    return total


@kernel
def spread(points, values, origin, inverse, widths, denominators, grid):  # OUT: grid
    """Add each point's value to the nodes around it, so that the grid stands for it in every smooth sum."""
    # points: (3, n), values: (n,), origin: (3,), widths: (3,) nodes of a stencil along each axis, grid: (n0, n1, n2)
    first, second, third = np.empty(widths[0]), np.empty(widths[1]), np.empty(widths[2])
    for i in range(points.shape[1]):
        a = find_place(points[0, i], origin[0], inverse, denominators, first)
        b = find_place(points[1, i], origin[1], inverse, denominators, second)
        c = find_place(points[2, i], origin[2], inverse, denominators, third)
        for u in range(widths[0]):
            for v in range(widths[1]):
                add_line(values[i] * first[u] * second[v], third, grid[a + u, b + v, c : c + widths[2]])


@kernel
def gather(grids, queries, origin, inverse, widths, denominators, sums):  # OUT: sums
    """Values of each grid at the queries."""
    # grids: (m, n0, n1, n2), queries: (3, q), sums: (q, m)
    first, second, third = np.empty(widths[0]), np.empty(widths[1]), np.empty(widths[2])
    for i in range(queries.shape[1]):
        a = find_place(queries[0, i], origin[0], inverse, denominators, first)
        b = find_place(queries[1, i], origin[1], inverse, denominators, second)
        c = find_place(queries[2, i], origin[2], inverse, denominators, third)
        for k in range(grids.shape[0]):
            total = 0.0
            for u in range(widths[0]):
                for v in range(widths[1]):
                    total += first[u] * second[v] * line_sum(third, grids[k, a + u, b + v, c : c + widths[2]])
            sums[i, k] = total
