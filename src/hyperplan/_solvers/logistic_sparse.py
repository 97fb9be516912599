"""The quadratic model of a prox-Newton step for sparse features, minimised on the columns themselves.

The products of features, cheap for dense columns in BLAS, cost more than many sweeps here.  Coordinate descent keeps
``sqrt(k_i) x_i u``, u the step so far, up to date instead: a coordinate costs twice its stored values.  The order of
the coordinates is drawn at random (in the order of the columns, often that of frequency, descent is many times
slower), the intercept follows each of them to its own minimum, and every few sweeps the iterates are extrapolated;
since ``x_i u`` is linear in u this reads no column.

References
----------
Yuan, Ho, Lin (2012), An improved GLMNET for L1-regularized logistic regression, JMLR 13; Bertrand, Massias (2021),
Anderson acceleration of coordinate descent, AISTATS.
"""

import numpy as np

from hyperplan._core.arrays import compressed
from hyperplan._solvers._logistic_kernels import gather_scaled, sparse_products, sparse_sweep

SWEEPS = 4  # between extrapolations
ROUNDS = 8
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
        self._random = np.random.default_rng(0)

    def follow(self, wrong, theta, state, penalty, slow):
        """Work on the non-zeros and on all features that violate their conditions."""
        taken = (theta != 0.0) | (wrong > 0.0)
        taken[-1] = penalty.intercept
        self.columns = np.flatnonzero(taken)
        self.curvature = state.curvature / self.rows.total

    def step(self, penalty, theta, gradient, tolerance):
        """The change of theta that minimises the model on the working set."""
        columns = self._random.permutation(self.columns)
        last = columns == theta.size - 1
        columns = np.concatenate([columns[~last], columns[last]])  # the constant column, full of values, at the end
        last.sort()
        terms = np.empty((3, columns.size))
        terms[0] = np.where(last, penalty.l2_intercept, penalty.l2)
        terms[1] = np.where(last, penalty.l1_intercept, penalty.l1)
        terms[2] = z = theta[columns]
        scaled, diagonal = self._gather(columns)
        first, terms[0] = gradient[columns] + terms[0] * z, terms[0] + MODEL_RIDGE * diagonal
        diagonal += terms[0]
        z, image = z.copy(), np.zeros(self.rows.n_rows)
        for _ in range(ROUNDS):
            z, image, settled = _round(scaled, diagonal, first, terms, tolerance, image, z)
            if settled:
                break
        step = np.zeros_like(theta)
        step[columns] = z - terms[2]
        return step

    def _gather(self, columns):
        """(indptr, indices, values, cross), diagonal: these columns one after another, times the roots of curvatures.

        `cross` and `diagonal` are their products with the constant column and with themselves.  Read in order the
        columns come from memory faster, and in float32 with half the traffic; the model decides how fast the solution
        is found, not which one it is.
        """
        counts = np.append(np.diff(self._csc.indptr), self.rows.n_rows)[columns]
        total = int(counts.sum())
        indptr, indices = np.empty(columns.size + 1, dtype=np.int64), np.empty(total, dtype=np.int32)
        values = np.empty(total, dtype=np.float32)
        root = np.sqrt(self.curvature).astype(np.float32)  # the constant column as it is stored
        gather_scaled(self._csc, root, columns, indptr, indices, values)
        cross, diagonal = np.empty((2, columns.size))
        sparse_products(indptr, indices, values, root, cross, diagonal)
        if columns[-1] < self.rows.width:
            cross[:] = 0.0
        return (indptr, indices, values, cross), diagonal


def _round(scaled, diagonal, first, terms, tolerance, image, z):
    """(z, image, settled) after some sweeps and the extrapolation of their iterates."""
    points, images = np.empty((SWEEPS + 1, z.size)), np.empty((SWEEPS + 1, image.size))
    points[0], images[0] = z, image
    for sweep in range(1, SWEEPS + 1):
        if sparse_sweep(*scaled, diagonal, first, terms, image, z) <= tolerance:
            return z, image, True
        points[sweep], images[sweep] = z, image
    share = extrapolation(np.diff(points, axis=0))
    point, mixed = share @ points[1:], share @ images[1:]
    if _value(first, terms, point, mixed) < _value(first, terms, z, image):
        return point, mixed, False
    return z, image, False


def _value(first, terms, z, image):
    """The model at z."""
    move = z - terms[2]
    return first @ move + 0.5 * (image @ image + terms[0] @ move**2) + terms[1] @ np.abs(z)


def extrapolation(changes):
    """Shares, of sum one, of the iterates whose last changes these are: the mixture of least change."""
    gram = changes @ changes.T
    size = np.trace(gram)
    count = changes.shape[0]
    if not 0.0 < size < np.inf:
        return np.eye(count)[-1]
    shares = np.linalg.solve(gram / size + 1e-12 * np.eye(count), np.ones(count))
    return shares / shares.sum()
