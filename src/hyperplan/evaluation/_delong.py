"""DeLong's test: intervals and differences of areas under ROC curves on one test set, without resampling.

The area is the share of pairs (positive, negative) in the right order, ties counting half.  Its variance follows from
how each positive and each negative fares on average: with V10_i the share of negatives below positive i and V01_j the
share of positives above negative j::

    cov(AUC_a, AUC_b) = cov_i(V10_a, V10_b) / n_positive + cov_j(V01_a, V01_b) / n_negative

The shares come from ranks (Sun and Xu), in O(n log n).

References
----------
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44.  Sun, Xu (2014), IEEE Signal Processing Letters 21.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length
from hyperplan.evaluation._checks import check_labels, check_level
from hyperplan.evaluation._interval import Interval


class DeLong(NamedTuple):
    """Two areas, their difference (first minus second) with its interval, and the test that it is zero."""

    first: Interval
    second: Interval
    difference: float
    low: float
    high: float
    z: float
    p: float

    def __str__(self):
        ends = f"[{self.low:+.4g}, {self.high:+.4g}]"
        return f"{self.first.value:.4g} - {self.second.value:.4g} = {self.difference:+.4g} {ends}, p {self.p:.3g}"


def delong(y_true, first, second, *, level: float = 0.95) -> DeLong:
    """delong(y_true, first, second, *, level=0.95) -> DeLong(first, second, difference, low, high, z, p)

    Compare the ROC areas of two scores on the same rows.

    Parameters
    ----------
    y_true : array with two different labels
        The larger label is the positive one.
    first, second : arrays
        Scores, larger for the positive class.
    level : float, default=0.95

    Examples
    --------
    >>> from hyperplan.evaluation import delong
    >>> print(delong([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.3, 0.5, 0.35, 0.8], [0.3, 0.2, 0.6, 0.5, 0.1, 0.7]))
    0.8889 - 0.5556 = +0.3333 [-0.2001, +0.8668], p 0.221
    """
    from scipy.special import ndtr, ndtri

    check_level(level)
    areas, covariance = _areas(y_true, [first, second])
    z_level = float(ndtri(0.5 + level / 2))
    ends = [
        Interval(float(area), *_clipped(area, z_level * np.sqrt(variance)), level, "delong")
        for area, variance in zip(areas, np.diag(covariance))
    ]
    difference = float(areas[0] - areas[1])
    error = float(np.sqrt(max(0.0, covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])))
    if error > 1e-12:
        z = difference / error
    else:
        z = 0.0 if abs(difference) < 1e-12 else float(np.copysign(np.inf, difference))
    half = z_level * error
    return DeLong(*ends, difference, difference - half, difference + half, z, float(2 * ndtr(-abs(z))))


def delong_interval(y_true, scores, *, level: float = 0.95) -> Interval:
    """delong_interval(y_true, scores, *, level=0.95) -> Interval(value, low, high, level, method)

    Interval of the area under the ROC curve of one score; see `delong`.

    Examples
    --------
    >>> from hyperplan.evaluation import delong_interval
    >>> print(delong_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.3, 0.5, 0.35, 0.8]))
    0.8889 [0.5809, 1] (95 %, delong)
    """
    from scipy.special import ndtri

    check_level(level)
    areas, covariance = _areas(y_true, [scores])
    half = float(ndtri(0.5 + level / 2) * np.sqrt(covariance[0, 0]))
    return Interval(float(areas[0]), *_clipped(areas[0], half), level, "delong")


def _clipped(area, half):
    return max(0.0, float(area - half)), min(1.0, float(area + half))


def _areas(y_true, scores):
    """Areas and their covariance matrix."""
    check_consistent_length(y_true, *scores)
    y_true = check_labels(y_true, "y_true")
    labels = np.unique(y_true)
    if labels.size != 2:
        raise ValueError(f"ROC curves need two classes, y_true has {labels.size}")
    positive = y_true == labels[1]
    m, n = int(positive.sum()), int((~positive).sum())
    if m < 2 or n < 2:
        raise ValueError(f"a variance needs two rows of each class, got {m} positive and {n} negative")
    above, below = np.empty((len(scores), m)), np.empty((len(scores), n))
    for k, score in enumerate(scores):
        score = check_labels(np.asarray(score, dtype=np.float64), "scores")
        if np.isnan(score).any():
            raise ValueError(f"the score of row {np.flatnonzero(np.isnan(score))[0]} is not a number")
        ranks = _midranks(score)
        above[k] = (ranks[positive] - _midranks(score[positive])) / n
        below[k] = 1 - (ranks[~positive] - _midranks(score[~positive])) / m
    return above.mean(axis=1), np.atleast_2d(np.cov(above)) / m + np.atleast_2d(np.cov(below)) / n


def _midranks(values):
    """1-based ranks; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
