"""Tools to check by numbers what a proof would say: gradients, convexity, optimality conditions, early stopping."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from hyperplan.optimize._minimize import numerical_gradient


def check_gradient(f, grad, x) -> float:
    """Largest difference between a gradient and central differences of f, relative to the gradient's size.

    Parameters
    ----------
    f, grad : callable
        Function and gradient to check.
    x : array-like
        Point.

    Returns
    -------
    float
        About 1e-9 when the gradient is right, of order 1 when it is not.

    Examples
    --------
    >>> from hyperplan.optimize import check_gradient
    >>> check_gradient(lambda x: (x**2).sum(), lambda x: 2 * x, [1.0, 2.0]) < 1e-8
    True
    """
    x = np.array(x, dtype=np.float64)
    exact, numeric = np.asarray(grad(x), dtype=np.float64), numerical_gradient(f)(x)
    return float(np.abs(exact.reshape(x.shape) - numeric).max(initial=0.0) / max(1.0, np.abs(numeric).max(initial=0.0)))


class Chord(NamedTuple):
    """Two points and a share t for which ``f(t a + (1 - t) b) > t f(a) + (1 - t) f(b)``: f is not convex."""

    a: np.ndarray
    b: np.ndarray
    t: float
    excess: float


def convexity_counterexample(f, points, shares=(0.25, 0.5, 0.75)) -> Chord | None:
    """Search pairs of points for a chord below the graph; None when there is none (no proof of convexity).

    Parameters
    ----------
    f : callable
        Function of one point.
    points : array-like
        Points, one per row (or numbers).
    shares : sequence of float, default=(0.25, 0.5, 0.75)
        Where on each chord to look.

    Returns
    -------
    Chord or None
        The worst violation beyond rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import convexity_counterexample
    >>> grid = np.linspace(-2, 2, 9)
    >>> convexity_counterexample(lambda x: x**4, grid) is None, convexity_counterexample(lambda x: x**3, grid) is None
    (True, False)
    """
    points = np.asarray(points, dtype=np.float64)
    values = [float(f(p)) for p in points]
    worst = None
    for i in range(len(points)):
        for j in range(i):
            for t in shares:
                chord = t * values[i] + (1.0 - t) * values[j]
                excess = float(f(t * points[i] + (1.0 - t) * points[j])) - chord
                rounding = 1e-12 * (1.0 + abs(values[i]) + abs(values[j]))
                if excess > rounding and (worst is None or excess > worst.excess):
                    worst = Chord(points[i], points[j], t, excess)
    return worst


class OptimalityConditions(NamedTuple):
    """How far a point is from the conditions of Karush, Kuhn and Tucker; all zero at a qualified minimum."""

    stationarity: float
    infeasibility: float
    inequality_multipliers: np.ndarray
    equality_multipliers: np.ndarray


def kkt_conditions(x, grad, inequalities=(), equalities=(), tol=1e-8) -> OptimalityConditions:
    """Best multipliers at x for ``min f  subject to  g_i(x) <= 0, h_j(x) = 0``, and what they leave.

    Multipliers of inequalities are >= 0 and belong to active constraints only (complementarity); stationarity is
    ``max |grad f + sum lambda_i grad g_i + sum nu_j grad h_j|``.  For convex problems zero residuals prove a minimum; a
    minimum has such multipliers only if the constraints are qualified (affine, or with an interior point).

    Parameters
    ----------
    x : array-like
        Point.
    grad : callable
        Gradient of f.
    inequalities, equalities : sequence of (function, gradient), default=()
        The constraints.
    tol : float, default=1e-8
        A constraint within `tol` of 0 is active.

    Returns
    -------
    OptimalityConditions
        ``stationarity, infeasibility, inequality_multipliers, equality_multipliers``.

    Examples
    --------
    >>> from hyperplan.optimize import kkt_conditions
    >>> found = kkt_conditions([1.0], lambda x: 2 * x, inequalities=[(lambda x: 1 - x[0], lambda x: [-1.0])])
    >>> round(found.stationarity, 9), found.inequality_multipliers.round(6).tolist()
    (0.0, [2.0])
    """
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    slope = np.ravel(np.asarray(grad(x), dtype=np.float64))
    g, h = [float(c(x)) for c, _ in inequalities], [float(c(x)) for c, _ in equalities]
    active = [i for i, value in enumerate(g) if value >= -tol]
    columns = [inequalities[i][1](x) for i in active] + [c(x) for _, c in equalities]
    solution = np.zeros(len(columns))
    if columns:
        J = np.column_stack([np.ravel(np.asarray(c, dtype=np.float64)) for c in columns])
        low = np.where(np.arange(len(columns)) < len(active), 0.0, -np.inf)
        if J.any():
            solution = lsq_linear(J, -slope, (low, np.full(len(columns), np.inf)), tol=1e-14).x
        slope = slope + J @ solution
    multipliers = np.zeros(len(g))
    multipliers[active] = solution[: len(active)]
    infeasible = max([0.0, *g, *np.abs(h)])
    return OptimalityConditions(float(np.abs(slope).max(initial=0.0)), infeasible, multipliers, solution[len(active) :])


class EarlyStopping:
    """Callback that stops a run when a validation loss has not improved for a while, and keeps the best point.

    Parameters
    ----------
    validation : callable
        ``validation(x)``, the loss on rows that the fit does not see.
    patience : int, default=5
        Iterations without improvement before stopping.
    tol : float, default=1e-4
        Improvements smaller than this do not count.

    Attributes
    ----------
    best_x, best_value, best_iteration
        Where the validation loss was least.

    Examples
    --------
    >>> from hyperplan.optimize import EarlyStopping, gradient_descent
    >>> stop = EarlyStopping(lambda x: (x - 2) ** 2, patience=3)
    >>> result = gradient_descent(lambda x: x**2, lambda x: 2 * x, 4.0, step=0.1, callback=stop)
    >>> result.status.name, stop.best_iteration, round(float(stop.best_x), 3)
    ('STOPPED', 3, 2.048)
    """

    def __init__(self, validation, patience=5, tol=1e-4):
        if patience < 1:
            raise ValueError(f"patience must be >= 1, got {patience!r}.")
        self.validation, self.patience, self.tol = validation, patience, tol
        self.best_x, self.best_value, self.best_iteration = None, math.inf, -1

    def __call__(self, x, step) -> bool:
        """Record one iteration; True once patience is exhausted."""
        value = float(self.validation(x))
        if value < self.best_value - self.tol:
            self.best_x, self.best_value, self.best_iteration = x, value, step.iteration
        return step.iteration - self.best_iteration >= self.patience
