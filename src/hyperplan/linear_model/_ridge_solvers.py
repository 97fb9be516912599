"""Ridge regression on checked arrays: one function per solver, all from problem to fit.

Objective: ``sum_i w_i (y_i - b - x_i' coef)^2 + alpha |coef|^2`` for each target, b not penalised.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, lsqr

from hyperplan._core.arrays import compressed
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._math.mixed_precision import dual_solve, suits
from hyperplan._math.moments import add_outer, moments, residual_sums, row_gram, rows_combined
from hyperplan._math.orthogonal import spectral_solve, triangularize
from hyperplan._math.positive_definite import RCOND_FLOOR, factorize
from hyperplan.linear_model._least_squares import nonnegative_least_squares
from hyperplan.linear_model._normal_equations import (
    REFINE_BELOW,
    SPARSE_DIRECT,
    centred_operator,
    least_squares,
    weighted_means,
)
from hyperplan.linear_model._ridge_kernels import sag_dense, sag_sparse

FEW_PENALTIES = 4  # more distinct penalties than this share one eigendecomposition
SPARSE_INTERCEPT_RATE = 0.01  # the intercept of sparse rows oscillates at full step


class RidgeProblem(NamedTuple):
    """Checked arrays and the settings of iterative solvers."""

    X: object
    Y: np.ndarray  # (n, k)
    weight: np.ndarray | None
    alpha: np.ndarray  # (k,)
    center: bool
    tol: float = 1e-4
    max_iter: int | None = None
    seed: int = 0
    learn_intercept: bool = False  # by stochastic gradient, without centring


class RidgeFit(NamedTuple):
    """Solution; `optimality` is the largest entry of the gradient relative to ``max_j |x_j| |y|``."""

    coef: np.ndarray  # (d, k)
    x_mean: np.ndarray
    y_mean: np.ndarray
    solver: str
    optimality: float
    status: Status
    n_iter: np.ndarray | None = None
    intercept: np.ndarray | None = None  # when learned rather than computed from the means


def solve_cholesky(problem) -> RidgeFit:
    """Normal equations of the shorter side; singular values when they are too ill-conditioned."""
    n, d = problem.X.shape
    if not problem.alpha.any():
        fit = least_squares(problem.X, problem.Y, problem.weight, center=problem.center, tol=0.0)
        solver = "cholesky" if fit.factor is not None else "svd"
        return RidgeFit(fit.coef, fit.x_mean, fit.y_mean, solver, fit.optimality, fit.status)
    return (primal_fit if d <= n else dual_fit)(problem)


def primal_fit(problem, m=None) -> RidgeFit:
    """``(Xc'Xc + alpha I) coef = Xc'yc``; `m` are the moments when the caller has them."""
    X, Y, weight, alpha = problem.X, problem.Y, problem.weight, problem.alpha
    m = moments(X, Y, weight, center=problem.center) if m is None else m
    if not m.finite:
        return _failed(problem, m.x_mean, m.y_mean)
    penalties = np.unique(alpha)
    if penalties.size > FEW_PENALTIES and penalties[0] > 0:
        with single_threaded_blas():
            values, vectors = np.linalg.eigh(m.gram)
            coef = vectors @ ((vectors.T @ m.cross) / (np.maximum(values, 0.0)[:, None] + alpha))
        gradient = m.cross - m.gram @ coef - alpha * coef
        return _finish(m, coef, gradient, "cholesky")
    coef, gradient = np.empty(m.cross.shape), np.empty(m.cross.shape)
    for penalty in penalties:
        at = alpha == penalty
        factor = factorize(m.gram, penalty)
        if factor is None or factor.rcond < RCOND_FLOOR:
            return _spectral(problem, m.x_mean, m.y_mean)
        part = factor.solve(m.cross[:, at])
        rest = m.cross[:, at] - m.gram @ part - penalty * part
        if factor.rcond < REFINE_BELOW:
            for _ in range(2):
                sums = residual_sums(X, Y[:, at], weight, m.x_mean, m.y_mean[at], part)
                rest = sums.gradient - penalty * part
                part = part + factor.solve(rest)
        coef[:, at], gradient[:, at] = part, rest
    return _finish(m, coef, gradient, "cholesky")


def _finish(m, coef, gradient, solver):
    scale = np.sqrt(np.diagonal(m.gram).max(initial=0.0) * m.y_square)
    optimality = float((np.abs(gradient) / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
    return RidgeFit(coef, m.x_mean, m.y_mean, solver, optimality, Status.EXACT)


def _failed(problem, x_mean, y_mean):
    coef = np.full((problem.X.shape[1], problem.Y.shape[1]), np.nan)
    return RidgeFit(coef, x_mean, y_mean, "cholesky", np.inf, Status.DIVERGED)


def centred_targets(Y, weight, center):
    """``sqrt(w)``, the mean of Y and ``sqrt(w) (Y - mean)``."""
    root = np.ones(Y.shape[0]) if weight is None else np.sqrt(weight)
    y_mean = root**2 @ Y / (root @ root) if center else np.zeros(Y.shape[1])
    return root, y_mean, root[:, None] * (Y - y_mean)


def dual_fit(problem, K=None) -> RidgeFit:
    """``coef = Xc' (Xc Xc' + alpha I)^-1 yc``; `K` is the row Gram matrix when the caller has it (overwritten:
    filling the null direction again changes nothing)."""
    X, weight, alpha = problem.X, problem.weight, problem.alpha
    root, y_mean, target = centred_targets(problem.Y, weight, problem.center)
    if K is None and alpha.min() == alpha.max() and suits(X, target.shape[1]):
        mixed = dual_solve(X, target, root, float(alpha[0]), center=problem.center)
        if mixed is not None:
            return RidgeFit(mixed.coef, mixed.x_mean, y_mean, "cholesky", float(mixed.residual.max()), Status.EXACT)
    K = row_gram(X, weight, center=problem.center) if K is None else K
    gram = K.gram
    if not np.isfinite(np.diagonal(gram)).all():
        return _failed(problem, K.x_mean, y_mean)
    if problem.center:  # centred rows sum to zero: fill that direction, in which the targets have nothing
        null = root / np.sqrt(root @ root)
        add_outer(gram, null, float(np.diagonal(gram).mean()))
    dual, worst = np.empty(target.shape), 0.0
    for penalty in np.unique(alpha):
        at = alpha == penalty
        factor = factorize(gram, penalty)
        if factor is None or factor.rcond < RCOND_FLOOR:
            return _spectral(problem, K.x_mean, y_mean)
        part, right = factor.solve(target[:, at]), target[:, at]
        rest = right - gram @ part - penalty * part
        if factor.rcond < REFINE_BELOW:
            part = part + factor.solve(rest)
            rest = right - gram @ part - penalty * part
        dual[:, at] = part
        norms = np.linalg.norm(right, axis=0)
        worst = max(worst, float((np.linalg.norm(rest, axis=0) / np.where(norms > 0, norms, 1.0)).max(initial=0.0)))
    coef = rows_combined(X, weight, K.x_mean, dual)
    return RidgeFit(coef, K.x_mean, y_mean, "cholesky", worst, Status.EXACT)


def _spectral(problem, x_mean, y_mean):
    if sp.issparse(problem.X):
        return _by_operator(problem._replace(tol=1e-12), x_mean, y_mean, _lsqr_target, "lsqr")
    triangle = triangularize(problem.X, problem.Y, problem.weight, x_mean, y_mean)
    fit = spectral_solve(triangle, np.finfo(np.float64).eps * max(problem.X.shape), problem.alpha)
    gradient = triangle.r.T @ (triangle.rotated - triangle.r @ fit.coef) - problem.alpha * fit.coef
    largest = np.einsum("ij,ij->j", triangle.r, triangle.r).max(initial=0.0)
    squares = np.einsum("ij,ij->j", triangle.rotated, triangle.rotated) + triangle.rest
    scale = np.sqrt(largest * squares)
    optimality = float((np.abs(gradient) / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
    return RidgeFit(fit.coef, x_mean, y_mean, "svd", optimality, Status.EXACT)


def solve_svd(problem) -> RidgeFit:
    """Singular values of the triangular factor."""
    if sp.issparse(problem.X):
        raise TypeError("SVD solver does not support sparse inputs currently")
    x_mean, y_mean = weighted_means(problem.X, problem.Y, problem.weight, problem.center)
    if not np.isfinite(problem.X).all():
        return _failed(problem, x_mean, y_mean)
    return _spectral(problem, x_mean, y_mean)


def _by_operator(problem, x_mean, y_mean, solve_target, solver):
    """One Krylov solve per target on the implicitly centred design."""
    operator = centred_operator(problem.X, problem.weight, x_mean)
    _, _, target = centred_targets(problem.Y, problem.weight, problem.center)
    coef = np.empty((problem.X.shape[1], target.shape[1]))
    n_iter, worst, status = np.zeros(target.shape[1], dtype=np.int32), 0.0, Status.CONVERGED
    with single_threaded_blas():
        for k in range(target.shape[1]):
            coef[:, k], n_iter[k], converged = solve_target(operator, target[:, k], problem.alpha[k], problem)
            gradient = operator.rmatvec(target[:, k] - operator.matvec(coef[:, k])) - problem.alpha[k] * coef[:, k]
            start = np.linalg.norm(operator.rmatvec(target[:, k]))
            worst = max(worst, float(np.linalg.norm(gradient) / start) if start > 0 else 0.0)
            status = status if converged else Status.MAX_ITER
    counts = n_iter if solver == "lsqr" else None
    return RidgeFit(coef, x_mean, y_mean, solver, worst, status, counts)


def _lsqr_target(operator, target, alpha, problem):
    options = {"atol": problem.tol, "btol": problem.tol, "iter_lim": problem.max_iter}
    found = lsqr(operator, target, damp=np.sqrt(alpha), **options)
    return found[0], found[2], found[1] != 7


def _cg_target(operator, target, alpha, problem):
    n, d = operator.shape
    options = {"rtol": problem.tol, "maxiter": problem.max_iter}
    if d > n:
        normal = LinearOperator(
            (n, n), matvec=lambda v: operator.matvec(operator.rmatvec(v)) + alpha * v, dtype=np.float64
        )
        dual, info = cg(normal, target, **options)
        return operator.rmatvec(dual), info, info == 0
    normal = LinearOperator((d, d), matvec=lambda v: operator.rmatvec(operator.matvec(v)) + alpha * v, dtype=np.float64)
    coef, info = cg(normal, operator.rmatvec(target), **options)
    return coef, info, info == 0


def solve_lsqr(problem) -> RidgeFit:
    """LSQR with damping (Paige and Saunders, 1982)."""
    means = weighted_means(problem.X, problem.Y, problem.weight, problem.center)
    finite = np.isfinite(problem.X.data if sp.issparse(problem.X) else problem.X).all()
    return _by_operator(problem, *means, _lsqr_target, "lsqr") if finite else _failed(problem, *means)


def solve_cg(problem) -> RidgeFit:
    """Conjugate gradients on the normal equations, matrix-free."""
    means = weighted_means(problem.X, problem.Y, problem.weight, problem.center)
    finite = np.isfinite(problem.X.data if sp.issparse(problem.X) else problem.X).all()
    return _by_operator(problem, *means, _cg_target, "sparse_cg") if finite else _failed(problem, *means)


def solve_positive(problem) -> RidgeFit:
    """Non-negative coefficients by pivoting on the Gram matrix: exact, nothing to iterate to a tolerance."""
    fit = nonnegative_least_squares(problem.X, problem.Y, problem.weight, center=problem.center, ridge=problem.alpha)
    return RidgeFit(fit.coef, fit.x_mean, fit.y_mean, "lbfgs", fit.optimality, fit.status)


def solve_sag(problem, saga=False) -> RidgeFit:
    """Stochastic average gradient (SAG) or its unbiased variant (SAGA)."""
    X, Y, alpha = problem.X, problem.Y, problem.alpha
    n, d = X.shape
    x_mean, y_mean = weighted_means(X, Y, problem.weight, problem.center)
    x_mean = np.zeros(d) if sp.issparse(X) else x_mean
    weight = np.ones(n) if problem.weight is None else problem.weight
    if sp.issparse(X):
        X = X.tocsr().astype(np.float64, copy=False)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        X = np.ascontiguousarray(X - x_mean, dtype=np.float64)
        squares = np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():
        return _failed(problem, x_mean, y_mean)
    coef, intercept = np.zeros((Y.shape[1], d)), np.zeros((Y.shape[1], 1))
    counts = np.zeros(Y.shape[1], dtype=np.int32)
    state, max_iter = kernel_state(problem.seed), problem.max_iter or 1000
    for k in range(Y.shape[1]):
        target = np.ascontiguousarray(Y[:, k] - y_mean[k])
        penalty = alpha[k] / n
        smooth = float((weight * (squares + problem.learn_intercept)).max(initial=0.0)) + penalty
        step = 1.0 / (2 * smooth + min(2 * n * penalty, smooth)) if saga else 1.0 / max(smooth, 1e-300)
        common = (target, weight, penalty, step, problem.tol, max_iter, saga)
        if sp.issparse(X):
            rate = SPARSE_INTERCEPT_RATE if problem.learn_intercept else 0.0
            counts[k] = sag_sparse(compressed(X), *common, rate, state, coef[k], intercept[k])
        else:
            counts[k] = sag_dense(X, *common, state, coef[k])
    status = Status.CONVERGED if (counts > 0).all() else Status.MAX_ITER
    fit = RidgeFit(coef.T, x_mean, y_mean, "saga" if saga else "sag", np.nan, status, np.abs(counts))
    worst = _stochastic_optimality(problem, fit, intercept[:, 0])
    learned = intercept[:, 0] if problem.learn_intercept else None
    return fit._replace(optimality=worst, intercept=learned)


def _stochastic_optimality(problem, fit, intercept):
    """Gradient at the last iterate relative to the gradient at zero."""
    offset = fit.y_mean + intercept if problem.learn_intercept else fit.y_mean
    sums = residual_sums(problem.X, problem.Y, problem.weight, fit.x_mean, offset, fit.coef)
    first = residual_sums(problem.X, problem.Y, problem.weight, fit.x_mean, offset, np.zeros(fit.coef.shape))
    start = np.linalg.norm(first.gradient, axis=0)
    rest = np.linalg.norm(sums.gradient - problem.alpha * fit.coef, axis=0)
    return float((rest / np.where(start > 0, start, 1.0)).max(initial=0.0))


def solve_saga(problem) -> RidgeFit:
    """SAGA."""
    return solve_sag(problem, saga=True)


def solve_auto(problem) -> RidgeFit:
    """Cholesky; conjugate gradients for sparse problems whose shorter side is large."""
    if sp.issparse(problem.X) and min(problem.X.shape) > SPARSE_DIRECT:
        return solve_cg(problem)
    return solve_cholesky(problem)


SOLVERS = {
    "auto": solve_auto,
    "svd": solve_svd,
    "cholesky": solve_cholesky,
    "lsqr": solve_lsqr,
    "sparse_cg": solve_cg,
    "sag": solve_sag,
    "saga": solve_saga,
    "lbfgs": solve_positive,
}
