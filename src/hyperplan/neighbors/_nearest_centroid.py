"""Classification by the nearest centroid.

Each class is represented by the point with the least sum of squared distances to its rows (the mean), or of Manhattan
distances (the medians of the columns); both are computed, not searched for.  Shrunken centroids: with d_kj the
difference between the mean of class k and the mean of all in column j, in units of its standard error,

    d_kj = (m_kj - m_j) / (sqrt(1/n_k - 1/n) (s_j + median(s)))

differences below a threshold become zero and the others move towards zero by it: columns that tell no class apart
drop out.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from hyperplan._base import (
    BaseEstimator,
    Choice,
    ClassifierMixin,
    Is,
    Null,
    OneOf,
    Real,
    available_if,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._core.parallel import spans
from hyperplan.metrics import pairwise_distances, pairwise_distances_argmin

ROWS, COLUMNS = 4096, 256  # of sparse data that are made dense at a time


def class_centroids(X, codes, n_classes, metric):
    """Means of the classes, or medians of their columns."""
    centroids = np.empty((n_classes, X.shape[1]))
    for label in range(n_classes):
        some = X[np.flatnonzero(codes == label)]
        if metric == "euclidean":
            centroids[label] = np.asarray(some.mean(axis=0, dtype=np.float64)).ravel()
        elif not sp.issparse(some):
            centroids[label] = np.median(some, axis=0)
        else:
            for part in spans(X.shape[1], COLUMNS):
                centroids[label, part] = np.median(some[:, part].toarray(), axis=0)
    return centroids


def within_class_deviation(X, codes, centroids):
    """Pooled standard deviation of each column around the centroids; squares neither overflow nor vanish."""
    n, total = X.shape[0], np.zeros(X.shape[1])
    scale = max(float(abs(X).max()), np.finfo(np.float64).tiny)
    for part in spans(n, ROWS):
        rows = X[part].toarray() if sp.issparse(X) else X[part]
        total += ((rows / scale - centroids[codes[part]] / scale) ** 2).sum(axis=0)
    return scale * np.sqrt(total / max(n - len(centroids), 1))


def _is_euclidean(self):
    return self.metric == "euclidean"


class NearestCentroid(ClassifierMixin, BaseEstimator):
    """Class of the nearest centroid.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance: centroids are means, or medians of the columns.
    shrink_threshold : float, default=None
        By how many standard errors centroids move towards the mean of all; None: not at all.
    priors : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        Probabilities of the classes.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes, n_features)
        Centroids.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    deviations_ : ndarray of shape (n_classes, n_features)
        Differences from the mean of all, in standard errors, after shrinking.
    within_class_std_dev_ : ndarray of shape (n_features,)
        Pooled standard deviations.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Tibshirani, Hastie, Narasimhan, Chu (2002), Diagnosis of multiple cancer types by shrunken centroids of gene
    expression, PNAS 99.

    Examples
    --------
    >>> from hyperplan.neighbors import NearestCentroid
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> NearestCentroid().fit(X, list("aaabbb")).predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    """

    _params = {
        "metric": Choice("manhattan", "euclidean"),
        "shrink_threshold": OneOf(Real(gt=0), Null),
        "priors": OneOf(
            Is(lambda value: hasattr(value, "__len__") and not isinstance(value, str | dict), "an array-like"),
            Choice("empirical", "uniform"),
        ),
    }

    def __init__(self, metric="euclidean", *, shrink_threshold=None, priors="uniform"):
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    def fit(self, X, y):
        """Compute the centroids.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X, y, _ = check_training(self, X, y, accept_sparse="csr")
        labels = encode_labels(y, min_classes=1)
        n_classes = len(labels.classes)
        if n_classes < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {n_classes} class")
        # 3. maths
        prior = self._check_priors(labels)
        centroids = class_centroids(X, labels.codes, n_classes, self.metric)
        deviation = within_class_deviation(X, labels.codes, centroids)
        self._check_spread(X, deviation)
        middle = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        counts = np.bincount(labels.codes)
        errors = np.sqrt(1.0 / counts - 1.0 / len(labels.codes))[:, None] * (deviation + np.median(deviation))
        with np.errstate(divide="ignore", invalid="ignore"):  # columns without spread: 0 / 0
            moved = np.nan_to_num((centroids - middle) / errors, nan=0.0)
        if self.shrink_threshold:
            moved = np.sign(moved) * np.maximum(np.abs(moved) - self.shrink_threshold, 0.0)
            centroids = middle + errors * moved
        # 4. attributes
        self.classes_, self.class_prior_ = labels.classes, prior
        self.centroids_, self.deviations_, self.within_class_std_dev_ = centroids, moved, deviation
        return self

    def _check_priors(self, labels):
        n_classes = len(labels.classes)
        if isinstance(self.priors, str):
            counts = np.bincount(labels.codes) if self.priors == "empirical" else np.ones(n_classes)
            return counts / counts.sum()
        prior = np.asarray(self.priors, dtype=np.float64)
        if (prior < 0).any():
            raise ValueError("priors must be non-negative")
        if prior.shape != (n_classes,):
            raise ValueError(f"priors must have one entry for each of the {n_classes} classes, got shape {prior.shape}")
        if not np.isclose(prior.sum(), 1.0):
            warnings.warn("The priors do not sum to 1. Normalizing such that it sums to one.", stacklevel=3)
            prior = prior / prior.sum()
        return prior

    def _check_spread(self, X, deviation):
        if (deviation == 0).any():
            warnings.warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation.Inputs within the same classes for "
                "at least 1 feature are identical.",
                stacklevel=3,
            )
            low, high = X.min(axis=0), X.max(axis=0)
            low, high = (np.asarray(v.toarray() if sp.issparse(v) else v).ravel() for v in (low, high))
            if (low == high).all():
                raise ValueError("All features have zero variance. Division by zero.")

    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        if np.isclose(self.class_prior_, 1 / len(self.classes_)).all():
            X = check_design(self, X, accept_sparse="csr")
            return self.classes_[pairwise_distances_argmin(X, self.centroids_, metric=self.metric)]
        return self.classes_[self._scores(X).argmax(axis=1)]

    def _scores(self, X):
        """Minus the squared standardised distance plus twice the log prior."""
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr", dtype=np.float64)
        scale = np.where(self.within_class_std_dev_ != 0, self.within_class_std_dev_, 1.0)
        X = sp.csr_array(X) @ sp.diags_array(1.0 / scale) if sp.issparse(X) else X / scale
        distances = pairwise_distances(X, self.centroids_ / scale, metric=self.metric)
        with np.errstate(divide="ignore"):
            return -(distances**2) + 2.0 * np.log(self.class_prior_)

    @available_if(_is_euclidean)
    def decision_function(self, X):
        """Scores of the classes; for two classes the difference of the second and the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Minus squared distances in units of the standard deviations, plus twice the log of the prior.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(_is_euclidean)
    def predict_log_proba(self, X):
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        scores = self._scores(X)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    @available_if(_is_euclidean)
    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return np.exp(self.predict_log_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
