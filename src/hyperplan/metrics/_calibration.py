"""Calibration: among the rows that were given 30 %, do 30 % come true?

Probabilities are put into bins, of equal width or of equal count, and the mean probability of a bin is compared with
the share of positives in it.
"""

import numpy as np

from hyperplan._base.targets import assert_all_finite, check_array, check_consistent_length, column_or_1d
from hyperplan.metrics._arguments import Array, ArrayOrNone, Choice, Int, Label, checked
from hyperplan.metrics._labels import codes_among, read_labels
from hyperplan.metrics._targets import any_weight, positive_label


@checked(y_true=Array, y_prob=Array, pos_label=Label, n_bins=Int(ge=1), strategy=Choice("uniform", "quantile"))
def calibration_curve(y_true, y_prob, *, pos_label=None, n_bins=5, strategy="uniform"):
    """Share of positives and mean probability of each bin that is not empty.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of two classes.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    pos_label : int, float, bool or str, default=None
        The positive label; 1 when None and the labels are {0, 1} or {-1, 1}.
    n_bins : int, default=5
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal counts.

    Returns
    -------
    prob_true, prob_pred : ndarrays of shape (n_bins,) or smaller
        Share of positives and mean probability.

    Examples
    --------
    >>> from hyperplan.metrics import calibration_curve
    >>> prob_true, prob_pred = calibration_curve([0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9], n_bins=2)
    >>> prob_true, prob_pred
    (array([0., 1.]), array([0.2, 0.8]))
    """
    positive, probability = _check_binary(y_true, y_prob, pos_label)
    shares, means, _ = _bins(positive, probability, None, n_bins, strategy)
    return shares, means


def _check_binary(y_true, y_prob, pos_label):
    y_true, y_prob = column_or_1d(y_true), column_or_1d(y_prob)
    check_consistent_length(y_true, y_prob)
    column = read_labels(y_true, "y_true")
    labels = np.unique(y_true) if isinstance(column, str) else column.distinct
    pos_label = positive_label(pos_label, labels)
    _check_range(y_prob)
    if len(labels) > 2:
        raise ValueError(f"Only binary classification is supported. Provided labels {labels}.")
    return codes_among(column, [pos_label]) == 0, y_prob


def _check_range(probability):
    assert_all_finite(probability)
    if probability.min() < 0 or probability.max() > 1:
        raise ValueError("y_prob has values outside [0, 1].")


def _bins(hit, probability, weight, n_bins, strategy):
    """Share of hits, mean probability and weight of each bin that has some weight."""
    if strategy == "quantile":
        edges = np.percentile(probability, np.linspace(0, 1, n_bins + 1) * 100)
    else:
        edges = np.linspace(0.0, 1.0, n_bins + 1)
    places = np.searchsorted(edges[1:-1], probability)
    weight = np.ones(places.size) if weight is None else weight
    total, means, shares = (
        np.bincount(places, weights=values, minlength=n_bins) for values in (weight, weight * probability, weight * hit)
    )
    filled = total != 0
    return shares[filled] / total[filled], means[filled] / total[filled], total[filled]


@checked(
    y_true=Array,
    y_prob=Array,
    pos_label=Label,
    labels=ArrayOrNone,
    n_bins=Int(ge=1),
    strategy=Choice("uniform", "quantile"),
    norm=Choice("l1", "l2", "max"),
    sample_weight=ArrayOrNone,
)
def expected_calibration_error(
    y_true,
    y_prob,
    *,
    pos_label=None,
    labels=None,
    n_bins=15,
    strategy="uniform",
    norm="l1",
    sample_weight=None,
):
    """Mean over the bins, by weight, of the distance between share of positives and mean probability.

    Of more than two classes the probability is that of the predicted class, and a hit is a right prediction.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive class, or of all classes in the order of the sorted labels.
    pos_label : int, float, bool or str, default=None
        The positive label, when `y_prob` has one column.
    labels : array-like, default=None
        All labels, when `y_true` may lack some and `y_prob` has several columns.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal counts.
    norm : {"l1", "l2", "max"}, default="l1"
        Mean distance, root of the mean squared distance, or the largest (maximum calibration error).
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float

    References
    ----------
    Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning.
    Guo, Pleiss, Sun, Weinberger (2017), On calibration of modern neural networks.

    Examples
    --------
    >>> from hyperplan.metrics import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9], n_bins=2), 6)
    0.2
    """
    y_prob = check_array(y_prob, ensure_2d=False)
    if y_prob.ndim == 2 and y_prob.shape[1] > 1:
        hit, probability = _predicted_class(y_true, y_prob, labels)
    else:
        hit, probability = _check_binary(y_true, y_prob, pos_label)
    weight = any_weight(sample_weight, probability.shape[0])
    shares, means, total = _bins(hit, probability, weight, n_bins, strategy)
    gaps = np.abs(shares - means)
    if norm == "max":
        return float(gaps.max())
    power = 1 if norm == "l1" else 2
    return float(np.average(gaps**power, weights=total) ** (1 / power))


def _predicted_class(y_true, y_prob, labels):
    """Whether the most probable class is the true one, and its probability."""
    check_consistent_length(y_true, y_prob)
    _check_range(y_prob)
    column = read_labels(y_true, "y_true")
    if isinstance(column, str):
        raise ValueError(f"y_true is {column}, but one label per row is needed")
    classes = column.distinct if labels is None else np.unique(labels)
    if classes.shape[0] != y_prob.shape[1]:
        raise ValueError(
            f"y_prob has {y_prob.shape[1]} columns for {classes.shape[0]} classes: pass all of them as labels"
        )
    best = np.argmax(y_prob, axis=1)
    return best == codes_among(column, classes), y_prob[np.arange(best.size), best]
