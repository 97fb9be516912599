"""The steps of the kernel perceptron, block by block: exact, and without the matrix of kernel values for many rows."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans
from hyperplan.kernels._kernel import Kernel
from hyperplan.kernels._kernel_perceptron_kernels import visit_block
from hyperplan.kernels._resolve import is_precomputed

BLOCK = 256  # rows that are visited between two products with all rows that were mistaken so far
KEPT_ROWS = 2500  # up to so many rows the matrix of kernel values is kept (50 MB): it is needed in every epoch


class Walk(NamedTuple):
    """Where the steps ended, for C problems of two classes."""

    dual: np.ndarray  # (n, C) weights of the last function
    mean: np.ndarray  # (n, C) weights of the mean function
    mistakes: np.ndarray  # (C,)
    margins: np.ndarray  # (C,) least y f(x) / |f| of the last function; nan where its last epoch had mistakes
    radius: float  # sqrt of the largest k(x, x)
    n_epochs: int
    converged: bool  # the last epoch had no mistake, or none had fewer for a while


class Values:
    """Kernel values between rows of one table, plus a constant; kept when they are few."""

    def __init__(self, kernel: Kernel, X, constant, n_jobs=None):
        self.kernel, self.constant, self.n_rows, self.n_jobs = kernel, constant, X.shape[0], n_jobs
        if is_precomputed(kernel):
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix of kernel values, got {X.shape}")
            self.matrix = (X.toarray() if sp.issparse(X) else X) + constant
            self.radius = float(np.sqrt(max(np.diagonal(self.matrix).max(), 0.0)))
            return
        kernel._check()
        self.table, self.matrix = kernel._table(X), None
        self.radius = float(np.sqrt(max(np.max(kernel._diag(self.table)) + constant, 0.0)))
        if self.n_rows <= KEPT_ROWS:
            self.matrix = np.empty((self.n_rows, self.n_rows))
            kernel._fill_square(self.table, self.matrix, n_jobs)
            self.matrix += constant

    def block(self, rows):
        """Values of some rows with each other."""
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, rows)]
        out = np.empty((rows.shape[0], rows.shape[0]))
        self.kernel._fill_square(self.table[rows], out, self.n_jobs)
        return out + self.constant

    def scores(self, rows, dual):
        """``sum_j dual_j k(x_i, x_j)`` for some rows i, over the rows with weights."""
        support = np.flatnonzero(dual.any(axis=1))
        if support.size == 0:
            return np.zeros((rows.shape[0], dual.shape[1]))
        if self.matrix is not None:
            return self.matrix[np.ix_(rows, support)] @ dual[support]
        sums = self.kernel._expand(self.table[rows], self.table[support], dual[support], self.n_jobs)
        return sums + self.constant * dual[support].sum(axis=0)


def walk(values: Values, signs, orders, patience) -> Walk:
    """Visit the rows in the given orders until all are right, or mistakes are not fewer for `patience` epochs."""
    n, n_problems = signs.shape
    dual, early = np.zeros((n, n_problems)), np.zeros((n, n_problems))
    total, margins = np.zeros(n_problems, dtype=np.int64), np.full(n_problems, np.nan)
    active, clock, least, waited, epoch, converged = np.ones(n_problems, dtype=np.int64), 0, np.inf, 0, 0, False
    for order in orders:
        epoch += 1
        clock, mistakes, scores = _epoch(values, signs, order, active, clock, dual, early)
        total += mistakes
        clean = (mistakes == 0) & (active == 1)
        for c in np.flatnonzero(clean):
            length = np.sqrt(max(float(dual[:, c] @ scores[:, c]), 0.0))
            margins[c] = (signs[:, c] * scores[:, c]).min() / length if length > 0 else np.nan
        active[clean] = 0
        waited = 0 if mistakes.sum() < least else waited + 1
        least = min(least, mistakes.sum())
        if not active.any() or waited >= patience:
            converged = True
            break
    return Walk(dual, dual - early / max(clock, 1), total, margins, values.radius, epoch, converged)


def _epoch(values, signs, order, active, clock, dual, early):
    """One visit to every row; `dual` and `early` (steps times the visits before them) are updated."""
    mistakes, seen = np.zeros(signs.shape[1], dtype=np.int64), np.empty(signs.shape)
    for part in spans(order.shape[0], BLOCK):
        rows = order[part]
        scores = np.ascontiguousarray(values.scores(rows, dual))
        steps, ages = np.zeros(scores.shape), np.zeros(scores.shape)
        block = np.ascontiguousarray(values.block(rows))
        clock = visit_block(block, signs[rows], active, clock, scores, steps, ages, mistakes)
        dual[rows] += steps
        early[rows] += ages
        seen[rows] = scores
    return clock, mistakes, seen
