"""Outliers by density: rows that are much less crowded than their neighbours.

With N(x) the K nearest rows and r(y) the distance from y to its own K-th neighbour, the reachability of x from y is
``max(|x - y|, r(y))`` and the local density of x is the inverse of its mean over N(x).  The factor is the mean ratio of
the neighbours' densities and one's own: about 1 in a crowd, larger outside.  There is nothing to optimise.
"""

import warnings

import numpy as np

from hyperplan._base import Bool, Choice, OneOf, OutlierMixin, Real, available_if, check_is_fitted
from hyperplan.neighbors._nearest_base import COUNT, K_SEARCH_PARAMS, KNeighborsMixin, NeighborsBase

USUAL = -1.5  # of factors with the sign changed: below is an outlier
SMALL = 1e-10  # added to mean distances: duplicates have no density
SUSPICIOUS = -1e7


def _only_for(novelty, message):
    """A condition for `available_if`: the method exists for this value of `novelty` only."""

    def check(self):
        if self.novelty != novelty:
            raise AttributeError(message)
        return True

    return check


PREDICT = _only_for(
    True,
    "predict is not available when novelty=False, use fit_predict if you want to predict on training data. Use "
    "novelty=True if you want to use LOF for novelty detection and predict on new unseen data.",
)
DECIDE = _only_for(
    True,
    "decision_function is not available when novelty=False. Use novelty=True if you want to use LOF for novelty "
    "detection and compute decision_function for new unseen data. Note that the opposite LOF of the training samples "
    "is always available by considering the negative_outlier_factor_ attribute.",
)
SCORE = _only_for(
    True,
    "score_samples is not available when novelty=False. The scores of the training samples are always available "
    "through the negative_outlier_factor_ attribute. Use novelty=True if you want to use LOF for novelty detection and "
    "compute score_samples for new unseen data.",
)
FIT_PREDICT = _only_for(
    False,
    "fit_predict is not available when novelty=True. Use novelty=False if you want to predict on the training set.",
)


class LocalOutlierFactor(KNeighborsMixin, OutlierMixin, NeighborsBase):
    """Outliers by their density, compared with that of their neighbours.

    Parameters
    ----------
    n_neighbors : int, default=20
        K; at most one less than the number of rows is used.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute", "approximate"}, default="auto"
        How to search: in a tree, or all rows by products of matrices; or along a graph ("approximate").
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
    contamination : "auto" or float, default="auto"
        Share of outliers, which sets the threshold; "auto": a factor of 1.5.
    novelty : bool, default=False
        Whether new rows are to be judged; otherwise those of the fit.
    n_jobs : int, default=None
        Threads; None means all cores.

    Attributes
    ----------
    negative_outlier_factor_ : ndarray of shape (n_samples,)
        Factors of the rows of the fit with the sign changed: about -1 in a crowd.
    n_neighbors_ : int
        K in use.
    offset_ : float
        Threshold: lower is an outlier.
    effective_metric_ : str or callable
        Distance in use.
    effective_metric_params_ : dict
        Its parameters.
    n_samples_fit_ : int
        Rows of the fit.
    certificate_ : Certificate
        Only for ``algorithm="approximate"``: the share of neighbours that searches miss, measured on a sample.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Breunig, Kriegel, Ng, Sander (2000), LOF: identifying density-based local outliers, SIGMOD.

    Examples
    --------
    >>> from hyperplan.neighbors import LocalOutlierFactor
    >>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    """

    _params = {
        "n_neighbors": COUNT,
        **K_SEARCH_PARAMS,
        "contamination": OneOf(Choice("auto"), Real(gt=0, le=0.5)),
        "novelty": Bool,
    }

    def __init__(
        self,
        n_neighbors=20,
        *,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        contamination="auto",
        novelty=False,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.contamination = contamination
        self.novelty = novelty
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Compute the factors of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : ignored
            There for pipelines.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._fit(X)
        n = self.n_samples_fit_
        if self.n_neighbors > n:
            warnings.warn(
                f"n_neighbors ({self.n_neighbors}) is greater than the total number of samples ({n}). n_neighbors will "
                "be set to (n_samples - 1) for estimation.",
                stacklevel=2,
            )
        self.n_neighbors_ = max(1, min(self.n_neighbors, n - 1))
        distances, rows = self.kneighbors(n_neighbors=self.n_neighbors_)
        distances = self._narrow(distances, self._fit_X)
        self._radii = distances[:, -1].copy()
        self._lrd = self._density(distances, rows)
        self.negative_outlier_factor_ = self._factor(self._lrd, rows)
        self.offset_ = USUAL
        if self.contamination != "auto":
            self.offset_ = np.percentile(self.negative_outlier_factor_, 100.0 * self.contamination)
        if self.negative_outlier_factor_.min() < SUSPICIOUS and not self.novelty:
            warnings.warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more accurate "
                "results.",
                stacklevel=2,
            )
        return self

    def _narrow(self, distances, X):
        """Distances of the type of the table: factors are of the same type."""
        return distances.astype(np.float32) if X.dtype == np.float32 else distances

    def _density(self, distances, rows):
        return 1.0 / (np.maximum(distances, self._radii[rows]).mean(axis=1) + SMALL)

    def _factor(self, density, rows):
        return -np.mean(self._lrd[rows] / density[:, None], axis=1)

    @available_if(FIT_PREDICT)
    def fit_predict(self, X, y=None):
        """Fit, and say of each row whether it is an outlier (-1) or not (1).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored
            There for pipelines.

        Returns
        -------
        is_inlier : ndarray of shape (n_samples,)
            1 or -1.
        """
        return np.where(self.fit(X).negative_outlier_factor_ < self.offset_, -1, 1)

    @available_if(PREDICT)
    def predict(self, X=None):
        """Say of new rows whether they are outliers (-1) or not (1).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows; a row of the fit would be its own neighbour.

        Returns
        -------
        is_inlier : ndarray of shape (n_samples,)
            1 or -1.
        """
        check_is_fitted(self)
        if X is None:
            return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)
        return np.where(self.decision_function(X) < 0, -1, 1)

    @available_if(DECIDE)
    def decision_function(self, X):
        """Factors with the sign changed, shifted so that outliers are below zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows; a row of the fit would be its own neighbour.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The lower, the stranger.
        """
        return self.score_samples(X) - self.offset_

    @available_if(SCORE)
    def score_samples(self, X):
        """Factors with the sign changed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows; a row of the fit would be its own neighbour.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The lower, the stranger.
        """
        check_is_fitted(self)
        distances, rows = self.kneighbors(X, n_neighbors=self.n_neighbors_)
        distances = self._narrow(distances, X if hasattr(X, "dtype") else distances)
        return self._factor(self._density(distances, rows), rows)
