"""Naive Bayes for counts: multinomial, complement and Bernoulli.

All three are closed forms of the sums of the rows of each class, which one pass over the rows gives; `alpha` is the
prior count of every event (a Dirichlet or Beta prior; its posterior mean is what is stored).
"""

import warnings
from numbers import Real as RealNumber
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Null,
    OneOf,
    Real,
    check_design,
    check_finite,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._math.class_moments import class_totals
from hyperplan._math.class_scores import dot_scores
from hyperplan.naive_bayes._common import (
    NaiveBayesMixin,
    classes_of_call,
    closed_form_certificate,
    codes_among,
    finite_logs,
    log_priors,
)

SMALLEST_ALPHA = 1e-10
ROUNDING = 1e-8  # what rounding may leave of "probabilities add up to one"


def checked_alpha(estimator):
    """The smoothing as a number or one per column, at least 1e-10 unless `force_alpha`."""
    alpha = estimator.alpha
    if not isinstance(alpha, RealNumber):
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape[0] != estimator.n_features_in_:
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {estimator.n_features_in_}."
            )
        if alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
    if np.min(alpha) < SMALLEST_ALPHA and not estimator.force_alpha:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged.",
            stacklevel=4,
        )
        return np.maximum(alpha, SMALLEST_ALPHA)
    return alpha


def checked_log_prior(estimator, class_count):
    """Logarithms of the given, learned or uniform priors."""
    n_classes = class_count.shape[0]
    if estimator.class_prior is not None:
        if len(estimator.class_prior) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        with np.errstate(divide="ignore"):
            return np.log(estimator.class_prior)
    return log_priors(class_count) if estimator.fit_prior else np.full(n_classes, -np.log(n_classes))


def refuse_negative(estimator, X):
    """The error about counts below zero, with the place of the first."""
    entries = X.tocoo() if sp.issparse(X) else None
    if entries is None:
        row, column = np.argwhere(X < 0)[0]
        value = X[row, column]
    else:
        first = np.flatnonzero(entries.data < 0)[0]
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    name = type(estimator).__name__
    raise ValueError(
        f"Negative values in data passed to {name} (input X): row {row}, column {column} has {value:g}. "
        f"{name} takes counts; use GaussianNB for numbers of both signs."
    )


class DiscreteNaiveBayes(NaiveBayesMixin, BaseEstimator):
    """`fit` and `partial_fit` of the classifiers that count events; not public."""

    _above: Any = None  # count entries above this number instead of adding them up
    _counts_only = True

    def fit(self, X, y, sample_weight=None):
        """Count the events of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
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
        X, y, weight = self._checked(X, y, sample_weight)
        labels = encode_labels(y, min_classes=1)
        # 3. maths, 4. attributes
        return self._learn(X, labels.codes, labels.classes, weight, first=True)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Count the events of further rows, as if all had been there from the start.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
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
        X, y, weight = self._checked(X, y, sample_weight, reset=first)
        return self._learn(X, codes_among(classes, y), classes, weight, first)

    def _checked(self, X, y, sample_weight, **options):
        return check_training(
            self, X, y, sample_weight, accept_sparse="csr", order="C", ensure_all_finite=False, **options
        )

    def _learn(self, X, codes, classes, weight, first):
        totals = class_totals(X, codes, classes.shape[0], weight, above=self._above)
        if not totals.finite:
            check_finite(self, X)
        if self._counts_only and totals.negative:
            refuse_negative(self, X)
        count, total = totals.count, totals.total
        if not first:
            count, total = self.class_count_ + count, self.feature_count_ + total
        log_prior = checked_log_prior(self, count)
        fitted = self._tables(count, total, checked_alpha(self))

        self.classes_, self.class_count_, self.feature_count_ = classes, count, total
        self.class_log_prior_ = log_prior
        self.__dict__.update(fitted)
        return self

    def _joint(self, X):
        X = check_design(self, X, accept_sparse="csr", order="C", ensure_all_finite=False)
        coef, constant = self._linear()
        if not sp.issparse(X):
            return X, dot_scores(X, coef, constant, above=self._above)
        rows = X
        if self._above is not None:
            rows = X.copy()
            rows.data = (rows.data > self._above) + 0.0 * rows.data  # the last term spreads NaN
        return X, np.asarray(rows @ coef.T) + constant

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._counts_only
        tags.classifier_tags.poor_score = True
        return tags


COUNT_PARAMS = {
    "alpha": OneOf(Real(ge=0), ArrayLike),
    "force_alpha": Bool,
    "fit_prior": Bool,
    "class_prior": OneOf(ArrayLike, Null),
}


def _logs(values):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values)


def _sum_certificate(log_probability, what):
    """Probabilities of a class add up to one: the equation that Lagrange's multiplier of the maximum stands for."""
    error = np.abs(np.exp(log_probability).sum(axis=1) - 1.0).max()
    return closed_form_certificate(
        f"smoothed shares of {what} are the posterior means under the prior of alpha counts (maximum likelihood for "
        f"alpha = 0); they add up to one within {error:.2g}",
        error,
        ROUNDING,
    )


class MultinomialNB(DiscreteNaiveBayes):
    """Naive Bayes for counts, such as words of a text: a row is a draw of events with the probabilities of its class.

    ``P(row | class k) ~ prod_j p_kj^x_j`` with ``p_kj = (N_kj + alpha_j) / sum_j (N_kj + alpha_j)``, N_kj the sum of
    column j over the rows of class k: a closed form, without iterations.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Prior count of each event (Laplace's or Lidstone's smoothing).
    force_alpha : bool, default=True
        Keep an alpha below 1e-10 as it is.
    fit_prior : bool, default=True
        Learn the priors; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the priors.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Counts of the events by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of their probabilities.
    certificate_ : Certificate
        Closed form; the rounding of the probabilities.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Manning, Raghavan, Schuetze (2008), Introduction to Information Retrieval, chapter 13.

    Examples
    --------
    >>> from hyperplan.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [2, 1, 0], [0, 4, 1], [0, 3, 3]], ["tea", "tea", "tin", "tin"])
    >>> model.predict([[1, 0, 0], [0, 2, 1]])
    array(['tea', 'tin'], dtype='<U3')
    """

    _params = COUNT_PARAMS

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _tables(self, count, total, alpha):
        smoothed = total + alpha
        log_probability = _logs(smoothed) - _logs(smoothed.sum(axis=1, keepdims=True))
        return {"feature_log_prob_": log_probability, "certificate_": _sum_certificate(log_probability, "events")}

    def _linear(self):
        return finite_logs(self.feature_log_prob_), self.class_log_prior_


class ComplementNB(DiscreteNaiveBayes):
    """Naive Bayes for counts of uneven classes: each class is judged by the events of all others.

    ``w_kj = -log p_kj`` with ``p_kj`` the smoothed share of event j in the rows that are *not* of class k; the class of
    the largest ``sum_j x_j w_kj`` wins.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Prior count of each event.
    force_alpha : bool, default=True
        Keep an alpha below 1e-10 as it is.
    fit_prior : bool, default=True
        Only used when there is one class.
    class_prior : array-like of shape (n_classes,), default=None
        Accepted for compatibility, not used.
    norm : bool, default=False
        Divide the weights of a class by their sum.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the priors.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    feature_all_ : ndarray of shape (n_features,)
        Counts of the events in all classes.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Counts of the events by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The weights.
    certificate_ : Certificate
        Closed form; the rounding of the probabilities.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Rennie, Shih, Teevan, Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers.

    Examples
    --------
    >>> from hyperplan.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[3, 0, 1], [2, 1, 0], [0, 4, 1], [0, 3, 3]], ["tea", "tea", "tin", "tin"])
    >>> model.predict([[1, 0, 0], [0, 2, 1]])
    array(['tea', 'tin'], dtype='<U3')
    """

    _params = {**COUNT_PARAMS, "norm": Bool}

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _tables(self, count, total, alpha):
        everywhere = total.sum(axis=0)
        elsewhere = everywhere + alpha - total
        with np.errstate(invalid="ignore"):
            logs = _logs(elsewhere / elsewhere.sum(axis=1, keepdims=True))
        weights = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        certificate = _sum_certificate(logs, "events outside each class")
        return {"feature_all_": everywhere, "feature_log_prob_": weights, "certificate_": certificate}

    def _linear(self):
        one_class = self.classes_.shape[0] == 1
        weights = -finite_logs(-self.feature_log_prob_)
        return weights, self.class_log_prior_ if one_class else np.zeros(self.classes_.shape[0])


class BernoulliNB(DiscreteNaiveBayes):
    """Naive Bayes for yes and no: given the class, columns are independent coins.

    ``P(row | class k) = prod_j p_kj^b_j (1 - p_kj)^(1 - b_j)`` with ``b_j = x_j > binarize`` and
    ``p_kj = (N_kj + alpha_j) / (N_k + 2 alpha_j)``: a closed form, without iterations.  Unlike in `MultinomialNB`,
    absence counts.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Prior count of each outcome of each coin.
    force_alpha : bool, default=True
        Keep an alpha below 1e-10 as it is.
    binarize : float or None, default=0.0
        Threshold above which an entry is a yes; None takes X as it is, of zeros and ones.
    fit_prior : bool, default=True
        Learn the priors; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the priors.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Counts of yes by class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities of yes.
    certificate_ : Certificate
        Closed form; the rounding of the probabilities.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Manning, Raghavan, Schuetze (2008), Introduction to Information Retrieval, section 13.3.

    Examples
    --------
    >>> from hyperplan.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["spam", "spam", "ham", "ham"])
    >>> model.predict([[1, 1], [0, 0]])
    array(['spam', 'ham'], dtype='<U4')
    """

    _params = {**COUNT_PARAMS, "binarize": OneOf(Null, Real(ge=0))}
    _counts_only = False

    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def _above(self):
        return None if self.binarize is None else float(self.binarize)

    def _tables(self, count, total, alpha):
        shape = total.shape
        yes, both = total + alpha, np.broadcast_to(count[:, None] + 2 * np.asarray(alpha), shape)
        log_yes = _logs(yes) - _logs(both)
        with np.errstate(invalid="ignore", divide="ignore"):
            no = (count[:, None] - total + alpha) / both
            error = np.abs(np.exp(log_yes) + no - 1.0)
        certificate = closed_form_certificate(
            "smoothed shares of yes are the posterior means under the prior of alpha counts (maximum likelihood for "
            "alpha = 0); yes and no add up to one",
            np.max(error, where=both > 0, initial=0.0),
            ROUNDING,
        )
        return {"feature_log_prob_": log_yes, "certificate_": certificate}

    def _linear(self):
        with np.errstate(divide="ignore"):
            log_no = np.log1p(-np.exp(self.feature_log_prob_))
        log_yes, log_no = finite_logs(self.feature_log_prob_), finite_logs(log_no)
        return log_yes - log_no, self.class_log_prior_ + log_no.sum(axis=1)
