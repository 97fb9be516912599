"""Isotonic regression: ``min_f sum_i w_i (y_i - f(x_i))^2`` over increasing f, exactly, by pooling adjacent violators.

The solution is known by its conditions of optimality: with ``G_k = sum_{i <= k} w_i (y_i - f_i)``, all G_k are at least
0, the last is 0, and G_k = 0 wherever f increases.  See Barlow, Bartholomew, Bremner, Brunk (1972), Statistical
inference under order restrictions.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._math._isotonic_kernels import merge_equal, pool_adjacent

ROUNDING = 1e-9  # of sums of many terms


class IsotonicFit(NamedTuple):
    """Corners of the increasing function: between them it is linear, outside constant."""

    x: np.ndarray
    y: np.ndarray
    certificate: Certificate

    def __call__(self, x):
        return np.interp(x, self.x, self.y)


def isotonic(x, y, weight=None) -> IsotonicFit:
    """The increasing function of x that is closest to y.

    Rows with equal x (to 15 digits after the point) share one value; rows of weight 0 do not count.

    >>> import numpy as np
    >>> from hyperplan._math.isotonic import isotonic
    >>> fit = isotonic(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    >>> fit(np.array([0.0, 2.0, 2.5, 5.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = np.ones(x.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    kept = np.flatnonzero(weight > 0)
    order = kept[np.lexsort((y[kept], x[kept]))]
    x, y, weight = x[order], y[order], weight[order]
    starts = np.empty(x.shape[0], dtype=np.intp)
    count = merge_equal(x, y, weight, np.finfo(np.float64).resolution, starts)
    x, y, weight = x[starts[:count]], y[:count].copy(), weight[:count].copy()
    fitted = pooled(y, weight)
    corner = np.ones(count, dtype=bool)  # the middle of a flat piece says nothing new
    corner[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return IsotonicFit(x[corner], fitted[corner], _certificate(y, weight, fitted))


def pooled(y, weight):
    """Increasing least-squares fit of a sequence."""
    mean, mass, size = np.empty_like(y), np.empty_like(y), np.empty(y.shape[0], dtype=np.intp)
    blocks = pool_adjacent(y, weight, mean, mass, size)
    return np.repeat(mean[:blocks], size[:blocks])


def _certificate(y, weight, fitted):
    """How far the conditions of optimality are from being met, in units of the weighted size of y."""
    partial = np.cumsum(weight * (y - fitted))
    scale = float((weight * np.abs(y)).sum()) or 1.0
    slack = float((np.maximum(partial[:-1], 0.0) * np.diff(fitted)).max(initial=0.0))
    violation = max(float((-partial).max(initial=0.0)), abs(float(partial[-1])) if partial.size else 0.0, slack)
    return Certificate(
        kind="conditions of optimality",
        guarantee="no increasing function has a smaller sum of squares, up to rounding",
        value=violation / scale,
        bound=ROUNDING,
        reference="Barlow, Bartholomew, Bremner, Brunk (1972), theorem 1.3",
        details={"pieces": int(np.unique(fitted).size), "points": int(y.size)},
    )
