"""Binary logistic regression: the objective of `logistic_rows`, and the choice of the engine.

* l2 or no penalty, moderate number of features: Newton-Cholesky with
  ``H = (1/S) [X, 1]' diag(s p (1 - p)) [X, 1] + ridge``.  Large data are first solved on every 16th and every 4th
  row, which leaves one or two steps on all rows.
* l2 or no penalty, many features: L-BFGS scaled by the diagonal of the Hessian.
* lasso and elastic net: prox-Newton on a working set (`logistic_l1`).

Stopping rule: the largest component of the gradient is at most `tol` (scikit-learn's rule) and, as far as two
further Newton steps can bring it, the relative duality gap too.

References
----------
Nocedal, Wright (2006), Numerical Optimization, chapters 3 and 7.
"""

import contextlib

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.logistic_l1 import prox_newton
from hyperplan._solvers.logistic_lbfgs import lbfgs
from hyperplan._solvers.logistic_newton import EXTRA_STEPS, factorised, newton
from hyperplan._solvers.logistic_rows import LogisticResult, Penalty, Rows
from hyperplan._solvers.logistic_small import small_lasso, small_newton

NEWTON_WIDTH = 1000  # features up to which the Hessian is formed
NEWTON_WIDTH_ANY_SHAPE = 200  # ... also when there are fewer rows than features
LARGE = 2_000_000  # stored values from which steps on a part of the rows and kept factors pay
WARM_UP_STEPS = (16, 4)
TIGHTEST_USEFUL = 1e-4  # the duality gap is brought at least to this, whatever looser tolerance is asked for
SMALLEST_L2 = 1e-20  # below, rounding errors of the gradient alone make the duality gap large


def solve_binary(X, target, weight, penalty: Penalty, *, tol, max_iter, theta=None, observe=None) -> LogisticResult:
    """Minimise the objective of `logistic_rows` from `theta` (zeros by default).

    Parameters
    ----------
    X : ndarray in C order or CSR matrix of shape (n, d)
        Features, float32 or float64.
    target, weight : ndarray of shape (n,)
        0.0 or 1.0, and row weights (float64).
    penalty : Penalty
        Strengths on the mean scale.
    tol, max_iter : float, int
        Stopping rule and largest number of steps over all rows.
    theta : ndarray of shape (d + 1,), default=None
        Start ``[w, b]``.
    observe : callable, default=None
        Called as ``observe(iteration, theta, objective, residual)`` after each step; a true answer stops.

    Returns
    -------
    result : LogisticResult
        Solution, status, objective, optimality residual and dual value.
    """
    rows = Rows(X, target, weight)
    start = np.zeros(rows.width + 1) if theta is None else np.array(theta, dtype=np.float64)
    if not penalty.intercept:
        start[-1] = 0.0
    observe = observe or _nobody
    with contextlib.nullcontext() if rows.is_small else single_threaded_blas():  # the compiled loops call no BLAS
        if theta is None and max_iter > 2 * EXTRA_STEPS:
            start = _warm_up(rows, penalty, start)
        return ENGINES[engine_for(rows, penalty)](rows, penalty, start, tol, max_iter, observe)


def engine_for(rows, penalty):
    """The name of the engine in `ENGINES`."""
    if penalty.l1 > 0.0 or penalty.l1_intercept > 0.0:
        return "prox-newton"
    tall = rows.width <= NEWTON_WIDTH and rows.n_rows >= rows.width
    return "newton" if tall or rows.width <= NEWTON_WIDTH_ANY_SHAPE else "lbfgs"


class SmoothProblem:
    """The objective without lasso part, for `newton` and `lbfgs`."""

    def __init__(self, rows, penalty):
        self.rows, self.penalty, self.ridge = rows, penalty, penalty.ridge(rows.width)

    def evaluate(self, theta):
        state = self.rows.evaluate(theta)
        gradient = state.gradient + self.ridge * theta
        if not self.penalty.intercept:
            gradient[-1] = 0.0
        return state.loss + self.penalty.value(theta), gradient, state

    def solver(self, state):
        hessian = self.rows.hessian(state)
        hessian[np.arange(self.ridge.size), np.arange(self.ridge.size)] += self.ridge
        if self.penalty.intercept:
            return factorised(hessian)
        inner = factorised(hessian[:-1, :-1])
        return lambda v: np.append(inner(v[:-1]), 0.0)

    def gap_is_small(self, objective, gradient, state, tol):
        """Whether the duality gap (its value for a nearly feasible dual point) is below tol * objective."""
        penalty = self.penalty
        if penalty.l2 <= SMALLEST_L2:
            return True
        bend = penalty.l2_intercept or state.bend[-1]
        intercept = gradient[-1] ** 2 / (2 * bend) if bend > 0.0 else 0.0
        gap = gradient[:-1] @ gradient[:-1] / (2 * penalty.l2) + intercept
        return gap <= min(tol, TIGHTEST_USEFUL) * objective

    def result(self, theta, objective, gradient, state, n_iter, status):
        residual = float(np.abs(gradient).max())
        dual, separates = self.rows.dual(state, self.penalty), self.rows.separates(state)
        return LogisticResult(theta, n_iter, status, float(objective), residual, dual, separates, state=state)


def _warm_up(rows, penalty, theta):
    """A start from every 16th and 4th row; the given start when the data are small or the part is misleading."""
    start = theta
    if rows.is_sparse or rows.n_stored < LARGE or engine_for(rows, penalty) != "newton":
        return start
    for step in WARM_UP_STEPS:
        if rows.n_rows < 30 * step * rows.width:
            continue
        part = rows.every(step)
        noise = 0.05 * rows.width / part.n_rows  # a tenth of the part's own error in the objective, d / 2n
        problem = SmoothProblem(part, penalty)
        point, _, _ = newton(problem, theta, 0.0, 10, lambda *_: False, enough=noise)
        if not point.objective < np.log(2.0) or part.separates(point.state):
            return start
        theta = point.theta
    return theta


def _newton_engine(rows, penalty, theta, tol, max_iter, observe):
    problem = SmoothProblem(rows, penalty)
    if rows.is_small and penalty.l2 > SMALLEST_L2:
        found = small_newton(problem, theta, tol, max_iter, None if observe is _nobody else observe)
        if found is not None:
            point, n_iter, status = found
            return problem.result(*point, n_iter, status)
    with single_threaded_blas():
        point, n_iter, status = newton(problem, theta, tol, max_iter, observe, keep_factor=rows.n_stored >= LARGE)
    return problem.result(*point, n_iter, status)


def _lbfgs_engine(rows, penalty, theta, tol, max_iter, observe):
    problem = SmoothProblem(rows, penalty)
    first = problem.evaluate(theta)
    scale = rows.diagonal(first[2].curvature) + problem.ridge
    scale = np.maximum(scale, 1e-10 * scale.max(initial=0.0))
    scale[scale <= 0.0] = 1.0
    found = lbfgs(problem.evaluate, theta, first, lambda v: v / scale, tol, max_iter, observe)
    return problem.result(found.x, found.value, found.gradient, found.extra, found.n_iter, found.status)


def _lasso_engine(rows, penalty, theta, tol, max_iter, observe):
    goal = min(tol, TIGHTEST_USEFUL)
    if rows.is_small:
        return small_lasso(rows, penalty, theta, goal, tol, max_iter, None if observe is _nobody else observe)
    return prox_newton(rows, penalty, theta, goal, tol, max_iter, observe)


def _nobody(iteration, theta, objective, residual):
    """Nobody watches the steps."""
    return False


ENGINES = {"newton": _newton_engine, "lbfgs": _lbfgs_engine, "prox-newton": _lasso_engine}
