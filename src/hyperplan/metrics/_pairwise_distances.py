"""Matrices of distances, whole or in horizontal strips, and the nearest of other points."""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import DataConversionWarning, check_array, get_config
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.distances import TILE
from hyperplan.metrics._arguments import Choice, Int, Is, Null, OneOf, Real, checked
from hyperplan.metrics._distance_source import BOOLEAN, BY_SCIPY, KNOWN, METRIC, SPARSE, Source, distance_source

JOBS = OneOf(Int(), Null)
FINITE = Is(lambda v: isinstance(v, bool) or v == "allow-nan", "an instance of 'bool' or 'allow-nan'")
METRIC_OF_POINTS = OneOf(Choice(*KNOWN), Is(callable, "a callable"))


def check_pair(X, Y, dtype="floats", ensure_all_finite=True, ensure_2d=True):
    """Two tables of equal width and type, float32 if both are; Y is X when it is None."""
    options = {"accept_sparse": "csr", "ensure_all_finite": ensure_all_finite, "ensure_2d": ensure_2d}
    if dtype == "floats":
        narrow = all(getattr(Z, "dtype", None) == np.float32 for Z in (X, X if Y is None else Y))
        dtype = np.float32 if narrow else np.float64
    options["dtype"] = dtype
    if Y is None or Y is X:
        X = Y = check_array(X, **options)
    else:
        X, Y = check_array(X, **options), check_array(Y, **options)
    if ensure_2d and X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"Incompatible dimension for X and Y matrices: X.shape[1] == {X.shape[1]} while Y.shape[1] == {Y.shape[1]}"
        )
    return X, Y


def _source(X, Y, metric, ensure_all_finite=True, **options) -> tuple[Source, np.dtype]:
    """Checked tables as a source, and the type of the result."""
    dtype = "floats"
    if metric in BOOLEAN:
        dtype = bool
        if any(Z is not None and np.asarray(Z).dtype.kind != "b" for Z in (X, Y)):
            warnings.warn(f"Data was converted to boolean for metric {metric}", DataConversionWarning, stacklevel=4)
    elif (sp.issparse(X) or sp.issparse(Y)) and not callable(metric) and metric not in SPARSE:
        raise TypeError("scipy distance metrics do not support sparse matrices.")
    if metric == "nan_euclidean":
        ensure_all_finite = "allow-nan"
    if callable(metric):  # a function of two rows may take rows of any kind: what they are made of stays as it is
        X, Y = check_pair(X, Y, None, ensure_all_finite, ensure_2d=False)
    else:
        X, Y = check_pair(X, Y, dtype, ensure_all_finite)
    for name, needed in (("seuclidean", "V"), ("mahalanobis", "VI")):
        if metric == name and X is not Y and options.get(needed) is None:
            raise ValueError(f"The {needed!r} parameter is required for the {name} metric when Y is passed.")
    for name in ("Y_norm_squared", "X_norm_squared"):  # of no use here: distances come from differences
        options.pop(name, None)
    if metric in ("euclidean", "l2") and options.pop("squared", False):
        metric = "sqeuclidean"
    source = distance_source(X, metric, None if Y is X else Y, **options)
    return source, np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def _fill_rows(source: Source, rows, out, n_jobs, is_symmetric=False):
    """Distances of some rows to all columns, in threads; if symmetric each pair is computed once and written twice."""

    def run(part):
        for columns in spans(source.n_columns, TILE):
            if is_symmetric and columns.start < part.start:
                continue
            tile = np.empty((part.stop - part.start, columns.stop - columns.start))
            source.fill(slice(rows.start + part.start, rows.start + part.stop), columns, tile)
            out[part, columns] = tile
            if is_symmetric and columns.start > part.start:
                out[columns, part] = tile.T

    thread_map(run, spans(rows.stop - rows.start, TILE), n_jobs)
    return out


@checked(metric=METRIC, n_jobs=JOBS, ensure_all_finite=FINITE)
def pairwise_distances(X, Y=None, metric="euclidean", *, n_jobs=None, ensure_all_finite=True, **kwds):
    """Matrix of the distances between all rows of X and of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features), or (n_samples_X, n_samples_Y) if precomputed
        First table, or distances, which are checked and returned.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        Second table; None means X.
    metric : str or callable, default="euclidean"
        Name of a distance, "precomputed", or a function of two rows.
    n_jobs : int, default=None
        Threads; None means all cores.
    ensure_all_finite : bool or "allow-nan", default=True
        Whether NaN and infinity are refused; for functions that take them.
    **kwds : dict
        Parameters of the metric.

    Returns
    -------
    D : ndarray of shape (n_samples_X, n_samples_Y)
        float32 if both tables are, else float64; arithmetic is float64.

    Examples
    --------
    >>> from hyperplan.metrics import pairwise_distances
    >>> pairwise_distances([[0.0, 0.0], [3.0, 4.0]], metric="manhattan")
    array([[0., 7.],
           [7., 0.]])
    """
    if metric == "precomputed":
        return _check_precomputed(X, Y, ensure_all_finite)
    source, dtype = _source(X, Y, metric, ensure_all_finite, **kwds)
    n, m = source.n_rows, source.n_columns
    advice = "use pairwise_distances_chunked, or float32"
    require_memory(float(dtype.itemsize) * n * m, f"The {n} x {m} distances", advice)
    out = np.empty((n, m), dtype=dtype)
    is_symmetric = (Y is None or Y is X) and not callable(metric)
    _fill_rows(source, slice(0, n), out, 1 if callable(metric) else n_jobs, is_symmetric)
    if is_symmetric and metric in (*BY_SCIPY, "cosine"):
        np.fill_diagonal(out, 0.0)  # not always so after rounding, or of rows without a direction
    return out


def _check_precomputed(D, Y, ensure_all_finite):
    D = check_array(D, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=ensure_all_finite)
    n_indexed = D.shape[0] if Y is None else check_array(Y, accept_sparse="csr").shape[0]
    if D.shape[1] != n_indexed:
        raise ValueError(
            "Precomputed metric requires shape (n_queries, n_indexed). Got "
            f"({D.shape[0]}, {D.shape[1]}) for {n_indexed} indexed."
        )
    values = D.data if sp.issparse(D) else D
    if values.size and values.min() < 0:
        raise ValueError(
            "Negative values in data passed to `pairwise_distances`. Precomputed distance  need to have non-negative "
            "values."
        )
    return D


@checked(
    reduce_func=OneOf(Is(callable, "a callable"), Null),
    metric=METRIC,
    n_jobs=JOBS,
    working_memory=OneOf(Real(ge=0), Null),
)
def pairwise_distances_chunked(
    X, Y=None, *, reduce_func=None, metric="euclidean", n_jobs=None, working_memory=None, **kwds
):
    """Generate the matrix of distances in horizontal strips.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features), or square if precomputed
        First table, or distances (which come back in one piece).
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        Second table; None means X.
    reduce_func : callable, default=None
        ``reduce_func(strip, start)``, whose result is generated instead: an array, a list or a sparse matrix with one
        entry per row, a tuple of such, or None.
    metric : str or callable, default="euclidean"
        Name of a distance, "precomputed", or a function of two rows.
    n_jobs : int, default=None
        Threads; None means all cores.
    working_memory : float, default=None
        Mebibytes of a strip; None means scikit-learn's setting (1024).
    **kwds : dict
        Parameters of the metric.

    Yields
    ------
    strip : ndarray of shape (n_rows, n_samples_Y) or what `reduce_func` returned
        In the order of the rows.

    Examples
    --------
    >>> from hyperplan.metrics import pairwise_distances_chunked
    >>> [strip.shape for strip in pairwise_distances_chunked([[0.0], [1.0], [5.0]])]
    [(3, 3)]
    """
    return _strips(X, Y, reduce_func, metric, n_jobs, working_memory, kwds)


def _strips(X, Y, reduce_func, metric, n_jobs, working_memory, kwds):
    if metric == "precomputed":
        strips = [(0, pairwise_distances(X, Y, metric=metric, n_jobs=n_jobs, **kwds))]
    else:
        source, dtype = _source(X, Y, metric, **kwds)
        mebibytes = get_config()["working_memory"] if working_memory is None else working_memory
        size = max(1, int(mebibytes * 2**20 // (8 * source.n_columns)))
        jobs = 1 if callable(metric) else n_jobs
        strips = (
            (rows.start, _fill_rows(source, rows, np.empty((rows.stop - rows.start, source.n_columns), dtype), jobs))
            for rows in spans(source.n_rows, size)
        )
    for start, strip in strips:
        if reduce_func is None:
            yield strip
        else:
            reduced = reduce_func(strip, start)
            _check_reduced(reduced, strip.shape[0])
            yield reduced


def _check_reduced(reduced, n_rows):
    """A reduction keeps one entry per row, so that strips can be put together again."""
    if reduced is None:
        return
    parts = reduced if isinstance(reduced, tuple) else (reduced,)
    if any(isinstance(part, tuple) or not hasattr(part, "__iter__") for part in parts):
        raise TypeError(f"reduce_func returned {reduced!r}. Expected sequence(s) of length {n_rows}.")
    lengths = tuple(part.shape[0] if hasattr(part, "shape") else len(part) for part in parts)
    if any(length != n_rows for length in lengths):
        shown = lengths if isinstance(reduced, tuple) else lengths[0]
        raise ValueError(f"reduce_func returned object of length {shown}. Expected same length as input: {n_rows}.")


@checked(axis=Is(lambda v: v in (0, 1), "0 or 1"), metric=METRIC_OF_POINTS)
def pairwise_distances_argmin_min(X, Y, *, axis=1, metric="euclidean", metric_kwargs=None):
    """The nearest row of Y for each row of X, and its distance; memory grows with the number of rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        First table.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features)
        Second table.
    axis : {0, 1}, default=1
        1 looks for the nearest of Y; 0 for the nearest row of X for each row of Y.
    metric : str or callable, default="euclidean"
        Name of a distance or a function of two rows.
    metric_kwargs : dict, default=None
        Parameters of the metric.

    Returns
    -------
    argmin : ndarray of shape (n_samples,), intp
        Positions of the nearest; the first of several.
    distances : ndarray of shape (n_samples,)
        Distances to them.

    Examples
    --------
    >>> from hyperplan.metrics import pairwise_distances_argmin_min
    >>> pairwise_distances_argmin_min([[0.0], [7.0]], [[1.0], [5.0], [9.0]])
    (array([0, 1]), array([1., 2.]))
    """
    source, dtype = _source(*((X, Y) if axis == 1 else (Y, X)), metric, **(metric_kwargs or {}))
    place, least = np.zeros(source.n_rows, np.intp), np.full(source.n_rows, np.inf)

    def run(rows):
        every = np.arange(rows.stop - rows.start)
        for columns in spans(source.n_columns, TILE):
            tile = np.empty((rows.stop - rows.start, columns.stop - columns.start))
            source.fill(rows, columns, tile)
            nearest = tile.argmin(axis=1)
            value = tile[every, nearest]
            closer = value < least[rows]
            place[rows][closer] = nearest[closer] + columns.start
            least[rows][closer] = value[closer]

    thread_map(run, spans(source.n_rows, TILE), 1 if callable(metric) else None)
    return place, least.astype(dtype, copy=False)


@checked(axis=Is(lambda v: v in (0, 1), "0 or 1"), metric=METRIC_OF_POINTS)
def pairwise_distances_argmin(X, Y, *, axis=1, metric="euclidean", metric_kwargs=None):
    """The nearest row of Y for each row of X.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        First table.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features)
        Second table.
    axis : {0, 1}, default=1
        1 looks for the nearest of Y; 0 for the nearest row of X for each row of Y.
    metric : str or callable, default="euclidean"
        Name of a distance or a function of two rows.
    metric_kwargs : dict, default=None
        Parameters of the metric.

    Returns
    -------
    argmin : ndarray of shape (n_samples,), intp
        Positions of the nearest; the first of several.

    Examples
    --------
    >>> from hyperplan.metrics import pairwise_distances_argmin
    >>> pairwise_distances_argmin([[0.0], [7.0]], [[1.0], [5.0], [9.0]])
    array([0, 1])
    """
    return pairwise_distances_argmin_min(X, Y, axis=axis, metric=metric, metric_kwargs=metric_kwargs)[0]
