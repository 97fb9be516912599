"""5 x 2 cross-validation: is one learning algorithm better than another on data of this kind?

Five times the rows are cut into two halves; each half trains both algorithms and tests them on the other half.  With
p_ij the difference of the scores in half j of repetition i, and s_i^2 = (p_i1 - m_i)^2 + (p_i2 - m_i)^2::

    t = p_11 / sqrt(sum_i s_i^2 / 5),                  Student, 5 degrees of freedom   (Dietterich)
    F = sum_ij p_ij^2 / (2 sum_i s_i^2),               Fisher, 10 and 5                (Alpaydin)

The halves of a repetition share no training rows, which keeps the type I error acceptable; the price is that the
models learn from half of the rows.  t depends on which half comes first; F does not, and is the default.

References
----------
Dietterich (1998), Neural Computation 10.  Alpaydin (1999), Combined 5 x 2 cv F test, Neural Computation 11.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.evaluation._checks import check_choice
from hyperplan.evaluation._score_models import score_models


class FiveByTwo(NamedTuple):
    """Mean difference (first minus second), the statistic, the p-value, and the ten differences."""

    mean: float
    statistic: float
    p: float
    differences: np.ndarray

    def __str__(self):
        return f"first minus second: {self.mean:+.4g}, statistic {self.statistic:.3g}, p {self.p:.3g}"


def five_by_two_test(differences, *, test: str = "f") -> FiveByTwo:
    """five_by_two_test(differences, *, test="f") -> FiveByTwo(mean, statistic, p, differences)

    The test alone, from a table of differences with five rows (repetitions) and two columns (halves).

    Examples
    --------
    >>> from hyperplan.evaluation import five_by_two_test
    >>> print(five_by_two_test([[0.02, 0.03], [0.01, 0.04], [0.03, 0.02], [0.02, 0.02], [0.04, 0.01]]))
    first minus second: +0.024, statistic 3.4, p 0.0945
    """
    from scipy.special import fdtrc, stdtr

    check_choice("test", test, ("f", "t"))
    differences = np.asarray(differences, dtype=np.float64)
    if differences.shape != (5, 2) or not np.isfinite(differences).all():
        raise ValueError(f"differences must be 5 x 2 finite numbers, got shape {differences.shape}")
    mean = float(differences.mean())
    spread = float(np.sum((differences - differences.mean(axis=1, keepdims=True)) ** 2))
    top = differences[0, 0] / np.sqrt(1 / 5) if test == "t" else np.sum(differences**2) / 2
    bottom = np.sqrt(spread) if test == "t" else spread
    if bottom == 0:  # the same difference in both halves, five times
        statistic = float(np.copysign(np.inf, top)) if top else 0.0
    else:
        statistic = float(top / bottom)
    p = 2 * stdtr(5, -abs(statistic)) if test == "t" else fdtrc(10, 5, statistic)
    return FiveByTwo(mean, statistic, float(p), differences)


def five_by_two(first, second, X, y, *, test: str = "f", scoring=None, random_state=0, n_jobs=None) -> FiveByTwo:
    """five_by_two(first, second, X, y, *, test="f", scoring=None, random_state=0, n_jobs=None)
    -> FiveByTwo(mean, statistic, p, differences)

    Compare two learning algorithms by five repetitions of two-fold cross-validation.

    Parameters
    ----------
    first, second : estimators
    X, y : data
    test : {"f", "t"}, default="f"
        Alpaydin's combined F test or Dietterich's t test.
    scoring : str or callable, optional
        As in scikit-learn; larger is better.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import five_by_two
    >>> from hyperplan.linear_model import LinearRegression, Ridge
    >>> X, y = load_penguins(target="body_mass_g", return_X_y=True)
    >>> five_by_two(LinearRegression(), Ridge(alpha=1e4), X, y).p < 0.01
    True
    """
    check_choice("test", test, ("f", "t"))
    models = {"first": first, "second": second}
    scores = score_models(
        models, X, y, cv=2, n_repeats=5, scoring=scoring, random_state=random_state, n_jobs=n_jobs
    ).table
    return five_by_two_test((scores["first"] - scores["second"]).reshape(5, 2), test=test)
