"""Precision-recall-gain: the precision-recall curve with a baseline that is the same for every problem.

Precision and recall are at least the share pi of positives for any sensible classifier, and they combine harmonically.
On the gain scale ``(v - pi) / ((1 - pi) v)`` always answering "positive" has precision gain 0 and recall gain 1,
whatever pi; the mean of both gains orders classifiers like F1; and straight lines between points are attainable, so
that the area under the curve means something (Flach and Kull, 2015).  In counts the gains are

    precG = 1 - pi / (1 - pi) * FP / TP,    recG = 1 - pi / (1 - pi) * FN / TP.
"""

import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning
from hyperplan.metrics._arguments import Array, ArrayOrNone, Label, checked
from hyperplan.metrics._roc import auc
from hyperplan.metrics._thresholds import counts_at_thresholds


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone)
def precision_recall_gain_curve(y_true, y_score, *, pos_label=None, sample_weight=None):
    """Precision gain and recall gain at every threshold whose recall is at least the share of positives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores: the larger, the more positive.
    pos_label : int, float, bool or str, default=None
        The positive label; 1 when None and the labels are {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    precision_gain, recall_gain : ndarrays of shape (n_points,)
        By increasing recall gain, from 0 to 1.
    thresholds : ndarray of shape (n_points,)
        Decreasing.  The first point (recall gain 0) usually lies between two thresholds: false and true positives are
        interpolated there, and its threshold is NaN.

    Examples
    --------
    >>> from hyperplan.metrics import precision_recall_gain_curve
    >>> precision_gain, recall_gain, _ = precision_recall_gain_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision_gain, recall_gain
    (array([1. , 0. , 0.5, 0. ]), array([0., 0., 1., 1.]))
    """
    fps, tps, thresholds = counts_at_thresholds(y_true, y_score, pos_label, sample_weight)
    negatives, positives = fps[-1], tps[-1]
    if negatives <= 0 or positives <= 0:
        warnings.warn(
            "Only one class is present in y_true. Precision and recall gain are not defined in that case.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return np.full(fps.shape, np.nan), np.full(fps.shape, np.nan), thresholds
    odds = positives / negatives  # pi / (1 - pi)
    fps, tps, thresholds = _from_least_recall(fps, tps, thresholds, positives**2 / (positives + negatives))
    recall_gain = np.maximum(1 - odds * (positives - tps) / tps, 0.0)
    return 1 - odds * fps / tps, recall_gain, thresholds


def _from_least_recall(fps, tps, thresholds, least):
    """The points with at least `least` true positives, after the point with just that many on the line before them."""
    first = int(np.searchsorted(tps, least))
    if tps[first] == least:
        return fps[first:], tps[first:], thresholds[first:]
    before = (fps[first - 1], tps[first - 1]) if first else (0.0, 0.0)
    part = (least - before[1]) / (tps[first] - before[1])
    crossing = before[0] + part * (fps[first] - before[0])
    return (
        np.append(crossing, fps[first:]),
        np.append(least, tps[first:]),
        np.append(np.nan, thresholds[first:].astype(np.float64)),
    )


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone)
def auprg_score(y_true, y_score, *, pos_label=None, sample_weight=None):
    """Area under the precision-recall-gain curve: 1 perfect, 0 for always answering "positive".

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `precision_recall_gain_curve`.

    Returns
    -------
    float
        Trapezoids for recall gains in [0, 1]; negative for scores worse than the baseline; NaN, with a warning, when
        only one class is present.

    References
    ----------
    Flach, Kull (2015), Precision-Recall-Gain curves: PR analysis done right.

    Examples
    --------
    >>> from hyperplan.metrics import auprg_score
    >>> auprg_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.25
    """
    precision_gain, recall_gain, _ = precision_recall_gain_curve(
        y_true, y_score, pos_label=pos_label, sample_weight=sample_weight
    )
    return float("nan") if np.isnan(recall_gain[0]) else auc(recall_gain, precision_gain)
