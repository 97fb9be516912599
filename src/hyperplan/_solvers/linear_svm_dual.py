"""Dual coordinate descent: band losses on sparse or wide data, and Crammer and Singer's joint problem.

    maximise   sum_i (pull_i * end_i - pull_i^2 / (4 cost_i) [squared loss]) - 1/2 |sum_i pull_i x_i|^2

`end_i` is the lower end of the band for a positive and the upper end for a negative multiplier; the absolute loss
bounds |pull_i| by the cost.
Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), ICML; Ho, Lin (2012), JMLR 13; Keerthi et al. (2008), KDD.
"""

import numpy as np

from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_dual_kernels import (
    band_partition,
    csr_band_epoch,
    csr_class_epoch,
    dense_band_epoch,
    dense_class_epoch,
)
from hyperplan._solvers._linear_svm_kernels import absolute_band, band_excess, squared_band, squared_band_excess
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_joint import class_scores, joint_gap

GAP_EVERY = 8  # epochs between two evaluations of the duality gap
GAP_NEAR = 4  # the same when the last one was within a factor of ten of the target


def dual_band(band, power):
    """(low, high, bound, ridge) of the dual: see `_linear_svm_dual_kernels`."""
    low, high, cost = band
    if power == 1:
        return low, high, cost, np.zeros_like(cost)
    return low, high, np.full_like(cost, np.inf), 0.5 / cost


def pair_gap(residual, size, scores, pull, band, power):
    """Objective and gap of weights (their scores and half squared length `size`) and a dual point `pull`.

    `residual` is half the squared distance of the weights to X'pull, 0 where they are made from it.
    """
    loss, excess = ((absolute_band, band_excess), (squared_band, squared_band_excess))[power - 1]
    return size + loss(scores, *band), residual + excess(scores, pull, *band)


def certified(design, pull, band, power, n_iter, status):
    """The outcome at the weights X'pull; nothing kept up to date by additions enters its gap."""
    weights = design.combine(pull)
    scores = design.scores(weights)
    objective, gap = pair_gap(0.0, 0.5 * (weights @ weights), scores, pull, band, power)
    return Outcome(weights, pull, objective, gap, n_iter, status if np.isfinite(gap) else Status.DIVERGED)


def coordinate_descent(design, band, *, power, target_gap, max_iter, seed):
    """Band loss by coordinate descent on the dual with shrinking.

    Rows whose multiplier sits at a bound and would stay there by a margin larger than the worst violation of the
    last pass are left out; each evaluation of the gap has all scores at hand and calls back those that matter.
    """
    epoch = csr_band_epoch if design.is_sparse else dense_band_epoch
    norms, order = design.norms(), np.arange(design.n_rows)
    pull, weights, state = np.zeros(design.n_rows), np.zeros(design.width), kernel_state(seed)
    n_active, shrink, next_gap = design.n_rows, np.inf, 2
    start_from_zero_rows(norms, band, power, pull)
    dual = dual_band(band, power)
    for n_iter in range(1, max_iter + 1):
        n_active, worst = epoch(design.rows, design.scale, dual, norms, order, n_active, shrink, state, pull, weights)
        shrink = worst
        if worst == 0.0 or n_iter >= next_gap:
            scores = design.scores(weights)
            objective, gap = pair_gap(0.0, 0.5 * (weights @ weights), scores, pull, band, power)
            if gap <= target_gap * objective:
                found = certified(design, pull, band, power, n_iter, Status.CONVERGED)
                if found.gap <= target_gap * found.primal:
                    return found
                weights = found.weights  # sums over many updates drifted: start again from the exact ones
            if not np.isfinite(gap):
                return certified(design, pull, band, power, n_iter, Status.DIVERGED)
            next_gap = n_iter + (GAP_NEAR if gap <= 10.0 * target_gap * objective else GAP_EVERY)
            n_active = band_partition(scores, pull, dual, norms, max(worst, 1e-300), order)
    return certified(design, pull, band, power, max_iter, Status.MAX_ITER)


def start_from_zero_rows(norms, band, power, pull):
    """Rows without any value have score 0 whatever the weights: their multipliers are known."""
    low, high, cost = band
    below, above = (norms == 0.0) & (low > 0.0), (norms == 0.0) & (high < 0.0)
    pull[below] = cost[below] if power == 1 else 2.0 * cost[below] * low[below]
    pull[above] = -cost[above] if power == 1 else 2.0 * cost[above] * high[above]


def joint_coordinate_descent(design, labels, cost, n_classes, *, target_gap, max_iter, seed):
    """Crammer and Singer's problem; the weights have shape (classes, columns).

    minimise   1/2 sum_k |w_k|^2 + sum_i cost_i * max_k (1[k != y_i] + x_i'w_k - x_i'w_{y_i})
    """
    epoch = csr_class_epoch if design.is_sparse else dense_class_epoch
    norms, order = design.norms(), np.arange(design.n_rows)
    pull = np.zeros((design.n_rows, n_classes))
    weights, state = np.zeros((n_classes, design.width)), kernel_state(seed)
    gap_every = 1
    primal, gap, n_iter = *joint_gap(design, labels, cost, pull, weights, class_scores(design, weights)), 0
    while gap > target_gap * primal and n_iter < max_iter and np.isfinite(gap):
        for _ in range(min(gap_every, max_iter - n_iter)):
            epoch(design.rows, design.scale, labels, cost, norms, order, state, pull, weights)
            n_iter += 1
        gap_every = GAP_EVERY
        primal, gap = joint_gap(design, labels, cost, pull, weights, class_scores(design, weights))
    status = Status.CONVERGED if gap <= target_gap * primal else Status.MAX_ITER
    return Outcome(weights, pull, primal, gap, n_iter, status if np.isfinite(gap) else Status.DIVERGED)
