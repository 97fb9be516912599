"""p-values of many tests, adjusted so that a true "no difference" is seldom called a difference.

| method | what is kept below alpha | adjusted value of the i-th smallest of m |
|---|---|---|
| bonferroni | chance of any false rejection | m p_(i) |
| holm | the same, rejecting at least as much | largest over j <= i of (m - j + 1) p_(j) |
| benjamini_hochberg | expected share of false ones among the rejected | smallest over j >= i of m p_(j) / j |

Benjamini and Hochberg assume independent (or positively dependent) tests; the other two assume nothing.

References
----------
Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
Benjamini, Hochberg (1995), Controlling the false discovery rate, JRSS B 57.
"""

import numpy as np

from hyperplan.evaluation._checks import check_choice

CORRECTIONS = ("holm", "bonferroni", "benjamini_hochberg", "none")


def adjust_p_values(p_values, method: str = "holm") -> np.ndarray:
    """adjust_p_values(p_values, method="holm") -> array

    Adjusted p-values, to be compared with the level that a single test would use.

    Parameters
    ----------
    p_values : array of numbers in [0, 1]
    method : {"holm", "bonferroni", "benjamini_hochberg", "none"}, default="holm"

    Examples
    --------
    >>> from hyperplan.evaluation import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("method", method, CORRECTIONS)
    p_values = np.asarray(p_values, dtype=np.float64)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError("p_values must be a list of numbers between 0 and 1")
    m = p_values.size
    order = np.argsort(p_values, kind="stable")
    ranked, rank = p_values[order], np.arange(1, m + 1)
    if method == "bonferroni":
        ranked = m * ranked
    elif method == "holm":
        ranked = np.maximum.accumulate((m - rank + 1) * ranked)
    elif method == "benjamini_hochberg":
        ranked = np.minimum.accumulate((m * ranked / rank)[::-1])[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(ranked, 1.0)
    return adjusted
