"""Minimiser of the quadratic model of a prox-Newton step, ``slope'u + u'(H + ridge)u / 2 + sum lasso_j |z_j|``.

Coordinate descent finds the support and the signs; where features are nearly collinear its steps become tiny long
before the model is solved.  Then the model is minimised exactly over the support (one Cholesky factorisation) along a
segment on which the best point, signs changing on the way, is found exactly; the two alternate until the violation of
the model's own optimality conditions is small.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from hyperplan._solvers._logistic_kernels import quadratic_descent

SWEEPS = 60  # of coordinate descent before an exact step
MAX_ROUNDS = 40
MAX_SWEEPS = 1000  # without exact steps
LARGEST_SUPPORT = 3000  # larger supports are left to coordinate descent


def minimise_model(hessian, ridge, lasso, tolerance, slope, z) -> bool:
    """Minimise over `z` from its value, in place with `slope`, the gradient of the smooth part at z.

    Returns False when coordinate descent found no minimum (the rounded `hessian` is not positive).
    """
    for _ in range(MAX_ROUNDS):
        quadratic_descent(hessian, ridge, lasso, tolerance, SWEEPS, slope, z)
        if not np.abs(slope).max(initial=0.0) < 1e150:
            return False
        if _violation(slope, lasso, z) <= 2 * tolerance:
            return True
        if not exact_step(hessian, ridge, lasso, slope, z):
            quadratic_descent(hessian, ridge, lasso, tolerance, MAX_SWEEPS, slope, z)
            return bool(np.abs(slope).max(initial=0.0) < 1e150)
    return True


def _violation(slope, lasso, z):
    at_zero = np.maximum(np.abs(slope) - lasso, 0.0)
    return float(np.where(z == 0.0, at_zero, np.abs(slope + lasso * np.sign(z))).max(initial=0.0))


def exact_step(hessian, ridge, lasso, slope, z) -> bool:
    """Go to the minimiser over the current support and signs, or to the best point on the way there."""
    support = np.flatnonzero((z != 0.0) | ((lasso == 0.0) & (slope != 0.0)))
    if not 0 < support.size <= LARGEST_SUPPORT:
        return False
    matrix = hessian[np.ix_(support, support)].astype(np.float64)
    position = np.arange(support.size)
    matrix[position, position] += ridge[support]
    factor, failed = dpotrf(matrix, lower=1, clean=0)
    if failed:
        matrix[position, position] += 1e-9 * np.diagonal(matrix).max()
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        if failed:
            return False
    here = z[support]
    uphill = slope[support] + lasso[support] * np.sign(here)
    direction = -dpotrs(factor, uphill, lower=1)[0]
    descent = -float(uphill @ direction)
    if not 0.0 < descent < np.inf:
        return False
    there = best_on_segment(here, direction, descent, lasso[support])
    z[support] = there
    slope += hessian[support].T @ (there - here)
    slope[support] += ridge[support] * (there - here)
    return True


def best_on_segment(here, direction, descent, lasso):
    """The point ``here + t direction``, 0 <= t <= 1, of least objective; `descent` is minus its slope at t = 0."""
    shrinks = np.flatnonzero((direction * here < 0.0) & (np.abs(direction) > np.abs(here)))
    times = -here[shrinks] / direction[shrinks]
    order = np.argsort(times, kind="stable")
    shrinks, times = shrinks[order], times[order]
    climb = 2.0 * lasso[shrinks] * np.abs(direction[shrinks])
    passed = np.concatenate([[0.0], np.cumsum(climb)])
    # after k sign changes the slope at t is -descent (1 - t) + passed[k]: the first zero or kink where it turns up
    uphill = np.flatnonzero(-descent * (1.0 - times) + passed[1:] >= 0.0)
    if uphill.size:
        k = uphill[0]
        t = min(times[k], 1.0 - passed[k] / descent)
    else:
        t = 1.0 - passed[-1] / descent
    there = here + t * direction
    there[shrinks[times == t]] = 0.0
    return there
