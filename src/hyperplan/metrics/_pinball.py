"""Pinball loss, minimised by a quantile, and the share of it that a prediction saves.

``loss = alpha (y - p)`` where ``y >= p``, else ``(1 - alpha) (p - y)``; at ``alpha = 1/2`` half the absolute error.
"""

import numpy as np

from hyperplan.metrics._arguments import Real, checked
from hyperplan.metrics._averaged_quantile import averaged_quantile
from hyperplan.metrics._explained_share import explained_share, is_too_short
from hyperplan.metrics._regression_targets import MULTIOUTPUT, Targets, check_targets, column_means, mean_of_outputs

LEVEL = Real(ge=0, le=1)


def _losses(targets: Targets, alpha, prediction=None):
    """Mean loss per output of the prediction, or of a constant per output."""

    def term(truth, given):
        gap = truth - (given if prediction is None else prediction)
        return np.where(gap >= 0.0, alpha * gap, (alpha - 1.0) * gap)

    return column_means(term, targets)


@checked(alpha=LEVEL, multioutput=MULTIOUTPUT)
def mean_pinball_loss(y_true, y_pred, *, sample_weight=None, alpha=0.5, multioutput="uniform_average"):
    """Mean pinball loss of a prediction of the quantile `alpha`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted quantiles.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    alpha : float in [0, 1], default=0.5
        Level of the quantile; 0.5 is the median.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One number per output, their mean, or their mean with these weights.

    Returns
    -------
    loss : float or ndarray of shape (n_outputs,)
        Zero for a perfect prediction.

    Examples
    --------
    >>> from hyperplan.metrics import mean_pinball_loss
    >>> round(mean_pinball_loss([1, 2, 3], [0, 2, 3], alpha=0.9), 4)
    0.3
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    return mean_of_outputs(_losses(targets, alpha), targets.multioutput)


@checked(alpha=LEVEL, multioutput=MULTIOUTPUT)
def d2_pinball_score(y_true, y_pred, *, sample_weight=None, alpha=0.5, multioutput="uniform_average"):
    """``1 - loss / loss of the best constant``, which is the quantile `alpha` of `y_true`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted quantiles.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    alpha : float in [0, 1], default=0.5
        Level of the quantile; 0.5 is the median.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One score per output, their mean, or their mean with these weights.

    Returns
    -------
    score : float or ndarray of shape (n_outputs,)
        At most 1; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from hyperplan.metrics import d2_pinball_score
    >>> d2_pinball_score([1, 2, 3], [2, 2, 2])
    0.0
    """
    targets = check_targets(y_true, y_pred, sample_weight, multioutput)
    if is_too_short(targets, "D^2"):
        return float("nan")
    best_constant = averaged_quantile(targets.truth, targets.weight, alpha)
    lost, total = _losses(targets, alpha), _losses(targets, alpha, best_constant)
    return explained_share(lost, total, targets.multioutput)


@checked(multioutput=MULTIOUTPUT)
def d2_absolute_error_score(y_true, y_pred, *, sample_weight=None, multioutput="uniform_average"):
    """``1 - mean absolute error / that of the median``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    multioutput : {"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
        One score per output, their mean, or their mean with these weights.

    Returns
    -------
    score : float or ndarray of shape (n_outputs,)
        At most 1; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from hyperplan.metrics import d2_absolute_error_score
    >>> round(d2_absolute_error_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.7647
    """
    return d2_pinball_score(y_true, y_pred, sample_weight=sample_weight, alpha=0.5, multioutput=multioutput)
