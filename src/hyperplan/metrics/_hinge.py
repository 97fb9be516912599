"""Hinge loss of decision values: how far rows are from being right by a margin of one."""

import numpy as np

from hyperplan._base.targets import assert_all_finite, check_array, check_consistent_length, column_or_1d
from hyperplan.metrics._arguments import Array, ArrayOrNone, checked
from hyperplan.metrics._labels import codes_among, read_labels


@checked(y_true=Array, pred_decision=Array, labels=ArrayOrNone, sample_weight=ArrayOrNone)
def hinge_loss(y_true, pred_decision, *, labels=None, sample_weight=None):
    """Mean of ``max(0, 1 - margin)``; the margin is ``y f`` of two classes, else true score minus best other score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels; of two the larger is the positive.
    pred_decision : array-like of shape (n_samples,) or (n_samples, n_classes)
        Decision values, as `decision_function` gives them.
    labels : array-like, default=None
        All labels, when `y_true` may lack some.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import hinge_loss
    >>> hinge_loss([-1, 1, 1], [-2.0, 0.5, 1.5])
    0.16666666666666666
    """
    check_consistent_length(y_true, pred_decision, sample_weight)
    decision = check_array(pred_decision, ensure_2d=False)
    y_true = column_or_1d(y_true)
    assert_all_finite(y_true)
    classes = np.unique(y_true if labels is None else labels)
    if classes.size > 2:
        margin = _margins(y_true, decision, classes, labels is not None)
    else:
        decision = np.ravel(column_or_1d(decision))
        if decision.dtype.kind not in "biuf":
            raise TypeError("pred_decision should be an array of floats.")
        own = np.unique(y_true)
        sign = np.where(y_true == own[-1], 1, -1) if own.size == 2 else -1
        margin = sign * decision
    return float(np.average(np.maximum(1 - margin, 0), weights=sample_weight))


def _margins(y_true, decision, classes, given):
    """Score of the true class minus the best of the others."""
    wanted = f"that is ({y_true.shape[0]}, {classes.size}). Got: {decision.shape}"
    if decision.ndim <= 1:
        raise ValueError(
            "The shape of pred_decision cannot be 1d array with a multiclass target. pred_decision shape must be "
            f"(n_samples, n_classes), {wanted}"
        )
    if classes.size != decision.shape[1]:
        if not given:
            raise ValueError("Please include all labels in y_true or pass labels as third argument")
        raise ValueError(
            "The shape of pred_decision is not consistent with the number of classes. With a multiclass target, "
            f"pred_decision shape must be (n_samples, n_classes), {wanted}"
        )
    codes = codes_among(read_labels(y_true, "y_true"), classes)
    if np.any(codes < 0):
        raise ValueError(
            f"y contains previously unseen labels: {set(np.unique(y_true).tolist()) - set(classes.tolist())}"
        )
    rows = np.arange(codes.size)
    others = np.array(decision, dtype=np.float64)
    others[rows, codes] = -np.inf
    return decision[rows, codes] - others.max(axis=1)
