"""Ordinal regression: classes with an order, and one direction along which they follow each other.

    P(y <= k | x) = F(b_k - x'w),  b_1 < ... < b_{K-1},     minimise  -(1/S) sum_i s_i log P(y_i | x_i) + alpha/2 |w|^2

The coefficients act on all thresholds alike: for the logit link one unit of x_j multiplies the odds of being above
any threshold by exp(w_j) (proportional odds).
"""

import numpy as np
from scipy.linalg import pinvh

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    ClassifierMixin,
    Int,
    Null,
    OneOf,
    Real,
    Status,
    check_design,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._base.summary import coefficient_summary
from hyperplan._solvers.logistic_separation import ordinal_conditions
from hyperplan._solvers.ordinal import class_probabilities, solve_ordinal
from hyperplan.linear_model._logistic_separation import is_suspect, report_separation


class OrdinalRegression(ClassifierMixin, BaseEstimator):
    """Classifier for ordered classes: cumulative logit (proportional odds) or probit.

    Minimises ``-(1/S) sum_i s_i log P(y_i | x_i) + alpha/2 |w|^2`` with ``P(y <= k | x) = F(b_k - x'w)``.  Stops when
    no derivative of the objective exceeds `tol` and its estimated excess over the minimum is at most `tol`.

    Parameters
    ----------
    link : {'logit', 'probit'}, default='logit'
        F is the logistic or the normal distribution function.
    alpha : float, default=0.0
        Strength of the squared penalty on the coefficients; the thresholds are free.
    categories : array-like, default=None
        The classes from lowest to highest; None takes them in sorted order.
    tol : float, default=1e-6
        Largest derivative of the objective at the solution.
    max_iter : int, default=100
        Most Newton steps.
    warm_start : bool, default=False
        Start from the previous fit when the classes are the same.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Direction along which the classes rise.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Increasing borders ``b_k`` between neighbouring classes.
    classes_ : ndarray of shape (n_classes,)
        Classes from lowest to highest.
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
    McCullagh (1980), Regression models for ordinal data, JRSS B 42(2).

    Examples
    --------
    >>> from hyperplan.linear_model import OrdinalRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "mid", "low", "high", "high"]
    >>> model = OrdinalRegression(alpha=0.1, categories=["low", "mid", "high"]).fit(X, y)
    >>> model.predict([[0.0], [5.0]]).tolist()
    ['low', 'high']
    >>> bool((model.thresholds_[:-1] < model.thresholds_[1:]).all())
    True
    """

    _params = {
        "link": Choice("logit", "probit"),
        "alpha": Real(ge=0),
        "categories": OneOf(ArrayLike, Null),
        "tol": Real(gt=0),
        "max_iter": Int(ge=1),
        "warm_start": Bool,
    }

    def __init__(self, *, link="logit", alpha=0.0, categories=None, tol=1e-6, max_iter=100, warm_start=False):
        self.link = link
        self.alpha = alpha
        self.categories = categories
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
            Labels.
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
        data = check_training(self, X, y, sample_weight, ensure_all_finite=False)
        classes, codes = self._ordered_labels(data.y, data.weight)
        known = self.warm_start and hasattr(self, "coef_") and np.array_equal(self.classes_, classes)
        # 3 maths
        solution = solve_ordinal(
            data.X, codes, len(classes), data.weight, link=self.link, alpha=self.alpha, tol=self.tol,
            max_iter=self.max_iter, start=(self.coef_, self.thresholds_) if known else None,
        )  # fmt: skip
        if solution.status is Status.DIVERGED:
            check_finite(self, data.X)
        certificate = self._judged(solution, data, codes, len(classes))
        # 4 attributes
        self.classes_ = classes
        self.coef_ = solution.coef
        self.thresholds_ = solution.thresholds
        self.n_iter_ = solution.n_iter
        self.certificate_ = certificate
        total = float(len(codes) if data.weight is None else data.weight.sum())
        self._statistics = (solution.information * total, total, len(codes), solution.objective)
        return self

    def _judged(self, solution, data, codes, n_classes):
        """The certificate, after the warnings the fit deserves."""
        counted = slice(None) if data.weight is None else np.flatnonzero(data.weight > 0)
        X, codes = data.X[counted], codes[counted]
        with np.errstate(over="ignore", invalid="ignore"):
            eta = np.asarray(X @ solution.coef)
        below, above = codes < n_classes - 1, codes > 0
        upper = solution.thresholds[codes[below]] - eta[below]
        lower = eta[above] - solution.thresholds[codes[above] - 1]
        margins, conditions = np.concatenate([upper, lower]), None
        if is_suspect(self.alpha, solution.status, np.abs(margins)):
            conditions = ordinal_conditions(X, codes, n_classes)
        return report_separation(self, solution, conditions, margins)

    def _ordered_labels(self, y, weight):
        """Classes from lowest to highest and their codes; every class must occur."""
        labels = encode_labels(y, estimator_name=type(self).__name__)
        counts = np.bincount(labels.codes, weights=weight)
        if (counts <= 0).any():
            raise ValueError(f"class {labels.classes[np.argmin(counts)]!r} has no row of positive weight")
        if self.categories is None:
            return labels.classes, labels.codes
        order = np.asarray(self.categories)
        place = {label: k for k, label in enumerate(order.tolist())}
        found = labels.classes.tolist()
        if set(place) != set(found) or len(place) != len(order):
            raise ValueError(
                f"categories must list each class of y once, from lowest to highest: got {order.tolist()}, y has "
                f"{found}"
            )
        return order, np.array([place[label] for label in found], dtype=np.intp)[labels.codes]

    def decision_function(self, X):
        """Scores ``x'w`` along which the classes rise.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            For two classes minus the threshold, so that positive means ``classes_[1]``.
        """
        eta = self._scores(X)
        return eta - self.thresholds_[0] if len(self.classes_) == 2 else self._margins(eta)

    def _margins(self, eta):
        """One column per class: the log of its probability, so that the largest wins."""
        with np.errstate(divide="ignore"):
            return np.log(class_probabilities(self.link, self.thresholds_, eta))

    def _scores(self, X):
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr")
        return np.asarray(X @ self.coef_)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`; rows sum to one.
        """
        eta = self._scores(X)
        return class_probabilities(self.link, self.thresholds_, eta)

    def predict(self, X):
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        winner = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winner]

    def summary(self, *, level=0.95):
        """Coefficients and thresholds with standard errors, z tests and confidence intervals.

        The covariance is the inverse observed information; with ``alpha > 0`` the bias is not counted.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        summary : CoefficientSummary
            ``print(summary)`` or ``summary.frame()``; odds ratios for the logit link.
        """
        check_is_fitted(self)
        information, total, n, objective = self._statistics
        d = self.coef_.size
        penalty = self.alpha * total * np.diag([1.0] * d + [0.0] * self.thresholds_.size)
        inverse = pinvh(information + penalty)
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(d)])]
        names += [f"{low}/{high}" for low, high in zip(self.classes_[:-1], self.classes_[1:])]
        likelihood = -total * (objective - 0.5 * self.alpha * float(self.coef_ @ self.coef_))
        return coefficient_summary(
            names,
            np.concatenate([self.coef_, self.thresholds_]),
            inverse @ information @ inverse,
            title=f"Ordinal regression: cumulative {self.link}",
            level=level,
            odds=self.link == "logit",
            extra={"n": n, "log-likelihood": likelihood, "alpha": float(self.alpha)},
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # classes without an order are not what the model describes
        return tags
