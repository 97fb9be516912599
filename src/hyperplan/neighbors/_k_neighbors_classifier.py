"""Classification by the nearest rows.

Rule: the class with the largest total weight among the K nearest rows; of equal totals the first class in order.  There
is nothing to optimise.
"""

import numpy as np

from hyperplan._base import ClassifierMixin, check_is_fitted
from hyperplan.neighbors._nearest_base import COUNT, K_SEARCH_PARAMS, KNeighborsMixin, NeighborsBase
from hyperplan.neighbors._nearest_votes import (
    NO_WEIGHTS,
    WEIGHTS,
    as_lists,
    check_some_weight,
    inverse_distances,
    votes_of,
)


def k_weights(distances, lists, weights):
    """Weights of neighbours in equal numbers, one after the other; an empty array when each counts one."""
    if weights in (None, "uniform"):
        return NO_WEIGHTS
    if weights == "distance":
        return inverse_distances(lists)
    return np.ascontiguousarray(np.ravel(weights(distances)), dtype=np.float64)


class KNeighborsClassifier(KNeighborsMixin, ClassifierMixin, NeighborsBase):
    """Majority of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        K: small follows the noise, large blurs the borders.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a neighbour counts: one, the inverse of its distance (rows at distance zero then count alone), or a
        function of the array of distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute", "approximate"}, default="auto"
        How to search: in a tree, or all rows by products of matrices, with the same answers; or along a graph, which
        takes long to make, suits very many rows and queries, and misses the share that `certificate_` estimates.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    p : float, default=2
        Power of the Minkowski distance.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    metric_params : dict, default=None
        More parameters of the distance: ``w``, ``V``, ``VI``, or those of a function.
    n_jobs : int, default=None
        Threads; None means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        Labels, for each target.
    effective_metric_ : str or callable
        Distance in use.
    effective_metric_params_ : dict
        Its parameters.
    n_samples_fit_ : int
        Rows of the fit.
    outputs_2d_ : bool
        Whether there are several targets.
    certificate_ : Certificate
        Only for ``algorithm="approximate"``: the share of neighbours that searches miss, measured on a sample.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    Notes
    -----
    The rule is consistent if K grows and K / n vanishes (Stone 1977), at a speed that may be arbitrarily slow.

    References
    ----------
    Cover, Hart (1967), Nearest neighbor pattern classification, IEEE Transactions on Information Theory 13.
    Stone (1977), Consistent nonparametric regression, Annals of Statistics 5.

    Examples
    --------
    >>> from hyperplan.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1]])
    array(['a'], dtype='<U1')
    >>> model.predict_proba([[0.9]]).round(2)
    array([[0.67, 0.33]])
    """

    _params = {"n_neighbors": COUNT, "weights": WEIGHTS, **K_SEARCH_PARAMS}

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Keep the rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y)

    def _votes(self, X):
        """Votes for each target."""
        check_is_fitted(self, "_fit_method")
        distances, rows = self.kneighbors(X)
        lists = as_lists(distances, rows)
        weights = k_weights(distances, lists, self.weights)
        if weights is not NO_WEIGHTS:
            check_some_weight(lists, weights)
        codes, classes = (self._y.T, self.classes_) if self.outputs_2d_ else ([self._y], [self.classes_])
        return [votes_of(column, len(some), lists, weights, self.n_jobs) for column, some in zip(codes, classes)]

    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), or None
            Rows, or their distances from those of the fit; None: the rows of the fit, none of which is its own
            neighbour (leave-one-out).

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Labels.
        """
        votes = self._votes(X)
        if not self.outputs_2d_:
            return self.classes_[votes[0].argmax(axis=1)]
        found = np.empty((votes[0].shape[0], len(votes)), dtype=self.classes_[0].dtype)
        for target, (some, classes) in enumerate(zip(votes, self.classes_)):
            found[:, target] = classes[some.argmax(axis=1)]
        return found

    def predict_proba(self, X):
        """Shares of the classes among the neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), or None
            Rows, or their distances from those of the fit; None: the rows of the fit, none of which is its own
            neighbour (leave-one-out).

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes), or a list of them
            Probabilities, for each target.
        """
        shares = [votes / votes.sum(axis=1, keepdims=True) for votes in self._votes(X)]
        return shares if self.outputs_2d_ else shares[0]

    def score(self, X, y, sample_weight=None):
        """Mean accuracy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or None
            Rows; None: those of the fit, by leave-one-out.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        score : float
            Share of the rows that are right.
        """
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
