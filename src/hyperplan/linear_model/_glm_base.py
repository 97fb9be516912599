"""What all regressors of the exponential family share: fit, predict, D2 score and the coefficient table."""

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning, pinvh

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    ConvergenceWarning,
    Int,
    OneOf,
    Real,
    RegressorMixin,
    Status,
    Trace,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    check_weight,
    column_or_1d,
    linear_scores,
)
from hyperplan._base.summary import coefficient_summary
from hyperplan._solvers.glm import LINKS, deviance_and_pearson, link_function, mean_of_scores, solve_glm

SUMMARY_COLUMNS = 1000  # wider fits keep no information matrix
METHODS = {"lbfgs": "auto", "newton-cholesky": "cholesky", "auto": "auto", "newton-cg": "conjugate-gradient"}
SINGULAR = (
    "The inner solver of the Newton-Cholesky Solver stumbled upon a singular or very ill-conditioned Hessian matrix: "
    "columns of X are linearly dependent, and the coefficients of minimum norm among the optimal ones are returned. "
    "Drop dependent columns or set alpha > 0 to have a single optimum."
)


class GLMRegressor(RegressorMixin, BaseEstimator):
    """Base of the exponential-family regressors; a child says which family and link by `_family_and_link`."""

    _params = {
        "alpha": Real(ge=0),
        "fit_intercept": Bool,
        "solver": Choice("lbfgs", "newton-cholesky"),
        "max_iter": Int(ge=1),
        "tol": Real(gt=0),
        "warm_start": Bool,
        "verbose": OneOf(Int(ge=0), Bool),
    }

    def fit(self, X, y, sample_weight=None, offset=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets in the domain of the family.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        offset : array-like of shape (n_samples,), default=None
            Known part of the linear predictor; the logarithm of the exposure for rates of counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        family, link = self._family_and_link()
        # 2 data
        data = check_training(self, X, y, sample_weight, y_numeric=True, ensure_all_finite=False)
        target = checked_target(data.y, family)
        start = (self.coef_, self.intercept_) if self.warm_start and hasattr(self, "coef_") else None
        # 3 maths
        solution = solve_glm(
            data.X, target, data.weight, offset=checked_offset(offset, data.X), family=family, link=link,
            alpha=self.alpha, fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter, start=start,
            method=METHODS[self.solver], information=data.X.shape[1] <= SUMMARY_COLUMNS, trace=printer(self.verbose),
        )  # fmt: skip
        if solution.status is Status.DIVERGED:
            check_finite(self, data.X)
        warn_of_status(self, solution)
        # 4 attributes
        self.coef_ = solution.coef.astype(data.X.dtype, copy=False)
        self.intercept_ = data.X.dtype.type(solution.intercept) if self.fit_intercept else 0.0
        self.n_iter_ = solution.n_iter
        self.certificate_ = solution.certificate
        self._statistics = fit_statistics(solution, family, link, target, data.weight)
        return self

    def _family_and_link(self):
        raise TypeError("a child class names its family")

    def predict(self, X, offset=None):
        """Predicted means.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.
        offset : array-like of shape (n_samples,), default=None
            Known part of the linear predictor.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Means.
        """
        family, link = self._family_and_link()
        return mean_of_scores(family, link, self._scores(X, offset))

    def _scores(self, X, offset):
        eta = linear_scores(self, X)
        return eta if offset is None else eta + checked_offset(offset, eta).astype(eta.dtype, copy=False)

    def score(self, X, y, sample_weight=None, offset=None):
        """D2, the share of the deviance explained: ``1 - deviance / deviance of the mean``; 1 is best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        offset : array-like of shape (n_samples,), default=None
            Known part of the linear predictor.

        Returns
        -------
        score : float
            D2 of ``self.predict(X)``.
        """
        family, link = self._family_and_link()
        eta = self._scores(X, offset)
        target = checked_target(column_or_1d(y), family)
        weight = check_weight(sample_weight, eta)
        weight = np.ones(eta.shape[0]) if weight is None else weight
        constant = np.full(eta.shape[0], link_function(link, np.average(target, weights=weight)))
        model, null = (deviance_and_pearson(family, link, target, weight, e)[0] for e in (eta, constant))
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(1.0 - np.divide(model, null))

    def summary(self, *, level=0.95):
        """Coefficients with standard errors, z tests and confidence intervals.

        The covariance is the dispersion (1 for Poisson and binomial, Pearson's chi-square per degree of freedom
        otherwise) times the inverse Fisher information.  With ``alpha > 0`` the errors are those of the penalised
        estimate, its bias not counted.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        summary : CoefficientSummary
            ``print(summary)`` or ``summary.frame()``.
        """
        check_is_fitted(self)
        family, link = self._family_and_link()
        return glm_summary(self, self._statistics, f"Generalised linear model: {family.name}, {link} link", level)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        try:
            family, _ = self._family_and_link()
        except (ValueError, TypeError):  # a parameter outside its domain: fit will say so
            return tags
        tags.target_tags.positive_only = not bool(family.accepts(np.float64(-1.0)))
        return tags


def checked_target(y, family):
    """y as contiguous float64; an error that names the first value outside the family's domain."""
    target = np.ascontiguousarray(y, dtype=np.float64)
    bad = np.flatnonzero(~family.accepts(target))
    if bad.size:
        raise ValueError(
            f"Some value(s) of y are out of the valid range of the loss {family.name!r}: it needs {family.domain}, "
            f"and row {bad[0]} has {target[bad[0]]:g}."
        )
    return target


def checked_offset(offset, X):
    """The offset as contiguous float64, or None."""
    if offset is None:
        return None
    values = np.ascontiguousarray(column_or_1d(offset), dtype=np.float64)
    if values.shape[0] != X.shape[0] or not np.isfinite(values).all():
        raise ValueError(f"offset must hold {X.shape[0]} finite numbers, one per row, got {values.shape[0]} values.")
    return values


def printer(verbose):
    """A trace that prints each step, or None."""
    if not verbose:
        return None

    def show(step):
        print(f"Newton iter={step.iteration}  objective={step.objective:.10g}  max |gradient|={step.residual:.3g}")

    return Trace(show)


def warn_of_status(estimator, solution):
    """A bad status becomes a warning with a number and advice."""
    status, certificate = solution.status, solution.certificate
    name = type(estimator).__name__
    if status is Status.RANK_DEFICIENT and getattr(estimator, "solver", "") == "newton-cholesky":
        warnings.warn(SINGULAR, LinAlgWarning, stacklevel=3)
    elif status is Status.SEPARABLE:
        warnings.warn(
            f"{name}: the classes are (quasi-)separable by a hyperplane, so that the likelihood has no maximum and the "
            f"coefficients grow without end; stopped after {solution.n_iter} iterations. Set a penalty to get a finite "
            "optimum.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not status.ok:
        why = {
            Status.MAX_ITER: "max_iter was reached: raise it, scale the features, or loosen tol",
            Status.STALLED: "no step lowers the objective: scale the features, raise alpha, or change the link",
            Status.DIVERGED: "the objective is not finite: scale the features, or choose a link (log) that keeps the "
            "means in the domain",
        }[status]
        warnings.warn(
            f"{name} did not converge: largest derivative {certificate.value:.3g} (tol={certificate.bound:g}) after "
            f"{solution.n_iter} iterations; {why}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def fit_statistics(solution, family, link, y, weight):
    """Numbers that the table needs and that only the training data know."""
    if solution.information is None:
        return None
    weight = np.ones(y.shape[0]) if weight is None else weight
    deviance, pearson = deviance_and_pearson(family, link, y, weight, solution.eta)
    return {
        "information": solution.information * weight.sum(),
        "n": int(np.count_nonzero(weight)),
        "total": float(weight.sum()),
        "deviance": deviance,
        "pearson": pearson,
        "fixed": family.fixed_dispersion,
    }


def glm_summary(estimator, statistics, title, level, odds=False):
    """`CoefficientSummary` of a fitted member of the family; the intercept comes first."""
    if statistics is None:
        raise ValueError(f"no table is kept for fits of more than {SUMMARY_COLUMNS} columns")
    information = statistics["information"]
    coef = np.ravel(estimator.coef_).astype(np.float64)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(coef.size)])]
    p = information.shape[0]
    with_intercept = p > coef.size
    penalty = estimator.alpha * statistics["total"] * np.diag([1.0] * coef.size + [0.0] * with_intercept)
    inverse = pinvh(information + penalty)
    covariance = inverse @ information @ inverse
    residual_df = statistics["total"] - p
    dispersion = 1.0 if statistics["fixed"] else statistics["pearson"] / residual_df
    if with_intercept:
        order = np.r_[p - 1, : p - 1]
        covariance = covariance[np.ix_(order, order)]
        coef, names = np.r_[np.ravel(estimator.intercept_), coef], ["intercept", *names]
    extra = {
        "n": statistics["n"],
        "residual df": residual_df,
        "deviance": statistics["deviance"],
        "Pearson chi2": statistics["pearson"],
        "dispersion": dispersion,
        "alpha": float(estimator.alpha),
    }
    return coefficient_summary(names, coef, dispersion * covariance, title=title, level=level, odds=odds, extra=extra)


__all__ = ["LINKS", "GLMRegressor", "checked_offset", "checked_target", "fit_statistics", "glm_summary"]
