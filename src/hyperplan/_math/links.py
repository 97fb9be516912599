"""Links between a score f in R and a mean: sigmoid, softmax, probit, odds, log, and any distribution function.

All are exact in both tails: ``sigmoid(-800)`` is a tiny positive number or 0, never NaN, and ``sigmoid(-z)`` equals
``1 - sigmoid(z)`` up to one rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special


def sigmoid(z):
    """Logistic function ``1 / (1 + e^-z)``.

    >>> float(sigmoid(0.0))
    0.5
    """
    return special.expit(np.asarray(z, dtype=np.float64))


def logit(p):
    """Inverse of `sigmoid`: the log-odds ``log(p / (1 - p))``; -inf at 0 and inf at 1.

    >>> float(logit(0.5))
    0.0
    """
    return special.logit(_probability(p))


def odds(p):
    """``p / (1 - p)``; inf at 1.

    >>> float(odds(0.75))
    3.0
    """
    p = _probability(p)
    with np.errstate(divide="ignore"):
        return p / (1.0 - p)


def odds_ratio(coef):
    """What one more unit of a feature multiplies the odds by in a logistic model: ``e^w``.

    >>> round(float(odds_ratio(0.7)), 5)
    2.01375
    """
    return np.exp(np.asarray(coef, dtype=np.float64))


def softmax(z, axis=-1):
    """``e^{z_k} / sum_l e^{z_l}``, shifted by the largest score so that nothing overflows.

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    return special.softmax(np.asarray(z, dtype=np.float64), axis=axis)


def probit(z):
    """The standard normal distribution function, the inverse link of probit regression.

    >>> float(probit(0.0))
    0.5
    """
    return special.ndtr(np.asarray(z, dtype=np.float64))


def half_slope_sigmoid(a):
    """``1 / (1 + e^{-a/2}) = (1 + tanh(a/4)) / 2``; its derivative is ``g (1 - g) / 2``, half the usual slope."""
    return sigmoid(0.5 * np.asarray(a, dtype=np.float64))


def _probability(p):
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("A probability must lie in [0, 1].")
    return p


@dataclass(frozen=True)
class Link:
    """A score f and the mean it stands for: ``mean(f)``, its derivative, and ``score(mean)`` back.

    Attributes
    ----------
    name : str
        Name of the link g with ``g(mean) = f``.
    mean, slope, score : callable
        ``g^-1``, the derivative of ``g^-1``, and g, all vectorised.
    """

    name: str
    mean: Callable
    slope: Callable
    score: Callable


def _normal_density(z):
    return np.exp(-0.5 * np.square(z)) / np.sqrt(2.0 * np.pi)


def _log(mean):
    mean = np.asarray(mean, dtype=np.float64)
    if not (mean >= 0.0).all():
        raise ValueError("A mean under the log link must be positive.")
    with np.errstate(divide="ignore"):
        return np.log(mean)


def _exp(f):
    with np.errstate(over="ignore"):
        return np.exp(np.asarray(f, dtype=np.float64))


IDENTITY = Link("identity", lambda f: np.asarray(f, np.float64), np.ones_like, lambda p: np.asarray(p, np.float64))
LOGIT = Link("logit", sigmoid, lambda f: sigmoid(f) * sigmoid(-np.asarray(f, np.float64)), logit)
HALF_LOGIT = Link(  # the exponential loss: its population minimiser is half the log-odds
    "half logit",
    lambda f: sigmoid(2.0 * np.asarray(f, np.float64)),
    lambda f: 2.0 * LOGIT.slope(2.0 * np.asarray(f, np.float64)),
    lambda p: 0.5 * logit(p),
)
HALF_SLOPE = Link(
    "half-slope sigmoid",
    half_slope_sigmoid,
    lambda a: 0.5 * half_slope_sigmoid(a) * half_slope_sigmoid(-np.asarray(a, np.float64)),
    lambda p: 2.0 * logit(p),
)
PROBIT = Link("probit", probit, _normal_density, lambda p: special.ndtri(_probability(p)))
LOG = Link("log", _exp, _exp, _log)

LINKS = {link.name: link for link in (IDENTITY, LOGIT, HALF_LOGIT, HALF_SLOPE, PROBIT, LOG)}


def distribution_link(name, cdf, density, quantile) -> Link:
    """A link from any distribution function: probability = cdf(score).

    >>> import numpy as np
    >>> cauchy = distribution_link("cauchit", lambda z: 0.5 + np.arctan(z) / np.pi,
    ...                            lambda z: 1 / (np.pi * (1 + z * z)), lambda p: np.tan(np.pi * (p - 0.5)))
    >>> float(cauchy.mean(0.0))
    0.5
    """
    return Link(name, cdf, density, quantile)
