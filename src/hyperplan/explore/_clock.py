"""The budget: how much of it is gone, and whether somebody wants to stop."""

from hyperplan._core.compiling import working_time


class Clock:
    """Counts seconds against a budget.

    Parameters
    ----------
    seconds : float
        The budget.
    spent : float, default=0.0
        What is gone already.
    ctrl_c : CtrlC, default=None
        Asked whether somebody pressed Ctrl-C: then the budget is over at once.
    """

    def __init__(self, seconds: float, spent: float = 0.0, ctrl_c=None):
        self.seconds, self._ctrl_c = seconds, ctrl_c
        self._began = working_time() - spent

    @property
    def used(self) -> float:
        """Seconds since the beginning."""
        return working_time() - self._began

    @property
    def is_stopped(self) -> bool:
        """Whether somebody pressed Ctrl-C."""
        return self._ctrl_c is not None and self._ctrl_c.is_noted

    def deadline(self, share: float) -> float:
        """When a share of the budget is used, as `working_time` counts."""
        return self._began + share * self.seconds

    def has(self, share: float, cost: float = 0.0) -> bool:
        """Whether so many seconds are left before a share of the budget is used."""
        return not self.is_stopped and self.used + cost < share * self.seconds
