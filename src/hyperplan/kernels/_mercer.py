"""Mercer's condition on given rows: no negative eigenvalue; if there is one, how negative and in which direction."""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_array
from hyperplan._core.memory import require_memory
from hyperplan.kernels._kernel import Kernel


class MercerCheck(NamedTuple):
    """What `mercer_check` found; printing it says it in words."""

    holds: bool  # no eigenvalue below -tolerance
    smallest: float  # smallest eigenvalue
    largest: float  # largest eigenvalue
    direction: np.ndarray  # unit vector v with v'Kv = smallest
    tolerance: float

    def __str__(self):
        if self.holds:
            return f"positive on these rows: smallest eigenvalue {self.smallest:.4g}, largest {self.largest:.4g}"
        heavy = np.argsort(-np.abs(self.direction))[:2].tolist()
        return (
            f"not positive: smallest eigenvalue {self.smallest:.4g}, largest {self.largest:.4g}, in a direction that "
            f"weighs rows {' and '.join(map(str, heavy))} most"
        )


def mercer_check(kernel, X=None, *, tol=None) -> MercerCheck:
    """Whether a kernel, or a matrix of its values, has negative eigenvalues on these rows.

    No finite check proves that a kernel is positive, but one negative eigenvalue disproves it.

    Parameters
    ----------
    kernel : Kernel or array-like of shape (n_samples, n_samples)
        A kernel with rows X, or the symmetric matrix itself.
    X : array-like of shape (n_samples, n_features), default=None
        Rows for a kernel.
    tol : float, default=None
        Eigenvalues down to ``-tol`` times the largest one count as zero; None means what rounding explains,
        ``10 n eps``.

    Returns
    -------
    check : MercerCheck
        `holds`, `smallest`, `largest`, `direction`, `tolerance`.

    References
    ----------
    Mercer (1909), Functions of positive and negative type.

    Examples
    --------
    >>> from hyperplan.kernels import Sigmoid, mercer_check
    >>> check = mercer_check(Sigmoid(gamma=1.0, coef0=-1.0), [[0.0], [1.0]])
    >>> check.holds, round(check.smallest, 3)
    (False, -1.232)
    """
    if isinstance(kernel, Kernel):
        if X is None:
            raise ValueError("mercer_check of a kernel needs rows: mercer_check(kernel, X)")
        matrix = kernel.gram(X, dtype=np.float64)
    else:
        matrix = _symmetric(kernel)
    n = matrix.shape[0]
    require_memory(3 * matrix.nbytes, f"the eigenvalues of a {n} x {n} matrix", "check on a sample of the rows")
    values, vectors = np.linalg.eigh(matrix)
    size = float(np.abs(values).max())
    tolerance = (10 * n * np.finfo(np.float64).eps if tol is None else float(tol)) * size
    return MercerCheck(
        bool(values[0] >= -tolerance), float(values[0]), float(values[-1]), vectors[:, 0].copy(), tolerance
    )


def is_psd(K, tol=None) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue beyond rounding.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric matrix.
    tol : float, default=None
        As in `mercer_check`.

    Returns
    -------
    answer : bool
        True when all eigenvalues are at least ``-tol`` times the largest.

    Examples
    --------
    >>> from hyperplan.kernels import is_psd
    >>> is_psd([[1.0, 0.5], [0.5, 1.0]]), is_psd([[1.0, 2.0], [2.0, 1.0]])
    (True, False)
    """
    return mercer_check(K, tol=tol).holds


def _symmetric(matrix):
    matrix = np.asarray(check_array(matrix), dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a matrix of kernel values is square, got shape {matrix.shape}")
    gaps = np.abs(matrix - matrix.T)
    i, j = np.unravel_index(gaps.argmax(), gaps.shape)
    if gaps[i, j] > 1e-8 * np.abs(matrix).max():
        raise ValueError(
            f"the matrix is not symmetric: entry ({i}, {j}) is {matrix[i, j]:.6g}, entry ({j}, {i}) is "
            f"{matrix[j, i]:.6g}"
        )
    return (matrix + matrix.T) / 2
