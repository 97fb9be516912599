"""Squared hinge with an l1 penalty: proximal Newton steps on a growing set of columns.

    minimise   |w|_1 + sum_i cost_i * dist(x_i'w, [low_i, high_i])^2

Inside the set, the quadratic model of the rows outside their band is minimised by coordinate descent on its Gram
matrix; the columns outside enter when their gradient exceeds 1, the worst first.  The dual point is the loss's
derivative, scaled until no column exceeds 1.
Lee, Sun, Saunders (2014), SIAM J. Optimization 24(3); Massias, Gramfort, Salmon (2018), ICML.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_dual_kernels import l1_quadratic
from hyperplan._solvers._linear_svm_kernels import squared_band, squared_band_pull
from hyperplan._solvers.linear_svm_design import Design, Outcome
from hyperplan._solvers.linear_svm_newton import ActiveGram

FIRST_SET = 64  # columns in the first working set
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
    n_iter, stalled, best = 0, 0, np.inf
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
        chosen, violation = _working_set(weights, gradient)
        part = Design(columns(chosen))
        inner, n_steps = _prox_newton(
            part, band, weights[chosen], scores, INNER_DROP * violation, min(max_iter - n_iter, INNER_STEPS)
        )
        weights[chosen] = inner
        n_iter += n_steps
        scores = design.scores(weights)


def _columns(design):
    """A function that returns chosen columns, in C order or CSR; the intercept's constant is the last column."""
    source = design.X.tocsc() if design.is_sparse else design.X

    def choose(chosen):
        features = chosen[chosen < design.n_features]
        picked = source[:, features].tocsr() if design.is_sparse else source[:, features].astype(np.float64, order="C")
        if features.size == chosen.size:
            return picked
        constant = np.full((design.n_rows, 1), design.scale)
        return sp.csr_matrix(sp.hstack([picked, constant])) if design.is_sparse else np.hstack([picked, constant])

    return choose


def _working_set(weights, gradient):
    """Columns to work on (sorted) and the worst violation of optimality."""
    violation = np.where(weights == 0.0, np.maximum(np.abs(gradient) - 1.0, 0.0), np.abs(gradient - np.sign(weights)))
    support = np.flatnonzero(weights)
    size = min(max(FIRST_SET, 2 * support.size), MAX_SET, weights.size)
    score = violation.copy()
    if support.size < MAX_SET // 2:
        score[support] = np.inf
    chosen = np.argsort(-score, kind="stable")[:size]
    return np.sort(chosen[score[chosen] > 0.0]), violation.max()


def _prox_newton(design, band, weights, scores, tolerance, max_steps):
    """Minimise over the columns of `design`; `scores` include the columns outside."""
    outside = scores - design.scores(weights)
    low, high, cost = band
    shifted = (low - outside, high - outside, cost)
    own = scores - outside
    gram = ActiveGram(design, shifted)
    objective = np.abs(weights).sum() + squared_band(own, *shifted)
    for step in range(1, max_steps + 1):
        gram.update(own)
        hessian, linear = np.ascontiguousarray(gram.matrix[:-1, :-1]), gram.matrix[:-1, -1].copy()
        slope = hessian @ weights - linear
        violation = np.where(weights == 0.0, np.maximum(np.abs(slope) - 1.0, 0.0), np.abs(slope + np.sign(weights)))
        worst = violation.max(initial=0.0)
        if worst <= tolerance:
            return weights, step
        target = weights.copy()
        l1_quadratic(hessian, linear, max(0.1 * worst, 0.1 * tolerance) * 0.1, MAX_EPOCHS, target, slope)
        direction = target - weights
        move = design.scores(direction)
        length, before = 1.0, objective
        for _ in range(HALVINGS):
            trial = weights + length * direction
            objective = np.abs(trial).sum() + squared_band(own + length * move, *shifted)
            if objective <= before:
                break
            length *= 0.5
        else:
            return weights, step
        weights, own = trial, own + length * move
    return weights, max_steps
