"""Projected gradient, projections on simple convex sets, and the gap that certifies a constrained minimum.

    x_{t+1} = P_C(x_t - eta grad f(x_t))

For convex f on a bounded set C, ``f(x) - f* <= max_{s in C} <grad f(x), x - s>`` (the Frank-Wolfe gap): a certificate
that needs no knowledge of the minimum.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hyperplan._solvers.proximal import proximal_gradient


def project_box(z, lower=-np.inf, upper=np.inf):
    """Nearest point with lower <= x <= upper.

    >>> project_box([-2.0, 0.5, 3.0], 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    if not (np.asarray(lower) <= np.asarray(upper)).all():
        raise ValueError("The box is empty: a lower bound exceeds the upper bound.")
    return np.clip(np.asarray(z, dtype=np.float64), lower, upper)


def project_simplex(z, total=1.0):
    """Nearest point with x >= 0 and sum(x) = total.

    >>> project_simplex([0.5, 1.5]).tolist()
    [0.0, 1.0]
    """
    if not total > 0:
        raise ValueError(f"total must be > 0, got {total!r}.")
    z = np.asarray(z, dtype=np.float64)
    ordered = np.sort(z)[::-1]
    excess = np.cumsum(ordered) - total
    kept = np.flatnonzero(ordered * np.arange(1, z.size + 1) > excess)[-1]
    return np.maximum(z - excess[kept] / (kept + 1.0), 0.0)


def project_l1_ball(z, radius=1.0):
    """Nearest point with |x|_1 <= radius.

    >>> project_l1_ball([3.0, 0.0]).tolist()
    [1.0, 0.0]
    """
    z = np.asarray(z, dtype=np.float64)
    return z.copy() if np.abs(z).sum() <= radius else np.copysign(project_simplex(np.abs(z), radius), z)


def project_l2_ball(z, radius=1.0, center=0.0):
    """Nearest point with |x - center|_2 <= radius.

    >>> project_l2_ball([3.0, 4.0]).round(12).tolist()
    [0.6, 0.8]
    """
    if not radius >= 0:
        raise ValueError(f"radius must be >= 0, got {radius!r}.")
    move = np.asarray(z, dtype=np.float64) - center
    norm = float(np.linalg.norm(move))
    return center + move * (1.0 if norm <= radius else radius / norm)


def project_hyperplane(z, normal, offset=0.0):
    """Nearest point with <normal, x> = offset.

    >>> project_hyperplane([1.0, 1.0], [1.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    z, normal = np.asarray(z, dtype=np.float64), np.asarray(normal, dtype=np.float64)
    square = float(normal @ normal)
    if not square > 0:
        raise ValueError("The normal of a hyperplane must not be zero.")
    return z - (float(normal @ z) - offset) / square * normal


def project_box_hyperplane(z, lower, upper, normal, offset=0.0):
    """Nearest point with lower <= x <= upper and <normal, x> = offset: the feasible set of the SVM dual.

    The solution is ``clip(z - t normal)`` for the root t of a decreasing piecewise linear function, found exactly by
    bisection over its sorted breakpoints.

    >>> project_box_hyperplane([1.0, 1.0], 0.0, 1.0, [1.0, 1.0], 1.0).tolist()
    [0.5, 0.5]
    """
    z, normal = np.asarray(z, dtype=np.float64), np.asarray(normal, dtype=np.float64)
    lower, upper = np.broadcast_to(lower, z.shape), np.broadcast_to(upper, z.shape)
    active = normal != 0.0
    a, low, high, point = normal[active], lower[active], upper[active], z[active]
    ends = np.where(a > 0, a * low, a * high).sum(), np.where(a > 0, a * high, a * low).sum()
    slack = 1e-12 * (1.0 + abs(offset) + float(np.abs(a) @ np.abs(np.where(np.isfinite(low), low, 0.0))))
    if not (lower <= upper).all() or not ends[0] - slack <= offset <= ends[1] + slack:
        raise ValueError(f"No point of the box has <normal, x> = {offset:g}.")

    def total(t):
        return float(a @ np.clip(point - t * a, low, high))

    breaks = np.concatenate([(point - low) / a, (point - high) / a])
    breaks = np.sort(breaks[np.isfinite(breaks)])
    first, last = 0, breaks.size  # total(breaks[i]) >= offset exactly for i < first, once the loop ends
    while first < last:
        middle = (first + last) // 2
        first, last = (middle + 1, last) if total(breaks[middle]) >= offset else (first, middle)
    left = breaks[first - 1] if first > 0 else breaks[0] - 1.0 if breaks.size else 0.0
    right = breaks[first] if first < breaks.size else left + 1.0
    rise = total(left) - total(right)
    t = left + (total(left) - offset) / rise * (right - left) if rise > 0.0 else left
    return np.clip(z - t * normal, lower, upper)


@dataclass(frozen=True)
class Constraint:
    """A convex set: its projection and, when it is bounded, the minimiser of a linear function on it."""

    name: str
    project: Callable
    lowest: Callable | None = None

    def gap(self, x, gradient) -> float:
        """``max_{s in C} <gradient, x - s>``, an upper bound of f(x) - f* for convex f; inf for unbounded sets."""
        if self.lowest is None:
            return math.inf
        return max(0.0, float(gradient.ravel() @ (x - self.lowest(gradient)).ravel()))


def box(lower=-np.inf, upper=np.inf) -> Constraint:
    """lower <= x <= upper."""
    bounded = np.isfinite(lower).all() and np.isfinite(upper).all()
    return Constraint(
        "box",
        lambda z: project_box(z, lower, upper),
        (lambda g: np.where(g > 0, lower, upper) + np.zeros_like(g)) if bounded else None,
    )


def simplex(total=1.0) -> Constraint:
    """x >= 0, sum(x) = total: weights of a mixture, of kernels, of an ensemble."""

    def lowest(g):
        corner = np.zeros_like(g)
        corner[np.argmin(g)] = total
        return corner

    return Constraint("simplex", lambda z: project_simplex(z, total), lowest)


def l1_ball(radius=1.0) -> Constraint:
    """|x|_1 <= radius: the constrained form of the lasso."""

    def lowest(g):
        corner, j = np.zeros_like(g), np.argmax(np.abs(g))
        corner[j] = -math.copysign(radius, g[j])
        return corner

    return Constraint("l1 ball", lambda z: project_l1_ball(z, radius), lowest)


def l2_ball(radius=1.0, center=0.0) -> Constraint:
    """|x - center|_2 <= radius."""

    def lowest(g):
        norm = float(np.linalg.norm(g))
        return center - (radius / norm if norm > 0 else 0.0) * g

    return Constraint("l2 ball", lambda z: project_l2_ball(z, radius, center), lowest)


def hyperplane(normal, offset=0.0) -> Constraint:
    """<normal, x> = offset."""
    return Constraint("hyperplane", lambda z: project_hyperplane(z, normal, offset))


def box_hyperplane(lower, upper, normal, offset=0.0) -> Constraint:
    """lower <= x <= upper and <normal, x> = offset: the dual of a support vector machine with intercept."""
    normal = np.asarray(normal, dtype=np.float64)
    low, high = (np.broadcast_to(np.asarray(b, dtype=np.float64), normal.shape) for b in (lower, upper))
    bounded = np.isfinite(low).all() and np.isfinite(high).all()
    return Constraint(
        "box and hyperplane",
        lambda z: project_box_hyperplane(z, low, high, normal, offset),
        (lambda g: _fractional_knapsack(g, low, high, normal, offset)) if bounded else None,
    )


def _fractional_knapsack(g, low, high, normal, offset):
    """Minimise <g, x> over a box cut by a hyperplane: flip coordinates in order of g / normal until the sum fits."""
    x = np.where(normal > 0, high, np.where(normal < 0, low, np.where(g > 0, low, high))).astype(np.float64)
    excess = float(normal @ x) - offset  # largest possible: coordinates now move to the other end, dearest first
    active = np.flatnonzero(normal)
    for j in active[np.argsort(-g[active] / normal[active], kind="stable")]:
        drop = abs(normal[j]) * (high[j] - low[j])
        share = 1.0 if drop <= excess else excess / drop if drop > 0 else 0.0
        x[j] += share * ((low[j] - high[j]) if normal[j] > 0 else (high[j] - low[j]))
        excess -= share * drop
        if share < 1.0:
            break
    return x


def projected_gradient(f, grad, x0, constraint, *, momentum="fista", **options):
    """Minimise f over a convex set by projected gradient steps.

    Stops when the gradient mapping ``|x - P(x - eta grad f(x))| / eta`` is at most
    ``tol * max(1, its value at the start)``; on a bounded set the certificate is the Frank-Wolfe gap, an upper bound
    of ``f(x) - f*`` for convex f.

    Parameters
    ----------
    f, grad : callable
        Objective and gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start; it is projected first.
    constraint : Constraint or callable
        A set such as ``simplex()`` or ``box(0, 1)``, or a projection function.
    momentum : {"fista", "nesterov", "none"}, default="fista"
        "none" is plain projected gradient.
    **options
        ``step, restart, tol, max_iter, callback, smoothness, strong_convexity, radius, accuracy`` of
        `proximal_gradient`.

    Returns
    -------
    OptimizeResult
        A point of the set.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import projected_gradient, simplex
    >>> target = np.array([0.2, 2.0])
    >>> result = projected_gradient(lambda x: ((x - target) ** 2).sum(), lambda x: 2 * (x - target), [0.5, 0.5],
    ...                             simplex())
    >>> result.x.round(6).tolist(), result.certificate.kind
    ([0.0, 1.0], 'Frank-Wolfe gap')
    """
    if not isinstance(constraint, Constraint):
        constraint = Constraint("set", constraint)
    result = proximal_gradient(f, grad, x0, prox=lambda z, step: constraint.project(z), momentum=momentum, **options)
    if constraint.lowest is None:
        return result
    gradient = np.asarray(f(result.x)[1] if grad is True else grad(result.x), dtype=np.float64)
    gap = constraint.gap(result.x, gradient)
    scale = max(abs(result.objective), abs(result.trace.objectives[0] - result.objective), 1.0)
    certificate = replace(
        result.certificate,
        kind="Frank-Wolfe gap",
        guarantee=f"the objective is at most {gap:.3g} above its minimum on the set",
        value=gap / scale,
        bound=max(result.certificate.details["tolerance"], result.certificate.bound),
        assumption="the objective is convex",
        reference="Jaggi (2013), Revisiting Frank-Wolfe, ICML",
        details=result.certificate.details | {"gap": gap, "scale": scale, "optimality_residual": result.residual},
    )
    return replace(result, certificate=certificate)
