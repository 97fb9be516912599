"""Losses of gradient boosting: residuals, leaf values and means over the training rows.

    name            loss l(y, f)                               residual -dl/df       leaf value
    squared_error   1/2 (y - f)^2                              y - f                 mean residual
    absolute_error  |y - f|                                    sign(y - f)           median of y - f
    quantile        a (y - f)_+ + (1 - a) (f - y)_+            a or a - 1            quantile of y - f
    huber           1/2 r^2, or d |r| - d^2/2 for |r| > d      r cut at +-d          median plus one step
    log_loss        log(1 + e^f) - y f; softmax for K > 2      y - p                 Newton step sum r / sum p (1 - p)
    exponential     e^(-f) or e^f                              e^(-f) or -e^f        Newton step

Huber's d is the a-quantile of ``|y - f|``, anew in each stage.  As in scikit-learn, medians and quantiles are the least
value that reaches its share of the weight, Newton steps for K classes carry the factor (K - 1) / K, and squared error
and binary log-loss are reported doubled.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from hyperplan._core.parallel import spans
from hyperplan._math.links import softmax
from hyperplan.ensemble import _gradient_boosting_kernels as k
from hyperplan.ensemble._gradient_boosting_walk import in_parts

ROWS = 16_384  # rows of one task
CODES = {
    "squared_error": k.SQUARED,
    "absolute_error": k.ABSOLUTE,
    "quantile": k.QUANTILE,
    "huber": k.HUBER,
    "log_loss": k.BINOMIAL,
    "exponential": k.EXPONENTIAL,
}
NEWTON = (k.BINOMIAL, k.MULTINOMIAL, k.EXPONENTIAL)


class BoostingLoss(NamedTuple):
    """A loss as its number for the kernels; `alpha` is the level of quantiles, `delta` the width of Huber's loss."""

    code: int
    n_classes: int = 1
    alpha: float = 0.5
    delta: float = 0.0

    @property
    def parameter(self):
        return self.delta if self.code == k.HUBER else self.alpha

    @property
    def reported(self):
        """Factor of the loss in reports."""
        return 2.0 if self.code in (k.SQUARED, k.BINOMIAL) else 1.0

    def residuals(self, y, raw):
        """Minus the slopes; raw and result have shape (n_trees_per_stage, n_rows)."""
        out = np.empty_like(raw)
        in_parts(
            lambda s: k.residuals(self.code, self.parameter, y, raw, s.start, s.stop, out), spans(y.shape[0], ROWS)
        )
        return out

    def mean(self, y, raw, weight, mask=None):
        """Weighted mean loss (as reported) of the rows outside and inside the mask; NaN without rows."""
        inside = np.ones(y.shape[0], dtype=np.uint8) if mask is None else mask
        parts = spans(y.shape[0], ROWS)
        sums = np.zeros((len(parts), 2, 2))

        def task(j):
            part = parts[j]
            k.loss_sums(self.code, self.parameter, y, raw, weight, inside, part.start, part.stop, sums[j])

        in_parts(task, range(len(parts)))
        total = sums.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.reported * total[:, 0] / total[:, 1]

    def widened(self, y, raw, weight):
        """Huber's loss with the delta of this stage; other losses as they are."""
        if self.code != k.HUBER:
            return self
        gap = np.abs(y - raw[0])
        order = np.argsort(gap)
        sums = np.cumsum(weight[order])
        wanted = max(100.0 * self.alpha / 100.0 * sums[-1], 5e-324)
        return self._replace(delta=float(gap[order[min(np.searchsorted(sums, wanted), gap.shape[0] - 1)]]))

    def set_leaves(self, nodes, leaves, column, y, raw, residual, weight, mask):
        """Write the leaf values that lower the loss into `nodes.value`; `mask` flags the rows the tree was grown on."""
        if self.code == k.SQUARED:
            return
        value, left = nodes.value[:, 0], nodes.children_left
        bounds = np.zeros(left.shape[0] + 2, dtype=np.int64)
        rows = np.empty(int(mask.sum()), dtype=np.int64)
        k.rows_by_leaf(leaves, mask, left.shape[0], bounds, rows)
        if self.code in NEWTON:
            new = np.empty(value.shape[0])
            arguments = (self.code, self.n_classes, column, y, residual, weight, bounds, rows, left)
            k.newton_leaves(*arguments, new)
        else:
            new = np.zeros(value.shape[0])
            gaps = (y - raw)[rows]
            order = np.lexsort((gaps, leaves[rows]))
            level = 100.0 * (self.alpha if self.code == k.QUANTILE else 0.5) / 100.0
            k.quantile_leaves(gaps[order], weight[rows][order], bounds, level, self.delta, left, new)
        is_leaf = left < 0
        value[is_leaf] = new[is_leaf]

    def raw_of(self, prediction):
        """Raw predictions (n, n_trees_per_stage) of the first model's numbers or class probabilities."""
        prediction = np.asarray(prediction, dtype=np.float64)
        if self.code not in NEWTON:
            return prediction.reshape(prediction.shape[0], -1)
        least = np.finfo(np.float64).eps
        shares = np.clip(prediction, least, 1.0 - least)
        if self.code == k.MULTINOMIAL:
            logs = np.log(shares)
            return logs - logs.mean(axis=1, keepdims=True)
        return (0.5 if self.code == k.EXPONENTIAL else 1.0) * logit(shares[:, 1:2])

    def shares_of(self, raw):
        """Class probabilities from raw predictions of shape (n, n_trees_per_stage)."""
        if self.code == k.MULTINOMIAL:
            return softmax(raw)
        second = expit(raw[:, 0] * (2.0 if self.code == k.EXPONENTIAL else 1.0))
        return np.column_stack([1.0 - second, second])


def boosting_loss(name, n_classes=1, alpha=0.5) -> BoostingLoss:
    """The record of a loss; log-loss of more than two classes is the multinomial one."""
    code = k.MULTINOMIAL if name == "log_loss" and n_classes > 2 else CODES[name]
    return BoostingLoss(code, n_classes, alpha, delta=0.5 if code == k.HUBER else 0.0)
