"""Where kernel values come from: dense rows, sparse rows, or a matrix somebody made.

All three answer the same questions (`take` rows, `fill` some rows of the matrix, the whole `square`, the `diagonal`, a
`product` with coefficients) so that solvers and predictions need not know which one they ask.  A product never holds
more than one tile of kernel values per thread.
"""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._math import gram

TILE_ROWS, TILE_COLUMNS = 256, 1024  # a tile of a product; its sums over columns are added up in float64


class DenseRows(NamedTuple):
    """Kernel values of dense rows, prepared for `spec`."""

    spec: gram.KernelSpec
    rows: gram.Rows

    def __len__(self):
        return len(self.rows)

    @property
    def dtype(self):
        """Precision of the kernel values."""
        return self.rows.rows.dtype

    def take(self, index):
        """The same kernel on some of the rows."""
        return DenseRows(self.spec, self.rows.take(index))

    def diagonal(self):
        """``k(x, x)`` of each row."""
        return gram.diagonal(self.spec, self.rows).astype(np.float64)

    def square(self):
        """The whole matrix of kernel values."""
        out = np.empty((len(self), len(self)), dtype=self.dtype)
        gram.fill_square(self.spec, self.rows, out)
        return out

    def fill(self, index, out):
        """Kernel values between the rows of `index` and all rows."""
        gram.fill(self.spec, self.rows.take(index), self.rows, out)

    def between(self, other, out):
        """Kernel values between the rows of `other` and all rows."""
        gram.fill(self.spec, other.rows, self.rows, out)

    def product(self, other, coef):
        """``K(self, other) @ coef`` in float64, coef of shape (len(other),) or (len(other), k)."""
        return _tiled_product(self, other, coef, self._tile)

    def _tile(self, other, rows, columns, scratch):
        gram.fill(self.spec, self.rows.take(rows), other.rows.take(columns), scratch, n_jobs=1)
        return scratch


class SparseRows(NamedTuple):
    """Kernel values of the rows of a CSR matrix."""

    spec: gram.KernelSpec
    rows: Any
    squares: np.ndarray
    dtype: np.dtype

    def __len__(self):
        return self.rows.shape[0]

    def take(self, index):
        """The same kernel on some of the rows."""
        return SparseRows(self.spec, self.rows[index], self.squares[index], self.dtype)

    def diagonal(self):
        """``k(x, x)`` of each row."""
        return self._finish(self.squares.copy(), self.squares, self.squares)

    def square(self):
        """The whole matrix of kernel values."""
        return self._values(self).astype(self.dtype, copy=False)

    def fill(self, index, out):
        """Kernel values between the rows of `index` and all rows."""
        part = self.take(index)

        def run(rows):
            out[rows] = part.take(rows)._values(self)

        thread_map(run, spans(len(part), TILE_ROWS))

    def product(self, other, coef):
        """``K(self, other) @ coef`` in float64, coef of shape (len(other),) or (len(other), k)."""
        return _tiled_product(self, other, coef, self._tile)

    def _tile(self, other, rows, columns, scratch):
        return self.take(rows)._values(other.take(columns)).astype(self.dtype, copy=False)

    def _values(self, other):
        products = (self.rows @ other.rows.T).toarray().astype(np.float64, copy=False)
        return self._finish(products, self.squares[:, None], other.squares)

    def _finish(self, products, squares, others):
        """Kernel values of inner products (float64, written over)."""
        spec = self.spec
        if spec.name == "linear":
            return products
        if spec.name == "rbf":
            return np.exp(-spec.gamma * np.maximum(squares + others - 2.0 * products, 0.0))
        products = spec.gamma * products + spec.coef0
        return np.tanh(products) if spec.name == "sigmoid" else products**spec.degree


class GivenMatrix(NamedTuple):
    """Kernel values that were computed before; `places` are the rows and columns that count."""

    matrix: np.ndarray
    places: np.ndarray

    def __len__(self):
        return self.places.shape[0]

    @property
    def dtype(self):
        """Precision of the kernel values."""
        return self.matrix.dtype

    def take(self, index):
        """Some of the rows and columns."""
        return GivenMatrix(self.matrix, self.places[index])

    def diagonal(self):
        """The diagonal."""
        return self.matrix[self.places, self.places].astype(np.float64)

    def square(self):
        """The rows and columns that count."""
        return self.matrix[np.ix_(self.places, self.places)]

    def fill(self, index, out):
        """Some rows of the matrix."""
        out[...] = self.matrix[np.ix_(self.places[index], self.places)]

    def product(self, other, coef):
        """Rows of the matrix times coefficients of the columns of `other`, which belongs to the same matrix."""
        return _tiled_product(self, other, coef, self._tile)

    def _tile(self, other, rows, columns, scratch):
        return self.matrix[np.ix_(self.places[rows], other.places[columns])]


class Mirrored(NamedTuple):
    """Each row twice: first all rows, then all of them again (nu-regression has two coefficients per row)."""

    source: Any

    def __len__(self):
        return 2 * len(self.source)

    @property
    def dtype(self):
        """Precision of the kernel values."""
        return self.source.dtype

    def take(self, index):
        """Some of the rows."""
        return self.source.take(np.asarray(index) % len(self.source))

    def diagonal(self):
        """``k(x, x)`` of each row."""
        return np.tile(self.source.diagonal(), 2)

    def square(self):
        """The whole matrix of kernel values."""
        return np.tile(self.source.square(), (2, 2))

    def fill(self, index, out):
        """Kernel values between the rows of `index` and all rows."""
        n = len(self.source)
        self.source.fill(index % n, out[:, :n])
        out[:, n:] = out[:, :n]

    def product(self, other, coef):
        """``K(self, other) @ coef``."""
        part = self.source.product(other, coef)
        return np.concatenate([part, part])


def dense_rows(spec, X, dtype, like=None) -> DenseRows:
    """The source of a dense table; `like` is the source it will be multiplied with."""
    return DenseRows(spec, gram.prepare(spec, X, dtype, like=None if like is None else like.rows))


def sparse_rows(spec, X, dtype) -> SparseRows:
    """The source of a CSR matrix."""
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return SparseRows(spec, X, squares, np.dtype(dtype))


def given_matrix(matrix) -> GivenMatrix:
    """The source of a square matrix of kernel values."""
    return GivenMatrix(matrix, np.arange(matrix.shape[0]))


def _tiled_product(left, right, coef, tile):
    """Rows of tiles in threads; within a row the tiles' products are added from left to right."""
    out = np.zeros((len(left), *coef.shape[1:]))
    dtype = left.dtype
    strips = spans(len(right), TILE_COLUMNS)
    weights = np.ascontiguousarray(coef, dtype=dtype)

    def run(rows):
        height = rows.stop - rows.start
        scratch = np.empty(height * TILE_COLUMNS, dtype=dtype)
        for columns in strips:
            width = columns.stop - columns.start
            values = tile(right, rows, columns, scratch[: height * width].reshape(height, width))
            out[rows] += values @ weights[columns]

    if len(left) <= TILE_ROWS:
        with single_threaded_blas():
            for rows in spans(len(left), TILE_ROWS):
                run(rows)
    else:
        thread_map(run, spans(len(left), TILE_ROWS))
    return out
