"""Huber's robust regression with its scale, by Newton's method.

    minimise  sum_i s_i [sigma + sigma H((y_i - x_i'w - b) / sigma)] + alpha |w|^2,
    H(z) = z^2 for |z| <= epsilon, 2 epsilon |z| - epsilon^2 beyond

jointly convex in (w, b, sigma > 0).  With z_i = (x_i, 1, r_i / sigma) the Hessian is ``(2 / sigma) sum s_i z_i z_i'``
over the inliers: one product of panels per step, exact once the set of outliers is right.  Where sigma = 0 is optimal
(epsilon near 1, or an exact fit) sigma is lowered in stages, each solved for w, down to 1e-10 of the spread of y.
Huber, Ronchetti (2009), Robust Statistics, section 7.7; Owen (2006), A robust hybrid of lasso and ridge regression.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._solvers._glm_kernels import huber_rows
from hyperplan._solvers.damped_newton import NewtonResult, cholesky_factor, damped_newton
from hyperplan._solvers.glm import linear_predictor, optimality_certificate
from hyperplan._solvers.row_panels import HESSIAN, LOSS, RowSlopes, Sums, design_rows, second_order_sums

SAMPLE_ROWS = 5_000
SMALLEST_SCALE = 10 * np.finfo(np.float64).eps


class HuberSolution(NamedTuple):
    """A fitted model."""

    coef: np.ndarray
    intercept: float
    scale: float
    outliers: np.ndarray
    n_iter: int
    status: Status
    certificate: Certificate
    objective: float


class _Problem:
    """The objective as a function of theta = (coef, [centred intercept], scale)."""

    def __init__(self, design, y, weight, epsilon, alpha, fit_intercept):
        self.design, self.y, self.weight = design, y, weight
        self.epsilon, self.alpha, self.fit_intercept = float(epsilon), float(alpha), bool(fit_intercept)
        centre = float(weight @ y / weight.sum())
        self.magnitude = float(weight @ np.abs(y))
        self.floor = max(SMALLEST_SCALE, 1e-10 * float(weight @ np.abs(y - centre) / weight.sum()))

    def every(self, stride, first=0):
        """The same problem on some rows, each standing for its neighbours: the optimum is comparable."""
        picked = slice(first, None, stride)
        weight = np.ascontiguousarray(self.weight[picked])
        total = weight.sum()
        if not total > 0:
            return None
        weight = weight * (self.weight.sum() / total)
        y = np.ascontiguousarray(self.y[picked])
        return _Problem(self.design.every(picked), y, weight, self.epsilon, self.alpha, self.fit_intercept)

    def evaluate(self, theta, level, majorise=False) -> Sums:
        d = self.design.shape[1]
        coef, scale = theta[:d], float(theta[-1])
        intercept = theta[d] if self.fit_intercept else 0.0

        def model(rows, eta):
            eta += intercept
            slope, curvature, cross = np.empty_like(eta), np.empty_like(eta), np.empty((eta.shape[0], 2))
            gradient, block, sums = np.zeros(2), np.zeros((2, 2)), np.zeros(1)
            y, weight = self.y[rows], self.weight[rows]
            huber_rows(
                self.epsilon, scale, int(majorise), y, weight, eta, slope, curvature, cross, gradient, block, sums
            )
            return RowSlopes(sums[0], slope, curvature, cross, gradient, block)

        sums = second_order_sums(self.design, coef, model, 2, level)
        value = sums.value + self.alpha * float(coef @ coef)
        if level == LOSS:
            return Sums(value, None, None)
        sums.gradient[:d] += 2 * self.alpha * coef
        if level == HESSIAN:
            sums.hessian[range(d), range(d)] += 2 * self.alpha
        kept = np.arange(d + 2) if self.fit_intercept else np.r_[:d, d + 1]
        hessian = sums.hessian[np.ix_(kept, kept)] if level == HESSIAN else None
        gradient = sums.gradient[kept]
        if scale <= self.floor and gradient[-1] > 0:  # at its bound: nothing to gain below
            gradient[-1] = 0.0
        return Sums(value, gradient, hessian)

    def minimise(self, theta, **options) -> NewtonResult:
        """Newton's method in all parameters."""
        d = self.design.shape[1]

        def longest(theta, step):
            """Divide the scale by at most ten and keep it above its floor."""
            low = max(0.1 * theta[-1], self.floor)
            return (theta[-1] - low) / step[-1] if step[-1] > theta[-1] - low else 1.0

        def factorise(hessian):
            return cholesky_factor(_with_scale_curvature(hessian, self.floor), d)

        return damped_newton(
            self.evaluate,
            theta,
            factorise=factorise,
            longest_step=longest,
            polish=False,
            rounding=self.magnitude,
            **options,
        )

    def minimise_at_scale(self, theta, scale, *, majorise, **options):
        """Coefficients and intercept for a fixed scale: reweighted least squares, or Newton."""
        d = self.design.shape[1]

        def evaluate(part, level):
            sums = self.evaluate(np.append(part, scale), level, majorise)
            if level == LOSS:
                return sums
            return Sums(sums.value, sums.gradient[:-1], None if sums.hessian is None else sums.hessian[:-1, :-1])

        result = damped_newton(
            evaluate,
            theta[:-1],
            factorise=lambda h: cholesky_factor(h, d),
            polish=False,
            rounding=self.magnitude,
            **options,
        )
        return np.append(result.theta, scale), result.n_iter

    def null_start(self):
        """The weighted mean, and a scale that takes every row as an inlier: the first step is least squares."""
        mean = float(self.weight @ self.y / self.weight.sum()) if self.fit_intercept else 0.0
        residual = self.y - mean
        scale = float(np.abs(residual).max(initial=0.0)) / self.epsilon
        theta = np.zeros(self.design.shape[1] + self.fit_intercept + 1)
        theta[self.design.shape[1] :] = [mean, scale if scale > 0 else 1.0][-self.fit_intercept - 1 :]
        return theta


def _with_scale_curvature(hessian, floor):
    """The curvature in the scale vanishes when no inlier has a residual; keep the matrix definite there."""
    if hessian[-1, -1] > 0:
        return hessian
    hessian = hessian.copy()
    hessian[-1, -1] = 1.0 / floor
    return hessian


@np.errstate(over="ignore", invalid="ignore")  # a non-finite objective is a status, not a warning
def solve_huber(X, y, weight=None, *, epsilon=1.35, alpha=1e-4, fit_intercept=True, tol=1e-5, max_iter=100, start=None):
    """Fit on checked arrays; `start` is (coef, intercept, scale)."""
    options = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": fit_intercept, "tol": tol, "max_iter": max_iter}
    if isinstance(X, np.ndarray) and X.shape[1] > X.shape[0]:
        return _solve_in_row_space(X, y, weight, start, options)
    weight = np.ones(X.shape[0]) if weight is None else weight
    design = design_rows(X, centred=fit_intercept)
    problem = _Problem(design, y, weight, epsilon, alpha, fit_intercept)
    d = design.shape[1]
    if start is None:
        theta = _start(problem)
    else:
        coef = np.asarray(start[0], dtype=np.float64)
        intercept = [start[1] + design.centre @ coef] if fit_intercept else []
        theta = np.concatenate([coef, intercept, [max(float(start[2]), problem.floor)]])
    result = problem.minimise(theta, tol=tol, max_iter=max_iter)
    if result.status in (Status.STALLED, Status.MAX_ITER, Status.RANK_DEFICIENT) and result.n_iter > 5:
        result = _lower_scale_in_stages(problem, result, tol, max_iter)
    coef, scale = result.theta[:d], float(result.theta[-1])
    centred = float(result.theta[d]) if fit_intercept else 0.0
    residual = y - linear_predictor(design, coef) - centred
    intercept = centred - float(design.centre @ coef) if fit_intercept else 0.0
    outliers = np.abs(residual) > scale * epsilon
    certificate = optimality_certificate(result, tol)
    return HuberSolution(coef, intercept, scale, outliers, result.n_iter, result.status, certificate, result.value)


def _solve_in_row_space(X, y, weight, start, options):
    """More columns than rows: the solution combines the rows, ``w = Q v`` with ``X' = Q R`` and |w| = |v|."""
    Q, R = qr(X.astype(np.float64, copy=False).T, mode="economic")
    start = None if start is None else (Q.T @ np.asarray(start[0], dtype=np.float64), *start[1:])
    solution = solve_huber(np.ascontiguousarray(R.T), y, weight, start=start, **options)
    return solution._replace(coef=Q @ solution.coef)


def _lower_scale_in_stages(problem, stalled, tol, max_iter):
    """Solve for the coefficients at scales ten times smaller each, until a larger scale would be better again.

    The budget of steps is the caller's: a stage stops where it is when the budget is spent.
    """
    theta, used = problem.null_start(), 0
    while theta[-1] > problem.floor and used < max_iter:
        scale = max(0.1 * theta[-1], problem.floor)
        theta, n = problem.minimise_at_scale(theta, scale, majorise=True, tol=0.1 * tol, max_iter=5)
        theta, m = problem.minimise_at_scale(theta, scale, majorise=False, tol=0.1 * tol, max_iter=10)
        used += n + m
        if problem.evaluate(theta, 1).gradient[-1] < 0:
            break
    result = problem.minimise(theta, tol=tol, max_iter=max_iter)
    result = result._replace(n_iter=min(max_iter, result.n_iter + used))
    return result if result.value <= stalled.value else stalled


def _start(problem):
    """The fit of a sample of the rows, when another sample confirms it."""
    n, d = problem.design.shape
    theta = problem.null_start()
    stride = n // max(SAMPLE_ROWS, 25 * (d + 2))
    if stride < 3 or (sample := problem.every(stride)) is None or (others := problem.every(stride, 1)) is None:
        return theta
    rough = sample.minimise(sample.null_start(), tol=1e-4 * n, max_iter=30)
    better = np.isfinite(rough.value) and others.evaluate(rough.theta, LOSS).value < others.evaluate(theta, LOSS).value
    return rough.theta if better else theta
