"""Naive Bayes with Gaussian columns.

Model: ``P(row | class k) = prod_j N(x_j; theta_kj, var_kj)``.  Maximum likelihood has a closed form: weighted means and
variances of each class, from one pass over the rows; `var_smoothing` times the largest variance of a column is added
to all variances.
"""

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Null,
    OneOf,
    Real,
    check_design,
    check_finite,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._math.class_moments import ClassMoments, class_moments, merged_moments, pooled_moments
from hyperplan._math.class_scores import gaussian_diagonal_scores
from hyperplan.naive_bayes._common import NaiveBayesMixin, classes_of_call, closed_form_certificate, codes_among

SMALLEST_VARIANCE = np.finfo(np.float64).tiny ** 0.5  # stands for zero in scores: squares of 1e150 over it are finite
ROUNDING = 1e-6  # what rounding may leave of the likelihood equations, in standard deviations


def given_priors(priors, n_classes):
    """Checked priors as floats."""
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape[0] != n_classes:
        raise ValueError("Number of priors must match number of classes.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (priors < 0).any():
        raise ValueError("Priors must be non-negative.")
    return priors


def require_squares(estimator, X, moments, finite=True):
    """Raise the located error when X has NaN or infinity, or say that its squares overflow."""
    if not moments.finite:
        check_finite(estimator, X, finite)
        raise ValueError(
            f"Values of X are so large (beyond 1e150) that their squares overflow: {type(estimator).__name__} needs "
            "variances; scale the columns."
        )


def gaussian_certificate(moments, variance, epsilon):
    """Rounding error of the means, in standard deviations."""
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    error = (np.spacing(np.abs(moments.mean)) / spread).max(initial=0.0)
    return closed_form_certificate(
        f"means and variances maximise the likelihood; rounding moves a mean by at most {error:.2g} deviations",
        error,
        ROUNDING,
        added_variance=float(epsilon),
    )


class GaussianNB(NaiveBayesMixin, BaseEstimator):
    """Naive Bayes for numbers: within a class, columns are independent and Gaussian.

    Maximises ``sum_i w_i [log P(y_i) + sum_j log N(x_ij; theta_kj, var_kj)]``; the maximum has a closed form, so that
    there is no iteration and no stopping rule.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes their shares of the rows.
    var_smoothing : float, default=1e-9
        Part of the largest variance of a column that is added to all variances.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    epsilon_ : float
        What is added to variances.
    theta_ : ndarray of shape (n_classes, n_features)
        Means by class.
    var_ : ndarray of shape (n_classes, n_features)
        Variances by class, with `epsilon_`.  A variance of zero (all columns are constant) counts as 1.5e-154.
    certificate_ : Certificate
        The maximum is a closed form; what rounding leaves of it, in standard deviations.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 6.6.3.

    Examples
    --------
    >>> from hyperplan.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [5.0], [7.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.2], [6.5]])
    array(['low', 'high'], dtype='<U4')
    >>> model.theta_
    array([[6. ],
           [0.5]])
    >>> model.certificate_.holds
    True
    """

    _params = {"priors": OneOf(ArrayLike, Null), "var_smoothing": Real(ge=0)}

    def __init__(self, *, priors=None, var_smoothing=1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    def fit(self, X, y, sample_weight=None):
        """Fit the means and variances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        # 1. parameters
        check_params(self)
        # 2. data (NaN and infinities show up in the sums)
        X, y, weight = check_training(
            self, X, y, sample_weight, accept_sparse=False, order="C", ensure_all_finite=False
        )
        labels = encode_labels(y, min_classes=1)
        # 3. maths, 4. attributes
        return self._learn(X, labels.codes, labels.classes, weight, None)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from further rows, as if all had been there from the start.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can appear; needed in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_params(self)
        classes, first = classes_of_call(self, classes)
        X, y, weight = check_training(
            self, X, y, sample_weight, accept_sparse=False, order="C", ensure_all_finite=False, reset=first
        )
        before = None
        if not first:
            before = ClassMoments(
                self.class_count_, self.theta_, (self.var_ - self.epsilon_) * self.class_count_[:, None]
            )
        return self._learn(X, codes_among(classes, y), classes, weight, before)

    def _learn(self, X, codes, classes, weight, before):
        n_classes = classes.shape[0]
        priors = None if self.priors is None else given_priors(self.priors, n_classes)
        moments = class_moments(X, codes, n_classes, weight)
        require_squares(self, X, moments)
        every = (
            moments if weight is None else class_moments(X, np.zeros_like(codes), 1)
        )  # as scikit-learn: rows count 1
        epsilon = self.var_smoothing * (pooled_moments(every)[1].max() / X.shape[0])
        if before is not None:
            moments = merged_moments(before, moments)
        variance = moments.square / np.where(moments.count > 0, moments.count, 1.0)[:, None] + epsilon

        self.classes_ = classes
        self.class_count_ = moments.count
        self.class_prior_ = moments.count / moments.count.sum() if priors is None else priors
        self.theta_, self.var_, self.epsilon_ = moments.mean, variance, epsilon
        self.certificate_ = gaussian_certificate(moments, variance, epsilon)
        return self

    def _joint(self, X):
        X = check_design(self, X, accept_sparse=False, order="C", ensure_all_finite=False)
        variance = np.maximum(self.var_, SMALLEST_VARIANCE)
        return X, gaussian_diagonal_scores(X, self.theta_, variance, np.log(self.class_prior_))
