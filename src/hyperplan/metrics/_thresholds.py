"""Counts at every threshold: what lies at or above each distinct score, from the largest down.

All curves (ROC, precision-recall, detection error) are these counts in other units.
"""

import numpy as np

from hyperplan._base.targets import assert_all_finite, check_consistent_length, column_or_1d
from hyperplan._core.parallel import thread_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Is, Label, Null, OneOf, checked
from hyperplan.metrics._labels import read_labels
from hyperplan.metrics._score_order import ordered_keys, sort_rows, sort_with_labels
from hyperplan.metrics._score_order_kernels import count_blocks, list_blocks, list_weighted_blocks
from hyperplan.metrics._targets import any_weight, positive_label

LARGEST_EXACT = 2**53  # integers beyond are not all float64 numbers


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone)
def confusion_matrix_at_thresholds(y_true, y_score, *, pos_label=None, sample_weight=None):
    """True negatives, false positives, false negatives and true positives when "score >= threshold" means positive.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of two classes (of more if `pos_label` says which one is positive).
    y_score : array-like of shape (n_samples,)
        Scores: the larger, the more positive.
    pos_label : int, float, bool or str, default=None
        The positive label; 1 when None and the labels are {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    tns, fps, fns, tps, thresholds : ndarrays of shape (n_thresholds,)
        Counts (sums of weights), and the distinct scores in decreasing order.

    Examples
    --------
    >>> from hyperplan.metrics import confusion_matrix_at_thresholds
    >>> tns, fps, fns, tps, thresholds = confusion_matrix_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fps, tps
    (array([0., 1., 1., 2.]), array([1., 1., 2., 2.]))
    """
    fps, tps, thresholds = counts_at_thresholds(y_true, y_score, pos_label, sample_weight)
    return fps[-1] - fps, fps, tps[-1] - tps, tps, thresholds


def counts_at_thresholds(y_true, y_score, pos_label=None, sample_weight=None):
    """False positives, true positives and thresholds, from the largest score down."""
    positive = is_positive(y_true, pos_label)
    check_consistent_length(positive, y_score, sample_weight)
    if sample_weight is None:
        return _counts(positive, *keys_of(column_or_1d(y_score)))
    weight = any_weight(column_or_1d(sample_weight), positive.shape[0]).astype(np.float64, copy=False)
    keep = weight != 0
    scores = column_or_1d(y_score)
    if not keep.all():
        assert_all_finite(scores[~keep])  # what counts for nothing is no excuse for what is not a number
    return _weighted_counts(positive[keep], np.ascontiguousarray(weight[keep]), *keys_of(scores[keep]))


def is_positive(y_true, pos_label):
    """One byte per row: whether its label is the positive one."""
    column = read_labels(y_true, "y_true")
    kind = column if isinstance(column, str) else column.kind
    if kind != "binary" and (kind != "multiclass" or pos_label is None):
        raise ValueError(f"{kind} format is not supported")
    return equals_label(column, positive_label(pos_label, column.distinct))


def equals_label(column, label):
    """One byte per row of a `Column`: whether it has this label."""
    listed = column.distinct.tolist()
    if label not in listed:
        return np.zeros(column.values.shape[0], np.uint8)
    place = listed.index(label)
    if column.codes is not None:
        return (column.codes == place).view(np.uint8)
    return (column.integers == int(listed[place])).view(np.uint8)


def keys_of(scores):
    """Keys of the scores with their ends, and how a key's number becomes a threshold."""
    if scores.dtype.kind in "iu" and max(abs(int(scores.min())), abs(int(scores.max()))) > LARGEST_EXACT:
        distinct, scores = np.unique(scores, return_inverse=True)
        return ordered_keys(scores), lambda ranks: distinct[ranks.astype(np.intp)]
    dtype = scores.dtype
    if dtype.kind not in "biuf":
        scores = scores.astype(np.float64)
    keys = ordered_keys(scores)
    if keys is None:
        assert_all_finite(scores)
    return keys, lambda values: values if dtype.kind not in "biuf" else values.astype(dtype, copy=False)


def _counts(positive, keys, to_threshold):
    packed, bounds, bases = sort_with_labels(*keys, positive)
    groups = range(bases.size - 1, -1, -1)  # from the largest scores down
    totals = np.empty((bases.size, 3), np.int64)
    run = thread_map if bases.size > 2 else lambda func, items: list(map(func, items))
    run(lambda g: count_blocks(packed[bounds[g] : bounds[g + 1]], totals[g]), groups)
    ends = np.cumsum(totals[::-1], axis=0)[::-1]
    before = ends - totals
    size = int(ends[0, 2])
    fps, tps, bits = np.empty(size), np.empty(size), np.empty(size, np.uint64)

    def fill(g):
        part, out = packed[bounds[g] : bounds[g + 1]], slice(before[g, 2], ends[g, 2])
        list_blocks(part, bases[g], before[g, 0], before[g, 1], fps[out], tps[out], bits[out])

    run(fill, groups)
    return fps, tps, to_threshold(bits.view(np.float64))


def _weighted_counts(positive, weight, keys, to_threshold):
    ordered, order = sort_rows(*keys)
    n = ordered.shape[0]
    fps, tps, bits = np.empty(n), np.empty(n), np.empty(n, np.uint64)
    size = list_weighted_blocks(ordered, positive, weight, order, fps, tps, bits)
    return fps[:size], tps[:size], to_threshold(bits[:size].view(np.float64))


@checked(
    y_true=Array,
    y_score=Array,
    metric_func=Is(callable, "a callable"),
    sample_weight=ArrayOrNone,
    metric_params=OneOf(Is(lambda value: isinstance(value, dict), "an instance of 'dict'"), Null),
)
def metric_at_thresholds(y_true, y_score, metric_func, *, sample_weight=None, metric_params=None):
    """The value of a metric of labels at every threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, coded 0 and 1.
    y_score : array-like of shape (n_samples,)
        Scores; a row is predicted 1 when its score is at least the threshold.
    metric_func : callable
        Called as ``metric_func(y_true, y_pred, **metric_params)``, with `sample_weight` if given.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; those of weight 0 are left out.
    metric_params : dict, default=None
        Further arguments of the metric.

    Returns
    -------
    metric_values : ndarray of shape (n_thresholds,) or (n_thresholds, *output_shape)
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores in decreasing order.

    Examples
    --------
    >>> from hyperplan.metrics import accuracy_score, metric_at_thresholds
    >>> values, thresholds = metric_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], accuracy_score)
    >>> values
    array([0.75, 0.5 , 0.75, 0.5 ])
    """
    check_consistent_length(y_true, y_score, sample_weight)
    y_true, y_score = column_or_1d(y_true), column_or_1d(y_score)
    assert_all_finite(y_true)
    assert_all_finite(y_score)
    params = dict(metric_params or {})
    if sample_weight is not None:
        weight = any_weight(column_or_1d(sample_weight), y_true.shape[0])
        keep = weight != 0
        y_true, y_score, params["sample_weight"] = y_true[keep], y_score[keep], weight[keep]
    order = np.argsort(-y_score if y_score.dtype.kind == "f" else y_score, kind="stable")
    order = order if y_score.dtype.kind == "f" else order[::-1]
    y_true, y_score = y_true[order], y_score[order]
    if "sample_weight" in params:
        params["sample_weight"] = params["sample_weight"][order]
    thresholds = y_score[np.append(np.flatnonzero(np.diff(y_score)), y_score.shape[0] - 1)]
    values = [metric_func(y_true, (y_score >= limit).astype(np.int32), **params) for limit in thresholds]
    return np.asarray(values), thresholds
