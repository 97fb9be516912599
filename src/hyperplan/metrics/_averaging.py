"""A metric of two classes, averaged over labels or rows of indicator matrices."""

import numpy as np

from hyperplan._base.targets import check_array, check_consistent_length, type_of_target
from hyperplan.metrics._arguments import Choice

BinaryAverage = Choice("micro", "macro", "samples", "weighted", None)


def average_binary_score(metric, y_true, y_score, average, weight=None):
    """Mean over the columns ("macro"; "weighted": by their positives), the rows ("samples"), or all entries ("micro").

    `metric` is called as ``metric(y_true, y_score, weight)`` with one-dimensional arrays.
    """
    kind = type_of_target(y_true)
    if kind not in ("binary", "multilabel-indicator"):
        raise ValueError(f"{kind} format is not supported")
    if kind == "binary":
        return metric(y_true, y_score, weight)
    check_consistent_length(y_true, y_score, weight)
    y_true, y_score = check_array(y_true), check_array(y_score)
    if average == "micro":
        repeated = None if weight is None else np.repeat(weight, y_true.shape[1])
        return float(metric(y_true.ravel(), y_score.ravel(), repeated))
    if average == "samples":
        scores = np.array([metric(truth, row, None) for truth, row in zip(y_true, y_score)])
        return _mean(scores, weight)
    positives = None
    if average == "weighted":
        positives = np.sum(y_true if weight is None else y_true * np.reshape(weight, (-1, 1)), axis=0)
        if np.isclose(positives.sum(), 0.0):
            return 0
    columns = range(y_score.shape[1])
    scores = np.array([metric(_column(y_true, c), _column(y_score, c), weight) for c in columns], dtype=float)
    return scores if average is None else _mean(scores, positives)


def _column(matrix, c):
    return np.ascontiguousarray(matrix[:, c])


def _mean(scores, weight):
    if weight is not None:
        scores = np.where(np.asarray(weight) == 0, 0.0, scores)
    return float(np.average(scores, weights=weight))
