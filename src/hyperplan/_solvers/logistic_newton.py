"""Newton's method with a factor kept while it serves, for the smooth objectives of this family.

A problem offers ``evaluate(theta) -> (objective, gradient, state)``, ``solver(state)`` (a function that applies the
inverse Hessian) and ``gap_is_small(objective, gradient, state, tol)``.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf, dpotrs

from hyperplan._core.status import Status

EXTRA_STEPS = 2  # steps granted to the duality gap after the gradient is small
ARMIJO = 1e-4
MAX_HALVINGS = 40
EPSILON = float(np.finfo(np.float64).eps)
PRECISE = 1e-7  # a gradient this small counts as converged where rounding stops further progress


class Point(NamedTuple):
    """A point with what `evaluate` returned there."""

    theta: np.ndarray
    objective: float
    gradient: np.ndarray
    state: Any

    @property
    def residual(self):
        return float(np.abs(self.gradient).max(initial=0.0))


def newton(problem, theta, tol, max_iter, observe, *, keep_factor=False, enough=0.0):
    """(point, iterations, status); stops early when the next step promises less than `enough`.

    With `keep_factor` a factor serves again while the gradient falls at least tenfold per step.
    """
    point = Point(theta, *problem.evaluate(theta))
    if not np.isfinite(point.objective) or not np.isfinite(point.gradient).all():
        return point, 0, Status.DIVERGED
    solve, extra, iteration = None, EXTRA_STEPS, 0
    while True:
        if point.residual <= tol:
            extra -= 1
            if extra < 0 or problem.gap_is_small(point.objective, point.gradient, point.state, tol):
                return point, iteration, Status.CONVERGED
        small = point.residual <= max(tol, PRECISE)
        if iteration >= max_iter:
            return point, iteration, Status.CONVERGED if point.residual <= tol else Status.MAX_ITER
        solve = solve or problem.solver(point.state)
        step = -solve(point.gradient)
        slope = float(point.gradient @ step)
        if not np.isfinite(slope):
            return point, iteration, Status.DIVERGED
        if -slope <= 2 * enough:
            return point, iteration, Status.CONVERGED
        if -slope <= 8 * EPSILON * abs(point.objective):  # the objective no longer tells better from worse
            moved = _smaller_gradient(problem, point, step)
        else:
            moved = _line_search(problem, point, step, slope)
        if moved is None:
            if not keep_factor:
                return point, iteration, Status.CONVERGED if small else Status.STALLED
            keep_factor, solve = False, None  # perhaps only the kept factor is bad
            continue
        if not (keep_factor and moved.residual <= 0.1 * point.residual):
            solve = None
        point, iteration = moved, iteration + 1
        if observe(iteration, point.theta, point.objective, point.residual):
            return point, iteration, Status.STOPPED


def _line_search(problem, point, step, slope):
    """The first of the steps 1, 1/2, 1/4, ... with Armijo's decrease, or None."""
    length = 1.0
    for _ in range(MAX_HALVINGS):
        theta = point.theta + length * step
        trial = Point(theta, *problem.evaluate(theta))
        if trial.objective <= point.objective + ARMIJO * length * slope + 4 * EPSILON * abs(point.objective):
            return trial
        length *= 0.5
    return None


def _smaller_gradient(problem, point, step):
    """The full step if it at least halves the gradient, or None."""
    theta = point.theta + step
    trial = Point(theta, *problem.evaluate(theta))
    return trial if trial.residual <= 0.5 * point.residual else None


def factorised(matrix):
    """A function that applies the inverse of a positive matrix; of minimum norm when it is singular."""
    size = matrix.shape[0]
    diagonal = np.diagonal(matrix)
    if size and diagonal.min() > 0.0:
        scale = 1.0 / np.sqrt(diagonal)  # pivots then tell dependence from differences in units
        factor, failed = dpotrf(matrix * scale * scale[:, None], lower=1, clean=0, overwrite_a=1)
        if not failed and np.diagonal(factor).min() ** 2 > 4 * size * EPSILON:
            return lambda v: (dpotrs(factor, (scale * v.T).T, lower=1)[0].T * scale).T
    if not np.isfinite(matrix).all():
        return lambda v: np.full_like(v, np.nan)
    values, vectors = scipy.linalg.eigh(matrix)
    large = values > 4 * size * EPSILON * max(values[-1], 0.0)
    values, vectors = values[large], vectors[:, large]
    return lambda v: vectors @ ((vectors.T @ v) / values)
