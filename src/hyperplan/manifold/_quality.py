"""How well a map keeps neighbourhoods: trustworthiness and continuity, from strips of distances.

``1 - 2 / (n k (2 n - 3 k - 1)) sum_i sum_j max(0, r(i, j) - k)``, where j runs through the k nearest neighbours of i on
one side and r(i, j) is the rank of j among the neighbours of i on the other.  Neighbours on the map, ranks in the data:
trustworthiness (is what is near on the map near in the data?).  The other way round: continuity (is what is near in
the data near on the map?).
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import FLOATS, check_array, check_consistent_length
from hyperplan._core.parallel import spans, thread_map
from hyperplan.manifold._quality_kernels import rank_excess
from hyperplan.metrics._arguments import Choice, Int, checked
from hyperplan.metrics._distance_source import METRIC, distance_source
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

ROWS = 64  # whose distances to all others are held by one task
METHODS = ("mle", "two_nn")


def _checked_pair(X, embedding, n_neighbors, metric):
    X = check_array(X, accept_sparse="csr", dtype=FLOATS)
    embedding = check_array(embedding, accept_sparse="csr", dtype=FLOATS)
    check_consistent_length(X, embedding)
    n = X.shape[0]
    if n_neighbors >= n / 2:
        raise ValueError(f"n_neighbors ({n_neighbors}) should be less than n_samples / 2 ({n / 2})")
    if metric == "precomputed" and (sp.issparse(X) or X.shape[1] != n):
        raise ValueError(f"A precomputed distance matrix must be dense and square, got shape {X.shape}")
    return X, embedding


def _score(neighbours, source, n_jobs=None):
    """The formula of this module for neighbours of one side and a source of distances on the other."""
    n, k = neighbours.shape
    neighbours = np.ascontiguousarray(neighbours, dtype=np.int64)

    def one_task(rows):
        tile, excess = np.empty((rows.stop - rows.start, n)), np.empty(rows.stop - rows.start, np.int64)
        source.fill(rows, slice(0, n), tile)
        rank_excess(tile, rows.start, neighbours[rows], excess)
        return int(excess.sum())

    excess = sum(thread_map(one_task, spans(n, ROWS), n_jobs))
    return 1.0 - excess * (2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0)))


def _nearest(X, n_neighbors, metric):
    return NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(X).kneighbors(return_distance=False)


@checked(n_neighbors=Int(ge=1), metric=METRIC)
def trustworthiness(X, X_embedded, *, n_neighbors=5, metric="euclidean"):
    """Whether neighbours on a map are neighbours in the data.

    Strips of distances are held, never the whole matrix.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Rows, or their distances.
    X_embedded : {array-like, sparse matrix} of shape (n_samples, n_components)
        The map.
    n_neighbors : int, default=5
        Size of neighbourhoods, less than half the number of rows.
    metric : str or callable, default="euclidean"
        Distance of the rows; "precomputed" if X holds distances (or their squares).

    Returns
    -------
    trustworthiness : float
        1 if the nearest on the map are the nearest in the data; 0 at worst.

    References
    ----------
    Venna, Kaski (2001), Neighborhood preservation in nonlinear projection methods: an experimental study, ICANN.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import trustworthiness
    >>> line = np.arange(20.0).reshape(-1, 1)
    >>> trustworthiness(line, -3.0 * line)
    1.0
    """
    X, embedding = _checked_pair(X, X_embedded, n_neighbors, metric)
    return _score(_nearest(embedding, n_neighbors, "euclidean"), distance_source(X, metric), _threads(metric))


@checked(n_neighbors=Int(ge=1), metric=METRIC)
def continuity(X, X_embedded, *, n_neighbors=5, metric="euclidean"):
    """Whether neighbours in the data are neighbours on a map: what it tears apart lowers it.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Rows, or their distances.
    X_embedded : {array-like, sparse matrix} of shape (n_samples, n_components)
        The map.
    n_neighbors : int, default=5
        Size of neighbourhoods, less than half the number of rows.
    metric : str or callable, default="euclidean"
        Distance of the rows; "precomputed" if X holds distances.

    Returns
    -------
    continuity : float
        1 if the nearest in the data are the nearest on the map; 0 at worst.

    References
    ----------
    Venna, Kaski (2001), Neighborhood preservation in nonlinear projection methods: an experimental study, ICANN.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import continuity, trustworthiness
    >>> t = np.linspace(0.0, 6.0, 40)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> torn = t.reshape(-1, 1)  # a circle cut open: neighbours across the cut are lost
    >>> trustworthiness(circle, torn, n_neighbors=3) > continuity(circle, torn, n_neighbors=3)
    True
    """
    X, embedding = _checked_pair(X, X_embedded, n_neighbors, metric)
    return _score(_nearest(X, n_neighbors, metric), distance_source(embedding, "euclidean"))


def _threads(metric):
    return 1 if callable(metric) else None  # functions of the caller hold Python's lock anyway


@checked(method=Choice(*METHODS), n_neighbors=Int(ge=2), metric=METRIC)
def intrinsic_dimension(X, *, method="mle", n_neighbors=10, metric="euclidean"):
    """Dimension of the surface near which rows lie, from the distances to their nearest neighbours.

    Around a row the number of others within a radius r grows as r^m on a surface of dimension m.  "mle" takes the most
    likely m for the distances ``r_1 <= ... <= r_k``: one over the mean of ``log(r_k / r_j)``, the mean being taken over
    rows and neighbours together.  "two_nn" uses the two nearest only, so that the density may vary quickly:
    ``m = n / sum_i log(r_i2 / r_i1)``.  See `Isomap.residual_curve` and `hyperplan.metrics.elbow` for the bend of
    the residual variance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Rows, or their distances.
    method : {"mle", "two_nn"}, default="mle"
        Which estimate.
    n_neighbors : int, default=10
        k, for "mle".
    metric : str or callable, default="euclidean"
        Distance of the rows.

    Returns
    -------
    dimension : float
        The estimate; NaN if distances tell nothing (all rows are equal).

    References
    ----------
    Levina, Bickel (2004), Maximum likelihood estimation of intrinsic dimension, NIPS.
    MacKay, Ghahramani (2005), Comments on "Maximum likelihood estimation of intrinsic dimension".
    Facco et al. (2017), Estimating the intrinsic dimension of datasets by a minimal neighborhood information,
    Scientific Reports.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import intrinsic_dimension
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(2000, 2)) @ rng.normal(size=(2, 5))
    >>> round(intrinsic_dimension(plane)), round(intrinsic_dimension(plane, method="two_nn"))
    (2, 2)
    """
    X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=3)
    k = 2 if method == "two_nn" else min(n_neighbors, X.shape[0] - 1)
    distances, _ = NearestNeighbors(n_neighbors=k, metric=metric).fit(X).kneighbors()
    near, far = distances[:, :-1], distances[:, -1:]
    counted = near > 0.0  # copies say nothing of the surface
    logs = np.log(np.divide(far, near, out=np.ones_like(near), where=counted))
    total, count = float(logs.sum()), int(counted.sum())
    if total == 0.0:
        return float("nan")
    # each log is exponential with mean 1 / m; of a sum of them the inverse overestimates by the factor N / (N - 1)
    return max(count - 1, 1) / total
