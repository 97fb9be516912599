"""Newton's method with a line search, for smooth convex sums of few parameters (or many, by conjugate gradients).

    minimise f(theta);   step: theta <- theta - t H^{-1} g,   t = 1, 1/2, ... until f falls by 1e-4 t g'H^{-1}g

Stops when ``max |g_j| <= tol`` and half the squared Newton decrement ``g'H^{-1}g / 2``, which estimates the excess
of f over its minimum, is at most `tol`; or when the decrement is below the rounding of f and, with `polish`, a
further step no longer halves the gradient.  A singular H gives the step of minimum norm in the coefficients, so that
the limit is the minimiser of minimum norm.
Boyd, Vandenberghe (2004), Convex Optimization, section 9.5.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers.row_panels import GRADIENT, HESSIAN, LOSS

EPS = np.finfo(np.float64).eps
ARMIJO = 1e-4
HALVINGS = 40


class NewtonResult(NamedTuple):
    """Where Newton's method ended."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: object  # at theta, or None when it was not formed there
    n_iter: int
    status: Status
    decrement: float  # g'H^{-1}g / 2
    step: np.ndarray  # the last Newton step computed
    factor: object  # the last factorised Hessian: gradient -> Direction
    diagonal: np.ndarray  # of the last Hessian that was formed
    visible: float  # improvements of f below are rounding


class Direction(NamedTuple):
    """``H^{-1} g`` and whether H was singular."""

    step: np.ndarray
    deficient: bool


def damped_newton(
    evaluate,
    theta,
    *,
    tol,
    max_iter,
    factorise,
    factor=None,
    final_hessian=False,
    longest_step=None,
    polish=True,
    rounding=0.0,
    trace=None,
) -> NewtonResult:
    """Minimise from `theta`.

    `evaluate(theta, level)` returns `Sums`; `factorise(hessian)` a function from gradients to `Direction`;
    `longest_step(theta, step)` the largest t allowed (to stay in a domain); `trace(iteration, value, residual)`
    True to stop.  A Hessian costs several gradients, so an old one is kept while it still shrinks the gradient fast
    enough; `factor` is such an old one (of a sample of the rows).  `final_hessian` asks for the Hessian at the end;
    `rounding` is the size of terms that cancel in f.
    """
    shrink = 0.15 if factor is not None else 1.0  # by how much a step is expected to shrink the gradient
    point = evaluate(theta, HESSIAN if factor is None else GRADIENT)
    floor_residual, visible = np.inf, 0.0
    step, deficient, decrement, n_iter, diagonal = np.zeros_like(theta), False, np.inf, 0, np.zeros_like(theta)
    while True:
        if not (np.isfinite(point.value) and np.isfinite(point.gradient).all()):
            status = Status.DIVERGED
            break
        fresh = point.hessian is not None
        factor = factorise(point.hessian) if fresh else factor
        if isinstance(point.hessian, np.ndarray):
            diagonal = np.diagonal(point.hessian)
        direction = factor(point.gradient)
        step, deficient = direction.step, direction.deficient
        decrement = 0.5 * max(float(point.gradient @ step), 0.0)
        residual = float(np.abs(point.gradient).max(initial=0.0))
        asked = trace is not None and trace(n_iter, point.value, residual)
        visible = 4 * EPS * (abs(point.value) + rounding)
        floor = decrement <= visible  # nothing can be seen to improve in f
        stuck = floor and not (polish and n_iter < max_iter and residual < 0.5 * floor_residual)
        floor_residual = residual if floor else np.inf
        status = _stop_reason(stuck, decrement, residual, tol, n_iter, max_iter, asked)
        if status is not None:
            break
        level, shrink = _next_level(residual, tol, shrink**2 if fresh else shrink, final_hessian)
        moved = _line_search(evaluate, theta, step, point, decrement, 2 * visible, longest_step, level)
        if moved is None and not fresh:
            point, shrink = evaluate(theta, HESSIAN), 1.0
            continue
        if moved is None:  # rounding when the gradient is tiny, else a genuine stall
            status = Status.CONVERGED if residual <= tol else Status.STALLED
            break
        theta, point, full = moved
        n_iter += 1
        shrink = min(1.0, float(np.abs(point.gradient).max(initial=0.0)) / residual) if full else 1.0
    if final_hessian and point.hessian is None and status is not Status.DIVERGED:
        point = evaluate(theta, HESSIAN)
    status = Status.RANK_DEFICIENT if deficient and status is Status.CONVERGED else status
    return NewtonResult(
        theta, point.value, point.gradient, point.hessian, n_iter, status, decrement, step, factor, diagonal, visible
    )


def _next_level(residual, tol, shrink, final_hessian):
    """What to compute at the next point: its Hessian too, unless two more gradients are likely to be the end."""
    predicted = residual * shrink
    if predicted <= 0.5 * tol:
        return (HESSIAN if final_hessian else GRADIENT), shrink
    few_left = shrink <= 0.25 and predicted * shrink**2 <= 0.5 * tol
    return (GRADIENT if few_left else HESSIAN), shrink


def _stop_reason(stuck, decrement, residual, tol, n_iter, max_iter, asked):
    if not np.isfinite(decrement):
        return Status.DIVERGED
    if residual <= tol and decrement <= tol:
        return Status.CONVERGED
    if stuck:
        return Status.CONVERGED
    if asked:
        return Status.STOPPED
    return Status.MAX_ITER if n_iter >= max_iter else None


def _line_search(evaluate, theta, step, point, decrement, slack, longest_step, level):
    """The next (theta, sums, full step?), or None when no step lowers f.

    The longest step is evaluated with all that the next iteration needs, the shorter ones with their value first.
    """
    t = longest = 1.0 if longest_step is None else min(1.0, longest_step(theta, step))
    wanted = level
    for _ in range(HALVINGS):
        candidate = theta - t * step
        new = evaluate(candidate, wanted)
        if new.value <= point.value - ARMIJO * t * 2 * decrement + slack:
            if wanted == LOSS:
                new = evaluate(candidate, HESSIAN)
            return candidate, new, t == longest == 1.0
        t *= _shrink(point.value, new.value, 2 * decrement * t)
        wanted = LOSS
    return None


def _shrink(old, new, drop):
    """Minimum of the parabola through f(0), f'(0), f(t) relative to t, kept in [0.1, 0.5]."""
    if not np.isfinite(new):
        return 0.25
    return float(np.clip(0.5 * drop / max(new - old + drop, EPS * drop), 0.1, 0.5))


def cholesky_factor(hessian, n_coef):
    """``g -> H^{-1} g`` by an equilibrated Cholesky factorisation, or of minimum norm when H is singular.

    The first `n_coef` parameters are coefficients, whose norm is the one that counts; the rest (intercept, ...) is
    eliminated first.
    """
    diagonal = np.diagonal(hessian)
    positive = diagonal > 0
    scale = np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
    scaled = hessian * scale[:, None] * scale
    if not np.isfinite(scaled).all():
        return lambda gradient: Direction(np.full_like(gradient, np.nan), False)
    with single_threaded_blas():
        factor, info = lapack.dpotrf(scaled, lower=1)
        if info == 0 and lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max(), uplo="L")[0] > 4 * EPS:
            return lambda gradient: Direction(scale * lapack.dpotrs(factor, scale * gradient, lower=1)[0], False)
    return lambda gradient: Direction(_minimum_norm_direction(hessian, gradient, n_coef), True)


def _minimum_norm_direction(hessian, gradient, n_coef):
    """Schur complement on the coefficients, pseudo-inverse in the equilibrated metric, null space projected out."""
    with single_threaded_blas():
        return _schur_direction(hessian, gradient, n_coef)


def _schur_direction(hessian, gradient, n_coef):
    block = hessian[n_coef:, n_coef:]
    cross = hessian[:n_coef, n_coef:]
    eliminated = _pseudo_inverse(block)
    schur = hessian[:n_coef, :n_coef] - cross @ eliminated @ cross.T
    reduced = gradient[:n_coef] - cross @ (eliminated @ gradient[n_coef:])
    diagonal = np.diagonal(hessian)[:n_coef]
    scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
    values, vectors = np.linalg.eigh(schur * scale[:, None] * scale)
    kept = values > max(n_coef, 10) * 8 * EPS * max(values[-1], EPS) if n_coef else np.zeros(0, bool)
    step = scale * (vectors[:, kept] @ ((vectors[:, kept].T @ (scale * reduced)) / values[kept]))
    if not kept.all():
        null = np.linalg.qr(scale[:, None] * vectors[:, ~kept])[0]
        step -= null @ (null.T @ step)
    extra = eliminated @ (gradient[n_coef:] - cross.T @ step)
    return np.concatenate([step, extra])


def _pseudo_inverse(matrix):
    if matrix.shape[0] == 0:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    kept = values > matrix.shape[0] * 8 * EPS * max(values[-1], 0.0)
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


def conjugate_gradient_direction(product, gradient, *, max_iter=500) -> Direction:
    """``H^{-1} g`` approximately, for H known only through products; the forcing term gives fast local convergence."""
    norm = np.linalg.norm(gradient)
    target = min(0.1, np.sqrt(norm)) * norm
    step, residual = np.zeros_like(gradient), gradient.copy()
    direction, square = residual.copy(), float(residual @ residual)
    for _ in range(max_iter):
        if np.sqrt(square) <= target or square == 0.0:
            break
        image = product(direction)
        curvature = float(direction @ image)
        if not curvature > EPS * float(direction @ direction) * EPS:
            break
        t = square / curvature
        step += t * direction
        residual -= t * image
        new_square = float(residual @ residual)
        direction = residual + (new_square / square) * direction
        square = new_square
    return Direction(step, False)
