"""Cumulative-link (ordinal) regression by Newton's method.

    P(y <= k | x) = F(b_k - x'w),  b_1 < ... < b_{K-1},     minimise  -(1/S) sum_i s_i log P(y_i | x_i) + alpha/2 |w|^2

with F logistic or normal.  The objective is convex in (w, b) because F has a log-concave density; thresholds out of
order have an infinite loss, so that the line search keeps them ordered.
McCullagh (1980), Regression models for ordinal data, JRSS B 42(2).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._solvers._glm_kernels import ordinal_rows
from hyperplan._solvers.damped_newton import cholesky_factor, damped_newton
from hyperplan._solvers.glm import LINKS, linear_predictor, optimality_certificate, recedes
from hyperplan._solvers.row_panels import GRADIENT, HESSIAN, LOSS, RowSlopes, design_rows, second_order_sums

DISTRIBUTIONS = {"logit": (expit, logit), "probit": (ndtr, ndtri)}
SAMPLE_ROWS = 10_000


class OrdinalSolution(NamedTuple):
    """A fitted model; `information` is the Hessian / S of the log-likelihood in (coef, thresholds)."""

    coef: np.ndarray
    thresholds: np.ndarray
    n_iter: int
    status: Status
    certificate: Certificate
    objective: float
    information: np.ndarray


class _Problem:
    """The objective as a function of theta = (coef, centred thresholds)."""

    def __init__(self, design, codes, weight, n_classes, link, alpha):
        self.design, self.codes, self.weight = design, codes, weight / weight.sum()
        self.n_extra, self.link, self.alpha = n_classes - 1, link, float(alpha)

    def every(self, stride, first=0):
        """The same problem on some rows, or None when a class is missing there."""
        picked = slice(first, None, stride)
        codes, weight = np.ascontiguousarray(self.codes[picked]), np.ascontiguousarray(self.weight[picked])
        if np.bincount(codes, weights=weight, minlength=self.n_extra + 1).min() <= 0:
            return None
        return _Problem(self.design.every(picked), codes, weight, self.n_extra + 1, self.link, self.alpha)

    def evaluate(self, theta, level):
        d, q = self.design.shape[1], self.n_extra
        coef, thresholds = theta[:d], np.ascontiguousarray(theta[d:])

        def model(rows, eta):
            slope, curvature, cross = np.empty_like(eta), np.empty_like(eta), np.empty((eta.shape[0], q))
            gradient, block, sums = np.zeros(q), np.zeros((q, q)), np.zeros(1)
            ordinal_rows(LINKS[self.link], self.codes[rows], self.weight[rows], eta, thresholds, slope, curvature,
                         cross, gradient, block, sums)  # fmt: skip
            return RowSlopes(sums[0], slope, curvature, cross, gradient, block)

        sums = second_order_sums(self.design, coef, model, q, level)
        if level >= GRADIENT:
            sums.gradient[:d] += self.alpha * coef
        if level == HESSIAN:
            sums.hessian[range(d), range(d)] += self.alpha
        return sums._replace(value=sums.value + 0.5 * self.alpha * float(coef @ coef))

    def null_start(self):
        """No effect of any column: the thresholds reproduce the shares of the classes."""
        shares = np.bincount(self.codes, weights=self.weight, minlength=self.n_extra + 1)
        cumulated = np.cumsum(shares / shares.sum())[:-1]
        return np.concatenate([np.zeros(self.design.shape[1]), DISTRIBUTIONS[self.link][1](cumulated)])

    def minimise(self, theta, **options):
        d = self.design.shape[1]
        return damped_newton(self.evaluate, theta, factorise=lambda hessian: cholesky_factor(hessian, d), **options)


@np.errstate(over="ignore", invalid="ignore")  # a non-finite objective is a status, not a warning
def solve_ordinal(X, codes, n_classes, weight=None, *, link="logit", alpha=0.0, tol=1e-6, max_iter=100, start=None):
    """Fit on checked arrays; `codes` in 0..n_classes-1, each present with positive weight."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    problem = _Problem(design_rows(X), codes, weight, n_classes, link, alpha)
    d = X.shape[1]
    if start is None:
        theta, factor = _sampled_start(problem)
    else:
        theta, factor = np.concatenate([start[0], start[1] - problem.design.centre @ start[0]]), None
    result = problem.minimise(theta, tol=tol, max_iter=max_iter, factor=factor, final_hessian=True)
    coef = result.theta[:d]
    thresholds = result.theta[d:] + problem.design.centre @ coef
    information = result.hessian - problem.alpha * np.diag([1.0] * d + [0.0] * problem.n_extra)
    change = np.eye(d + problem.n_extra)  # centred thresholds = thresholds - centre'w
    change[d:, :d] = -problem.design.centre
    status = Status.SEPARABLE if alpha == 0 and _diverges(problem, result) else result.status
    certificate = optimality_certificate(result, tol)
    information = change.T @ information @ change
    return OrdinalSolution(coef, thresholds, result.n_iter, status, certificate, result.value, information)


def _sampled_start(problem):
    n, d = problem.design.shape
    theta = problem.null_start()
    stride = n // max(SAMPLE_ROWS, 25 * (d + problem.n_extra))
    if stride < 3 or (sample := problem.every(stride)) is None or (others := problem.every(stride, 1)) is None:
        return theta, None
    rough = sample.minimise(sample.null_start(), tol=1e-3, max_iter=15)
    if not rough.status.ok or not others.evaluate(rough.theta, LOSS).value < others.evaluate(theta, LOSS).value:
        return theta, None
    return rough.theta, None if rough.factor(rough.gradient).deficient else rough.factor


def _diverges(problem, result):
    """Whether the last step widens every row's interval on both sides: then the likelihood rises for ever along it."""
    d, counted = problem.design.shape[1], problem.weight > 0
    along = -linear_predictor(problem.design, result.step[:d])[counted]
    borders = np.concatenate([[-np.inf], -result.step[d:], [np.inf]])
    codes = problem.codes[counted]
    gains = np.concatenate([borders[codes + 1] - along, along - borders[codes]])
    return recedes(gains[np.isfinite(gains)])


def class_probabilities(link, thresholds, eta):
    """Rows of probabilities; they sum to one because they are differences of one distribution function."""
    below = DISTRIBUTIONS[link][0]
    cumulated = below(thresholds[None, :] - eta[:, None])
    upper = below(eta[:, None] - thresholds[None, :])  # 1 - cumulated, exact in the right tail
    ends = np.concatenate([np.zeros((len(eta), 1)), cumulated, np.ones((len(eta), 1))], axis=1)
    rest = np.concatenate([np.ones((len(eta), 1)), upper, np.zeros((len(eta), 1))], axis=1)
    left, right = np.diff(ends, axis=1), -np.diff(rest, axis=1)
    return np.maximum(np.where(ends[:, :-1] < 0.5, left, right), 0.0)
