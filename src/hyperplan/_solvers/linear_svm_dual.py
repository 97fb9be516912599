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
    BOUND,
    HIGH,
    LOW,
    PULL,
    RIDGE,
    STEP,
    TABLE_WIDTH,
    band_partition,
    csr_band_epoch,
    csr_class_epoch,
    dense_band_epoch,
    dense_class_epoch,
)
from hyperplan._solvers._linear_svm_kernels import absolute_band, band_excess, squared_band, squared_band_excess
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_free import JointSteps
from hyperplan._solvers.linear_svm_joint import class_scores, joint_gap

GAP_WORK = 8  # passes over all rows, or as many rows in more epochs, before the duality gap is looked at again
LONGEST_WAIT = 15  # epochs: each look at the gap also calls back rows that were left out too early
TRIAL_EPOCHS = 8  # before the rate of convergence is judged
FEW_EPOCHS = 40  # up to which coordinate descent alone is as quick as the multipliers moved together
SHRINK_SHARE = 0.1  # of the worst violation: the margin by which a row must be beyond its bound to be left out


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


def row_table(norms, band, power):
    """What the epochs need of each row, side by side: see `_linear_svm_dual_kernels`."""
    table = np.zeros((norms.shape[0], TABLE_WIDTH))
    table[:, LOW], table[:, HIGH], table[:, BOUND], ridge = dual_band(band, power)
    table[:, RIDGE] = ridge
    np.divide(1.0, norms + ridge, out=table[:, STEP], where=norms > 0.0)
    start_from_zero_rows(norms, band, power, table[:, PULL])
    return table


def coordinate_descent(design, band, *, power, target_gap, max_iter, seed, patience=np.inf):
    """Band loss by coordinate descent on the dual with shrinking; gives up when `patience` epochs seem not to suffice.

    Rows whose multiplier sits at a bound and would stay there by a margin larger than a share of the worst violation of
    the last pass are left out; each evaluation of the gap has all scores at hand, calls back those that matter, and
    moves the multipliers between their bounds together once there are few of them.
    """
    epoch = csr_band_epoch if design.is_sparse else dense_band_epoch
    table, order = row_table(design.norms(), band, power), np.arange(design.n_rows, dtype=np.uint32)
    weights, state = np.zeros(design.width), kernel_state(seed)
    n_active, shrink = design.n_rows, np.inf
    plan, together = _GapPlan(target_gap), JointSteps(design, band, dual_band(band, power)[3])
    for n_iter in range(1, max_iter + 1):
        n_active, worst = epoch(design.rows, design.scale, order, n_active, shrink, state, table, weights)
        shrink = SHRINK_SHARE * worst
        if worst > 0.0 and n_iter < plan.next:
            continue
        pull, scores = np.ascontiguousarray(table[:, PULL]), design.scores(weights)
        objective, gap = pair_gap(0.0, 0.5 * (weights @ weights), scores, pull, band, power)
        if gap <= target_gap * objective:
            found = certified(design, pull, band, power, n_iter, Status.CONVERGED)
            if found.gap <= target_gap * found.primal:
                return found
            weights = found.weights  # sums over many updates drifted: start again from the exact ones
        if not np.isfinite(gap):
            return certified(design, pull, band, power, n_iter, Status.DIVERGED)
        plan.look(n_iter, max(gap / objective, 1e-300))
        if n_iter >= TRIAL_EPOCHS and plan.total > patience:
            return certified(design, pull, band, power, n_iter, Status.STALLED)
        if plan.remaining > FEW_EPOCHS and together.may_gain(n_iter, pull):
            weights, scores = together.move(n_iter, weights, scores, pull)
            table[:, PULL] = pull
        n_active = band_partition(scores, table, max(shrink, 1e-300), order)
        plan.wait(n_active / design.n_rows)
    pull = np.ascontiguousarray(table[:, PULL])
    return certified(design, pull, band, power, max_iter, Status.MAX_ITER)


class _GapPlan:
    """When to look at the gap again: it costs about one pass over all rows, an epoch only one over the active ones."""

    def __init__(self, target):
        self._target, self._epoch, self._gap = target, 0, 1.0  # the relative gap of zero weights
        self.remaining, self.total, self.next = np.inf, np.inf, 2

    def look(self, epoch, gap):
        """After `epoch` the relative gap is `gap`: how many epochs the target is away at the present rate, and from the
        start at the mean one."""
        rate = np.log(self._gap / gap) / (epoch - self._epoch)
        self.remaining = np.log(gap / self._target) / rate if rate > 0.0 else np.inf
        self.total = epoch * np.log(self._target) / np.log(gap) if gap < 1.0 else np.inf
        self._epoch, self._gap = epoch, gap

    def wait(self, active_share):
        """Set the epoch of the next look, when epochs visit this share of the rows."""
        longest = GAP_WORK / max(active_share, GAP_WORK / LONGEST_WAIT)
        self.next = self._epoch + max(1, round(min(self.remaining, longest)))


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
        gap_every = GAP_WORK
        primal, gap = joint_gap(design, labels, cost, pull, weights, class_scores(design, weights))
    status = Status.CONVERGED if gap <= target_gap * primal else Status.MAX_ITER
    return Outcome(weights, pull, primal, gap, n_iter, status if np.isfinite(gap) else Status.DIVERGED)
