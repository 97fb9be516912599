"""Probit regression: two classes, P(y = 1 | x) = Phi(x'w + b) with Phi the normal distribution function.

    minimise  -(1/S) sum_i s_i [y_i log Phi(eta_i) + (1 - y_i) log Phi(-eta_i)] + alpha/2 |w|^2,   eta = X w + b

Convex in (w, b).  Newton's method with the observed curvature, or Fisher scoring with phi^2 / (Phi (1 - Phi)); both
from the inverse Mills ratio phi/Phi, which a continued fraction gives to full precision in the tails.
"""

import numpy as np
from scipy.special import log_ndtr, ndtr

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    LinearClassifierMixin,
    Real,
    Status,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._solvers.glm import FAMILIES, solve_glm
from hyperplan._solvers.logistic_separation import binary_conditions
from hyperplan.linear_model._glm_base import fit_statistics, glm_summary
from hyperplan.linear_model._logistic_separation import is_suspect, report_separation

SOLVERS = {"newton": False, "fisher": True}  # whether to use Fisher's curvature


class ProbitRegression(LinearClassifierMixin, BaseEstimator):
    """Binary classifier with the probit link.

    Minimises ``-(1/S) sum_i s_i log P(y_i | x_i) + alpha/2 |w|^2`` with ``P(y = 1 | x) = Phi(x'w + b)``.  Stops when no
    derivative of the objective exceeds `tol` and its estimated excess over the minimum is at most `tol`.  Separable
    classes, for which no optimum exists without penalty, are detected and reported.

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of the squared penalty on the coefficients.
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    solver : {'newton', 'fisher'}, default='newton'
        Observed or expected (Fisher) curvature; same optimum, and the standard errors of `summary` use the same.
    tol : float, default=1e-6
        Largest derivative of the objective at the solution.
    max_iter : int, default=100
        Most Newton steps.
    warm_start : bool, default=False
        Start from the previous fit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Constant term.
    classes_ : ndarray of shape (2,)
        Sorted labels; probabilities are of the second.
    n_iter_ : int
        Newton steps taken.
    certificate_ : Certificate
        Largest derivative of the objective against `tol`; separated classes and the columns that diverge are in
        its details.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    Bliss (1934), The method of probits, Science 79.

    Examples
    --------
    >>> from hyperplan.linear_model import ProbitRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = ProbitRegression().fit(X, y)
    >>> model.predict([[0.0], [5.0]]).tolist()
    [0, 1]
    >>> model.predict_proba([[2.5]]).round(3)
    array([[0.5, 0.5]])
    """

    _params = {
        "alpha": Real(ge=0),
        "fit_intercept": Bool,
        "solver": Choice(*SOLVERS),
        "tol": Real(gt=0),
        "max_iter": Int(ge=1),
        "warm_start": Bool,
    }

    def __init__(self, *, alpha=0.0, fit_intercept=True, solver="newton", tol=1e-6, max_iter=100, warm_start=False):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        fisher = SOLVERS[self.solver]
        # 2 data
        data = check_training(self, X, y, sample_weight, ensure_all_finite=False)
        labels = encode_labels(data.y, estimator_name=type(self).__name__)
        if len(labels.classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(labels.classes)} classes. Use OrdinalRegression(link='probit') for ordered classes."
            )
        target = labels.codes.astype(np.float64)
        known = self.warm_start and hasattr(self, "coef_")
        # 3 maths
        solution = solve_glm(
            data.X, target, data.weight, family=FAMILIES["binomial"], link="probit", alpha=self.alpha,
            fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter, fisher=fisher, information=True,
            observed_information=True, start=(self.coef_[0], float(self.intercept_[0])) if known else None,
        )  # fmt: skip
        if solution.status is Status.DIVERGED:
            check_finite(self, data.X)
        margins = np.where(target > 0.5, solution.eta, -solution.eta)
        conditions = None
        if is_suspect(self.alpha, solution.status, np.abs(margins)):
            counted = slice(None) if data.weight is None else np.flatnonzero(data.weight > 0)
            conditions = binary_conditions(data.X[counted], target[counted], self.fit_intercept)
            margins = margins[counted]
        certificate = report_separation(self, solution, conditions, margins)
        # 4 attributes
        self.classes_ = labels.classes
        self.coef_ = solution.coef.astype(data.X.dtype, copy=False)[None, :]
        self.intercept_ = np.array([solution.intercept], dtype=data.X.dtype)
        self.n_iter_ = solution.n_iter
        self.certificate_ = certificate
        self._statistics = fit_statistics(solution, FAMILIES["binomial"], "probit", target, data.weight)
        return self

    def predict_proba(self, X):
        """Probabilities of the two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        proba : ndarray of shape (n_samples, 2)
            In the order of `classes_`.
        """
        scores = self.decision_function(X)
        return np.stack([ndtr(-scores), ndtr(scores)], axis=1)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, exact in the tails.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, 2)
            In the order of `classes_`.
        """
        scores = self.decision_function(X)
        return np.stack([log_ndtr(-scores), log_ndtr(scores)], axis=1)

    def summary(self, *, level=0.95):
        """Coefficients with standard errors, z tests and confidence intervals.

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
        return glm_summary(self, self._statistics, "Probit regression", level)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags
