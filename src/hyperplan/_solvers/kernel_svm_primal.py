"""Kernel classification in the primal, as a check on the dual and a second way to the same function.

    minimise   1/2 b'Kb + sum_i C_i max(0, 1 - s_i f_i),   f = Kb + c

over coefficients b and the constant c (L6 with lambda = 1 / C).  The hinge is rounded off within h of its kink;
Newton's method on the rounded objective solves one symmetric system in the rows that lie there, and h shrinks until
rounding costs less than `tol`.  Coefficients are derivatives of the loss, so that they are feasible for the
dual, and the gap between the primal value and the dual value of the same coefficients certifies the result.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status

WIDEST, SHRINK = 0.5, 0.25  # first half width of the rounding, and its factor from round to round
NEWTON_STEPS, HALVINGS = 60, 40


class PrimalSolution(NamedTuple):
    """``f(x) = sum_i beta_i k(x_i, x) + intercept``, its objective and how far above the minimum that can be."""

    beta: np.ndarray
    intercept: float
    primal: float
    gap: float
    n_iter: int
    status: Status


def solve_primal(K, signs, cost, *, tol=1e-6, max_iter=500) -> PrimalSolution:
    """Newton's method on the rounded hinge; stops at a relative gap of `tol`."""
    with single_threaded_blas():
        return _solve(np.asarray(K, dtype=np.float64), signs, cost, tol, max_iter)


def _solve(K, signs, cost, tol, max_iter):
    beta, constant = np.zeros(signs.size), 0.0
    width, n_iter = WIDEST, 0
    while True:
        beta, constant, steps = _newton(K, signs, cost, width, beta, constant, min(NEWTON_STEPS, max_iter - n_iter))
        n_iter += steps
        f = K @ beta
        feasible = _feasible(beta, signs, cost)
        primal = 0.5 * beta @ f + cost @ np.maximum(0.0, 1.0 - signs * (f + constant))
        dual = signs @ feasible - 0.5 * feasible @ (K @ feasible)
        gap = primal - dual
        if gap <= tol * max(primal, np.finfo(float).tiny):
            return PrimalSolution(beta, float(constant), float(primal), float(gap), n_iter, Status.CONVERGED)
        if n_iter >= max_iter or width < 1e-12:
            status = Status.MAX_ITER if n_iter >= max_iter else Status.STALLED
            return PrimalSolution(beta, float(constant), float(primal), float(gap), n_iter, status)
        width *= SHRINK


def _feasible(beta, signs, cost):
    """The nearest multiple of clipped coefficients that sums to zero within each side's bounds."""
    size = np.clip(signs * beta, 0.0, cost)
    totals = size[signs > 0].sum(), size[signs < 0].sum()
    least = min(totals)
    for sign, total in zip((1.0, -1.0), totals):
        if total > 0:
            size[signs == sign] *= least / total
    return signs * size


def _newton(K, signs, cost, width, beta, constant, max_steps):
    """Minimise the rounded objective; returns coefficients, constant and the number of steps."""
    f = K @ beta
    value = _rounded(beta, f, constant, signs, cost, width)
    for step in range(max_steps):
        target, shift = _newton_point(K, signs, cost, width, f + constant)
        move, move_constant = target - beta, shift - constant
        f_move, share = K @ move, 1.0
        slope = _slope(beta, f, constant, signs, cost, width, move, f_move, move_constant)
        if not slope < -1e-13 * max(abs(value), 1.0):
            return beta, constant, step
        for _ in range(HALVINGS):
            trial = _rounded(
                beta + share * move, f + share * f_move, constant + share * move_constant, signs, cost, width
            )
            if trial <= value + 1e-4 * share * slope:
                break
            share *= 0.5
        beta, f, constant = beta + share * move, f + share * f_move, constant + share * move_constant
        value = trial
    return beta, constant, max_steps


def _loss(margin, width):
    inside = np.abs(1.0 - margin) <= width
    return np.where(inside, (1.0 + width - margin) ** 2 / (4.0 * width), np.maximum(0.0, 1.0 - margin))


def _loss_slope(margin, width):
    """Minus the derivative: 0 beyond the kink, 1 before it, linear within `width` of it."""
    return np.clip((1.0 + width - margin) / (2.0 * width), 0.0, 1.0)


def _rounded(beta, f, constant, signs, cost, width):
    return float(0.5 * beta @ f + cost @ _loss(signs * (f + constant), width))


def _slope(beta, f, constant, signs, cost, width, move, f_move, move_constant):
    pull = cost * signs * _loss_slope(signs * (f + constant), width)
    return float(f @ move - pull @ (f_move + move_constant))


def _newton_point(K, signs, cost, width, scores):
    """Minimiser of the quadratic that the rounded objective is near the current scores."""
    margin = signs * scores
    is_curved = np.abs(1.0 - margin) <= width
    target = np.where(margin < 1.0 - width, cost * signs, 0.0)
    curved = np.flatnonzero(is_curved)
    if curved.size == 0:  # no curvature: go to where the majority of the pull leads, and let halving find the share
        near = np.argsort(np.abs(1.0 - margin), kind="stable")[: max(2, signs.size // 20)]
        curved, target[near] = near, 0.0
    system = np.zeros((curved.size + 1, curved.size + 1))
    system[:-1, :-1] = K[np.ix_(curved, curved)]
    system[np.arange(curved.size), np.arange(curved.size)] += 2.0 * width / cost[curved]
    system[:-1, -1] = system[-1, :-1] = 1.0
    right = np.append(signs[curved] * (1.0 + width) - K[curved] @ target, -target.sum())
    solved = np.linalg.solve(system, right)
    target[curved] = solved[:-1]
    return target, float(solved[-1])
