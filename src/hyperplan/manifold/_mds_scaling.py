"""Classical scaling as `ClassicalMDS` needs it: leading eigenpairs, and what is known of the eigenvalues left out.

``B = -1/2 H S H``, S the squared distances and ``H = I - 11'/n``.  For Euclidean distances between rows ``B = X X'`` (X
centred), whose eigenvalues are those of the small matrix ``X' X``: distances are not needed at all.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.status import Status
from hyperplan._solvers.block_lanczos import largest_eigenpairs
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_lanczos import lanczos
from hyperplan.manifold._scaling import OWN, CentredSquares

FEW_ROWS = 400  # up to which LAPACK is asked for everything
MANY_PAIRS = 10  # rows per wanted pair below which iterations do not pay
MOST_READS = 100
READS_BELOW = 6  # of the distances, in search of negative eigenvalues
SOLVERS = ("auto", "dense", "krylov", "lanczos", *OWN)


class Eigenvalues(NamedTuple):
    """Leading eigenpairs of the centred matrix and what is known of the others.

    Attributes
    ----------
    values, vectors : ndarray of shapes (k,) and (n, k)
        Largest eigenvalues, descending, with their vectors.
    residual : float
        Largest ``|B v - value v|``, relative to the largest eigenvalue in modulus.
    lowest : float
        B has an eigenvalue that is not above this number; the smallest one itself if `is_whole`.
    positive : float
        Sum of the positive eigenvalues; the trace, which is not above it, unless `is_whole`.
    negative : float
        Sum of the moduli of the negative ones, if `is_whole`; else that of those found.
    is_whole : bool
        Whether all eigenvalues were found.
    squares : float
        Sum of the squares of all eigenvalues.
    row_means : ndarray of shape (n,)
        Means of the squared distances from each row.
    status : Status
        How the solver ended.
    """

    values: np.ndarray
    vectors: np.ndarray
    residual: float
    lowest: float
    positive: float
    negative: float
    is_whole: bool
    squares: float
    row_means: np.ndarray
    status: Status


def scale_distances(distances, k, *, solver="auto", tol=1e-10, n_jobs=None) -> Eigenvalues:
    """Classical scaling of a matrix of distances.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Symmetric, float32 or float64.
    k : int
        Number of pairs, at most n.
    solver : str
        One of `SOLVERS`; "auto" asks LAPACK for small matrices and many pairs, else iterates with blocks.
    tol : float
        Relative residual that iterations stop at.
    n_jobs : int or None
        Threads.
    """
    n, operator = len(distances), CentredSquares(distances, n_jobs)
    if solver == "auto":
        solver = "dense" if n <= max(FEW_ROWS, MANY_PAIRS * k) else "krylov"
    if solver not in ("krylov", "lanczos") or k >= n:
        return _direct(operator, k, solver)
    values, vectors, residual, status = (_by_blocks if solver == "krylov" else _by_vectors)(operator, n, k, tol)
    below = largest_eigenpairs(lambda block: -operator.times(block), n, 1, tol=1e-3, max_reads=READS_BELOW)
    lowest = min(-float(below.values[0]), 0.0)  # zero, of the constant, is always one of them
    trace = 0.5 * float(operator.means.sum())
    squares = operator.squared_norm()
    return Eigenvalues(values, vectors, residual, lowest, trace, -lowest, False, squares, operator.means, status)


def _by_blocks(operator, n, k, tol):
    found = largest_eigenpairs(operator.times, n, k, tol=tol, max_reads=MOST_READS)
    status = Status.CONVERGED if found.residual <= tol else Status.MAX_ITER
    return found.values, found.vectors, found.residual, status


def _by_vectors(operator, n, k, tol):
    found = lanczos(_Vectors(operator, n), k, which="LA", tol=tol)
    return found.values[::-1], found.vectors[:, ::-1], found.certificate.value, found.status


class _Vectors:
    """The centred matrix for solvers that multiply vectors one by one."""

    def __init__(self, operator, n):
        self.operator, self.shape = operator, (n, n)

    def matvec(self, vector):
        return self.operator.times(vector.reshape(-1, 1)).ravel()


def _direct(operator, k, solver):
    """All eigenvalues, by LAPACK or by one of our own solvers."""
    centred = operator.matrix()
    n, squares = len(centred), float(np.vdot(centred, centred))
    if solver in OWN:
        found = eigh(centred, method=solver)
        values, vectors, residual, status = found.values, found.vectors, found.certificate.value, found.status
    else:
        values, vectors = la.eigh(centred, overwrite_a=True, check_finite=False)
        residual, status = 0.0, Status.EXACT
    best = slice(n - 1, n - 1 - k if k < n else None, -1)
    positive, negative = float(values[values > 0.0].sum()), float(-values[values < 0.0].sum())
    rest = (residual, float(values[0]), positive, negative, True, squares, operator.means, status)
    return Eigenvalues(values[best], vectors[:, best], *rest)


class RowScaling(NamedTuple):
    """Classical scaling of rows: coordinates of a row x are ``(x - mean) @ axes``."""

    values: np.ndarray  # (k,) descending
    axes: np.ndarray  # (d, k) orthonormal
    mean: np.ndarray  # (d,)
    coordinates: np.ndarray  # (n, k)
    positive: float  # sum of all eigenvalues
    squares: float  # sum of their squares


def scale_rows(X, k) -> RowScaling:
    """Classical scaling of the Euclidean distances between rows, fewer columns than rows.

    ``X' X u = value u`` gives ``X X' (X u) = value (X u)`` with ``|X u|^2 = value``: X u are the coordinates.
    """
    mean = X.mean(axis=0, dtype=np.float64)
    centred = X - mean
    values, axes = la.eigh(centred.T @ centred, overwrite_a=True, check_finite=False)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    k = min(k, values.size)
    total, squares = float(values.sum()), float((values**2).sum())
    return RowScaling(values[:k], axes[:, :k], mean, centred @ axes[:, :k], total, squares)
