"""The rows of a linear support vector machine, dense or CSR, with the constant column of the intercept.

All products run over blocks of rows whose borders depend on the shape only, and are summed in block order: the
same bits for any number of threads.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_kernels import (
    csr_combine,
    csr_norms,
    csr_panel,
    csr_scores,
    dense_combine,
    dense_norms,
    dense_panel,
    dense_scores,
)

BLOCK_VALUES = 200_000  # stored values worth a task of their own
MAX_BLOCKS = 16  # bounds the memory of partial sums
WIDE_BLOCKS = 4  # the same when each partial Gram matrix is large
WIDE = 256
PANEL_ROWS = 512  # rows gathered for one rank update: a panel of 100 columns stays in the second-level cache


class Outcome(NamedTuple):
    """What a solver found: weights (with the intercept's last), dual point, objective, duality gap."""

    weights: np.ndarray
    pull: np.ndarray | None
    primal: float
    gap: float
    n_iter: int
    status: Status


def _unsigned(rows):
    """The same CSR record with unsigned column numbers: kernels need not ask whether they count from the end."""
    return rows._replace(indices=rows.indices.view(f"u{rows.indices.dtype.itemsize}"))


class Design:
    """Rows ``[x_i, scale]``; without intercept `scale` is 0 and there is no further column.

    Parameters
    ----------
    X : ndarray of shape (n, d) in C order, or CSR matrix
        Features, float32 or float64.
    scale : float
        The constant appended to each row, 0 for none.
    """

    def __init__(self, X, scale=0.0):
        self.X = X
        self.scale = float(scale)
        self.n_rows, self.n_features = X.shape
        self.width = self.n_features + (self.scale != 0.0)
        self.is_sparse = sp.issparse(X)
        self._rows = _unsigned(compressed(X)) if self.is_sparse else X
        self.n_stored = X.nnz if self.is_sparse else X.size
        n_blocks = min(self.n_stored // BLOCK_VALUES, MAX_BLOCKS if self.width <= WIDE else WIDE_BLOCKS)
        self.blocks = spans(self.n_rows, max(1, -(-self.n_rows // max(1, n_blocks))))

    def take(self, rows):
        """The design of some rows (a copy)."""
        return Design(self.X[rows], self.scale)

    def scores(self, weights):
        """``X w + scale * v`` for ``weights = [w, v]``."""
        out = np.empty(self.n_rows)
        w = np.ascontiguousarray(weights[: self.n_features])
        bias = float(self.scale * weights[-1]) if self.scale else 0.0

        def block_scores(block):
            if self.is_sparse:
                csr_scores(self._rows, block.start, block.stop, w, bias, out)
            else:
                dense_scores(self._rows[block], w, bias, out[block])

        thread_map(block_scores, self.blocks)
        return out

    def combine(self, pull):
        """``sum_i pull_i [x_i, scale]``."""

        def block_sum(block):
            out = np.empty(self.n_features)
            if self.is_sparse:
                csr_combine(self._rows, block.start, block.stop, pull, out)
            else:
                dense_combine(self._rows[block], pull[block], out)
            return out

        total = np.zeros(self.width)
        for part in thread_map(block_sum, self.blocks):
            total[: self.n_features] += part
        if self.scale:
            total[-1] = self.scale * pull.sum()
        return total

    def gram(self, rows, weight, extra):
        """``sum_i weight_i z_i z_i'`` over `rows`, where ``z_i = [x_i, scale, extra_i]``."""
        size = self.width + 1
        root = np.sqrt(weight)
        gather = csr_panel if self.is_sparse else dense_panel

        def block_gram(block):
            total = np.zeros((size, size))
            start, stop = np.searchsorted(rows, (block.start, block.stop))
            panel = np.empty((min(PANEL_ROWS, stop - start), size))
            for part in spans(stop - start, PANEL_ROWS):
                here = slice(start + part.start, start + part.stop)
                filled = panel[: part.stop - part.start]
                gather(self._rows, rows[here], root[here], extra[here], self.scale, filled)
                total += filled.T @ filled
            return total

        parts = thread_map(block_gram, self.blocks if rows.size else [])
        total = parts[0] if parts else np.zeros((size, size))
        for part in parts[1:]:
            total += part
        return total

    def norms(self):
        """Squared lengths of the rows."""
        out = np.empty(self.n_rows)
        (csr_norms if self.is_sparse else dense_norms)(self._rows, self.scale, out)
        return out

    @property
    def rows(self):
        """What kernels take: the array, or the CSR record."""
        return self._rows
