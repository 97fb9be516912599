"""Least squares on checked arrays: normal equations where they are safe, orthogonal factorisations where they are not.

``minimise sum_i w_i (y_i - b - x_i' coef)^2``; among several minimisers, the one of least norm.  The Gram matrix costs
half the multiplications of a QR factorisation and one pass over X, but its condition number is squared.  So:

1. Cholesky of the scaled Gram matrix of the shorter side, with a condition estimate;
2. when that is worse than `REFINE_BELOW`, iterative refinement with residuals computed from the data (corrected
   seminormal equations: Bjorck, 1987), which restores the accuracy of an orthogonal method;
3. when X has (numerically) dependent columns, or refinement stalls, QR by panels and singular values.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lsqr

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._math.moments import (
    add_outer,
    moments,
    one_norm,
    residual_sums,
    row_gram,
    row_residuals,
    rows_combined,
)
from hyperplan._math.orthogonal import spectral_solve, triangularize
from hyperplan._math.positive_definite import RCOND_FLOOR, Factor, factorize

REFINE_BELOW = 1e-5  # reciprocal condition number of the scaled Gram matrix
REFINE_STEPS = 4
EXACT_SUMS_BELOW = 1e-6  # rss / tss under which the Gram formula for the rss has lost too many digits
TINY_SQUARES = 1e-200  # sums of squares below which products start to underflow
SPARSE_DIRECT = 2048  # up to this short side, sparse problems form the Gram matrix
SPARSE_SPECTRAL = 1e11  # multiplications up to which a sparse problem of deficient rank is made dense


class LeastSquaresFit(NamedTuple):
    """A least-squares solution and what tests and summaries need of it."""

    coef: np.ndarray  # (d, k)
    x_mean: np.ndarray
    y_mean: np.ndarray
    total: float  # sum of weights
    rank: int | None
    singular: np.ndarray | None  # None: to be had from `factor`
    right: np.ndarray | None  # (rank, d) right singular vectors, when `singular` is given
    factor: Factor | None  # of the Gram matrix (tall) or of the row Gram matrix plus `null null'` (wide)
    live: np.ndarray | None  # columns that vary, when some do not (the factor has only these)
    null: np.ndarray | None  # wide and centred: the direction in which rows sum to zero
    rss: np.ndarray  # (k,)
    tss: np.ndarray  # (k,)
    optimality: float  # largest |x_j' r| relative to max_j |x_j| |y|
    status: Status


def least_squares(X, Y, weight=None, *, center=True, tol=1e-6, n_jobs=None) -> LeastSquaresFit:
    """Minimum-norm least squares; singular values up to ``tol`` times the largest count as zero.

    Status: EXACT, RANK_DEFICIENT (the solution is one of many), or DIVERGED (X not finite, or its squares overflow).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model._normal_equations import least_squares
    >>> fit = least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]]))
    >>> fit.coef.round(12), fit.status.name
    (array([[2.]]), 'EXACT')
    """
    n, d = X.shape
    tol = max(tol, np.finfo(np.float64).eps * max(n, d))
    if sp.issparse(X) and min(n, d) > SPARSE_DIRECT:
        return _iterative(X, Y, weight, center, tol)
    if d > n and weight is not None and not weight.all():
        counted = weight > 0  # rows of weight zero would make the row Gram matrix singular
        X, Y, weight = X[counted], Y[counted], weight[counted]
    return (_tall if d <= n else _wide)(X, Y, weight, center, tol, n_jobs)


def least_squares_rescaled(X, Y, weight=None, **options) -> LeastSquaresFit:
    """`least_squares` for finite data whose squares leave the range of floating point: solved in other units."""
    x_unit, y_unit = power_of_two_near(X), power_of_two_near(Y)
    fit = least_squares(X * x_unit, Y * y_unit, weight, **options)
    with np.errstate(over="ignore", under="ignore"):
        return fit._replace(
            coef=fit.coef * (x_unit / y_unit),
            x_mean=fit.x_mean / x_unit,
            y_mean=fit.y_mean / y_unit,
            singular=None if fit.singular is None else fit.singular / x_unit,
            factor=None if fit.factor is None else fit.factor._replace(scale=fit.factor.scale * x_unit),
            rss=fit.rss / y_unit / y_unit,
            tss=fit.tss / y_unit / y_unit,
        )


def power_of_two_near(A) -> float:
    """A power of two that brings the largest entry of A near 1; multiplying by it rounds nothing."""
    largest = float(np.abs(A.data if sp.issparse(A) else A).max(initial=0.0))
    return 2.0 ** -float(np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0


def underflows(X, diagonal) -> bool:
    """Whether the squares of a design that does vary are lost below the smallest floats."""
    if diagonal.max(initial=1.0 if diagonal.size == 0 else 0.0) > TINY_SQUARES:
        return False
    values = X.data if sp.issparse(X) else X
    return 0.0 < float(np.abs(values).max(initial=0.0)) < np.sqrt(TINY_SQUARES)


def _tall(X, Y, weight, center, tol, n_jobs):
    m = moments(X, Y, weight, center=center, n_jobs=n_jobs)
    start = _Start(X, Y, weight, m.x_mean, m.y_mean, m.total, m.y_square, tol, n_jobs)
    diagonal = np.diagonal(m.gram)
    if not m.finite or underflows(X, diagonal):
        return _failed(start)
    live = None if diagonal.all() else diagonal > 0
    gram, cross = (m.gram, m.cross) if live is None else (m.gram[np.ix_(live, live)], m.cross[live])
    factor = factorize(gram)
    if factor is None or not _full_rank(gram, factor, tol):
        return _spectral(start)
    coef = factor.solve(cross)
    with single_threaded_blas():
        gradient = cross - gram @ coef
    rss = m.y_square - np.einsum("ij,ij->j", coef, cross + gradient)
    if live is not None:
        coef, gradient = _widen(coef, live), _widen(gradient, live)
    if factor.rcond < REFINE_BELOW or (rss < EXACT_SUMS_BELOW * m.y_square).any():
        refined = _refined(start, factor, live, coef)
        if refined is None:
            return _spectral(start)
        coef, gradient, rss = refined
    status = Status.EXACT if live is None else Status.RANK_DEFICIENT
    optimality = _relative(gradient, diagonal.max(initial=0.0), m.y_square)
    rank = gram.shape[0]
    return _record(start, coef, rank, np.maximum(rss, 0.0), optimality, status, factor=factor, live=live)


class _Start(NamedTuple):
    """The problem and its means, as every method needs them."""

    X: object
    Y: np.ndarray
    weight: np.ndarray | None
    x_mean: np.ndarray
    y_mean: np.ndarray
    total: float
    tss: np.ndarray
    tol: float
    n_jobs: int | None


def _record(
    start, coef, rank, rss, optimality, status, *, singular=None, right=None, factor=None, live=None, null=None
):
    means = (start.x_mean, start.y_mean, start.total)
    pieces = (singular, right, factor, live, null)
    return LeastSquaresFit(coef, *means, rank, *pieces, rss, start.tss, optimality, status)


def _failed(start):
    empty = np.full((start.X.shape[1], start.Y.shape[1]), np.nan)
    return _record(start, empty, 0, start.tss, np.inf, Status.DIVERGED)


def _widen(values, live):
    """Rows of zeros for the columns that do not vary."""
    out = np.zeros((live.shape[0], values.shape[1]))
    out[live] = values
    return out


def _relative(gradient, largest_square, y_square):
    """Largest entry of the gradient relative to the largest column norm and the norm of the targets."""
    scale = np.sqrt(largest_square * y_square)
    return float((np.abs(gradient) / np.where(scale > 0, scale, 1.0)).max(initial=0.0))


def _full_rank(gram, factor, tol):
    """Whether all singular values exceed `tol` times the largest: by a bound, else by the eigenvalues."""
    if factor.rcond < RCOND_FLOOR:
        return False
    largest = one_norm(gram)
    if factor.smallest_eigenvalue_bound() > 100 * tol**2 * largest:
        return True
    with single_threaded_blas():
        values = np.linalg.eigvalsh(gram)
    # near the border the squares are too coarse: let the singular values decide
    return bool(values[0] > max(4 * tol**2, 1e-13) * values[-1])


def _refined(start, factor, live, coef):
    """Corrected seminormal equations: solution, gradient and rss with exact residuals; None if that stalls."""
    last = np.inf
    for _ in range(REFINE_STEPS):
        sums = residual_sums(start.X, start.Y, start.weight, start.x_mean, start.y_mean, coef, start.n_jobs)
        step = factor.solve(sums.gradient if live is None else sums.gradient[live])
        step = step if live is None else _widen(step, live)
        size = np.abs(step).max(initial=0.0) / max(np.abs(coef).max(initial=0.0), 1e-300)
        if size > 0.1 * last and size > 1e-12:
            return None
        coef = coef + step
        if size <= 1e-9 or factor.rcond >= REFINE_BELOW or size > 0.1 * last:
            break  # the next correction would be about the square of this one
        last = size
    return coef, sums.gradient, sums.square


def _spectral(start):
    """Singular values of the triangular factor: any rank, any condition."""
    n, d = start.X.shape
    if sp.issparse(start.X) and float(n) * d * d > SPARSE_SPECTRAL:
        return _iterative(start.X, start.Y, start.weight, bool(start.x_mean.any()), start.tol)
    triangle = triangularize(start.X, start.Y, start.weight, start.x_mean, start.y_mean, start.n_jobs)
    fit = spectral_solve(triangle, start.tol)
    gradient = triangle.r.T @ (triangle.rotated - triangle.r @ fit.coef)
    largest = float(np.einsum("ij,ij->j", triangle.r, triangle.r).max(initial=0.0))
    optimality = _relative(gradient, largest, start.tss)
    status = Status.EXACT if fit.rank == d else Status.RANK_DEFICIENT
    return _record(start, fit.coef, fit.rank, fit.rss, optimality, status, singular=fit.singular, right=fit.right)


def _wide(X, Y, weight, center, tol, n_jobs):
    """More columns than rows: the minimum-norm interpolation ``Xc' (Xc Xc')^-1 yc``."""
    n = X.shape[0]
    K = row_gram(X, weight, center=center, n_jobs=n_jobs)
    root = np.ones(n) if weight is None else np.sqrt(weight)
    total = float(root @ root)
    y_mean = root**2 @ Y / total if center else np.zeros(Y.shape[1])
    target = root[:, None] * (Y - y_mean)
    tss = np.einsum("ij,ij->j", target, target)
    start = _Start(X, Y, weight, K.x_mean, y_mean, total, tss, tol, n_jobs)
    gram = K.gram
    if not np.isfinite(np.diagonal(gram)).all():
        return _failed(start)
    largest = float(np.diagonal(gram).max(initial=0.0))
    if underflows(X, np.diagonal(gram)):
        return _failed(start)
    null = None
    if center:  # centred rows sum to zero: fill that one direction, in which the targets have nothing
        null = root / np.sqrt(total)
        add_outer(gram, null, float(np.diagonal(gram).mean()))
    factor = factorize(gram)
    if factor is None or not _full_rank(gram, factor, tol):
        return _spectral(start)
    dual = factor.solve(target)
    coef = rows_combined(X, weight, K.x_mean, dual, n_jobs)
    with single_threaded_blas():
        residual = target - gram @ dual
    for _ in range(0 if factor.rcond >= REFINE_BELOW else 1 if factor.rcond > 1e-8 else 2):
        residual = row_residuals(X, Y, weight, K.x_mean, y_mean, coef, n_jobs)
        coef += rows_combined(X, weight, K.x_mean, factor.solve(residual), n_jobs)
    rss = np.einsum("ij,ij->j", residual, residual)
    optimality = float(np.sqrt((rss / np.where(tss > 0, tss, 1.0)).max(initial=0.0))) if largest > 0 else 0.0
    return _record(start, coef, n - int(center), rss, optimality, Status.RANK_DEFICIENT, factor=factor, null=null)


def centred_operator(X, weight, x_mean):
    """``sqrt(w) (X - x_mean)`` as products with vectors; X is not copied."""
    root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)

    def times(v):
        return root * (X @ v - x_mean @ v)

    def transposed(u):
        u = root * u
        return X.T @ u - x_mean * u.sum()

    return LinearOperator(X.shape, matvec=times, rmatvec=transposed, dtype=np.float64)


def weighted_means(X, Y, weight, center):
    """Column means of X (sparse or dense) and Y; zeros without centring."""
    if not center:
        return np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    weight = np.ones(X.shape[0]) if weight is None else weight
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(X.T @ weight).ravel() / weight.sum(), weight @ Y / weight.sum()


def _iterative(X, Y, weight, center, tol):
    """Large sparse problems: LSQR (Paige and Saunders, 1982) on the implicitly centred design."""
    x_mean, y_mean = weighted_means(X, Y, weight, center)
    root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)
    target = root[:, None] * (Y - y_mean)
    start = _Start(X, Y, weight, x_mean, y_mean, float(root @ root), np.einsum("ij,ij->j", target, target), tol, 1)
    if not np.isfinite(X.data).all():
        return _failed(start)
    operator = centred_operator(X, weight, x_mean)
    coef, rss, optimality = np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape[1]), 0.0
    for k in range(Y.shape[1]):
        found = lsqr(operator, target[:, k], atol=tol, btol=tol, iter_lim=10 * sum(X.shape))
        coef[:, k], rss[k] = found[0], found[3] ** 2
        optimality = max(optimality, found[7] / max(found[5] * np.sqrt(start.tss[k]), 1e-300))
    return _record(start, coef, None, rss, optimality, Status.CONVERGED)
