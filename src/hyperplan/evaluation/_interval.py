"""What every interval of this package looks like."""

from typing import NamedTuple


class Interval(NamedTuple):
    """An estimate and the two ends of its interval.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        Ends of the interval.
    level : float
        How often intervals made in this way are meant to contain the truth.
    method : str
        How it was made.

    Examples
    --------
    >>> from hyperplan.evaluation import Interval
    >>> print(Interval(0.874, 0.851, 0.897, 0.95, "corrected_t"))
    0.874 [0.851, 0.897] (95 %, corrected t)
    """

    value: float
    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __str__(self):
        how = f", {self.method.replace('_', ' ')}" if self.method else ""
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] ({100 * self.level:g} %{how})"

    def __contains__(self, number):
        """Whether a number lies between the ends."""
        return bool(self.low <= number <= self.high)
