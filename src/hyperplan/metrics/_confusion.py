"""Confusion matrices: rows are the truth, columns the predictions, labels in sorted order.

For two classes that is ``[[TN, FP], [FN, TP]]``.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan.metrics._arguments import Array, ArrayOrNone, ArrayOrSparse, Bool, Choice, checked
from hyperplan.metrics._labels import codes_among
from hyperplan.metrics._pair_counts import WIDEST_TABLE, pair_counts
from hyperplan.metrics._targets import MULTILABEL, check_targets, length


@checked(
    y_true=Array,
    y_pred=Array,
    labels=ArrayOrNone,
    sample_weight=ArrayOrNone,
    normalize=Choice("true", "pred", "all", None),
)
def confusion_matrix(y_true, y_pred, *, labels=None, sample_weight=None, normalize=None):
    """How often each true label (row) was predicted as each label (column).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    labels : array-like, default=None
        Labels of the rows and columns, in this order; all that occur, sorted, when None.  Rows with other labels are
        left out.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    normalize : {"true", "pred", "all"}, default=None
        Divide by the sums of the rows, of the columns, or of everything.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        Integers unless weights or `normalize` make them fractions.

    Examples
    --------
    >>> from hyperplan.metrics import confusion_matrix
    >>> confusion_matrix([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])
    array([[1, 1],
           [1, 2]])
    """
    if length(y_true) == 0 and length(y_pred) == 0 and labels is not None and len(labels):
        return np.zeros((len(labels), len(labels)), dtype=int)
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.kind == MULTILABEL:
        raise ValueError(f"{targets.kind} is not supported")
    matrix = counts_of(targets, labels)
    with np.errstate(all="ignore"):
        if normalize is not None:
            axis = {"true": 1, "pred": 0, "all": None}[normalize]
            matrix = np.nan_to_num(matrix / matrix.sum(axis=axis, keepdims=True))
    if matrix.shape == (1, 1):
        warnings.warn(
            "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, "
            "use the 'labels' parameter to pass all known labels.",
            UserWarning,
            stacklevel=3,
        )
    return matrix


def counts_of(targets, labels=None):
    """The confusion matrix of checked targets; at least one of the given labels must be in y_true."""
    if labels is None:
        labels = targets.labels
    else:
        labels = np.asarray(labels)
        if labels.size == 0:
            raise ValueError("'labels' should contain at least one label.")
        if not set(targets.true.distinct.tolist()) & set(labels.tolist()):
            raise ValueError("At least one label specified must be in y_true")
    return pair_counts(targets, labels, targets.weight)


@checked(y_true=ArrayOrSparse, y_pred=ArrayOrSparse, sample_weight=ArrayOrNone, labels=ArrayOrNone, samplewise=Bool)
def multilabel_confusion_matrix(y_true, y_pred, *, sample_weight=None, labels=None, samplewise=False):
    """One confusion matrix ``[[TN, FP], [FN, TP]]`` per label, or per sample.

    Parameters
    ----------
    y_true, y_pred : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Labels, or indicators of several labels per row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    labels : array-like, default=None
        Labels (of indicators: column numbers) to report, in this order; all when None.
    samplewise : bool, default=False
        One matrix per row of the indicators instead of one per label.

    Returns
    -------
    ndarray of shape (n_outputs, 2, 2)

    Examples
    --------
    >>> from hyperplan.metrics import multilabel_confusion_matrix
    >>> multilabel_confusion_matrix(["a", "b", "a"], ["a", "a", "a"])
    array([[[0, 1],
            [0, 2]],
           [[2, 0],
            [1, 0]]])
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return stack_of(label_sums(targets, labels, samplewise))


def stack_of(sums):
    """(n_outputs, 2, 2) from the sums of true positives, predictions, positives and all weights."""
    hits, predicted, actual, total = sums
    false_positive, false_negative = predicted - hits, actual - hits
    true_negative = total - hits - false_positive - false_negative
    return np.stack([true_negative, false_positive, false_negative, hits]).T.reshape(-1, 2, 2)


def label_sums(targets, labels=None, samplewise=False):
    """Per label (or sample): weights of the true positives, of the predictions, of the positives, of all rows."""
    if targets.kind == MULTILABEL:
        return _indicator_sums(targets, labels, samplewise)
    if samplewise:
        raise ValueError("Samplewise metrics are not available outside of multilabel classification.")
    weight = None if targets.weight is None else targets.weight.astype(np.float64, copy=False)
    total = targets.true.values.shape[0] if weight is None else np.sum(weight)
    if targets.labels.size <= WIDEST_TABLE:
        table = pair_counts(targets, targets.labels, weight)
        hits, predicted, actual = np.diagonal(table), table.sum(axis=0), table.sum(axis=1)
    else:
        hits, predicted, actual = _sums_of_many_labels(targets, weight)
    if labels is None:
        return hits, predicted, actual, total
    place = {label: i for i, label in enumerate(targets.labels.tolist())}
    places = np.array([place.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.intp)
    return (*(np.where(places >= 0, sums[places], 0) for sums in (hits, predicted, actual)), total)


def _sums_of_many_labels(targets, weight):
    """Without the table of all pairs, which would be large."""
    true, pred = codes_among(targets.true, targets.labels), codes_among(targets.pred, targets.labels)
    equal, size = true == pred, targets.labels.size
    hits = np.bincount(true[equal], None if weight is None else weight[equal], size)
    return hits, np.bincount(pred, weight, size), np.bincount(true, weight, size)


def _indicator_sums(targets, labels, samplewise):
    true, pred, weight = targets.true, targets.pred, targets.weight
    if labels is not None:
        labels = np.asarray(labels)
        if labels.size and labels.max() >= true.shape[1]:
            raise ValueError(
                "All labels must be in [0, n labels) for multilabel targets. "
                f"Got {labels.max():d} > {true.shape[1] - 1:d}"
            )
        if labels.size and labels.min() < 0:
            raise ValueError(f"All labels must be in [0, n labels) for multilabel targets. Got {labels.min():d} < 0")
        true, pred = true[:, labels], pred[:, labels]
    both = true.multiply(pred) if sp.issparse(true) else true * pred
    sums = [_count_nonzero(matrix, 1 if samplewise else 0, weight) for matrix in (both, pred, true)]
    if samplewise:
        return (*sums, true.shape[1] if weight is None else weight * true.shape[1])
    return (*sums, true.shape[0] if weight is None else np.sum(weight))


def _count_nonzero(matrix, axis, weight):
    """Non-zero entries of each column (axis 0) or row (axis 1), times the weights of the rows."""
    matrix = matrix != 0
    if weight is None:
        return np.asarray(matrix.sum(axis=axis, dtype=np.int64)).ravel()
    if axis == 1:
        return np.asarray(matrix.sum(axis=1)).ravel() * weight
    return np.asarray(matrix.T.astype(np.float64) @ weight.astype(np.float64)).ravel()
