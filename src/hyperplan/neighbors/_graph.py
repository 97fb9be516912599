"""Graphs of neighbours: as functions of a table, and as transformers for pipelines of precomputed distances."""

import numpy as np

from hyperplan._base import (
    Bool,
    Choice,
    Int,
    InvalidParameterError,
    Jobs,
    OneOf,
    Real,
    TransformerMixin,
    check_is_fitted,
)
from hyperplan.neighbors._nearest_base import (
    COUNT,
    K_SEARCH_PARAMS,
    RADIUS,
    SEARCH_PARAMS,
    KNeighborsMixin,
    NeighborsBase,
    RadiusNeighborsMixin,
)
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

MODE = Choice("connectivity", "distance")
GRAPH_PARAMS = {
    "mode": MODE,
    "metric": SEARCH_PARAMS["metric"],
    "p": SEARCH_PARAMS["p"],
    "metric_params": SEARCH_PARAMS["metric_params"],
    "include_self": OneOf(Bool, Choice("auto")),
    "n_jobs": Jobs,
}


def _check(function, rules, values):
    for name, rule in rules.items():
        if not rule(values[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of {function} must be {rule}. Got {values[name]!r} instead."
            )


def _fitted(X, kind, options):
    """X itself if it is an estimator of neighbours (with the same distance), else one fitted to it."""
    if not isinstance(X, kind):
        return NearestNeighbors(**options).fit(X)
    own = X.get_params()
    for name in ("metric", "p", "metric_params"):
        if options[name] != own[name]:
            raise ValueError(
                f"Got {options[name]} for {name}, while the estimator has {own[name]} for the same parameter."
            )
    return X


def _queries(model, include_self, mode):
    """The rows of the fit as queries of others, or None: then no row is its own neighbour."""
    include_self = mode == "connectivity" if include_self == "auto" else include_self
    return model._fit_X if include_self else None


def kneighbors_graph(
    X, n_neighbors, *, mode="connectivity", metric="minkowski", p=2, metric_params=None, include_self=False, n_jobs=None
):
    """Graph of the K nearest neighbours.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or a fitted estimator of neighbours
        Rows.
    n_neighbors : int
        K.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether the entries are ones or distances.
    metric : str or callable, default="minkowski"
        Distance.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
    include_self : bool or "auto", default=False
        Whether each row is its own first neighbour; "auto": for ones only.
    n_jobs : int, default=None
        Threads; None means all cores.

    Returns
    -------
    A : sparse matrix of shape (n_samples, n_samples)
        ``A[i, j]`` is the weight of the edge from i to j; in CSR format.

    Examples
    --------
    >>> from hyperplan.neighbors import kneighbors_graph
    >>> kneighbors_graph([[0], [3], [1]], 1).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    values = dict(mode=mode, metric=metric, p=p, metric_params=metric_params, include_self=include_self, n_jobs=n_jobs)
    _check("kneighbors_graph", {"n_neighbors": Int(ge=1), **GRAPH_PARAMS}, {"n_neighbors": n_neighbors, **values})
    options = dict(n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs)
    model = _fitted(X, KNeighborsMixin, options)
    return model.kneighbors_graph(_queries(model, include_self, mode), n_neighbors=n_neighbors, mode=mode)


def radius_neighbors_graph(
    X, radius, *, mode="connectivity", metric="minkowski", p=2, metric_params=None, include_self=False, n_jobs=None
):
    """Graph of the neighbours within a radius.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or a fitted estimator of neighbours
        Rows.
    radius : float
        Largest distance of neighbours.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether the entries are ones or distances.
    metric : str or callable, default="minkowski"
        Distance.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
    include_self : bool or "auto", default=False
        Whether each row is its own neighbour; "auto": for ones only.
    n_jobs : int, default=None
        Threads; None means all cores.

    Returns
    -------
    A : sparse matrix of shape (n_samples, n_samples)
        ``A[i, j]`` is the weight of the edge from i to j; in CSR format.

    Examples
    --------
    >>> from hyperplan.neighbors import radius_neighbors_graph
    >>> radius_neighbors_graph([[0], [3], [1]], 1.5, mode="distance").toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    values = dict(mode=mode, metric=metric, p=p, metric_params=metric_params, include_self=include_self, n_jobs=n_jobs)
    _check("radius_neighbors_graph", {"radius": Real(ge=0), **GRAPH_PARAMS}, {"radius": radius, **values})
    options = dict(radius=radius, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs)
    model = _fitted(X, RadiusNeighborsMixin, options)
    return model.radius_neighbors_graph(_queries(model, include_self, mode), radius, mode)


class GraphTransformer(TransformerMixin, NeighborsBase):
    """What the two transformers share: they differ in their searches."""

    def fit(self, X, y=None):
        """Keep the rows.

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
        return self._fit(X)

    def fit_transform(self, X, y=None):
        """Fit, and the graph of the rows; each is its own neighbour.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored
            There for pipelines.

        Returns
        -------
        Xt : sparse matrix of shape (n_samples, n_samples)
            The graph, in CSR format.
        """
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, one for each row of the fit.

        Parameters
        ----------
        input_features : ignored
            There for pipelines.

        Returns
        -------
        names : ndarray of str objects
            The name of the class in small letters, and the row number.
        """
        check_is_fitted(self, "n_samples_fit_")
        prefix = type(self).__name__.lower()
        return np.asarray([f"{prefix}{row}" for row in range(self.n_samples_fit_)], dtype=object)


class KNeighborsTransformer(KNeighborsMixin, GraphTransformer):
    """Rows as a sparse graph of their K nearest neighbours.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether the entries are distances or ones.
    n_neighbors : int, default=5
        K; for distances one more, since each row of the fit is its own neighbour.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search: in a tree, or all rows by products of matrices.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
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
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    Examples
    --------
    >>> from hyperplan.neighbors import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [5.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 4., 0.]])
    """

    _params = {"mode": MODE, "n_neighbors": COUNT, **K_SEARCH_PARAMS}

    def __init__(
        self,
        *,
        mode="distance",
        n_neighbors=5,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X):
        """The neighbours of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        Xt : sparse matrix of shape (n_queries, n_samples_fit)
            The graph, in CSR format.
        """
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)


class RadiusNeighborsTransformer(RadiusNeighborsMixin, GraphTransformer):
    """Rows as a sparse graph of their neighbours within a radius.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether the entries are distances or ones.
    radius : float, default=1.0
        How far to look.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search: in a tree, or all rows.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
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
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    Examples
    --------
    >>> from hyperplan.neighbors import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=2.0).fit_transform([[0.0], [1.0], [5.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    _params = {"mode": MODE, "radius": RADIUS, **SEARCH_PARAMS}

    def __init__(
        self,
        *,
        mode="distance",
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X):
        """The neighbours of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        Xt : sparse matrix of shape (n_queries, n_samples_fit)
            The graph, in CSR format, its rows sorted by distance.
        """
        check_is_fitted(self)
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
