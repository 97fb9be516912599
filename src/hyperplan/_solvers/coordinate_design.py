"""A design matrix as coordinate descent sees it: weighted, centred on the fly, dense by columns or CSC.

Nothing here copies X except a row-major dense X, which is turned into columns once.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan._solvers._coordinate_design_kernels import (
    dense_column_statistics,
    gather_columns,
    sparse_column_statistics,
    transpose_tile,
)
from hyperplan._solvers._coordinate_kernels import correlations

TASK_ENTRIES = 1 << 19  # entries of X that one task reads (4 MiB of float64)
BLOCK_ENTRIES = 1 << 22  # of the working set that are reserved at once
GRAM_TILE = 128  # columns of one task when the Gram matrix of the working set grows


class DesignArrays(NamedTuple):
    """What the kernels read.  A dense design has empty CSC arrays, a sparse one an empty X."""

    X: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    mean: np.ndarray
    norm2: np.ndarray
    column_sum: np.ndarray
    weight: np.ndarray
    weighted: bool
    sparse: bool


def map_spans(func, n, size):
    """`func` on each span of range(n), in threads when there are several."""
    pieces = spans(n, size)
    return [func(piece) for piece in pieces] if len(pieces) < 2 else thread_map(func, pieces)


def by_columns(X):
    """X itself if its columns are contiguous (or CSC), else a column-major copy."""
    if sp.issparse(X):
        X = X.tocsc()
        if not X.has_sorted_indices or not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    if X.flags.f_contiguous:
        return X
    if not X.flags.c_contiguous or X.size < TASK_ENTRIES:
        return np.asfortranarray(X)
    F = np.empty(X.shape, dtype=X.dtype, order="F")
    columns = max(16, TASK_ENTRIES // X.shape[0] // 16 * 16)
    map_spans(lambda piece: transpose_tile(X, piece.start, piece.stop, F), X.shape[1], columns)
    return F


class Design:
    """Weighted and centred columns of X (see `by_columns`), with their correlations to a first target.

    Parameters
    ----------
    X : F-ordered ndarray or CSC matrix of shape (n, d)
        Finite values.
    weight : ndarray of shape (n,), default=None
        Weights of rows; scaled so that they sum to `total`.
    center : bool, default=True
        Subtract weighted means.
    mean : ndarray of shape (d,), default=None
        Means to subtract instead of the measured ones.
    total : float, default=None
        Sum of weights; the number of rows by default.
    """

    def __init__(self, X, weight=None, *, center=True, mean=None, total=None):
        self.X = X
        self.n, self.d = X.shape
        self.total = float(self.n if total is None else total)
        self.sparse = sp.issparse(X)
        self.center = center
        self.given_mean = mean
        self.weighted = weight is not None
        self.weight = np.ones(self.n) if weight is None else weight * (self.total / weight.sum())
        self.arrays = None

    @property
    def chunk(self):
        """Columns of one task: a function of the shape alone."""
        per_column = self.X.nnz / max(1, self.d) if self.sparse else self.n
        return max(1, int(TASK_ENTRIES / max(1.0, per_column)))

    def center_target(self, y):
        """(centred y in float64, its weighted mean)."""
        y = np.asarray(y, dtype=np.float64)
        if not self.center:
            return y, 0.0
        mean = float(self.weight @ y) / self.total
        centred = y - mean
        rest = float(self.weight @ centred) / self.total  # a second pass removes the rounding of a large mean
        return centred - rest, mean + rest

    def prepare(self, y):
        """Read X once: means, norms and the correlations of the columns with the centred target `y`, returned."""
        mean, norm2, column_sum, xy = np.zeros((4, self.d))
        target = self.weight * y
        empty = np.empty((0, 0), dtype=self.X.dtype, order="F")
        if self.sparse:
            index = np.int64 if self.X.indptr.dtype == np.int64 else np.int32
            csc = (self.X.data, self.X.indices.astype(index, copy=False), self.X.indptr.astype(index, copy=False))
            arrays = DesignArrays(empty, *csc, mean, norm2, column_sum, self.weight, self.weighted, True)
        else:
            none = np.empty(0, dtype=np.int32)
            csc = (np.empty(0, dtype=self.X.dtype), none, none)
            arrays = DesignArrays(self.X, *csc, mean, norm2, column_sum, self.weight, self.weighted, False)
        total_target = float(target.sum())

        def read(piece):
            span = (self.center, self.total, piece.start, piece.stop)
            if self.sparse:
                sparse_column_statistics(arrays, target, total_target, *span, mean, norm2, column_sum, xy)
            else:
                dense_column_statistics(self.X, self.weight, target, *span, mean, norm2, xy)

        map_spans(read, self.d, self.chunk)
        self._settle_constant_columns(norm2, mean)
        self.arrays = arrays
        if self.given_mean is not None:
            self._use_given_mean(target, xy)
        return xy

    def _settle_constant_columns(self, norm2, mean):
        """Columns that are constant but for the rounding of their mean carry no information."""
        if self.center:
            norm2[norm2 <= self.total * (4 * np.finfo(np.float64).eps * mean) ** 2] = 0.0

    def _use_given_mean(self, target, xy):
        """Replace the measured mean (zero) by the caller's: a shift of every sum."""
        arrays, given = self.arrays, np.asarray(self.given_mean, dtype=np.float64)
        arrays.norm2[:] += self.total * given**2 - 2 * given * arrays.column_sum
        np.maximum(arrays.norm2, 0.0, out=arrays.norm2)
        arrays.mean[:] = given
        xy -= given * target.sum()

    def correlate(self, rho, needed, c):
        """c[j] = x_j'rho for the needed columns, in threads."""
        map_spans(
            lambda piece: correlations(self.arrays, rho, 0.0, needed, piece.start, piece.stop, c), self.d, self.chunk
        )


class Block:
    """A growing set of columns with its Gram matrix: the part of the design that is active."""

    def __init__(self, design):
        self.design = design
        capacity = int(min(design.d, max(256, min(1024, BLOCK_ENTRIES // max(1, design.n)))))
        self.root = np.sqrt(design.weight)
        self.columns = np.empty(0, dtype=np.intp)
        self._G = np.empty((capacity, capacity))
        self._Z = None if design.sparse else np.empty((design.n, capacity), order="F")
        self._S = None

    def __len__(self):
        return self.columns.shape[0]

    @property
    def storage(self):
        """C-ordered array whose leading square is the Gram matrix."""
        return self._G

    @property
    def gram(self):
        """View of the Gram matrix."""
        m = len(self)
        return self._G[:m, :m]

    def add(self, columns):
        """Append columns and their products with all columns."""
        old, new = len(self), len(self) + columns.shape[0]
        if new > self._G.shape[0]:
            self._reserve(max(new, 2 * self._G.shape[0]))
        self.columns = np.concatenate([self.columns, columns])
        if self.design.sparse:
            self._add_sparse(columns, old, new)
        else:
            self._add_dense(columns, old, new)
        self._G[old:new, :old] = self._G[:old, old:new].T

    def _reserve(self, capacity):
        m = len(self)
        grown = np.empty((capacity, capacity))
        grown[:m, :m] = self._G[:m, :m]
        self._G = grown
        if self._Z is not None:
            wider = np.empty((self.design.n, capacity), order="F")
            wider[:, :m] = self._Z[:, :m]
            self._Z = wider

    def _add_dense(self, columns, old, new):
        Z = self._Z
        fresh = Z[:, old:new]
        gather_columns(self.design.X, self.design.arrays.mean, self.root, columns, fresh)

        def products(piece):
            self._G[piece, old:new] = Z[:, piece].T @ fresh

        map_spans(products, new, GRAM_TILE)

    def _add_sparse(self, columns, old, new):
        mean, total = self.design.arrays.mean, self.design.total
        fresh = sp.diags_array(self.root) @ sp.csc_array(self.design.X[:, columns], dtype=np.float64)
        self._S = fresh.tocsc() if self._S is None else sp.hstack([self._S, fresh], format="csc")
        products = (self._S.T @ fresh).toarray()
        sums = self.design.arrays.column_sum
        # sum s (a - ma)(b - mb) = sum s a b - mb sum s a - ma sum s b + S ma mb
        a, b = self.columns, columns
        products -= np.outer(sums[a], mean[b]) + np.outer(mean[a], sums[b]) - total * np.outer(mean[a], mean[b])
        self._G[:new, old:new] = products

    def fitted(self, w):
        """root * (X - mean) w for coefficients of the block's columns."""
        used = np.flatnonzero(w)
        if self.design.sparse:
            return self._S[:, used] @ w[used] - self.root * float(self.design.arrays.mean[self.columns[used]] @ w[used])
        if used.shape[0] > 0.7 * w.shape[0]:
            return self._Z[:, : len(self)] @ w
        return self._Z[:, used] @ w[used]

    def keep(self, local):
        """Forget all columns but those at the positions `local` (sorted)."""
        m = local.shape[0]
        self._G[:m, :m] = self.gram[np.ix_(local, local)]
        self.columns = self.columns[local]
        if self._Z is not None:
            for k, old in enumerate(local):
                if k != old:
                    self._Z[:, k] = self._Z[:, old]
        else:
            self._S = self._S[:, local]
