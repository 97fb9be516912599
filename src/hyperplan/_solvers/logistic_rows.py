"""The rows of a binary logistic regression and the sums the solvers take over them.

Objective of all solvers (mean scale: S is the sum of the weights s_i)

    (1/S) sum_i s_i log(1 + exp(-(2 y_i - 1)(x_i w + b))) + l1 |w|_1 + l2/2 |w|^2
                                                         + l1_intercept |b| + l2_intercept/2 b^2

Sums run over blocks of rows whose borders depend on the shape only and are added in block order: the same bits
for any number of threads.
"""

import functools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers._logistic_kernels import (
    csr_gram,
    csr_pass,
    csr_squares,
    dense_pass,
    dual_entropy,
    gather_columns,
    scaled_rows,
    softened,
)
from hyperplan._solvers._logistic_small_kernels import column_gram

BLOCK_VALUES = 2**20  # stored values worth a task of their own
MAX_BLOCKS = 64  # bounds the memory of the partial sums
CACHE_VALUES = 2**15  # of X that stay in the second-level cache between the two readings of a row
SMALL_WIDTH = 128
SMALL_WORK = 2**23  # rows times features squared up to which threads and BLAS save nothing
PANEL_BYTES = 2**19  # scaled rows of one rank update stay in the second-level cache


class Penalty(NamedTuple):
    """Strengths on the mean scale, and whether there is an intercept at all."""

    l1: float
    l2: float
    l1_intercept: float
    l2_intercept: float
    intercept: bool

    def value(self, theta):
        w, b = theta[:-1], theta[-1]
        smooth = 0.5 * (self.l2 * (w @ w) + self.l2_intercept * b * b)
        lasso = self.l1 * np.abs(w).sum() if self.l1 else 0.0
        return float(smooth + lasso + self.l1_intercept * abs(b))

    def ridge(self, d):
        """The diagonal of the Hessian of the smooth part."""
        return np.append(np.full(d, self.l2), self.l2_intercept)


class State(NamedTuple):
    """What one pass over the rows leaves: the loss, its gradient, X' curvature (both mean scale), row values."""

    loss: float
    gradient: np.ndarray
    bend: np.ndarray
    scores: np.ndarray
    residual: np.ndarray
    curvature: np.ndarray


class LogisticResult(NamedTuple):
    """A solution ``theta = [w, b]``; `residual` is the largest violation of the optimality conditions.

    `recession` is a direction in which the loss falls for ever, like theta, where one was found; `state` what a pass
    at theta leaves, where the solver has it.
    """

    theta: np.ndarray
    n_iter: int
    status: Status
    objective: float
    residual: float
    dual: float
    separates: bool
    recession: np.ndarray | None = None
    state: State | None = None


class Rows:
    """Checked rows with 0/1 targets and weights.

    Parameters
    ----------
    X : ndarray of shape (n, d) in C order, or CSR matrix
        Features, float32 or float64.
    target, weight : ndarray of shape (n,)
        Targets 0.0 or 1.0 and weights, float64.
    """

    def __init__(self, X, target, weight):
        self.X, self.target, self.weight = X, target, weight
        self.total = float(weight.sum())
        self.n_rows, self.width = X.shape
        self.is_sparse = sp.issparse(X)
        self.n_stored = X.nnz if self.is_sparse else X.size
        self._csr = compressed(X) if self.is_sparse else None
        plain = not self.is_sparse and X.dtype == np.float64 and 0 < self.width <= min(SMALL_WIDTH, self.n_rows)
        self.is_small = plain and self.n_rows * self.width**2 <= SMALL_WORK  # suits compiled loops
        per_row = max(1, self.n_stored // max(self.n_rows, 1))
        self.cache_rows = 4 * int(np.clip(CACHE_VALUES // 4 // max(self.width, 1), 2, 16))  # rows go in fours
        self.blocks = spans(self.n_rows, max(BLOCK_VALUES // per_row, -(-self.n_rows // MAX_BLOCKS), 1))

    @functools.cached_property
    def by_feature(self):
        """The transposed features in C order (of small data only)."""
        return np.ascontiguousarray(self.X.T)

    def every(self, step):
        """Rows 0, step, 2 step, ... as rows of their own."""
        return Rows(np.ascontiguousarray(self.X[::step]), self.target[::step].copy(), self.weight[::step].copy())

    def map(self, task):
        """`task` on every block, results in order."""
        return [task(self.blocks[0])] if len(self.blocks) == 1 else thread_map(task, self.blocks)

    def evaluate(self, theta) -> State:
        """Loss, gradient and curvature at ``theta = [w, b]``."""
        scores, residual, curvature = np.empty((3, self.n_rows))

        def task(rows):
            sums = np.zeros((2, self.width + 1))
            if self.is_sparse:
                fixed = (self._csr, self.target, self.weight, theta, rows.start, rows.stop)
                loss = csr_pass(*fixed, scores, residual, curvature, sums)
            else:
                fixed = (self.X[rows], self.target[rows], self.weight[rows], theta, self.cache_rows)
                loss = dense_pass(*fixed, scores[rows], residual[rows], curvature[rows], sums)
            return loss, sums

        parts = self.map(task)
        loss = sum(part[0] for part in parts) / self.total
        sums = sum(part[1] for part in parts) / self.total
        return State(loss, sums[0], sums[1], scores, residual, curvature)

    def hessian(self, state) -> np.ndarray:
        """``(1/S) [X, 1]' diag(curvature) [X, 1]`` of shape (d + 1, d + 1)."""
        d = self.width
        require_memory(
            8.0 * (d + 1) ** 2 * (len(self.blocks) + 2), f"The Hessian of {d} features", "use fewer features"
        )
        out = np.empty((d + 1, d + 1))
        if self.is_small:
            column_gram(self.by_feature, state.curvature, state.bend, self.total, np.empty(self.n_rows), out)
            return out
        out[:d, :d] = sum(self.map(lambda rows: self._gram(rows, state.curvature)))
        out[:d, :d] /= self.total
        out[d], out[:, d] = state.bend, state.bend
        return out

    def _gram(self, rows, curvature):
        d = self.width
        gram = np.zeros((d, d))
        if self.is_sparse:
            csr_gram(self._csr, curvature, rows.start, rows.stop, gram)
            return gram
        size = int(np.clip(PANEL_BYTES // (max(d, 1) * self.X.itemsize), 256, 2048))
        panel = np.empty((min(size, rows.stop - rows.start), d), dtype=self.X.dtype)
        for start in range(rows.start, rows.stop, size):
            stop = min(start + size, rows.stop)
            part = panel[: stop - start]
            scaled_rows(self.X[start:stop], curvature[start:stop], part)
            gram += part.T @ part
        return gram

    def diagonal(self, curvature) -> np.ndarray:
        """The diagonal of `hessian`."""

        def task(rows):
            if self.is_sparse:
                out = np.zeros(self.width)
                csr_squares(self._csr, curvature, rows.start, rows.stop, out)
                return out
            return np.einsum("i,ij,ij->j", curvature[rows], self.X[rows], self.X[rows], dtype=np.float64)

        return np.append(sum(self.map(task)), curvature.sum()) / self.total

    def columns(self, rows, columns, curvature, dtype) -> np.ndarray:
        """``sqrt(curvature_i) [X, 1][i, columns]`` for a slice of rows; column d is the constant one."""
        out = np.empty((rows.stop - rows.start, columns.shape[0]), dtype=dtype)
        plain = columns < self.width
        if self.is_sparse:
            root = np.sqrt(curvature[rows])
            out[:, plain] = self.X[rows][:, columns[plain]].toarray() * root[:, None]
            out[:, ~plain] = root[:, None]
        else:
            gather_columns(self.X[rows], np.where(plain, columns, 0), curvature[rows], out)
            out[:, ~plain] = np.sqrt(curvature[rows])[:, None]
        return out

    def separates(self, state) -> bool:
        """Whether every row that counts lies strictly on its own side of the plane."""
        signed = np.where(self.target > 0.5, state.scores, -state.scores)
        return bool((signed[self.weight > 0] > 0).all())

    def dual(self, state, penalty) -> float:
        """A lower bound of the objective: the dual at the (corrected) residuals; -inf when there is none.

        With u_i = r_i + t k_i the shift t makes ``sum u_i = 0``, which an intercept without penalty asks for; the
        dual is then ``(1/S) sum s_i h(|u_i| / s_i) - conjugate(X'u / S)``.  Without l2 part u is scaled until
        ``|X'u / S| <= l1``.
        """
        shift = 0.0
        free = penalty.intercept and penalty.l1_intercept == 0.0 and penalty.l2_intercept == 0.0
        if penalty.l1 == 0.0 and penalty.l2 == 0.0:
            return -np.inf
        if free and state.bend[-1] > 0.0:
            shift = -state.gradient[-1] / state.bend[-1]
        if not abs(shift) <= 1.0:
            return -np.inf
        image = state.gradient + shift * state.bend
        penalised_intercept = penalty.intercept and not free
        scale = 1.0
        if penalty.l2 == 0.0:
            largest = np.abs(image[:-1]).max(initial=0.0)
            scale = min(1.0, penalty.l1 / largest) if largest > 0 else 1.0
            if penalised_intercept and image[-1] != 0.0:
                scale = min(scale, penalty.l1_intercept / abs(image[-1]))
            conjugate = 0.0
        else:
            conjugate = softened(image[:-1], penalty.l1) / (2 * penalty.l2)
            if penalised_intercept:
                conjugate += max(abs(image[-1]) - penalty.l1_intercept, 0.0) ** 2 / (2 * penalty.l2_intercept)
        entropy = dual_entropy(state.residual, state.curvature, self.weight, shift, scale)
        return float(entropy / self.total - conjugate)
