"""Coordinates from the graph Laplacian: the eigenvectors of its smallest eigenvalues.

With affinities A (their diagonal does not count), degrees ``d = A 1`` and ``L = I - D^{-1/2} A D^{-1/2}``, the
coordinates are ``D^{-1/2} v`` for the eigenvectors v of L with the smallest eigenvalues: they minimise
``sum_ij A_ij |y_i - y_j|^2`` under ``Y' D Y = I``.  The first one is constant when the graph is connected.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, laplacian
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu

from hyperplan._core.parallel import single_threaded_blas

SHIFT = 1e-5  # below zero, where the Laplacian is positive definite and can be factorised without pivoting
FEW_ROWS = 32  # up to which all eigenvectors are found at once
BLOCK_STEPS = 2000
FILLED, FILLED_ROWS = 0.02, 10_000  # share of entries above which factors of a sparse matrix fill up; rows up to which


class Spectrum(NamedTuple):
    """Eigenpairs of a Laplacian.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Smallest eigenvalues, ascending.
    coordinates : ndarray of shape (n, k)
        Eigenvectors, divided by the roots of the degrees if the Laplacian is normalised; the largest entry of each
        (in modulus) is positive.
    residual : float
        Largest ``|L v - value v|``.
    degrees : ndarray of shape (n,)
        Sums of affinities, one for rows without any.
    """

    values: np.ndarray
    coordinates: np.ndarray
    residual: float
    degrees: np.ndarray


def spectral_coordinates(
    affinity, n_components, *, eigen_solver=None, random_state, eigen_tol="auto", norm_laplacian=True, drop_first=True
):
    """Coordinates of the nodes of a graph.

    Parameters
    ----------
    affinity : ndarray or sparse matrix of shape (n, n)
        Symmetric, without negative entries.
    n_components : int
        Number of coordinates.
    eigen_solver : {"arpack", "lobpcg", "amg"}, callable or None
        None means "arpack".
    random_state : RandomState
        Source of the first vectors.
    eigen_tol : float or "auto"
        Tolerance of the solver.
    norm_laplacian : bool
        Whether degrees are divided out.
    drop_first : bool
        Whether the first eigenvector, constant on a connected graph, is left out.

    Returns
    -------
    ndarray of shape (n, n_components)
        Coordinates; fewer columns, with a warning, if there are fewer nodes.
    """
    options = {"eigen_solver": eigen_solver, "eigen_tol": eigen_tol, "norm_laplacian": norm_laplacian}
    found = spectrum(affinity, n_components + drop_first, random_state=random_state, **options)
    return found.coordinates[:, 1:] if drop_first else found.coordinates


def spectrum(affinity, k, *, eigen_solver=None, random_state, eigen_tol="auto", norm_laplacian=True) -> Spectrum:
    """The k smallest eigenpairs of the Laplacian of a graph; parameters as in `spectral_coordinates`.

    `eigen_solver` may be a function of a dense matrix and k that returns values (ascending) and vectors.
    """
    affinity = symmetric(affinity)
    if not is_connected(affinity):
        warnings.warn("Graph is not fully connected, spectral embedding may not work as expected.", stacklevel=3)
    n = affinity.shape[0]
    if k > n:
        warnings.warn(f"{k} eigenvectors were asked for, a graph of {n} nodes has {n}: you get those.", stacklevel=3)
        k = n
    dtype = np.float32 if affinity.dtype == np.float32 else np.float64
    matrix, root = laplacian(affinity.astype(np.float64, copy=False), normed=norm_laplacian, return_diag=True)
    matrix = matrix.tocsr() if sp.issparse(matrix) else matrix
    if norm_laplacian:
        _fill_diagonal(matrix, 1.0)
    else:
        root = np.ones(n)
    values, vectors = _smallest(matrix, k, eigen_solver or "arpack", random_state, eigen_tol, root)
    residual = float(np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max(initial=0.0))
    coordinates = _signed(vectors / root[:, None])
    return Spectrum(values, coordinates.astype(dtype, copy=False), residual, root**2 if norm_laplacian else root)


def symmetric(affinity, tol=1e-10):
    """The matrix itself if it is symmetric; else the mean of it and its transpose, with a warning."""
    if getattr(affinity, "ndim", 0) != 2 or affinity.shape[0] != affinity.shape[1]:
        shape = getattr(affinity, "shape", None)
        raise ValueError(f"array must be 2-dimensional and square. shape = {shape}")
    if sp.issparse(affinity):
        affinity = affinity.tocsr()
        gap = affinity - affinity.T
        is_symmetric = gap.nnz == 0 or abs(gap).max() < tol
    else:
        is_symmetric = np.allclose(affinity, affinity.T, atol=tol)
    if is_symmetric:
        return affinity
    text = "Array is not symmetric, and will be converted to symmetric by average with its transpose."
    warnings.warn(text, stacklevel=4)
    return 0.5 * (affinity + affinity.T)


def is_connected(graph) -> bool:
    """Whether each node can be reached from the first one."""
    if sp.issparse(graph):
        return connected_components(graph, directed=False, return_labels=False) == 1
    reached = graph[0] != 0
    reached[0] = True
    news = np.flatnonzero(reached)
    while news.size and not reached.all():
        before = reached.copy()
        for row in news:  # row by row: a mask of all pairs would double the memory
            reached |= graph[row] != 0
            if reached.all():
                return True
        news = np.flatnonzero(reached & ~before)
    return bool(reached.all())


def _fill_diagonal(matrix, value):
    """Rows without affinities have a zero there, which would make their eigenvalue zero too."""
    if sp.issparse(matrix):
        matrix.setdiag(value)
    else:
        np.fill_diagonal(matrix, value)


def _signed(vectors):
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


def _smallest(matrix, k, solver, random_state, tol, root):
    """The k smallest eigenpairs, ascending."""
    n = matrix.shape[0]
    if callable(solver):
        return solver(matrix.toarray() if sp.issparse(matrix) else matrix, k)
    if solver == "amg":
        precondition = _multigrid()  # first: a missing package is an error, whatever the size
        if n < 5 * k or not sp.issparse(matrix):
            reason = "small graphs" if n < 5 * k else "dense matrices"
            warnings.warn(
                f"AMG solver does not work well with {reason}, using ARPACK instead.", RuntimeWarning, stacklevel=4
            )
            solver = "arpack"
    if n <= FEW_ROWS or k > n - 2 or (solver == "lobpcg" and n < 5 * k + 1):
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        return la.eigh(dense, subset_by_index=(0, k - 1), check_finite=False)
    if solver == "arpack":
        return _by_inversion(matrix, k, random_state, 0.0 if tol == "auto" else tol)
    helper = precondition(matrix) if solver == "amg" else None
    return _by_blocks(matrix, k, random_state, None if tol == "auto" else tol, root, helper)


def _by_inversion(matrix, k, random_state, tol):
    """Lanczos on ``(L + shift)^-1``, whose largest eigenvalues are far apart where those of L are close."""
    n = matrix.shape[0]
    if sp.issparse(matrix) and n <= FILLED_ROWS and matrix.nnz > FILLED * n * n:
        matrix = matrix.toarray()
    if sp.issparse(matrix):
        shifted = (matrix + SHIFT * sp.eye_array(n)).tocsc()
        solve = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).solve
    else:
        shifted = matrix.copy()
        shifted.flat[:: n + 1] += SHIFT
        with single_threaded_blas():
            factor = la.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)

        def solve(vector):
            return la.cho_solve(factor, vector, check_finite=False)

    start = random_state.uniform(-1, 1, n)
    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    values, vectors = eigsh(matrix, k=k, sigma=-SHIFT, which="LM", tol=tol, v0=start, OPinv=inverse)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def _by_blocks(matrix, k, random_state, tol, root, helper):
    """Locally optimal block gradients, from random vectors and the one that is known."""
    first = random_state.standard_normal(size=(matrix.shape[0], k + 1))
    first[:, 0] = root
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of its own tolerance, which is stricter than it can reach
        values, vectors = lobpcg(matrix, first, M=helper, tol=tol, largest=False, maxiter=BLOCK_STEPS)
    return values[:k], vectors[:, :k]


def _multigrid():
    """A function that makes a preconditioner of a sparse Laplacian, by the package pyamg."""
    try:
        from pyamg import smoothed_aggregation_solver
    except ImportError:
        raise ValueError("The eigen_solver was set to 'amg', but pyamg is not available.") from None

    def precondition(matrix):
        shifted = (matrix + SHIFT * sp.eye_array(matrix.shape[0])).tocsr()
        return smoothed_aggregation_solver(shifted).aspreconditioner()

    return precondition
