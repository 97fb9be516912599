"""Softmax regression: the objective of `softmax_rows`, and the choice of the engine.

* l2 or no penalty, few coefficients: Newton-Cholesky on all classes at once.  The loss does not change when the same
  vector is added to all classes; the Hessian is completed along these directions, where the gradient is zero.
* l2 or no penalty, many coefficients: L-BFGS preconditioned by ``X'X / (n K) + l2`` (the Hessian at zero, where
  all probabilities are 1/K), from a part of the rows.
* lasso and elastic net: prox-Newton (`softmax_l1`).

Stopping rule: the largest component of the gradient is at most `tol`.

References
----------
Boehning (1992), Multinomial logistic regression algorithm, Annals of the Institute of Statistical Mathematics 44.
"""

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers.logistic_lbfgs import lbfgs
from hyperplan._solvers.logistic_newton import factorised, newton
from hyperplan._solvers.logistic_rows import LogisticResult, Penalty
from hyperplan._solvers.softmax_l1 import softmax_prox_newton
from hyperplan._solvers.softmax_rows import SoftmaxRows

NEWTON_SIZE = 1000  # coefficients up to which the full Hessian is formed
NEWTON_WORK = 1.5e9  # rows times coefficients squared up to which it pays
GRAM_WIDTH = 3000  # features up to which the preconditioner is a full matrix
GRAM_ROWS = 8192  # rows it is computed from, at least four per feature
TIGHTEST_USEFUL = 1e-4
NOISE = {4: 2e-7, 8: 2e-15}  # relative rounding error of the objective by item size of the features
SMALLEST_L2 = 1e-20  # below, rounding errors of the gradient alone make the duality gap large


def solve_softmax(
    X, codes, weight, n_classes, penalty: Penalty, *, tol, max_iter, theta=None, observe=None
) -> LogisticResult:
    """Minimise the objective of `softmax_rows` from `theta` (zeros by default).

    Parameters
    ----------
    X : ndarray in C order or CSR matrix of shape (n, d)
        Features, float32 or float64.
    codes : ndarray of shape (n,)
        Classes 0 .. n_classes - 1.
    weight : ndarray of shape (n,)
        Row weights, float64.
    n_classes : int
        Number of classes.
    penalty : Penalty
        Strengths on the mean scale; the intercept is not penalised.
    tol, max_iter : float, int
        Stopping rule.
    theta : ndarray of shape (n_classes, d + 1), default=None
        Start, one row ``[w_k, b_k]`` per class.
    observe : callable, default=None
        Called as ``observe(iteration, theta, objective, residual)`` after each step; a true answer stops.

    Returns
    -------
    result : LogisticResult
        Solution (theta of shape (n_classes, d + 1)), status, objective, optimality residual and dual value.
    """
    rows = SoftmaxRows(X, codes, weight, n_classes)
    start = np.zeros((n_classes, rows.width + 1)) if theta is None else np.array(theta, dtype=np.float64)
    if not penalty.intercept:
        start[:, -1] = 0.0
    observe = observe or (lambda *_: False)
    with single_threaded_blas():
        if penalty.l1 > 0.0:
            return softmax_prox_newton(rows, penalty, start, min(tol, TIGHTEST_USEFUL), tol, max_iter, observe)
        problem = SmoothSoftmax(rows, penalty)
        is_small = problem.size <= NEWTON_SIZE and rows.n_rows * problem.size**2 <= NEWTON_WORK
        engine = ENGINES["newton" if is_small else "lbfgs"]
        return engine(problem, problem.flat(start), tol, max_iter, problem.observer(observe))


class SmoothSoftmax:
    """The objective without lasso part; the vector holds ``[w_k, b_k]`` (or w_k without intercept) class by class."""

    def __init__(self, rows, penalty):
        self.rows, self.penalty = rows, penalty
        self.columns = rows.width + int(penalty.intercept)
        self.size = rows.n_classes * self.columns

    def shaped(self, x):
        theta = x.reshape(self.rows.n_classes, self.columns)
        return theta if self.penalty.intercept else np.column_stack([theta, np.zeros(theta.shape[0])])

    def observer(self, observe):
        return lambda iteration, x, value, residual: observe(iteration, self.shaped(x), value, residual)

    def flat(self, theta):
        return np.ascontiguousarray(theta[:, : self.columns]).ravel()

    def evaluate(self, x):
        theta = self.shaped(x)
        state = self.rows.evaluate(theta)
        gradient = state.gradient.copy()
        gradient[:, :-1] += self.penalty.l2 * theta[:, :-1]
        value = state.loss + 0.5 * self.penalty.l2 * float((theta[:, :-1] ** 2).sum())
        return value, self.flat(gradient), state

    def solver(self, state):
        hessian = self.rows.hessian(state, self.penalty.intercept)
        d, width, n_classes = self.rows.width, self.columns, self.rows.n_classes
        blocks = hessian.reshape(n_classes, width, n_classes, width)
        scale = np.diagonal(hessian).reshape(n_classes, width).mean(axis=0)  # column by column: units may differ widely
        scale = np.maximum(scale, np.finfo(np.float64).tiny)
        position = np.arange(d)
        free = np.arange(0 if self.penalty.l2 == 0.0 else d, width)
        for k in range(n_classes):
            blocks[k, position, k, position] += self.penalty.l2
            for other in range(n_classes):
                blocks[k, free, other, free] += scale[free]
        return factorised(hessian)

    def gap_is_small(self, objective, gradient, state, tol):
        if self.penalty.l2 <= SMALLEST_L2:
            return True
        slopes = gradient.reshape(self.rows.n_classes, self.columns)[:, : self.rows.width]
        return float((slopes**2).sum()) / (2 * self.penalty.l2) <= min(tol, TIGHTEST_USEFUL) * objective

    def result(self, x, objective, gradient, state, n_iter, status):
        theta = self.shaped(x)
        centred = theta - theta.mean(axis=0)  # the loss is the same, the penalty not larger
        residual = float(np.abs(gradient).max(initial=0.0))
        dual, separates = self.rows.dual(state, self.penalty), self.rows.separates(state)
        return LogisticResult(centred, n_iter, status, float(objective), residual, dual, separates)


def _newton_engine(problem, x, tol, max_iter, observe):
    point, n_iter, status = newton(problem, x, tol, max_iter, observe)
    return problem.result(*point, n_iter, status)


def _lbfgs_engine(problem, x, tol, max_iter, observe):
    first = problem.evaluate(x)
    noise = NOISE[problem.rows.X.dtype.itemsize]
    found = lbfgs(problem.evaluate, x, first, _preconditioner(problem), tol, max_iter, observe, noise)
    status = found.status
    if status is Status.STALLED and np.abs(found.gradient).max() <= 1e3 * noise:
        status = Status.CONVERGED
    return problem.result(found.x, found.value, found.gradient, found.extra, found.n_iter, status)


def _preconditioner(problem):
    """Approximate inverse Hessian from the products of features, the same for all classes."""
    rows, width = problem.rows, problem.columns
    if rows.width > GRAM_WIDTH or rows.n_rows < 2 * rows.width:
        return lambda v: v
    step = max(1, rows.n_rows // max(GRAM_ROWS, 4 * rows.width))
    gram = rows.gram(step)[:width, :width] / rows.n_classes
    diagonal = np.arange(width)
    gram[diagonal, diagonal] += problem.penalty.l2 + 1e-4 * np.trace(gram) / width
    solve = factorised(gram)
    return lambda v: np.ascontiguousarray(solve(v.reshape(rows.n_classes, width).T).T).ravel()


ENGINES = {"newton": _newton_engine, "lbfgs": _lbfgs_engine}
