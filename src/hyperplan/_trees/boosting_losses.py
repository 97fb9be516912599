"""What boosting needs to know of a loss: derivatives by code, the best constant, how leaves are set, the link.

name             derivatives           leaf values
squared_error    f - y, 1              Newton
absolute_error   sign(f - y), 1        median of the residuals
quantile         1{y < f} - q, 1       q-quantile of the residuals
huber            clipped f - y, 1      median + mean of the clipped rest (Friedman 2001)
poisson, gamma   half deviances, log link    Newton
log_loss         p - y, p (1 - p)      Newton; softmax for three classes and more
exponential      e^-m, m = (2y - 1) f  Newton
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from hyperplan._math import _loss_kernels as codes


class BoostingLoss(NamedTuple):
    """One loss of the table above; see the functions of this module for what its fields mean.

    `code` -1 is softmax, -2 a caller's own loss (`custom` has ``value``, ``gradient``, ``curvature`` and maybe
    ``baseline``, each a function of y and raw predictions), -3 an objective of ranking (see `ranking`).
    """

    name: str
    code: int
    parameter: float = 0.0
    n_outputs: int = 1
    flat: bool = False  # second derivative 1 by decree (0 in truth, or constant)
    line_search: str = ""  # "quantile" or "huber": leaf values from residuals
    link: str = "identity"  # identity, log, logit, half_logit, softmax
    custom: object = None


SOFTMAX, CUSTOM, RANKING = -1, -2, -3


def regression_loss(name, quantile=None) -> BoostingLoss:
    """Loss of a regressor by name; `quantile` is the level of "quantile", the share of small residuals of "huber"."""
    if name == "quantile":
        return BoostingLoss(name, codes.QUANTILE, float(quantile), flat=True, line_search="quantile")
    if name == "huber":
        return BoostingLoss(
            name, codes.HUBER, 0.9 if quantile is None else float(quantile), flat=True, line_search="huber"
        )
    return {
        "squared_error": BoostingLoss(name, codes.SQUARED, flat=True),
        "absolute_error": BoostingLoss(name, codes.EPSILON_INSENSITIVE, flat=True, line_search="quantile"),
        "poisson": BoostingLoss(name, codes.POISSON, link="log"),
        "gamma": BoostingLoss(name, codes.GAMMA, link="log"),
    }[name]


def classification_loss(name, n_classes) -> BoostingLoss:
    """Loss of a classifier; targets are codes 0 .. n_classes - 1 (and -1, +1 inside for "exponential")."""
    if name == "exponential":
        if n_classes > 2:
            raise ValueError(f"loss='exponential' is only defined for two classes, got {n_classes}; use 'log_loss'.")
        return BoostingLoss(name, codes.EXPONENTIAL, link="half_logit")
    if n_classes > 2:
        return BoostingLoss(name, SOFTMAX, n_outputs=n_classes, link="softmax")
    return BoostingLoss(name, codes.LOG_LOSS, link="logit")


def custom_loss(record) -> BoostingLoss:
    """A caller's loss: an object with ``value(y, f)``, ``gradient(y, f)`` and ``curvature(y, f)``, elementwise."""
    return BoostingLoss(getattr(record, "name", type(record).__name__), CUSTOM, custom=record)


def weighted_quantile(values, weight, level) -> float:
    """Minimiser of the pinball loss: interpolated between rows without weights, the smallest one with weights."""
    if weight is None:
        return float(np.quantile(values, level))
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weight[order])
    position = np.searchsorted(cumulated, max(level * cumulated[-1], np.finfo(np.float64).tiny))
    return float(values[order[min(position, values.shape[0] - 1)]])


def baseline(loss: BoostingLoss, y, weight) -> np.ndarray:
    """The best constant raw prediction, one per output."""
    if loss.code == RANKING:  # only differences of scores matter
        return np.zeros(1)
    if loss.custom is not None:
        start = getattr(loss.custom, "baseline", None)
        return np.array([float(start(y, weight)) if start is not None else 0.0])
    if loss.link == "softmax":
        share = np.bincount(y.astype(np.intp), weights=weight, minlength=loss.n_outputs)
        log_share = np.log(np.clip(share / share.sum(), np.finfo(np.float64).eps, None))
        return log_share - log_share.mean()
    if loss.name in ("absolute_error", "huber"):
        return np.array([weighted_quantile(y, weight, 0.5)])
    if loss.name == "quantile":
        return np.array([weighted_quantile(y, weight, loss.parameter)])
    mean = float(np.average(y, weights=weight))
    eps = np.finfo(np.float64).eps
    if loss.link == "log":
        return np.array([np.log(max(mean, eps))])
    if loss.link == "logit":
        p = min(max(mean, eps), 1 - eps)
        return np.array([np.log(p / (1 - p))])
    if loss.link == "half_logit":
        p = min(max((mean + 1) / 2, eps), 1 - eps)
        return np.array([0.5 * np.log(p / (1 - p))])
    return np.array([mean])


def mean_of_raw(loss: BoostingLoss, raw):
    """Predicted mean (regression) or probabilities of the classes, (n, n_classes), from raw (n_outputs, n)."""
    if loss.link == "identity":
        return raw[0]
    if loss.link == "log":
        return np.exp(raw[0])
    if loss.link == "softmax":
        scores = np.exp(raw - raw.max(axis=0))
        return np.ascontiguousarray((scores / scores.sum(axis=0)).T)
    p = expit(raw[0] if loss.link == "logit" else 2.0 * raw[0])
    return np.column_stack([1.0 - p, p])


def score_offset(loss: BoostingLoss, y, weight) -> float:
    """Mean of the part of half deviances that depends on y alone; reported losses leave it out."""
    if loss.name == "poisson":
        part = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)) - y, 0.0)
    elif loss.name == "gamma":
        part = -1.0 - np.log(y)
    else:
        return 0.0
    return float(np.average(part, weights=weight))


def residual_values(loss: BoostingLoss, residual, weight) -> float:
    """Best shift of one leaf for losses of the residual: a quantile, or Huber's one-step estimate."""
    if loss.line_search == "quantile":
        return weighted_quantile(residual, weight, loss.parameter if loss.name == "quantile" else 0.5)
    middle = weighted_quantile(residual, weight, 0.5)
    rest = np.clip(residual - middle, -loss.parameter, loss.parameter)
    return middle + float(np.average(rest, weights=weight))
