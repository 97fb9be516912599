"""Absolute band loss with a ridge penalty: an augmented Lagrangian method for many rows and few columns.

    minimise   1/2 |w|^2 + sum_i cost_i * dist(x_i'w, [low_i, high_i])

The method of `linear_svm_small` with products over blocks of rows: a row's multiplier follows its score over a short
width, Newton's method solves that problem, the multipliers become the new centers and the width shrinks.  Only rows
within the width enter the Hessian, and only those that enter or leave change it: a step costs little more than two
products with X, where one of an interior-point method sums the Hessian over all rows.
Rockafellar (1976), Mathematics of Operations Research 1(2); Li, Sun, Toh (2018), SIAM J. Optimization 28(1).
"""

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_small_kernels import band_terms, elastic_changes, elastic_pull, elastic_step
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_newton import solve_definite
from hyperplan._solvers.linear_svm_small import FIRST_WIDTH, MAX_STEPS, STIFFEN

RECENTER = 0.3  # of the rows' share of the gap: below it the weights fit the forces well enough


class ElasticGram:
    """``sum stiff_i z_i z_i'`` over the rows whose multiplier follows their score, z_i = [x_i, scale]."""

    def __init__(self, design):
        self._design, n = design, design.n_rows
        self._is_elastic, self._rows, self._amount = np.zeros(n, bool), np.empty(n, np.int64), np.empty(n)
        self.matrix = np.zeros((design.width,) * 2)

    def clear(self):
        """Forget all rows: the next update sums afresh, as differences of large sums lose digits."""
        self._is_elastic[:] = False
        self.matrix[:] = 0.0

    def update(self, pull, bound, stiff):
        """Add the rows that became elastic at the forces `pull`, subtract those that ceased to be."""
        count = elastic_changes(pull, bound, stiff, self._is_elastic, self._rows, self._amount)
        rows, amount = self._rows[:count], self._amount[:count]
        for sign in (1.0, -1.0):
            chosen = sign * amount > 0.0
            weight = np.abs(amount[chosen])
            if weight.size:
                self.matrix += sign * self._design.gram(rows[chosen], weight, np.zeros(weight.size))[:-1, :-1]


def elastic_newton(design, band, *, target_gap, max_iter):
    """Solve from weights 0; `target_gap` is relative to the objective."""
    low, high, cost = band
    center, scores, pull = np.zeros((3, design.n_rows))
    weights, gram = np.zeros(design.width), ElasticGram(design)
    stiff = cost / (FIRST_WIDTH * np.maximum(np.maximum(low, -high), 0.0).mean())
    n_iter, is_exact, is_new = 0, True, False
    while True:
        elastic_pull(scores, center, stiff, cost, low, high, pull)
        gradient = weights - design.combine(pull)
        loss, excess = band_terms(scores, pull, 1, low, high, cost)
        residual, objective = 0.5 * (gradient @ gradient), 0.5 * (weights @ weights) + loss
        gap = residual + excess
        done = gap <= target_gap * objective or n_iter >= min(max_iter, MAX_STEPS)
        if is_exact and (done or not np.isfinite(gap)):
            break
        if done:  # scores are sums over several steps: the last word have those without rounding errors
            scores, is_exact = design.scores(weights), True
        elif residual < RECENTER * excess and not is_new:
            center[:] = pull
            stiff *= STIFFEN
            gram.clear()
            is_new = True
        else:
            gram.update(pull, cost, stiff)
            direction = solve_definite(gram.matrix + np.eye(design.width), -gradient)
            move, force = design.scores(direction), (center, stiff, cost)
            ridge = weights @ direction, direction @ direction
            length = elastic_step(scores, move, gradient @ direction, *ridge, force, band)
            weights, scores = weights + length * direction, scores + length * move
            n_iter, is_exact, is_new = n_iter + 1, False, False
    if gap <= target_gap * objective:
        status = Status.CONVERGED
    else:
        status = Status.MAX_ITER if n_iter >= max_iter and np.isfinite(gap) else Status.STALLED
    return Outcome(weights, pull, objective, gap, n_iter, status)
