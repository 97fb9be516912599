"""Robust linear regression: squared loss for small residuals, absolute loss for large ones.

    minimise  sum_i s_i [sigma + sigma H((y_i - x_i'w - b) / sigma)] + alpha |w|^2,
    H(z) = z^2 for |z| <= epsilon, 2 epsilon |z| - epsilon^2 beyond

The scale sigma is estimated too, so that epsilon needs no rescaling with y.  Jointly convex in (w, b, sigma).
"""

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Int,
    LinearRegressorMixin,
    Real,
    Status,
    check_finite,
    check_params,
    check_training,
)
from hyperplan._solvers.huber import solve_huber
from hyperplan.linear_model._glm_base import warn_of_status


class HuberRegressor(LinearRegressorMixin, BaseEstimator):
    """Linear regression that outliers cannot dominate.

    Minimises ``sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2`` over the coefficients, the intercept and the
    scale, with H quadratic up to `epsilon` and linear beyond, by Newton's method.  Stops when no derivative exceeds
    `tol`, or when the possible improvement is below the rounding of the objective.

    Parameters
    ----------
    epsilon : float, default=1.35
        Residuals beyond ``epsilon * scale_`` count as outliers; at least 1.
    max_iter : int, default=100
        Most Newton steps.
    alpha : float, default=0.0001
        Strength of the penalty ``alpha |w|^2``.
    warm_start : bool, default=False
        Start from the previous fit.
    fit_intercept : bool, default=True
        Add a constant.
    tol : float, default=1e-5
        Largest derivative of the objective at the solution.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    scale_ : float
        Scale sigma of the residuals.
    n_iter_ : int
        Newton steps taken.
    outliers_ : ndarray of shape (n_samples,)
        True for training rows beyond ``epsilon * scale_``.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    Huber, Ronchetti (2009), Robust Statistics, section 7.7.
    Owen (2006), A robust hybrid of lasso and ridge regression.

    Examples
    --------
    >>> from hyperplan.linear_model import HuberRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = HuberRegressor().fit(X, [0.1, 0.9, 2.1, 2.9, 4.1, 50.0])
    >>> bool(model.outliers_[5])
    True
    >>> model.coef_.round(1)
    array([1.1])
    """

    _params = {
        "epsilon": Real(ge=1.0),
        "max_iter": Int(ge=0),
        "alpha": Real(ge=0),
        "warm_start": Bool,
        "fit_intercept": Bool,
        "tol": Real(ge=0.0),
    }

    def __init__(self, *, epsilon=1.35, max_iter=100, alpha=0.0001, warm_start=False, fit_intercept=True, tol=1e-05):
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        data = check_training(self, X, y, sample_weight, y_numeric=True, ensure_all_finite=False)
        known = self.warm_start and hasattr(self, "coef_")
        # 3 maths
        solution = solve_huber(
            data.X, data.y.astype("float64"), data.weight, epsilon=self.epsilon, alpha=self.alpha,
            fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter,
            start=(self.coef_, self.intercept_, self.scale_) if known else None,
        )  # fmt: skip
        if solution.status is Status.DIVERGED:
            check_finite(self, data.X)
        warn_of_status(self, solution)
        # 4 attributes
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.scale_ = solution.scale
        self.outliers_ = solution.outliers
        self.n_iter_ = solution.n_iter
        self.certificate_ = solution.certificate
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
