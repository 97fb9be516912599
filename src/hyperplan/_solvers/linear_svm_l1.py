"""Squared hinge with an l1 penalty: proximal Newton steps on a growing set of columns.

    minimise   |w|_1 + sum_i cost_i * dist(x_i'w, [low_i, high_i])^2

Inside the set, the quadratic model of the rows outside their band is minimised by coordinate descent on its Gram
matrix; the columns outside enter when their gradient exceeds 1, the worst first.  The dual point is the loss's
derivative, scaled until no column exceeds 1.
Lee, Sun, Saunders (2014), SIAM J. Optimization 24(3); Massias, Gramfort, Salmon (2018), ICML.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_dual_kernels import l1_quadratic
from hyperplan._solvers._linear_svm_kernels import dense_columns, squared_band, squared_band_pull
from hyperplan._solvers.linear_svm_design import Design, Outcome
from hyperplan._solvers.linear_svm_newton import ActiveGram

FIRST_SET = 64  # columns in the first working set
SPARE_SHARE = 0.15  # columns near violation that are taken along: a set that stays keeps its Gram matrix
MAX_SET = 3000  # the Gram matrix of a working set stays below 72 MB; larger supports are solved in blocks
INNER_STEPS = 30
INNER_DROP = 0.1  # the inner problem is solved until its violation is this share of the outer one
MAX_EPOCHS = 1000
HALVINGS = 30
STALL_STEPS = 8


def l1_gap(pull, gradient, weights, loss, band):
    """Primal objective and duality gap; the dual point is `pull` scaled into the feasible set."""
    low, high, cost = band
    linear = pull @ np.where(pull > 0.0, low, np.where(pull < 0.0, high, 0.0))
    quadratic = float((pull**2 / (4.0 * cost)).sum())
    largest = np.abs(gradient).max(initial=0.0)
    share = min(1.0 / largest if largest > 0.0 else np.inf, linear / (2.0 * quadratic) if quadratic > 0.0 else 1.0)
    share = max(share, 0.0) if np.isfinite(share) else 1.0
    primal = np.abs(weights).sum() + loss
    return primal, max(primal - share * linear + share**2 * quadratic, 0.0)


def l1_newton(design, band, *, target_gap, max_iter):
    """Minimise over all columns; one iteration is one proximal Newton step."""
    columns = _columns(design)
    weights, scores = np.zeros(design.width), np.zeros(design.n_rows)
    pull = np.empty(design.n_rows)
    n_iter, stalled, best, block = 0, 0, np.inf, None
    while True:
        squared_band_pull(scores, *band, pull)
        gradient = design.combine(pull)
        primal, gap = l1_gap(pull, gradient, weights, squared_band(scores, *band), band)
        stalled, best = (0, gap) if gap < 0.99 * best else (stalled + 1, best)
        if gap <= target_gap * primal:
            return Outcome(weights, pull, primal, gap, n_iter, Status.CONVERGED)
        if n_iter >= max_iter or stalled > STALL_STEPS or not np.isfinite(gap):
            status = Status.MAX_ITER if n_iter >= max_iter else Status.STALLED
            return Outcome(weights, pull, primal, gap, n_iter, status if np.isfinite(gap) else Status.DIVERGED)
        needed, filled, violation = _working_set(weights, gradient)
        if block is None or not block.covers(needed, weights):
            block = WorkingSet(design, columns, band, scores, weights, filled)
        weights[block.chosen], n_steps = block.minimise(
            weights[block.chosen], INNER_DROP * violation, min(max_iter - n_iter, INNER_STEPS)
        )
        n_iter += n_steps
        scores = design.scores(weights)


def _columns(design):
    """A function that returns chosen columns, in C order or CSR; the intercept's constant is the last column."""
    source = design.X.tocsc() if design.is_sparse else None

    def choose(chosen):
        if not design.is_sparse:
            out = np.empty((design.n_rows, chosen.size))
            thread_map(
                lambda block: dense_columns(design.X[block], chosen, design.scale, out[block]),
                spans(design.n_rows, 1024),
            )
            return out
        features = chosen[chosen < design.n_features]
        picked = source[:, features].tocsr()
        if features.size == chosen.size:
            return picked
        return sp.csr_matrix(sp.hstack([picked, np.full((design.n_rows, 1), design.scale)]))

    return choose


def _working_set(weights, gradient):
    """Columns that must be worked on, those with some near-violators added (both sorted), and the worst violation."""
    violation = np.where(weights == 0.0, np.maximum(np.abs(gradient) - 1.0, 0.0), np.abs(gradient - np.sign(weights)))
    n_support = np.count_nonzero(weights)
    score = np.abs(gradient)
    if n_support < MAX_SET // 2:
        score[weights != 0.0] = np.inf
    n_wrong = np.count_nonzero((weights != 0.0) | (violation > 0.0))
    n_needed = min(max(FIRST_SET, 2 * n_support), MAX_SET, n_wrong)
    n_filled = min(n_needed + FIRST_SET // 2 + int(SPARE_SHARE * n_needed), MAX_SET, weights.size)
    order = np.argsort(-score, kind="stable")
    return np.sort(order[:n_needed]), np.sort(order[:n_filled]), violation.max()


class WorkingSet:
    """Some columns with their Gram matrix over the rows outside their band; the other columns keep their weights."""

    def __init__(self, design, columns, band, scores, weights, chosen):
        self.chosen = chosen
        self._design = Design(columns(chosen))
        own = self._design.scores(weights[chosen])
        self.is_whole = not np.delete(weights, chosen).any()
        outside = 0.0 if self.is_whole else scores - own
        self._band = (band[0] - outside, band[1] - outside, band[2])
        self._gram = ActiveGram(self._design, self._band)

    def covers(self, needed, weights):
        """Whether this set can go on: it holds all needed columns and every non-zero weight."""
        return (
            self.is_whole and np.isin(needed, self.chosen).all() and np.isin(np.flatnonzero(weights), self.chosen).all()
        )

    def minimise(self, weights, tolerance, max_steps):
        """Proximal Newton steps until no column violates optimality by more than `tolerance`."""
        own = self._design.scores(weights)
        objective = np.abs(weights).sum() + squared_band(own, *self._band)
        for step in range(1, max_steps + 1):
            self._gram.update(own)
            hessian, linear = np.ascontiguousarray(self._gram.matrix[:-1, :-1]), self._gram.matrix[:-1, -1].copy()
            slope = hessian @ weights - linear
            violation = np.where(weights == 0.0, np.maximum(np.abs(slope) - 1.0, 0.0), np.abs(slope + np.sign(weights)))
            worst = violation.max(initial=0.0)
            if worst <= tolerance:
                return weights, step
            target = weights.copy()
            l1_quadratic(hessian, linear, 0.01 * max(worst, tolerance), MAX_EPOCHS, target, slope)
            direction = target - weights
            move = self._design.scores(direction)
            length, before = 1.0, objective
            for _ in range(HALVINGS):
                trial = weights + length * direction
                objective = np.abs(trial).sum() + squared_band(own + length * move, *self._band)
                if objective <= before:
                    break
                length *= 0.5
            else:
                return weights, step
            weights, own = trial, own + length * move
        return weights, max_steps
