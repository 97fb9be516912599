"""McNemar's test: do two classifiers make the same share of errors on one test set?

Only rows on which exactly one of them is right tell: b rows where the first is right, c where the second is.  If both
are equally good, b is Binomial(b + c, 1/2).

| method | p-value |
|---|---|
| exact | two-sided binomial test |
| mid_p | exact minus half the probability of what was seen: less conservative |
| corrected | chi-squared with one degree of freedom of (abs(b - c) - 1)^2 / (b + c) (Edwards) |
| asymptotic | chi-squared with one degree of freedom of (b - c)^2 / (b + c) |

References
----------
McNemar (1947), Psychometrika 12.  Edwards (1948), Psychometrika 13.  Dietterich (1998), Approximate statistical tests
for comparing supervised classification learning algorithms, Neural Computation 10.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length
from hyperplan.evaluation._checks import check_choice, check_labels


class McNemar(NamedTuple):
    """Rows that only one of the two classifiers got right, the statistic and the p-value."""

    only_first: int
    only_second: int
    statistic: float
    p: float

    def __str__(self):
        return f"only the first right: {self.only_first} rows, only the second: {self.only_second} rows, p {self.p:.3g}"


def mcnemar(y_true, first, second, *, method: str = "exact") -> McNemar:
    """mcnemar(y_true, first, second, *, method="exact") -> McNemar(only_first, only_second, statistic, p)

    Test that two classifiers have the same error rate, from their answers to the same rows.

    Parameters
    ----------
    y_true, first, second : arrays of labels
        The truth and the two predictions.
    method : {"exact", "mid_p", "corrected", "asymptotic"}, default="exact"
        The statistic is min(b, c) for the first two.

    Examples
    --------
    >>> from hyperplan.evaluation import mcnemar
    >>> print(mcnemar([1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1, 0]))
    only the first right: 5 rows, only the second: 1 rows, p 0.219
    """
    from scipy.special import bdtr, chdtrc

    check_choice("method", method, ("exact", "mid_p", "corrected", "asymptotic"))
    check_consistent_length(y_true, first, second)
    truth, *answers = (check_labels(labels) for labels in (y_true, first, second))
    right, other = (answer == truth for answer in answers)
    b, c = int(np.sum(right & ~other)), int(np.sum(other & ~right))
    n, fewer = b + c, min(b, c)
    if method in ("exact", "mid_p"):
        p = min(1.0, 2 * float(bdtr(fewer, n, 0.5))) if n else 1.0
        if method == "mid_p" and n:
            p = 1.0 if b == c else float(bdtr(fewer, n, 0.5) + bdtr(fewer - 1, n, 0.5) if fewer else 0.5**n)
        return McNemar(b, c, float(fewer), p)
    gap = max(abs(b - c) - 1, 0) if method == "corrected" else abs(b - c)
    statistic = gap**2 / n if n else 0.0
    return McNemar(b, c, float(statistic), float(chdtrc(1, statistic)))
