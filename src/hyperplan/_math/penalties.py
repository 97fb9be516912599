"""Penalties none, l2, l1 and elastic net as one record: value, proximal operator, conjugate, optimality distance.

    Omega(w) = l1 |w|_1 + (l2 / 2) |w|_2^2

Elastic net of strength s and mixing r in [0, 1] is ``l1 = s r``, ``l2 = s (1 - r)``; outside [0, 1] one part would be
concave.  The intercept is never part of w.  With an orthonormal design, ``|y - Xw|^2 + lam |w|_1`` is solved by
``soft_threshold(ols, lam / 2)``: the squared loss without its one half doubles everything but the penalty.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperplan._math._penalty_kernels import penalty_value, prox_elastic_net, subdifferential_distance


def soft_threshold(z, threshold):
    """``sign(z) (|z| - threshold)_+``: the proximal operator of ``threshold |.|_1``.

    Parameters
    ----------
    z : array-like
        Point, of any shape.
    threshold : float or array-like
        Non-negative.

    Returns
    -------
    ndarray
        Values pulled towards zero by `threshold`; those closer than that become 0.

    Examples
    --------
    >>> from hyperplan.optimize import soft_threshold
    >>> soft_threshold([-3, -1, 0.5, 2.5], 1).tolist()
    [-2.0, 0.0, 0.0, 1.5]
    """
    z, threshold = np.asarray(z, dtype=np.float64), np.asarray(threshold, dtype=np.float64)
    if not (threshold >= 0.0).all():
        raise ValueError("The threshold must not be negative.")
    return z - np.clip(z, -threshold, threshold)


def hard_threshold(z, threshold):
    """Keep the values with ``|z| > threshold``, set the others to 0.

    ``hard_threshold(z, sqrt(2 s))`` is the proximal operator of ``s |.|_0``, whose convex relaxation is l1.

    >>> from hyperplan.optimize import hard_threshold
    >>> hard_threshold([-3, -1, 0.5, 2.5], 1).tolist()
    [-3.0, 0.0, 0.0, 2.5]
    """
    z = np.asarray(z, dtype=np.float64)
    return np.where(np.abs(z) > threshold, z, 0.0)


@dataclass(frozen=True)
class Penalty:
    """``l1 |w|_1 + (l2 / 2) |w|_2^2``; build it with `no_penalty`, `l2_penalty`, `l1_penalty`, `elastic_net_penalty`.

    Examples
    --------
    >>> from hyperplan.optimize import l1_penalty
    >>> penalty = l1_penalty(0.7)
    >>> float(penalty.prox(2.0)), penalty.value([1.0, -2.0])
    (1.3, 2.0999999999999996)
    """

    name: str
    l1: float = 0.0
    l2: float = 0.0

    def __post_init__(self):
        for part in (self.l1, self.l2):
            if not (part >= 0.0 and math.isfinite(part)):
                raise ValueError(f"A penalty strength must be a finite number >= 0, got {part!r}.")

    def value(self, w) -> float:
        """Omega(w)."""
        return float(penalty_value(_flat(w), float(self.l1), float(self.l2)))

    def prox(self, z, step=1.0):
        """``argmin_w 1/2 |w - z|^2 + step Omega(w)``, in the shape of `z`."""
        z = np.asarray(z, dtype=np.float64)
        out = np.empty(z.size)
        prox_elastic_net(_flat(z), float(step * self.l1), float(step * self.l2), out)
        return out.reshape(z.shape)

    def dual_norm(self, u) -> float:
        """Dual norm of the norm inside: ``max |u_j|`` with an l1 part, else ``|u|_2`` (no penalty: inf unless u = 0).

        With l1 alone, w = 0 is optimal exactly when the gradient's dual norm is at most `l1`.
        """
        u = _flat(u)
        if self.l1 > 0.0:
            return float(np.abs(u).max(initial=0.0))
        if self.l2 > 0.0:
            return float(np.linalg.norm(u))
        return math.inf if u.any() else 0.0

    def conjugate(self, u) -> float:
        """``sup_w <u, w> - Omega(w)``: finite everywhere with an l2 part, else the indicator of ``max |u_j| <= l1``."""
        excess = np.maximum(np.abs(_flat(u)) - self.l1, 0.0)
        if self.l2 > 0.0:
            return float(excess @ excess) / (2.0 * self.l2)
        return math.inf if excess.any() else 0.0

    def subdifferential_distance(self, w, gradient) -> float:
        """Largest distance over coordinates of ``-gradient`` to the subdifferential at `w`; 0 at an optimum."""
        return float(subdifferential_distance(_flat(gradient), _flat(w), float(self.l1), float(self.l2)))


def _flat(values):
    return np.ascontiguousarray(values, dtype=np.float64).ravel()


def no_penalty() -> Penalty:
    """Nothing: the proximal operator is the identity."""
    return Penalty("none")


def l2_penalty(strength) -> Penalty:
    """Ridge, ``(strength / 2) |w|^2``: prox ``z / (1 + strength)``."""
    return Penalty("l2", l2=strength)


def l1_penalty(strength) -> Penalty:
    """Lasso, ``strength |w|_1``: prox `soft_threshold`."""
    return Penalty("l1", l1=strength)


def elastic_net_penalty(strength, l1_ratio=0.5) -> Penalty:
    """``strength (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2)`` with l1_ratio in [0, 1].

    >>> round(float(elastic_net_penalty(0.7, 0.3).prox(2.0)), 6)
    1.201342
    """
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(
            f"l1_ratio must lie in [0, 1] (outside, one part of the penalty is concave); got {l1_ratio!r}."
        )
    return Penalty("elasticnet", l1=strength * l1_ratio, l2=strength * (1.0 - l1_ratio))


PENALTIES: dict[str, Callable[[float, float], Penalty]] = {
    "none": lambda strength, l1_ratio: no_penalty(),
    "l2": lambda strength, l1_ratio: l2_penalty(strength),
    "l1": lambda strength, l1_ratio: l1_penalty(strength),
    "elasticnet": elastic_net_penalty,
}


def get_penalty(penalty, strength=1.0, l1_ratio=0.5) -> Penalty:
    """A `Penalty` from a name among ``PENALTIES`` (None is "none"); a `Penalty` is returned as it is."""
    if isinstance(penalty, Penalty):
        return penalty
    name = "none" if penalty is None else penalty
    if name not in PENALTIES:
        raise ValueError(f"Unknown penalty {penalty!r}: choose among {sorted(PENALTIES)}.")
    return PENALTIES[name](strength, l1_ratio)
