"""How well an embedding keeps distances: residual variance, stress, kept variance, and the elbow of a curve of them.

Distances are compared tile by tile; nothing of size n x n is made, unless the caller's distances are such a matrix.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._base import FLOATS, check_array, check_consistent_length
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.distances import TILE
from hyperplan.metrics._arguments import Choice, checked
from hyperplan.metrics._distance_source import METRIC, distance_source


class _Sums(NamedTuple):
    """Sums over all ordered pairs of points, of distances x before and y after; `gaps` sums x^2 - y^2 by row."""

    x: float
    y: float
    xx: float
    yy: float
    xy: float
    difference: float  # (x - y)^2
    squares: float  # (x^2 - y^2)^2
    gaps: np.ndarray


def _compare(X, embedding, metric) -> tuple[int, _Sums]:
    """Number of points and sums; each strip of rows is one task, strips are added in order."""
    X = check_array(X, dtype=FLOATS)
    embedding = check_array(embedding, dtype=FLOATS)
    check_consistent_length(X, embedding)
    before, after = distance_source(X, metric), distance_source(embedding, "euclidean")
    if before.n_rows != before.n_columns:
        raise ValueError(f"A precomputed distance matrix must be square, got shape {X.shape}")
    n = before.n_rows
    gaps = np.zeros(n)

    def run(rows):
        totals = np.zeros(7)
        for columns in spans(n, TILE):
            x, y = np.empty((2, rows.stop - rows.start, columns.stop - columns.start))
            before.fill(rows, columns, x)
            after.fill(rows, columns, y)
            gap, square = x - y, x * x - y * y
            gaps[rows] += square.sum(axis=1)
            pairs = ((x, x), (y, y), (x, y), (gap, gap), (square, square))
            totals += [x.sum(), y.sum(), *(float((u * v).sum()) for u, v in pairs)]
        return totals

    return n, _Sums(*np.sum(thread_map(run, spans(n, TILE)), axis=0).tolist(), gaps)


@checked(metric=METRIC)
def residual_variance(X, embedding, *, metric="euclidean"):
    """Share of the variance of distances that an embedding does not explain: ``1 - corr^2``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Points before, or distances between them (geodesic ones, for Isomap).
    embedding : array-like of shape (n_samples, n_components)
        Points after; their distances are Euclidean.
    metric : str or callable, default="euclidean"
        Distance of the points before; "precomputed" when X holds distances.

    Returns
    -------
    residual : float
        Between 0 (distances after are proportional, up to a constant) and 1.  Drawn against the number of components
        it bends at the dimension of the data: see `elbow`.

    References
    ----------
    Tenenbaum, de Silva, Langford (2000), A global geometric framework for nonlinear dimensionality reduction.

    Examples
    --------
    >>> from hyperplan.metrics import residual_variance
    >>> residual_variance([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]], [[0.0], [2.0], [6.0]])
    0.0
    """
    n, sums = _compare(X, embedding, metric)
    m = n * (n - 1)  # ordered pairs of different points; the others add nothing
    if m == 0:
        return 0.0
    shared = sums.xy - sums.x * sums.y / m
    spread = (sums.xx - sums.x**2 / m) * (sums.yy - sums.y**2 / m)
    if spread <= 0.0:  # all distances are equal before or after: nothing to correlate
        return 1.0
    return min(max(1.0 - shared**2 / spread, 0.0), 1.0)


@checked(metric=METRIC, kind=Choice("classical", "raw", "kruskal"))
def stress(X, embedding, *, metric="euclidean", kind="classical"):
    """Difference between the distances before and after an embedding.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Points before, or distances between them.
    embedding : array-like of shape (n_samples, n_components)
        Points after; their distances are Euclidean.
    metric : str or callable, default="euclidean"
        Distance of the points before; "precomputed" when X holds distances.
    kind : {"classical", "raw", "kruskal"}, default="classical"
        "classical": Frobenius norm of the difference of the doubly centred squared distances, which classical scaling
        and Isomap minimise.  "raw": sum over pairs of squared differences.  "kruskal": square root of that, divided by
        the sum of squared distances before.

    Returns
    -------
    stress : float
        0 when all distances are kept.

    Examples
    --------
    >>> from hyperplan.metrics import stress
    >>> stress([[0.0], [1.0], [3.0]], [[0.0], [1.0], [3.0]])
    0.0
    """
    n, sums = _compare(X, embedding, metric)
    if kind == "raw":
        return sums.difference / 2.0
    if kind == "kruskal":
        return math.sqrt(sums.difference / sums.xx) if sums.xx else 0.0
    # |H E H|^2 = |E|^2 - (2 / n) sum of squared row sums + (sum of all)^2 / n^2, E the difference of squares
    centred = sums.squares - 2.0 / n * float((sums.gaps**2).sum()) + float(sums.gaps.sum()) ** 2 / n**2
    return 0.5 * math.sqrt(max(centred, 0.0))


def explained_variance_ratio(eigenvalues):
    """Share of each eigenvalue in the sum of the positive ones.

    Distances that are not Euclidean give multidimensional scaling negative eigenvalues: they explain nothing, and
    count neither above nor below the bar.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_components,)
        Eigenvalues of a covariance or of a doubly centred matrix, in any order.

    Returns
    -------
    ratio : ndarray of shape (n_components,)
        Non-negative numbers that add up to 1, or zeros if no eigenvalue is positive.

    Examples
    --------
    >>> from hyperplan.metrics import explained_variance_ratio
    >>> explained_variance_ratio([3.0, 1.0, -0.5])
    array([0.75, 0.25, 0.  ])
    """
    values = np.maximum(check_array(eigenvalues, ensure_2d=False, dtype=np.float64), 0.0)
    total = values.sum()
    return values / total if total > 0.0 else values


def elbow(curve):
    """Where a falling curve bends most: the place of its largest second difference.

    A visual rule of thumb, stated as a rule: look at the curve as well.

    Parameters
    ----------
    curve : array-like of shape (n_values,)
        For example residual variances of embeddings into 1, 2, 3, ... dimensions.

    Returns
    -------
    index : int
        Position in the curve; one more is the dimension, if the curve starts at dimension one.

    Examples
    --------
    >>> from hyperplan.metrics import elbow
    >>> elbow([0.5, 0.1, 0.08, 0.07])
    1
    """
    curve = check_array(curve, ensure_2d=False, dtype=np.float64, ensure_min_samples=3)
    return int(np.argmax(np.diff(curve, 2))) + 1
