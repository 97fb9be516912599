"""The smallest eigenvalues of a sparse matrix without negative ones that sends constants to zero.

They are the largest of its inverse on vectors of mean zero.  One sparse factorisation makes products with the inverse
cheap, and few are needed: the eigenvalues next to zero are far apart there.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from hyperplan._core.status import Status
from hyperplan._solvers.block_lanczos import largest_eigenpairs

SHIFT = 1e-14  # of the largest diagonal entry: the matrix is singular, the shifted one is not
FEW_ROWS = 200  # up to which LAPACK is asked
MANY_PAIRS = 5  # rows per wanted pair below which it is, too


class NullSpace(NamedTuple):
    """Eigenpairs next to the constant vector."""

    values: np.ndarray  # (k,) ascending
    vectors: np.ndarray  # (n, k) orthonormal
    residual: float  # largest |M v - value v| / norm of M
    status: Status
    n_products: int


def next_to_constant(matrix, k, *, solver="auto", tol=1e-6, max_products=100, seed=0) -> NullSpace:
    """The k smallest eigenpairs after the one of the constant vector.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
        Symmetric, positive semi-definite, with rows that sum to zero.
    k : int
        Number of pairs, below n.
    solver : {"auto", "sparse", "dense"} or callable
        A function of a dense matrix must return all values, ascending, and all vectors.
    tol : float
        Relative residual of the inverse to stop at.
    max_products : int
        Most products with the inverse.
    seed : int
        Of the first vectors.
    """
    n = matrix.shape[0]
    if solver == "auto":
        solver = "dense" if n <= max(FEW_ROWS, MANY_PAIRS * (k + 1)) else "sparse"
    norm = float(abs(matrix).sum(axis=1).max())
    if solver == "sparse" and k + 1 < n:
        values, vectors, status, n_products = _inverted(matrix, k, tol, max_products, seed)
    else:
        dense = matrix.toarray()
        dense += norm / n  # lifts the constant above all others, and leaves what is orthogonal to it alone
        if callable(solver):
            values, vectors = solver(dense)
            values, vectors = values[:k], vectors[:, :k]
        else:
            values, vectors = la.eigh(dense, subset_by_index=(0, k - 1), overwrite_a=True, check_finite=False)
        status, n_products = Status.EXACT, 0
    gap = float(np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max())
    return NullSpace(values, vectors, gap / norm if norm > 0.0 else 0.0, status, n_products)


def _inverted(matrix, k, tol, max_products, seed):
    n = matrix.shape[0]
    shift = SHIFT * float(matrix.diagonal().max())
    shifted = (matrix + shift * sp.eye_array(n)).tocsc()
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def product(block):
        solved = factor.solve(np.asfortranarray(block - block.mean(axis=0)))
        return solved - solved.mean(axis=0)

    pairs = largest_eigenpairs(product, n, k, tol=tol, max_reads=max_products, seed=seed)
    # one more product removes what the matrix would enlarge; quotients of the matrix have more digits than the inverse
    basis = np.linalg.qr(product(pairs.vectors))[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    status = Status.CONVERGED if pairs.residual <= tol else Status.MAX_ITER
    return values, basis @ turn, status, pairs.n_reads + 1
