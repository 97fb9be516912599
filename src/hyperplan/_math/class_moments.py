"""Counts, means, squares and scatter matrices of rows by class, each in one pass.

Squares are summed about a shift of each class (a mean over some of its rows), which keeps the digits of columns whose
mean is large against their spread, or whose classes lie far apart; what remains of the mean is removed afterwards.
Tasks depend on shapes only and are added in order, so threads change no bit.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans
from hyperplan._math._class_moments_kernels import (
    add_class_counts,
    add_class_squares,
    add_class_totals,
    add_present_squares,
    add_sparse_totals,
    gather_rows,
)
from hyperplan._math.moments import panel_rows, quiet_map, task_rows

SAMPLED_ROWS = 1024  # rows the shifts are means of
SMALL_TABLE = 1 << 16  # classes times columns up to which every task may have tables of its own
FEW_TASKS = 8  # tasks beyond that
NO_WEIGHT = np.empty(0)
SMALL_WORK = 1e7  # multiplications that are done before another thread has begun


class ClassMoments(NamedTuple):
    """Weighted sums by class, about the mean of each."""

    count: np.ndarray  # (k,), or (k, d) where entries may be missing
    mean: np.ndarray  # (k, d)
    square: np.ndarray  # (k, d): sums of squared deviations

    @property
    def finite(self) -> bool:
        """False when X held NaN or infinity, or values whose squares overflow."""
        return bool(np.isfinite(self.square).all())


class ClassTotals(NamedTuple):
    """Weighted sums by class, about zero."""

    count: np.ndarray  # (k,)
    total: np.ndarray  # (k, d)
    negative: int  # entries of X below zero

    @property
    def finite(self) -> bool:
        """False when X held NaN or infinity."""
        return bool(np.isfinite(self.total).all())


class ClassScatters(NamedTuple):
    """Rows, means and scatter matrices ``sum_i (x_i - mean)(x_i - mean)'`` of each class, or summed over all."""

    count: np.ndarray  # (k,)
    mean: np.ndarray  # (k, d)
    scatter: np.ndarray  # (k, d, d), or (d, d) when pooled
    order: np.ndarray  # (n,): rows sorted by class


def _row_spans(n, table_entries):
    """Spans of rows, one task each: fewer where each task needs a large table."""
    rows = task_rows(n)
    return spans(n, rows if table_entries <= SMALL_TABLE else max(rows, -(-n // FEW_TASKS)))


def worthwhile(n_jobs, work):
    """`n_jobs`, or 1 where a number of multiplications is not worth a second thread."""
    return 1 if work < SMALL_WORK else n_jobs


def _added(parts):
    """Sums of tuples of arrays in order."""
    first, *others = parts
    for other in others:
        for total, part in zip(first, other):
            total += part
    return first


def class_shifts(X, codes, n_classes, missing=False):
    """(k, d) means over sampled rows of each class; its first row where none was sampled, zeros where there is none.

    With `missing`, means of what is present; where nothing was, an entry of the column.
    """
    n = X.shape[0]
    step = max(1, n // SAMPLED_ROWS)
    sample, sampled = X[::step], codes[::step]
    shift = np.zeros((n_classes, X.shape[1]))
    seen = np.bincount(sampled, minlength=n_classes) > 0
    with np.errstate(invalid="ignore", over="ignore"):
        for c in np.flatnonzero(seen):
            shift[c] = (_present_means if missing else _near_means)(sample[sampled == c])
    if not seen.all():
        start = np.full(n_classes, -1)
        start[codes[::-1]] = np.arange(n - 1, -1, -1)
        alone = ~seen & (start >= 0)
        shift[alone] = X[start[alone]]
    if missing:
        for j in np.flatnonzero(np.isnan(shift).any(axis=0)):
            place = np.isnan(X[:, j]).argmin()
            shift[np.isnan(shift[:, j]), j] = X[place, j]
    shift[~np.isfinite(shift)] = 0.0
    return shift


def _near_means(rows):
    """Means of columns, as differences from the first row."""
    first = rows[0].astype(np.float64)
    return first + (rows - first).mean(axis=0)


def _present_means(rows):
    """The same for entries that are not NaN."""
    present = ~np.isnan(rows)
    first = rows[present.argmax(axis=0), np.arange(rows.shape[1])].astype(np.float64)
    gaps = np.where(present, rows - first, 0.0).sum(axis=0)
    return first + gaps / np.maximum(present.sum(axis=0), 1)


def class_moments(X, codes, n_classes, weight=None, *, missing=False, n_jobs=None) -> ClassMoments:
    """Counts, means and squares of the rows of each class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered, float32 or float64; the sums are float64.
    codes : ndarray of shape (n,)
        Class of each row, 0 to `n_classes` - 1.
    n_classes : int
        Number of classes; some may have no row: their means and squares are zero.
    weight : ndarray of shape (n,), default=None
        Weights of rows.
    missing : bool, default=False
        Leave NaN out, column by column; then counts are (k, d).  Otherwise NaN and infinities reach the result.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    ClassMoments
        The sums.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.class_moments import class_moments
    >>> class_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2)
    ClassMoments(count=array([2., 1.]), mean=array([[2.],
           [7.]]), square=array([[2.],
           [0.]]))
    """
    n, d = X.shape
    shape = (n_classes, d)
    shift = class_shifts(X, codes, n_classes, missing)
    kernel = add_present_squares if missing else add_class_squares

    def task(rows):
        sums = np.zeros(shape if missing else n_classes), np.zeros(shape), np.zeros(shape)
        kernel(X[rows], codes[rows], NO_WEIGHT if weight is None else weight[rows], shift, *sums)
        return sums

    count, total, square = _added(quiet_map(task, _row_spans(n, n_classes * d), n_jobs))
    with np.errstate(invalid="ignore", over="ignore"):
        divisor = count if missing else count[:, None]
        rest = total / np.where(divisor > 0, divisor, 1.0)
        mean = np.where(divisor > 0, shift + rest, 0.0)
        square = np.maximum(square - divisor * rest**2, 0.0)  # NaN stays NaN
    return ClassMoments(count, mean, square)


def merged_moments(one: ClassMoments, other: ClassMoments) -> ClassMoments:
    """Moments of the rows of both.

    References
    ----------
    Chan, Golub, LeVeque (1979), Updating formulae and a pairwise algorithm for computing sample variances.
    """
    count = one.count + other.count
    divisor = np.where(count > 0, count, 1.0)
    share, product = other.count / divisor, one.count * other.count / divisor
    if share.ndim == 1:
        share, product = share[:, None], product[:, None]
    gap = other.mean - one.mean
    mean = np.where(share < 1, one.mean + share * gap, other.mean)
    return ClassMoments(count, mean, one.square + other.square + product * gap**2)


def pooled_moments(moments: ClassMoments):
    """Mean and sum of squared deviations of all rows together, column by column."""
    count = moments.count if moments.count.ndim == 2 else moments.count[:, None]
    total = np.broadcast_to(count, moments.mean.shape).sum(axis=0)
    mean = (count * moments.mean).sum(axis=0) / np.where(total > 0, total, 1.0)
    return mean, (moments.square + count * (moments.mean - mean) ** 2).sum(axis=0)


def class_totals(X, codes, n_classes, weight=None, *, above=None, n_jobs=None) -> ClassTotals:
    """Sums of the rows of each class, for dense C-ordered or CSR X; with `above`, of ``X > above`` instead of X."""
    n, d = X.shape
    require_memory(8 * n_classes * d, f"A table of {n_classes} classes and {d} columns", "use fewer columns")
    weight = NO_WEIGHT if weight is None else weight
    if sp.issparse(X):
        totals = np.zeros(n_classes), np.zeros((n_classes, d))
        matrix = compressed(X)
        if above is not None:
            matrix = matrix._replace(data=(matrix.data > above) + 0.0 * matrix.data)  # the last term spreads NaN
        negative = add_sparse_totals(matrix, codes, weight, *totals)
        return ClassTotals(*totals, int(negative))

    def task(rows):
        totals = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros(1)
        if above is None:
            totals[2][0] = add_class_totals(X[rows], codes[rows], weight[rows], *totals[:2])
        else:
            add_class_counts(X[rows], codes[rows], weight[rows], above, *totals[:2])
        return totals

    count, total, negative = _added(quiet_map(task, _row_spans(n, n_classes * d), n_jobs))
    return ClassTotals(count, total, int(negative[0]))


def class_order(codes, n_classes):
    """Rows sorted by class (stable), and the first place of each class in that order, with the end."""
    small = np.int16 if n_classes < 2**15 else np.intp  # short keys are sorted by radix
    order = np.argsort(codes.astype(small), kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])


def class_scatters(X, codes, n_classes, *, pooled=False, n_jobs=None) -> ClassScatters:
    """Means and scatter matrices of the rows of each class; pooled, one matrix for all about the means of each.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered, float32 or float64.
    codes : ndarray of shape (n,)
        Class of each row.
    n_classes : int
        Number of classes.
    pooled : bool, default=False
        Add the matrices up.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    ClassScatters
        The sums; NaN and infinities of X reach them.
    """
    n, d = X.shape
    matrices = 1 if pooled else n_classes
    require_memory(8 * d * d * (matrices + 2), f"Scatter matrices of {d} columns", "use fewer columns or 'lsqr'")
    shift = class_shifts(X, codes, n_classes)
    order, starts = class_order(codes, n_classes)
    rows = task_rows(n) if d * d <= SMALL_TABLE else max(task_rows(n), -(-n // FEW_TASKS))
    parts = [
        (c, slice(starts[c] + part.start, starts[c] + part.stop))
        for c in range(n_classes)
        for part in spans(int(starts[c + 1] - starts[c]), rows)
    ]
    panel = panel_rows(d)

    def task(part):
        c, span = part
        buffer = np.empty((min(panel, span.stop - span.start), d))
        total, square = np.zeros(d), np.zeros((d, d))
        for start in range(span.start, span.stop, panel):
            chosen = order[start : min(start + panel, span.stop)]
            filled = buffer[: chosen.shape[0]]
            gather_rows(X, chosen, shift[c], filled)
            total += filled.sum(axis=0)
            square += filled.T @ filled
        return total, square

    count = np.diff(starts).astype(np.float64)
    total, scatter = np.zeros((n_classes, d)), np.zeros((matrices, d, d))
    results = quiet_map(task, parts, worthwhile(n_jobs, n * d * d))
    with np.errstate(invalid="ignore", over="ignore"):
        for (c, _), (sums, square) in zip(parts, results):
            total[c] += sums
            scatter[0 if pooled else c] += square
        rest = total / np.where(count > 0, count, 1.0)[:, None]
        if pooled:
            scatter[0] -= (count[:, None] * rest).T @ rest
        else:
            scatter -= count[:, None, None] * rest[:, :, None] * rest[:, None, :]
    return ClassScatters(count, shift + rest, scatter[0] if pooled else scatter, order)


def between_scatter(count, mean):
    """``sum_k n_k (mean_k - mean)(mean_k - mean)'`` and the overall mean."""
    overall = count @ mean / count.sum()
    gap = mean - overall
    return (count[:, None] * gap).T @ gap, overall
