"""Symmetric positive definite systems: Cholesky after scaling to unit diagonal, with a condition estimate.

Scaling by the diagonal is within a factor d of the best diagonal scaling (van der Sluis, 1969), so that columns in
different units do not count as ill-conditioning.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs, dtrtri, spotrf, spotrs, strtri

from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._math.moments import one_norm

BLOCKED_FROM = 1024  # from this size on, tiles are factored in parallel
BLOCK = 256
RCOND_FLOOR = 1e-12  # below, a Cholesky solution has fewer than about four digits: use an orthogonal method


class Factor(NamedTuple):
    """``A = D L L' D`` with ``D = diag(1 / scale)``."""

    lower: np.ndarray  # L in the lower triangle of a Fortran-ordered array; above it: rests of the scaled matrix
    scale: np.ndarray
    rcond: float  # estimated reciprocal condition number of L L'

    def solve(self, right):
        """``A^-1 right`` for one or several right-hand sides (d,) or (d, k)."""
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        if right.size == 0:
            return np.zeros(right.shape)
        with single_threaded_blas():
            return dpotrs(self.lower, right * scale, lower=1)[0].reshape(right.shape) * scale

    def inverse(self):
        """``A^-1``."""
        return self.solve(np.eye(self.scale.shape[0]))

    def smallest_eigenvalue_bound(self) -> float:
        """A lower bound (up to the estimate's factor of about 3) on the smallest eigenvalue of A."""
        return self.rcond / float(self.scale.max()) ** 2 if self.scale.size else np.inf


def factorize(matrix, ridge=0.0) -> Factor | None:
    """Factor of ``matrix + ridge * I``, or None when it is not numerically positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.positive_definite import factorize
    >>> factorize(np.array([[4.0, 2.0], [2.0, 5.0]])).solve(np.array([8.0, 12.0]))
    array([1., 2.])
    >>> factorize(np.ones((2, 2))) is None
    True
    """
    diagonal = np.diagonal(matrix) + ridge
    if not (diagonal > 0).all() or not np.isfinite(diagonal).all():
        return None
    with single_threaded_blas():
        scale = 1.0 / np.sqrt(diagonal)
        scaled = np.empty(matrix.shape)

        def rescale(rows):
            np.multiply(matrix[rows], scale, out=scaled[rows])
            scaled[rows] *= scale[rows, None]

        thread_map(rescale, spans(scaled.shape[0], BLOCK))
        np.fill_diagonal(scaled, 1.0)
        if scaled.shape[0] == 0:
            return Factor(scaled.T, scale, 1.0)
        norm = one_norm(scaled)
        if not np.isfinite(norm):
            return None
        if scaled.shape[0] < BLOCKED_FROM:
            lower, failed = dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        else:
            lower = scaled.T
            failed = factorize_in_place(scaled)
        if failed:
            return None
        rcond = float(dpocon(lower, norm, uplo="L")[0])
    return Factor(lower, scale, rcond) if rcond > 4 * np.finfo(np.float64).eps else None


def factorize_in_place(upper) -> bool:
    """Cholesky ``U'U`` in place in the upper triangle of a C-ordered matrix; True when a block is not positive.

    Row block after row block is freed of what the ones above explain, its tiles in parallel: long products of which
    each entry is written once, and the same tiles whatever the number of threads.
    """
    blocks = spans(upper.shape[0], BLOCK)
    potrf, trtri = (dpotrf, dtrtri) if upper.dtype == np.float64 else (spotrf, strtri)
    for step, k in enumerate(blocks):
        above = upper[: k.start, k].T
        lower, failed = potrf((upper[k, k] - above @ above.T).T, lower=1, clean=1, overwrite_a=1)
        if failed:
            return True
        upper[k, k] = lower.T
        inverse = trtri(lower, lower=1)[0]

        def solve(i, k=k, above=above, inverse=inverse):
            np.matmul(inverse, upper[k, i] - above @ upper[: k.start, i], out=upper[k, i])

        thread_map(solve, blocks[step + 1 :])
    return False


class SingleFactor(NamedTuple):
    """``A = D L L' D`` rounded to single precision, ``D = diag(1 / scale)``: to precondition with."""

    lower: np.ndarray
    scale: np.ndarray

    def solve(self, right):
        """About ``A^-1 right`` for right-hand sides (n, k)."""
        scaled = right * self.scale[:, None]
        size = np.abs(scaled).max(axis=0)
        size = np.where((size > 0) & np.isfinite(size), size, 1.0)  # single precision has a narrow range
        with single_threaded_blas():
            return spotrs(self.lower, (scaled / size).astype(np.float32), lower=1)[0] * (size * self.scale[:, None])


def factorize_single(matrix, ridge, null=None, fill=0.0) -> SingleFactor | None:
    """Factor of ``matrix + ridge * I + fill * null null'``, from the upper triangle of the float32 `matrix`.

    `matrix` is overwritten; None when it is not positive definite in single precision.
    """
    diagonal = np.diagonal(matrix).astype(np.float64) + ridge
    if null is not None:
        diagonal += fill * null * null
    if not (diagonal > 0).all() or not np.isfinite(diagonal).all():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    left = scale.astype(np.float32)
    filled = None if null is None else (null * scale * np.sqrt(fill)).astype(np.float32)
    if not np.isfinite(left).all():
        return None

    def rescale(rows):
        right = slice(rows.start, None)
        matrix[rows, right] *= left[rows, None] * left[right]
        if filled is not None:
            matrix[rows, right] += filled[rows, None] * filled[right]

    thread_map(rescale, spans(matrix.shape[0], BLOCK))
    np.fill_diagonal(matrix, 1.0)
    with single_threaded_blas():
        failed = factorize_in_place(matrix)
    return None if failed else SingleFactor(matrix.T, scale)
