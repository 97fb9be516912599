"""Mean squared error, its root, and both on a logarithmic scale.

``MSE = sum w (y - p)^2 / sum w``; the square root has the unit of y, and that of the best constant (the mean of y) is
the standard deviation of y: a model is worth having when its root mean squared error is below that.
"""

import numpy as np

from hyperplan.metrics._arguments import checked
from hyperplan.metrics._regression_targets import MULTIOUTPUT, Targets, check_targets, column_means, mean_of_outputs


def squared_difference(truth, prediction):
    """``(y - p)^2``, entry by entry."""
    gap = truth - prediction
    gap *= gap
    return gap


@checked(multioutput=MULTIOUTPUT)
def mean_squared_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Mean of the squared differences.

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
        Zero for a perfect prediction.

    Examples
    --------
    >>> from hyperplan.metrics import mean_squared_error
    >>> mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    return mean_of_outputs(column_means(squared_difference, targets), targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def root_mean_squared_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Square root of the mean squared error, output by output.

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
    >>> from hyperplan.metrics import root_mean_squared_error
    >>> root_mean_squared_error([0.0, 2.0], [1.0, 1.0])
    1.0
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    return mean_of_outputs(np.sqrt(column_means(squared_difference, targets)), targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def mean_squared_log_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Mean squared difference of ``log(1 + y)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values, above -1.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values, above -1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        Zero for a perfect prediction.

    Examples
    --------
    >>> from hyperplan.metrics import mean_squared_log_error
    >>> round(mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 4)
    0.0397
    """
    targets = _above_minus_one(check_targets(y_true, y_pred, sample_weight, multioutput), "Mean Squared")
    return mean_of_outputs(column_means(_squared_log_difference, targets), targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def root_mean_squared_log_error(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """Square root of the mean squared logarithmic error, output by output.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values, above -1.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values, above -1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        About the typical relative error, for values well above 1.

    Examples
    --------
    >>> from hyperplan.metrics import root_mean_squared_log_error
    >>> round(root_mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 4)
    0.1993
    """
    targets = _above_minus_one(check_targets(y_true, y_pred, sample_weight, multioutput), "Root Mean Squared")
    return mean_of_outputs(np.sqrt(column_means(_squared_log_difference, targets)), targets.multioutput)


def _squared_log_difference(truth, prediction):
    return squared_difference(np.log1p(truth), np.log1p(prediction))


def _above_minus_one(targets: Targets, name) -> Targets:
    if targets.truth.min() <= -1 or targets.prediction.min() <= -1:
        raise ValueError(
            f"{name} Logarithmic Error cannot be used when targets contain values less than or equal to -1."
        )
    return targets
