"""Precision, recall, F-scores and Jaccard index, per label or averaged.

Precision is the share of the predicted positives that are positive, TP / (TP + FP); recall is the share of the actual
positives that are found, TP / (TP + FN).  F-beta is their weighted harmonic mean, which never exceeds the arithmetic
one; the Jaccard index is TP / (TP + FP + FN).  What to answer where a denominator is zero is said by `zero_division`.
"""

import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning
from hyperplan.metrics._arguments import (
    Array,
    ArrayOrNone,
    ArrayOrSparse,
    Average,
    Choice,
    Is,
    Label,
    OneOf,
    Real,
    ZeroDivision,
    checked,
)
from hyperplan.metrics._confusion import label_sums
from hyperplan.metrics._targets import check_targets

RULES = {
    "y_true": ArrayOrSparse,
    "y_pred": ArrayOrSparse,
    "labels": ArrayOrNone,
    "pos_label": Label,
    "average": Average,
    "sample_weight": ArrayOrNone,
    "zero_division": ZeroDivision,
}
WARN_FOR = Is(lambda value: isinstance(value, list | tuple | set), "an instance of 'list', 'tuple' or 'set'")
JACCARD_ZERO = OneOf(Is(lambda value: not isinstance(value, str) and value in (0, 1), "0 or 1"), Choice("warn"))


@checked(**RULES, beta=Real(ge=0), warn_for=WARN_FOR)
def precision_recall_fscore_support(
    y_true,
    y_pred,
    *,
    beta=1.0,
    labels=None,
    pos_label=1,
    average=None,
    warn_for=("precision", "recall", "f-score"),
    sample_weight=None,
    zero_division="warn",
):
    """Precision, recall, F-beta and support (weight of the positives), per label or averaged.

    Parameters
    ----------
    y_true, y_pred : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Labels, or indicators of several labels per row.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    labels : array-like, default=None
        Labels to report, in this order; all that occur, sorted, when None.
    pos_label : int, float, bool or str, default=1
        The positive label with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples"} or None, default=None
        None returns one value per label; "binary" that of `pos_label`; "micro" pools the counts; "macro" is the mean
        over labels, "weighted" that by support, "samples" the mean over the rows of indicators.
    warn_for : list, tuple or set
        Which values may warn about a zero denominator.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value where a denominator is zero; "warn" is 0 and a warning; NaNs are left out of averages.

    Returns
    -------
    precision, recall, fbeta_score : float or ndarray of shape (n_labels,)
    support : None or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import precision_recall_fscore_support
    >>> precision_recall_fscore_support([0, 1, 1, 1], [0, 1, 1, 0], average="binary")
    (1.0, 0.6666666666666666, 0.8, None)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    return scores_of(targets, labels, average, zero_division, beta, warn_for)


def scores_of(targets, labels, average, zero_division, beta=1.0, warn_for=("precision", "recall", "f-score")):
    """`precision_recall_fscore_support` of checked targets."""
    hits, predicted, actual, _ = label_sums(targets, labels, samplewise=average == "samples")
    if average == "micro":
        hits, predicted, actual = (np.sum(sums, keepdims=True) for sums in (hits, predicted, actual))

    def divide(numerator, denominator, name, what):
        policy = zero_division if name in warn_for or zero_division != "warn" else 0.0
        return _divide(numerator, denominator, policy, (name, what, average))

    precision = divide(hits, predicted, "precision", "predicted")
    recall = divide(hits, actual, "recall", "true")
    if beta == 0 or np.isinf(beta):
        fscore = precision if beta == 0 else recall
    else:
        fscore = divide((1 + beta**2) * hits, beta**2 * actual + predicted, "f-score", "true nor predicted")
    if average is None:
        return precision, recall, fscore, actual
    weight = {"weighted": actual, "samples": targets.weight}.get(average)
    return (*(_mean_of_defined(values, weight) for values in (precision, recall, fscore)), None)


def _labels_to_report(targets, average, labels, pos_label):
    """`labels`, or the positive one; complains where `average` does not suit the targets."""
    if average != "binary":
        if pos_label not in (None, 1):
            warnings.warn(
                f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). "
                "You may use labels=[pos_label] to specify a single positive class.",
                UserWarning,
                stacklevel=4,
            )
        return labels
    if targets.kind != "binary":
        options = [None, "micro", "macro", "weighted"] + ["samples"] * (targets.kind != "multiclass")
        raise ValueError(
            f"Target is {targets.kind} but average='binary'. Please choose another average setting, one of {options}."
        )
    present = targets.labels.tolist()
    if pos_label not in present and len(present) >= 2:
        raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {targets.labels}")
    return [pos_label]


def _divide(numerator, denominator, zero_division, about):
    """Ratio; where the denominator is zero the value that `zero_division` asks for."""
    undefined = denominator == 0
    result = np.divide(numerator, np.where(undefined, 1, denominator), dtype=np.float64)
    if np.any(undefined):
        result[undefined] = 0.0 if zero_division == "warn" else zero_division
        if zero_division == "warn":
            _warn(result.shape[0], *about)
    return result


def _warn(size, name, what, average):
    per, over = ("label", "sample") if average != "samples" else ("sample", "label")
    where = "due to" if size == 1 else f"in {per}s with"
    warnings.warn(
        f"{name.capitalize()} is ill-defined and being set to 0.0 {where} no {what} {over}s. Use `zero_division` "
        "parameter to control this behavior.",
        UndefinedMetricWarning,
        stacklevel=6,
    )


def _mean_of_defined(values, weight):
    """Mean without NaNs; NaN if there is nothing else, and unweighted if all weights are zero."""
    defined = ~np.isnan(values)
    if not np.any(defined):
        return float("nan")
    if weight is None:
        return float(np.mean(values[defined]))
    weight = np.asarray(weight)[defined]
    if np.sum(weight) == 0:
        weight = None
    return float(np.average(values[defined], weights=weight))


@checked(**RULES)
def precision_score(
    y_true, y_pred, *, labels=None, pos_label=1, average="binary", sample_weight=None, zero_division="warn"
):
    """Share of the predicted positives that are positive: ``TP / (TP + FP)``.

    Parameters
    ----------
    y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
        As in `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import precision_score
    >>> precision_score([0, 1, 1, 0], [1, 1, 1, 1])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    return scores_of(targets, labels, average, zero_division, warn_for=("precision",))[0]


@checked(**RULES)
def recall_score(
    y_true, y_pred, *, labels=None, pos_label=1, average="binary", sample_weight=None, zero_division="warn"
):
    """Share of the actual positives that are found: ``TP / (TP + FN)``.

    Parameters
    ----------
    y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
        As in `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import recall_score
    >>> recall_score([0, 1, 1, 0], [1, 1, 0, 1])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    return scores_of(targets, labels, average, zero_division, warn_for=("recall",))[1]


@checked(**RULES, beta=Real(ge=0))
def fbeta_score(
    y_true, y_pred, *, beta, labels=None, pos_label=1, average="binary", sample_weight=None, zero_division="warn"
):
    """Weighted harmonic mean of precision P and recall R: ``(1 + beta^2) P R / (beta^2 P + R)``.

    Parameters
    ----------
    y_true, y_pred, beta, labels, pos_label, average, sample_weight, zero_division
        As in `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import fbeta_score
    >>> round(fbeta_score([0, 1, 1, 1], [0, 1, 1, 0], beta=2.0), 4)
    0.7143
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    return scores_of(targets, labels, average, zero_division, beta, warn_for=("f-score",))[2]


@checked(**RULES)
def f1_score(y_true, y_pred, *, labels=None, pos_label=1, average="binary", sample_weight=None, zero_division="warn"):
    """Harmonic mean of precision and recall: ``2 TP / (2 TP + FP + FN)``.

    Parameters
    ----------
    y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
        As in `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import f1_score
    >>> f1_score([0, 1, 1, 1], [0, 1, 1, 0])
    0.8
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    return scores_of(targets, labels, average, zero_division, warn_for=("f-score",))[2]


@checked(**{**RULES, "zero_division": JACCARD_ZERO})
def jaccard_score(
    y_true, y_pred, *, labels=None, pos_label=1, average="binary", sample_weight=None, zero_division="warn"
):
    """Size of the intersection of true and predicted positives over the size of their union.

    Parameters
    ----------
    y_true, y_pred, labels, pos_label, average, sample_weight
        As in `precision_recall_fscore_support`.
    zero_division : {"warn", 0, 1}, default="warn"
        Value where the union is empty; "warn" is 0 and a warning.

    Returns
    -------
    float or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from hyperplan.metrics import jaccard_score
    >>> jaccard_score([0, 1, 1, 1], [0, 1, 0, 0])
    0.3333333333333333
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, average, labels, pos_label)
    hits, predicted, actual, _ = label_sums(targets, labels, samplewise=average == "samples")
    union = predicted + actual - hits
    if average == "micro":
        hits, union = np.sum(hits, keepdims=True), np.sum(union, keepdims=True)
    values = _divide(hits, union, zero_division, ("jaccard", "true or predicted", average))
    if average is None:
        return values
    weight = {"weighted": actual, "samples": targets.weight}.get(average)
    return float(np.average(values, weights=weight if weight is not None and np.any(weight) else None))


@checked(y_true=Array, y_pred=Array, pos_label=Label, sample_weight=ArrayOrNone, zero_division=ZeroDivision)
def false_discovery_proportion(y_true, y_pred, *, pos_label=1, sample_weight=None, zero_division="warn"):
    """Share of the predicted positives that are not positive: ``FP / (TP + FP)``, one minus the precision.

    Not to be mistaken for the false positive rate FP / (FP + TN), whose denominator is the negatives.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of two classes.
    pos_label : int, float, bool or str, default=1
        The positive label.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value where nothing is predicted positive; "warn" is 0 (no false discovery) and a warning.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import false_discovery_proportion
    >>> false_discovery_proportion([0, 0, 1, 1], [1, 0, 1, 0])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    labels = _labels_to_report(targets, "binary", None, pos_label)
    hits, predicted, _, _ = label_sums(targets, labels)
    about = ("false discovery proportion", "predicted", "binary")
    return float(_divide(predicted - hits, predicted, zero_division, about)[0])
