"""Regression by the nearest rows.

Rule: the weighted mean of the targets of the K nearest rows.  There is nothing to optimise.
"""

from hyperplan._base import RegressorMixin, check_is_fitted
from hyperplan.neighbors._k_neighbors_classifier import k_weights
from hyperplan.neighbors._nearest_base import COUNT, K_SEARCH_PARAMS, KNeighborsMixin, NeighborsBase
from hyperplan.neighbors._nearest_votes import WEIGHTS, as_lists, means_of


class KNeighborsRegressor(KNeighborsMixin, RegressorMixin, NeighborsBase):
    """Mean of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        K: small follows the noise, large flattens.
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
    Stone (1977), Consistent nonparametric regression, Annals of Statistics 5.

    Examples
    --------
    >>> from hyperplan.neighbors import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0.0, 0.0, 1.0, 1.0]).predict([[1.5]])
    array([0.5])
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
        """Keep the rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y)

    def predict(self, X):
        """Means of the targets of the neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), or None
            Rows, or their distances from those of the fit; None: the rows of the fit, none of which is its own
            neighbour (leave-one-out).

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Predictions.
        """
        check_is_fitted(self, "_fit_method")
        distances, rows = self.kneighbors(X)
        lists = as_lists(distances, rows)
        return means_of(self._y, lists, k_weights(distances, lists, self.weights), self.n_jobs)
