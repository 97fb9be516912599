"""Classical scaling: the leading eigenpairs of ``B = -1/2 H S H``, S the squared distances and ``H = I - 11'/n``.

B is never made for iterations: a panel of distances is squared in cache, multiplied with a block of centred vectors,
and the products are centred.  One matrix of distances is all the memory it needs.  For Euclidean distances between rows
``B = X X'`` (X centred), whose eigenvalues are those of the small matrix ``X' X``: distances are not needed at all.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers.block_lanczos import leading_pairs
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_lanczos import lanczos

PANEL = 64  # rows of distances that are squared at a time
TASK = 256  # rows of one task
FEW_ROWS = 400  # up to which LAPACK is asked for everything
MANY_PAIRS = 10  # rows per wanted pair below which iterations do not pay
OWN = ("householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi")
SOLVERS = ("auto", "dense", "krylov", "lanczos", *OWN)


class Scaling(NamedTuple):
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


def scale_distances(distances, k, *, solver="auto", tol=1e-10, n_jobs=None) -> Scaling:
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
    n = distances.shape[0]
    of_rows, fourth = zip(*thread_map(lambda rows: _sums(distances, rows), spans(n, TASK), n_jobs))
    row_means = np.concatenate(of_rows) / n
    mean = float(row_means.mean())
    trace = 0.5 * (n * mean - float(np.sum(np.diagonal(distances).astype(np.float64) ** 2)))
    squares = max(0.25 * (sum(fourth) - 2.0 * n * float((row_means**2).sum()) + (n * mean) ** 2), 0.0)
    if solver == "auto":
        solver = "dense" if n <= max(FEW_ROWS, MANY_PAIRS * k) else "krylov"
    if solver in ("krylov", "lanczos"):
        found = _iterated(distances, k, solver, tol, n_jobs)
        return Scaling(*found[:4], trace, max(-found[3], 0.0), False, squares, row_means, found[4])
    return _direct(_centred(distances, row_means, mean), k, solver, squares, row_means)


def _sums(distances, rows):
    """Sums of squares by row, and the sum of all fourth powers, of some rows."""
    of_rows, fourth = np.empty(rows.stop - rows.start), 0.0
    for part in spans(rows.stop - rows.start, PANEL):
        panel = distances[rows.start + part.start : rows.start + part.stop].astype(np.float64)
        np.multiply(panel, panel, out=panel)
        of_rows[part] = panel.sum(axis=1)
        fourth += float(np.vdot(panel, panel))
    return of_rows, fourth


def centred_product(distances, n_jobs=None):
    """A function that multiplies ``-1/2 H (distances * distances) H`` with blocks of vectors."""
    n = distances.shape[0]

    def product(block):
        block = np.ascontiguousarray(block - block.mean(axis=0))
        image = np.empty((n, block.shape[1]))

        def one_task(rows):
            buffer = np.empty((PANEL, n))
            for part in spans(rows.stop - rows.start, PANEL):
                where = slice(rows.start + part.start, rows.start + part.stop)
                panel = buffer[: part.stop - part.start]
                np.multiply(distances[where], distances[where], out=panel, dtype=np.float64)
                np.matmul(panel, block, out=image[where])

        thread_map(one_task, spans(n, TASK), n_jobs)
        return -0.5 * (image - image.mean(axis=0))

    return product


class _Operator:
    """The centred matrix for solvers that multiply vectors one by one."""

    def __init__(self, product, n):
        self.product, self.shape = product, (n, n)

    def matvec(self, vector):
        return self.product(vector.reshape(-1, 1)).ravel()


def _iterated(distances, k, solver, tol, n_jobs):
    product, n = centred_product(distances, n_jobs), distances.shape[0]
    if solver == "lanczos":
        found = lanczos(_Operator(product, n), k, which="LA", tol=tol)
        values, vectors = found.values[::-1], found.vectors[:, ::-1]
        return values, vectors, found.certificate.value, min(float(values[-1]), 0.0), found.status  # 0 is one of them
    pairs = leading_pairs(product, n, k, tol=tol)
    return pairs.values, pairs.vectors, pairs.residual, min(pairs.lowest, 0.0), pairs.status


def _centred(distances, row_means, mean):
    centred = distances.astype(np.float64)
    np.multiply(centred, centred, out=centred)
    centred -= row_means
    centred -= row_means[:, None] - mean
    centred *= -0.5
    return centred


def _direct(centred, k, solver, squares, row_means):
    """All eigenvalues, by LAPACK or by one of our own solvers."""
    n = centred.shape[0]
    if solver in OWN:
        found = eigh(centred, method=solver)
        values, vectors, residual, status = found.values, found.vectors, found.certificate.value, found.status
    else:
        values, vectors = la.eigh(centred, overwrite_a=True, check_finite=False)
        residual, status = 0.0, Status.EXACT
    positive, negative = float(values[values > 0.0].sum()), float(-values[values < 0.0].sum())
    best = slice(n - 1, n - 1 - k if k < n else None, -1)
    return Scaling(
        values[best], vectors[:, best], residual, float(values[0]), positive, negative, True, squares, row_means, status
    )


class RowScaling(NamedTuple):
    """Classical scaling of rows: coordinates of a row x are ``(x - mean) @ axes``."""

    values: np.ndarray  # (k,) descending
    axes: np.ndarray  # (d, k) orthonormal
    mean: np.ndarray  # (d,)
    coordinates: np.ndarray  # (n, k)
    positive: float  # sum of all eigenvalues


def scale_rows(X, k) -> RowScaling:
    """Classical scaling of the Euclidean distances between rows, fewer columns than rows.

    ``X' X u = value u`` gives ``X X' (X u) = value (X u)`` with ``|X u|^2 = value``: X u are the coordinates.
    """
    mean = X.mean(axis=0, dtype=np.float64)
    centred = X - mean
    values, axes = la.eigh(centred.T @ centred, overwrite_a=True, check_finite=False)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    k = min(k, values.size)
    return RowScaling(values[:k], axes[:, :k], mean, centred @ axes[:, :k], float(values.sum()))
