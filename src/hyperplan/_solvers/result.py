"""What every solver of a Python function returns, and the bookkeeping they share.

A run stops when its residual (gradient norm, gradient mapping...) is at most ``tol * max(1, residual at the start)``,
after `max_iter` iterations, when nothing moves any more, when values stop being finite or explode, or when the
callback says so.  It never stops on the value of the objective, which need not be small at a minimum.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._core.trace import Step, Trace
from hyperplan._solvers.rates import Constants

EXPLOSION = 1e8  # an objective this many times above its start will not come back
MESSAGES = {
    Status.CONVERGED: "the residual reached the tolerance",
    Status.EXACT: "solved directly",
    Status.MAX_ITER: "max_iter iterations were not enough: raise max_iter, scale the variables or loosen tol",
    Status.STALLED: "no step changes the point at this precision",
    Status.DIVERGED: "the iterates diverge: the step is too large (take at most 1/L) or the objective is unbounded",
    Status.RANK_DEFICIENT: "converged; the Hessian is singular, the minimiser is one of many",
    Status.STOPPED: "the callback asked to stop",
}


@dataclass(frozen=True)
class OptimizeResult:
    """Outcome of a minimisation.

    Attributes
    ----------
    x : ndarray
        The point found.
    objective : float
        Objective at `x`, penalty included.
    residual : float
        What the stopping rule looks at, at `x`: 0 at a stationary point.
    status : Status
        How the run ended; `success` and `message` say it in words.
    n_iter, n_function, n_gradient : int
        Iterations and evaluations.
    certificate : Certificate
        The residual against its tolerance, with the worst-case iteration count of theory beside the observed one.
    trace : Trace
        Iteration, objective and residual of each step, from the start on.
    extra : dict
        What a particular method adds (the average of the iterates, the schedule's verdict...).
    """

    x: np.ndarray
    objective: float
    residual: float
    status: Status
    n_iter: int
    certificate: Certificate
    trace: Trace = field(repr=False)
    n_function: int = 0
    n_gradient: int = 0
    extra: dict = field(default_factory=dict, repr=False)

    @property
    def success(self) -> bool:
        """Whether the result is as good as asked."""
        return self.status.ok

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        return MESSAGES.get(self.status, self.status.name.lower())


class Objective:
    """A function and its gradient on arrays of one shape, with counters; ``grad=True`` means f returns both."""

    def __init__(self, f, grad, x0):
        self.x0 = np.array(x0, dtype=np.float64)
        if not np.isfinite(self.x0).all():
            raise ValueError("The starting point x0 contains NaN or infinity.")
        if not callable(f) or not (callable(grad) or grad is True):
            raise TypeError("f and grad must be functions (or grad=True when f returns both value and gradient).")
        self._f, self._grad = f, grad
        self.n_function = self.n_gradient = 0

    def value(self, x) -> float:
        """f(x) as a float; overflow gives inf without a warning."""
        self.n_function += 1
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._f(x)[0] if self._grad is True else self._f(x)
        value = np.asarray(value, dtype=np.float64)
        if value.size != 1:
            raise ValueError(f"f must return one number, got an array of shape {value.shape}.")
        return value.item()

    def gradient(self, x) -> np.ndarray:
        """The gradient in the shape of x."""
        self.n_gradient += 1
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = self._f(x)[1] if self._grad is True else self._grad(x)
        gradient = np.asarray(gradient, dtype=np.float64)
        if gradient.size != self.x0.size:
            raise ValueError(f"grad must return {self.x0.size} numbers as x has, got shape {gradient.shape}.")
        return gradient.reshape(self.x0.shape)

    def both(self, x):
        """Value and gradient; one call when f returns both."""
        if self._grad is not True:
            return self.value(x), self.gradient(x)
        self.n_function += 1
        self.n_gradient += 1
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = self._f(x)
        return float(np.asarray(value).item()), np.asarray(gradient, dtype=np.float64).reshape(self.x0.shape)


def size(values) -> float:
    """Largest absolute value (NaN if there is one)."""
    return float(np.abs(values).max(initial=0.0))


class Run:
    """Stopping rule, trace and secant estimates of the constants of one minimisation."""

    def __init__(self, objective, *, tol, max_iter, callback=None, constants=Constants(), confirm=None):  # noqa: B008
        if not (tol >= 0 and max_iter >= 0 and int(max_iter) == max_iter):
            raise ValueError(f"tol must be >= 0 and max_iter an integer >= 0, got {tol!r} and {max_iter!r}.")
        self.objective, self.tol, self.max_iter = objective, float(tol), int(max_iter)
        self.constants, self.callback, self.confirm = constants, callback, confirm
        self.threshold, self.first = math.nan, math.nan
        self.best_x, self.best_value = objective.x0, math.inf
        self.trace = Trace()
        self._previous: tuple | None = None
        self._last_x: np.ndarray | None = None
        self._largest, self._least = 0.0, math.inf

    def check(self, t, x, value, residual) -> Status | None:
        """Record iteration t; a status when the run is over, else None."""
        if t == 0:
            self.first, self.threshold = value, self.tol * max(1.0, residual)
        stop = self.trace(t, value, residual)
        if value < self.best_value:
            self.best_x, self.best_value = x.copy(), value
        if self.callback is not None:
            stop = bool(self.callback(x.copy(), Step(t, value, residual))) or stop
        status = self._verdict(t, x, value, residual, stop)
        self._last_x = x.copy()
        return status

    def _verdict(self, t, x, value, residual, stop):
        if not (math.isfinite(value) and math.isfinite(residual)):
            return Status.DIVERGED
        if value - self.first > EXPLOSION * (1.0 + abs(self.first)):
            return Status.DIVERGED
        if residual <= self.threshold:
            if self.confirm is None or residual == 0.0 or self.confirm(x):
                return Status.CONVERGED
            self.threshold *= 0.1  # the caller's own criterion wants more
        if stop:
            return Status.STOPPED
        if t >= self.max_iter:
            return Status.MAX_ITER
        return Status.STALLED if self._last_x is not None and np.array_equal(x, self._last_x) else None

    def observe(self, x, gradient):
        """Learn L and mu from the change of the gradient since the last call."""
        if self._previous is not None:
            step, change = (x - self._previous[0]).ravel(), (gradient - self._previous[1]).ravel()
            square = float(step @ step)
            if square > 0.0 and np.isfinite(change).all():
                self._largest = max(self._largest, math.sqrt(float(change @ change) / square))
                self._least = min(self._least, float(step @ change) / square)
        self._previous = (x.copy(), gradient.copy())

    def finish(
        self, t, x, value, residual, status, *, bound=None, rate="", kind="gradient norm", extra=None, **details
    ):
        """The result; `bound(constants, accuracy)` is the theoretical number of iterations of the method."""
        constants = self._completed(x)
        accuracy = details.pop("accuracy", None)
        if accuracy is None:
            accuracy = _vouched_gap(residual * math.sqrt(max(x.size, 1)), constants)
        details = {"iterations": t, "tolerance": self.tol, **details}
        if bound is not None and (iterations := bound(constants, accuracy)) is not None:
            details |= {
                "accuracy": accuracy,
                "iterations_to_accuracy": self._first_within(value, accuracy),
                "iteration_bound": iterations,
                "rate": rate,
            }
        details |= {name: v for name, v in constants._asdict().items() if v is not None and v != ()}
        certificate = Certificate(
            kind=kind,
            guarantee=f"the {kind} at the returned point is {residual:.3g}",
            value=residual,
            bound=self.threshold,
            assumption="the objective is convex; otherwise the point is stationary, maybe a saddle or a maximum",
            reference="Nesterov (2018), Lectures on Convex Optimization, chapter 2",
            details=details,
        )
        counters = {"n_function": self.objective.n_function, "n_gradient": self.objective.n_gradient}
        return OptimizeResult(x, value, residual, status, t, certificate, self.trace, **counters, extra=extra or {})

    def _first_within(self, value, accuracy):
        """First iteration whose objective is within `accuracy` of the final one: never above a true bound."""
        return next((step.iteration for step in self.trace.steps if step.objective <= value + accuracy), None)

    def _completed(self, x):
        """The constants given by the caller, the others as measured along the run."""
        found = {
            "smoothness": self._largest if self._largest > 0.0 else None,
            "strong_convexity": self._least if 0.0 < self._least < math.inf else None,
            "radius": float(np.linalg.norm(x - self.objective.x0)) if np.isfinite(x).all() else None,
        }
        missing = {k: v for k, v in found.items() if getattr(self.constants, k) is None and v is not None}
        return self.constants._replace(**missing, estimated=tuple(missing))


def _vouched_gap(gradient_norm, constants):
    """Upper bound of f(x) - f* for convex f: |g|^2 / (2 mu), or |g| R."""
    bounds = []
    if constants.strong_convexity:
        bounds.append(gradient_norm**2 / (2.0 * constants.strong_convexity))
    if constants.radius is not None:
        bounds.append(gradient_norm * constants.radius)
    return min(bounds) if bounds else None


def given_constants(smoothness=None, strong_convexity=None, radius=None, lipschitz=None) -> Constants:
    """Constants checked: positive and finite where given (strong convexity may be 0)."""
    for name, value in {"smoothness": smoothness, "radius": radius, "lipschitz": lipschitz}.items():
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}.")
    if strong_convexity is not None and not (0 <= strong_convexity < math.inf):
        raise ValueError(f"strong_convexity must be a finite number >= 0, got {strong_convexity!r}.")
    values = (smoothness, strong_convexity, radius, lipschitz)
    smoothness, strong_convexity, radius, lipschitz = (None if v is None else float(v) for v in values)
    return Constants(smoothness, strong_convexity, radius, lipschitz)
