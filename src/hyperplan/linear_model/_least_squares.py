"""Ordinary least squares.

Objective: ``minimise over (coef, b)  sum_i w_i (y_i - b - x_i' coef)^2``, optionally with ``coef >= 0``.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Jobs,
    LinearRegressorMixin,
    MultiOutputMixin,
    Real,
    Status,
    check_finite,
    check_params,
    check_training,
)
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._math.moments import moments
from hyperplan._math.nonnegative import nonnegative_solve
from hyperplan.linear_model._normal_equations import (
    LeastSquaresFit,
    least_squares,
    least_squares_rescaled,
    power_of_two_near,
)
from hyperplan.linear_model._regression_summary import regression_summary


def nonnegative_least_squares(X, Y, weight=None, *, center=True, ridge=0.0, n_jobs=None) -> LeastSquaresFit:
    """Least squares (or ridge, `ridge` a number or one per target) with non-negative coefficients."""
    m = moments(X, Y, weight, center=center, n_jobs=n_jobs)
    coef, rss, worst, status = np.zeros(m.cross.shape), m.y_square.copy(), 0.0, Status.EXACT
    if not m.finite:
        worst, status = np.inf, Status.DIVERGED
    ridge = np.broadcast_to(np.asarray(ridge, dtype=np.float64), m.y_square.shape)
    for k in range(coef.shape[1] if status.ok else 0):
        found = nonnegative_solve(m.gram + ridge[k] * np.eye(coef.shape[0]), m.cross[:, k])
        coef[:, k] = found.x
        rss[k] -= found.x @ (2 * m.cross[:, k] - m.gram @ found.x)
        scale = np.sqrt(np.diagonal(m.gram).max(initial=0.0) * m.y_square[k])
        violation = np.where(found.x > 0, np.abs(found.multiplier), -found.multiplier).max(initial=0.0)
        worst = max(worst, violation / scale if scale > 0 else 0.0)
        status = status if found.status.ok else found.status
    rss = np.maximum(rss, 0.0)
    return LeastSquaresFit(
        coef, m.x_mean, m.y_mean, m.total, None, None, None, None, None, None, rss, m.y_square, worst, status
    )


class LinearRegression(MultiOutputMixin, LinearRegressorMixin, BaseEstimator):
    """Ordinary least squares.

    Minimises ``sum_i w_i (y_i - b - x_i' coef)^2``.  The Gram matrix of the shorter side is summed in one pass over X
    and solved by Cholesky factorisation; a condition estimate decides whether the solution is refined with exact
    residuals, or found from singular values (dependent columns: the minimiser of least norm).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit ``b``; False means the data are taken as centred.
    copy_X : bool, default=True
        Accepted for compatibility; X is never overwritten.
    tol : float, default=1e-6
        Singular values of the centred X up to ``tol`` times the largest count as zero.
    n_jobs : int, default=None
        Threads; None means all cores when the data are large.  The result does not depend on it.
    positive : bool, default=False
        Constrain the coefficients to be non-negative (dense X only).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        ``b``; 0.0 without intercept.
    rank_ : int
        Rank of the centred X (not with ``positive=True`` nor for very large sparse X).
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Singular values of the centred X, computed when first asked for.
    certificate_ : Certificate
        The largest correlation-like product of a column with the residuals: zero at the minimum.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    See Also
    --------
    Ridge : Least squares with a squared penalty.

    References
    ----------
    Bjorck (1996), Numerical Methods for Least Squares Problems, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import LinearRegression
    >>> X = np.array([[1, 1], [1, 2], [2, 2], [2, 3]])
    >>> model = LinearRegression().fit(X, X @ [1, 2] + 3)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1., 2.]), np.float64(3.0))
    """

    _params = {"fit_intercept": Bool, "copy_X": Bool, "tol": Real(ge=0), "n_jobs": Jobs, "positive": Bool}

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data (NaN and infinities show up in the sums)
        X, y, weight = check_training(
            self,
            X,
            y,
            sample_weight,
            accept_sparse=False if self.positive else ("csr", "csc"),
            ensure_all_finite=False,
            multi_output=True,
            y_numeric=True,
        )
        Y = y.astype(np.float64, copy=False).reshape(X.shape[0], -1)
        # 3. maths
        fit = self._solve(X, Y, weight)
        # 4. attributes
        self._fit_state = _State(fit, X.shape, weight, self.fit_intercept)
        self.coef_, self.intercept_ = shaped(fit, y.ndim, X.dtype, self.fit_intercept)
        if fit.rank is not None:
            self.rank_ = fit.rank
        elif hasattr(self, "rank_"):
            del self.rank_
        self.certificate_ = _certificate(fit, X.shape[1], self.tol)
        return self

    def _solve(self, X, Y, weight):
        if self.positive:
            fit = nonnegative_least_squares(X, Y, weight, center=self.fit_intercept, n_jobs=self.n_jobs)
            if fit.status is Status.DIVERGED:
                check_finite(self, X)
                x_unit, y_unit = power_of_two_near(X), power_of_two_near(Y)
                fit = nonnegative_least_squares(X * x_unit, Y * y_unit, weight, center=self.fit_intercept)
                fit = fit._replace(
                    coef=fit.coef * (x_unit / y_unit), x_mean=fit.x_mean / x_unit, y_mean=fit.y_mean / y_unit
                )
            return fit
        options = {"center": self.fit_intercept, "tol": self.tol, "n_jobs": self.n_jobs}
        fit = least_squares(X, Y, weight, **options)
        if fit.status is Status.DIVERGED:
            check_finite(self, X)
            fit = least_squares_rescaled(X, Y, weight, **options)
        return fit

    @property
    def singular_(self):
        """Singular values of the centred X, decreasing."""
        state = self.__dict__.get("_fit_state")
        if state is None or state.rank is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'singular_'")
        if state.singular is None:
            state.singular = _singular_values(state)
        return state.singular

    def summary(self, *, level=0.95, target=0):
        """Standard errors, t tests and confidence intervals of the coefficients, with the usual statistics of fit.

        Assumes independent Gaussian errors of variance ``sigma^2 / w_i`` and a model chosen before seeing the data.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        target : int, default=0
            Which target, when there are several.

        Returns
        -------
        summary : CoefficientSummary
            ``print`` it, or take ``.frame()`` for a pandas DataFrame.
        """
        return regression_summary(self, level=level, target=target)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.positive
        return tags


class _State:
    """What `summary` and `singular_` need after a fit: sums and one triangular factor, never the data."""

    def __init__(self, fit, shape, weight, center):
        self.shape, self.center = shape, center
        self.rank, self.singular = fit.rank, fit.singular
        self.factor, self.live, self.null = fit.factor, fit.live, fit.null
        self.x_mean, self.total = fit.x_mean, fit.total
        self.rss, self.tss = fit.rss, fit.tss
        counted = None if weight is None else weight[weight > 0]
        self.n_counted = shape[0] if weight is None else counted.shape[0]
        self.log_weights = 0.0 if weight is None else float(np.log(counted).sum())
        self.right = fit.right

    def inverse_gram(self):
        """``(Xc'WXc)^-1`` of a fit of full rank."""
        if self.factor is not None:
            return self.factor.inverse()
        half = self.right / self.singular[: self.rank, None]
        return half.T @ half


def _singular_values(state):
    """From the factor ``A = M M'``: the singular values of M, without the direction that was filled in."""
    if state.factor is None:
        return np.zeros(min(state.shape))
    with single_threaded_blas():
        half = np.tril(state.factor.lower) / state.factor.scale[:, None]
        if state.null is not None:
            half -= np.outer(state.null, state.null @ half)
        values = np.linalg.svd(half, compute_uv=False)
    out = np.zeros(min(state.shape))
    out[: values.shape[0]] = values
    return out


def shaped(fit, y_ndim, dtype, fit_intercept):
    """`coef_` and `intercept_` in the shapes and the type that callers expect."""
    coef = fit.coef.T.astype(dtype, copy=False)
    coef = coef[0] if y_ndim == 1 else coef
    if not fit_intercept:
        return np.ascontiguousarray(coef), 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        intercept = (fit.y_mean - fit.x_mean @ fit.coef).astype(dtype, copy=False)
    return np.ascontiguousarray(coef), intercept[0] if y_ndim == 1 else intercept


def _certificate(fit, n_features, tol):
    return Certificate(
        kind="optimality residual",
        guarantee=f"no column has a product with the residuals above {fit.optimality:.2g} of the largest possible",
        value=fit.optimality,
        bound=max(np.sqrt(np.finfo(np.float64).eps), tol * np.sqrt(n_features)),
        reference="Bjorck (1996), Numerical Methods for Least Squares Problems, section 1.1",
        details={"method": fit.status.name.lower(), "rank": fit.rank},
    )


__all__ = ["LinearRegression", "least_squares", "nonnegative_least_squares", "shaped"]
