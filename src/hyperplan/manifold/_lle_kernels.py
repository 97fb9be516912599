"""Small problems, one for each row and its neighbours: weights of barycentres, and axes of tangent spaces."""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._math._eigen_kernels import jacobi_sweep, turn_rows

EPS = 2.220446049250313e-16
SWEEPS = 40


@fast_kernel
def inner(x, y):
    """sum_k x[k] y[k]."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@kernel
def barycentre_weights(rows, table, neighbours, ridge, gaps, gram, weights):  # OUT: gaps, gram, weights
    """Weights that sum to one and make each row of its neighbours: ``min |x - sum_j w_j x_j|^2 + r |w|^2``.

    Solves ``(Z Z' + r I) w = 1`` with Z the neighbours minus the row and r = `ridge` times the trace of Z Z' (`ridge`
    itself if that is zero), and divides by the sum.  Returns the first row whose matrix is not positive definite, or
    -1.
    """
    # rows: (m, d), table: (n, d), neighbours: (m, k) int64, weights: (m, k), scratch gaps: (k, d), gram: (k, k)
    # all C order and float64
    k, d = neighbours.shape[1], rows.shape[1]
    for i in range(rows.shape[0]):
        trace = 0.0
        for a in range(k):
            for c in range(d):
                gaps[a, c] = table[neighbours[i, a], c] - rows[i, c]
            for b in range(a + 1):
                gram[a, b] = inner(gaps[a], gaps[b])
            trace += gram[a, a]
        shift = ridge * trace if trace > 0.0 else ridge
        for a in range(k):  # Cholesky, and at once L y = 1
            solved = 1.0
            for b in range(a + 1):
                total = gram[a, b] - inner(gram[a, :b], gram[b, :b])
                if b < a:
                    gram[a, b] = total / gram[b, b]
                    solved -= gram[a, b] * weights[i, b]
                else:
                    if not total + shift > 0.0:
                        return i
                    gram[a, a] = math.sqrt(total + shift)
            weights[i, a] = solved / gram[a, a]
        whole = 0.0
        for a in range(k - 1, -1, -1):
            for b in range(a + 1, k):
                weights[i, a] -= gram[b, a] * weights[i, b]
            weights[i, a] /= gram[a, a]
            whole += weights[i, a]
        for a in range(k):
            weights[i, a] /= whole
    return -1


@kernel
def turn_until_orthogonal(vectors):  # OUT: vectors
    """One-sided Jacobi: rotations of pairs of rows until all rows are orthogonal."""
    # vectors: (r, k) C order, float64
    for _ in range(SWEEPS):
        turned = False
        for p in range(vectors.shape[0] - 1):
            for q in range(p + 1, vectors.shape[0]):
                first, second = inner(vectors[p], vectors[p]), inner(vectors[q], vectors[q])
                both = inner(vectors[p], vectors[q])
                if abs(both) <= 4.0 * EPS * math.sqrt(first * second):
                    continue
                cotangent = (second - first) / (2.0 * both)
                sign = -1.0 if cotangent < 0.0 else 1.0
                t = sign / (abs(cotangent) + math.sqrt(cotangent * cotangent + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                turn_rows(vectors, p, q, c, t * c)
                turned = True
        if not turned:
            break


@kernel
def sort_falling(sizes, order):  # OUT: order
    """Places of the sizes, largest first; of equal ones the first."""
    for c in range(sizes.shape[0]):
        spot = c
        while spot > 0 and sizes[order[spot - 1]] < sizes[c]:
            order[spot] = order[spot - 1]
            spot -= 1
        order[spot] = c


@kernel
def local_axes(table, neighbours, origins, gaps, found, values, axes):  # OUT: gaps, found, values, axes
    """Left singular vectors of each row's neighbours (minus an origin), and squared singular values, largest first.

    `origins` holds a point for each row.  Vectors of singular values that are zero, but for rounding, are zero.
    """
    # table: (n, d), neighbours: (m, k) int64, origins: (m, d), values: (m, r), axes: (m, r, k), r = min(k, d)
    # scratch gaps: (k, d), found: (r, k); all C order and float64
    k, d, r = neighbours.shape[1], table.shape[1], values.shape[1]
    gram, sizes, order = np.empty((k, k)), np.empty(r), np.empty(r, np.intp)
    for i in range(neighbours.shape[0]):
        for a in range(k):
            for c in range(d):
                gaps[a, c] = table[neighbours[i, a], c] - origins[i, c]
        if d <= k:
            for c in range(d):
                for a in range(k):
                    found[c, a] = gaps[a, c]
            turn_until_orthogonal(found)
            for c in range(r):
                sizes[c] = inner(found[c], found[c])
        else:
            for a in range(k):
                for b in range(k):
                    gram[a, b] = inner(gaps[a], gaps[b])
                    found[a, b] = 1.0 if a == b else 0.0
            for _ in range(SWEEPS):
                if jacobi_sweep(gram, found, 0.0) == 0:
                    break
            for c in range(r):
                sizes[c] = max(gram[c, c], 0.0)
        sort_falling(sizes, order)
        for c in range(r):
            size, length = sizes[order[c]], math.sqrt(inner(found[order[c]], found[order[c]]))
            is_zero = size <= 100.0 * EPS * EPS * sizes[order[0]] if d <= k else size <= 100.0 * EPS * sizes[order[0]]
            values[i, c] = 0.0 if is_zero else size
            for a in range(k):
                axes[i, c, a] = 0.0 if is_zero else found[order[c], a] / length
