"""Crammer and Singer's joint problem by a primal-dual interior-point method.

    minimise   1/2 sum_k |w_k|^2 + sum_i cost_i * max_k (e_ik + x_i'w_k - x_i'w_{y_i}),   e_ik = 1[k != y_i]

Multipliers alpha_ik >= 0 with sum_k alpha_ik = cost_i belong to the slacks v_ik = xi_i - e_ik - f_ik + f_iy >= 0, and
w_k = sum_i (cost_i 1[k = y_i] - alpha_ik) x_i.  A Newton step eliminates all that is per row; what remains is one
system for the weights whose block (k, m) is a Gram matrix with weights from diag(d_i) - d_i d_i' / sum(d_i),
d_ik = alpha_ik / v_ik.  Dual coordinate descent, the usual method, needs 10^5 passes for the same gap.
Crammer, Singer (2001), JMLR 2; Mehrotra (1992), SIAM J. Optimization 2(4).
"""

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_newton import solve_definite

BOUNDARY_SHARE = 0.995
STALL_STEPS = 20  # far from the optimum the gap may rise for a while


def joint_gap(design, labels, cost, pull, weights, scores):
    """Primal objective and duality gap; `pull` (rows, classes) has rows that sum to zero."""
    rows = np.arange(design.n_rows)
    margins = scores + 1.0
    margins[rows, labels] -= 1.0
    excess = margins.max(axis=1) - margins[rows, labels]
    primal = 0.5 * (weights**2).sum() + cost @ excess
    residual = weights - combine_classes(design, pull)
    return float(primal), float(0.5 * (residual**2).sum() + (cost * excess + (pull * margins).sum(axis=1)).sum())


def class_scores(design, weights):
    """Scores of shape (rows, classes)."""
    return np.stack([design.scores(w) for w in weights], axis=1)


def combine_classes(design, pull):
    """``sum_i pull_ik x_i`` for each class k."""
    return np.stack([design.combine(np.ascontiguousarray(column)) for column in pull.T])


def joint_interior_point(design, labels, cost, n_classes, *, target_gap, max_iter):
    """Solve by predictor-corrector steps; the weights have shape (classes, columns)."""
    is_own = labels[:, None] == np.arange(n_classes)
    own = np.where(is_own, cost[:, None], 0.0)
    weights, scores = np.zeros((n_classes, design.width)), np.zeros((design.n_rows, n_classes))
    slack = np.where(is_own, 2.0, 1.0)  # zero weights and xi = 2
    alpha = cost[:, None] / slack / (1.0 / slack).sum(axis=1, keepdims=True)
    best, since_best = Outcome(weights, None, np.inf, np.inf, 0, Status.MAX_ITER), 0
    for n_iter in range(max_iter + 1):
        primal, gap = joint_gap(design, labels, cost, own - alpha, weights, scores)
        since_best = 0 if gap < 0.9 * best.gap else since_best + 1
        if gap < best.gap:
            best = Outcome(weights, own - alpha, primal, gap, n_iter, Status.MAX_ITER)
        if gap <= target_gap * primal:
            return best._replace(status=Status.CONVERGED)
        if since_best > STALL_STEPS or not np.isfinite(gap):
            return best._replace(n_iter=n_iter, status=Status.STALLED if np.isfinite(gap) else Status.DIVERGED)
        if n_iter < max_iter:
            step = _Step(design, labels, own, alpha, slack, weights)
            weights, scores, alpha, slack = step.advance(weights, scores)
    return best._replace(n_iter=max_iter)


class _Step:
    """One predictor and one corrector direction with the same factorised system."""

    def __init__(self, design, labels, own, alpha, slack, weights):
        self.design, self.labels, self.own, self.alpha, self.slack = design, labels, own, alpha, slack
        self.ratio = alpha / slack
        self.total = self.ratio.sum(axis=1, keepdims=True)
        self.residual = combine_classes(design, own - alpha) - weights
        self.hessian = self._system()

    def _system(self):
        n_classes, width = self.alpha.shape[1], self.design.width
        rows, nothing = np.arange(self.design.n_rows), np.zeros(self.design.n_rows)
        system = np.eye(n_classes * width)
        for k in range(n_classes):
            for m in range(k + 1):
                product = self.ratio[:, k] * self.ratio[:, m] / self.total[:, 0]
                weight = self.ratio[:, k] - product if k == m else product
                block = self.design.gram(rows, np.maximum(weight, 0.0), nothing)[:-1, :-1]
                here, there = slice(k * width, (k + 1) * width), slice(m * width, (m + 1) * width)
                system[here, there] += block if k == m else -block
                system[there, here] = system[here, there].T
        return system

    def direction(self, shift):
        """Changes of weights, scores, multipliers and slacks that make alpha * slack = shift to first order."""
        wish = shift / self.slack - self.alpha
        level = wish.sum(axis=1, keepdims=True) / self.total
        rhs = self.residual - combine_classes(self.design, wish - self.ratio * level)
        d_weights = solve_definite(self.hessian, rhs.ravel()).reshape(rhs.shape)
        d_scores = class_scores(self.design, d_weights)
        turn = d_scores - d_scores[np.arange(self.labels.size), self.labels][:, None]
        d_xi = level + (self.ratio * turn).sum(axis=1, keepdims=True) / self.total
        d_slack = d_xi - turn
        return d_weights, d_scores, wish - self.ratio * d_slack, d_slack

    def advance(self, weights, scores):
        """The point after the corrected step."""
        before = (self.alpha * self.slack).mean()
        _, _, d_alpha, d_slack = self.direction(0.0)
        length = min(1.0, self._longest(d_alpha, d_slack))
        after = ((self.alpha + length * d_alpha) * (self.slack + length * d_slack)).mean()
        tau = (after / before) ** 3 * before
        d_weights, d_scores, d_alpha, d_slack = self.direction(tau - d_alpha * d_slack)
        length = min(1.0, BOUNDARY_SHARE * self._longest(d_alpha, d_slack))
        alpha = self.alpha + length * d_alpha
        alpha *= self.own.sum(axis=1, keepdims=True) / alpha.sum(axis=1, keepdims=True)  # rounding of the row sums
        return weights + length * d_weights, scores + length * d_scores, alpha, self.slack + length * d_slack

    def _longest(self, d_alpha, d_slack):
        """Longest step that keeps multipliers and slacks positive."""
        alpha_step = np.where(d_alpha < 0, -self.alpha / d_alpha, np.inf).min()
        return min(alpha_step, np.where(d_slack < 0, -self.slack / d_slack, np.inf).min())
