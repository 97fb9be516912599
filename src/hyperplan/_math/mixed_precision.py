"""Regularised systems ``(Xc Xc' + ridge I) dual = target`` of more columns than rows in two precisions.

The row Gram matrix and its Cholesky factor are computed in single precision, which takes half the time.  That factor
preconditions conjugate gradients in double precision, whose products ``Xc (Xc' v)`` come from the data: the squares of
entries are never rounded to single precision in what is solved.  With a condition number up to about 1e6 a handful of
steps gives the accuracy of a factorisation in double precision, and the residual of the solution, computed from the
data, proves it.  Otherwise the answer is None, and the caller works in double precision.

Carson and Higham (2018), Accelerating the solution of linear systems by iterative refinement in three precisions.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import ssymv

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._math.positive_definite import factorize_single
from hyperplan._math.row_design import (
    FEW_TARGETS,
    RowDesign,
    centred_design,
    is_readable,
    rows_gram,
    times,
    transposed_times,
)

SMALLEST_SIDE = 512  # below, double precision takes a few milliseconds
SAMPLED_ROWS = 64  # rows that the unit of the single-precision panels is taken from
MAX_STEPS = 16  # and a digit per step at least
RESTARTS = 2
POWER_STEPS = 3
EPS = float(np.finfo(np.float64).eps)


class MixedFit(NamedTuple):
    """Solution by `dual_solve`."""

    coef: np.ndarray  # (d, k): Xc' dual
    x_mean: np.ndarray
    residual: np.ndarray  # (k,) norm of the true residual relative to the target


def suits(X, n_targets) -> bool:
    """Whether `dual_solve` can take this design and may pay."""
    return is_readable(X) and SMALLEST_SIDE <= X.shape[0] < X.shape[1] and n_targets <= FEW_TARGETS


def dual_solve(X, target, root, ridge, *, center=True, n_jobs=None) -> MixedFit | None:
    """``coef = Xc' dual`` with ``(Xc Xc' + ridge I) dual = target``, or None when that takes double precision.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Float32 or float64, C- or Fortran-ordered.
    target : ndarray of shape (n, k)
        ``sqrt(w) (Y - mean)``.
    root : ndarray of shape (n,)
        ``sqrt(w)``; ``Xc = root (X - mean)``.
    ridge : float
        Penalty, positive.
    center : bool, default=True
        Whether the weighted column means are subtracted.
    n_jobs : int, default=None
        Threads; they change no bit.

    Returns
    -------
    MixedFit or None
        The solution with the residual that proves it.
    """
    with np.errstate(all="ignore"):
        design = centred_design(X, root * root, center=center, n_jobs=n_jobs)
        if not np.isfinite(design.mean).all():
            return None
        unit = _unit(X, design.mean)
        gram = rows_gram(design, root * unit, np.float32, mirrored=False)
        spread = np.diagonal(gram).astype(np.float64)
        if not (np.isfinite(spread).all() and spread.any()):
            return None
        null = root / np.linalg.norm(root) if center else np.zeros(root.shape[0])
        fill, norm = float(spread.mean()), _norm(gram, spread) / unit / unit + ridge
        factor = factorize_single(gram, ridge * unit * unit, null if center else None, fill)
        if factor is None:
            return None
        system = _System(design, root, null, fill / unit / unit, ridge, lambda r: factor.solve(r.T).T)
        return _solve(system, norm, np.ascontiguousarray(target.T))


def _unit(X, mean):
    """A power of two that brings the entries near 1: single precision has a narrow range."""
    sample = X[:: max(1, X.shape[0] // SAMPLED_ROWS)] - mean
    largest = float(np.abs(sample).max())
    return 2.0 ** -float(np.frexp(largest)[1]) if 0 < largest < np.inf else 1.0


def _norm(gram, diagonal):
    """Largest eigenvalue from below, by a few steps of the power method on the upper triangle."""
    vector, value = diagonal.astype(np.float32), float(diagonal.max())
    with single_threaded_blas():
        for _ in range(POWER_STEPS):
            vector = ssymv(1.0, gram.T, vector / np.linalg.norm(vector), lower=1)
            value = max(value, float(np.linalg.norm(vector)))
    return value


class _System(NamedTuple):
    """``A = R (X - mean)(X - mean)' R + fill null null' + ridge I``; centred rows sum to zero, and targets too."""

    design: RowDesign
    root: np.ndarray
    null: np.ndarray
    fill: float
    ridge: float
    precondition: object

    def small_part(self, dual):
        """What the data have no share in."""
        return self.ridge * dual + (self.fill * (dual @ self.null))[:, None] * self.null


def _solve(system, norm, target):
    """Conjugate gradients, restarted from true residuals until those are what a direct solution leaves."""
    dual, coef = np.zeros(target.shape), np.zeros((target.shape[0], system.design.mean.shape[0]))
    size = _norms(target)
    residual = target
    for _ in range(1 + RESTARTS):
        if not _descend(system, norm, size, residual, dual, coef):
            return None
        residual = target - system.root * times(system.design, coef) - system.small_part(dual)
        if (_norms(residual) <= EPS * (norm * _norms(dual) + 8 * size)).all():
            return MixedFit(coef.T, system.design.mean, _norms(residual) / np.where(size > 0, size, 1.0))
    return None


def _norms(rows):
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def _descend(system, norm, size, residual, dual, coef) -> bool:
    """Preconditioned conjugate gradients; adds to `dual` and to `coef` = Xc' dual.

    False when a step gains less than a digit.
    """
    start = _norms(residual)
    before = direction = residual
    last = np.ones(size.shape[0])
    for step in range(MAX_STEPS):
        conditioned = system.precondition(residual)
        # Polak and Ribiere's factor: the preconditioner is rounded, so not quite the same matrix each time
        factor = np.einsum("ij,ij->i", conditioned, residual - before) / last
        direction = conditioned + factor[:, None] * direction
        last = _positive(np.einsum("ij,ij->i", conditioned, residual))
        along = transposed_times(system.design, system.root * direction)
        moved = system.root * times(system.design, along) + system.small_part(direction)
        length = np.einsum("ij,ij->i", direction, residual) / _positive(np.einsum("ij,ij->i", direction, moved))
        dual += length[:, None] * direction
        coef += length[:, None] * along
        before, residual = residual, residual - length[:, None] * moved
        error = _norms(residual)
        if (error <= EPS * (0.25 * norm * _norms(dual) + size)).all():
            return True
        if not (error <= start * 10.0 ** -(step - 1)).all():
            return False
    return False


def _positive(values):
    """Denominators of targets that are solved (and zero) already."""
    return np.where(values > 0, values, 1.0)
