"""Share of right answers, plain, per label and per class.

Accuracy says little when one class is rare: always answering "no" on 1 % positives is right 99 times in 100.  Balanced
accuracy and the balanced error rate give each class the same say.
"""

import warnings

import numpy as np

from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, ArrayOrSparse, Bool, checked
from hyperplan.metrics._confusion import confusion_matrix
from hyperplan.metrics._labels import CHUNK
from hyperplan.metrics._targets import MULTILABEL, average, check_targets


@checked(y_true=ArrayOrSparse, y_pred=ArrayOrSparse, normalize=Bool, sample_weight=ArrayOrNone)
def accuracy_score(y_true, y_pred, *, normalize=True, sample_weight=None):
    """Share of rows whose prediction is right; of indicator matrices, rows that are right in every label.

    Parameters
    ----------
    y_true, y_pred : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        True and predicted labels, or indicators.
    normalize : bool, default=True
        False for the number (or weight) of right rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import accuracy_score
    >>> accuracy_score(["ham", "spam", "ham"], ["ham", "ham", "ham"], normalize=False)
    2.0
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    return _weigh(_right_rows(targets), targets.weight, normalize)


def _right_rows(targets):
    """Truth values: whose prediction equals the truth."""
    if targets.kind == MULTILABEL:
        different = (targets.true != targets.pred).sum(axis=1)
        return np.asarray(different).ravel() == 0
    true, pred = targets.true, targets.pred
    if true.integers is not None and pred.integers is not None:
        return true.integers, pred.integers
    return true.values == pred.values


def _weigh(right, weight, normalize):
    """Share or sum of the right rows.  A pair of columns is compared piece by piece."""
    first, second = right if isinstance(right, tuple) else (right, np.True_)

    def run(span):
        equal = first[span] == (second[span] if second.ndim else second)
        return np.count_nonzero(equal) if weight is None else np.sum(equal * weight[span])

    total = sum(split_map(run, spans(first.shape[0], CHUNK)))
    if not normalize:
        return float(total)
    if weight is None:
        return float(total / first.shape[0])
    scale = np.sum(weight)
    if scale == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return float(total / scale)


@checked(y_true=ArrayOrSparse, y_pred=ArrayOrSparse, normalize=Bool, sample_weight=ArrayOrNone)
def zero_one_loss(y_true, y_pred, *, normalize=True, sample_weight=None):
    """Share of rows whose prediction is wrong: one minus `accuracy_score`.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As in `accuracy_score`.
    normalize : bool, default=True
        False for the number (or weight) of wrong rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import zero_one_loss
    >>> zero_one_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    score = _weigh(_right_rows(targets), targets.weight, normalize)
    if normalize:
        return 1 - score
    rows = targets.true.shape[0] if targets.kind == MULTILABEL else targets.true.values.shape[0]
    return float((rows if targets.weight is None else np.sum(targets.weight)) - score)


@checked(y_true=ArrayOrSparse, y_pred=ArrayOrSparse, sample_weight=ArrayOrNone)
def hamming_loss(y_true, y_pred, *, sample_weight=None):
    """Share of labels that are wrong: of indicator matrices share of wrong entries, else share of wrong rows.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As in `accuracy_score`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.metrics import hamming_loss
    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.zeros((2, 2)))
    0.75
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.kind != MULTILABEL:
        total = targets.true.values.shape[0] if targets.weight is None else np.sum(targets.weight)
        return float((total - _weigh(_right_rows(targets), targets.weight, False)) / total)
    wrong = np.asarray((targets.true != targets.pred).sum(axis=1)).ravel()
    return average(wrong, targets.weight) / targets.true.shape[1]


@checked(y_true=Array, y_pred=Array, sample_weight=ArrayOrNone, adjusted=Bool)
def balanced_accuracy_score(y_true, y_pred, *, sample_weight=None, adjusted=False):
    """Mean over the classes of the share of their rows that is found: accuracy that no class can dominate.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    adjusted : bool, default=False
        Rescale so that guessing is 0 and perfection stays 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import balanced_accuracy_score
    >>> balanced_accuracy_score([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.diagonal(matrix) / matrix.sum(axis=1)
    if np.any(np.isnan(found)):
        warnings.warn("y_pred contains classes not in y_true", stacklevel=3)
        found = found[~np.isnan(found)]
    score = np.mean(found)
    if adjusted:
        chance = 1 / found.shape[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            score = (score - chance) / (1 - chance)
    return float(score)


@checked(y_true=Array, y_pred=Array, sample_weight=ArrayOrNone)
def balanced_error_rate(y_true, y_pred, *, sample_weight=None):
    """Mean over the classes of the share of their rows that is missed; of two classes ``(FN / P + FP / N) / 2``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        One minus `balanced_accuracy_score`.

    Examples
    --------
    >>> from hyperplan.metrics import balanced_error_rate
    >>> balanced_error_rate([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    return 1.0 - balanced_accuracy_score(y_true, y_pred, sample_weight=sample_weight)
