"""One engine for generalised linear models.

    minimise  (1/S) sum_i s_i l(y_i, eta_i) + alpha/2 |w|^2,   eta_i = x_i'w + b + offset_i,   mean = g^{-1}(eta)

with weights s_i, S = sum_i s_i, and l half the unit deviance of the family.  With the canonical link the gradient is
``X'(mean - y) / S + alpha w`` for every family: least squares, logistic and Poisson regression are one algorithm.
The intercept b is never penalised.  Newton's method on fused row panels; Fisher's curvature replaces the observed
one in rows where the loss is not convex in eta.
McCullagh, Nelder (1989), Generalized Linear Models, chapter 2.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._solvers._glm_kernels import glm_mean, glm_rows, glm_totals
from hyperplan._solvers.damped_newton import (
    cholesky_factor,
    conjugate_gradient_direction,
    damped_newton,
)
from hyperplan._solvers.row_panels import (
    GRADIENT,
    HESSIAN,
    LOSS,
    RowSlopes,
    Sums,
    design_rows,
    hessian_product,
    second_order_sums,
)

TWEEDIE, BINOMIAL = 0, 1
LINKS = {"identity": 0, "log": 1, "logit": 2, "probit": 3, "inverse": 4, "cloglog": 5}
CHOLESKY_COLUMNS = 3000  # above, a d x d Hessian costs more than a few dozen products with it
SAMPLE_ROWS = 10_000  # rows of the first, rough fit of a large problem


class Family(NamedTuple):
    """A distribution of y given its mean: the code for kernels, the power of its variance, its links and its domain."""

    name: str
    code: int
    power: float
    links: tuple  # the default first
    canonical: str
    lowest: float
    lowest_allowed: bool
    highest: float
    fixed_dispersion: bool

    def accepts(self, y) -> np.ndarray:
        """Which targets lie in the domain."""
        return ((y >= self.lowest) if self.lowest_allowed else (y > self.lowest)) & (y <= self.highest)

    @property
    def domain(self) -> str:
        """The domain in words."""
        if self.highest < np.inf:
            return f"{self.lowest:g} <= y <= {self.highest:g}"
        return "any real y" if self.lowest == -np.inf else f"y {'>=' if self.lowest_allowed else '>'} {self.lowest:g}"


_POSITIVE_LINKS = ("log", "identity", "inverse")


def tweedie(power, name="tweedie") -> Family:
    """The family whose variance is ``mean**power``."""
    closed = power < 2
    lowest = -np.inf if power <= 0 else 0.0
    links = ("identity", "log", "inverse") if power <= 0 else _POSITIVE_LINKS
    canonical = {0: "identity", 1: "log", 2: "inverse"}.get(power, "")
    return Family(name, TWEEDIE, float(power), links, canonical, lowest, closed, np.inf, power == 1)


FAMILIES = {
    "gaussian": tweedie(0, "gaussian"),
    "poisson": tweedie(1, "poisson"),
    "gamma": tweedie(2, "gamma"),
    "inverse-gaussian": tweedie(3, "inverse-gaussian"),
    "binomial": Family("binomial", BINOMIAL, 0.0, ("logit", "probit", "cloglog"), "logit", 0.0, True, 1.0, True),
}


class GLMSolution(NamedTuple):
    """A fitted model; `information` is the Fisher information / S in (coef, intercept), None when it was not formed."""

    coef: np.ndarray
    intercept: float
    n_iter: int
    status: Status
    certificate: Certificate
    objective: float
    eta: np.ndarray
    information: np.ndarray | None


def link_function(link, mean):
    """``g(mean)`` of a scalar mean."""
    mean = float(mean)
    with np.errstate(divide="ignore"):
        return {
            "identity": lambda: mean,
            "log": lambda: np.log(mean),
            "logit": lambda: np.log(mean) - np.log1p(-mean),
            "probit": lambda: ndtri(mean),
            "inverse": lambda: np.divide(1.0, mean),
            "cloglog": lambda: np.log(-np.log1p(-mean)),
        }[link]()


def mean_of_scores(family, link, eta):
    """``g^{-1}(eta)`` of an array, in the dtype of `eta`."""
    scores = np.ascontiguousarray(eta, dtype=np.float64)
    mean = np.empty_like(scores)
    glm_mean(family.code, LINKS[link], scores, mean)
    return mean.astype(eta.dtype, copy=False)


def deviance_and_pearson(family, link, y, weight, eta):
    """Deviance and Pearson's chi-square, both summed with the weights."""
    totals = np.empty(2)
    glm_totals(family.code, LINKS[link], family.power, y, weight, np.ascontiguousarray(eta, dtype=np.float64), totals)
    return float(totals[0]), float(totals[1])


class _Problem:
    """The objective as a function of theta = (coef, centred intercept)."""

    def __init__(self, design, y, weight, offset, family, link, alpha, fit_intercept, fisher=False):
        self.design, self.y, self.offset = design, y, offset
        self.weight = weight / weight.sum()
        self.family, self.link, self.alpha = family, link, float(alpha)
        self.n_extra = int(fit_intercept)
        self.fisher = fisher
        self.eta, self.curvature = np.empty((2, design.shape[0]))
        self.theta = None  # where eta and curvature were computed

    def every(self, stride, first=0):
        """The same problem on every stride-th row."""
        picked = slice(first, None, stride)
        weight = np.ascontiguousarray(self.weight[picked])
        weight = weight if weight.any() else np.ones_like(weight)
        offset = None if self.offset is None else np.ascontiguousarray(self.offset[picked])
        y, design = np.ascontiguousarray(self.y[picked]), self.design.every(picked)
        return _Problem(design, y, weight, offset, self.family, self.link, self.alpha, self.n_extra, self.fisher)

    def row_model(self, intercept, eta_out, curvature_out, fisher):
        family, link = self.family, LINKS[self.link]

        def model(rows, eta):
            eta += intercept
            if self.offset is not None:
                eta += self.offset[rows]
            eta_out[rows] = eta
            slope, curvature, sums = np.empty_like(eta), curvature_out[rows], np.empty(3)
            y, weight = self.y[rows], self.weight[rows]
            glm_rows(family.code, link, fisher, family.power, y, weight, eta, slope, curvature, sums)
            return RowSlopes(sums[0], slope, curvature, curvature[:, None], sums[1:2], sums[2:, None])

        return model

    def evaluate(self, theta, level, fisher=None) -> Sums:
        """Sums at theta; the scores stay in `eta` and the curvatures in `curvature` until the next call."""
        d = self.design.shape[1]
        self.theta, fisher = theta, int(self.fisher if fisher is None else fisher)
        coef, intercept = theta[:d], theta[d] if self.n_extra else 0.0
        model = self.row_model(intercept, self.eta, self.curvature, fisher)
        sums = second_order_sums(self.design, coef, model, self.n_extra, level)
        if level >= GRADIENT:
            sums.gradient[:d] += self.alpha * coef
        if level == HESSIAN:
            sums.hessian[range(d), range(d)] += self.alpha
        return sums._replace(value=sums.value + 0.5 * self.alpha * float(coef @ coef))

    def evaluate_matrix_free(self, theta, level) -> Sums:
        """As `evaluate`, with the Hessian as a product function."""
        if level < HESSIAN:
            return self.evaluate(theta, level)
        d = self.design.shape[1]
        sums = self.evaluate(theta, GRADIENT)
        curvature = self.curvature.copy()
        cross = curvature[:, None][:, : self.n_extra]
        block = np.full((self.n_extra, self.n_extra), curvature.sum())
        product = hessian_product(self.design, curvature, cross, block)

        def penalised(vector):
            image = product(vector)
            image[:d] += self.alpha * vector[:d]
            return image

        return Sums(sums.value, sums.gradient, penalised)

    def null_start(self):
        """No effect of any column; the intercept fits the weighted mean."""
        theta = np.zeros(self.design.shape[1] + self.n_extra)
        if self.n_extra:
            mean = float(self.weight @ self.y) / float(self.weight.sum())
            theta[-1] = link_function(self.link, self._inside(mean))
            if self.offset is not None:
                theta[-1] -= float(self.weight @ self.offset) / float(self.weight.sum())
        return theta

    def _inside(self, mean):
        """A mean on the border of its domain (all y = 0, say) has an infinite score: start near it."""
        if self.family.code == BINOMIAL:
            return min(max(mean, 1e-3), 1 - 1e-3)
        return mean if self.link == "identity" and self.family.power <= 0 else max(mean, 1e-3)


@np.errstate(over="ignore", invalid="ignore")  # a non-finite objective is a status, not a warning
def solve_glm(
    X,
    y,
    weight=None,
    *,
    offset=None,
    family,
    link,
    alpha,
    fit_intercept=True,
    tol=1e-4,
    max_iter=100,
    start=None,
    method="auto",
    fisher=False,
    information=False,
    observed_information=False,
    trace=None,
) -> GLMSolution:
    """Fit on checked arrays (X dense or CSR/CSC; y, weight, offset contiguous float64).

    `start` is (coef, intercept); `method` one of "auto", "cholesky", "conjugate-gradient"; `fisher` takes the
    expected curvature for the steps; `information` asks for Fisher's information, or with `observed_information`
    for the curvature that the steps used.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    design = design_rows(X, centred=fit_intercept)
    problem = _Problem(design, y, weight, offset, family, link, alpha, fit_intercept, fisher)
    if method == "auto":
        method = "cholesky" if design.shape[1] <= CHOLESKY_COLUMNS else "conjugate-gradient"
    minimise = METHODS[method]
    theta, factor = _start(problem, start, minimise)
    wanted = information and method == "cholesky"
    result = minimise(problem, theta, tol=tol, max_iter=max_iter, trace=trace, factor=factor, final_hessian=wanted)
    return _solution(problem, result, tol, wanted, observed_information)


def _minimise_cholesky(problem, theta, **options):
    d = problem.design.shape[1]
    return damped_newton(problem.evaluate, theta, factorise=lambda hessian: cholesky_factor(hessian, d), **options)


def _minimise_conjugate(problem, theta, **options):
    def factorise(product):
        return lambda gradient: conjugate_gradient_direction(product, gradient)

    options["factor"] = None  # products with an old Hessian cost as much as with a new one
    return damped_newton(problem.evaluate_matrix_free, theta, factorise=factorise, **options)


METHODS = {"cholesky": _minimise_cholesky, "conjugate-gradient": _minimise_conjugate}


def _start(problem, start, minimise):
    """Where to begin, and a factorised Hessian if one is known.

    Given (coef, intercept); else the fit of a sample of the rows when other rows confirm it; else no effect at all.
    """
    n, d = problem.design.shape
    if start is not None:
        coef = np.asarray(start[0], dtype=np.float64)
        shifted = [start[1] + problem.design.centre @ coef] if problem.n_extra else []
        return np.concatenate([coef, shifted]), None
    theta = problem.null_start()
    stride = n // max(SAMPLE_ROWS, 25 * (d + 1))
    if stride < 3:
        return (theta if np.isfinite(problem.evaluate(theta, LOSS).value) else _working_start(problem, theta)), None
    sample, others = problem.every(stride), problem.every(stride, stride // 2)
    rough = minimise(sample, sample.null_start(), tol=1e-3, max_iter=15)
    if not rough.status.ok or not others.evaluate(rough.theta, LOSS).value < others.evaluate(theta, LOSS).value:
        return theta, None
    return rough.theta, None if rough.factor(rough.gradient).deficient else rough.factor


def _working_start(problem, theta):
    """Least squares on the links of shrunken targets, for models whose null start is outside the domain."""
    mean = float(problem.weight @ problem.y)
    target = np.array([link_function(problem.link, problem._inside(0.5 * (v + mean))) for v in problem.y])
    if problem.offset is not None:
        target = target - problem.offset
    gaussian = _Problem(
        problem.design, target, problem.weight, None, FAMILIES["gaussian"], "identity", 1e-10, problem.n_extra
    )
    return _minimise_cholesky(gaussian, np.zeros_like(theta), tol=1e-8, max_iter=3).theta


def _solution(problem, result, tol, information, observed):
    d = problem.design.shape[1]
    fisher = None
    if information and problem.link != problem.family.canonical and not (problem.fisher or observed):
        fisher = problem.evaluate(result.theta, HESSIAN, True).hessian
    elif information:
        fisher = result.hessian
    if problem.theta is not result.theta:
        problem.evaluate(result.theta, LOSS)
    coef = result.theta[:d]
    intercept = float(result.theta[d] - problem.design.centre @ coef) if problem.n_extra else 0.0
    if fisher is not None:
        fisher = _uncentred(fisher - problem.alpha * np.diag([1.0] * d + [0.0] * problem.n_extra), problem, d)
    status = result.status
    if problem.alpha == 0 and problem.family.code == BINOMIAL and _separates(problem, result):
        status = Status.SEPARABLE
    certificate = optimality_certificate(result, tol)
    return GLMSolution(coef, intercept, result.n_iter, status, certificate, result.value, problem.eta, fisher)


def _uncentred(information, problem, d):
    """Information in (coef, intercept) from that in (coef, centred intercept): b = centred - centre'w."""
    if not problem.n_extra:
        return information
    change = np.eye(d + 1)
    change[d, :d] = problem.design.centre  # centred = b + centre'w
    return change.T @ information @ change


def _separates(problem, result):
    """Whether the scores, or the last step's, put all rows of 0/1 targets on their side: then no finite optimum exists.

    Scores of the right sign everywhere show complete separation.  A step along which no row loses is a direction of
    recession: quasi-complete separation; there the loss falls for ever.
    """
    y = problem.y[problem.weight > 0]
    if not np.isin(y, (0.0, 1.0)).all():
        return False
    sign = 2.0 * y - 1.0
    margins = (sign * problem.eta[problem.weight > 0]) if problem.offset is None else np.zeros(1)
    if margins.min() > 0:
        return True
    d = problem.design.shape[1]
    along = linear_predictor(problem.design, result.step[:d]) + (result.step[d] if problem.n_extra else 0.0)
    return recedes(-sign * along[problem.weight > 0])


def recedes(gains):
    """Whether a step of visible size improves, or leaves, every row (gains >= 0): near a minimum steps vanish."""
    return bool(gains.max() > 1e-3 and gains.min() >= -1e-6 * gains.max())


def linear_predictor(design, coef):
    """``(X - centre) @ coef``."""
    eta = np.empty(design.shape[0])
    for rows, panel in design.panels(slice(0, design.shape[0])):
        eta[rows] = panel.scores(coef)
    return eta


def optimality_certificate(result, tol, assumption="") -> Certificate:
    """Largest derivative of the objective against `tol`, or against its rounding when that is larger."""
    residual = float(np.abs(result.gradient).max(initial=0.0))
    floor = 0.0
    if result.status.ok and result.decrement <= result.visible:
        # |g_j| of a point whose excess is below the rounding of f: g_j^2 <= 2 H_jj * excess
        floor = float(np.sqrt(2 * result.visible * result.diagonal.max(initial=0.0)))
    return Certificate(
        kind="optimality residual",
        guarantee=f"the objective is about {result.decrement:.2g} above its minimum and no derivative exceeds "
        f"{residual:.2g}",
        value=residual,
        bound=max(tol, floor),
        assumption=assumption or "a convex objective",
        reference="Boyd, Vandenberghe (2004), Convex Optimization, section 9.5.1",
        details={"objective": result.value, "newton decrement / 2": result.decrement, "iterations": result.n_iter},
    )
