"""Clusters of all densities at once: OPTICS.

The core distance of a row is that to its ``min_samples``-th neighbour, itself counted, if it is at most ``max_eps``.
The reachability of b from a core point a is ``max(core(a), d(a, b))``.  Rows are emitted one by one, always the one
that can be reached at the least value from those before (a minimum spanning tree, grown from the first row); what it
was reached at is its reachability (`_optics_order`).  Clusters are valleys of that plot (`_optics_extract`).
"""

import warnings

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClusterMixin,
    DataConversionWarning,
    Is,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_memory,
    check_params,
)
from hyperplan._core.parallel import spans, thread_map
from hyperplan.cluster import _dbscan_space as space_of
from hyperplan.cluster import _optics_kernels as k
from hyperplan.cluster._dbscan_pairs import TILE
from hyperplan.cluster._dbscan_space import Space, prepare_space
from hyperplan.cluster._optics_extract import SIZE, cluster_optics_dbscan, cluster_optics_xi
from hyperplan.cluster._optics_order import GRAPH_PARAMS, Order, compute_optics_graph
from hyperplan.metrics._distance_source import BOOLEAN
from hyperplan.neighbors._nearest_index import _source

SLACK = 1e-6  # of a cluster's level: rows of the fit that were rounded to float32 should stay in it


class OPTICS(ClusterMixin, BaseEstimator):
    """Rows in the order in which a cluster of any density would reach them, and the clusters of that order.

    Parameters
    ----------
    min_samples : int > 1 or float between 0 and 1, default=5
        Rows, or their share, within the core distance of a row, itself counted.
    max_eps : float, default=inf
        Largest distance of neighbours; a smaller one is faster, and rows farther apart are not connected.
    metric : str or callable, default="minkowski"
        Distance: a name of `hyperplan.neighbors.VALID_METRICS`, "precomputed", or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
    cluster_method : {"xi", "dbscan"}, default="xi"
        How clusters are read off the order: valleys between steep areas, or a cut at ``eps``.
    eps : float, default=None
        Level of the cut; None means ``max_eps``.
    xi : float between 0 and 1, default=0.05
        Least relative change of reachability at a steep point.
    predecessor_correction : bool, default=True
        Whether points at the end of a valley that were not reached from inside are left out.
    min_cluster_size : int > 1 or float between 0 and 1, default=None
        Smallest size of a valley; None means ``min_samples``.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are found; the order does not depend on it, up to rounding.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows.
    memory : str or object with the interface of joblib.Memory, default=None
        Where the order is kept, so that it is made once for several ways to read clusters off.
    n_jobs : int, default=None
        Threads for the core distances; None means all cores.  They change no bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for noise.
    reachability_ : ndarray of shape (n_samples,)
        What each row was reached at; plot ``reachability_[ordering_]``.
    ordering_ : ndarray of shape (n_samples,)
        Row numbers in order.
    core_distances_ : ndarray of shape (n_samples,)
        Distance at which each row becomes a core point; infinity beyond ``max_eps``.
    predecessor_ : ndarray of shape (n_samples,)
        Row each was reached from, -1 for rows that others start from.
    cluster_hierarchy_ : ndarray of shape (n_clusters, 2)
        First and last place in the order of each valley, smaller ones first; for ``cluster_method="xi"`` only.
    certificate_ : Certificate
        How many rows break the rules of an order: none may come before the row that it was reached from, or be reached
        below that row's core distance.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Ankerst, Breunig, Kriegel, Sander (1999), OPTICS: ordering points to identify the clustering structure, SIGMOD.
    Schubert, Gertz (2018), Improving the cluster structure extracted from OPTICS plots, LWDA.

    Examples
    --------
    >>> from hyperplan.cluster import OPTICS
    >>> model = OPTICS(min_samples=2).fit([[1, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.ordering_
    array([0, 1, 2, 5, 3, 4])
    >>> model.predict([[2, 4], [20, 20]])
    array([ 0, -1])
    """

    _params = {
        **GRAPH_PARAMS,
        "p": Real(ge=1),
        "cluster_method": Choice("xi", "dbscan"),
        "eps": OneOf(Real(ge=0), Null),
        "xi": Real(ge=0, le=1),
        "predecessor_correction": Bool,
        "min_cluster_size": OneOf(SIZE, Null),
        "memory": OneOf(
            Is(lambda value: isinstance(value, str), "an instance of 'str'"),
            Is(lambda value: hasattr(value, "cache"), "an object implementing 'cache'"),
            Null,
        ),
    }

    def __init__(
        self,
        *,
        min_samples=5,
        max_eps=np.inf,
        metric="minkowski",
        p=2,
        metric_params=None,
        cluster_method="xi",
        eps=None,
        xi=0.05,
        predecessor_correction=True,
        min_cluster_size=None,
        algorithm="auto",
        leaf_size=30,
        memory=None,
        n_jobs=None,
    ):
        self.min_samples = min_samples
        self.max_eps = max_eps
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.cluster_method = cluster_method
        self.eps = eps
        self.xi = xi
        self.predecessor_correction = predecessor_correction
        self.min_cluster_size = min_cluster_size
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Find the order, and read clusters off it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; in a sparse matrix of distances, what is not stored is far away.
        y : ignored
            There for pipelines.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = self._checked(X, reset=True)
        X = space_of.check_square(X) if self.metric == "precomputed" else X
        # 3. maths
        order = compute_optics_graph if self.memory is None else check_memory(self.memory).cache(compute_optics_graph)
        names = ("min_samples", "max_eps", "metric", "p", "metric_params", "algorithm", "leaf_size", "n_jobs")
        found = Order(*order(X, **{name: getattr(self, name) for name in names}))
        labels, hierarchy = self._extract(found)
        # 4. attributes
        self.ordering_, self.core_distances_, self.reachability_, self.predecessor_ = found
        self.labels_ = labels
        self.__dict__.pop("cluster_hierarchy_", None)
        if hierarchy is not None:
            self.cluster_hierarchy_ = hierarchy
        self.certificate_ = _certificate(found)
        self._X = None if self.metric == "precomputed" else X
        space_of.forget(self)
        return self

    def _checked(self, X, reset=False):
        """Rows as numbers; for distances of sets as yes and no, with a warning."""
        if isinstance(self.metric, str) and self.metric in BOOLEAN:
            if reset and getattr(X, "dtype", None) != np.dtype(bool):
                warnings.warn(
                    f"Data will be converted to boolean for metric {self.metric}, to avoid this warning, you may "
                    "convert the data prior to calling fit.",
                    DataConversionWarning,
                    stacklevel=3,
                )
            return check_design(self, X, reset=reset, accept_sparse="csr", dtype=bool)
        return check_design(self, X, reset=reset, accept_sparse="csr", dtype=np.float64, order="C")

    def _extract(self, found: Order):
        """Labels, and for "xi" the hierarchy."""
        if self.cluster_method == "xi":
            return cluster_optics_xi(
                reachability=found.reachability,
                predecessor=found.predecessor,
                ordering=found.ordering,
                min_samples=self.min_samples,
                min_cluster_size=self.min_cluster_size,
                xi=self.xi,
                predecessor_correction=self.predecessor_correction,
            )
        eps = self._level()
        if eps > self.max_eps:
            raise ValueError(f"Specify an epsilon smaller than {self.max_eps}. Got {eps}.")
        labels = cluster_optics_dbscan(
            reachability=found.reachability, core_distances=found.core_distances, ordering=found.ordering, eps=eps
        )
        return labels, None

    def _level(self):
        return self.max_eps if self.eps is None else self.eps

    def predict(self, X):
        """Clusters of new rows, by the core distance rule.

        A row belongs to the cluster of the core point that it is reached from at the least value,
        ``max(core(a), d(a, x))``, if that value is at most the level of the cut (``cluster_method="dbscan"``) or the
        level of that cluster (``"xi"``): the largest value at which its rows were reached from each other, or could be
        from themselves if they were reached from outside.  Else it is noise.  Rows of the fit get the labels they have;
        of equal rows that of the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows; if precomputed their distances from the rows of the fit, (n_queries, n_samples), where zero stands
            for a row of the fit.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Cluster of each row, -1 for noise.
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            X = space_of.check_distances_to(X, len(self.labels_))
            X = space_of.full_distances(X)
            is_same = X == 0.0
            same = np.where(is_same.any(axis=1), is_same.argmax(axis=1), -1)
            space = Space(space_of.Index(X, "precomputed", {}), "matrix")
        else:
            X = space_of.as_table(self._X, self._checked(X))
            same = space_of.equal_rows(self._X, X, self.n_jobs, self)
            space = prepare_space(self._X, self.metric, self.p, self.metric_params, "brute", self.n_jobs)
        values, sources = reached_from(space, X, self.core_distances_, self.max_eps, self.n_jobs)
        labels = np.where(sources >= 0, self.labels_[sources], -1)
        labels[values > self._levels()[labels]] = -1
        labels[same >= 0] = self.labels_[same[same >= 0]]
        return labels.astype(self.labels_.dtype, copy=False)

    def _levels(self):
        """What rows of each cluster were reached at, at most; the last entry stands for noise."""
        n_clusters = int(self.labels_.max(initial=-1)) + 1
        if self.cluster_method == "dbscan":
            return np.append(np.full(n_clusters, float(self._level())), np.inf)
        levels, before = np.zeros(n_clusters + 1), self.predecessor_
        is_inside = (before >= 0) & (self.labels_ == self.labels_[before])
        values = np.where(is_inside, self.reachability_, self.core_distances_)
        kept = (self.labels_ >= 0) & np.isfinite(values)
        np.maximum.at(levels, self.labels_[kept], values[kept])
        return levels * (1.0 + SLACK)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = True
        return tags


def reached_from(space: Space, Q, core, max_eps, n_jobs=None):
    """The least value at which each row of Q is reached from a core point, and from which (-1: from none)."""
    source = _source(space.index, Q)
    values, nearest = np.full(Q.shape[0], np.inf), np.full(Q.shape[0], np.inf)
    found, scale = np.full(Q.shape[0], -1, np.int64), space.index.scale
    core = core * scale

    def run(part):
        room = np.empty(TILE * TILE)
        for columns in spans(source.n_columns, TILE):
            shape = (part.stop - part.start, columns.stop - columns.start)
            tile = room[: shape[0] * shape[1]].reshape(shape)
            source.fill(part, columns, tile)
            outputs = values[part], nearest[part], found[part]
            k.reach_tile(tile, columns.start, core[columns], float(max_eps) * scale, *outputs)

    thread_map(run, spans(Q.shape[0], TILE), 1 if space.kind == "lists" else n_jobs)
    return values / scale, found


def _certificate(found: Order) -> Certificate:
    ordering, core, reach, before = found
    place = np.empty(len(ordering), np.int64)
    place[ordering] = np.arange(len(ordering))
    reached = before >= 0
    n_wrong = int((reach[reached] < core[before[reached]]).sum() + (place[before[reached]] >= place[reached]).sum())
    n_wrong += int(np.isfinite(reach[~reached]).sum())
    return Certificate(
        kind="order of reachability",
        guarantee="every row comes after the row it was reached from, at no less than that row's core distance",
        value=float(n_wrong),
        bound=0.0,
        reference="Ankerst, Breunig, Kriegel, Sander (1999), OPTICS, definitions 5 and 6",
        details={"core points": int(np.isfinite(core).sum()), "rows that others start from": int((~reached).sum())},
    )
