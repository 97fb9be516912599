"""Rows that a round of boosting sees, drawn by how much they matter, and the weights that keep sums unbiased.

GOSS keeps the share a of rows with the largest |g| and draws a share b of **all** rows from the rest, which then count
(1 - a) / b times.  MVS keeps row i with probability ``p_i = min(1, sqrt(g_i^2 + lambda h_i^2) / mu)``, where mu makes
the p_i add up to s n, and counts it 1 / p_i times.  In both, the expected sum of the derivatives over any fixed set of
rows is their sum over all its rows.

A sampler is called as ``sampler(gradient, hessian, generator)`` and returns (rows, factors): ascending row numbers and
how many times each counts.
"""

from typing import NamedTuple

import numpy as np


class Goss(NamedTuple):
    """Gradient-based one-side sampling: the shares a and b of the module's docstring."""

    top_rate: float
    other_rate: float

    def __call__(self, gradient, hessian, generator):
        n = gradient.shape[0]
        n_top = min(round(self.top_rate * n), n - 1)
        n_other = min(max(round(self.other_rate * n), 1), n - n_top)
        top = largest(np.abs(gradient), n_top)
        rest = np.flatnonzero(~top)
        chosen = rest[generator.choice(rest.shape[0], size=n_other, replace=False, shuffle=False)]
        kept = top.copy()
        kept[chosen] = True
        rows = np.flatnonzero(kept)
        # (n - n_top) / n_other is (1 - a) / b, with the roundings of a n and b n
        return rows, np.where(top[rows], 1.0, rest.shape[0] / n_other)


class Mvs(NamedTuple):
    """Minimal variance sampling: the share s of rows to expect, and lambda."""

    share: float
    lambda_: float

    def __call__(self, gradient, hessian, generator):
        g, h = gradient.astype(np.float64), hessian.astype(np.float64)
        p = mvs_probabilities(g, h, self.share, self.lambda_)
        rows = np.flatnonzero(generator.random(p.shape[0]) < p)
        if rows.shape[0] == 0:  # a tree needs a row; happens for a handful of rows only
            rows = np.array([int(np.argmax(p))])
        return rows, 1.0 / p[rows]


def largest(values, count):
    """Mask of the `count` largest values; of equal ones the first."""
    if count == 0:
        return np.zeros(values.shape[0], dtype=bool)
    threshold = np.partition(values, values.shape[0] - count)[values.shape[0] - count]
    mask = values > threshold
    missing = count - np.count_nonzero(mask)
    mask[np.flatnonzero(values == threshold)[:missing]] = True
    return mask


def mvs_probabilities(gradient, hessian, share, lambda_) -> np.ndarray:
    """``min(1, score / mu)`` with ``score = sqrt(gradient^2 + lambda hessian^2)``, adding up to ``share n``.

    With the scores sorted, mu when the k largest are certain is the sum of the others over ``share n - k``; the right
    k is the smallest for which no other score exceeds it.  Rows without any score are left out, all of them being
    kept with probability `share` when there is nothing else.
    """
    score = np.sqrt(gradient * gradient + lambda_ * hessian * hessian)
    n, expected = score.shape[0], share * score.shape[0]
    positive = np.count_nonzero(score)
    if positive == 0:
        return np.full(n, share)
    if expected >= positive:
        return (score > 0).astype(np.float64)
    ordered = np.sort(score)[::-1]
    certain = np.arange(int(np.ceil(expected)))  # k < share n, for the others share the rest
    others = np.cumsum(ordered[::-1])[::-1][certain]
    mu = others / (expected - certain)
    fits = ordered[certain] <= mu * (1.0 + 1e-12)
    k = int(np.argmax(fits)) if fits.any() else certain[-1]
    return np.minimum(score / mu[k], 1.0)


def make_sampler(name, share, top_rate, other_rate, mvs_lambda):
    """The sampler by name, None without one."""
    if name is None:
        return None
    if name == "mvs":
        return Mvs(float(share), float(mvs_lambda))
    if share < 1.0:
        raise ValueError(f"sampling='goss' draws top_rate + other_rate of the rows: leave subsample={share} at 1.0.")
    if top_rate + other_rate > 1.0:
        raise ValueError(f"top_rate + other_rate must be at most 1, got {top_rate} + {other_rate}.")
    return Goss(float(top_rate), float(other_rate))
