"""Gradient descent and subgradient descent.

    x_{t+1} = x_t - eta_t grad f(x_t)

For L-smooth f a constant step below 2/L converges, 1/L gives ``f(x_T) - f* <= L R^2 / (2 T)``; with mu-strong
convexity, 2 / (L + mu) gives the linear rate ``((k - 1) / (k + 1))^(2T)``, k = L / mu.  For a merely Lipschitz convex f
the step eps / G^2 brings the *best* iterate (not the last) within eps after ``G^2 R^2 / eps^2`` steps.
"""

import math

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._solvers.line_search import first_step, majorised
from hyperplan._solvers.rates import gradient_bound, strongly_convex_bound, subgradient_bound
from hyperplan._solvers.result import Objective, OptimizeResult, Run, given_constants, size
from hyperplan._solvers.schedules import as_schedule


def gradient_descent(
    f,
    grad,
    x0,
    *,
    step=None,
    tol=1e-6,
    max_iter=1000,
    callback=None,
    smoothness=None,
    strong_convexity=None,
    radius=None,
    accuracy=None,
):
    """Minimise f by steps against its gradient.

    Stops when the largest component of the gradient is at most ``tol * max(1, its value at x0)``.

    Parameters
    ----------
    f, grad : callable
        Objective and gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start, of any shape.
    step : float, Schedule, callable or "backtracking", default=None
        Step size, or one per iteration t = 0, 1, ...  None means 2 / (L + mu) or 1 / L when these are given, else
        backtracking.
    tol : float, default=1e-6
        Relative tolerance of the gradient.
    max_iter : int, default=1000
        Iterations at most.
    callback : callable, default=None
        ``callback(x, step)`` after each iteration, `step` holding iteration, objective and residual; True stops.
    smoothness, strong_convexity, radius : float, default=None
        L, mu and the distance from x0 to a minimiser, where known; they give the default step and the iteration bound
        of the certificate (else estimated along the run).
    accuracy : float, default=None
        The eps for which the certificate compares observed and worst-case iterations; None means the accuracy that
        the final gradient vouches for.

    Returns
    -------
    OptimizeResult
        The last iterate and how it was reached.

    Examples
    --------
    >>> from hyperplan.optimize import gradient_descent
    >>> result = gradient_descent(lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1), 5.0, step=0.1, max_iter=20)
    >>> round(float(result.x), 7), result.status.name
    (1.0461169, 'MAX_ITER')
    """
    objective = Objective(f, grad, x0)
    constants = given_constants(smoothness, strong_convexity, radius)
    run = Run(objective, tol=tol, max_iter=max_iter, callback=callback, constants=constants)
    if step is None:
        step = _default_step(constants)
    schedule = None if isinstance(step, str) else as_schedule(step)
    if schedule is None and step != "backtracking":
        raise ValueError(f"step must be a number, a schedule, a function or 'backtracking', got {step!r}.")
    x = objective.x0
    value, gradient = objective.both(x)
    size_now = first_step(objective, x, gradient) if schedule is None else 0.0
    least, largest, t = math.inf, 0.0, 0
    while True:
        run.observe(x, gradient)
        if (status := run.check(t, x, value, size(gradient))) is not None:
            break
        if schedule is None:
            x, value, size_now = majorised(objective, x, value, gradient, 2.0 * size_now)
            gradient = objective.gradient(x)
        else:
            size_now = schedule(t)
            x = x - size_now * gradient
            value, gradient = objective.both(x)
        least, largest, t = min(least, size_now), max(largest, size_now), t + 1
    bound, rate = _rate(constants, least, largest, schedule is None)
    extra = {} if schedule is None else {"schedule": schedule}
    return run.finish(
        t, x, value, size(gradient), status, bound=bound, rate=rate, accuracy=accuracy, step=size_now, extra=extra
    )


def _default_step(constants):
    if constants.smoothness is None:
        return "backtracking"
    return 2.0 / (constants.smoothness + (constants.strong_convexity or constants.smoothness))


def _rate(constants, least, largest, majorised_steps):
    """The bound that the steps taken deserve; none when a step may exceed 1/L without being 2/(L + mu)."""
    smoothness, mu = constants.smoothness, constants.strong_convexity
    if smoothness and mu and math.isclose(largest, 2.0 / (smoothness + mu)) and least == largest:
        return strongly_convex_bound, "linear: ((k - 1) / (k + 1))^(2T) with step 2 / (L + mu)"
    if not majorised_steps and (smoothness is None or largest > (1.0 + 1e-9) / smoothness):
        return None, ""

    def bound(known, accuracy):  # a step eta <= 1/L is 1/L' for the larger constant L' = 1 / eta
        return gradient_bound(known._replace(smoothness=1.0 / least), accuracy) if least < math.inf else None

    return bound, "sublinear: R^2 / (2 eta T), or (1 - mu eta)^T with strong convexity"


def subgradient_descent(f, grad, x0, *, lipschitz, radius, accuracy, max_iter=1_000_000, callback=None):
    """Minimise a convex Lipschitz function, kinks allowed, to a promised accuracy.

    Takes the constant step ``accuracy / lipschitz^2`` for ``ceil((lipschitz radius / accuracy)^2)`` iterations and
    returns the best iterate, for which ``f(x) - f* <= accuracy`` is guaranteed.

    Parameters
    ----------
    f, grad : callable
        Objective and a subgradient.
    x0 : array-like
        Start.
    lipschitz, radius, accuracy : float
        Bound on the subgradients' norms, on the distance to a minimiser, and the wanted accuracy.
    max_iter : int, default=1_000_000
        Cap; when it is below the required number the certificate says what remains guaranteed.
    callback : callable, default=None
        ``callback(x, step)`` after each iteration; True stops.

    Returns
    -------
    OptimizeResult
        The best iterate.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import subgradient_descent
    >>> result = subgradient_descent(lambda x: abs(x), np.sign, 1.0, lipschitz=1.0, radius=1.0, accuracy=0.1)
    >>> result.n_iter, bool(result.objective <= 0.1)
    (100, True)
    """
    if not accuracy > 0:
        raise ValueError(f"accuracy must be > 0, got {accuracy!r}.")
    objective = Objective(f, grad, x0)
    constants = given_constants(radius=radius, lipschitz=lipschitz)
    needed = subgradient_bound(constants, accuracy) or max_iter
    run = Run(objective, tol=0.0, max_iter=min(needed, max_iter), callback=callback, constants=constants)
    step, x, t = accuracy / lipschitz**2, objective.x0, 0
    while True:
        value, gradient = objective.both(x)
        if (status := run.check(t, x, value, size(gradient))) not in (None, Status.STALLED):
            break
        x, t = x - step * gradient, t + 1
    if status is Status.MAX_ITER and t >= needed:
        status = Status.CONVERGED
    promised = radius**2 / (2.0 * step * t) + step * lipschitz**2 / 2.0 if t else lipschitz * radius
    certificate = Certificate(
        kind="Lipschitz bound",
        guarantee=f"the best iterate is at most {promised:.3g} above the minimum",
        value=promised if status is not Status.CONVERGED else min(promised, accuracy),
        bound=accuracy,
        assumption="f convex, subgradients bounded by `lipschitz`, a minimiser within `radius` of x0",
        reference="Nesterov (2018), Lectures on Convex Optimization, section 3.2.3",
        details={"iterations": t, "iteration_bound": needed, "step": step},
    )
    return OptimizeResult(
        run.best_x,
        run.best_value,
        size(objective.gradient(run.best_x)),
        status,
        t,
        certificate,
        run.trace,
        objective.n_function,
        objective.n_gradient,
    )
