"""Platt's sigmoid ``P(+1 | s) = 1 / (1 + exp(A s + B))``, fitted by Newton's method with backtracking.

    min_{A, B}  sum_i w_i [t_i f_i + log(1 + exp(-f_i))],   f_i = A s_i + B

The targets are ``t = (n_+ + 1) / (n_+ + 2)`` for positives and ``1 / (n_- + 2)`` for negatives instead of 1 and 0: they
keep A finite when scores separate the classes.  The problem is convex; Newton's method is as in Lin, Lin, Weng (2007),
A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._math._platt_kernels import platt_sums

RIDGE = 1e-12  # share of the Hessian's trace added to its diagonal: equal scores leave the slope undetermined
SMALLEST_STEP = 1e-10
DECREASE = 1e-4  # share of the promised decrease that a step must bring


class PlattFit(NamedTuple):
    """``P(+1 | s) = 1 / (1 + exp(slope s + intercept))``; the slope is negative for useful scores."""

    slope: float
    intercept: float
    status: Status
    n_iter: int
    certificate: Certificate


def platt(scores, positive, weight=None, *, tol=1e-12, max_iter=100) -> PlattFit:
    """Fit the sigmoid.

    Stops when half the squared Newton decrement, which is the excess of the loss up to higher order, is at most `tol`
    per unit of weight.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores, larger for positives if all is well.
    positive : ndarray of bool of shape (n,)
        Which rows are positive.
    weight : ndarray of shape (n,), default=None
        Row weights.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.platt import platt
    >>> fit = platt(np.array([5.0, -4.0, 1.0]), np.array([True, False, False]))
    >>> round(fit.slope, 4), round(fit.intercept, 4)
    (-0.2026, 0.6524)
    """
    scores = np.asarray(scores, dtype=np.float64)
    weight = np.ones(scores.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    targets = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
    scale = float(np.abs(scores).max(initial=0.0)) or 1.0
    problem = (scores / scale, targets, weight)
    start = (0.0, math.log((n_negative + 1.0) / (n_positive + 1.0)))
    (slope, intercept), status, n_iter, excess = _newton(problem, start, tol * max(weight.sum(), 1e-300), max_iter)
    certificate = Certificate(
        kind="Newton decrement",
        guarantee=f"the loss of the sigmoid is {excess:.2g} above its minimum, up to higher order",
        value=float(excess),
        bound=max(tol * float(weight.sum()), 1e-9),
        reference="Boyd, Vandenberghe (2004), Convex Optimization, section 9.5.1",
        details={"iterations": n_iter, "status": status.name.lower()},
    )
    return PlattFit(float(slope / scale), float(intercept), status, n_iter, certificate)


def _newton(problem, point, tol, max_iter):
    """Point, status, iterations and half the squared Newton decrement there."""
    sums = _sums(problem, point)
    for t in range(max_iter + 1):
        step, excess = _direction(sums)
        if not excess > tol:
            return point, Status.CONVERGED if excess <= tol else Status.DIVERGED, t, excess
        if t == max_iter:
            return point, Status.MAX_ITER, t, excess
        length = 1.0
        while length >= SMALLEST_STEP:
            there = (point[0] + length * step[0], point[1] + length * step[1])
            found = _sums(problem, there)
            if found[0] < sums[0] - DECREASE * length * 2.0 * excess:
                break
            length *= 0.5
        else:  # rounding of the loss hides further progress
            return point, Status.STALLED, t, excess
        point, sums = there, found


def _sums(problem, point):
    sums = np.empty(6)
    platt_sums(*problem, *point, sums)
    return sums


def _direction(sums):
    """Newton's step and half the squared decrement."""
    _, da, db, daa, dab, dbb = sums
    ridge = RIDGE * (daa + dbb) + 1e-300
    daa, dbb = daa + ridge, dbb + ridge
    determinant = daa * dbb - dab * dab
    step = (-(dbb * da - dab * db) / determinant, -(daa * db - dab * da) / determinant)
    return step, -0.5 * (step[0] * da + step[1] * db)
