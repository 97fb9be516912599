"""L-BFGS with a preconditioner, for smooth convex functions with many variables.

The two-loop recursion with the last `memory` pairs starts from ``gamma * precondition(g)``,
``gamma = s'y / y' precondition(y)``; steps satisfy the weak Wolfe conditions and are found by bisection.

References
----------
Nocedal, Wright (2006), Numerical Optimization, algorithms 7.4 and 7.5; Lewis, Overton (2013), Nonsmooth
optimization via quasi-Newton methods, Mathematical Programming 141 (the line search).
"""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._core.status import Status

MEMORY = 15
ARMIJO, WOLFE = 1e-4, 0.9
MAX_TRIALS = 40
EPSILON = float(np.finfo(np.float64).eps)


class Minimum(NamedTuple):
    """Where L-BFGS ended; `extra` is the third value of `evaluate` there."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    extra: Any
    n_iter: int
    status: Status


class _Pairs:
    """The last steps and changes of the gradient."""

    def __init__(self, precondition):
        self.steps, self.changes, self.rho = [], [], []
        self.precondition, self.gamma = precondition, 1.0

    def add(self, step, change):
        product = float(step @ change)
        if product <= EPSILON * float(change @ change):
            return
        self.steps.append(step)
        self.changes.append(change)
        self.rho.append(1.0 / product)
        self.gamma = product / float(change @ self.precondition(change))
        if len(self.steps) > MEMORY:
            del self.steps[0], self.changes[0], self.rho[0]

    def direction(self, gradient):
        """Minus the approximate inverse Hessian times the gradient."""
        q = gradient.copy()
        weights = []
        for s, y, rho in zip(reversed(self.steps), reversed(self.changes), reversed(self.rho), strict=True):
            weights.append(rho * float(s @ q))
            q -= weights[-1] * y
        q = self.gamma * self.precondition(q)
        for s, y, rho, a in zip(self.steps, self.changes, self.rho, reversed(weights), strict=True):
            q += (a - rho * float(y @ q)) * s
        return -q


def lbfgs(evaluate, x, first, precondition, tol, max_iter, observe, noise=8 * EPSILON) -> Minimum:
    """Minimise from `x` until no component of the gradient exceeds `tol`.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(x) -> (value, gradient, extra)``.
    x : ndarray
        Start.
    first : tuple
        ``evaluate(x)``.
    precondition : callable
        A symmetric positive approximation of the inverse Hessian times a vector.
    tol, max_iter : float, int
        Stopping rule.
    observe : callable
        ``observe(iteration, x, value, residual)``; a true answer stops.
    noise : float
        Relative rounding error of the value: smaller promised decreases end the run.

    Returns
    -------
    minimum : Minimum
        Last point.
    """
    value, gradient, extra = first
    pairs = _Pairs(precondition)
    status, iteration = Status.MAX_ITER, 0
    if not np.isfinite(value) or not np.isfinite(gradient).all():
        return Minimum(x, value, gradient, extra, 0, Status.DIVERGED)
    while True:
        residual = np.abs(gradient).max(initial=0.0)
        if residual <= tol:
            status = Status.CONVERGED
            break
        if iteration >= max_iter:
            break
        direction = pairs.direction(gradient)
        slope = float(gradient @ direction)
        if not slope < 0.0:
            pairs = _Pairs(precondition)
            direction = -precondition(gradient)
            slope = float(gradient @ direction)
        if -slope <= noise * abs(value):
            status = Status.CONVERGED
            break
        length = 1.0 if iteration else min(1.0, 1.0 / np.abs(direction).max())
        moved = _wolfe(evaluate, x, value, direction, slope, length, noise)
        if moved is None:
            status = Status.STALLED
            break
        new_x, (value, new_gradient, extra) = moved
        pairs.add(new_x - x, new_gradient - gradient)
        x, gradient, iteration = new_x, new_gradient, iteration + 1
        if observe(iteration, x, value, np.abs(gradient).max(initial=0.0)):
            status = Status.STOPPED
            break
    return Minimum(x, value, gradient, extra, iteration, status)


def _wolfe(evaluate, x, value, direction, slope, length, noise):
    """(x, evaluate(x)) with the weak Wolfe conditions, the last point of sufficient decrease, or None."""
    low, high, best = 0.0, np.inf, None
    slack = noise * abs(value)
    for _ in range(MAX_TRIALS):
        trial = x + length * direction
        found = evaluate(trial)
        if not found[0] <= value + ARMIJO * length * slope + slack:
            high = length
            if best is not None and high <= 4 * low:
                return best
        else:
            best = trial, found
            if float(found[1] @ direction) >= WOLFE * slope:
                return best
            low = length
        length = 2 * length if np.isinf(high) else 0.5 * (low + high)
    return best
