"""KD-trees and ball trees as objects of their own, with scikit-learn's methods."""

import numpy as np

from hyperplan._base import check_array
from hyperplan.neighbors._nearest_index import as_objects, count_within, make_index, nearest, within
from hyperplan.neighbors._nearest_metrics import VALID_METRICS, is_metric_object


class BinaryTree:
    """What KD-trees and ball trees share: they differ in the shape of their nodes only."""

    _method = ""
    valid_metrics: list[str] = []

    def __init__(self, data, leaf_size=40, metric="minkowski", sample_weight=None, **kwargs):
        self.data = check_array(data, dtype=np.float64, order="C")
        if leaf_size < 1:
            raise ValueError("leaf_size must be greater than or equal to 1")
        known = metric in self.valid_metrics if isinstance(metric, str) else self._method == "ball_tree"
        if not known and not is_metric_object(metric):
            raise ValueError(f"metric {metric} is not valid for {type(self).__name__}")
        if callable(metric):
            _check_function(metric, self.data, kwargs)
        if metric == "pyfunc":
            metric = kwargs.pop("func")
        self.leaf_size, self.metric = leaf_size, metric
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._index = make_index(self.data, metric, kwargs, self._method)

    def _queries(self, X):
        X = check_array(X, dtype=np.float64, order="C")
        if X.shape[1] != self.data.shape[1]:
            raise ValueError("query data dimension must match training data dimension")
        return X

    def query(self, X, k=1, return_distance=True, dualtree=False, breadth_first=False, sort_results=True):
        """The k nearest points.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        k : int, default=1
            How many neighbours.
        return_distance : bool, default=True
            Whether to return the distances.
        dualtree, breadth_first : bool, default=False
            Accepted for compatibility: queries are searched in groups of neighbouring ones, nearest nodes first.
        sort_results : bool, default=True
            Accepted for compatibility: lists are always sorted by distance, then number.

        Returns
        -------
        d : ndarray of shape (n_queries, k)
            Distances, if asked for.
        i : ndarray of shape (n_queries, k)
            Row numbers.
        """
        X = self._queries(X)
        if k > self.data.shape[0]:
            raise ValueError("k must be less than or equal to the number of training points")
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        found = nearest(self._index, X, int(k))
        return found if return_distance else found[1]

    def query_radius(self, X, r, return_distance=False, count_only=False, sort_results=False):
        """The points within a radius.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        r : float or array-like of shape (n_queries,)
            Radius, for all or for each query.
        return_distance : bool, default=False
            Whether to return the distances.
        count_only : bool, default=False
            Whether to return the numbers of points only.
        sort_results : bool, default=False
            Whether to sort by distance; otherwise lists are sorted by row number.

        Returns
        -------
        count : ndarray of shape (n_queries,)
            If ``count_only``.
        ind : ndarray of shape (n_queries,) of arrays
            Row numbers otherwise.
        dist : ndarray of shape (n_queries,) of arrays
            Distances, if asked for.
        """
        if count_only and return_distance:
            raise ValueError("count_only and return_distance cannot both be true")
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True")
        X, r = self._queries(X), np.asarray(r, dtype=np.float64)
        if r.size == 1:
            r = r.reshape(())
        elif r.shape != X.shape[:1]:
            raise ValueError("r must be broadcastable to X.shape")
        if count_only:
            return count_within(self._index, X, r)
        lists = within(self._index, X, r, sort_results)
        found = as_objects(lists.rows, lists.starts)
        return (found, as_objects(lists.distances, lists.starts)) if return_distance else found

    def two_point_correlation(self, X, r, dualtree=False):
        """How many pairs of a query and a point are within each of some distances.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        r : array-like
            Distances.
        dualtree : bool, default=False
            Accepted for compatibility.

        Returns
        -------
        counts : ndarray
            Number of pairs within each distance, in the shape of `r`.
        """
        X, r = self._queries(X), np.asarray(r, dtype=np.float64)
        counts = [int(count_within(self._index, X, radius).sum()) for radius in r.ravel()]
        return np.array(counts, dtype=np.intp).reshape(r.shape)

    def kernel_density(self, X, h, kernel="gaussian", atol=0, rtol=1e-8, breadth_first=True, return_log=False):
        """Sums of kernels around the points, each of integral one (divide by the number of points for a density).

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        h : float
            Bandwidth.
        kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
            Kernel.
        atol, rtol : float, default=0 and 1e-8
            What may be lost, absolutely and relatively.
        breadth_first : bool, default=True
            Accepted for compatibility.
        return_log : bool, default=False
            Whether to return logarithms.

        Returns
        -------
        density : ndarray of shape (n_queries,)
            Sums, or their logarithms.
        """
        from hyperplan._math.kernel_sums import kernel_sums, make_summands
        from hyperplan.neighbors._kernel_density import log_norm

        X, learnt = self._queries(X), self._index.learnt
        if learnt is None:
            raise ValueError(f"densities need a Minkowski distance, got metric={self.metric!r}")
        weight = np.ones(len(self.data)) if self.sample_weight is None else self.sample_weight
        norm = log_norm(kernel, self.data.shape[1], h)
        lost = {"rtol": rtol, "atol": atol * np.exp(-norm) / weight.sum()}
        sums = kernel_sums(make_summands(self.data, weight[:, None], learnt), X, kernel, h, **lost)
        with np.errstate(divide="ignore"):  # where no kernel reaches
            logarithm = np.log(sums.values[:, 0]) + sums.shift + norm
        return logarithm if return_log else np.exp(logarithm)


class KDTree(BinaryTree):
    """Points in a tree of boxes, for fast searches in few dimensions.

    Parameters
    ----------
    data : array-like of shape (n_samples, n_features)
        Points.
    leaf_size : int, default=40
        Accepted for compatibility: leaves hold 16 points, and answers do not depend on it.
    metric : str, default="minkowski"
        A Minkowski distance, see ``valid_metrics``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points in `kernel_density`.
    **kwargs : dict
        Parameters of the metric, such as ``p``.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points.

    Examples
    --------
    >>> from hyperplan.neighbors import KDTree
    >>> tree = KDTree([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    >>> tree.query([[0.8, 0.0]], k=2)[1]
    array([[1, 0]])
    >>> tree.query_radius([[0.8, 0.0]], r=1.0, count_only=True)
    array([2])
    """

    _method = "kd_tree"
    valid_metrics = VALID_METRICS["kd_tree"]


class BallTree(BinaryTree):
    """Points in a tree of balls, for more distances than a `KDTree` takes.

    Minkowski distances (also with weights), standardised and Mahalanobis ones are searched in a tree of balls, great
    circles ("haversine") in a tree of boxes in space; the others, which nothing bounds cheaply, exhaustively.

    Parameters
    ----------
    data : array-like of shape (n_samples, n_features)
        Points.
    leaf_size : int, default=40
        Accepted for compatibility: leaves hold 16 points, and answers do not depend on it.
    metric : str or callable, default="minkowski"
        A distance, see ``valid_metrics``, or a function of two rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points in `kernel_density`.
    **kwargs : dict
        Parameters of the metric.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The points.

    Examples
    --------
    >>> from hyperplan.neighbors import BallTree
    >>> import numpy as np
    >>> cities = np.radians([[48.86, 2.35], [45.76, 4.84], [43.30, 5.37]])  # Paris, Lyon, Marseille
    >>> distances, _ = BallTree(cities, metric="haversine").query(cities[:1], k=2)
    >>> (6371 * distances).round()
    array([[  0., 392.]])
    """

    _method = "ball_tree"
    valid_metrics = VALID_METRICS["ball_tree"]


def _check_function(metric, data, options):
    value = metric(data[0], data[min(1, len(data) - 1)], **options)
    try:
        float(value + 0.0)
    except TypeError:
        raise TypeError("Custom distance function must accept two vectors and return a float.") from None
