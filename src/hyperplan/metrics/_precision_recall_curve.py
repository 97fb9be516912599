"""Precision-recall curve and average precision.

Recall is on the first axis, precision on the second; a random score gives a horizontal line at the share of positives.
Straight lines between points of this curve are optimistic: between two thresholds TP and FP grow together, and
precision is a ratio of them (Davis and Goadrich, 2006).  `average_precision_score` therefore adds up steps, and
`interpolated_precision` gives the true points in between.
"""

import warnings

import numpy as np

from hyperplan._base.targets import column_or_1d
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Bool, Label, checked
from hyperplan.metrics._averaging import BinaryAverage, average_binary_score
from hyperplan.metrics._labels import CHUNK, codes_among, read_labels
from hyperplan.metrics._roc import inner_points
from hyperplan.metrics._thresholds import counts_at_thresholds


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone, drop_intermediate=Bool)
def precision_recall_curve(y_true, y_score, *, pos_label=None, sample_weight=None, drop_intermediate=False):
    """Precision and recall at every threshold.

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
    drop_intermediate : bool, default=False
        Leave out points between two others of the same number of true positives.

    Returns
    -------
    precision, recall : ndarrays of shape (n_thresholds + 1,)
        The last point is (recall 0, precision 1) and has no threshold.
    thresholds : ndarray of shape (n_thresholds,)
        Increasing.

    Examples
    --------
    >>> from hyperplan.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall, thresholds
    (array([1. , 1. , 0.5, 0.5, 0. ]), array([0.1 , 0.35, 0.4 , 0.8 ]))
    """
    fps, tps, thresholds = counts_at_thresholds(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and fps.shape[0] > 2:
        keep = inner_points(tps)
        fps, tps, thresholds = fps[keep], tps[keep], thresholds[keep]
    return *_precision_and_recall(fps, tps), thresholds[::-1]


def _precision_and_recall(fps, tps):
    """Precision (0 where nothing is predicted) and recall, from the smallest threshold up; the last is (1, 0).

    Where there is nothing to find, recall is 1, with a warning.
    """
    n, positives = fps.shape[0], tps[-1]
    precision, recall = np.empty(n + 1), np.empty(n + 1)
    precision[n], recall[n] = 1.0, 0.0
    if positives == 0:
        warnings.warn(
            "No positive class found in y_true, recall is set to one for all thresholds.", UserWarning, stacklevel=4
        )
        recall[:n] = 1.0

    def run(span):
        place = slice(n - span.stop, n - span.start)
        predicted = precision[place][::-1]
        np.add(fps[span], tps[span], out=predicted)
        np.divide(tps[span], predicted, out=predicted, where=predicted != 0)
        if positives != 0:
            np.divide(tps[span], positives, out=recall[place][::-1])

    split_map(run, spans(n, CHUNK))
    return precision, recall


@checked(y_true=Array, y_score=Array, average=BinaryAverage, pos_label=Label, sample_weight=ArrayOrNone)
def average_precision_score(y_true, y_score, *, average="macro", pos_label=1, sample_weight=None):
    """Sum over the thresholds of precision times the recall gained there.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True labels, or indicators.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores: the larger, the more positive.
    average : {"micro", "macro", "samples", "weighted"} or None, default="macro"
        How values of several labels become one; None returns them all.
    pos_label : int, float, bool or str, default=1
        The positive label of two.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float or ndarray of shape (n_classes,)

    Examples
    --------
    >>> from hyperplan.metrics import average_precision_score
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 5)
    0.83333
    """
    weight = None if sample_weight is None else column_or_1d(sample_weight)
    column = read_labels(y_true, "y_true")
    kind = column if isinstance(column, str) else column.kind
    if kind == "binary":
        if column.distinct.shape[0] == 2 and pos_label not in column.distinct.tolist():
            raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {column.distinct}")
        return _average_precision(y_true, y_score, weight, pos_label)
    if pos_label != 1 and kind in ("multilabel-indicator", "multiclass"):
        raise ValueError(
            f"Parameter pos_label is fixed to 1 for {kind} y_true. Do not set pos_label or set pos_label to 1."
        )
    if kind == "multiclass":
        codes, shape = codes_among(column, column.distinct), np.shape(y_score)
        y_true = (codes[:, np.newaxis] == np.arange(column.distinct.shape[0])).astype(np.int64)
        if shape != y_true.shape:
            raise ValueError(
                "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. "
                f"Got `y_score.shape={shape}`."
            )
    return average_binary_score(_average_precision, y_true, y_score, average, weight)


def _average_precision(y_true, y_score, weight=None, pos_label=1):
    fps, tps, _ = counts_at_thresholds(y_true, y_score, pos_label, weight)
    precision, recall = _precision_and_recall(fps, tps)
    return float(max(0.0, -np.sum(np.diff(recall) * precision[:-1])))


def interpolated_precision(recall, precision, at):
    """Precision at the recalls `at`, between the points of a curve as `precision_recall_curve` returns it.

    Between two thresholds false positives grow in proportion to true positives; the precision that follows lies below
    the straight line between the points (Davis and Goadrich).

    Parameters
    ----------
    recall, precision : array-like of shape (n_points,)
        Points of the curve, by decreasing recall.
    at : array-like
        Recalls between 0 and 1.

    Returns
    -------
    ndarray
        Below the smallest recall above zero, the precision there.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.metrics import interpolated_precision
    >>> interpolated_precision(np.array([1.0, 0.5]), np.array([0.25, 1.0]), [0.5, 0.75, 1.0])
    array([1.        , 0.33333333, 0.25      ])
    """
    recall, precision, at = (np.asarray(values, np.float64) for values in (recall, precision, at))
    found = recall > 0
    order = np.lexsort((precision[found], recall[found]))
    recall, precision = recall[found][order], precision[found][order]
    last = np.append(np.diff(recall) > 0, True)  # of points of equal recall the most precise
    recall, precision = recall[last], precision[last]
    false = recall * (1 - precision) / precision  # false positives per positive
    return at / (at + np.interp(at, recall, false)) if recall.size > 1 else np.full(at.shape, precision[0])
