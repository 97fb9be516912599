"""Scores of models without a target: log-densities of new points, and the share of points inside a region."""

import numpy as np

from hyperplan._base import check_array, check_consistent_length, check_weight


def mean_negative_log_density(log_density, *, sample_weight=None):
    """``-mean log f(z)``: what a density model loses on new points.

    Parameters
    ----------
    log_density : array-like of shape (n_samples,)
        Logarithms of the density at the points, as `score_samples` of density models returns them.  Minus infinity
        (an impossible point) is allowed, and makes the loss infinite.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points.

    Returns
    -------
    loss : float
        In nats; smaller is better.  It depends on the unit of the data.

    Examples
    --------
    >>> from hyperplan.metrics import mean_negative_log_density
    >>> mean_negative_log_density([-1.0, -2.0, -3.0])
    2.0
    """
    values = check_array(log_density, ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
    if np.isnan(values).any() or np.isposinf(values).any():
        raise ValueError("log_density contains NaN or plus infinity, which no density has at a point")
    check_consistent_length(values, sample_weight)
    weight = check_weight(sample_weight, values)
    used = values if weight is None else values[weight > 0]
    return -float(np.average(used, weights=None if weight is None else weight[weight > 0]))


def coverage_score(y_true, lower, upper, *, sample_weight=None):
    """Share of points inside a region: an interval for each, or a box when there are several columns.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Points.
    lower, upper : array-like, broadcast to the shape of `y_true`
        Ends of the intervals, which belong to them; infinite ends are allowed.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points.

    Returns
    -------
    share : float
        Between 0 and 1; to be compared with the level that the region promises.

    Examples
    --------
    >>> from hyperplan.metrics import coverage_score
    >>> coverage_score([1.0, 2.0, 3.0, 9.0], [0.0, 0.0, 4.0, 8.0], [2.0, 2.0, 5.0, 10.0])
    0.75
    """
    y = check_array(y_true, ensure_2d=False, dtype=np.float64)
    lower, upper = (np.broadcast_to(np.asarray(end, dtype=np.float64), y.shape) for end in (lower, upper))
    if np.isnan(lower).any() or np.isnan(upper).any():
        raise ValueError("lower or upper contains NaN: an interval needs two ends")
    check_consistent_length(y, sample_weight)
    inside = ((lower <= y) & (y <= upper)).reshape(y.shape[0], -1).all(axis=1)
    return float(np.average(inside, weights=check_weight(sample_weight, y)))
