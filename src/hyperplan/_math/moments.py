"""First and second moments of a design in one pass: what least squares, ridge and the Gram-based solvers need.

``gram = sum_i w_i (x_i - mean)(x_i - mean)'`` and ``cross = sum_i w_i (x_i - mean)(y_i - y_mean)'`` are summed over row
panels that fit the second-level cache.  A panel is copied once into a buffer ``sqrt(w) [X - shift, 1, Y - shift]``, and
one symmetric product of that buffer gives the sums, the Gram matrix, the cross products and the squares of the targets.
The shift (a mean over sampled rows) keeps the digits of columns whose mean is large against their spread; what
remains of the mean is removed afterwards.  Panels and tiles depend on shapes only, so threads change no bit.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.row_design import (
    FEW_TARGETS,
    centred_design,
    is_readable,
    rows_gram,
    shifted_design,
    times,
    transposed_times,
)

PANEL_ENTRIES = 1 << 17  # one panel buffer: 1 MiB of float64
TASK_ROWS = 8192  # rows of one task, when the Gram matrix is small
SMALL_GRAM = 512  # up to this many columns each task has its own Gram matrix; beyond, tasks share one by tiles
TILE = 384  # side of a tile of a large Gram matrix
SLAB = 1024  # rows of the shared buffer that large Gram matrices are summed from
WIDE_SLAB = 2048  # columns of the shared buffer that Gram matrices of rows are summed from
SAMPLED_ROWS = 256  # rows the shift is the mean of
MANY_TARGETS = 16  # beyond, the products between targets are not worth computing


def quiet_map(task, items, n_jobs=None):
    """`thread_map` whose tasks let NaN and overflow pass silently (NumPy's error state belongs to a thread)."""

    def quiet(item):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            return task(item)

    return thread_map(quiet, items, n_jobs)


class Moments(NamedTuple):
    """Weighted sums about the means (about zero without centring)."""

    total: float  # sum of weights
    x_mean: np.ndarray  # (d,)
    y_mean: np.ndarray  # (k,)
    gram: np.ndarray  # (d, d)
    cross: np.ndarray  # (d, k)
    y_square: np.ndarray  # (k,)

    @property
    def finite(self) -> bool:
        """False when X held NaN or infinity, or values whose squares overflow."""
        return all(np.isfinite(sums).all() for sums in (np.diagonal(self.gram), self.cross, self.y_square))


def moments(X, Y, weight=None, *, center=True, n_jobs=None) -> Moments:
    """Means, Gram matrix and cross products of `X` (dense of any order, CSR or CSC) and `Y` of shape (n, k).

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Float32 or float64; the sums are float64.  NaN and infinities pass through to the result.
    Y : ndarray of shape (n, k)
        Targets.
    weight : ndarray of shape (n,), default=None
        Non-negative weights of rows.
    center : bool, default=True
        Sum about the weighted means instead of about zero.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    Moments
        The sums.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.moments import moments
    >>> m = moments(np.array([[1.0], [3.0]]), np.array([[0.0], [4.0]]))
    >>> m.x_mean, m.gram, m.cross
    (array([2.]), array([[2.]]), array([[4.]]))
    """
    d = X.shape[1]
    require_memory(8 * d * (d + 1 + Y.shape[1]), f"The Gram matrix of {d} columns", "use fewer columns")
    with np.errstate(invalid="ignore", over="ignore"):
        if sp.issparse(X):
            X = X.tocsr()
            if not _densify_pays(X):
                return _sparse_moments(X, Y, weight, center)
        shift = _shifts(X, Y, center)
        root = None if weight is None else np.sqrt(weight)
        summed = _sum_by_rows if d + 1 + Y.shape[1] <= SMALL_GRAM else _sum_by_tiles
        gram, cross, y_square = summed(X, Y, root, shift, n_jobs)
        return _about_means(gram, cross, y_square, shift, center)


def _shifts(X, Y, center):
    """Means of X and of Y over sampled rows (zero without centring), exact for constant columns."""
    if not center or X.shape[0] == 0:
        return np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    step = max(1, X.shape[0] // SAMPLED_ROWS)

    def shift(A):
        sample = A[::step].toarray() if sp.issparse(A) else A[::step]
        first = sample[0].astype(np.float64)
        return _finite_or_zero(first + (sample - first).mean(axis=0))

    return shift(X), shift(Y)


def _finite_or_zero(values):
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, 0.0)


def fill_panel(X, shift, out):
    """``out[:] = X - shift`` for a row panel of any kind; float64 whatever X is."""
    if sp.issparse(X):
        out[...] = X.toarray()
        out -= shift
    elif X.dtype == np.float64:
        np.subtract(X, shift, out=out)
    else:
        out[...] = X
        out -= shift


def _fill(X, Y, root, shift, buffer):
    """Rows of ``sqrt(w) [X - shift, 1, Y - shift]``."""
    d = X.shape[1]
    fill_panel(X, shift[0], buffer[:, :d])
    buffer[:, d] = 1.0
    np.subtract(Y, shift[1], out=buffer[:, d + 1 :])
    if root is not None:
        buffer *= root[:, None]


def panel_rows(width) -> int:
    """Rows of a panel of `width` columns."""
    return max(256, PANEL_ENTRIES // max(width, 1))


def memory_order(X) -> str:
    """The order in which panels of X are copied fastest."""
    return "F" if not sp.issparse(X) and X.flags.f_contiguous and not X.flags.c_contiguous else "C"


def task_rows(n) -> int:
    """Rows of one task: at most about 64 tasks, each worth its thread."""
    return max(TASK_ROWS, -(-n // 64))


def _sum_by_rows(X, Y, root, shift, n_jobs):
    """Few columns: every task sums its own rows, the results are added in order."""
    n, d = X.shape
    k = Y.shape[1]
    rows = panel_rows(d + 1 + k)
    together = k <= MANY_TARGETS

    def task(span):
        buffer = np.empty((min(rows, span.stop - span.start), d + 1 + k), order=memory_order(X))
        square = np.zeros((d + 1 + k if together else d + 1, d + 1 + k))
        y_square = np.zeros(k)
        for start in range(span.start, span.stop, rows):
            stop = min(start + rows, span.stop)
            part = buffer[: stop - start]
            _fill(X[start:stop], Y[start:stop], None if root is None else root[start:stop], shift, part)
            if together:
                square += part.T @ part
            else:
                left, right = part[:, : d + 1], part[:, d + 1 :]
                square[:, : d + 1] += left.T @ left
                square[:, d + 1 :] += left.T @ right
                y_square += np.einsum("ij,ij->j", right, right)
        if together:
            y_square = np.diagonal(square)[d + 1 :].copy()
        return square[: d + 1], y_square

    parts = quiet_map(task, spans(n, task_rows(n)), n_jobs)
    if not parts:
        return np.zeros((d + 1, d + 1)), np.zeros((d + 1, k)), np.zeros(k)
    square, y_square = parts[0]
    for other, other_y in parts[1:]:
        square += other
        y_square += other_y
    return square[:, : d + 1], square[:, d + 1 :], y_square


def _sum_by_tiles(X, Y, root, shift, n_jobs):
    """Many columns: row slabs in sequence, the tiles of the one Gram matrix in parallel."""
    n, d = X.shape
    width = d + 1 + Y.shape[1]
    square = np.zeros((d + 1, width))
    y_square = np.zeros(Y.shape[1])
    buffer = np.empty((min(SLAB, n), width), order=memory_order(X))
    tiles = [(i, j) for i in spans(d + 1, TILE) for j in spans(width, TILE) if j.stop > i.start]
    for slab in spans(n, SLAB):
        part = buffer[: slab.stop - slab.start]

        def fill(rows, slab=slab, part=part):
            at = slice(slab.start + rows.start, slab.start + rows.stop)
            _fill(X[at], Y[at], None if root is None else root[at], shift, part[rows])

        def multiply(tile, part=part):
            i, j = tile
            square[i, j] += part[:, i].T @ part[:, j]

        quiet_map(fill, spans(slab.stop - slab.start, SLAB // 8), n_jobs)
        quiet_map(multiply, tiles, n_jobs)
        targets = part[:, d + 1 :]
        y_square += np.einsum("ij,ij->j", targets, targets)
    gram = square[:, : d + 1]
    mirror_upper(gram)
    return gram, square[:, d + 1 :], y_square


def mirror_upper(square):
    """Copy the upper triangle of tiles to the lower one, in place."""

    def mirror(i):
        square[i.stop :, i] = square[i, i.stop :].T
        square[i, i] = np.triu(square[i, i]) + np.triu(square[i, i], 1).T

    quiet_map(mirror, spans(square.shape[0], TILE))


def add_outer(square, vector, factor):
    """``square += factor * vector vector'`` in place, by rows that fit a cache."""

    def add(i):
        square[i] += (factor * vector[i])[:, None] * vector

    quiet_map(add, spans(square.shape[0], TILE))


def one_norm(square) -> float:
    """Largest sum of absolute values of a column."""
    parts = quiet_map(lambda i: np.abs(square[i]).sum(axis=0), spans(square.shape[0], TILE))
    return float(sum(parts, np.zeros(square.shape[1])).max(initial=0.0))


def _about_means(gram, cross, y_square, shift, center) -> Moments:
    """Remove the means that the shifts left over.  `gram` has the sums in its last row and column."""
    d = gram.shape[0] - 1
    total = float(gram[d, d])
    x_square, x_cross = np.ascontiguousarray(gram[:d, :d]), np.ascontiguousarray(cross[:d])
    if not center or total == 0:
        return Moments(total, shift[0], shift[1], x_square, x_cross, y_square)
    x_rest, y_rest = gram[d, :d] / total, cross[d] / total
    x_square -= total * np.outer(x_rest, x_rest)
    x_cross -= np.outer(total * x_rest, y_rest)
    np.fill_diagonal(x_square, np.maximum(np.diagonal(x_square), 0.0))
    y_square = np.maximum(y_square - total * y_rest**2, 0.0)
    return Moments(total, shift[0] + x_rest, shift[1] + y_rest, x_square, x_cross, y_square)


def _densify_pays(X) -> bool:
    """Whether dense panels (d^2 multiplications a row, 16 at a time) beat the sparse product (nnz^2, one at a time)."""
    n, d = X.shape
    per_row = np.diff(X.indptr).astype(np.float64)
    return d + 1 <= SMALL_GRAM and 16.0 * float(per_row @ per_row) > float(n) * d * d


def _sparse_moments(X, Y, weight, center) -> Moments:
    """Sparse products; the means are subtracted afterwards (sparse columns have small means)."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    total = float(weight.sum())
    X = X.astype(np.float64, copy=False)
    weighted = X.multiply(weight[:, None]).tocsr()
    x_mean = np.asarray(weighted.sum(axis=0)).ravel() / total if center else np.zeros(X.shape[1])
    y_mean = weight @ Y / total if center else np.zeros(Y.shape[1])
    centred = Y - y_mean
    gram = (X.T @ weighted).toarray()
    cross = weighted.T @ centred
    if center:
        gram -= total * np.outer(x_mean, x_mean)
        cross -= np.outer(x_mean, weight @ centred)
        np.fill_diagonal(gram, np.maximum(np.diagonal(gram), 0.0))
    return Moments(total, x_mean, y_mean, gram, np.asarray(cross), weight @ centred**2)


class Residuals(NamedTuple):
    """Exact sums of a given fit: ``gradient = sum_i w_i (x_i - x_mean) r_i'`` and ``square = sum_i w_i r_i^2``."""

    gradient: np.ndarray  # (d, k)
    square: np.ndarray  # (k,)


def residual_sums(X, Y, weight, x_mean, y_mean, coef, n_jobs=None) -> Residuals:
    """One pass over the data with residuals ``(y - y_mean) - (x - x_mean) coef`` computed row by row.

    Unlike products of the Gram matrix these sums do not cancel, so that they certify and refine a solution.
    """
    n, d = X.shape
    k = Y.shape[1]
    X = X.tocsr() if sp.issparse(X) else X
    rows = panel_rows(d + k)

    def task(span):
        buffer = np.empty((min(rows, span.stop - span.start), d), order=memory_order(X))
        gradient, square = np.zeros((d, k)), np.zeros(k)
        for start in range(span.start, span.stop, rows):
            stop = min(start + rows, span.stop)
            part = buffer[: stop - start]
            fill_panel(X[start:stop], x_mean, part)
            residual = Y[start:stop] - y_mean
            residual -= part @ coef
            weighted = residual if weight is None else residual * weight[start:stop, None]
            gradient += part.T @ weighted
            square += np.einsum("ij,ij->j", weighted, residual)
        return gradient, square

    parts = quiet_map(task, spans(n, task_rows(n)), n_jobs)
    return Residuals(sum(part[0] for part in parts), sum(part[1] for part in parts))


class RowGram(NamedTuple):
    """``K = Xc Xc'`` of the centred and weighted rows ``Xc = sqrt(w) (X - mean)``."""

    gram: np.ndarray  # (n, n)
    x_mean: np.ndarray  # (d,)


def row_gram(X, weight=None, *, center=True, n_jobs=None) -> RowGram:
    """Products between rows, for designs with more columns than rows; columns are centred slab by slab."""
    if is_readable(X):
        with np.errstate(invalid="ignore", over="ignore"):
            design = centred_design(X, weight, center=center, n_jobs=n_jobs)
            root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)
            return RowGram(rows_gram(design, root), design.mean)
    n, d = X.shape
    require_memory(8 * n * n, f"The Gram matrix of {n} rows", "use fewer rows")
    X = X.tocsc() if sp.issparse(X) else X
    root = None if weight is None else np.sqrt(weight)
    gram, x_mean = np.zeros((n, n)), np.zeros(d)
    buffer = np.empty((n, min(WIDE_SLAB, d)), order=memory_order(X))
    tiles = [(i, j) for i in spans(n, TILE) for j in spans(n, TILE) if j.stop > i.start]
    with np.errstate(invalid="ignore", over="ignore"):
        for slab in spans(d, WIDE_SLAB):
            part = buffer[:, : slab.stop - slab.start]

            def fill(columns, slab=slab, part=part):
                at = slice(slab.start + columns.start, slab.start + columns.stop)
                x_mean[at] = _centred_columns(X[:, at], weight, root, center, part[:, columns])

            def multiply(tile, part=part):
                i, j = tile
                gram[i, j] += part[i] @ part[j].T

            quiet_map(fill, spans(slab.stop - slab.start, SLAB // 8), n_jobs)
            quiet_map(multiply, tiles, n_jobs)
    mirror_upper(gram)
    return RowGram(gram, x_mean)


def _centred_columns(X, weight, root, center, out):
    """Fill `out` with ``sqrt(w) (X - mean)``; return the mean."""
    fill_panel(X, 0.0, out)
    mean = np.zeros(X.shape[1])
    if center:
        first = _finite_or_zero(out[0].copy())
        out -= first
        rest = out.mean(axis=0) if weight is None else weight @ out / weight.sum()
        out -= rest
        mean = first + rest
    if root is not None:
        out *= root[:, None]
    return mean


def rows_combined(X, weight, x_mean, dual, n_jobs=None):
    """``Xc' dual`` of shape (d, k) for the centred and weighted rows of `row_gram`."""
    X = X.tocsc() if sp.issparse(X) else X
    dual = dual if weight is None else np.sqrt(weight)[:, None] * dual
    if is_readable(X) and dual.shape[1] <= FEW_TARGETS:
        return transposed_times(shifted_design(X, x_mean, n_jobs), dual.T).T

    def task(columns):
        part = np.empty((X.shape[0], columns.stop - columns.start), order=memory_order(X))
        fill_panel(X[:, columns], x_mean[columns], part)
        return part.T @ dual

    return np.concatenate(quiet_map(task, spans(X.shape[1], SLAB // 4), n_jobs))


def row_residuals(X, Y, weight, x_mean, y_mean, coef, n_jobs=None):
    """``sqrt(w) ((Y - y_mean) - (X - x_mean) coef)`` of shape (n, k), row panels in parallel."""
    n, d = X.shape
    if is_readable(X) and Y.shape[1] <= FEW_TARGETS:
        out = Y - y_mean - times(shifted_design(X, x_mean, n_jobs), coef.T).T
        return out if weight is None else np.sqrt(weight)[:, None] * out
    X = X.tocsr() if sp.issparse(X) else X
    out = np.empty(Y.shape)

    def task(span):
        part = np.empty((span.stop - span.start, d), order=memory_order(X))
        fill_panel(X[span], x_mean, part)
        out[span] = Y[span] - y_mean - part @ coef
        if weight is not None:
            out[span] *= np.sqrt(weight[span])[:, None]

    quiet_map(task, spans(n, panel_rows(d)), n_jobs)
    return out
