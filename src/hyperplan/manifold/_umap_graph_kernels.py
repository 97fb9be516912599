"""Weights of edges from distances, and products of sparse matrices with a few vectors."""

import math

import numpy as np

from hyperplan._core.jit import view_kernel

STEPS, TOLERANCE = 64, 1e-5
FLOOR = 1e-3  # of the scale of a row, in mean distances
FEW = 1e-5  # part of a neighbour that is not worth an interpolation


@view_kernel
def calibrate(distances, target, connectivity, mean, sigmas, rhos):  # OUT: sigmas, rhos
    """For each row the distance rho from which weights fall, and the scale sigma on which they do.

    rho is the smallest positive distance (for connectivity 1), and sigma solves
    ``sum_j exp(-max(0, d_j - rho) / sigma) = target`` by bisection.  As sigma falls to 0 the sum falls to the number of
    neighbours within rho, so there is no solution when those are too many: then sigma is the floor.  Without enough
    neighbours for the target it is infinite.
    """
    # distances: (m, k) float64, rising, infinite where there is no neighbour; sigmas, rhos: (m,) float64
    k = distances.shape[1]
    for i in range(distances.shape[0]):
        n_zero, n_finite, total = 0, 0, 0.0
        for j in range(k):
            if distances[i, j] < np.inf:
                n_finite += 1
                total += distances[i, j]
                n_zero += distances[i, j] == 0.0
        rho, whole = 0.0, int(connectivity)
        if n_finite > n_zero:
            part = connectivity - whole
            at = min(n_zero + whole, n_finite)
            below = distances[i, at - 1] if whole > 0 else 0.0
            rho = below
            if part > FEW and at < n_finite:
                rho = below + part * (distances[i, at] - below)
        n_within = 0
        for j in range(n_finite):
            n_within += distances[i, j] <= rho
        own_mean = total / n_finite if n_finite > 0 else 0.0
        sigma = max(own_mean - rho, FLOOR * own_mean)
        if n_within >= target or sigma == 0.0:
            sigma = 0.0
        elif n_finite <= target:
            sigma = np.inf
        else:
            low, high = 0.0, np.inf
            for _ in range(STEPS):
                value = 0.0
                for j in range(n_finite):
                    value += math.exp(-max(distances[i, j] - rho, 0.0) / sigma)
                if abs(value - target) < TOLERANCE:
                    break
                if value > target:
                    high = sigma
                    sigma = 0.5 * (low + high)
                else:
                    low = sigma
                    sigma = 2.0 * sigma if high == np.inf else 0.5 * (low + high)
        sigmas[i] = max(sigma, FLOOR * (own_mean if rho > 0.0 else mean))
        rhos[i] = rho


@view_kernel
def multiply(starts, columns, values, V, first, stop, out):  # OUT: out
    """Rows first to stop - 1 of the product of a sparse matrix with V."""
    # starts: (n + 1,) int64; columns: int32; values: float32; V, out: (n, width) float32, C order
    for i in range(first, stop):
        for c in range(V.shape[1]):
            out[i, c] = np.float32(0.0)
        for e in range(starts[i], starts[i + 1]):
            value, j = values[e], columns[e]
            for c in range(V.shape[1]):
                out[i, c] += value * V[j, c]
