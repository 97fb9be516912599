"""Distances between rows of tables, computed tile by tile, in threads, never all at once unless asked for.

A `Metric` is learnt from the reference table (offset, scales, whitening), `prepare` makes tables ready for it, and
`fill` writes any rectangle of distances.  What clusters, neighbours and scores do with the rectangles is theirs:
`tiles` cuts, `pairwise` fills a whole matrix.  Arithmetic is float64 whatever the tables are.

Squared Euclidean distances of many columns come from a matrix product of centred rows; entries that lost digits to
cancellation are computed again from differences, so that all have a relative error of about ``eps / DOUBT``.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._math import _distance_kernels as k

TILE = 256  # rows and columns of a tile: it stays in the second cache
DIRECT = 32  # columns up to which differences are as fast as a matrix product
DOUBT = 1e-3  # share of |a|^2 + |b|^2 below which |a|^2 + |b|^2 - 2ab is not trusted
CODES = {
    "euclidean": k.EUCLIDEAN,
    "sqeuclidean": k.SQUARED,
    "manhattan": k.MANHATTAN,
    "chebyshev": k.CHEBYSHEV,
    "minkowski": k.MINKOWSKI,
    "seuclidean": k.EUCLIDEAN,
    "mahalanobis": k.EUCLIDEAN,
    "cosine": k.SQUARED,
}
ALIASES = {"cityblock": "manhattan", "l1": "manhattan", "l2": "euclidean", "infinity": "chebyshev", "p": "minkowski"}
PRODUCTS = (k.EUCLIDEAN, k.SQUARED)


class Metric(NamedTuple):
    """A distance with all it has learnt.

    `scale` multiplies columns, `turn` is a matrix that rows are multiplied by, in both cases after `middle` has been
    subtracted (all are None otherwise).  `offset` is subtracted before matrix products (None where none are made).
    """

    name: str
    code: int
    power: float = 2.0
    scale: np.ndarray | None = None
    turn: np.ndarray | None = None
    middle: np.ndarray | None = None
    offset: np.ndarray | None = None


class Points(NamedTuple):
    """Rows ready for a metric; `squares` are norms of centred rows, `empty` marks rows that have no direction."""

    rows: np.ndarray
    squares: np.ndarray | None = None
    empty: np.ndarray | None = None

    def __len__(self):
        return self.rows.shape[0]


def is_known(name) -> bool:
    """Whether `learn_metric` takes this name."""
    return isinstance(name, str) and ALIASES.get(name, name) in CODES


def learn_metric(name, X, *, p=2.0, w=None, V=None, VI=None) -> Metric:
    """The metric of that name for tables like X.

    Parameters
    ----------
    name : str
        A key of `CODES` or `ALIASES`.
    X : ndarray of shape (n_samples, n_features)
        Reference table; variances, covariances and the offset are taken from it when they are not given.
    p : float, at least 1
        Power of "minkowski" (infinity is allowed).
    w : ndarray of shape (n_features,), default=None
        Weights of the columns of "minkowski".
    V : ndarray, default=None
        Variances of "seuclidean".
    VI : ndarray of shape (n_features, n_features), default=None
        Inverse covariance of "mahalanobis".
    """
    with single_threaded_blas():
        return _learn(ALIASES.get(name, name), X, p, w, V, VI)


def _learn(name, X, p, w, V, VI):
    metric = Metric(name, CODES[name])
    if name == "minkowski":
        metric = _learn_minkowski(metric, X.shape[1], float(p), w)
    elif name == "seuclidean":
        variance = np.var(X, axis=0, ddof=1, dtype=np.float64) if V is None else np.asarray(V, dtype=np.float64)
        with np.errstate(divide="ignore"):
            metric = metric._replace(scale=1.0 / np.sqrt(variance))
    elif name == "mahalanobis":
        inverse = np.linalg.inv(np.cov(X, rowvar=False).reshape(X.shape[1], -1)) if VI is None else np.asarray(VI)
        metric = metric._replace(turn=_root(inverse))
    if metric.scale is not None or metric.turn is not None:
        metric = metric._replace(middle=X.mean(axis=0, dtype=np.float64))
    if metric.code in PRODUCTS and X.shape[1] > DIRECT:
        metric = metric._replace(offset=_ready_rows(X, metric)[0].mean(axis=0, dtype=np.float64))
    return metric


def _learn_minkowski(metric, width, p, w):
    if not p > 0.0:
        raise ValueError("p must be greater than 0")
    if w is not None:
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (width,) or (w < 0).any():
            raise ValueError(
                f"w must hold one non-negative weight for each of the {width} columns, got shape {w.shape}"
            )
        metric = metric._replace(scale=(w > 0).astype(np.float64) if np.isinf(p) else w ** (1.0 / p))
    code = {1.0: k.MANHATTAN, 2.0: k.EUCLIDEAN, np.inf: k.CHEBYSHEV}.get(p, k.MINKOWSKI)
    return metric._replace(code=code, power=p)


def _root(inverse):
    """R with ``R R' = inverse``, a symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((inverse + inverse.T) / 2)
    if values[0] < -1e-10 * max(abs(values[-1]), abs(values[0])):
        raise ValueError(
            f"VI has the negative eigenvalue {values[0]:g}: no inverse covariance has one, and squared distances "
            "would be negative"
        )
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _ready_rows(X, metric):
    """Rows after scaling, turning or normalising, and which have no direction; X itself if there is nothing to do."""
    if metric.scale is not None:
        return (X - metric.middle) * metric.scale, None
    if metric.turn is not None:
        return (X - metric.middle) @ metric.turn, None
    if metric.name == "cosine":
        X = np.asarray(X, dtype=np.float64)
        size = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
        empty = size[:, 0] == 0.0
        size[empty] = 1.0
        X = X / size  # first, so that no square overflows or vanishes
        X /= np.sqrt(np.maximum((X * X).sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))
        return X, empty if empty.any() else None
    return X, None


def prepare(X, metric: Metric) -> Points:
    """A table made ready for `fill`: no copy unless the metric changes the rows."""
    with single_threaded_blas():
        rows, empty = _ready_rows(X, metric)
    rows = kernel_view(np.ascontiguousarray(rows))
    squares = None
    if metric.offset is not None:
        squares = np.empty(rows.shape[0])
        for part in spans(rows.shape[0], 4 * TILE):
            centred = rows[part] - metric.offset
            squares[part] = np.einsum("ij,ij->i", centred, centred)
    return Points(rows, squares, empty)


def fill(metric: Metric, A: Points, rows: slice, B: Points, columns: slice, tile) -> None:
    """Write the distances between some rows of A and of B into `tile` (C order, float64).

    Call it where BLAS runs on one thread (inside `thread_map`): then the bits depend on nothing but the tile.
    """
    a, b = np.asarray(A.rows[rows], dtype=np.float64), np.asarray(B.rows[columns], dtype=np.float64)
    if metric.offset is None:
        k.fill_tile(a, b, metric.code, metric.power, tile)
    else:
        a, b = a - metric.offset, b - metric.offset
        np.matmul(a, b.T, out=tile)
        k.finish_products(a, b, A.squares[rows], B.squares[columns], DOUBT, metric.code, tile)
    if metric.name == "cosine":
        tile *= 0.5  # |u - v|^2 = 2 - 2uv for unit vectors, and has more digits than 1 - uv
        for points, span, view in ((A, rows, tile), (B, columns, tile.T)):
            if points.empty is not None:
                view[points.empty[span]] = 1.0


def pairwise(metric: Metric, A: Points, B: Points | None = None, out=None, n_jobs=None):
    """Matrix of all distances; without B those within A, each computed once and written twice.

    `out` may be float32 or float64.
    """
    other = A if B is None else B
    out = np.empty((len(A), len(other))) if out is None else out
    strips = spans(len(other), TILE)

    def run(rows):
        scratch = np.empty(TILE * TILE)
        for columns in strips:
            if B is None and columns.start < rows.start:
                continue
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = scratch[: shape[0] * shape[1]].reshape(shape)
            fill(metric, A, rows, other, columns, tile)
            out[rows, columns] = tile
            if B is None and columns.start > rows.start:
                out[columns, rows] = tile.T

    thread_map(run, spans(len(A), TILE), n_jobs)
    return out
