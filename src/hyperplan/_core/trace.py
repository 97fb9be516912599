"""One protocol by which iterative work reports its steps: tables, progress bars and early stopping feed on it."""

from typing import NamedTuple


class Step(NamedTuple):
    """State after one iteration."""

    iteration: int
    objective: float
    residual: float  # what the stopping rule looks at: gap, gradient norm, change...


class Trace:
    """Records steps and passes them to observers; an observer that returns True asks to stop.

    Examples
    --------
    >>> from hyperplan._core.trace import Trace
    >>> trace = Trace(lambda step: step.objective < 1.5)
    >>> trace(1, 2.0, 0.1), trace(2, 1.0, 0.01)
    (False, True)
    >>> len(trace), trace.objectives
    (2, [2.0, 1.0])
    """

    def __init__(self, *observers):
        self.steps: list[Step] = []
        self._observers = observers

    def __call__(self, iteration, objective, residual=float("nan")) -> bool:
        step = Step(int(iteration), float(objective), float(residual))
        self.steps.append(step)
        stop = False
        for observer in self._observers:
            stop = bool(observer(step)) or stop
        return stop

    def __len__(self):
        return len(self.steps)

    @property
    def objectives(self) -> list[float]:
        return [step.objective for step in self.steps]

    @property
    def residuals(self) -> list[float]:
        return [step.residual for step in self.steps]
