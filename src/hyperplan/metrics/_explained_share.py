"""R2 and explained variance: the share of the spread of y that a prediction accounts for.

``R2 = 1 - sum w (y - p)^2 / sum w (y - mean)^2``: 1 is perfect, 0 is as good as the mean of y, negative is worse.
"""

import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning
from hyperplan.metrics._arguments import Bool, Null, OneOf, checked
from hyperplan.metrics._regression_targets import (
    MULTIOUTPUT_WITH_VARIANCE,
    Targets,
    check_targets,
    column_means,
    column_sums,
)
from hyperplan.metrics._squared_errors import squared_difference


@checked(multioutput=OneOf(MULTIOUTPUT_WITH_VARIANCE, Null), force_finite=Bool)
def r2_score(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average", force_finite=True):
    """Coefficient of determination.

    With a constant `y_true` the quotient is 0/0 for a perfect prediction and infinite for any other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average", "variance_weighted"}, array-like of shape (n_outputs,) or None, \
default="uniform_average"
        One score per output, their mean, their mean weighted by the variances of the outputs or by these weights.
    force_finite : bool, default=True
        Whether a constant `y_true` gives 1.0 (perfect) or 0.0 (else) instead of NaN or minus infinity.

    Returns
    -------
    score : float or ndarray of shape (n_outputs,)
        At most 1; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from hyperplan.metrics import r2_score
    >>> round(r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.9486
    >>> r2_score([1, 2, 3], [2, 2, 2])
    0.0
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    if is_too_short(targets, "R^2"):
        return float("nan")
    lost = column_sums(squared_difference, targets)
    return explained_share(lost, _spread(targets, column_sums), targets.multioutput, force_finite)


@checked(multioutput=MULTIOUTPUT_WITH_VARIANCE, force_finite=Bool)
def explained_variance_score(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average", force_finite=True):
    """``1 - var(y - p) / var(y)``: R2 of the prediction shifted by its mean error.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average", "variance_weighted"} or array-like of shape (n_outputs,), \
default="uniform_average"
        One score per output, their mean, their mean weighted by the variances of the outputs or by these weights.
    force_finite : bool, default=True
        Whether a constant `y_true` gives 1.0 (perfect) or 0.0 (else) instead of NaN or minus infinity.

    Returns
    -------
    score : float or ndarray of shape (n_outputs,)
        At most 1.

    Examples
    --------
    >>> from hyperplan.metrics import explained_variance_score
    >>> explained_variance_score([1, 2, 3], [2, 3, 4])
    1.0
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    bias = column_means(np.subtract, targets)
    lost = column_means(lambda truth, prediction: (truth - prediction - bias) ** 2, targets)
    return explained_share(lost, _spread(targets, column_means), targets.multioutput, force_finite)


def _spread(targets: Targets, total):
    """Squared deviations of the truth from its mean."""
    mean = column_means(lambda truth, _: truth, targets)
    return total(lambda truth, _: (truth - mean) ** 2, targets)


def is_too_short(targets: Targets, symbol) -> bool:
    """Whether there are fewer than two rows, which is said in a warning."""
    if (short := targets.truth.shape[0] < 2) is True:
        message = f"{symbol} score is not well-defined with less than two samples."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
    return short


def explained_share(lost, total, multioutput, force_finite=True):
    """``1 - lost / total`` per output and their mean; 0/0 is 1 and x/0 is 0 when `force_finite`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1.0 - lost / total
    if force_finite:
        scores = np.where(lost == 0.0, 1.0, np.where(total == 0.0, 0.0, scores))
    if isinstance(multioutput, str):
        if multioutput == "raw_values":
            return scores
        by_variance = multioutput == "variance_weighted" and np.any(total != 0.0)
        multioutput = total if by_variance else None
    with np.errstate(invalid="ignore"):  # a weight of zero times an infinite score is NaN, as documented
        return float(np.average(scores, weights=multioutput))
