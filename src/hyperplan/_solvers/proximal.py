"""Proximal gradient (ISTA) and its accelerated form (FISTA) for f + g, f smooth and g simple.

    x_{t+1} = prox_{eta g}(y_t - eta grad f(y_t))
    y_{t+1} = x_{t+1} + beta_t (x_{t+1} - x_t)

with beta = 0 (ISTA), t / (t + 3) (Nesterov) or (a_t - 1) / a_{t+1}, a_{t+1} = (1 + sqrt(1 + 4 a_t^2)) / 2 (FISTA).
With restarts the momentum starts anew when it points uphill or the objective rises, which gives linear convergence
under strong convexity without knowing its constant (O'Donoghue, Candes 2015).
"""

import itertools
import math

import numpy as np

from hyperplan._math.penalties import no_penalty
from hyperplan._solvers.line_search import ROUNDING, first_step, majorised
from hyperplan._solvers.rates import gradient_bound, nesterov_bound
from hyperplan._solvers.result import Objective, Run, given_constants, size


def _no_momentum():
    return itertools.repeat(0.0)


def _nesterov_momentum():
    return (t / (t + 3.0) for t in itertools.count())


def _fista_momentum():
    a = 1.0
    while True:
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * a * a))
        yield (a - 1.0) / following
        a = following


MOMENTA = {"none": _no_momentum, "nesterov": _nesterov_momentum, "fista": _fista_momentum}


class Composite:
    """The simple part g: proximal operator, value, and how far a point is from optimal."""

    def __init__(self, penalty, prox, value):
        if (penalty is not None) == (prox is not None):
            raise ValueError("Give either a penalty or a prox function, not both or none.")
        self.penalty = penalty
        self.prox = prox if penalty is None else penalty.prox
        self.value = penalty.value if penalty is not None else value or (lambda x: 0.0)

    def residual(self, x, gradient, step) -> float:
        """Distance of -gradient to the subdifferential for a penalty, else the size of the gradient mapping."""
        if self.penalty is not None:
            return self.penalty.subdifferential_distance(x, gradient)
        return size(x - self.prox(x - step * gradient, step)) / step


def proximal_gradient(
    f,
    grad,
    x0,
    *,
    penalty=None,
    prox=None,
    prox_value=None,
    step=None,
    momentum="fista",
    restart=True,
    tol=1e-6,
    max_iter=1000,
    callback=None,
    smoothness=None,
    strong_convexity=None,
    radius=None,
    accuracy=None,
    confirm=None,
):
    """Minimise f + g by proximal gradient steps.

    Stops when the distance of ``-grad f(x)`` to the subdifferential of g (for a general `prox`: the gradient mapping)
    is at most ``tol * max(1, its value at x0)``.

    Parameters
    ----------
    f, grad : callable
        The smooth part and its gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start, of any shape.
    penalty : Penalty, default=None
        The simple part, e.g. ``l1_penalty(0.1)``; None without `prox` means no penalty.
    prox, prox_value : callable, default=None
        Instead of a penalty: ``prox(z, step)`` and the value ``g(x)`` (None: an indicator, value 0).
    step : float or "backtracking", default=None
        None means 1 / `smoothness` when given, else backtracking.
    momentum : {"fista", "nesterov", "none"}, default="fista"
        "none" is ISTA.
    restart : bool, default=True
        Restart the momentum when it points uphill or the objective rises.
    tol, max_iter, callback
        As in `gradient_descent`.
    smoothness, strong_convexity, radius, accuracy : float, default=None
        L, mu, distance to a minimiser, eps: for the default step and the certificate's iteration bound.
    confirm : callable, default=None
        ``confirm(x)`` must be True too before the run counts as converged; if not, the tolerance shrinks tenfold.

    Returns
    -------
    OptimizeResult
        The last iterate; its objective includes g.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import l1_penalty, proximal_gradient
    >>> z = np.array([3.0, -0.4])
    >>> result = proximal_gradient(lambda x: 0.5 * ((x - z) ** 2).sum(), lambda x: x - z, np.zeros(2),
    ...                            penalty=l1_penalty(1.0), smoothness=1.0)
    >>> result.x.tolist(), result.status.name
    ([2.0, 0.0], 'CONVERGED')
    """
    if momentum not in MOMENTA:
        raise ValueError(f"momentum must be one of {sorted(MOMENTA)}, got {momentum!r}.")
    if isinstance(step, str) and step != "backtracking":
        raise ValueError(f"step must be a number or 'backtracking', got {step!r}.")
    objective = Objective(f, grad, x0)
    simple = Composite(no_penalty() if penalty is None and prox is None else penalty, prox, prox_value)
    constants = given_constants(smoothness, strong_convexity, radius)
    run = Run(objective, tol=tol, max_iter=max_iter, callback=callback, constants=constants, confirm=confirm)
    if step is None:
        step = "backtracking" if smoothness is None else 1.0 / smoothness
    x = objective.x0 if prox is None else np.asarray(simple.prox(objective.x0, 1.0), dtype=np.float64)
    smooth, gradient = objective.both(x)
    trial = step == "backtracking"
    eta = 2.0 * first_step(objective, x, gradient) if trial else float(step)
    t, x, value, residual, status, eta = _iterate(run, simple, x, smooth, gradient, eta, trial, momentum, restart)
    bound = gradient_bound if momentum == "none" else nesterov_bound
    return run.finish(
        t,
        x,
        value,
        residual,
        status,
        bound=lambda known, eps: bound(known._replace(smoothness=1.0 / eta), eps),
        rate="sublinear: R^2 / (2 eta T)" if momentum == "none" else "accelerated: 2 R^2 / (eta (T + 1)^2)",
        kind="optimality residual",
        accuracy=accuracy,
        step=eta,
    )


def _iterate(run, simple, x, smooth, gradient, eta, trial, momentum, restart):
    """The loop; returns iteration, point, objective, residual, status and the last step size."""
    objective = run.objective
    y, weights = x, MOMENTA[momentum]()
    value = smooth + simple.value(x)
    residual = simple.residual(x, gradient, eta)
    status, t = run.check(0, x, value, residual), 0
    while status is None:
        smooth, gradient = (smooth, gradient) if t == 0 else objective.both(y)
        run.observe(y, gradient)
        if trial:
            x_new, smooth_new, eta = majorised(objective, y, smooth, gradient, eta, simple.prox)
        else:
            x_new = simple.prox(y - eta * gradient, eta)
            smooth_new = objective.value(x_new)
        value_new = smooth_new + simple.value(x_new)
        uphill = float((y - x_new).ravel() @ (x_new - x).ravel()) > 0.0
        rises = value_new > value + ROUNDING * abs(value)
        if restart and momentum != "none" and (uphill or rises):
            weights = MOMENTA[momentum]()
        beta = next(weights)
        residual = size(y - x_new) / eta  # the gradient mapping at y; confirmed at x before the run ends
        y, x, value, t = x_new + beta * (x_new - x), x_new, value_new, t + 1
        if residual <= 2.0 * run.threshold or t >= run.max_iter:
            residual = simple.residual(x, objective.gradient(x), eta)
        status = run.check(t, x, value, residual)
        if status is not None and status.name == "STALLED" and residual > run.threshold and np.any(y != x):
            status = None  # x stood still but the momentum has not
    return t, x, value, residual, status, eta
