"""One door to the solvers: `minimize` picks a method by what is given, `METHODS` lists them all."""

import functools
from collections.abc import Callable

import numpy as np

from hyperplan._math.penalties import get_penalty
from hyperplan._solvers.gradient import gradient_descent, subgradient_descent
from hyperplan._solvers.lbfgs import lbfgs
from hyperplan._solvers.nesterov import nesterov
from hyperplan._solvers.newton import newton
from hyperplan._solvers.projected import projected_gradient
from hyperplan._solvers.proximal import proximal_gradient

METHODS: dict[str, Callable] = {
    "gradient": gradient_descent,
    "nesterov": nesterov,
    "newton": newton,
    "lbfgs": lbfgs,
    "ista": functools.partial(proximal_gradient, momentum="none"),
    "fista": functools.partial(proximal_gradient, momentum="fista"),
    "projected": projected_gradient,
    "subgradient": subgradient_descent,
}
_SIMPLE_PART = {"ista", "fista"}  # methods that take a penalty or a prox


def minimize(
    f,
    grad,
    x0,
    method="auto",
    *,
    penalty=None,
    prox=None,
    prox_value=None,
    constraint=None,
    hess=None,
    step=None,
    tol=1e-6,
    max_iter=1000,
    callback=None,
    progress=False,
    **options,
):
    """Minimise a Python function, with a penalty or on a convex set if wanted.

    Stops when the residual of the method (gradient, gradient mapping, distance to the subdifferential) is at most
    ``tol * max(1, residual at x0)``, after `max_iter` iterations, on divergence, or when the callback returns True.

    Parameters
    ----------
    f : callable
        The (smooth part of the) objective.
    grad : callable, True or None
        Its gradient; True when f returns both value and gradient, None for central differences.
    x0 : array-like
        Start, of any shape.
    method : str, default="auto"
        A key of ``METHODS``: "gradient", "nesterov", "newton", "lbfgs", "ista", "fista", "projected", "subgradient".
        "auto" takes "projected" with a constraint, "fista" with a penalty or prox, "newton" with a Hessian, else
        "lbfgs".
    penalty : Penalty, default=None
        Such as ``l1_penalty(0.1)``.
    prox, prox_value : callable, default=None
        Proximal operator ``prox(z, step)`` and value of any other simple part.
    constraint : Constraint or callable, default=None
        Such as ``simplex()``, or a projection.
    hess : callable, default=None
        Hessian, for "newton".
    step : float, Schedule, callable or "backtracking", default=None
        Step size of the gradient methods; None chooses 1/L or backtracking.
    tol : float, default=1e-6
        Relative tolerance of the residual.
    max_iter : int, default=1000
        Iterations at most.
    callback : callable, default=None
        ``callback(x, step)``; `step` holds iteration, objective and residual; True stops.
    progress : bool, default=False
        Draw a progress bar (needs the package rich).
    **options
        Further options of the method: ``smoothness, strong_convexity, radius, accuracy, restart, bounds, memory``...

    Returns
    -------
    OptimizeResult
        Point, objective, status, trace, and a certificate with the worst-case iterations of theory beside the observed
        ones.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import l1_penalty, minimize
    >>> z = np.array([3.0, -0.4])
    >>> minimize(lambda x: 0.5 * ((x - z) ** 2).sum(), lambda x: x - z, np.zeros(2)).x.round(6).tolist()
    [3.0, -0.4]
    >>> minimize(lambda x: 0.5 * ((x - z) ** 2).sum(), lambda x: x - z, np.zeros(2), penalty=l1_penalty(1.0)).x.tolist()
    [2.0, 0.0]
    """
    method = _choose(method, penalty, prox, constraint, hess)
    options |= {"tol": tol, "max_iter": max_iter} if method != "subgradient" else {"max_iter": max_iter}
    if method in _SIMPLE_PART:
        penalty = None if penalty is None else get_penalty(penalty)
        options |= {"penalty": penalty, "prox": prox, "prox_value": prox_value}
    if method == "projected":
        options["constraint"] = constraint
    if method == "newton":
        options["hess"] = hess
    if step is not None:
        options["step"] = step
    gradient = numerical_gradient(f) if grad is None else grad
    if not progress:
        return METHODS[method](f, gradient, x0, callback=callback, **options)
    from hyperplan._core.progress import ProgressBar

    with ProgressBar(max_iter, method) as bar:
        return METHODS[method](f, gradient, x0, callback=_with_bar(bar, callback), **options)


def _choose(method, penalty, prox, constraint, hess):
    """The method's name, or a ValueError when it cannot use what was given."""
    simple = penalty is not None or prox is not None
    if method == "auto":
        method = "projected" if constraint is not None else "fista" if simple else "newton" if hess else "lbfgs"
    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}: choose among {['auto', *METHODS]}.")
    if simple and method not in _SIMPLE_PART:
        raise ValueError(f"Method {method!r} takes no penalty or prox: use 'fista' or 'ista'.")
    if (constraint is not None) != (method == "projected"):
        raise ValueError("Method 'projected' and the argument `constraint` go together.")
    if hess is not None and method != "newton":
        raise ValueError(f"Method {method!r} takes no Hessian: use 'newton'.")
    return method


def _with_bar(bar, callback):
    def observe(x, step):
        bar(step)
        return callback is not None and callback(x, step)

    return observe


def numerical_gradient(f):
    """The gradient of f by central differences: 2 d evaluations, relative error about 1e-10.

    Parameters
    ----------
    f : callable
        A function of an array.

    Returns
    -------
    callable
        Its gradient.

    Examples
    --------
    >>> from hyperplan.optimize import numerical_gradient
    >>> numerical_gradient(lambda x: (x**2).sum())([1.0, 2.0]).round(6).tolist()
    [2.0, 4.0]
    """

    def gradient(x):
        x = np.array(x, dtype=np.float64)
        out = np.empty(x.size)
        for j in range(x.size):
            width = np.cbrt(np.finfo(np.float64).eps) * max(1.0, abs(x.flat[j]))
            ahead, behind = x.copy(), x.copy()
            ahead.flat[j] += width
            behind.flat[j] -= width
            change = np.asarray(f(ahead), dtype=np.float64) - np.asarray(f(behind), dtype=np.float64)
            out[j] = change.item() / (ahead.flat[j] - behind.flat[j])
        return out.reshape(x.shape)

    return gradient
