"""Where distances come from, whatever the metric: a function that fills any rectangle of them.

Silhouettes, neighbourhoods and matrices of distances ask for rectangles and never see how they are made: by the
kernels of `hyperplan._math.distances`, by SciPy's `cdist` for rarer metrics, by the caller's function of two rows, or
by reading a matrix that is given.
"""

import inspect
from collections.abc import Callable
from typing import NamedTuple

import scipy.sparse as sp
from scipy.spatial.distance import cdist

from hyperplan._math import distances
from hyperplan.metrics._arguments import Choice, Is, OneOf
from hyperplan.metrics._rare_distances import haversine_filler, nan_euclidean_filler
from hyperplan.metrics._sparse_distances import sparse_filler

BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
BY_SCIPY = (*BOOLEAN, "braycurtis", "canberra", "correlation", "hamming")
RARE = {"haversine": haversine_filler, "nan_euclidean": nan_euclidean_filler}
SPARSE = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")
KNOWN = tuple(sorted({*distances.CODES, "cityblock", "l1", "l2", *BY_SCIPY, *RARE}))
METRIC = OneOf(Choice(*KNOWN, "precomputed"), Is(callable, "a callable"))


class Source(NamedTuple):
    """``fill(rows, columns, tile)`` writes the distances between slices of the first and of the second table."""

    fill: Callable
    n_rows: int
    n_columns: int


def distance_source(X, metric="euclidean", Y=None, **options) -> Source:
    """The source of distances between rows of X and of Y (X itself when None), both checked.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples_X, n_features), or square for "precomputed"
        First table.
    metric : str or callable
        A name of `KNOWN`, "precomputed", or a function of two rows.
    Y : ndarray or sparse array of shape (n_samples_Y, n_features), default=None
        Second table.
    **options : dict
        Parameters of the metric (``p``, ``V``, ``VI``, ``w``, or the function's own).
    """
    other = X if Y is None else Y
    if metric == "precomputed":
        return Source(_reader(X), *X.shape)
    if callable(metric):
        fill = _by_function(metric, X, other, options)
    elif sp.issparse(X) or sp.issparse(other):
        if metric not in SPARSE:
            raise TypeError(
                f"metric={metric!r} takes no sparse data; make it dense by toarray(), or use one of {SPARSE}"
            )
        fill = sparse_filler(sp.csr_array(X), sp.csr_array(other), distances.ALIASES.get(metric, metric))
    elif metric in RARE:
        fill = RARE[metric](X, other)
    elif distances.is_known(metric):
        known = inspect.signature(distances.learn_metric).parameters
        if unknown := sorted(set(options) - set(known)):
            raise TypeError(f"metric={metric!r} got an unexpected keyword argument {unknown[0]!r}")
        learnt = distances.learn_metric(metric, X, **options)
        A = distances.prepare(X, learnt)
        B = A if Y is None else distances.prepare(Y, learnt)

        def fill(rows, columns, tile):
            distances.fill(learnt, A, rows, B, columns, tile)
    else:

        def fill(rows, columns, tile):
            tile[:] = cdist(X[rows], other[columns], metric, **options)

    return Source(fill, X.shape[0], other.shape[0])


def _reader(X):
    def fill(rows, columns, tile):
        part = X[rows][:, columns]
        tile[:] = part.toarray() if sp.issparse(part) else part

    return fill


def _by_function(function, X, Y, options):
    """Any function of two rows; its answers must be numbers."""

    def fill(rows, columns, tile):
        for i, x in enumerate(X[rows]):
            for j, y in enumerate(Y[columns]):
                tile[i, j] = function(x, y, **options)

    return fill
