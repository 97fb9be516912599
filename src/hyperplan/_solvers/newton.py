"""Newton's method as a minimiser: a root of the *gradient* is sought, downhill.

    x_{t+1} = x_t - s_t H_t^+ grad f(x_t),     s_t by Armijo's rule, starting at 1

(following the tangent of f itself to zero would find a root of f, which a positive function does not have).  Where the
Hessian has negative eigenvalues their signs are turned, so that each step goes down; at a saddle the step follows the
most negative curvature; along null directions with no slope nothing moves (minimum-norm step).
"""

import math

import numpy as np
import scipy.linalg as la

from hyperplan._core.status import Status
from hyperplan._solvers.line_search import armijo
from hyperplan._solvers.result import Objective, Run, given_constants, size

RANK = 1e-12  # eigenvalues below this share of the largest count as zero
ROOT_EPSILON = float(np.sqrt(np.finfo(np.float64).eps))


def newton(f, grad, x0, *, hess=None, tol=1e-8, max_iter=100, callback=None):
    """Minimise f by Newton steps with a line search.

    Stops when the largest component of the gradient is at most ``tol * max(1, its value at x0)`` and the Hessian has no
    negative eigenvalue there.

    Parameters
    ----------
    f, grad : callable
        Objective and gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start, of any shape.
    hess : callable, default=None
        Hessian, a matrix of size d x d; None means central differences of the gradient (2 d evaluations).
    tol, max_iter, callback
        As in `gradient_descent`.

    Returns
    -------
    OptimizeResult
        ``extra`` holds the Newton decrement ``sqrt(g' H^-1 g)`` (half its square estimates f - f*), the smallest
        eigenvalue and the rank of the last Hessian.

    Examples
    --------
    >>> from hyperplan.optimize import newton
    >>> result = newton(lambda x: x**2 + 1, lambda x: 2 * x, 3.0, hess=lambda x: 2.0)
    >>> float(result.x), result.n_iter
    (0.0, 1)
    """
    objective = Objective(f, grad, x0)
    run = Run(objective, tol=tol, max_iter=max_iter, callback=callback, constants=given_constants())
    hessian = hess if hess is not None else lambda x: difference_hessian(objective, x)
    x, t = objective.x0, 0
    value, gradient = objective.both(x)
    while True:
        run.observe(x, gradient)
        status = run.check(t, x, value, size(gradient))
        if status not in (None, Status.CONVERGED):
            eigen = None
            break
        eigen = _eigen(hessian(x), x.size)
        if eigen is None:
            status = Status.DIVERGED
            break
        direction, slope = _downhill(eigen, gradient.ravel(), status is Status.CONVERGED)
        if status is Status.CONVERGED and direction is None:
            break
        if t >= run.max_iter:
            status = Status.MAX_ITER
            break
        x_new, value_new, step = armijo(objective, x, value, slope, direction.reshape(x.shape))
        if step == 0.0:
            status = Status.STALLED
            break
        x, value, t = x_new, value_new, t + 1
        gradient = objective.gradient(x)
    extra = _curvature_facts(eigen, gradient.ravel())
    if status is Status.CONVERGED and extra["rank"] < x.size:
        status = Status.RANK_DEFICIENT
    return run.finish(t, x, value, size(gradient), status, extra=extra, **extra)


def difference_hessian(objective, x):
    """Symmetrised central differences of the gradient."""
    rows = np.empty((x.size, x.size))
    flat = x.ravel()
    for j in range(x.size):
        move = np.zeros(x.size)
        move[j] = np.cbrt(np.finfo(np.float64).eps) * max(1.0, abs(flat[j]))
        shift = move.reshape(x.shape)
        rows[j] = (objective.gradient(x + shift) - objective.gradient(x - shift)).ravel() / (2.0 * move[j])
    return 0.5 * (rows + rows.T)


def _eigen(matrix, d):
    """Eigenvalues (ascending) and vectors of the symmetric part; None when not finite."""
    matrix = np.asarray(matrix, dtype=np.float64).reshape(d, d)
    return la.eigh(0.5 * (matrix + matrix.T)) if np.isfinite(matrix).all() else None


def _downhill(eigen, gradient, stationary):
    """A direction that decreases f and its slope; (None, 0.0) at a stationary point that is no saddle."""
    values, vectors = eigen
    largest = size(values)
    if stationary:
        if values[0] >= -ROOT_EPSILON * max(largest, ROOT_EPSILON):
            return None, 0.0
        along = vectors[:, 0] * (-1.0 if gradient @ vectors[:, 0] > 0 else 1.0)
        return along, float(gradient @ along) + 1e-3 * values[0]  # f falls by half the curvature times step squared
    coordinates = vectors.T @ gradient
    solid = np.abs(values) > RANK * largest
    pull = np.zeros_like(values)
    pull[solid] = coordinates[solid] / np.abs(values[solid])
    # a slope along a direction without curvature: f is not bounded below by its model, take a gradient step there
    loose = ~solid & (np.abs(coordinates) > 1e-8 * np.linalg.norm(coordinates))
    pull[loose] = coordinates[loose] / (largest if largest > 0.0 else 1.0)
    direction = -vectors @ pull
    return direction, float(gradient @ direction)


def _curvature_facts(eigen, gradient):
    if eigen is None:
        return {"rank": 0}
    values, vectors = eigen
    solid = values > RANK * max(size(values), np.finfo(np.float64).tiny)
    coordinates = vectors.T @ gradient
    decrement = math.sqrt(float((coordinates[solid] ** 2 / values[solid]).sum()))
    return {"newton_decrement": decrement, "smallest_eigenvalue": float(values[0]), "rank": int(solid.sum())}
