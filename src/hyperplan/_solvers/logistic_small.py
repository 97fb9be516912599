"""Small dense problems: Newton and prox-Newton in one compiled loop.

The steps and the stopping rules are those of `logistic_newton`, and of `logistic_l1` with the whole Hessian; only the
duality gap is looked at between runs of the kernel, which goes on step by step where the gap asks for more than the
violations do.
"""

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers._logistic_small_kernels import small_prox_newton
from hyperplan._solvers.logistic_newton import EXTRA_STEPS, PRECISE, Point
from hyperplan._solvers.logistic_rows import LogisticResult, State

GAP_STEPS = 3  # steps without progress granted to the duality gap after the violations are small
STUCK = 0.9  # violations that fall no further than to this share make no progress
MODEL_RIDGE = 1e-9  # relative; keeps the lasso model of duplicated columns positive
SMALL = 1e-6  # relative violations that count as converged where rounding stops further progress


def small_newton(problem, theta, tol, max_iter, observe):
    """(point, iterations, status) like `newton` for an objective without lasso part; None when a step failed."""
    rows = problem.rows
    run = _Run(rows, problem.penalty, tol, 0.0)
    run.report[2] = 1.0  # violations are absolute
    theta = theta.copy()
    iteration, extra, goal, batch = 0, EXTRA_STEPS, tol, 1 if observe else max_iter
    while True:
        moved = run.steps(theta, min(batch, max_iter - iteration), goal)
        iteration += moved
        objective, worst, _, stalled = run.report
        if not np.isfinite(objective + worst) or (stalled and worst > max(tol, PRECISE)):
            return None
        state = run.state(theta)
        gradient = state.gradient + problem.ridge * theta
        gradient[-1] *= problem.penalty.intercept
        point = Point(theta, float(objective), gradient, state)
        if observe and moved and observe(iteration, theta.copy(), objective, worst):
            return point, iteration, Status.STOPPED
        if worst <= tol:
            extra -= 1
            if extra < 0 or problem.gap_is_small(objective, gradient, state, tol):
                return point, iteration, Status.CONVERGED
            goal, batch = 0.0, 1
        if stalled or iteration >= max_iter:
            return point, iteration, Status.CONVERGED if worst <= tol or stalled else Status.MAX_ITER


def small_lasso(rows, penalty, theta, tol, asked, max_iter, observe) -> LogisticResult:
    """Minimise from `theta`; the run works towards `tol` and counts as converged at `asked`."""
    run = _Run(rows, penalty, tol, MODEL_RIDGE)
    if theta.any():
        run.steps(np.zeros_like(theta), 0, tol)  # the reference is the gradient at zero
    theta = theta.copy()
    iteration, before, extra, goal, batch = 0, np.inf, GAP_STEPS, tol, 1 if observe else max_iter
    while True:
        moved = run.steps(theta, min(batch, max_iter - iteration), goal)
        iteration += moved
        objective, worst, reference, stalled = run.report
        if not np.isfinite(objective + worst):
            return LogisticResult(theta, iteration, Status.DIVERGED, objective, np.inf, -np.inf, False)
        state = run.state(theta)
        if observe and moved and observe(iteration, theta.copy(), objective, worst):
            status, dual = Status.STOPPED, rows.dual(state, penalty)
            break
        accurate, over = worst <= tol * reference, iteration >= max_iter or bool(stalled)
        dual = rows.dual(state, penalty) if accurate or over else -np.inf
        extra -= int(accurate and (worst > STUCK * before or moved == 0))
        if accurate and (objective - dual <= tol * objective or extra < 0):
            status = Status.CONVERGED
            break
        if over:
            good = worst <= max(asked, SMALL if stalled else 0.0) * reference
            status = Status.CONVERGED if good else (Status.STALLED if stalled else Status.MAX_ITER)
            break
        before = worst
        if accurate:
            goal, batch = 0.0, 1
    return LogisticResult(
        theta, iteration, status, float(objective), float(worst), dual, rows.separates(state), state=state
    )


class _Run:
    """The arrays that calls of the kernel share."""

    def __init__(self, rows, penalty, tol, model_ridge):
        self.rows, self.strengths = rows, penalty
        self.limits = np.array([rows.total, tol, 1e-3 * tol, 0.0, model_ridge])
        taken = rows.width + int(penalty.intercept)
        self.penalty = np.empty((2, taken))
        self.penalty[0], self.penalty[1] = penalty.l2, penalty.l1
        if penalty.intercept:
            self.penalty[:, -1] = penalty.l2_intercept, penalty.l1_intercept
        self.values, self.sums = np.empty((3, rows.n_rows)), np.empty((2, rows.width + 1))
        self.report = np.zeros(4)

    def steps(self, theta, count, goal) -> int:
        """Up to `count` steps from theta, in place, until the relative violation is `goal`; how many were made."""
        rows = self.rows
        self.limits[1], self.limits[3] = goal, self.report[2]
        fixed = (rows.X, rows.by_feature, rows.target, rows.weight, self.penalty, self.limits)
        return small_prox_newton(*fixed, count, theta, self.values, self.sums, self.report)

    def state(self, theta) -> State:
        """The state of the last point."""
        loss = float(self.report[0]) - self.strengths.value(theta)
        return State(loss, self.sums[0], self.sums[1], *self.values)
