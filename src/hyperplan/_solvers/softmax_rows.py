"""The rows of a softmax regression and the sums its solvers take over them.

Objective (mean scale: S is the sum of the weights s_i; theta has one row ``[w_k, b_k]`` per class)

    (1/S) sum_i s_i (log sum_l exp(x_i w_l + b_l) - x_i w_c - b_c)  +  l1 sum |w_kj| + l2/2 sum w_kj^2,   c = class of i

X is read once per evaluation: scores, softmax and gradient are formed panel by panel.  Float32 features stay in
float32 in the products; sums over panels are float64.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._solvers._softmax_kernels import (
    class_panel,
    csr_residual_sums,
    csr_softmax_pass,
    mixed_entropy,
    probabilities,
    softmax_terms,
)
from hyperplan._solvers.logistic_rows import BLOCK_VALUES, MAX_BLOCKS, Penalty

PANEL_BYTES = 2**20
HESSIAN_ROWS = 512


class SoftmaxState(NamedTuple):
    """Loss and its gradient of shape (K, d + 1) on the mean scale, and the residuals of the rows."""

    loss: float
    gradient: np.ndarray
    residual: np.ndarray


class SoftmaxRows:
    """Checked rows with class codes and weights.

    Parameters
    ----------
    X : ndarray of shape (n, d) in C order, or CSR matrix
        Features, float32 or float64.
    codes : ndarray of shape (n,)
        Classes 0 .. n_classes - 1.
    weight : ndarray of shape (n,)
        Row weights, float64.
    n_classes : int
        Number of classes; some may be without rows.
    """

    def __init__(self, X, codes, weight, n_classes):
        self.X, self.codes, self.weight, self.n_classes = X, codes, weight, n_classes
        self.total = float(weight.sum())
        self.n_rows, self.width = X.shape
        self.is_sparse = sp.issparse(X)
        self.n_stored = X.nnz if self.is_sparse else X.size
        self._csr = compressed(X) if self.is_sparse else None
        per_row = max(1, self.n_stored // max(self.n_rows, 1))
        self.blocks = spans(self.n_rows, max(BLOCK_VALUES // per_row, -(-self.n_rows // MAX_BLOCKS), 1))
        self.panel = int(np.clip(PANEL_BYTES // (max(self.width, 1) * X.dtype.itemsize), 64, 2048))

    def map(self, task):
        """`task` on every block, results in order."""
        return [task(self.blocks[0])] if len(self.blocks) == 1 else thread_map(task, self.blocks)

    def evaluate(self, theta) -> SoftmaxState:
        """Loss, gradient and residuals at theta of shape (K, d + 1)."""
        residual = np.empty((self.n_rows, self.n_classes), dtype=np.float64 if self.is_sparse else self.X.dtype)
        weights = np.ascontiguousarray(theta.T)  # (d + 1, K)
        bias = weights[-1].copy()
        slopes = None if self.is_sparse else weights[:-1].astype(self.X.dtype, copy=False)

        def task(rows):
            sums = np.zeros((self.width + 1, self.n_classes))
            if self.is_sparse:
                fixed = (self._csr, weights, self.codes, self.weight, rows.start, rows.stop)
                return csr_softmax_pass(*fixed, residual, sums), sums
            loss, slopes_sum = 0.0, sums[:-1].T
            for start in range(rows.start, rows.stop, self.panel):
                part = slice(start, min(start + self.panel, rows.stop))
                out = residual[part]
                np.matmul(self.X[part], slopes, out=out)
                loss += softmax_terms(out, bias, self.codes[part], self.weight[part], out)
                slopes_sum += out.T @ self.X[part]
                sums[-1] += out.sum(axis=0, dtype=np.float64)
            return loss, sums

        parts = self.map(task)
        loss = sum(part[0] for part in parts) / self.total
        gradient = np.ascontiguousarray(sum(part[1] for part in parts).T) / self.total
        return SoftmaxState(loss, gradient, residual)

    def image(self, residual):
        """``(1/S) residual' [X, 1]`` of shape (K, d + 1)."""

        def task(rows):
            sums = np.zeros((self.width + 1, self.n_classes))
            if self.is_sparse:
                csr_residual_sums(self._csr, residual, rows.start, rows.stop, sums)
            else:
                sums[:-1] = self.X[rows].T @ residual[rows].astype(self.X.dtype, copy=False)
                sums[-1] = residual[rows].sum(axis=0, dtype=np.float64)
            return sums

        return np.ascontiguousarray(sum(self.map(task)).T) / self.total

    def probability(self, state):
        """Class probabilities of the rows (zeros where the weight is 0)."""
        out = np.empty((self.n_rows, self.n_classes))
        probabilities(state.residual, self.codes, self.weight, out)
        return out

    def hessian(self, state, intercept):
        """The Hessian of the loss, of shape (K D, K D), D = d + 1 with an intercept, class by class."""
        width = self.width + int(intercept)
        size = self.n_classes * width
        require_memory(
            8.0 * size**2 * (len(self.blocks) + 2), f"The Hessian of {size} coefficients", "use fewer features"
        )
        probability = self.probability(state)

        def task(rows):
            total = np.zeros((size, size))
            panel = np.empty((min(HESSIAN_ROWS, rows.stop - rows.start), size))
            for start in range(rows.start, rows.stop, HESSIAN_ROWS):
                part = slice(start, min(start + HESSIAN_ROWS, rows.stop))
                X = self.X[part].toarray() if self.is_sparse else self.X[part]
                X = np.column_stack([X, np.ones(X.shape[0], X.dtype)]) if intercept else X
                plain, scaled = np.empty(X.shape), panel[: X.shape[0]]
                class_panel(X, probability[part], self.weight[part], plain, scaled)
                total -= scaled.T @ scaled
                for k in range(self.n_classes):
                    own = slice(k * width, (k + 1) * width)
                    total[own, own] += scaled[:, own].T @ plain
            return total

        return sum(self.map(task)) / self.total

    def gram(self, step):
        """``(1/S) [X, 1]' diag(s) [X, 1]`` from every `step`-th row."""
        X, weight = self.X[::step], self.weight[::step]
        total = float(weight.sum()) or 1.0
        d = self.width
        if self.is_sparse:
            scaled = X.multiply(weight[:, None]).tocsr()
            product = (scaled.T @ X).toarray()
        else:
            groups = spans(X.shape[0], max(2048, -(-X.shape[0] // 8)))

            def task(rows):
                panel = X[rows] * np.sqrt(weight[rows], dtype=X.dtype)[:, None]
                return panel.T @ panel

            product = sum(thread_map(task, groups)).astype(np.float64)
        out = np.empty((d + 1, d + 1))
        out[:d, :d] = product / total
        out[d, :d] = out[:d, d] = np.asarray(X.T @ weight.astype(X.dtype)).ravel() / total
        out[d, d] = 1.0
        return out

    def separates(self, state) -> bool:
        """Whether every row that counts has its own class strictly first."""
        counted = self.weight > 0
        probability = self.probability(state)[counted]
        own = probability[np.arange(probability.shape[0]), self.codes[counted]].copy()
        probability[np.arange(probability.shape[0]), self.codes[counted]] = -1.0
        return bool((own > probability.max(axis=1)).all())

    def dual(self, state, penalty: Penalty) -> float:
        """A lower bound of the objective: the dual at corrected probabilities; -inf when there is none.

        ``D(Q) = (1/S) sum s_i entropy(Q_i) - conjugate(X'(s (Q - Y)) / S)`` for distributions Q_i with
        ``sum s_i (Q_i - Y_i) = 0`` when there is an intercept: the fitted probabilities are mixed with a constant
        distribution until this holds.  Without l2 part Q is moved towards Y until ``|X'(s (Q - Y)) / S| <= l1``.
        """
        if penalty.l1 == 0.0 and penalty.l2 == 0.0:
            return -np.inf
        share = np.bincount(self.codes, weights=self.weight, minlength=self.n_classes) / self.total
        mix, towards = 0.0, share
        if penalty.intercept:
            excess = state.gradient[:, -1]
            excess = excess - excess.mean()
            if (excess[share == 0.0] > 0.0).any():
                return -np.inf
            ratio = max(0.0, float(np.max(excess[share > 0] / share[share > 0])))
            if ratio > 0.0:
                mix = ratio / (1.0 + ratio)
                towards = share - excess / ratio
        probability = self.probability(state)
        residual = np.empty_like(probability)
        entropy = mixed_entropy(probability, self.codes, self.weight, mix, towards, 1.0, residual)
        image = self.image(residual)[:, :-1]
        if penalty.l2 > 0.0:
            conjugate = (np.maximum(np.abs(image) - penalty.l1, 0.0) ** 2).sum() / (2 * penalty.l2)
            return float(entropy / self.total - conjugate)
        largest = np.abs(image).max(initial=0.0)
        if largest > penalty.l1:
            keep = penalty.l1 / largest
            entropy = mixed_entropy(probability, self.codes, self.weight, mix, towards, keep, residual)
        return float(entropy / self.total)
