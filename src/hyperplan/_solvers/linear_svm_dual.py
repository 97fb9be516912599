"""Dual coordinate descent: the absolute band loss on large sparse data, and Crammer and Singer's joint problem.

Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), ICML; Ho, Lin (2012), JMLR 13; Keerthi et al. (2008), KDD.
"""

import numpy as np

from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_dual_kernels import (
    csr_band_epoch,
    csr_class_epoch,
    dense_band_epoch,
    dense_class_epoch,
)
from hyperplan._solvers._linear_svm_kernels import absolute_band
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_interior import absolute_gap
from hyperplan._solvers.linear_svm_joint import class_scores, joint_gap

GAP_EVERY = 10  # epochs between two evaluations of the duality gap
RETURN_EVERY = 50  # epochs after which all rows come back in any case


def coordinate_descent(design, band, *, target_gap, max_iter, seed):
    """Absolute band loss by coordinate descent on the dual with shrinking.

    Rows whose multiplier sits at a bound and would stay there by a margin larger than the worst violation of the
    last pass are left out until the remaining ones are solved, then all come back.
    """
    epoch = csr_band_epoch if design.is_sparse else dense_band_epoch
    norms, order = design.norms(), np.arange(design.n_rows)
    pull, weights, state = np.zeros(design.n_rows), np.zeros(design.width), kernel_state(seed)
    n_active, shrink, inner = design.n_rows, np.inf, np.inf
    start_from_zero_rows(norms, band, pull)
    objective = gap = absolute_band(np.zeros(design.n_rows), *band)  # of zero weights: no primal point is worse
    for n_iter in range(1, max_iter + 1):
        n_active, worst = epoch(design.rows, design.scale, band, norms, order, n_active, shrink, state, pull, weights)
        shrink = worst if worst > 0.0 else np.inf
        if worst <= inner or n_active == 0 or n_iter % GAP_EVERY == 0 or n_iter == max_iter:
            objective, gap = absolute_gap(design, weights, design.scores(weights), pull, band)
            if gap <= target_gap * objective:
                return Outcome(weights, pull, objective, gap, n_iter, Status.CONVERGED)
            if not np.isfinite(gap):
                return Outcome(weights, pull, objective, gap, n_iter, Status.DIVERGED)
            if worst <= inner or n_active == 0 or n_iter % RETURN_EVERY == 0:
                inner = 0.1 * worst if 0.0 < worst <= inner else inner
                n_active, shrink = design.n_rows, np.inf
    return Outcome(weights, pull, objective, gap, max_iter, Status.MAX_ITER)


def start_from_zero_rows(norms, band, pull):
    """Rows without any value have score 0 whatever the weights: their multipliers are known."""
    low, high, cost = band
    empty = norms == 0.0
    pull[empty & (low > 0.0)] = cost[empty & (low > 0.0)]
    pull[empty & (high < 0.0)] = -cost[empty & (high < 0.0)]


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
