"""Rectangles of kernel values ``k(a_i, b_j)`` between rows of tables, tile by tile, in threads.

A `KernelSpec` names the kernel, `prepare` makes tables ready for it once, and `fill` writes any rectangle, into any
part of a matrix: nobody needs more memory than the rectangle.  Single precision is close to the speed of the matrix
product.

Kernels of a difference are computed from centred rows, which keeps the digits of ``|a|^2 + |b|^2 - 2 ab``; tables that
meet in one rectangle must share the centre (``prepare(..., like=other)``), and `fill` refuses them otherwise.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math import _gram_kernels as k

NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine")
TILE_ROWS, TILE_COLUMNS = 256, 512  # a tile stays in the second cache
TASK = 1 << 19  # entries that are worth one task
ALONE = 1 << 18  # fewer entries than these are made sooner than threads are woken up
PANEL_ROWS = 4096  # rows that are centred, rounded and squared together
DIFFERENCES = ("rbf", "laplacian")
TRUSTED = {np.dtype(np.float32): 128.0, np.dtype(np.float64): 1e5}  # gamma (|a|^2 + |b|^2) up to which digits suffice
LEAST = 1e-7  # values below are not worth a repair


class KernelSpec(NamedTuple):
    """A kernel by name, with numbers for all parameters (those it does not have are ignored).

    "linear" ``ab``, "poly" ``(gamma ab + coef0)^degree``, "sigmoid" ``tanh(gamma ab + coef0)``,
    "cosine" ``ab / |a| |b|``, "rbf" ``exp(-gamma |a - b|^2)``, "laplacian" ``exp(-gamma sum |a - b|)``.
    """

    name: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0


class Rows(NamedTuple):
    """Rows ready for `fill`: C order, float32 or float64, with their squared norms and the centre taken off them."""

    rows: np.ndarray
    squares: np.ndarray
    offset: np.ndarray | None = None

    def __len__(self):
        return self.rows.shape[0]

    def take(self, index) -> "Rows":
        """Some of the rows: a slice (no copy), or positions."""
        return Rows(np.ascontiguousarray(self.rows[index]), np.ascontiguousarray(self.squares[index]), self.offset)


def prepare(spec: KernelSpec, X, dtype=np.float64, like: Rows | None = None) -> Rows:
    """A dense table made ready for a kernel.

    Parameters
    ----------
    spec : KernelSpec
        The kernel; of no importance but its name.
    X : ndarray of shape (n_samples, n_features)
        Rows, finite.
    dtype : float32 or float64
        Precision of rows and of kernel values.
    like : Rows, default=None
        A table already prepared for the same kernel, whose centre is taken.

    Raises
    ------
    ValueError
        When squares of the rows overflow in this precision.
    """
    offset = None
    if spec.name in DIFFERENCES:
        with np.errstate(over="ignore", invalid="ignore"):  # found below
            offset = X.mean(axis=0, dtype=np.float64) if like is None else like.offset
    is_ready = offset is None and spec.name != "cosine" and X.dtype == dtype and X.flags.c_contiguous
    rows = kernel_view(X) if is_ready else np.empty(X.shape, dtype=dtype)
    squares = np.empty(X.shape[0], dtype=dtype)

    def run(part):
        with np.errstate(over="ignore", invalid="ignore"):  # threads have settings of their own
            if not is_ready:
                rows[part] = _ready(spec.name, X[part], offset)
            squares[part] = np.einsum("ij,ij->i", rows[part], rows[part], dtype=np.float64)

    thread_map(run, spans(X.shape[0], PANEL_ROWS))
    if not np.isfinite(squares).all():
        raise ValueError(
            f"the squared norm of row {int(np.argmin(np.isfinite(squares)))} exceeds the largest number of "
            f"{np.dtype(dtype).name}: scale the columns (hyperplan.preprocessing.StandardScaler)"
        )
    return Rows(rows, squares, offset)


def _ready(name, X, offset):
    """Rows centred or brought to length one; a row of zeros has no direction and stays."""
    if offset is not None:
        return X - offset
    if name != "cosine":
        return X
    X = np.asarray(X, dtype=np.float64)
    size = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    X = X / np.where(size > 0.0, size, 1.0)  # first, so that no square overflows or vanishes
    return X / np.maximum(np.sqrt(np.einsum("ij,ij->i", X, X))[:, None], 1.0)


def diagonal(spec: KernelSpec, a: Rows) -> np.ndarray:
    """``k(a_i, a_i)``."""
    if spec.name in DIFFERENCES:
        return np.ones(len(a), dtype=a.rows.dtype)
    values = a.squares.copy()
    return values if spec.name == "linear" else finish_products(spec, values)


def fill(spec: KernelSpec, a: Rows, b: Rows, out, n_jobs=None) -> None:
    """Write ``k(a_i, b_j)`` into `out`, whose entries lie side by side within each row.

    The bits depend on the shapes, not on the number of threads; the values of one pair in rectangles of different
    shapes agree to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.gram import KernelSpec, fill, prepare
    >>> spec, out = KernelSpec("rbf", gamma=0.5), np.empty((2, 1))
    >>> a = prepare(spec, np.array([[0.0], [2.0]]))
    >>> fill(spec, a, prepare(spec, np.array([[0.0]]), like=a), out)
    >>> out.round(4).tolist()
    [[1.0], [0.1353]]
    """
    _check(a, b, out)
    flat, step = _flat_view(out)
    width = max(TILE_COLUMNS, TASK // max(1, min(len(a), TILE_ROWS)))
    tasks = [(rows, columns) for rows in spans(len(a), TILE_ROWS) for columns in spans(len(b), width)]

    def run(task):
        rows, columns = task
        for part in spans(columns.stop - columns.start, TILE_COLUMNS):
            _fill_tile(spec, a, rows, b, slice(columns.start + part.start, columns.start + part.stop), out, flat, step)

    thread_map(run, tasks, n_jobs if out.size >= ALONE else 1)


def fill_square(spec: KernelSpec, a: Rows, out, n_jobs=None) -> None:
    """`fill` for all pairs of one table: half of the work, exactly symmetric, the diagonal exact."""
    _check(a, a, out)
    flat, step = _flat_view(out)

    def run(rows):
        for part in spans(len(a) - rows.start, TILE_COLUMNS):
            columns = slice(rows.start + part.start, rows.start + part.stop)
            _fill_tile(spec, a, rows, a, columns, out, flat, step)
            if part.start == 0:
                make_symmetric(out[rows, rows])
                columns = slice(rows.stop, columns.stop)
            out[columns, rows] = out[rows, columns].T

    thread_map(run, spans(len(a), TILE_ROWS), n_jobs if out.size >= ALONE else 1)
    np.fill_diagonal(out, diagonal(spec, a))


def make_symmetric(tile):
    """Take the larger of mirrored entries, which a matrix product may have rounded differently."""
    tile[...] = np.maximum(tile, tile.T)


def _check(a, b, out):
    if out.shape != (len(a), len(b)) or out.dtype != a.rows.dtype or out.dtype != b.rows.dtype:
        raise ValueError(f"out is {out.dtype} {out.shape}, the rectangle is {a.rows.dtype} {(len(a), len(b))}")
    if a.rows.shape[1] != b.rows.shape[1]:
        raise ValueError(f"rows of {a.rows.shape[1]} and of {b.rows.shape[1]} columns have no kernel value")
    if out.size and out.shape[1] > 1 and out.strides[1] != out.itemsize:
        raise ValueError("the entries of a row of out must lie side by side")
    if a.offset is not b.offset and not np.array_equal(a.offset, b.offset):
        raise ValueError("the two tables have different centres: prepare one with like=the other")


def _flat_view(out):
    """The memory of `out` as one contiguous line, and the number of entries from one row to the next."""
    if out.size == 0:
        return np.empty(0, dtype=out.dtype), 0
    step = out.strides[0] // out.itemsize if out.shape[0] > 1 else out.shape[1]
    length = (out.shape[0] - 1) * step + out.shape[1]
    return np.lib.stride_tricks.as_strided(out, (length,), (out.itemsize,)), step


def _fill_tile(spec, a, rows, b, columns, out, flat, step):
    """One tile; where it begins in the flat view is ``rows.start * step + columns.start``."""
    if columns.stop <= columns.start:
        return
    left, right, start = a.rows[rows], b.rows[columns], rows.start * step + columns.start
    is_single, gamma = out.dtype == np.float32, out.dtype.type(spec.gamma)
    if spec.name == "laplacian":
        turned = np.empty((left.shape[1], k.PANEL), dtype=out.dtype)
        k.sizes_of_differences(left, right, start, step, turned, flat)
        finish = k.exponential_single if is_single else k.exponential_double
        finish(left.shape[0], right.shape[0], gamma, start, step, flat)
        return
    tile = out[rows, columns]
    np.matmul(left, right.T, out=tile)
    if spec.name != "rbf":
        finish_products(spec, tile)
        return
    squares = a.squares[rows], b.squares[columns]
    (k.gaussian_single if is_single else k.gaussian_double)(*squares, gamma, start, step, flat)
    trusted = TRUSTED[out.dtype]
    if spec.gamma * (float(squares[0].max()) + float(squares[1].max())) > trusted:
        k.repair_gaussian(left, right, *squares, float(spec.gamma), trusted, LEAST, start, step, flat)


def finish_squares(gamma, products, a_squares, b_squares):
    """``exp(-gamma (|a|^2 + |b|^2 - 2 ab))`` of a matrix of inner products, in place and returned."""
    flat, step = _flat_view(products)
    kernel = k.gaussian_single if products.dtype == np.float32 else k.gaussian_double
    kernel(a_squares, b_squares, products.dtype.type(gamma), 0, step, flat)
    return products


def finish_distances(gamma, gaps):
    """``exp(-gamma d)`` of a matrix of distances, in place and returned."""
    flat, step = _flat_view(gaps)
    kernel = k.exponential_single if gaps.dtype == np.float32 else k.exponential_double
    kernel(*gaps.shape, gaps.dtype.type(gamma), 0, step, flat)
    return gaps


def finish_products(spec, tile):
    """Kernel values of inner products, in place."""
    if spec.name in ("poly", "sigmoid"):
        tile *= tile.dtype.type(spec.gamma)
        tile += tile.dtype.type(spec.coef0)
    if spec.name == "sigmoid":
        np.tanh(tile, out=tile)
    elif spec.name == "poly":
        _raise_to(tile, spec.degree)
    return tile


def _raise_to(tile, degree):
    """``tile ** degree`` in place, by squaring for whole degrees."""
    if degree != math.floor(degree) or not 0 <= degree <= 64:
        np.power(tile, tile.dtype.type(degree), out=tile)
        return
    power, rest = tile.copy(), int(degree)
    tile[...] = 1.0
    while rest:
        if rest & 1:
            tile *= power
        rest >>= 1
        if rest:
            power *= power
