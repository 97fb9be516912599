"""Corrected resampled t: what can be said of a mean score over train/test splits that share training rows.

With J scores of mean m and standard deviation s::

    m +- t_{J-1, (1+level)/2} * s * sqrt(1/J + n_test/n_train)

The J training parts overlap, so that the usual variance s^2/J of the mean is far too small.  Nadeau and Bengio add the
correlation that the overlap is expected to cause.  It is a heuristic: no unbiased estimator of the variance of
cross-validation exists, whatever the number of folds (Bengio and Grandvalet 2004); that theorem is about the
variance, and says nothing about the best number of folds.

References
----------
Nadeau, Bengio (2003), Inference for the generalization error, Machine Learning 52.
Bengio, Grandvalet (2004), No unbiased estimator of the variance of K-fold cross-validation, JMLR 5.
"""

import numpy as np

from hyperplan.evaluation._checks import check_level, check_scores, check_share
from hyperplan.evaluation._interval import Interval


def corrected_standard_error(scores, test_share: float) -> float:
    """corrected_standard_error(scores, test_share) -> float

    Standard error ``s * sqrt(1/J + test_share)`` of the mean of J scores over splits that share training rows.

    Examples
    --------
    >>> from hyperplan.evaluation import corrected_standard_error
    >>> round(corrected_standard_error([0.7, 0.8, 0.9, 1.0], 1 / 3), 4)
    0.0986
    """
    scores = check_scores(scores)
    return float(scores.std(ddof=1) * np.sqrt(1 / scores.size + check_share(test_share)))


def corrected_t_interval(scores, test_share: float, *, level: float = 0.95) -> Interval:
    """corrected_t_interval(scores, test_share, *, level=0.95) -> Interval(value, low, high, level, method)

    Interval of the mean score of a model over overlapping train/test splits (repeated K-fold, shuffled splits).

    Parameters
    ----------
    scores : array of J numbers, J >= 2
        One per split.
    test_share : float
        n_test / n_train of one split: 1/4 with five folds, however often they are repeated.  0 gives Student's
        interval, which is right only for independent scores.
    level : float, default=0.95
        Confidence level.

    Examples
    --------
    >>> from hyperplan.evaluation import corrected_t_interval
    >>> print(corrected_t_interval([0.7, 0.8, 0.9, 1.0], 1 / 3))
    0.85 [0.5362, 1.164] (95 %, corrected t)
    """
    from scipy.special import stdtrit  # Student's quantile, without the weight of scipy.stats

    scores = check_scores(scores)
    mean = float(scores.mean())
    half = float(stdtrit(scores.size - 1, 0.5 + check_level(level) / 2)) * corrected_standard_error(scores, test_share)
    return Interval(mean, mean - half, mean + half, level, "corrected_t")


def corrected_t_test(differences, test_share: float) -> tuple[float, float]:
    """corrected_t_test(differences, test_share) -> (t, p)

    Two-sided test that the mean of paired differences over splits is zero.

    Differences that are all zero give t = 0, p = 1; differences that are all equal and not zero give p = 0.

    Examples
    --------
    >>> from hyperplan.evaluation import corrected_t_test
    >>> t, p = corrected_t_test([0.02, 0.01, 0.03, 0.02, 0.01], 0.25)
    >>> round(t, 3), round(p, 3)
    (3.207, 0.033)
    """
    from scipy.special import stdtr

    differences = check_scores(differences)
    mean, error = float(differences.mean()), corrected_standard_error(differences, test_share)
    if mean == 0:
        return 0.0, 1.0
    if error == 0:
        return float(np.copysign(np.inf, mean)), 0.0
    return mean / error, float(2 * stdtr(differences.size - 1, -abs(mean / error)))
