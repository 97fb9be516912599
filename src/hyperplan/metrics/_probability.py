"""Proper scores of probabilities: log loss and Brier score, and the share of each that the classes' frequencies leave.

Both are least in expectation when the true probabilities are given.  Log loss is ``-log p`` of the class that came true
(clipped to the precision of the numbers); the Brier score is the squared distance between probabilities and truth.
"""

import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning, check_consistent_length
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Bool, Choice, Is, Label, Null, OneOf, checked
from hyperplan.metrics._forecasts import (
    CHUNK,
    check_binary_forecasts,
    check_forecasts,
    check_proba,
    class_shares,
    warn_of_sums,
)
from hyperplan.metrics._probability_kernels import pick_true, squared_distances
from hyperplan.metrics._targets import length

ArrayOrText = OneOf(Array, Is(lambda value: isinstance(value, str), "an instance of 'str'"))


@checked(
    y_true=Array,
    y_proba=OneOf(Array, Null),
    normalize=Bool,
    sample_weight=ArrayOrNone,
    labels=ArrayOrNone,
    y_pred=ArrayOrText,
)
def log_loss(y_true, y_proba=None, *, normalize=True, sample_weight=None, labels=None, y_pred="deprecated"):
    """Mean of minus the logarithm of the probability that was given to the true class (cross-entropy).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities, columns in the order of the sorted labels; one column is that of the larger of two labels.
        They are clipped to ``[eps, 1 - eps]`` with the precision eps of their type.
    normalize : bool, default=True
        False for the sum instead of the mean.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    labels : array-like, default=None
        All labels, when `y_true` may lack some.
    y_pred : array-like
        Former name of `y_proba`.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import log_loss
    >>> round(log_loss(["spam", "ham", "ham"], [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2]]), 5)
    0.14462
    """
    y_proba = _renamed(y_proba, y_pred)
    forecasts = check_forecasts(y_true, y_proba, sample_weight, labels)
    losses, worst = _sums(forecasts, _log_losses)
    warn_of_sums(worst, forecasts.proba.dtype)
    return float(losses / _total(forecasts) if normalize else losses)


def _renamed(y_proba, y_pred):
    """`y_proba`, also when it was passed under its former name."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("Cannot use both `y_pred` and `y_proba`. `y_pred` is deprecated, use `y_proba` instead.")
    warnings.warn(
        "`y_pred` was renamed to `y_proba` in version 1.9 and will be removed in 1.11. Use `y_proba` instead.",
        FutureWarning,
        stacklevel=4,
    )
    return y_pred


def _total(forecasts):
    return forecasts.codes.shape[0] if forecasts.weight is None else np.sum(forecasts.weight)


def _sums(forecasts, rows_of):
    """Sum of the weighted values of rows, chunk by chunk, and the worst of what else the chunks report."""

    def run(span):
        values, worst = rows_of(forecasts.proba[span], forecasts.codes[span])
        return np.sum(values if forecasts.weight is None else values * forecasts.weight[span]), worst

    parts = split_map(run, spans(forecasts.codes.shape[0], CHUNK))
    return sum(part[0] for part in parts), max(part[1] for part in parts)


def _log_losses(proba, codes):
    eps = np.finfo(proba.dtype).eps
    if codes.ndim == 2:
        return -np.sum(codes * np.log(np.clip(proba, eps, 1 - eps)), axis=1), np.abs(proba.sum(axis=1) - 1).max()
    if proba.ndim == 1:
        picked, worst = np.where(codes == 1, proba, 1 - proba), 0.0
    else:
        picked = np.empty(codes.shape[0])
        worst = pick_true(proba, codes, picked)
    np.clip(picked, eps, 1 - eps, out=picked)
    return -np.log(picked, out=picked), worst


def _brier_terms(proba, codes):
    if codes.ndim == 2:
        return np.sum(np.square(codes - proba), axis=1), np.abs(proba.sum(axis=1) - 1).max()
    if proba.ndim == 1:
        return 2 * np.square(proba - (codes == 1), dtype=np.float64), 0.0
    distances = np.empty(codes.shape[0])
    worst = squared_distances(proba, codes, distances)
    return distances, worst


@checked(
    y_true=Array,
    y_proba=Array,
    sample_weight=ArrayOrNone,
    pos_label=Label,
    labels=ArrayOrNone,
    scale_by_half=OneOf(Bool, Choice("auto")),
)
def brier_score_loss(y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None, scale_by_half="auto"):
    """Mean squared distance between the probabilities and the truth (1 for the true class, else 0).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive label, or of all labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    pos_label : int, float, bool or str, default=None
        The positive label, when `y_proba` has one column; the larger of two numbers when None.
    labels : array-like, default=None
        All labels, when `y_true` may lack some and `y_proba` has several columns.
    scale_by_half : bool or "auto", default="auto"
        Half the distance, in [0, 1]; "auto" for two classes only.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import brier_score_loss
    >>> round(brier_score_loss([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 4)
    0.0375
    """
    forecasts = _two_or_more(y_true, check_proba(y_proba), sample_weight, pos_label, labels)
    score, worst = _sums(forecasts, _brier_terms)
    warn_of_sums(worst, forecasts.proba.dtype)
    half = forecasts.n_classes < 3 if isinstance(scale_by_half, str) else scale_by_half
    return float(score / _total(forecasts) * (0.5 if half else 1.0))


def _two_or_more(y_true, proba, sample_weight, pos_label, labels):
    if proba.ndim == 1 or proba.shape[1] == 1:
        return check_binary_forecasts(y_true, proba, sample_weight, pos_label)
    return check_forecasts(y_true, proba, sample_weight, labels)


@checked(y_true=Array, y_proba=OneOf(Array, Null), sample_weight=ArrayOrNone, labels=ArrayOrNone, y_pred=ArrayOrText)
def d2_log_loss_score(y_true, y_proba=None, *, sample_weight=None, labels=None, y_pred="deprecated"):
    """Share of the log loss of the classes' frequencies that the probabilities take away: 1 perfect, 0 no better.

    Parameters
    ----------
    y_true, y_proba, sample_weight, labels, y_pred
        As in `log_loss`.

    Returns
    -------
    float
        NaN, with a warning, for a single row.

    Examples
    --------
    >>> from hyperplan.metrics import d2_log_loss_score
    >>> d2_log_loss_score([0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    y_proba = _renamed(y_proba, y_pred)
    check_consistent_length(y_proba, y_true, sample_weight)
    if _too_few(y_proba):
        return float("nan")
    forecasts = check_forecasts(y_true, y_proba, sample_weight, labels)
    losses, worst = _sums(forecasts, _log_losses)
    warn_of_sums(worst, forecasts.proba.dtype)
    return float(1 - losses / _sum_of_shares(forecasts, _log_losses))


@checked(y_true=Array, y_proba=Array, sample_weight=ArrayOrNone, pos_label=Label, labels=ArrayOrNone)
def d2_brier_score(y_true, y_proba, *, sample_weight=None, pos_label=None, labels=None):
    """Share of the Brier score of the classes' frequencies that the probabilities take away (Brier skill score).

    Parameters
    ----------
    y_true, y_proba, sample_weight, pos_label, labels
        As in `brier_score_loss`.

    Returns
    -------
    float
        NaN, with a warning, for a single row.

    Examples
    --------
    >>> from hyperplan.metrics import d2_brier_score
    >>> d2_brier_score([0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    check_consistent_length(y_proba, y_true, sample_weight)
    if _too_few(y_proba):
        return float("nan")
    forecasts = _two_or_more(y_true, check_proba(y_proba), sample_weight, pos_label, labels)
    score, worst = _sums(forecasts, _brier_terms)
    warn_of_sums(worst, forecasts.proba.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(1 - score / _sum_of_shares(forecasts, _brier_terms))


def _sum_of_shares(forecasts, rows_of):
    """As `_sums`, had the classes' frequencies been forecast for every row."""
    shares = class_shares(forecasts)
    row = shares[1] if forecasts.proba.ndim == 1 else shares
    return _sums(forecasts, lambda proba, codes: rows_of(np.broadcast_to(row, proba.shape).copy(), codes))[0]


def _too_few(y_proba):
    if length(y_proba) >= 2:
        return False
    warnings.warn("D^2 score is not well-defined with less than two samples.", UndefinedMetricWarning, stacklevel=4)
    return True
