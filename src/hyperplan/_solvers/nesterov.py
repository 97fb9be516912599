"""Nesterov's accelerated gradient method.

    x_{t+1} = y_t - eta grad f(y_t)
    y_{t+1} = x_{t+1} + t / (t + 3) (x_{t+1} - x_t),     t = 0, 1, 2, ...

For convex L-smooth f and eta <= 1/L: ``f(x_t) - f* <= 2 |x_0 - x*|^2 / (eta (t + 1)^2)``.  With small eta the iterates
follow the differential equation ``X'' + (3 / t) X' + grad f(X) = 0``.
"""

from hyperplan._solvers.line_search import first_step, majorised
from hyperplan._solvers.rates import nesterov_bound
from hyperplan._solvers.result import Objective, Run, given_constants, size


def nesterov(
    f, grad, x0, *, step=None, tol=1e-6, max_iter=1000, callback=None, smoothness=None, radius=None, accuracy=None
):
    """Minimise a smooth convex f by Nesterov's method with momentum t / (t + 3).

    Stops when the largest component of the gradient is at most ``tol * max(1, its value at x0)``.

    Parameters
    ----------
    f, grad : callable
        Objective and gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start, of any shape.
    step : float or "backtracking", default=None
        eta; None means 1 / `smoothness` when given, else backtracking (the step never grows again).
    tol, max_iter, callback
        As in `gradient_descent`.
    smoothness, radius, accuracy : float, default=None
        L, distance to a minimiser and eps for the iteration bound of the certificate.

    Returns
    -------
    OptimizeResult
        The last x.  The objective may rise on the way: momentum is no descent method.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import nesterov
    >>> scales = np.array([1.0, 100.0])
    >>> result = nesterov(lambda x: 0.5 * scales @ x**2, lambda x: scales * x, [1.0, 1.0], smoothness=100.0)
    >>> result.success
    True
    """
    objective = Objective(f, grad, x0)
    run = Run(
        objective, tol=tol, max_iter=max_iter, callback=callback, constants=given_constants(smoothness, radius=radius)
    )
    if step is None:
        step = "backtracking" if smoothness is None else 1.0 / smoothness
    if isinstance(step, str) and step != "backtracking":
        raise ValueError(f"step must be a number or 'backtracking', got {step!r}.")
    x = y = objective.x0
    value, gradient = objective.both(x)
    trial = step == "backtracking"
    eta = 2.0 * first_step(objective, x, gradient) if trial else float(step)
    status, t = run.check(0, x, value, size(gradient)), 0
    while status is None:
        value_y, gradient = (value, gradient) if t == 0 else objective.both(y)
        run.observe(y, gradient)
        before = x
        if trial:
            x, value, eta = majorised(objective, y, value_y, gradient, eta)
        else:
            x = y - eta * gradient
            value = objective.value(x)
        y = x + t / (t + 3.0) * (x - before)
        residual = size(gradient)  # at y; confirmed at x before the run ends
        if residual <= run.threshold or t + 1 >= max_iter:
            residual = size(objective.gradient(x))
        t += 1
        status = run.check(t, x, value, residual)
    return run.finish(
        t,
        x,
        value,
        size(objective.gradient(x)),
        status,
        bound=lambda known, eps: nesterov_bound(known._replace(smoothness=1.0 / eta), eps),
        rate="accelerated: 2 R^2 / (eta (T + 1)^2)",
        accuracy=accuracy,
        step=eta,
    )
