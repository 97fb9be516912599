"""Intervals of a share: the accuracy of a fixed model on n independent test rows.

With k right answers of n:

- "exact" (Clopper and Pearson): the shares that a two-sided binomial test would not reject; covers at least `level`::

      low = Beta quantile((1-level)/2; k, n-k+1),   high = Beta quantile((1+level)/2; k+1, n-k)

- "wilson": the shares p with ``|k/n - p| <= z sqrt(p (1-p) / n)``; shorter, covers `level` on average over p.

References
----------
Clopper, Pearson (1934), Biometrika 26.  Wilson (1927), JASA 22.  Brown, Cai, DasGupta (2001), Interval estimation for a
binomial proportion, Statistical Science 16.
"""

import numpy as np

from hyperplan.evaluation._checks import check_choice, check_level
from hyperplan.evaluation._interval import Interval


def binomial_interval(successes, n, *, method: str = "exact", level: float = 0.95) -> Interval:
    """binomial_interval(successes, n, *, method="exact", level=0.95) -> Interval(value, low, high, level, method)

    Interval of the share of successes among n independent trials, for example of the accuracy on a test set.

    Parameters
    ----------
    successes, n : int
        How many of how many; ``0 <= successes <= n``, ``n >= 1``.
    method : {"exact", "wilson"}, default="exact"
    level : float, default=0.95

    Examples
    --------
    >>> from hyperplan.evaluation import binomial_interval
    >>> print(binomial_interval(90, 100))
    0.9 [0.8238, 0.951] (95 %, exact)
    """
    from scipy.special import betaincinv, ndtri

    check_choice("method", method, ("exact", "wilson"))
    check_level(level)
    whole = all(np.isfinite(number) and int(number) == number for number in (successes, n))
    if not whole or not 0 <= successes <= n or n < 1:
        raise ValueError(
            f"successes and n must be whole numbers with 0 <= successes <= n, n >= 1; got {successes}, {n}"
        )
    k, n = int(successes), int(n)
    tail = (1 - level) / 2
    if method == "exact":
        low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
        high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
        return Interval(k / n, low, high, level, "exact")
    z2 = float(ndtri(1 - tail)) ** 2
    centre = (k + z2 / 2) / (n + z2)
    half = np.sqrt(z2) / (n + z2) * np.sqrt(k * (n - k) / n + z2 / 4)
    low, high = (0.0 if k == 0 else centre - half), (1.0 if k == n else centre + half)  # exact ends, not rounded ones
    return Interval(k / n, float(low), float(high), level, "wilson")
