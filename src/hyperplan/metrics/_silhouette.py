"""Silhouettes: how much closer a point is to its own cluster than to the next one.

``s = (b - a) / max(a, b)``, where a is the mean distance to the other points of the point's cluster and b the
smallest, over the other clusters, of the mean distance to all points of that cluster.  A cluster of one point has
s = 0, and so has 0/0.  Points are sorted by cluster and distances pass by in tiles: memory grows with n, not with n^2.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import FLOATS, check_array, check_random_state
from hyperplan._base.targets import check_consistent_length, column_or_1d
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.distances import TILE
from hyperplan.metrics._arguments import Int, Null, OneOf, checked
from hyperplan.metrics._distance_source import METRIC, Source, distance_source
from hyperplan.metrics._silhouette_kernels import absorb


def encoded_clusters(labels, n_samples):
    """Cluster of each row as an integer, and the sizes of the clusters; between 2 and n - 1 clusters."""
    names, codes = np.unique(labels, return_inverse=True)
    if not 1 < names.shape[0] < n_samples:
        raise ValueError(f"Number of labels is {names.shape[0]}. Valid values are 2 to n_samples - 1 (inclusive)")
    return codes.astype(np.intp, copy=False), np.bincount(codes)


def check_points_and_labels(X, labels, **options):
    """Finite X and one label per row."""
    X = check_array(X, **options)
    labels = check_array(column_or_1d(labels, warn=True), ensure_2d=False, dtype=None, input_name="labels")
    check_consistent_length(X, labels)
    return X, labels


def silhouette_of(source: Source, codes, sizes, n_jobs=None) -> np.ndarray:
    """Silhouettes of points whose `codes` are sorted; `source` gives their distances in that order."""
    n = codes.shape[0]
    within, nearest = np.zeros(n), np.full(n, np.inf)

    def run(rows):
        running, scratch = np.zeros(rows.stop - rows.start), np.empty(TILE * TILE)
        for columns in spans(n, TILE):
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = scratch[: shape[0] * shape[1]].reshape(shape)
            source.fill(rows, columns, tile)
            absorb(tile, columns.start, codes, codes[rows], sizes, running, within[rows], nearest[rows])

    thread_map(run, spans(n, TILE), n_jobs)
    others = sizes[codes] - 1
    within /= np.maximum(others, 1)
    larger = np.maximum(within, nearest)
    return np.where((others > 0) & (larger > 0.0), (nearest - within) / np.where(larger > 0.0, larger, 1.0), 0.0)


@checked(metric=METRIC)
def silhouette_samples(X, labels, *, metric="euclidean", **kwds):
    """Silhouette of each point.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Points, or the distances between them.
    labels : array-like of shape (n_samples,)
        Cluster of each point.
    metric : str or callable, default="euclidean"
        Name of a distance, "precomputed", or a function of two rows.
    **kwds : dict
        Parameters of the metric; `n_jobs` limits the threads.

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        Numbers in [-1, 1].

    References
    ----------
    Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster analysis.

    Examples
    --------
    >>> from hyperplan.metrics import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(3)
    array([0.905, 0.895, 0.895, 0.905])
    """
    given = metric == "precomputed"
    X, labels = check_points_and_labels(X, labels, accept_sparse="csr", dtype="numeric" if given else FLOATS)
    n_jobs = kwds.pop("n_jobs", None)
    codes, sizes = encoded_clusters(labels, X.shape[0])
    order = np.argsort(codes, kind="stable")
    if given:
        _check_diagonal(X)
        X = X[order][:, order] if sp.issparse(X) else _Reordered(X, order)
    else:
        X = X[order]
    silhouettes = np.empty(codes.shape[0])
    silhouettes[order] = silhouette_of(distance_source(X, metric, **kwds), codes[order], sizes, n_jobs)
    return silhouettes


class _Reordered:
    """Rows and columns of a square matrix in another order, copied a rectangle at a time."""

    def __init__(self, matrix, order, rows=None):
        self.matrix, self.order, self.rows, self.shape = matrix, order, rows, matrix.shape

    def __getitem__(self, key):
        if self.rows is None:
            return _Reordered(self.matrix, self.order, self.order[key])
        return self.matrix[np.ix_(self.rows, self.order[key[1]])]


def _check_diagonal(X):
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed distance matrix must be square, got shape {X.shape}")
    tolerance = 100 * np.finfo(X.dtype).eps if X.dtype.kind == "f" else 0
    if np.any(np.abs(X.diagonal()) > tolerance):
        raise ValueError(
            "The precomputed distance matrix contains non-zero elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


@checked(metric=METRIC, sample_size=OneOf(Int(ge=1), Null))
def silhouette_score(X, labels, *, metric="euclidean", sample_size=None, random_state=None, **kwds):
    """Mean silhouette of all points, or of a random part of them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Points, or the distances between them.
    labels : array-like of shape (n_samples,)
        Cluster of each point.
    metric : str or callable, default="euclidean"
        Name of a distance, "precomputed", or a function of two rows.
    sample_size : int, default=None
        Number of points to look at; None means all.
    random_state : int, RandomState or None, default=None
        Seed of that choice.
    **kwds : dict
        Parameters of the metric; `n_jobs` limits the threads.

    Returns
    -------
    score : float
        1 for clusters that are points far apart, about 0 for clusters that touch, negative where points are nearer to
        another cluster.  Convex clusters are favoured.

    Examples
    --------
    >>> from hyperplan.metrics import silhouette_score
    >>> round(silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.9
    """
    if sample_size is not None:
        given = metric == "precomputed"
        X, labels = check_points_and_labels(X, labels, accept_sparse="csr", dtype="numeric" if given else FLOATS)
        chosen = check_random_state(random_state).permutation(X.shape[0])[:sample_size]
        X, labels = (X[chosen][:, chosen] if given else X[chosen]), labels[chosen]
    return float(np.mean(silhouette_samples(X, labels, metric=metric, **kwds)))
