"""Absolute errors: their mean, their mean relative to the truth, their median and their maximum."""

import numpy as np

from hyperplan.metrics._arguments import checked
from hyperplan.metrics._averaged_quantile import averaged_quantile
from hyperplan.metrics._regression_targets import (
    MULTIOUTPUT,
    check_single_target,
    check_targets,
    column_means,
    mean_of_outputs,
)

LEAST_TRUTH = np.finfo(np.float64).eps  # what a relative error divides by where the truth is zero


def absolute_difference(truth, prediction):
    """``|y - p|``, entry by entry."""
    gap = truth - prediction
    return np.abs(gap, out=gap)


def _relative_difference(truth, prediction):
    return absolute_difference(truth, prediction) / np.maximum(np.abs(truth), LEAST_TRUTH)


@checked(multioutput=MULTIOUTPUT)
def mean_absolute_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Mean of the absolute differences.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        In the unit of y.

    Examples
    --------
    >>> from hyperplan.metrics import mean_absolute_error
    >>> mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    return mean_of_outputs(column_means(absolute_difference, targets), targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def mean_absolute_percentage_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Mean of ``|y - p| / |y|``: a share, not per cent.

    Where y is zero the error is divided by 2.2e-16, which gives a huge number, as such a relative error should be.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        Zero for a perfect prediction; may be larger than one.

    Examples
    --------
    >>> from hyperplan.metrics import mean_absolute_percentage_error
    >>> mean_absolute_percentage_error([2.0, 4.0], [1.0, 5.0])
    0.375
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    return mean_of_outputs(column_means(_relative_difference, targets), targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def median_absolute_error(y_true, y_pred, *, multioutput="uniform_average", sample_weight=None):
    """Median of the absolute differences: half of the rows may be arbitrarily wrong without moving it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        In the unit of y.

    Examples
    --------
    >>> from hyperplan.metrics import median_absolute_error
    >>> median_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    gaps = absolute_difference(targets.truth, targets.prediction)
    return mean_of_outputs(averaged_quantile(gaps, targets.weight, 0.5), targets.multioutput)


def max_error(y_true, y_pred):
    """Largest absolute difference.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values.
    y_pred : array-like of shape (n_samples,)
        Predicted values.

    Returns
    -------
    loss : float
        In the unit of y.

    Examples
    --------
    >>> from hyperplan.metrics import max_error
    >>> max_error([3, 2, 7, 1], [4, 2, 7, 1])
    1.0
    """
    targets = check_single_target(y_true, y_pred, None, "max_error")
    return float(absolute_difference(targets.truth, targets.prediction).max())
