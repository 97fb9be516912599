"""Systems ``(K + alpha I) dual = target`` with a matrix of kernel values, which is used up.

Large ones are factored in single precision, which takes half the time; that factor preconditions conjugate gradients in
double precision, whose residual, computed with K, proves the digits.  Otherwise Cholesky in double precision, in place:
the factor takes the upper triangle, the lower one keeps K for the residual (and for the next alpha).  A matrix that
is not positive definite is left to its eigenvalues: least squares of least norm.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrs, dtrtri

from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._core.status import Status
from hyperplan._math.positive_definite import BLOCK, factorize_in_place, factorize_single

SINGLE_FROM = 1500  # rows from which on single precision pays
PANEL = 256  # rows of a product with K that are one task
MAX_STEPS, RESTARTS, POWER_STEPS = 16, 2, 3
EPS = float(np.finfo(np.float64).eps)


class DualFit(NamedTuple):
    """A solved system."""

    dual: np.ndarray  # (n, k)
    error: float  # |residual| / (|A| |dual| + |target|), the largest over targets
    gap: float  # residual^2 / (2 alpha): how far the quadratic objective can be from its optimum; nan without bound
    status: Status
    inverse_diagonal: np.ndarray | None  # of (K + alpha I)^-1, when asked for


def solve_dual(K, target, alpha, *, leave_one_out=False) -> DualFit:
    """Solve for one alpha; K must be symmetric, C-ordered and float64, and is used up.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel values.
    target : ndarray of shape (n, k)
        Right-hand sides.
    alpha : float
        Penalty.
    leave_one_out : bool, default=False
        Whether the diagonal of the inverse is wanted.
    """
    norm = _norm(K) + alpha
    if K.shape[0] >= SINGLE_FROM and alpha > 0 and not leave_one_out:
        dual = _solve_single(K, target, alpha, norm)
        if dual is not None:
            return _judged(dual, target - _times(K, dual) - alpha * dual, target, alpha, norm, Status.EXACT)
    return _solve_double(K, target, alpha, norm, leave_one_out)


def _judged(dual, residual, target, alpha, norm, status, inverse_diagonal=None):
    sizes = [np.linalg.norm(part, axis=0) for part in (residual, dual, target)]
    scale = norm * sizes[1] + sizes[2]
    error = float((sizes[0] / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
    is_bounded = alpha > 0 and status is Status.EXACT
    gap = float((sizes[0] ** 2).sum()) / (2 * alpha) if is_bounded else np.nan
    return DualFit(dual, error, gap, status, inverse_diagonal)


def _times(K, vectors):
    """``K vectors``, panels of rows in threads."""
    out = np.empty((K.shape[0], vectors.shape[1]))
    thread_map(lambda rows: np.matmul(K[rows], vectors, out=out[rows]), spans(K.shape[0], PANEL))
    return out


def _norm(K):
    """Largest eigenvalue from below, by a few steps of the power method."""
    vector, value = np.diagonal(K).copy()[:, None], float(np.abs(np.diagonal(K)).max(initial=0.0))
    for _ in range(POWER_STEPS):
        length = float(np.linalg.norm(vector))
        if not 0 < length < np.inf:
            break
        vector = _times(K, vector / length)
        value = max(value, float(np.linalg.norm(vector)))
    return value


def _solve_single(K, target, alpha, norm):
    """Conjugate gradients preconditioned by a factor in single precision; None when that has too few digits."""
    single = np.empty(K.shape, dtype=np.float32)

    def narrow(rows):
        single[rows, rows.start :] = K[rows, rows.start :]

    with np.errstate(over="ignore", invalid="ignore"):
        thread_map(narrow, spans(K.shape[0], PANEL))
        factor = factorize_single(single, alpha)
    if factor is None:
        return None
    dual, residual = np.zeros(target.shape), target
    for _ in range(1 + RESTARTS):
        if not _descend(K, alpha, factor, norm, residual, dual):
            return None
        residual = target - _times(K, dual) - alpha * dual
        if (_norms(residual) <= EPS * (norm * _norms(dual) + 8 * _norms(target))).all():
            return dual
    return None


def _norms(columns):
    return np.linalg.norm(columns, axis=0)


def _descend(K, alpha, factor, norm, residual, dual) -> bool:
    """Preconditioned conjugate gradients by target; adds to `dual`.  False when a step gains less than a digit."""
    start = size = _norms(residual)
    before = direction = residual
    last = np.ones(size.shape[0])
    for step in range(MAX_STEPS):
        conditioned = factor.solve(residual)
        # Polak and Ribiere's factor: the preconditioner is rounded, so not quite the same matrix each time
        turn = np.einsum("ij,ij->j", conditioned, residual - before) / last
        direction = conditioned + turn * direction
        last = _positive(np.einsum("ij,ij->j", conditioned, residual))
        moved = _times(K, direction) + alpha * direction
        length = np.einsum("ij,ij->j", direction, residual) / _positive(np.einsum("ij,ij->j", direction, moved))
        dual += length * direction
        before, residual = residual, residual - length * moved
        error = _norms(residual)
        if (error <= EPS * (0.25 * norm * _norms(dual) + size)).all():
            return True
        if not (error <= start * 10.0 ** -(step - 1)).all():
            return False
    return False


def _positive(values):
    """Denominators of targets that are solved (and zero) already."""
    return np.where(values > 0, values, 1.0)


def _solve_double(K, target, alpha, norm, leave_one_out):
    blocks = spans(K.shape[0], BLOCK)
    kept = [K[rows, rows].copy() for rows in blocks]  # the factor overwrites whole blocks of the diagonal
    K[np.diag_indices_from(K)] += alpha
    with np.errstate(over="ignore", invalid="ignore"), single_threaded_blas():
        failed = K.shape[0] > 0 and factorize_in_place(K)
    if failed:
        _restore(K, kept, blocks)
        return _solve_by_eigenvalues(K, target, alpha, norm, leave_one_out)
    lower = K.T  # Fortran-ordered view: the factor in its lower triangle
    with single_threaded_blas():
        dual = dpotrs(lower, target, lower=1)[0].reshape(target.shape)
        residual = target - _lower_times(K, kept, blocks, dual) - alpha * dual
        dual += dpotrs(lower, residual, lower=1)[0].reshape(target.shape)
    residual = target - _lower_times(K, kept, blocks, dual) - alpha * dual
    inverse = _inverse_diagonal(K, blocks) if leave_one_out else None
    _restore(K, kept, blocks)
    return _judged(dual, residual, target, alpha, norm, Status.EXACT, inverse)


def _restore(K, kept, blocks):
    """Put the matrix back from its lower triangle and the blocks of its diagonal."""

    def run(place):
        rows = blocks[place]
        K[rows, rows] = kept[place]
        K[rows, rows.stop :] = K[rows.stop :, rows].T

    thread_map(run, range(len(blocks)))


def _lower_times(K, kept, blocks, vectors):
    """``K vectors`` from the blocks of the diagonal and what is below them."""
    out = np.zeros(vectors.shape)
    for rows, block in zip(blocks, kept):
        left = K[rows, : rows.start]
        out[rows] += block @ vectors[rows] + left @ vectors[: rows.start]
        out[: rows.start] += left.T @ vectors[rows]
    return out


def _inverse_diagonal(upper, blocks):
    """Diagonal of ``(U'U)^-1``: squared lengths of the columns of ``L^-1``, L = U', by blocks of columns in threads."""
    values = np.empty(upper.shape[0])
    inverses = [dtrtri(np.asfortranarray(upper[rows, rows].T), lower=1)[0] for rows in blocks]

    def run(place):
        own = blocks[place]
        columns = np.zeros((upper.shape[0] - own.start, own.stop - own.start))  # zero above the own rows
        columns[: own.stop - own.start] = inverses[place]
        for rows, inverse in zip(blocks[place + 1 :], inverses[place + 1 :]):
            above = upper[own.start : rows.start, rows].T @ columns[: rows.start - own.start]
            np.matmul(-inverse, above, out=columns[rows.start - own.start : rows.stop - own.start])
        values[own] = np.einsum("ij,ij->j", columns, columns)

    thread_map(run, range(len(blocks)))
    return values


def _solve_by_eigenvalues(K, target, alpha, norm, leave_one_out):
    """The solution of least norm of a system that is singular or indefinite."""
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(K)
        values += alpha
        keep = np.abs(values) > K.shape[0] * EPS * np.abs(values).max(initial=0.0)
        inverse = np.divide(1.0, values, out=np.zeros(values.shape), where=keep)
        dual = vectors @ (inverse[:, None] * (vectors.T @ target))
        diagonal = np.einsum("ij,j,ij->i", vectors, inverse, vectors) if leave_one_out else None
        residual = target - vectors @ (values[:, None] * (vectors.T @ dual))
    if keep.all():
        return _judged(dual, residual, target, alpha, norm, Status.STALLED, diagonal)
    gradient = _times(K, residual) / max(norm, EPS) + (alpha / max(norm, EPS)) * residual
    return _judged(dual, gradient, target, alpha, norm, Status.RANK_DEFICIENT, diagonal)
