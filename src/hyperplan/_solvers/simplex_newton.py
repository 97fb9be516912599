"""Newton's method on the simplex: ``min f(a)`` subject to ``a >= 0`` and ``sum(a) = 1``, f convex, few variables.

Each step minimises the second-order model of f over the simplex by an active-set method and searches along the way to
that minimum.  A quadratic f takes one step.  Stops when the Frank-Wolfe gap ``max_j <grad f(a), a - e_j>``, which
bounds ``f(a) - min f``, is at most ``tol`` times f at the start.
Kim, Carbonetto, Stephens, Anitescu (2020), A fast algorithm for maximum likelihood estimation of mixture proportions.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._solvers.projected import simplex

ARMIJO, HALVINGS = 1e-4, 40
RIDGE = 1e-12  # relative; twins among the variables then share a weight instead of making the model singular
SIGN = 1e-13  # multipliers of this relative size are rounding
REFERENCE = "Jaggi (2013), Revisiting Frank-Wolfe, ICML; van der Laan, Polley, Hubbard (2007), Super learner"


class SimplexFit(NamedTuple):
    """Weights on the simplex, the objective there, and an upper bound of its excess over the minimum."""

    weights: np.ndarray
    objective: float
    gap: float
    scale: float
    n_iter: int
    status: Status

    def certificate(self, tol, **details) -> Certificate:
        """The gap against the tolerance."""
        return Certificate(
            kind="Frank-Wolfe gap",
            guarantee=f"no convex weights have an objective more than {self.gap:.3g} below {self.objective:.6g}",
            value=self.gap / self.scale if self.scale > 0 else 0.0,
            bound=tol,
            assumption="",
            reference=REFERENCE,
            details={"objective": self.objective, "gap": self.gap, "iterations": self.n_iter, **details},
        )


def simplex_newton(evaluate, size, *, tol=1e-8, max_iter=100) -> SimplexFit:
    """Minimise f over the simplex, from its centre; ``evaluate(a)`` gives f, its gradient and its Hessian.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._solvers.simplex_newton import simplex_newton
    >>> target = np.array([0.2, 2.0])
    >>> found = simplex_newton(lambda a: (((a - target) ** 2).sum(), 2 * (a - target), 2 * np.eye(2)), 2)
    >>> found.weights.round(6).tolist(), found.status.name
    ([0.0, 1.0], 'CONVERGED')
    """
    domain = simplex()
    weights = np.full(size, 1.0 / size)
    value, gradient, hessian = evaluate(weights)
    scale, status, t = abs(value), Status.MAX_ITER, 0
    for t in range(max_iter + 1):
        if domain.gap(weights, gradient) <= tol * scale:
            status = Status.CONVERGED
            break
        if t == max_iter:
            break
        here = weights, (value, gradient, hessian)
        newton = quadratic_on_simplex(hessian, gradient - hessian @ weights, weights)
        corner = np.eye(size)[np.argmin(gradient)]  # for when the second-order model misleads: always downhill
        found = _search(evaluate, here, newton) or _search(evaluate, here, corner)
        if found is None:
            status = Status.STALLED
            break
        weights, (value, gradient, hessian) = found
    return SimplexFit(weights, value, domain.gap(weights, gradient), scale, t, status)


def _search(evaluate, here, goal):
    """The first of the points at 1, 1/2, 1/4, ... of the way to a goal where f has fallen as its slope promises."""
    weights, (value, gradient, _) = here
    way = goal - weights
    slope = float((gradient - gradient @ weights) @ way)  # the way sums to 0: centred, less is lost to rounding
    visible = 8.0 * np.finfo(np.float64).eps * abs(value)  # a smaller fall is rounding
    share = 1.0
    for _ in range(HALVINGS if slope < 0.0 else 0):
        point = np.maximum(weights + share * way, 0.0)
        point /= point.sum()
        found = evaluate(point)
        if found[0] <= value + ARMIJO * share * slope + visible and not np.array_equal(point, weights):
            return point, found
        share *= 0.5
    return None


def quadratic_on_simplex(matrix, linear, start):
    """Minimiser of ``1/2 x'Qx + c'x`` over the simplex, Q positive semi-definite, by a primal active-set method.

    >>> quadratic_on_simplex(np.eye(2), np.array([0.0, -0.5]), np.array([0.5, 0.5])).round(6).tolist()
    [0.25, 0.75]
    """
    size = start.shape[0]
    lift = RIDGE * max(float(np.trace(matrix)) / size, np.finfo(np.float64).tiny)
    matrix = matrix + lift * np.eye(size)
    x, free = start.copy(), start > 0.0
    for _ in range(10 * size + 20):  # each support is met once in exact arithmetic; few are met at all
        goal = _minimiser_on(matrix, linear, free)
        if (goal[free] >= 0.0).all():
            x = goal
            slope = matrix @ x + linear
            level = float(x @ slope)
            entering = int(np.argmin(np.where(free, np.inf, slope)))
            if free.all() or slope[entering] >= level - SIGN * np.abs(slope).max():
                return x
            free[entering] = True
        else:
            shrinks = free & (goal < x)
            shares = np.where(shrinks, x, np.inf) / np.where(shrinks, x - goal, 1.0)
            leaving = int(np.argmin(shares))
            x = np.maximum(x + min(shares[leaving], 1.0) * (goal - x), 0.0)
            x[leaving], free[leaving] = 0.0, False
            x /= x.sum()
    return x


def _minimiser_on(matrix, linear, free):
    """Minimiser where the free variables sum to 1 and the others are 0."""
    k = int(free.sum())
    system = np.ones((k + 1, k + 1))
    scale = max(float(np.abs(matrix).max()), np.finfo(np.float64).tiny)
    system[:k, :k] = matrix[np.ix_(free, free)] / scale
    system[k, k] = 0.0
    right = np.append(-linear[free] / scale, 1.0)
    x = np.zeros(free.shape[0])
    x[free] = np.linalg.lstsq(system, right, rcond=None)[0][:k]
    return x
