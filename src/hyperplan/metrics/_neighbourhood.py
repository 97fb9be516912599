"""Whether neighbours stay neighbours in an embedding: trustworthiness and continuity.

Strips of rows of both distance matrices are compared at a time, so that memory grows with n.
"""

import numpy as np

from hyperplan._base import FLOATS, check_array, check_consistent_length
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.distances import TILE
from hyperplan.metrics._arguments import Int, checked
from hyperplan.metrics._distance_source import METRIC, distance_source
from hyperplan.metrics._neighbourhood_kernels import excess_ranks

STRIP = 1 << 22  # entries of a strip


def _fill_strip(source, rows):
    strip = np.empty((rows.stop - rows.start, source.n_columns))
    for columns in spans(source.n_columns, TILE):
        tile = np.empty((strip.shape[0], columns.stop - columns.start))
        source.fill(rows, columns, tile)
        strip[:, columns] = tile
    return strip


def _preserved(found, judged, n_neighbors) -> float:
    """1 minus the scaled excess of the ranks, in `judged`, of the nearest in `found`."""
    n = found.n_rows
    excess = np.empty(n)

    def run(rows):
        nearest = np.empty(n_neighbors, np.intp)
        excess_ranks(_fill_strip(found, rows), _fill_strip(judged, rows), rows.start, nearest, excess[rows])

    thread_map(run, spans(n, max(1, min(TILE, STRIP // n))))
    return float(1.0 - excess.sum() * (2.0 / (n * n_neighbors * (2.0 * n - 3.0 * n_neighbors - 1.0))))


def _sources(X, X_embedded, n_neighbors, metric):
    X, X_embedded = check_array(X, accept_sparse="csr", dtype=FLOATS), check_array(X_embedded, dtype=FLOATS)
    check_consistent_length(X, X_embedded)
    n = X.shape[0]
    if n_neighbors >= n / 2:
        raise ValueError(f"n_neighbors ({n_neighbors}) should be less than n_samples / 2 ({n / 2})")
    if metric == "precomputed" and X.shape[1] != n:
        raise ValueError(f"A precomputed distance matrix must be square, got shape {X.shape}")
    return distance_source(X, metric), distance_source(X_embedded, "euclidean")


@checked(n_neighbors=Int(ge=1), metric=METRIC)
def trustworthiness(X, X_embedded, *, n_neighbors=5, metric="euclidean"):
    """Whether the neighbours that an embedding shows are neighbours indeed.

    ``1 - 2 / (n k (2n - 3k - 1)) sum_i sum_j max(0, r(i, j) - k)``, over the k nearest j of i in the embedding, where
    r(i, j) is the rank of j among the neighbours of i in the data.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Data, or distances.
    X_embedded : array-like of shape (n_samples, n_components)
        Embedding.
    n_neighbors : int, default=5
        The k of the formula, below n / 2.
    metric : str or callable, default="euclidean"
        Distance of the data; "precomputed" when X holds distances.

    Returns
    -------
    trustworthiness : float
        Between 0 and 1.

    References
    ----------
    Venna, Kaski (2001), Neighborhood preservation in nonlinear projection methods: an experimental study.

    Examples
    --------
    >>> from hyperplan.metrics import trustworthiness
    >>> X = [[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [4.0, 0.1], [7.0, 0.0]]
    >>> trustworthiness(X, [row[:1] for row in X], n_neighbors=2)
    1.0
    """
    before, after = _sources(X, X_embedded, n_neighbors, metric)
    return _preserved(after, before, n_neighbors)


@checked(n_neighbors=Int(ge=1), metric=METRIC)
def continuity(X, X_embedded, *, n_neighbors=5, metric="euclidean"):
    """Whether the neighbours in the data stay neighbours in the embedding: trustworthiness with the roles exchanged.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Data, or distances.
    X_embedded : array-like of shape (n_samples, n_components)
        Embedding.
    n_neighbors : int, default=5
        Neighbours to look at, below n / 2.
    metric : str or callable, default="euclidean"
        Distance of the data; "precomputed" when X holds distances.

    Returns
    -------
    continuity : float
        Between 0 and 1; low when the embedding tears the data apart.

    References
    ----------
    Venna, Kaski (2001), Neighborhood preservation in nonlinear projection methods: an experimental study.

    Examples
    --------
    >>> from hyperplan.metrics import continuity
    >>> X = [[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [4.0, 0.1], [7.0, 0.0]]
    >>> continuity(X, [row[:1] for row in X], n_neighbors=2)
    1.0
    """
    before, after = _sources(X, X_embedded, n_neighbors, metric)
    return _preserved(before, after, n_neighbors)
