"""Gradient boosting on histograms.

F_0 is the best constant; each round adds to every output one tree fitted to the first two derivatives of the loss at
the current raw predictions, shrunk by the learning rate: ``F_m = F_{m-1} + eta T_m``.  `Booster` keeps the state
between rounds, `step` is one round.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, split_map
from hyperplan._math._loss_kernels import LOG_LOSS
from hyperplan._trees import _boosting_loss_kernels as passes
from hyperplan._trees.binned_predictor import add_trees, make_predictor
from hyperplan._trees.boosting_grower import ROWS, Grower
from hyperplan._trees.boosting_losses import CUSTOM, SOFTMAX, residual_values, score_offset
from hyperplan._trees.boosting_oblivious import ObliviousGrower

EMPTY = np.empty(0)


class Round(NamedTuple):
    """What one round did: its trees (one per output), and the identity that certifies its splits.

    `leaf_drop` is ``sum_j G_j^2 / (H_j + lambda)`` over the leaves, from exact sums; `gain_drop` is the same of the
    root plus the gains of all splits, from quantised sums.  In exact arithmetic they are equal.
    """

    trees: list
    leaf_drop: float
    gain_drop: float


class Booster:
    """State of a boosting fit: raw predictions, derivatives and the grower's memory.

    Parameters
    ----------
    data : BinnedData
        Training rows.
    y, weight : ndarray
        Targets (float64, in the loss's domain) and weights (None for all 1).
    loss : BoostingLoss
        The loss.
    options, constraints : GrowthOptions, Constraints
        Shape of the trees.
    raw : ndarray of shape (n_outputs, n_samples)
        Raw predictions so far; updated in place.
    learning_rate, subsample : float
        Shrinkage; share of rows that each round sees.
    seed : int
        Seed of the choices of rows and features; round m of a given seed is always the same.
    sampler : callable, default=None
        ``sampler(gradient, hessian, generator)`` returns the rows a round sees (ascending) and how many times each
        counts; replaces `subsample`.
    """

    def __init__(
        self, data, y, weight, loss, options, constraints, raw, *, learning_rate, subsample=1.0, seed=0, sampler=None
    ):
        self.data, self.y, self.weight, self.loss, self.raw = data, y, weight, loss, raw
        self.learning_rate, self.subsample, self.seed, self.sampler = learning_rate, subsample, seed, sampler
        self.constant_hessian = loss.flat and weight is None and sampler is None
        self.draws = sampler is not None or subsample < 1.0 or options.max_features < 1.0  # numbers at random
        kind = ObliviousGrower if options.growth == "oblivious" else Grower
        self.grower = kind(data, options, constraints, self.constant_hessian)
        n, outputs = data.n_samples, loss.n_outputs
        self.gradient = np.empty((outputs, n), np.float32)
        self.hessian = np.empty((outputs, 0 if self.constant_hessian else n), np.float32)

    def step(self, iteration) -> Round:
        """One round: derivatives, then for each output a tree, its leaf values and the update of `raw`."""
        generator = np.random.default_rng([self.seed, iteration]) if self.draws else None
        trees, leaf_drop, gain_drop = [], 0.0, 0.0
        sums = self._derivatives()
        for output in range(self.loss.n_outputs):
            gradient, hessian = self.gradient[output], self.hessian[output]
            rows, factors = self._sample(gradient, hessian, generator)
            total = sums[output] if rows is None else self._sums_of(rows, gradient, hessian)
            seed = int(generator.integers(2**62)) if self.draws else 0
            leaves = self.grower.grow(gradient, hessian, total, rows, seed)
            values = self.learning_rate * self._leaf_values(leaves, output, rows, factors)
            tree = self.grower.tree(leaves, values)
            self._update(leaves, values, tree, output, rows)
            trees.append(tree)
            leaf, gain = self._identity(leaves, tree)
            leaf_drop, gain_drop = leaf_drop + leaf, gain_drop + gain
        return Round(trees, leaf_drop, gain_drop)

    def _derivatives(self):
        """Fill gradient and hessian; sums of |gradient| and hessian per output, (n_outputs, 2)."""
        pieces = spans(self.data.n_samples, ROWS)
        parts = np.zeros((len(pieces), self.loss.n_outputs, 2))
        weight = EMPTY if self.weight is None else self.weight
        if self.loss.code == CUSTOM:
            return self._custom_derivatives()
        if self.loss.name == "huber":  # the bend follows the residuals
            residual = np.abs(self.y - self.raw[0])
            self.loss = self.loss._replace(parameter=max(float(np.quantile(residual, self._huber_share())), 1e-300))

        def fill(j):
            s = pieces[j]
            if self.loss.code == SOFTMAX:
                passes.fill_softmax(self.y, self.raw, weight, s.start, s.stop, self.gradient, self.hessian, parts[j])
            elif self.loss.code == LOG_LOSS:
                passes.fill_log_loss(
                    self.y, self.raw[0], weight, s.start, s.stop, self.gradient[0], self.hessian[0], parts[j, 0]
                )
            else:
                passes.fill_derivatives(
                    self.loss.code, self.loss.parameter, self.y, self.raw[0], weight, s.start, s.stop,
                    self.gradient[0], self.hessian[0], parts[j, 0],
                )  # fmt: skip

        split_map(fill, range(len(pieces)))
        return parts.sum(axis=0)

    def _huber_share(self):
        if not hasattr(self, "_share"):
            self._share = self.loss.parameter
        return self._share

    def _custom_derivatives(self):
        weight = 1.0 if self.weight is None else self.weight
        self.gradient[0] = weight * self.loss.custom.gradient(self.y, self.raw[0])
        self.hessian[0] = weight * np.maximum(self.loss.custom.curvature(self.y, self.raw[0]), 0.0)
        return np.array([self._sums_of(slice(None), self.gradient[0], self.hessian[0])])

    def _sums_of(self, rows, gradient, hessian):
        h = hessian[rows].sum(dtype=np.float64) if hessian.size else 0.0
        return np.array([np.abs(gradient[rows]).sum(dtype=np.float64), h])

    def _sample(self, gradient, hessian, generator):
        """Rows of this round, ascending (None for all), and how many times each counts (None for once)."""
        if self.sampler is not None:
            rows, factors = self.sampler(gradient, hessian, generator)
            gradient[rows] *= factors
            hessian[rows] *= factors
            return rows.astype(np.uint32), factors
        if self.subsample >= 1.0:
            return None, None
        n = self.data.n_samples
        chosen = generator.choice(n, size=max(1, round(self.subsample * n)), replace=False, shuffle=False)
        return np.sort(chosen).astype(np.uint32), None

    def _leaf_values(self, leaves, output, rows, factors):
        if self.loss.line_search:
            return self._searched(leaves, output, rows, factors)
        if leaves.node.shape[0] == 1 and self.loss.code != CUSTOM:
            return np.zeros(
                1
            )  # F_0 is the best constant already: the root's gradient is but rounding, times many rounds
        return self.grower.newton_values(leaves)

    def _searched(self, leaves, output, rows, factors):
        """Leaf values that minimise the loss itself over the rows of the leaf."""
        residual, all_weights = self.y - self.raw[output], self.weight
        if factors is not None:
            all_weights = np.ones(self.data.n_samples) if self.weight is None else self.weight.copy()
            all_weights[rows] *= factors

        def one(j):
            rows = self.grower.work.rows[leaves.bounds[j] : leaves.bounds[j + 1]]
            weight = None if all_weights is None else all_weights[rows]
            return residual_values(self.loss, residual[rows], weight)

        values = np.array(split_map(one, range(leaves.node.shape[0])))
        return np.clip(values, leaves.lower, leaves.upper)

    def _update(self, leaves, values, tree, output, rows):
        if rows is None:
            self.grower.update(leaves, values, self.raw[output])
            return
        bins = _Bins(self.data.categorical, self.data.missing_bin)
        add_trees(make_predictor([tree], [0], bins, 1), self.data, 0, 1, self.raw[output : output + 1])

    def _identity(self, leaves, tree):
        l2 = self.grower.options.l2
        terms = leaves.sums[:, 0] ** 2 / (leaves.sums[:, 1] + l2 + 1e-15)
        g, h = leaves.sums.sum(axis=0)
        return float(terms.sum()), float(g * g / (h + l2 + 1e-15) + tree.gain.sum())

    def mean_loss(self, y=None, raw=None, weight=None) -> float:
        """Weighted mean of the loss (without the part that depends on y alone), of the training rows by default."""
        if y is None:
            y, raw, weight = self.y, self.raw, self.weight
        return mean_loss(self.loss, y, raw, weight)


class _Bins(NamedTuple):
    categorical: np.ndarray
    missing_bin: int


def mean_loss(loss, y, raw, weight) -> float:
    """Weighted mean of a loss at raw predictions (n_outputs, n), up to a constant for half deviances."""
    w = EMPTY if weight is None else weight
    total_weight = y.shape[0] if weight is None else float(weight.sum())
    if loss.code == CUSTOM:
        return float(np.average(loss.custom.value(y, raw[0]), weights=weight))
    pieces = spans(y.shape[0], ROWS)
    if loss.code == SOFTMAX:
        parts = split_map(lambda s: passes.softmax_loss_sum(y, raw, w, s.start, s.stop), pieces)
    else:
        parts = split_map(lambda s: passes.loss_sum(loss.code, loss.parameter, y, raw[0], w, s.start, s.stop), pieces)
    return float(sum(parts)) / total_weight - score_offset(loss, y, weight)
