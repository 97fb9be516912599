"""Regression with exponential-family targets: counts, amounts, proportions.

    minimise  1/(2S) sum_i s_i deviance(y_i, mean_i) + alpha/2 |w|^2,   g(mean_i) = x_i'w + b

with weights s_i, S = sum_i s_i and link g.  One engine (`hyperplan._solvers.glm`) fits all: Newton's method on fused
row panels, with conjugate gradients in place of Cholesky above a few thousand columns.
McCullagh, Nelder (1989), Generalized Linear Models.
"""

import math

from hyperplan._base import Choice, InvalidParameterError, Real
from hyperplan._solvers.glm import FAMILIES, LINKS, tweedie
from hyperplan.linear_model._glm_base import GLMRegressor

_FINITE = Real(gt=-math.inf, lt=math.inf)


class PoissonRegressor(GLMRegressor):
    """Regression of counts: Poisson distribution, log link.

    Minimises ``1/S sum_i s_i (exp(eta_i) - y_i eta_i) + alpha/2 |w|^2`` with ``eta = X w + b``.  Stops when no
    derivative of the objective exceeds `tol` and its estimated excess over the minimum is at most `tol`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the squared penalty on the coefficients; 0 gives maximum likelihood (of minimum norm when the
        columns are dependent).
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        Names kept for compatibility: both run Newton's method.  'lbfgs' leaves the inner solver to the number of
        columns, 'newton-cholesky' insists on Cholesky and warns of dependent columns.
    max_iter : int, default=100
        Most Newton steps.
    tol : float, default=1e-4
        Largest derivative of the objective at the solution.
    warm_start : bool, default=False
        Start from the previous fit.
    verbose : int, default=0
        Print each step when positive.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Newton steps taken.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    See Also
    --------
    GammaRegressor, TweedieRegressor, GeneralizedLinearRegressor

    References
    ----------
    McCullagh, Nelder (1989), Generalized Linear Models, chapter 6.

    Examples
    --------
    >>> from hyperplan.linear_model import PoissonRegressor
    >>> model = PoissonRegressor(tol=1e-8).fit([[1, 2], [2, 3], [3, 4], [4, 3]], [12, 17, 22, 21])
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([0.121, 0.158]), 2.089)
    """

    def __init__(
        self, *, alpha=1.0, fit_intercept=True, solver="lbfgs", max_iter=100, tol=1e-4, warm_start=False, verbose=0
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family_and_link(self):
        return FAMILIES["poisson"], "log"


class GammaRegressor(GLMRegressor):
    """Regression of positive amounts: gamma distribution, log link.

    Minimises ``1/S sum_i s_i (eta_i + y_i exp(-eta_i)) + alpha/2 |w|^2`` with ``eta = X w + b``.  Stops as
    `PoissonRegressor` does.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the squared penalty on the coefficients.
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        See `PoissonRegressor`.
    max_iter : int, default=100
        Most Newton steps.
    tol : float, default=1e-4
        Largest derivative of the objective at the solution.
    warm_start : bool, default=False
        Start from the previous fit.
    verbose : int, default=0
        Print each step when positive.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Newton steps taken.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    McCullagh, Nelder (1989), Generalized Linear Models, chapter 8.

    Examples
    --------
    >>> from hyperplan.linear_model import GammaRegressor
    >>> model = GammaRegressor(tol=1e-8).fit([[1, 2], [2, 3], [3, 4], [4, 3]], [19, 26, 33, 30])
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([0.073, 0.067]), 2.897)
    """

    def __init__(
        self, *, alpha=1.0, fit_intercept=True, solver="lbfgs", max_iter=100, tol=1e-4, warm_start=False, verbose=0
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family_and_link(self):
        return FAMILIES["gamma"], "log"


class TweedieRegressor(GLMRegressor):
    """Regression with a Tweedie distribution, whose variance is ``mean**power``.

    Power 0 is the normal, 1 the Poisson, between 1 and 2 a compound Poisson-gamma (amounts with exact zeros), 2 the
    gamma, 3 the inverse Gaussian distribution; none exists for ``0 < power < 1``.  Objective and stopping rule as
    in `PoissonRegressor`, with half the Tweedie deviance.

    Parameters
    ----------
    power : float, default=0.0
        Exponent of the variance function.
    alpha : float, default=1.0
        Strength of the squared penalty on the coefficients.
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    link : {'auto', 'identity', 'log'}, default='auto'
        Link between linear predictor and mean; 'auto' is 'identity' for ``power <= 0`` and 'log' otherwise.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        See `PoissonRegressor`.
    max_iter : int, default=100
        Most Newton steps.
    tol : float, default=1e-4
        Largest derivative of the objective at the solution.
    warm_start : bool, default=False
        Start from the previous fit.
    verbose : int, default=0
        Print each step when positive.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Newton steps taken.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    Jorgensen (1987), Exponential dispersion models, JRSS B 49(2).

    Examples
    --------
    >>> from hyperplan.linear_model import TweedieRegressor
    >>> model = TweedieRegressor().fit([[1, 2], [2, 3], [3, 4], [4, 3]], [2, 3.5, 5, 5.5])
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([0.6, 0.3]), 1.6)
    """

    _params = GLMRegressor._params | {"power": _FINITE, "link": Choice("auto", "identity", "log")}

    def __init__(
        self,
        *,
        power=0.0,
        alpha=1.0,
        fit_intercept=True,
        link="auto",
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
    ):
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family_and_link(self):
        family = tweedie(self.power)
        return family, family.links[0] if self.link == "auto" else self.link


class GeneralizedLinearRegressor(GLMRegressor):
    """Any family with any of its links, by maximum likelihood unless penalised.

    Minimises ``1/(2S) sum_i s_i deviance(y_i, mean_i) + alpha/2 |w|^2``.  With the canonical link the gradient is
    ``X'(mean - y)/S + alpha w`` whatever the family.  Stops as `PoissonRegressor` does.

    Parameters
    ----------
    family : {'gaussian', 'binomial', 'poisson', 'gamma', 'inverse-gaussian', 'tweedie'}, default='gaussian'
        Distribution of y given its mean.  Binomial targets are proportions in [0, 1], with the numbers of trials as
        weights.
    link : {'auto', 'identity', 'log', 'inverse', 'logit', 'probit', 'cloglog'}, default='auto'
        'auto' is identity for the Gaussian, logit for the binomial, log for the others; the binomial takes logit,
        probit and cloglog, the others identity, log and inverse.
    power : float, default=1.5
        Exponent of the variance function of ``family='tweedie'``.
    alpha : float, default=0.0
        Strength of the squared penalty on the coefficients.
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    solver : {'auto', 'newton-cholesky', 'newton-cg', 'lbfgs'}, default='auto'
        How Newton's equations are solved: by the number of columns ('auto', 'lbfgs'), by Cholesky, or by conjugate
        gradients.
    max_iter : int, default=100
        Most Newton steps.
    tol : float, default=1e-6
        Largest derivative of the objective at the solution.
    warm_start : bool, default=False
        Start from the previous fit.
    verbose : int, default=0
        Print each step when positive.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Newton steps taken.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    McCullagh, Nelder (1989), Generalized Linear Models, chapter 2.

    Examples
    --------
    >>> from hyperplan.linear_model import GeneralizedLinearRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 2, 4, 9]
    >>> model = GeneralizedLinearRegressor(family="poisson").fit(X, y)
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([0.748]), -0.061)
    >>> model.summary().standard_error.round(3)
    array([0.687, 0.277])
    """

    _params = GLMRegressor._params | {
        "family": Choice(*FAMILIES, "tweedie"),
        "link": Choice("auto", *LINKS),
        "power": _FINITE,
        "solver": Choice("auto", "newton-cholesky", "newton-cg", "lbfgs"),
    }

    def __init__(
        self,
        *,
        family="gaussian",
        link="auto",
        power=1.5,
        alpha=0.0,
        fit_intercept=True,
        solver="auto",
        max_iter=100,
        tol=1e-6,
        warm_start=False,
        verbose=0,
    ):
        self.family = family
        self.link = link
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family_and_link(self):
        family = tweedie(self.power) if self.family == "tweedie" else FAMILIES[self.family]
        link = family.links[0] if self.link == "auto" else self.link
        if link not in family.links:
            raise InvalidParameterError(
                f"The 'link' parameter of GeneralizedLinearRegressor must be 'auto' or one of {list(family.links)} for "
                f"the {family.name} family. Got {self.link!r} instead."
            )
        return family, link
