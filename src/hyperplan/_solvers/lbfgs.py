"""L-BFGS: SciPy's implementation behind the same interface and record as the other solvers."""

import numpy as np
import scipy.optimize

from hyperplan._core.status import Status
from hyperplan._solvers.result import Objective, Run, given_constants, size


def lbfgs(f, grad, x0, *, bounds=None, memory=10, tol=1e-6, max_iter=1000, callback=None):
    """Minimise a smooth f by L-BFGS, with box constraints if wanted.

    Stops when the largest component of the (projected) gradient is at most ``tol * max(1, its value at x0)``.

    Parameters
    ----------
    f, grad : callable
        Objective and gradient; ``grad=True`` when f returns both.
    x0 : array-like
        Start, of any shape.
    bounds : sequence of (low, high), default=None
        One pair per variable; None for an end that is free.
    memory : int, default=10
        Number of past gradients kept.
    tol, max_iter, callback
        As in `gradient_descent`.

    Returns
    -------
    OptimizeResult
        The point with the least objective.

    Examples
    --------
    >>> from hyperplan.optimize import lbfgs
    >>> result = lbfgs(lambda x: (x[0] - 1) ** 2 + (x[1] + 2) ** 2, lambda x: 2 * (x - [1, -2]), [0.0, 0.0])
    >>> result.x.round(6).tolist()
    [1.0, -2.0]
    """
    objective = Objective(f, grad, x0)
    run = Run(objective, tol=tol, max_iter=max_iter, callback=callback, constants=given_constants())
    box = None if bounds is None else scipy.optimize.Bounds(*_ends(bounds, objective.x0.size))
    start = objective.x0 if box is None else np.clip(objective.x0.ravel(), box.lb, box.ub).reshape(objective.x0.shape)
    value, gradient = objective.both(start)
    status, t, x = run.check(0, start, value, _residual(start, gradient, box)), 0, start
    if status is None:
        state = {"t": 0, "status": None}
        found = scipy.optimize.minimize(
            lambda z: _flat_both(objective, z),
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=box,
            callback=lambda intermediate_result: _report(run, box, state, intermediate_result),
            options={
                "maxcor": memory,
                "gtol": run.threshold,
                "ftol": 0.0,
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
            },
        )
        x, value, t = found.x.reshape(start.shape), float(found.fun), int(found.nit)
        gradient = objective.gradient(x)
        status = _status(run, state["status"], value, _residual(x, gradient, box), t)
    return run.finish(t, x, value, _residual(x, gradient, box), status, memory=memory)


def _flat_both(objective, z):
    value, gradient = objective.both(z.reshape(objective.x0.shape))
    return value, gradient.ravel()


def _ends(bounds, d):
    pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]
    if len(pairs) != d:
        raise ValueError(f"bounds needs one pair for each of the {d} variables, got {len(pairs)}.")
    return np.array(pairs, dtype=np.float64).T


def _residual(x, gradient, box):
    if box is None:
        return size(gradient)
    flat = x.ravel()
    return size(flat - np.clip(flat - gradient.ravel(), box.lb, box.ub))


def _report(run, box, state, intermediate):
    """Trace one iteration; SciPy counts and stops itself unless the caller's callback wants to stop."""
    state["t"] += 1
    x = intermediate.x.reshape(run.objective.x0.shape)
    residual = _residual(x, run.objective.gradient(x), box)
    status = run.check(state["t"], x, float(intermediate.fun), residual)
    if status in (Status.STOPPED, Status.DIVERGED):
        state["status"] = status
        raise StopIteration


def _status(run, early, value, residual, t):
    if early is not None:
        return early
    if not (np.isfinite(value) and np.isfinite(residual)):
        return Status.DIVERGED
    if residual <= run.threshold:
        return Status.CONVERGED
    return Status.MAX_ITER if t >= run.max_iter else Status.STALLED
