"""Repeated K-fold cross-validation and the interval that goes with it."""

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """A mean score and the two ends of its confidence interval."""

    mean: float
    low: float
    high: float


def repeated_folds(strata: np.ndarray, n_folds: int, n_repeats: int, seed: int = 0) -> list[np.ndarray]:
    """Test indices of each fold of each repetition; rows of one stratum are dealt evenly over the folds.

    `strata` holds an integer per row: the class, or the same value everywhere when there are no classes.
    """
    rng = np.random.default_rng(seed)
    tests = []
    for _ in range(n_repeats):
        shuffled = rng.permutation(strata.shape[0])
        order = shuffled[np.argsort(strata[shuffled], kind="stable")]  # stratum by stratum, each in random order
        tests += [np.sort(order[fold::n_folds]) for fold in range(n_folds)]
    return tests


def corrected_interval(scores, test_share: float, level: float = 0.95) -> Interval:
    """Corrected resampled t interval of a mean score over J overlapping train/test splits.

    The J scores share training rows, so that the usual ``s^2 / J`` is far too small a variance for their mean.
    Nadeau and Bengio (2003, Machine Learning 52) replace it by ``s^2 (1/J + n_test/n_train)``::

        mean +- t_{J-1, (1+level)/2} * s * sqrt(1/J + n_test/n_train)

    This is a heuristic: no unbiased estimator of that variance exists (Bengio and Grandvalet, 2004).

    Parameters
    ----------
    scores : array of J numbers, J >= 2
    test_share : float
        n_test / n_train of one split; 1/4 with five folds.
    level : float
        Confidence level.
    """
    from scipy.special import stdtrit  # Student's quantile, without the weight of scipy.stats

    scores = np.asarray(scores, dtype=np.float64)
    count, mean = scores.size, float(scores.mean())
    half = stdtrit(count - 1, 0.5 + level / 2) * scores.std(ddof=1) * np.sqrt(1 / count + test_share)
    return Interval(mean, mean - float(half), mean + float(half))
