"""Convex conjugates of losses in the score, ``l*(y, u) = sup_f u f - l(y, f)``: what a dual certificate needs.

Vectorised in y and u; inf outside the domain.  For margin losses, s = u y is the slope in the margin.
"""

import numpy as np
from scipy.special import xlogy

from hyperplan._math import _loss_kernels as k


def _inside(value, inside):
    return np.where(inside, value, np.inf)


def _entropy(p):
    """p log p + (1 - p) log(1 - p) on [0, 1]."""
    inside = (p >= 0.0) & (p <= 1.0)
    q = np.clip(p, 0.0, 1.0)
    return _inside(xlogy(q, q) + xlogy(1.0 - q, 1.0 - q), inside)


def _logistic(y, u, _):
    return _entropy(-u * y)


def _log_loss(y, u, _):
    return _entropy(u + y)


def _hinge(y, u, _):
    s = u * y
    return _inside(s, (s >= -1.0) & (s <= 0.0))


def _perceptron(y, u, _):
    s = u * y
    return _inside(np.zeros_like(s), (s >= -1.0) & (s <= 0.0))


def _squared_hinge(y, u, _):
    s = u * y
    return _inside(s + 0.25 * s * s, s <= 0.0)


def _half_squared_hinge(y, u, _):
    s = u * y
    return _inside(s + 0.5 * s * s, s <= 0.0)


def _modified_huber(y, u, _):
    s = u * y
    return _inside(s + 0.25 * s * s, (s >= -4.0) & (s <= 0.0))


def _exponential(y, u, _):
    v = -u * y
    return _inside(xlogy(v, np.maximum(v, 0.0)) - v, v >= 0.0)


def _squared(y, u, _):
    return u * y + 0.5 * u * u


def _squared_full(y, u, _):
    return u * y + 0.25 * u * u


def _gaussian(y, u, sigma):
    return u * y + 0.5 * (sigma * u) ** 2 - 0.5 * np.log(2.0 * np.pi * sigma * sigma)


def _epsilon_insensitive(y, u, epsilon):
    return _inside(u * y + epsilon * np.abs(u), np.abs(u) <= 1.0)


def _squared_epsilon_insensitive(y, u, epsilon):
    return u * y + epsilon * np.abs(u) + 0.25 * u * u


def _huber(y, u, delta):
    return _inside(u * y + 0.5 * u * u, np.abs(u) <= delta)


def _quantile(y, u, level):
    return _inside(u * y, (u >= -level) & (u <= 1.0 - level))


def _poisson(y, u, _):
    v = u + y
    w = np.maximum(v, 0.0)
    return _inside(xlogy(w, w) - w - xlogy(y, y) + y, v >= 0.0)


def _gamma(y, u, _):
    v = 1.0 - u
    w = np.maximum(v, 0.0)
    return _inside(xlogy(w, w) - w * np.log(y) - w + 1.0 + np.log(y), v >= 0.0)


CONJUGATES = {
    k.LOGISTIC: _logistic,
    k.HINGE: _hinge,
    k.SQUARED_HINGE: _squared_hinge,
    k.HALF_SQUARED_HINGE: _half_squared_hinge,
    k.MODIFIED_HUBER: _modified_huber,
    k.EXPONENTIAL: _exponential,
    k.PERCEPTRON: _perceptron,
    k.SQUARED: _squared,
    k.SQUARED_FULL: _squared_full,
    k.GAUSSIAN: _gaussian,
    k.EPSILON_INSENSITIVE: _epsilon_insensitive,
    k.SQUARED_EPSILON_INSENSITIVE: _squared_epsilon_insensitive,
    k.HUBER: _huber,
    k.QUANTILE: _quantile,
    k.LOG_LOSS: _log_loss,
    k.POISSON: _poisson,
    k.GAMMA: _gamma,
}
