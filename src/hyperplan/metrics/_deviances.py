"""Deviances of the Tweedie family: twice the gap in log-likelihood to a prediction that is exact.

Power 0 is the squared error (Gaussian), 1 Poisson, between 1 and 2 compound Poisson-gamma, 2 gamma, 3 inverse
Gaussian.  No distribution has a power between 0 and 1.
"""

import numpy as np
from scipy.special import xlogy

from hyperplan.metrics._arguments import OneOf, Real, checked
from hyperplan.metrics._explained_share import is_too_short
from hyperplan.metrics._regression_targets import Targets, check_single_target, column_means
from hyperplan.metrics._squared_errors import squared_difference

POWER = OneOf(Real(le=0), Real(ge=1))


def _poisson(truth, prediction):
    return 2.0 * (xlogy(truth, truth / prediction) - truth + prediction)


def _gamma(truth, prediction):
    ratio = truth / prediction
    return 2.0 * (ratio - 1.0 - np.log(ratio))


def _unit_deviance(power):
    """The function of truth and prediction whose mean is the deviance."""
    named = {0: squared_difference, 1: _poisson, 2: _gamma}
    if power in named:
        return named[power]

    def deviance(truth, prediction):
        base = np.maximum(truth, 0.0) if power < 0 else truth  # a negative power has a likelihood for any truth
        exact = base ** (2.0 - power) / ((1.0 - power) * (2.0 - power))
        here = prediction ** (1.0 - power)
        return 2.0 * (exact - truth * here / (1.0 - power) + prediction * here / (2.0 - power))

    return deviance


def _check_domain(targets: Targets, power):
    least_truth, least_prediction = targets.truth.min(), targets.prediction.min()
    if power < 0:
        bad, allowed = least_prediction <= 0, "strictly positive y_pred."
    elif power == 0:
        return
    elif power < 2:
        bad, allowed = least_truth < 0 or least_prediction <= 0, "non-negative y and strictly positive y_pred."
    else:
        bad, allowed = least_truth <= 0 or least_prediction <= 0, "strictly positive y and y_pred."
    if bad:
        raise ValueError(f"Mean Tweedie deviance error with power={power} can only be used on {allowed}")


def _mean_deviance(targets: Targets, power):
    _check_domain(targets, power)
    return float(column_means(_unit_deviance(power), targets)[0])


@checked(power=POWER)
def mean_tweedie_deviance(y_true, y_pred, *, sample_weight=None, power=0):
    """Mean deviance of a distribution whose variance is proportional to ``mean ** power``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values: non-negative for powers from 1, positive for powers from 2.
    y_pred : array-like of shape (n_samples,)
        Predicted means, positive except for power 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    power : float, at most 0 or at least 1, default=0
        Power of the variance.

    Returns
    -------
    loss : float
        Zero for a perfect prediction.

    Examples
    --------
    >>> from hyperplan.metrics import mean_tweedie_deviance
    >>> round(mean_tweedie_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0], power=1), 4)
    1.426
    """
    return _mean_deviance(check_single_target(y_true, y_pred, sample_weight, "mean_tweedie_deviance"), power)


def mean_poisson_deviance(y_true, y_pred, *, sample_weight=None):
    """Mean deviance of counts: ``2 mean(y log(y / p) - y + p)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values, non-negative.
    y_pred : array-like of shape (n_samples,)
        Predicted means, positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    loss : float
        Zero for a perfect prediction.

    Examples
    --------
    >>> from hyperplan.metrics import mean_poisson_deviance
    >>> round(mean_poisson_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.426
    """
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=1)


def mean_gamma_deviance(y_true, y_pred, *, sample_weight=None):
    """Mean deviance of positive values with a constant relative spread: ``2 mean(y / p - 1 - log(y / p))``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values, positive.
    y_pred : array-like of shape (n_samples,)
        Predicted means, positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    loss : float
        Zero for a perfect prediction; the same when both arguments are multiplied by a number.

    Examples
    --------
    >>> from hyperplan.metrics import mean_gamma_deviance
    >>> round(mean_gamma_deviance([2, 0.5, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.0569
    """
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=2)


@checked(power=POWER)
def d2_tweedie_score(y_true, y_pred, *, sample_weight=None, power=0):
    """``1 - deviance / deviance of the mean of y_true``; R2 for power 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values: non-negative for powers from 1, positive for powers from 2.
    y_pred : array-like of shape (n_samples,)
        Predicted means, positive except for power 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    power : float, at most 0 or at least 1, default=0
        Power of the variance.

    Returns
    -------
    score : float
        At most 1; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from hyperplan.metrics import d2_tweedie_score
    >>> round(d2_tweedie_score([0.5, 1, 2.5, 7], [1, 1, 5, 3.5], power=1), 4)
    0.4879
    """
    targets = check_single_target(y_true, y_pred, sample_weight, "d2_tweedie_score")
    if is_too_short(targets, "D^2"):
        return float("nan")
    lost = _mean_deviance(targets, power)
    mean = column_means(lambda truth, _: truth, targets)
    constant = targets._replace(prediction=np.broadcast_to(mean, targets.truth.shape))
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant truth: not finite, as in scikit-learn
        return float(1.0 - lost / np.float64(column_means(_unit_deviance(power), constant)[0]))
