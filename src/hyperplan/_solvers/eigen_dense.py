"""Eigenvalues and eigenvectors of small and medium symmetric matrices, by hand.

Jacobi rotates pairs of axes until nothing is left off the diagonal.  Givens and Householder reduce the matrix to three
diagonals in a finite number of rotations or reflections, from where the QL or QR iteration needs about two cheap steps
per eigenvalue.  LAPACK does the same in blocks and stays the faster choice for large matrices; these show each
step, and need nothing but this package.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.status import Status
from hyperplan._core.trace import Trace
from hyperplan._math import _eigen_kernels as k
from hyperplan._solvers.eigen_lanczos import lanczos
from hyperplan._solvers.eigen_result import EPS, EigenResult, checked_symmetric, ordered, residual_certificate

THRESHOLD_SWEEPS = 3  # in the first sweeps small entries wait: the large ones change them anyway
STEPS = 60  # per eigenvalue; two are usual
METHODS = ("householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi", "lapack", "lanczos")


class Tridiagonal(NamedTuple):
    """``A = basis @ T @ basis.T``, T with these diagonals; `n_steps` rotations or reflections made it."""

    diagonal: np.ndarray
    off_diagonal: np.ndarray
    basis: np.ndarray
    n_steps: int

    def matrix(self) -> np.ndarray:
        """T itself."""
        return np.diag(self.diagonal) + np.diag(self.off_diagonal, 1) + np.diag(self.off_diagonal, -1)


def eigh(A, *, method="householder-ql", n_components=None, callback=None):
    """Eigenvalues and eigenvectors of a symmetric matrix by the method of your choice.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix; "lanczos" also takes sparse matrices and linear operators.
    method : {"householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi", "lapack", "lanczos"}
        How; all agree to rounding.
    n_components : int, default=None
        Keep only the pairs with the largest eigenvalues; None keeps all (six with "lanczos").
    callback : callable, default=None
        Called with each step of the trace; returning True stops iterative methods.

    Returns
    -------
    EigenResult
        Values ascending, vectors in columns, certificate and trace.

    Examples
    --------
    >>> from hyperplan.linalg import eigh
    >>> result = eigh([[1.5, 0.5], [0.5, 1.5]])
    >>> result.values.round(12).tolist(), result.certificate.holds
    ([1.0, 2.0], True)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}.")
    if method == "lanczos":
        return lanczos(A, 6 if n_components is None else n_components, callback=callback)
    if method == "jacobi":
        result = jacobi(A, callback=callback)
    elif method == "lapack":
        result = _lapack(A)
    else:
        reduction, iteration = method.split("-")
        result = _reduced(A, reduction, iteration, callback)
    return result if n_components is None else _largest(result, n_components)


def jacobi(A, *, max_iter=60, callback=None):
    """Jacobi's method: sweeps of plane rotations, each of which makes one pair of entries zero.

    Stops when the entries off the diagonal are together at most ``eps * |A|``, or no rotation changes anything.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix.
    max_iter : int, default=60
        Most sweeps; ten are usual, convergence is quadratic at the end.
    callback : callable, default=None
        Called with each step of the trace; returning True stops.

    Returns
    -------
    EigenResult
        The trace holds the norm of what is off the diagonal after each sweep.

    References
    ----------
    Golub, Van Loan (2013), Matrix Computations, section 8.5.

    Examples
    --------
    >>> from hyperplan.linalg import jacobi
    >>> jacobi([[2.0, 1.0], [1.0, 2.0]]).values.round(12).tolist()
    [1.0, 3.0]
    """
    A, a, scale = _scaled(A)
    n = a.shape[0]
    basis, trace = np.eye(n), _trace(callback)
    norm = float(np.linalg.norm(a))
    off = _off_norm(a)
    stop, sweep, rotations = trace(0, off * scale, off * scale), 0, 0
    status = Status.CONVERGED if off <= EPS * norm else None
    while status is None:
        if stop or sweep == max_iter:
            status = Status.STOPPED if stop else Status.MAX_ITER
            break
        threshold = 0.2 * off / (n * n) if sweep < THRESHOLD_SWEEPS else 0.0
        made = k.jacobi_sweep(a, basis, threshold)
        rotations, sweep, off = rotations + made, sweep + 1, _off_norm(a)
        stop = trace(sweep, off * scale, off * scale)
        if off <= EPS * norm or (made == 0 and threshold == 0.0):
            status = Status.CONVERGED
    return _result(A, np.diag(a) * scale, basis.T, status, sweep, trace, rotations=rotations)


def tridiagonalize(A, *, method="householder") -> Tridiagonal:
    """Orthogonal reduction of a symmetric matrix to three diagonals.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix.
    method : {"householder", "givens"}
        n - 2 reflections, or up to (n - 1)(n - 2) / 2 rotations, which cost twice as much.

    Returns
    -------
    Tridiagonal
        The diagonals and the basis.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linalg import tridiagonalize
    >>> A = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 3.0]])
    >>> T = tridiagonalize(A, method="givens")
    >>> bool(np.allclose(T.basis @ T.matrix() @ T.basis.T, A)), T.n_steps
    (True, 1)
    """
    if method not in ("householder", "givens"):
        raise ValueError(f"method must be 'householder' or 'givens', got {method!r}.")
    _, a, scale = _scaled(A)
    basis = np.eye(a.shape[0])
    reduce = k.householder_tridiagonal if method == "householder" else k.givens_tridiagonal
    steps = int(reduce(a, basis))
    return Tridiagonal(np.diag(a) * scale, np.diag(a, 1) * scale, basis.T, steps)


def tridiagonal_eigh(diagonal, off_diagonal, *, method="ql", callback=None):
    """Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by the QL or QR iteration with implicit shifts.

    Parameters
    ----------
    diagonal, off_diagonal : array-like of shapes (n,) and (n - 1,)
        The three diagonals (two are equal).
    method : {"ql", "qr"}
        Whether eigenvalues are split off at the top or at the bottom.
    callback : callable, default=None
        Called with each step of the trace.

    Returns
    -------
    EigenResult
        `n_iter` counts shifted steps; the trace holds how many each eigenvalue took.

    Examples
    --------
    >>> from hyperplan.linalg import tridiagonal_eigh
    >>> tridiagonal_eigh([0.0, 0.0], [1.0]).values.round(12).tolist()
    [-1.0, 1.0]
    """
    d, e = np.asarray(diagonal, dtype=np.float64), np.asarray(off_diagonal, dtype=np.float64)
    if d.ndim != 1 or e.shape != (max(d.size - 1, 0),) or d.size == 0:
        raise ValueError(f"diagonals of lengths n >= 1 and n - 1 are needed, got shapes {d.shape} and {e.shape}.")
    T = Tridiagonal(d, e, np.eye(d.size), 0)
    return _iterated(T.matrix(), T, method, callback)


def qr_iteration(A, *, max_iter=1000, callback=None):
    """The QR iteration as first taught: ``A = Q R``, then ``A = R Q``, without shifts.

    Entries off the diagonal fall like the powers of ratios of eigenvalues, so that eigenvalues of equal modulus are
    never separated: the run then ends with the status STALLED (or MAX_ITER).  Use `eigh` for work.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix.
    max_iter : int, default=1000
        Most steps.
    callback : callable, default=None
        Called with each step of the trace; returning True stops.

    Returns
    -------
    EigenResult
        What is on the diagonal in the end.

    Examples
    --------
    >>> from hyperplan.linalg import qr_iteration
    >>> qr_iteration([[0.0, 1.0], [1.0, 0.0]]).status.name
    'STALLED'
    """
    A, a, scale = _scaled(A)
    basis, trace = np.eye(a.shape[0]), _trace(callback)
    norm, off = float(np.linalg.norm(a)), _off_norm(a)
    stop, t = trace(0, off * scale, off * scale), 0
    status = Status.CONVERGED if off <= EPS * norm else None
    while status is None:
        if stop or t == max_iter:
            status = Status.STOPPED if stop else Status.MAX_ITER
            break
        Q, R = la.qr(a, check_finite=False)
        after = R @ Q
        basis, t = basis @ Q, t + 1
        moved = float(np.abs(np.abs(after) - np.abs(a)).max())
        a, off = after, _off_norm(after)
        stop = trace(t, off * scale, off * scale)
        if off <= 10.0 * EPS * norm:
            status = Status.CONVERGED
        elif moved <= EPS * norm:
            status = Status.STALLED
    return _result(A, np.diag(a) * scale, basis, status, t, trace)


def _reduced(A, reduction, iteration, callback):
    A = checked_symmetric(A)
    return _iterated(A, tridiagonalize(A, method=reduction), iteration, callback)


def _iterated(A, T, method, callback):
    if method not in ("ql", "qr"):
        raise ValueError(f"method must be 'ql' or 'qr', got {method!r}.")
    n = T.diagonal.size
    scale = float(max(np.abs(T.diagonal).max(), np.abs(T.off_diagonal).max(initial=0.0))) or 1.0
    d, e = T.diagonal / scale, np.append(T.off_diagonal / scale, 0.0)
    basis, steps = np.ascontiguousarray(T.basis.T), np.zeros(n, dtype=np.int64)
    failed = (k.ql_tridiagonal if method == "ql" else k.qr_tridiagonal)(d, e, basis, STEPS, steps)
    trace = _trace(callback)
    for index, count in enumerate(steps):
        trace(index, count, abs(e[index]) * scale)
    status = Status.CONVERGED if failed < 0 else Status.MAX_ITER
    details = {"steps_of_the_reduction": T.n_steps}
    return _result(A, d * scale, basis.T, status, int(steps.sum()), trace, **details)


def _lapack(A):
    A = checked_symmetric(A)
    values, vectors = la.eigh(A, check_finite=False)
    return _result(A, values, vectors, Status.EXACT, 0, Trace())


def _scaled(A):
    """The checked matrix, a copy with entries of at most one, and the scale between them."""
    A = checked_symmetric(A)
    A = 0.5 * A + 0.5 * A.T
    scale = float(np.abs(A).max()) or 1.0
    return A, A / scale, scale


def _trace(callback):
    return Trace() if callback is None else Trace(callback)


def _off_norm(a):
    off = a.copy()
    np.fill_diagonal(off, 0.0)
    return float(np.linalg.norm(off))


def _result(A, values, vectors, status, n_iter, trace, **details):
    values, vectors = ordered(values, vectors)
    n = A.shape[0]
    scale = float(np.abs(A).max()) or 1.0  # so that the squares in the norm do not overflow
    small = A / scale
    certificate = residual_certificate(
        small @ vectors, values / scale, vectors, float(np.linalg.norm(small)), 20.0 * n * EPS, scale=scale, **details
    )
    return EigenResult(values, vectors, status, n_iter, certificate, trace)


def _largest(result, n_components):
    n = result.values.size
    if not 1 <= n_components <= n:
        raise ValueError(f"n_components must be between 1 and {n}, the size of A, got {n_components!r}.")
    kept = slice(n - n_components, None)
    parts = (result.status, result.n_iter, result.certificate, result.trace)
    return EigenResult(result.values[kept], result.vectors[:, kept], *parts)
