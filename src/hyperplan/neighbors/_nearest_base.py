"""What all estimators of neighbours share: the table they keep, the choice of a search, and the searches."""

import warnings
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Choice,
    DataConversionWarning,
    Int,
    Is,
    Jobs,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    check_array,
    check_classification_targets,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    get_config,
    is_classifier,
)
from hyperplan._math.space_tree import Lists
from hyperplan.neighbors._nearest_index import Index, as_objects, make_index, nearest, recall_of, tree_pays, within
from hyperplan.neighbors._nearest_metrics import (
    ALL_METRICS,
    VALID_METRICS,
    VALID_METRICS_SPARSE,
    check_metric,
    effective_metric,
    is_metric_object,
)
from hyperplan.neighbors._trees import BallTree, KDTree

MANY_COLUMNS = 15  # above which exhaustive search is faster than a tree
ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
SEARCH_PARAMS = {
    "algorithm": Choice(*ALGORITHMS),
    "leaf_size": Int(ge=1),
    "p": OneOf(Real(gt=0), Null),
    "metric": OneOf(
        Choice(*ALL_METRICS), Is(callable, "a callable"), Is(is_metric_object, "an instance of 'DistanceMetric'")
    ),
    "metric_params": OneOf(Is(lambda value: isinstance(value, dict), "an instance of 'dict'"), Null),
    "n_jobs": Jobs,
}
K_SEARCH_PARAMS = {**SEARCH_PARAMS, "algorithm": Choice(*ALGORITHMS, "approximate")}
COUNT, RADIUS = OneOf(Int(ge=1), Null), OneOf(Real(ge=0), Null)


class NeighborsBase(MultiOutputMixin, BaseEstimator):
    """Keeps a table, ready to be searched."""

    @property
    def _fit_X(self):
        return self._index.X

    def _fit(self, X, y=None):
        # 1. parameters
        check_params(self)
        # 2. data
        given = isinstance(X, (KDTree, BallTree, NeighborsBase))
        X, y = self._check_data(X, y, given)
        # 3. maths: nothing but sorting the rows into a tree
        check_metric(self.metric, self.algorithm)
        if self.metric_params is not None and "p" in self.metric_params and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=3,
            )
        self.effective_metric_, self.effective_metric_params_ = effective_metric(
            self.metric, self.p, self.metric_params
        )
        # 4. attributes
        if given:
            self._adopt(X)
        else:
            self._fit_method = self._choose_method(X)
            options = {key: value for key, value in self.effective_metric_params_.items() if value is not None}
            self._index = make_index(X, self.effective_metric_, options, self._fit_method, self.n_jobs)
            self.n_samples_fit_ = X.shape[0]
            count = getattr(self, "n_neighbors", None)
            if self.algorithm == "auto" and count is not None and not tree_pays(self._index, count):
                self._fit_method, self._index = "brute", self._index._replace(tree=None)
        self.__dict__.pop("certificate_", None)  # exact searches have nothing to certify
        if self._fit_method == "approximate":
            self.certificate_ = recall_of(self._index, getattr(self, "n_neighbors", None), self.n_jobs)
        if y is not None:
            self._keep_targets(y)
        return self

    def _check_data(self, X, y, given):
        """Checked table and targets; targets are None for estimators that have none."""
        tags = self.__sklearn_tags__()
        if given:
            return X, None if y is None or not tags.target_tags.required else np.asarray(y)
        finite = "allow-nan" if tags.input_tags.allow_nan else True
        options = {"accept_sparse": "csr", "order": "C", "ensure_all_finite": finite}
        if tags.target_tags.required:
            X, y, _ = check_training(self, X, y, multi_output=True, y_numeric=not is_classifier(self), **options)
        else:
            X, y = check_design(self, X, reset=True, **options), None
        if self.metric == "precomputed":
            X = check_distances(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        return X, y

    def _adopt(self, other):
        """Take over the table of a tree, or of another estimator."""
        self._index = other._index
        if isinstance(other, NeighborsBase):
            self._fit_method = other._fit_method
        else:
            self._fit_method = "ball_tree" if isinstance(other, BallTree) else "kd_tree"
        self.n_samples_fit_, self.n_features_in_ = self._index.X.shape

    def _choose_method(self, X):
        """The search that `algorithm` asks for; "auto" looks at the metric and the shape."""
        metric, method = self.effective_metric_, self.algorithm
        is_weak = metric == "minkowski" and self.effective_metric_params_["p"] < 1
        if sp.issparse(X):
            if method not in ("auto", "brute"):
                warnings.warn("cannot use tree with sparse input: using brute force", stacklevel=4)
            if isinstance(metric, str) and metric not in VALID_METRICS_SPARSE["brute"]:
                raise ValueError(
                    f"Metric '{metric}' not valid for sparse input. Use sorted(hyperplan.neighbors."
                    "VALID_METRICS_SPARSE['brute']) to get valid options. Metric can also be a callable function."
                )
            return "brute"
        if method == "auto":
            method = "brute" if is_weak else self._fastest_method(X)
        if is_weak and method == "brute":
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`.",
                stacklevel=4,
            )
        elif is_weak:
            raise ValueError(
                f'algorithm="{method}" does not support 0 < p < 1 for the Minkowski metric. To resolve this problem '
                'either set p >= 1 or algorithm="brute".'
            )
        if method == "kd_tree" and self.effective_metric_params_.get("w") is not None:
            raise ValueError(
                "algorithm='kd_tree' is not valid for metric='minkowski' with a weight parameter 'w': try "
                "algorithm='ball_tree' or algorithm='brute' instead."
            )
        return method

    def _fastest_method(self, X):
        metric, count = self.effective_metric_, getattr(self, "n_neighbors", None)
        if metric == "precomputed" or X.shape[1] > MANY_COLUMNS:
            return "brute"
        if count is not None and count >= X.shape[0] // 2:
            return "brute"
        if self.effective_metric_params_.get("w") is not None:
            return "ball_tree"
        if isinstance(metric, str) and metric in VALID_METRICS["kd_tree"]:
            return "kd_tree"
        return "ball_tree" if not isinstance(metric, str) or metric in VALID_METRICS["ball_tree"] else "brute"

    def _keep_targets(self, y):
        if not is_classifier(self):
            self._y = np.asarray(y)
            return
        self.outputs_2d_ = y.ndim > 1 and y.shape[1] > 1
        if y.ndim > 1 and not self.outputs_2d_:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
        check_classification_targets(y)
        columns = [np.unique(column, return_inverse=True) for column in np.reshape(y, (len(y), -1)).T]
        codes = np.column_stack([codes for _, codes in columns]).astype(np.intp, copy=False)
        classes = [classes for classes, _ in columns]
        self.classes_, self._y = (classes, codes) if self.outputs_2d_ else (classes[0], codes[:, 0])

    def _queries(self, X):
        """Checked rows to search for; None stands for the rows of the fit."""
        if X is None:
            return self._fit_X
        if self.metric == "precomputed":
            if self._index.metric != "precomputed":
                raise ValueError("metric='precomputed' cannot search in a tree that was grown over rows.")
            distances = check_distances(X)
            if distances.shape[1] != self.n_samples_fit_:
                raise ValueError(
                    f"Precomputed metric requires shape (n_queries, n_indexed). Got {distances.shape} for "
                    f"{self.n_samples_fit_} indexed."
                )
            return distances
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        Q = check_design(self, X, accept_sparse="csr", order="C", ensure_all_finite=finite)
        if sp.issparse(Q) and self._fit_method != "brute":
            raise ValueError(
                f"{self._fit_method} does not work with sparse matrices. Densify the data, or set algorithm='brute'"
            )
        return Q

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags


def check_distances(X):
    """A matrix of distances: dense, or a sparse one whose rows are sorted by value."""
    if not sp.issparse(X):
        return check_array(X, ensure_non_negative=True, input_name="X")
    from hyperplan._base.neighbors import sort_graph_by_row_values

    if X.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros")
    is_copy = X.format != "csr"
    X = check_array(X, accept_sparse="csr", ensure_non_negative=True, input_name="precomputed distance matrix")
    return sort_graph_by_row_values(X, copy=not is_copy, warn_when_not_sorted=True)


def nearest_in_graph(graph, n_neighbors):
    """The first entries of each row of a sparse matrix of distances that is sorted by value."""
    counts = np.diff(graph.indptr)
    if counts.min() < n_neighbors:
        raise ValueError(
            f"{n_neighbors} neighbors per samples are required, but some samples have only {counts.min()} neighbors in "
            "precomputed graph matrix. Decrease number of neighbors used or recompute the graph with more neighbors."
        )
    places = graph.indptr[:-1, None] + np.arange(n_neighbors)
    return graph.data[places], graph.indices[places].astype(np.int64)


def within_in_graph(graph, radius) -> Lists:
    """The entries of each row of a sparse matrix of distances that are within a radius."""
    kept = graph.data <= radius
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.indptr].astype(np.int64)
    return Lists(starts, graph.indices[kept].astype(np.int64), graph.data[kept])


def sparse_rows(values, columns, starts, n_columns):
    """A CSR matrix of the kind that scikit-learn's configuration asks for."""
    make = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    return make((values, columns, starts), shape=(len(starts) - 1, n_columns))


def check_mode(mode):
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def without_self(distances, rows):
    """Drop each query from its own list; where duplicates have crowded it out, drop the first of them."""
    others = rows != np.arange(rows.shape[0])[:, None]
    others[others.all(axis=1), 0] = False
    shape = (rows.shape[0], rows.shape[1] - 1)
    return distances[others].reshape(shape), rows[others].reshape(shape)


class KNeighborsMixin:
    """Searches for a number of neighbours."""

    _index: Index

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The nearest rows of the fit, sorted by distance; ties go to the smaller row number.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries; for ``metric="precomputed"`` their distances from the rows of the fit.  None: the rows of the fit,
            none of which is its own neighbour.
        n_neighbors : int, default=None
            How many; None: as many as the constructor was told.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Distances, if asked for.
        neigh_ind : ndarray of shape (n_queries, n_neighbors)
            Row numbers.
        """
        check_is_fitted(self)
        n_neighbors = self.n_neighbors if n_neighbors is None else n_neighbors
        if n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        if not isinstance(n_neighbors, Integral):
            raise TypeError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value")
        Q, asked = self._queries(X), int(n_neighbors) + (X is None)
        if asked > self.n_samples_fit_:
            sign = "<" if X is None else "<="
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {n_neighbors}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {Q.shape[0]}"
            )
        if self.metric == "precomputed" and sp.issparse(Q):
            found = nearest_in_graph(Q, asked)
        else:
            found = nearest(self._index, Q, asked, self.n_jobs)
        found = without_self(*found) if X is None else found
        return found if return_distance else found[1]

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The neighbours as a sparse matrix with a row per query and a column per row of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries, as for `kneighbors`.
        n_neighbors : int, default=None
            How many; None: as many as the constructor was told.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether the entries are ones or distances.

        Returns
        -------
        A : sparse matrix of shape (n_queries, n_samples_fit)
            In CSR format.
        """
        check_is_fitted(self)
        check_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        values = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return sparse_rows(values, rows.ravel(), starts, self.n_samples_fit_)


class RadiusNeighborsMixin:
    """Searches for all neighbours within a radius."""

    _index: Index

    def _lists_within(self, X, radius=None, by_distance=False) -> Lists:
        """Rows within a radius as one array with the places where the lists begin."""
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        Q = self._queries(X)
        if np.ndim(radius) > 0 and np.shape(radius) != Q.shape[:1]:
            raise ValueError(f"radius must be a number or have one entry per row, got shape {np.shape(radius)}")
        if self.metric == "precomputed" and sp.issparse(Q):
            lists = within_in_graph(Q, radius)
        else:
            lists = within(self._index, Q, radius, by_distance, self.n_jobs)
        if X is not None:
            return lists
        queries = np.repeat(np.arange(Q.shape[0]), np.diff(lists.starts))
        kept = lists.rows != queries
        starts = np.concatenate([[0], np.cumsum(np.bincount(queries[kept], minlength=Q.shape[0]))])
        return Lists(starts.astype(np.int64), lists.rows[kept], lists.distances[kept])

    def radius_neighbors(self, X=None, radius=None, return_distance=True, sort_results=False):
        """The rows of the fit within a radius of each query, those at exactly that distance included.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries; for ``metric="precomputed"`` their distances from the rows of the fit.  None: the rows of the fit,
            none of which is its own neighbour.
        radius : float, default=None
            Largest distance; None: that of the constructor.
        return_distance : bool, default=True
            Whether to return the distances.
        sort_results : bool, default=False
            Whether to sort by distance; otherwise lists are sorted by row number.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries,) of arrays
            Distances, if asked for.
        neigh_ind : ndarray of shape (n_queries,) of arrays
            Row numbers.
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        lists = self._lists_within(X, radius, sort_results)
        found = as_objects(lists.rows, lists.starts)
        return (as_objects(lists.distances, lists.starts), found) if return_distance else found

    def radius_neighbors_graph(self, X=None, radius=None, mode="connectivity", sort_results=False):
        """The neighbours within a radius as a sparse matrix with a row per query and a column per row of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries, as for `radius_neighbors`.
        radius : float, default=None
            Largest distance; None: that of the constructor.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether the entries are ones or distances.
        sort_results : bool, default=False
            Whether the entries of each row are sorted by distance; used with ``mode="distance"``.

        Returns
        -------
        A : sparse matrix of shape (n_queries, n_samples_fit)
            In CSR format.
        """
        check_is_fitted(self)
        check_mode(mode)
        lists = self._lists_within(X, radius, sort_results and mode == "distance")
        values = np.ones(lists.rows.size) if mode == "connectivity" else lists.distances
        return sparse_rows(values, lists.rows, lists.starts, self.n_samples_fit_)
