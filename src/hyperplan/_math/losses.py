"""Losses as records: what a loss is called, which targets it accepts, how smooth it is, and its numbers.

A loss l(y, f) compares a target y with a score f (before the link).  Margin losses use m = y f with y = +1 or -1.

    name                          l(y, f)                                  smoothness  bounds 0/1 from above
    zero_one                      1{m <= 0}                                -           itself
    logistic                      log(1 + e^-m)                            1/4         no (log 2 at m = 0)
    hinge                         (1 - m)_+                                -           yes
    squared_hinge                 (1 - m)_+^2                              2           yes
    half_squared_hinge            1/2 (1 - m)_+^2                          1           no (1/2 at m = 0)
    modified_huber                (1 - m)_+^2, or -4m for m < -1           2           yes
    exponential                   e^-m                                     -           yes
    perceptron                    (-m)_+                                   -           no (f = 0 costs nothing)
    squared                       1/2 (y - f)^2                            1
    squared_full                  (y - f)^2                                2
    gaussian                      1/2 log(2 pi s^2) + (y - f)^2 / (2 s^2)  1 / s^2
    epsilon_insensitive           (|y - f| - e)_+                          -
    squared_epsilon_insensitive   (|y - f| - e)_+^2                        2
    huber                         1/2 r^2, or d |r| - d^2/2 for |r| > d    1
    quantile                      q (y - f)_+ + (1 - q) (f - y)_+          -
    log_loss                      log(1 + e^f) - y f, 0 <= y <= 1          1/4
    poisson, gamma, tweedie       half deviances with mean e^f             -

"Smoothness" is the largest curvature: the factor of ``lambda_max(X'X / n)`` in a gradient step 1/L.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hyperplan._math import _loss_kernels as k
from hyperplan._math._conjugates import CONJUGATES
from hyperplan._math.links import HALF_LOGIT, IDENTITY, LOG, LOGIT, Link, softmax

TARGETS: dict[str, tuple[Callable, str]] = {
    "sign": (lambda y: np.abs(y) == 1.0, "-1 or +1"),
    "unit": (lambda y: (y >= 0.0) & (y <= 1.0), "between 0 and 1"),
    "real": (np.isfinite, "finite"),
    "nonnegative": (lambda y: (y >= 0.0) & np.isfinite(y), "finite and >= 0"),
    "positive": (lambda y: (y > 0.0) & np.isfinite(y), "finite and > 0"),
}


@dataclass(frozen=True)
class Loss:
    """A loss and what is known about it; `get_loss` makes one by name.

    Attributes
    ----------
    name, code : str, int
        Name in the registry; integer that selects the branch of the kernels.
    target : str
        Key of ``TARGETS``: which y are allowed.
    link : Link
        How a score becomes a mean or a probability.
    parameter, parameter_name : float, str
        epsilon, delta, level, sigma or power; 0 and "" without one.
    smoothness, lipschitz : float
        Upper bounds of the curvature and of the slope in f (inf when there is none).
    convex, differentiable, bounds_zero_one : bool
        Whether it is convex in f, has a slope everywhere, is an upper bound of the 0/1 loss.

    Examples
    --------
    >>> from hyperplan.optimize import get_loss
    >>> loss = get_loss("logistic")
    >>> round(float(loss.value(1, 0.0)), 6), float(loss.gradient(1, 0.0)), float(loss.curvature(1, 0.0))
    (0.693147, -0.5, 0.25)
    """

    name: str
    code: int
    target: str
    link: Link
    smoothness: float = math.inf
    lipschitz: float = math.inf
    parameter: float = 0.0
    parameter_name: str = ""
    convex: bool = True
    differentiable: bool = True
    bounds_zero_one: bool = False

    def value(self, y, f):
        """l(y, f), elementwise; `y` must be in the loss's domain."""
        return self._apply(k.fill_values, y, f)

    def gradient(self, y, f):
        """Derivative in f (at a kink a subgradient)."""
        return self._apply(k.fill_slopes, y, f)

    def curvature(self, y, f):
        """Second derivative in f, 0 on the pieces where the loss is linear."""
        return self._apply(k.fill_curvatures, y, f)

    def conjugate(self, y, u):
        """``sup_f u f - l(y, f)``; inf where u is no slope of the loss."""
        if self.code not in CONJUGATES:
            raise ValueError(f"The conjugate of the loss {self.name!r} has no closed form.")
        y, u = self.check_target(y), np.asarray(u, dtype=np.float64)
        return CONJUGATES[self.code](y, u, self.parameter)

    def mean(self, y, f, weight=None) -> float:
        """Weighted mean of the loss."""
        return float(np.average(self.value(y, f), weights=weight))

    def check_target(self, y) -> np.ndarray:
        """`y` as float64, or a ValueError that names the first value outside the domain."""
        y = np.asarray(y, dtype=np.float64)
        allowed, words = TARGETS[self.target]
        bad = np.flatnonzero(~allowed(y))
        if bad.size:
            raise ValueError(
                f"The loss {self.name!r} needs targets {words}: value {y.flat[bad[0]]!r} at position {bad[0]} is not."
            )
        return y

    def _apply(self, fill, y, f):
        y, f = np.broadcast_arrays(self.check_target(y), np.asarray(f, dtype=np.float64))
        out = np.empty(y.size)
        fill(self.code, float(self.parameter), np.ascontiguousarray(y).ravel(), np.ascontiguousarray(f).ravel(), out)
        return out.reshape(y.shape)


def _margin(name, code, **facts):
    return Loss(name, code, "sign", facts.pop("link", IDENTITY), **facts)


def _residual(name, code, **facts):
    return Loss(name, code, "real", IDENTITY, **facts)


def _registry() -> dict[str, Loss]:
    kinked = {"differentiable": False}
    losses = [
        _margin("zero_one", k.ZERO_ONE, convex=False, bounds_zero_one=True, **kinked),
        _margin("logistic", k.LOGISTIC, smoothness=0.25, lipschitz=1.0, link=LOGIT),
        _margin("hinge", k.HINGE, lipschitz=1.0, bounds_zero_one=True, **kinked),
        _margin("squared_hinge", k.SQUARED_HINGE, smoothness=2.0, bounds_zero_one=True),
        _margin("half_squared_hinge", k.HALF_SQUARED_HINGE, smoothness=1.0),
        _margin("modified_huber", k.MODIFIED_HUBER, smoothness=2.0, lipschitz=4.0, bounds_zero_one=True),
        _margin("exponential", k.EXPONENTIAL, bounds_zero_one=True, link=HALF_LOGIT),
        _margin("perceptron", k.PERCEPTRON, lipschitz=1.0, **kinked),
        _residual("squared", k.SQUARED, smoothness=1.0),
        _residual("squared_full", k.SQUARED_FULL, smoothness=2.0),
        _residual("gaussian", k.GAUSSIAN, smoothness=1.0, parameter=1.0, parameter_name="sigma"),
        _residual(
            "epsilon_insensitive",
            k.EPSILON_INSENSITIVE,
            lipschitz=1.0,
            parameter=0.1,
            parameter_name="epsilon",
            **kinked,
        ),
        _residual(
            "squared_epsilon_insensitive",
            k.SQUARED_EPSILON_INSENSITIVE,
            smoothness=2.0,
            parameter=0.1,
            parameter_name="epsilon",
        ),
        _residual("huber", k.HUBER, smoothness=1.0, lipschitz=1.35, parameter=1.35, parameter_name="delta"),
        _residual("quantile", k.QUANTILE, lipschitz=0.5, parameter=0.5, parameter_name="level", **kinked),
        Loss("log_loss", k.LOG_LOSS, "unit", LOGIT, smoothness=0.25, lipschitz=1.0),
        Loss("poisson", k.POISSON, "nonnegative", LOG),
        Loss("gamma", k.GAMMA, "positive", LOG),
        Loss("tweedie", k.TWEEDIE, "nonnegative", LOG, parameter=1.5, parameter_name="power"),
    ]
    return {loss.name: loss for loss in losses}


LOSSES = _registry()
ALIASES = {"absolute": ("epsilon_insensitive", 0.0), "pinball": ("quantile", None), "log": ("logistic", None)}


def _with_sigma(loss, sigma):
    return replace(loss, parameter=sigma, smoothness=1.0 / sigma**2)


def _with_level(loss, level):
    return replace(loss, parameter=level, lipschitz=max(level, 1.0 - level))


def _with_delta(loss, delta):
    return replace(loss, parameter=delta, lipschitz=delta)


def _with_epsilon(loss, epsilon):
    return replace(loss, parameter=epsilon)


def _with_power(loss, power):
    target = "real" if power == 0 else "nonnegative" if power < 2 else "positive"
    return replace(loss, parameter=power, target=target, convex=1 <= power <= 2)


_PARAMETERS: dict[str, tuple[Callable, Callable, str]] = {
    "sigma": (_with_sigma, lambda v: v > 0, "> 0"),
    "level": (_with_level, lambda v: 0 < v < 1, "strictly between 0 and 1"),
    "delta": (_with_delta, lambda v: v > 0, "> 0"),
    "epsilon": (_with_epsilon, lambda v: v >= 0, ">= 0"),
    "power": (_with_power, lambda v: v == 0 or v >= 1, "0 or >= 1 (no distribution exists between)"),
}


def get_loss(loss, parameter=None) -> Loss:
    """A `Loss` by name, with its parameter (epsilon, delta, level, sigma or power) where it has one.

    Parameters
    ----------
    loss : str or Loss
        A name among ``LOSSES`` (or "absolute", "pinball", "log"); a `Loss` is returned as it is.
    parameter : float, default=None
        None keeps the default of that loss.

    Returns
    -------
    Loss
        The record.

    Examples
    --------
    >>> from hyperplan.optimize import get_loss
    >>> float(get_loss("huber", 2.0).value(0.0, 10.0))
    18.0
    """
    if isinstance(loss, Loss):
        return loss
    name, default = ALIASES.get(loss, (loss, None))
    if name not in LOSSES:
        raise ValueError(f"Unknown loss {loss!r}: choose among {sorted([*LOSSES, *ALIASES])}.")
    record = LOSSES[name]
    parameter = default if parameter is None else parameter
    if parameter is None:
        return record
    if not record.parameter_name:
        raise ValueError(f"The loss {loss!r} has no parameter, got {parameter!r}.")
    change, allowed, words = _PARAMETERS[record.parameter_name]
    if not (math.isfinite(parameter) and allowed(parameter)):
        raise ValueError(f"{record.parameter_name} of the loss {loss!r} must be {words}, got {parameter!r}.")
    return change(record, float(parameter))


@dataclass(frozen=True)
class MulticlassLoss:
    """Negative log-likelihood of the softmax: ``log sum_k e^{f_k} - f_y`` for scores f of shape (n, K).

    Adding a constant to all scores of a row changes nothing: fix one class or penalise to have one solution.

    Examples
    --------
    >>> from hyperplan.optimize import MulticlassLoss
    >>> loss = MulticlassLoss()
    >>> loss.value([1], [[0.0, 0.0]]).round(6).tolist(), loss.gradient([1], [[0.0, 0.0]]).tolist()
    ([0.693147], [[0.5, -0.5]])
    """

    name: str = "multiclass_nll"
    smoothness: float = 0.5  # diag(p) - p p' has no eigenvalue above 1/2
    lipschitz: float = math.sqrt(2.0)

    def value(self, codes, scores):
        """One loss per row; `codes` are integers below K."""
        codes, scores = self._check(codes, scores)
        top = scores.max(axis=1)
        return np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - scores[np.arange(len(codes)), codes]

    def gradient(self, codes, scores):
        """``softmax(f) - one_hot(y)``, shape (n, K)."""
        codes, scores = self._check(codes, scores)
        slope = np.empty_like(scores)
        k.softmax_nll(codes, scores, np.ones(len(codes)), slope)
        return slope

    def curvature(self, codes, scores):
        """``diag(p) - p p'`` per row, shape (n, K, K)."""
        p = softmax(self._check(codes, scores)[1], axis=1)
        return p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])

    def conjugate(self, codes, u):
        """Negative entropy of ``u + one_hot(y)`` where that is a probability vector, else inf; one per row."""
        codes, p = self._check(codes, np.array(u, dtype=np.float64))
        p[np.arange(len(codes)), codes] += 1.0
        inside = (p >= 0.0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(p > 0.0, p * np.log(p), 0.0).sum(axis=1)
        return np.where(inside, entropy, np.inf)

    def mean(self, codes, scores, weight=None) -> float:
        """Weighted mean of the loss."""
        return float(np.average(self.value(codes, scores), weights=weight))

    def _check(self, codes, scores):
        codes, scores = np.asarray(codes), np.ascontiguousarray(scores, dtype=np.float64)
        if scores.ndim != 2 or codes.shape != scores.shape[:1]:
            raise ValueError(f"Need n codes and scores of shape (n, K), got {codes.shape} and {scores.shape}.")
        if codes.dtype.kind not in "iu" or ((codes < 0) | (codes >= scores.shape[1])).any():
            raise ValueError(f"Class codes must be integers in [0, {scores.shape[1]}).")
        return codes.astype(np.intp, copy=False), scores


def flooding(f, grad, level):
    """``|L - level| + level`` of an objective L and its gradient ``sign(L - level) grad L``.

    Its minimisers are all points where L equals `level` (if L goes that low), its minimum value is `level`; at those
    points it has a kink, so that gradient descent with a constant step ends up oscillating around them.

    Parameters
    ----------
    f, grad : callable
        The objective (for instance the mean loss of a mini-batch) and its gradient.
    level : float
        The flood level, >= 0.

    Returns
    -------
    flooded, flooded_grad : callable
        The flooded objective and gradient.

    Examples
    --------
    >>> from hyperplan.optimize import flooding
    >>> value, slope = flooding(lambda t: (t - 1) ** 2, lambda t: 2 * (t - 1), 0.25)
    >>> value(0.5), value(1.0), round(float(slope(1.2)), 6)
    (0.25, 0.5, -0.4)
    """
    if not level >= 0:
        raise ValueError(f"The flood level must be >= 0, got {level!r}.")

    def flooded(x, *args):
        return abs(f(x, *args) - level) + level

    def flooded_grad(x, *args):
        return np.sign(f(x, *args) - level) * grad(x, *args)

    return flooded, flooded_grad
