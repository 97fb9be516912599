"""The quadratic model of a prox-Newton step for sparse features, minimised on the columns themselves.

The products of features, cheap for dense columns in BLAS, cost more than many sweeps here.  Coordinate descent keeps
``k_i x_i u``, u the step so far, up to date instead: a coordinate costs twice its stored values.  Where sweeps
settle slowly, conjugate gradients on the support with its signs, to the best point of a segment, take over.

References
----------
Yuan, Ho, Lin (2012), An improved GLMNET for L1-regularized logistic regression, JMLR 13.
"""

import numpy as np

from hyperplan._core.arrays import compressed
from hyperplan._solvers._logistic_kernels import sparse_descent, sparse_diagonal
from hyperplan._solvers.logistic_model import best_on_segment

SWEEPS = 8  # before conjugate gradients take over
ROUNDS = 2
PRODUCTS = 25  # of conjugate gradients
DENSE_SHARE = 0.05  # share of stored values above which products of features pay
FEWEST_VALUES = 2**16
MODEL_RIDGE = 1e-10  # relative


def prefers_columns(rows) -> bool:
    """Whether this model suits the rows: sparse, and more than a handful of values."""
    return rows.is_sparse and FEWEST_VALUES < rows.n_stored <= DENSE_SHARE * rows.n_rows * rows.width


class ColumnModel:
    """Columns of the features and the curvatures of the present step.

    Parameters
    ----------
    rows : Rows
        Sparse rows.
    by_column : CSC matrix, default=None
        The same features by column, when another model has them.
    """

    share = 0.2  # inner violations relative to the outer ones
    stuck = 0.02  # steps that gain less are not repeated for the sake of the duality gap

    def __init__(self, rows, by_column=None):
        self.rows = rows
        self.by_column = rows.X.tocsc() if by_column is None else by_column
        self._csc = compressed(self.by_column)
        self.columns = np.empty(0, dtype=np.intp)
        self.curvature = np.empty(0)

    def follow(self, wrong, theta, state, penalty, slow):
        """Work on the non-zeros and on all features that violate their conditions."""
        taken = (theta != 0.0) | (wrong > 0.0)
        taken[-1] = penalty.intercept
        self.columns = np.flatnonzero(taken)
        self.curvature = state.curvature / self.rows.total

    def step(self, penalty, theta, gradient, tolerance):
        """The change of theta that minimises the model on the working set."""
        columns = self.columns
        last = columns == theta.size - 1
        terms = np.empty((3, columns.size))
        terms[0] = np.where(last, penalty.l2_intercept, penalty.l2)
        terms[1] = np.where(last, penalty.l1_intercept, penalty.l1)
        terms[2] = z = theta[columns]
        diagonal = np.empty(columns.size)
        sparse_diagonal(self._csc, self.curvature, columns, diagonal)
        first, terms[0] = gradient[columns] + terms[0] * z, terms[0] + MODEL_RIDGE * diagonal
        diagonal += terms[0]
        z, weighted = z.copy(), np.zeros(self.rows.n_rows)
        fixed = (self._csc, self.curvature, columns, diagonal, first, terms)
        for _ in range(ROUNDS):
            if sparse_descent(*fixed, tolerance, SWEEPS, weighted, z) < SWEEPS:
                break
            if not self._support_step(diagonal, first, terms, weighted, z):
                break
        step = np.zeros_like(theta)
        step[columns] = z - terms[2]
        return step

    def _support_step(self, diagonal, first, terms, weighted, z) -> bool:
        """Move the non-zeros towards their minimiser for the present signs; updates `weighted` and `z`."""
        support = np.flatnonzero((z != 0.0) & (diagonal > 0.0))
        chosen = self.columns[support]
        n_plain = int(np.searchsorted(chosen, self.rows.width))
        X = self.by_column[:, chosen[:n_plain]]
        turned = X.T
        constant = chosen.size > n_plain
        ridge, lasso = terms[0, support], terms[1, support]

        def image(v):
            return X @ v[:n_plain] + (v[-1] if constant else 0.0)

        def back(u):
            out = turned @ u
            return np.append(out, u.sum()) if constant else out

        uphill = first[support] + ridge * (z - terms[2])[support] + back(weighted) + lasso * np.sign(z[support])
        product = lambda v: back(self.curvature * image(v)) + ridge * v  # noqa: E731
        direction = _conjugate_gradients(product, diagonal[support], -uphill)
        bend = float(direction @ product(direction))
        slope = -float(uphill @ direction)
        if not (0.0 < bend < np.inf and slope > 0.0):
            return False
        direction *= slope / bend  # now the slope along it vanishes at its end
        here = z[support]
        z[support] = best_on_segment(here, direction, slope * slope / bend, lasso)
        weighted += self.curvature * image(z[support] - here)
        return True


def _conjugate_gradients(product, diagonal, right):
    """An approximate solution, scaled by the diagonal."""
    x, residual = np.zeros_like(right), right.copy()
    scaled = residual / diagonal
    direction, size = scaled.copy(), float(residual @ scaled)
    enough = 1e-4 * size
    for _ in range(PRODUCTS):
        if not size > enough:
            break
        image = product(direction)
        length = size / float(direction @ image)
        x += length * direction
        residual -= length * image
        scaled = residual / diagonal
        before, size = size, float(residual @ scaled)
        direction = scaled + size / before * direction
    return x
