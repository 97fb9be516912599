"""Clusters by density: DBSCAN.

A row is a core point if at least ``min_samples`` rows, itself included, are within ``eps`` of it.  Core points within
``eps`` of each other are in one cluster; clusters are the connected components of that graph.  A row that is no core
point but within ``eps`` of one is a border point and belongs to the first such cluster; what is left is noise.

Nothing is optimised.  The clusters of core points do not depend on the order of rows; of the border points only those
that several clusters reach do, and the certificate counts them.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    ClusterMixin,
    Int,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_weight,
)
from hyperplan._math._distance_kernels import EUCLIDEAN
from hyperplan.cluster import _dbscan_space as space_of
from hyperplan.cluster._dbscan_grid import MOST_COLUMNS, Found, cluster_on_grid
from hyperplan.cluster._dbscan_pairs import cluster_by_tiles, cluster_graph, cluster_lists, cluster_matrix
from hyperplan.cluster._dbscan_space import Space, prepare_space
from hyperplan.cluster._dbscan_tree import cluster_on_tree
from hyperplan.neighbors._nearest_index import within


def cluster_by_density(space: Space, eps, min_samples, weight=None, n_jobs=None) -> Found:
    """DBSCAN of a prepared table.

    Parameters
    ----------
    space : Space
        The table, and how to search in it.
    eps : float
        Largest distance of neighbours.
    min_samples : int
        Weight within that distance that makes a core point.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows, perhaps negative; None: each counts once.
    n_jobs : int, default=None
        Threads; they change no bit.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster._dbscan import cluster_by_density
    >>> from hyperplan.cluster._dbscan_space import prepare_space
    >>> space = prepare_space(np.array([[0.0], [1.0], [2.0], [9.0]]), "euclidean", None, None, "auto")
    >>> cluster_by_density(space, eps=1.0, min_samples=3)
    Found(labels=array([ 0,  0,  0, -1]), is_core=array([False,  True, False, False]), n_shared=0)
    """
    index, options = space.index, (min_samples, weight, n_jobs)
    if space.kind == "graph":
        return cluster_graph(index.X, eps, *options)
    if space.kind == "matrix":
        return cluster_matrix(index.X, eps, *options)
    if space.kind == "lists":
        return cluster_lists(within(index, index.X, eps, n_jobs=n_jobs), *options)
    if space.kind == "tiles":
        is_squared = index.learnt is not None and index.learnt.code == EUCLIDEAN and not sp.issparse(index.X)
        limit = float(eps) * index.scale
        fill = space_of.make_filler(space, is_squared)
        return cluster_by_tiles(fill, index.X.shape[0], limit * limit if is_squared else limit, *options)
    rows, radius = space.rows, space_of.radius_in(space, eps)
    is_euclidean = index.learnt is None or index.learnt.code == EUCLIDEAN
    if space.is_free and is_euclidean and rows.shape[1] <= MOST_COLUMNS:
        found = cluster_on_grid(rows, radius, *options)
        if found is not None:
            return found
    return cluster_on_tree(space_of.grow_space_tree(space, n_jobs=n_jobs), rows, radius, *options)


class DBSCAN(ClusterMixin, BaseEstimator):
    """Density-based clusters of any shape, and noise.

    Labels are exactly scikit-learn's: clusters are numbered by their first core points, and a border point that several
    clusters reach belongs to the first of them.  No list of neighbours is made: memory is linear for all but
    distances that are functions.

    Parameters
    ----------
    eps : float, default=0.5
        Largest distance of neighbours, included.
    min_samples : int, default=5
        Rows (or their weight) within ``eps`` that make a core point, itself included.
    metric : str or callable, default="euclidean"
        Distance: a name of `hyperplan.neighbors.VALID_METRICS`, "precomputed", or a symmetric function of two rows.
    metric_params : dict, default=None
        More parameters of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are found: in a tree, or by looking at all pairs.  "auto" puts Euclidean points of up to three
        dimensions on a grid, takes a tree up to 15 columns, and else all pairs.  Labels do not depend on it.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows.
    p : float, default=None
        Power of the Minkowski distance; None means 2.
    n_jobs : int, default=None
        Threads; None means all cores.  They change no bit.

    Attributes
    ----------
    core_sample_indices_ : ndarray of shape (n_core_samples,)
        Row numbers of the core points.
    components_ : ndarray or sparse matrix of shape (n_core_samples, n_features)
        The core points.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for noise.
    certificate_ : Certificate
        How many rows would perhaps be in another cluster if the rows came in another order, of how many border points.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Ester, Kriegel, Sander, Xu (1996), A density-based algorithm for discovering clusters in large spatial databases
    with noise, KDD.  Schubert, Sander, Ester, Kriegel, Xu (2017), DBSCAN revisited, revisited: why and how you should
    (still) use DBSCAN, ACM Transactions on Database Systems 42.

    Examples
    --------
    >>> from hyperplan.cluster import DBSCAN
    >>> model = DBSCAN(eps=1.0, min_samples=3).fit([[0.0], [1.0], [2.0], [3.0], [10.0]])
    >>> model.labels_
    array([ 0,  0,  0,  0, -1])
    >>> model.core_sample_indices_
    array([1, 2])
    >>> model.predict([[2.9], [3.1]])
    array([ 0, -1])
    """

    _params = {
        "eps": Real(gt=0),
        "min_samples": Int(ge=1),
        **space_of.METRIC_PARAMS,
        "p": OneOf(Real(ge=0), Null),
    }

    def __init__(
        self,
        eps=0.5,
        *,
        min_samples=5,
        metric="euclidean",
        metric_params=None,
        algorithm="auto",
        leaf_size=30,
        p=None,
        n_jobs=None,
    ):
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; in a sparse matrix of distances, what is not stored is far away.
        y : ignored
            There for pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a row of weight ``min_samples`` is a core point by itself; negative weights keep neighbours from
            being core points.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse="csr", order="C")
        X = space_of.check_square(X) if self.metric == "precomputed" else X
        weight = check_weight(sample_weight, X, allow_negative=True)
        # 3. maths
        space = prepare_space(X, self.metric, self.p, self.metric_params, self.algorithm, self.n_jobs)
        found = cluster_by_density(space, self.eps, self.min_samples, weight, self.n_jobs)
        # 4. attributes
        cores, others = np.flatnonzero(found.is_core), np.flatnonzero(~found.is_core)
        self.core_sample_indices_ = cores
        self.components_ = X[cores].copy() if len(cores) else np.empty((0, X.shape[1]))
        self.labels_ = found.labels.astype(np.intp, copy=False)
        self.certificate_ = _certificate(found)
        self._space = space_of.without_rows(space)
        self._others = others if self.metric == "precomputed" else X[others]
        self._other_labels = self.labels_[others]
        space_of.forget(self)
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Find the clusters, and the labels of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : ignored
            There for pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, as for `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each row, -1 for noise.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X):
        """Clusters of new rows: that of the nearest core point if it is within ``eps``, else noise.

        Rows of the fit get the labels they have (only border points could get another one).  The search is prepared
        by the first call; the model of a file prepares it again.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows; if precomputed their distances from the rows of the fit, (n_queries, n_samples).  In a sparse matrix
            what is not stored is far away, and a row of the fit is known by its stored zero.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Cluster of each row, -1 for noise.
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            X = space_of.check_distances_to(X, len(self.labels_))
            return labels_from_distances(X, self.core_sample_indices_, self._others, self.labels_, self.eps)
        X = check_design(self, X, accept_sparse="csr", order="C")
        labels = np.full(X.shape[0], -1, np.intp)
        if len(self.core_sample_indices_):
            distances, rows = space_of.nearest_row(self._space, self.components_, X, self.n_jobs, self)
            near = distances <= self.eps
            labels[near] = self.labels_[self.core_sample_indices_][rows[near]]
        same = space_of.equal_rows(self._others, X, self.n_jobs, self)
        labels[same >= 0] = self._other_labels[same[same >= 0]]
        return labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = True
        return tags


def labels_from_distances(X, cores, others, labels, eps):
    """Clusters of rows from their distances to the rows of a fit: by the nearest core point, or their own."""
    far = space_of.full_distances(X)
    found = np.full(X.shape[0], -1, np.intp)
    if len(cores):
        best = far[:, cores].argmin(axis=1)
        near = far[np.arange(X.shape[0]), cores[best]] <= eps
        found[near] = labels[cores[best[near]]]
    if len(others):
        same = (far[:, others] == 0.0).argmax(axis=1)
        known = far[np.arange(X.shape[0]), others[same]] == 0.0
        found[known] = labels[others[same[known]]]
    return found


def _certificate(found: Found) -> Certificate:
    n, n_core = found.labels.shape[0], int(found.is_core.sum())
    n_noise, n_clusters = int((found.labels < 0).sum()), int(found.labels.max(initial=-1)) + 1
    n_border = n - n_core - n_noise
    return Certificate(
        kind="order of rows",
        guarantee=f"with the rows in another order, only the {found.n_shared} border points that several clusters "
        "reach could be in another cluster",
        value=float(found.n_shared),
        bound=float(n_border),
        assumption="the distance is symmetric",
        reference="Ester, Kriegel, Sander, Xu (1996), A density-based algorithm for discovering clusters, lemma 2",
        details={"clusters": n_clusters, "core points": n_core, "border points": n_border, "noise": n_noise},
    )


def dbscan(
    X,
    eps=0.5,
    *,
    min_samples=5,
    metric="minkowski",
    metric_params=None,
    algorithm="auto",
    leaf_size=30,
    p=2,
    sample_weight=None,
    n_jobs=None,
):
    """Clusters by density, as a function.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Rows, or their distances.
    eps : float, default=0.5
        Largest distance of neighbours, included.
    min_samples : int, default=5
        Rows (or their weight) within ``eps`` that make a core point, itself included.
    metric : str or callable, default="minkowski"
        Distance.
    metric_params : dict, default=None
        More parameters of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are found.
    leaf_size : int, default=30
        Accepted for compatibility.
    p : float, default=2
        Power of the Minkowski distance.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    n_jobs : int, default=None
        Threads; None means all cores.

    Returns
    -------
    core_samples : ndarray of shape (n_core_samples,)
        Row numbers of the core points.
    labels : ndarray of shape (n_samples,)
        Cluster of each row, -1 for noise.

    Examples
    --------
    >>> from hyperplan.cluster import dbscan
    >>> dbscan([[0.0], [1.0], [2.0], [9.0]], eps=1.0, min_samples=2)
    (array([0, 1, 2]), array([ 0,  0,  0, -1]))
    """
    model = DBSCAN(
        eps=eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_
