"""Prox-Newton with a working set for the lasso and elastic-net penalties of binary logistic regression.

Each step minimises the quadratic model ``g'z + 1/2 z'Hz`` plus the penalties over a working set of features by
coordinate descent on H, and moves there with Armijo's rule.  H is ``X' diag(k) X / S`` on the working set in
float32 (float64 for small or badly conditioned data) with curvatures k kept from an earlier step: it grows by the
columns of the features that join, and is computed anew only when the violations on the working set stop falling
fast.  The fixed point depends on the gradient alone, which is exact.  The working set takes the worst violators, at
most doubling each time.

Stopping rule: the largest violation of the optimality conditions is at most `tol` times the largest gradient at
zero, and the relative duality gap is at most `tol`.

References
----------
Lee, Sun, Saunders (2014), Proximal Newton-type methods, SIAM J. Optimization 24; Massias, Vaiter, Gramfort, Salmon
(2020), Dual extrapolation for sparse GLMs, JMLR 21 (working sets and the dual point).
"""

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers._logistic_kernels import trial_loss
from hyperplan._solvers.logistic_model import minimise_model
from hyperplan._solvers.logistic_rows import LogisticResult
from hyperplan._solvers.logistic_sparse import ColumnModel, prefers_columns

FIRST_WORKING_SET = 128
INNER_SHARE = 0.05  # inner violations relative to the outer ones
SLOW = 0.2  # violations on the working set should fall at least to this share per step
MODEL_RIDGE = 3e-6  # makes the float32 model positive definite; the fixed point does not depend on it
PRECISE_VALUES = 2**20  # stored values up to which float32 saves nothing
GRAM_ROWS = 4096
GRAM_TASKS = 4
SMALL_WIDTH = 64  # features up to which the model has the whole Hessian, computed at each step
SMALL_WORK = 2e7  # rows times features squared up to which it does
SMALL_SHARE = 2e-3  # inner violations relative to the outer ones there: sweeps cost nothing beside a step
GAP_STEPS = 3  # steps without progress granted to the duality gap after the violations are small
STUCK = 0.9  # violations that fall no further than to this share make no progress
FLAT = 64 * float(np.finfo(np.float64).eps)


class WorkingHessian:
    """``X' diag(k) X / S`` on a growing list of columns (the constant column last)."""

    def __init__(self, rows):
        self.rows = rows
        self.columns = np.empty(0, dtype=np.intp)
        self.dtype = np.float64 if rows.n_stored <= PRECISE_VALUES else np.float32
        self.matrix = np.empty((0, 0), dtype=self.dtype)
        self.curvature = None

    share, stuck = INNER_SHARE, np.inf

    def follow(self, wrong, theta, state, penalty, slow):
        """Take in the worst violators; computed anew when the model has become `slow`."""
        join_working_set(self, wrong, theta, state.curvature, penalty, slow)

    def step(self, penalty, theta, gradient, tolerance):
        """The change of theta that minimises the model."""
        return model_step(self, penalty, theta, gradient, tolerance)

    def rebuild(self, columns, curvature):
        """All entries for these columns with these curvatures."""
        self.curvature = curvature
        self.columns = np.sort(columns)
        self.matrix = self._products(self.columns, None)

    def widen(self):
        """Compute the same entries in float64."""
        self.dtype = np.float64
        self.matrix = self._products(self.columns, None)

    def grow(self, extra):
        """Join further columns."""
        extra = np.sort(extra)
        border = self._products(self.columns, extra)
        size = self.columns.size
        require_memory(8.0 * (size + extra.size) ** 2, "The working Hessian", "use a stronger penalty (smaller C)")
        matrix = np.empty((size + extra.size,) * 2, dtype=self.dtype)
        matrix[:size, :size] = self.matrix
        matrix[:, size:] = border
        matrix[size:, :size] = border[:size].T
        self.columns, self.matrix = np.concatenate([self.columns, extra]), matrix

    def _products(self, columns, extra):
        """``A'A`` for extra=None, else ``[A, B]'B`` with A the scaled columns, B the scaled extra columns."""
        rows = self.rows
        both = columns if extra is None else np.concatenate([columns, extra])
        size = max(min(GRAM_ROWS, rows.n_rows), 1)
        groups = spans(rows.n_rows, max(size, -(-rows.n_rows // GRAM_TASKS)))
        if len(groups) < GRAM_TASKS:
            groups = spans(rows.n_rows, max(256, -(-rows.n_rows // GRAM_TASKS)))

        def task(group):
            total = 0.0
            for start in range(group.start, group.stop, size):
                part = slice(start, min(start + size, group.stop))
                panel = rows.columns(part, both, self.curvature, self.dtype)
                total = total + (panel.T @ panel if extra is None else panel.T @ panel[:, columns.size :])
            return total

        parts = thread_map(task, groups) if rows.n_stored > 2**16 else [task(group) for group in groups]
        return np.ascontiguousarray(sum(parts) / self.dtype(rows.total))


class WholeHessian:
    """The model of small problems: all columns, always with the present curvatures."""

    dtype, share, stuck = np.float64, SMALL_SHARE, STUCK

    def __init__(self, rows):
        self.rows = rows
        self.columns = np.arange(rows.width + 1)
        self.matrix = np.empty((0, 0))

    def follow(self, wrong, theta, state, penalty, slow):
        """The Hessian at the present point."""
        self.matrix = self.rows.hessian(state)

    def step(self, penalty, theta, gradient, tolerance):
        """The change of theta that minimises the model."""
        return model_step(self, penalty, theta, gradient, tolerance)


def model_for(rows):
    """The quadratic model that suits the shape of the data."""
    if rows.width <= SMALL_WIDTH and rows.n_rows * rows.width**2 <= SMALL_WORK:
        return WholeHessian(rows)
    return ColumnModel(rows) if prefers_columns(rows) else WorkingHessian(rows)


def violations(gradient, theta, penalty):
    """How far each coordinate is from optimal: the distance of 0 to the subdifferential."""
    lasso = np.append(np.full(theta.size - 1, penalty.l1), penalty.l1_intercept)
    ridge = penalty.ridge(theta.size - 1)
    smooth = gradient + ridge * theta
    out = np.where(theta == 0.0, np.maximum(np.abs(smooth) - lasso, 0.0), np.abs(smooth + lasso * np.sign(theta)))
    if not penalty.intercept:
        out[-1] = 0.0
    return out


def prox_newton(rows, penalty, theta, tol, asked, max_iter, observe) -> LogisticResult:
    """Minimise from `theta`; the run works towards `tol` and counts as converged at `asked`."""
    state = rows.evaluate(theta)
    objective = state.loss + penalty.value(theta)
    model = model_for(rows)
    at_zero = rows.evaluate(np.zeros_like(theta)) if theta.any() else state
    reference = max(np.abs(at_zero.gradient[:-1]).max(initial=0.0), penalty.l1)
    finest = 1e-3 * tol * min(reference, penalty.l1 or reference)
    status, iteration, before, stalls, extra = Status.MAX_ITER, 0, np.inf, 0, GAP_STEPS
    if not np.isfinite(objective) or not np.isfinite(state.gradient).all():
        return LogisticResult(theta, 0, Status.DIVERGED, objective, np.inf, -np.inf, False)
    while True:
        wrong = violations(state.gradient, theta, penalty)
        worst = wrong.max()
        inside = wrong[model.columns].max(initial=0.0)
        accurate = worst <= tol * reference
        dual = rows.dual(state, penalty) if accurate or iteration >= max_iter or stalls > 1 else -np.inf
        extra -= int(accurate and inside > model.stuck * before)
        if accurate and (objective - dual <= tol * objective or extra < 0):
            status = Status.CONVERGED
            break
        if iteration >= max_iter or stalls > 1:
            accurate = worst <= asked * reference or (stalls > 1 and worst <= 1e-6 * reference)
            status = Status.CONVERGED if accurate else (Status.STALLED if stalls > 1 else Status.MAX_ITER)
            break
        model.follow(wrong, theta, state, penalty, inside > SLOW * before or stalls > 0)
        before = wrong[model.columns].max(initial=0.0)
        step = model.step(penalty, theta, state.gradient, max(model.share * worst, finest))
        moved = _line_search(rows, penalty, theta, step, state, objective)
        if moved is None:
            stalls += 1
            continue
        theta, state, objective = moved
        stalls, iteration = 0, iteration + 1
        if observe(iteration, theta, objective, worst):
            status = Status.STOPPED
            break
    return LogisticResult(theta, iteration, status, float(objective), float(worst), dual, rows.separates(state))


def join_working_set(model, wrong, theta, curvature, penalty, slow):
    """Let the worst violators join; compute the Hessian anew when it has become `slow`."""
    support = np.flatnonzero(theta)
    known = np.zeros(theta.size, dtype=bool)
    known[model.columns] = True
    room = max(FIRST_WORKING_SET, support.size)
    outside = np.flatnonzero((wrong > 0.0) & ~known)
    if outside.size > room:
        outside = outside[np.argpartition(-wrong[outside], room)[:room]]
    if penalty.intercept:
        support = np.union1d(support, [theta.size - 1])
    join = np.union1d(outside, support[~known[support]])
    if model.curvature is None or slow:
        inside = model.columns[wrong[model.columns] > 0.0]
        model.rebuild(np.union1d(np.union1d(inside, support), join).astype(np.intp), curvature)
    elif join.size:
        model.grow(join.astype(np.intp))


def model_step(model, penalty, theta, gradient, tolerance):
    """The change of theta that minimises the quadratic model on the working set."""
    columns = model.columns
    last = columns == theta.size - 1
    ridge = np.where(last, penalty.l2_intercept, penalty.l2)
    lasso = np.where(last, penalty.l1_intercept, penalty.l1)
    if not penalty.intercept:
        lasso[last] = 1e300
    start = theta[columns]
    first = gradient[columns] + ridge * start
    while True:
        z, slope = start.copy(), first.copy()
        proximal = MODEL_RIDGE * np.diagonal(model.matrix).astype(np.float64)
        solved = minimise_model(model.matrix, ridge + proximal, lasso, tolerance, slope, z)
        sizes = np.abs(z) - np.abs(start)
        change = 0.5 * (first + slope) @ (z - start) + np.where(sizes == 0.0, 0.0, lasso * sizes).sum()
        if (solved and change <= 0.0) or model.dtype == np.float64:
            break
        model.widen()  # rounded to float32 the model has no minimum
    step = np.zeros_like(theta)
    step[columns] = z - start
    return step


def _line_search(rows, penalty, theta, step, state, objective):
    """(theta, state, objective) after Armijo's rule, or None when no step decreases the objective."""
    trial = theta + step
    new = rows.evaluate(trial)
    value = new.loss + penalty.value(trial)
    smooth = state.gradient + penalty.ridge(theta.size - 1) * theta
    lasso_only = penalty._replace(l2=0.0, l2_intercept=0.0)
    slope = float(smooth @ step) + lasso_only.value(trial) - lasso_only.value(theta)
    if -slope <= FLAT * abs(objective):  # the objective no longer tells better from worse: the conditions do
        better = violations(new.gradient, trial, penalty).max() < violations(state.gradient, theta, penalty).max()
        return (trial, new, value) if better and value <= objective + FLAT * abs(objective) else None
    if value <= objective + 1e-3 * slope:
        return trial, new, value
    change, length = new.scores - state.scores, 0.5
    for _ in range(30):
        trial = theta + length * step
        value = trial_loss(state.scores, change, length, rows.target, rows.weight) / rows.total + penalty.value(trial)
        if value <= objective + 1e-3 * length * slope:
            return trial, rows.evaluate(trial), value
        length *= 0.5
    return None
