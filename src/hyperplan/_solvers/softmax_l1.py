"""Prox-Newton for the lasso and elastic-net penalties of softmax regression.

Few coefficients: the quadratic model has the full Hessian.  Many: one model per class with the curvatures
``s_i p_ik`` on a working set of features; since ``diag(p) - p p' <= diag(p)`` these models together lie above the true
quadratic.  Both are minimised by coordinate descent.  Adding the same number to a feature's weights of all classes
leaves the loss alone, so after each step every feature takes the shift with the smallest penalty.

Stopping rule: the largest violation of the optimality conditions is at most `tol` times the largest gradient at
zero, and the relative duality gap is at most `tol`.

References
----------
Simon, Friedman, Hastie (2013), A blockwise descent algorithm for group-penalized multiresponse and multinomial
regression, arXiv:1311.6529; Lee, Sun, Saunders (2014), Proximal Newton-type methods, SIAM J. Optimization 24.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import thread_map
from hyperplan._core.status import Status
from hyperplan._solvers.logistic_l1 import (
    FLAT,
    GAP_STEPS,
    INNER_SHARE,
    SLOW,
    SMALL_SHARE,
    STUCK,
    WorkingHessian,
)
from hyperplan._solvers.logistic_model import minimise_model
from hyperplan._solvers.logistic_rows import LogisticResult, Rows
from hyperplan._solvers.logistic_sparse import ColumnModel, prefers_columns

FULL_SIZE = 1000  # coefficients up to which the full Hessian is formed
FULL_WORK = 1.5e9


def softmax_prox_newton(rows, penalty, theta, tol, asked, max_iter, observe) -> LogisticResult:
    """Minimise from `theta`; the run works towards `tol` and counts as converged at `asked`."""
    size = theta.size
    full = size <= FULL_SIZE and rows.n_rows * size**2 <= FULL_WORK
    model = _FullModel(rows, penalty) if full else _ClassModels(rows, penalty)
    state = rows.evaluate(theta)
    objective = state.loss + _value(penalty, theta)
    status, iteration, before, stalls, extra = Status.MAX_ITER, 0, np.inf, 0, GAP_STEPS
    if not np.isfinite(objective) or not np.isfinite(state.gradient).all():
        return LogisticResult(theta, 0, Status.DIVERGED, objective, np.inf, -np.inf, False)
    reference = max(np.abs(rows.evaluate(np.zeros_like(theta)).gradient[:, :-1]).max(initial=0.0), penalty.l1)
    share, finest = SMALL_SHARE if full else INNER_SHARE, 1e-3 * tol * min(reference, penalty.l1)
    while True:
        wrong = _violations(state.gradient, theta, penalty)
        worst = float(wrong.max())
        accurate = worst <= tol * reference
        dual = rows.dual(state, penalty) if accurate or iteration >= max_iter or stalls > 1 else -np.inf
        extra -= int(accurate and worst > model.stuck * before)
        if accurate and (objective - dual <= tol * objective or extra < 0):
            status = Status.CONVERGED
            break
        if iteration >= max_iter or stalls > 1:
            enough = worst <= asked * reference or (stalls > 1 and worst <= 1e-6 * reference)
            status = Status.CONVERGED if enough else (Status.STALLED if stalls > 1 else Status.MAX_ITER)
            break
        tolerance = max(share * worst, finest)
        step = model.step(theta, state, wrong, worst > SLOW * before or stalls > 0, tolerance)
        moved = _line_search(rows, penalty, theta, step, state, objective)
        if moved is None:
            stalls += 1
            continue
        before, stalls, iteration = worst, 0, iteration + 1
        theta, state, _ = moved
        theta = cheapest_shift(theta, penalty)
        objective = state.loss + _value(penalty, theta)
        if observe(iteration, theta, objective, worst):
            status = Status.STOPPED
            break
    return LogisticResult(theta, iteration, status, float(objective), worst, dual, rows.separates(state))


def _value(penalty, theta):
    w = theta[:, :-1]
    return float(penalty.l1 * np.abs(w).sum() + 0.5 * penalty.l2 * (w * w).sum())


def _violations(gradient, theta, penalty):
    """The distance of 0 to the subdifferential, coordinate by coordinate."""
    lasso = np.append(np.full(theta.shape[1] - 1, penalty.l1), 0.0)
    smooth = gradient + penalty.ridge(theta.shape[1] - 1) * theta
    out = np.where(theta == 0.0, np.maximum(np.abs(smooth) - lasso, 0.0), np.abs(smooth + lasso * np.sign(theta)))
    if not penalty.intercept:
        out[:, -1] = 0.0
    return out


def cheapest_shift(theta, penalty):
    """Subtract from each feature's weights the number that makes their penalty smallest (0 if none is better)."""
    w = theta[:, :-1]
    n_classes = w.shape[0]
    ordered = np.sort(w, axis=0)
    candidates = [np.zeros((1, w.shape[1])), ordered]
    if penalty.l2 > 0.0:
        below = np.arange(n_classes + 1)[:, None]  # weights below the shift
        inner = w.mean(axis=0) - penalty.l1 * (2 * below - n_classes) / (penalty.l2 * n_classes)
        ends = np.full((1, w.shape[1]), np.inf)
        candidates.append(np.clip(inner, np.concatenate([-ends, ordered]), np.concatenate([ordered, ends])))
    shifts = np.concatenate(candidates)
    moved = w[None] - shifts[:, None]
    cost = penalty.l1 * np.abs(moved).sum(axis=1) + 0.5 * penalty.l2 * (moved * moved).sum(axis=1)
    cost[0] -= 1e-14 * (cost[0] + penalty.l1)
    best = shifts[cost.argmin(axis=0), np.arange(w.shape[1])]
    out = theta - np.append(best, theta[:, -1].mean())
    return out


class _FullModel:
    """The quadratic model of all coefficients."""

    stuck = STUCK

    def __init__(self, rows, penalty):
        self.rows, self.penalty = rows, penalty

    def step(self, theta, state, wrong, slow, tolerance):
        n_classes, width = theta.shape[0], theta.shape[1] - int(not self.penalty.intercept)
        hessian = np.ascontiguousarray(self.rows.hessian(state, self.penalty.intercept))
        ridge = np.tile(self.penalty.ridge(self.rows.width)[:width], n_classes)
        lasso = np.full((n_classes, width), self.penalty.l1)
        lasso[:, self.rows.width :] = 0.0
        old = np.ascontiguousarray(theta[:, :width])
        z = old.ravel().copy()
        slope = np.ascontiguousarray(state.gradient[:, :width]).ravel() + ridge * z
        extra = 1e-10 * np.diagonal(hessian)
        minimise_model(hessian, ridge + extra, lasso.ravel(), tolerance, slope, z)
        out = np.zeros_like(theta)
        out[:, :width] = z.reshape(n_classes, width) - old
        return out


class _ClassState(NamedTuple):
    """The curvatures of the rows for one class."""

    curvature: np.ndarray


class _ClassModels:
    """One quadratic model per class, on working sets."""

    def __init__(self, rows, penalty):
        self.rows, self.penalty = rows, penalty
        plain = Rows(rows.X, np.zeros(rows.n_rows), rows.weight)
        if prefers_columns(plain):
            shared = ColumnModel(plain).by_column
            self.models = [ColumnModel(plain, shared) for _ in range(rows.n_classes)]
            self.stuck = ColumnModel.stuck
        else:
            self.stuck = np.inf
            self.models = [WorkingHessian(plain) for _ in range(rows.n_classes)]

    def step(self, theta, state, wrong, slow, tolerance):
        curvature = np.ascontiguousarray((self.rows.probability(state) * self.rows.weight[:, None]).T)

        def task(k):
            self.models[k].follow(wrong[k], theta[k], _ClassState(curvature[k]), self.penalty, slow)
            return self.models[k].step(self.penalty, theta[k], state.gradient[k], tolerance)

        return np.stack(thread_map(task, range(theta.shape[0])))


def _line_search(rows, penalty, theta, step, state, objective):
    """(theta, state, objective) after Armijo's rule, or None when no step decreases the objective."""
    smooth = state.gradient + penalty.ridge(theta.shape[1] - 1) * theta
    lasso_only = penalty._replace(l2=0.0)
    slope = float((smooth * step).sum()) + _value(lasso_only, theta + step) - _value(lasso_only, theta)
    if -slope <= FLAT * abs(objective):  # the objective no longer tells better from worse: the conditions do
        trial = theta + step
        new = rows.evaluate(trial)
        value = new.loss + _value(penalty, trial)
        better = _violations(new.gradient, trial, penalty).max() < _violations(state.gradient, theta, penalty).max()
        return (trial, new, value) if better and value <= objective + FLAT * abs(objective) else None
    length = 1.0
    for _ in range(30):
        trial = theta + length * step
        new = rows.evaluate(trial)
        value = new.loss + _value(penalty, trial)
        if value <= objective + 1e-3 * length * slope:
            return trial, new, value
        length *= 0.5
    return None
