"""Stochastic and mini-batch gradient descent for an average of n terms, f(x) = (1/n) sum_i f_i(x).

    x <- x - eta_k (1/M) sum_{i in batch} grad f_i(x)

Batches are drawn uniformly with replacement (or as a shuffled pass); the *mean* gradient of a batch is used, so that
the step does not depend on the batch size.  With steps that satisfy the Robbins-Monro conditions the iterates converge
to a minimiser of convex f, to a stationary point otherwise; Polyak-Ruppert averaging of the later iterates removes most
of the noise of slowly decreasing steps.
"""

from dataclasses import replace

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers.result import Objective, Run, given_constants, size
from hyperplan._solvers.schedules import as_schedule, inverse_time

PATIENCE = 3  # cycles in a row without relative progress before a run counts as settled


def stochastic_gradient(
    f,
    grad,
    x0,
    n_terms,
    *,
    batch_size=1,
    step=None,
    replacement=True,
    average=False,
    average_start=0.5,
    tol=1e-6,
    max_iter=500,
    seed=0,
    callback=None,
):
    """Minimise an average of terms by steps along gradients of random batches.

    One iteration is a cycle of ceil(n_terms / batch_size) steps.  After each cycle the full gradient is computed: the
    run stops when its largest component is at most ``tol * max(1, value at x0)``, when the objective changed by less
    than ``tol`` relatively for 3 cycles in a row, or after `max_iter` cycles (not when the objective is "small": its
    minimum need not be).

    Parameters
    ----------
    f, grad : callable
        ``f(x, indices)`` and ``grad(x, indices)``: the *mean* over the terms `indices` of values and gradients.
    x0 : array-like
        Start.
    n_terms : int
        Number n of terms.
    batch_size : int, default=1
        Terms per step.
    step : float, Schedule or callable, default=None
        eta_k for the k-th step, counted over all cycles; None means ``0.1 / (1 + k / steps per cycle)``.
    replacement : bool, default=True
        Draw batches with replacement; False visits each term once per cycle in random order.
    average : bool, default=False
        Return the average of the iterates since the share `average_start` of the cycles allowed (Polyak-Ruppert).
    average_start : float, default=0.5
        Share of `max_iter` before averaging starts.
    tol, max_iter, callback
        As in `gradient_descent`, per cycle.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    OptimizeResult
        ``extra`` holds the schedule, whether it satisfies the Robbins-Monro conditions, and the last iterate.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import inverse_time, stochastic_gradient
    >>> data = np.array([1.0, 2.0, 3.0, 6.0])
    >>> result = stochastic_gradient(lambda x, i: 0.5 * ((x - data[i]) ** 2).mean(), lambda x, i: (x - data[i]).mean(),
    ...                              0.0, 4, step=inverse_time(1.0), replacement=False, max_iter=50)
    >>> round(float(result.x), 6), result.extra["robbins_monro"]
    (3.0, True)
    """
    for name, number in {"n_terms": n_terms, "batch_size": batch_size}.items():
        if int(number) != number or number < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {number!r}.")
    everything = np.arange(n_terms)
    objective = Objective(lambda x: f(x, everything), lambda x: grad(x, everything), x0)
    run = Run(objective, tol=tol, max_iter=max_iter, callback=callback, constants=given_constants())
    steps = -(-n_terms // batch_size)
    schedule = inverse_time(0.1, 1.0 / steps) if step is None else as_schedule(step)
    draw = _Batches(n_terms, batch_size, replacement, seed)
    last, mean, count, t, quiet = objective.x0, None, 0, 0, 0
    x, (value, gradient) = last, objective.both(last)
    before = value
    while (status := run.check(t, x, value, size(gradient))) in (None, Status.STALLED) and quiet < PATIENCE:
        for k, indices in enumerate(draw.cycle(), start=t * steps):
            slope = np.asarray(grad(last, indices), dtype=np.float64).reshape(last.shape)
            last = last - schedule(k) * slope
            if average and t >= average_start * max_iter:
                count += 1
                mean = last.copy() if mean is None else mean + (last - mean) / count
        before, t = value, t + 1
        x = last if mean is None else mean
        value, gradient = objective.both(x)
        quiet = quiet + 1 if abs(before - value) <= tol * max(abs(before), abs(value)) else 0
    status = Status.CONVERGED if status in (None, Status.STALLED) else status
    facts = {"schedule": schedule.name, "robbins_monro": schedule.robbins_monro, "verdict": schedule.verdict}
    extra = {**facts, "last": last, "averaged": mean is not None, "settled": quiet >= PATIENCE}
    result = run.finish(t, x, value, size(gradient), status, extra=extra, batch_size=batch_size, **facts)
    return _settled(result, abs(before - value), tol) if status is Status.CONVERGED and quiet >= PATIENCE else result


def _settled(result, change, tol):
    """The certificate of a run that ended because the objective no longer changes."""
    relative = change / abs(result.objective) if result.objective else change
    certificate = replace(
        result.certificate,
        kind="relative change",
        guarantee=f"the objective changed by {relative:.3g} relatively in the last cycle",
        value=relative,
        bound=tol,
        details=result.certificate.details | {"gradient_norm": result.residual},
    )
    return replace(result, certificate=certificate)


class _Batches:
    """Index batches of one cycle, reproducible from the seed."""

    def __init__(self, n_terms, batch_size, replacement, seed):
        self._n, self._size, self._replacement = int(n_terms), int(batch_size), replacement
        self._rng = np.random.default_rng(seed)

    def cycle(self):
        if self._replacement:
            for _ in range(-(-self._n // self._size)):
                yield self._rng.integers(self._n, size=self._size)
        else:
            order = self._rng.permutation(self._n)
            for start in range(0, self._n, self._size):
                yield order[start : start + self._size]
