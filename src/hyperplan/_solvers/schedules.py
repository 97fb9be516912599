"""Step-size schedules and the Robbins-Monro conditions: sum of steps infinite, sum of their squares finite.

Under these two conditions *stochastic* gradient steps converge (to the minimum of a convex function, to a stationary
point otherwise).  Gradient descent with exact gradients does not need them: a constant step below 2/L is enough.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """A step size for each iteration t = 0, 1, 2, ... and whether it meets the Robbins-Monro conditions.

    Attributes
    ----------
    name : str
        The formula.
    rule : callable
        ``rule(t)``, a positive number.
    sum_diverges, squares_converge : bool or None
        The two conditions; None when unknown (a function of the user).

    Examples
    --------
    >>> from hyperplan.optimize import inverse_time
    >>> schedule = inverse_time(0.5)
    >>> schedule(0), schedule(4), schedule.robbins_monro
    (0.5, 0.1, True)
    """

    name: str
    rule: Callable
    sum_diverges: bool | None = None
    squares_converge: bool | None = None

    def __call__(self, t) -> float:
        return self.rule(t)

    @property
    def robbins_monro(self) -> bool | None:
        """Whether both conditions hold; None when unknown."""
        if self.sum_diverges is None or self.squares_converge is None:
            return None
        return self.sum_diverges and self.squares_converge

    @property
    def verdict(self) -> str:
        """One sentence on what the schedule guarantees for stochastic gradients."""
        if self.robbins_monro is None:
            return f"{self.name}: unknown whether the Robbins-Monro conditions hold"
        if self.robbins_monro:
            return f"{self.name}: the Robbins-Monro conditions hold"
        if not self.sum_diverges:
            return f"{self.name}: the steps sum to a finite length, the iterates may stop short of the optimum"
        return f"{self.name}: the squares of the steps sum to infinity, the iterates keep a noise of the step's size"


def _positive(**values):
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}.")


def constant(step) -> Schedule:
    """The same step at each iteration."""
    _positive(step=step)
    return Schedule(f"{step:g}", lambda t: step, True, False)


def inverse_time(gamma, decay=1.0) -> Schedule:
    """``gamma / (1 + decay t)``."""
    _positive(gamma=gamma, decay=decay)
    return Schedule(f"{gamma:g} / (1 + {decay:g} t)", lambda t: gamma / (1.0 + decay * t), True, True)


def power_law(gamma, power=0.5) -> Schedule:
    """``gamma / (1 + t)^power``: Robbins-Monro for 1/2 < power <= 1."""
    _positive(gamma=gamma, power=power)
    return Schedule(
        f"{gamma:g} / (1 + t)^{power:g}", lambda t: gamma / (1.0 + t) ** power, bool(power <= 1.0), bool(power > 0.5)
    )


def exponential_decay(gamma, factor=0.99) -> Schedule:
    """``gamma factor^t`` with 0 < factor < 1: the steps sum to a finite length."""
    _positive(gamma=gamma, factor=factor)
    if factor >= 1.0:
        raise ValueError(f"factor must be below 1, got {factor!r}.")
    return Schedule(f"{gamma:g} * {factor:g}^t", lambda t: gamma * factor**t, False, True)


def as_schedule(step) -> Schedule:
    """A number becomes a constant schedule, a function of t a schedule of unknown validity."""
    if isinstance(step, Schedule):
        return step
    if callable(step):
        return Schedule("a function of t", step)
    return constant(float(step))
