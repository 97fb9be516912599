"""Classical scaling of a matrix of distances that is held once: coordinates from ``B = -1/2 H (A o A) H``.

H takes means off, A o A are the squared distances.  B is never made: its products with blocks of vectors come from
panels of A that are squared in cache.  With ``B = V diag(values) V'``, the rows have the coordinates
``V sqrt(values)``, and a new row whose distances from them are D has ``(1 / sqrt(value)) V' k`` with
``k = -1/2 (D^2 - means of the columns of A^2 - mean of D^2 + mean of all)``, which for the rows themselves is the same.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._solvers.block_lanczos import largest_eigenpairs
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_result import signed
from hyperplan.manifold import _isomap_kernels as k

OWN = ("householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi")
SOLVERS = ("auto", "arpack", "dense", *OWN)
PANEL_BYTES = 1 << 20  # a squared panel stays in cache
TASK_ROWS = 256  # rows of one task
FEW_ROWS = 300  # up to which iterations are not worth their start
ROUNDING = 1e-12  # share of the largest eigenvalue below which one counts as zero
TOLERANCE = 1e-10  # of the iteration unless it is told


class Scaling(NamedTuple):
    """Positive eigenvalues and their vectors, and what new rows need."""

    values: np.ndarray  # (k,) descending, positive
    vectors: np.ndarray  # (n, k)
    means: np.ndarray  # (n,) of the rows of A o A
    residual: float  # of the eigenvectors, relative
    n_reads: int  # of the distances, 1 for a direct method

    @property
    def coordinates(self):
        return self.vectors * np.sqrt(self.values)

    def place(self, distances):
        """Coordinates of rows with these distances from the rows of the fit, (number of rows, n)."""
        squares = distances * distances
        weights = self.vectors / np.sqrt(np.where(self.values > 0.0, self.values, np.inf))
        own = squares.mean(axis=1, keepdims=True) - self.means.mean()
        return -0.5 * (squares @ weights - self.means @ weights - own * weights.sum(axis=0))


class CentredSquares:
    """``-1/2 H (A o A) H`` as an operator on blocks of vectors; A is read once per product."""

    def __init__(self, distances, n_jobs=None):
        self.distances, self.n_jobs = distances, n_jobs
        self.means = self._by_panels(lambda panel, rows: panel.mean(axis=1))

    def _by_panels(self, use):
        """``use(squared panel, rows)`` for panel after panel; answers are stacked."""
        n = self.distances.shape[1]
        size = max(8, PANEL_BYTES // (8 * max(n, 1)))

        def run(task):
            buffer, answers = np.empty((min(size, task.stop - task.start), n)), []
            for piece in spans(task.stop - task.start, size):
                rows = slice(task.start + piece.start, task.start + piece.stop)
                panel = buffer[: rows.stop - rows.start]
                panel[:] = self.distances[rows]
                np.multiply(panel, panel, out=panel)
                answers.append(use(panel, rows))
            return np.concatenate(answers)

        return np.concatenate(thread_map(run, spans(self.distances.shape[0], TASK_ROWS), self.n_jobs))

    def times(self, block):
        """B @ block."""
        block = block - block.mean(axis=0)
        image = self._by_panels(lambda panel, rows: panel @ block)
        image *= -0.5
        return image - image.mean(axis=0)

    def squared_norm(self) -> float:
        """Sum of the squares of the entries of B."""
        means, mean = self.means, self.means.mean()

        def add(panel, rows):
            panel -= means[rows, None]
            panel -= means - mean
            return np.array([0.25 * float(np.vdot(panel, panel))])

        return float(self._by_panels(add).sum())

    def matrix(self):
        """B itself, symmetric to the last bit."""
        n = len(self.means)
        require_memory(24.0 * n * n, "A dense eigenvalue problem", "use eigen_solver='arpack', or fewer components")
        centred = self._by_panels(lambda panel, rows: panel - self.means[rows, None])
        centred -= self.means - self.means.mean()
        centred += centred.T.copy()
        centred *= -0.25
        return centred


def scale_classically(distances, n_components, *, solver="auto", tol=0.0, max_iter=None, n_jobs=None) -> Scaling:
    """The leading eigenpairs of B with positive eigenvalues, at most `n_components`.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64 or float32
        Distances A, finite.
    n_components : int
        How many to look for.
    solver : str
        "dense" asks LAPACK, "arpack" iterates on blocks, `OWN` are those of `hyperplan.linalg`; "auto" iterates for few
        components of many rows.
    tol : float
        Relative residual of the iteration; 0 means 1e-10.
    max_iter : int, default=None
        Most reads of A of the iteration.
    n_jobs : int, default=None
        Threads.
    """
    operator, n = CentredSquares(distances, n_jobs), len(distances)
    size = min(n, n_components)
    if solver == "auto":
        solver = "dense" if n <= FEW_ROWS or 5 * size >= n else "arpack"
    if solver == "arpack" and n > size:
        options = {"tol": max(tol, TOLERANCE), "max_reads": max_iter}
        values, vectors, residual, n_reads = largest_eigenpairs(operator.times, n, size, **options)
    else:
        n_reads, (values, vectors, residual) = 1, _dense(operator.matrix(), size, solver)
    kept = values > ROUNDING * max(float(values.max(initial=0.0)), 0.0)
    if not kept.any():  # all rows are equal: one coordinate, zero
        values, vectors, kept = np.zeros(1), np.zeros((n, 1)), np.ones(1, bool)
    return Scaling(values[kept], signed(vectors[:, kept]), operator.means, residual, n_reads)


def _dense(matrix, size, solver):
    n = len(matrix)
    if solver in OWN:
        found = eigh(matrix, method=solver, n_components=size)
        return found.values[::-1], found.vectors[:, ::-1], found.certificate.value
    values, vectors = la.eigh(matrix, subset_by_index=(n - size, n - 1), check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = float(np.abs(values).max(initial=0.0))
    gap = np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max(initial=0.0)
    return values, vectors, float(gap) / largest if largest > 0.0 else 0.0


def residual_variances(distances, coordinates, n_jobs=None):
    """``1 - correlation^2`` of distances with those between the rows of an embedding in 1, 2, ... dimensions.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Distances before.
    coordinates : ndarray of shape (n, p)
        The embedding.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    residual : ndarray of shape (p,)
        One for each number of leading coordinates.
    """
    n, p = coordinates.shape
    columns = np.ascontiguousarray(coordinates.T, dtype=np.float64)

    def run(rows):
        sums = np.zeros(2 + 3 * p)
        k.compare_rows(distances[rows], rows.start, columns, np.empty(n), sums)
        return sums

    sums = np.sum(thread_map(run, spans(n, TASK_ROWS), n_jobs), axis=0)
    pairs = max(n * (n - 1) // 2, 1)
    x, xx = sums[:2]
    y, yy, xy = sums[2:].reshape(p, 3).T
    spread = (xx - x * x / pairs) * (yy - y * y / pairs)
    shared = (xy - x * y / pairs) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0.0, np.clip(1.0 - shared / spread, 0.0, 1.0), 1.0)
