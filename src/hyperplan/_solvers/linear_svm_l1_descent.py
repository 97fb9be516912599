"""Squared hinge with an l1 penalty on wide or sparse data: coordinate descent and exact steps on the support.

    minimise   |w|_1 + sum_i cost_i * dist(x_i'w, [low_i, high_i])^2

Passes of coordinate descent find which weights are zero and which rows are outside their band, Anderson's extrapolation
shortens them; then a linear system on the non-zero weights gives the minimum for these signs and rows, and the
best point on the way there, with all changes of signs and rows, is taken.  The two alternate.
Yuan, Chang, Hsieh, Lin (2010), JMLR 11; Bertrand, Massias (2021), AISTATS.
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from hyperplan._core.arrays import compressed
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_kernels import squared_band, squared_band_slope
from hyperplan._solvers._linear_svm_l1_kernels import (
    dense_l1_pass,
    l1_partition,
    loss_state,
    sparse_l1_pass,
    support_gradients,
)
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_l1 import l1_gap

FIRST_PASSES = 10  # of coordinate descent before the first system
PASSES = 50  # between two systems, later
HISTORY = 5  # passes that are extrapolated
SYSTEMS = 2  # in a row, as long as signs or rows change
LARGEST_SUPPORT = 3000
JITTER = 1e-11  # share of the diagonal that keeps a singular system solvable
CG_STEPS = 30  # an inexact direction is good enough while the support changes
CG_TOL = 1e-10  # relative squared residual
SEARCH_STEPS = 40
STALL_ROUNDS = 12  # rounds without a better objective
LAST_DIGITS = 1e-2  # of the gap asked for: above, one more system gains what it costs
NEAR_FALL = 1e-4  # of the objective in one round: below, the optimum is near enough for passes to reach it
EXACT_FALL = 1e-7  # below, signs and rows hardly change any more and systems decide: they are solved exactly
EXACT_SUPPORT = 1500  # weights up to which that costs less than the passes it saves


class Columns:
    """The columns of a design, the intercept's constant last, as rows of an array or of a CSR matrix."""

    def __init__(self, design):
        self.is_sparse = design.is_sparse
        n, d = design.n_rows, design.n_features
        if design.is_sparse:
            X = design.X.tocsc()
            parts = (X.data.astype(np.float64, copy=False), X.indices, X.indptr)
            if design.scale:
                ends = (np.full(n, design.scale), np.arange(n), [X.nnz + n])
                parts = tuple(np.concatenate([part, end], dtype=part.dtype) for part, end in zip(parts, ends))
            self.matrix = sp.csr_matrix(parts, shape=(design.width, n))
            record = compressed(self.matrix)
            self.record = record._replace(indices=record.indices.view(f"u{record.indices.dtype.itemsize}"))
        else:
            self.matrix = self.record = np.empty((design.width, n))
            self.matrix[:d] = design.X.T
            self.matrix[d:] = design.scale

    def direction(self, support, stiff, rhs, is_exact):
        """Newton direction on some columns and their product with the rows, or None when rounding spoils it."""
        if self.is_sparse and not is_exact:
            change, move = np.empty(support.size), np.empty(stiff.size)
            diagonal = self.curvatures(stiff)[support]
            diagonal += 1e-10 * diagonal.max()
            support_gradients(self.record, support, stiff, rhs, diagonal, CG_STEPS, CG_TOL, change, move)
        else:
            picked, rows = self.matrix[support], np.flatnonzero(stiff)
            if self.is_sparse:
                hessian = ((picked @ sp.diags_array(stiff)) @ picked.T).toarray()
            else:
                panel = picked[:, rows] * np.sqrt(stiff[rows])
                hessian = panel @ panel.T
            hessian[np.diag_indices(support.size)] += JITTER * np.diagonal(hessian).max()
            factor, failed = dpotrf(hessian, lower=1, overwrite_a=1)
            change = np.full(support.size, np.nan) if failed else dpotrs(factor, rhs, lower=1)[0]
            move = picked.T @ change
        return (change, move) if 0.0 < rhs @ change < np.inf else None

    def curvatures(self, stiff):
        """Second derivative of the loss in each weight."""
        if self.is_sparse:
            return sp.csr_matrix((self.matrix.data**2, self.matrix.indices, self.matrix.indptr)) @ stiff
        return np.einsum("ji,ji,i->j", self.matrix, self.matrix, stiff)


def best_on_ray(weights, direction, scores, move, band):
    """Step length in [0, 1] of least objective, and the position of the weight that becomes zero there (or -1)."""
    falling = np.flatnonzero(direction * weights < 0.0)
    times = -weights[falling] / direction[falling]
    order = np.argsort(times, kind="stable")
    order = order[times[order] < 1.0]
    falling, times = falling[order], times[order]
    start = float(np.sign(weights) @ direction)
    climb = start + np.concatenate([[0.0], np.cumsum(2.0 * np.abs(direction[falling]))])  # slope of |w|_1 after k kinks

    def slope(step):
        return squared_band_slope(scores, move, step, *band)

    first, last = 0, times.size  # the first kink after which the objective rises
    while first < last:
        middle = (first + last) // 2
        if slope(times[middle])[0] + climb[middle + 1] >= 0.0:
            last = middle
        else:
            first = middle + 1
    lower, upper = (times[first - 1] if first else 0.0), (times[first] if first < times.size else 1.0)
    if slope(upper)[0] + climb[first] <= 0.0:
        return upper, int(falling[first]) if first < times.size else -1
    step = lower
    for _ in range(SEARCH_STEPS):
        value, curvature = slope(step)
        value += climb[first]
        if abs(value) <= 1e-9 * abs(start) or not curvature > 0.0:
            break
        lower, upper = (lower, step) if value > 0.0 else (step, upper)
        step = step - value / curvature
        if not lower < step < upper:
            step = 0.5 * (lower + upper)
    return step, -1


class State:
    """Weights, scores and what follows from them, kept up to date."""

    def __init__(self, columns, band, weights, is_exact):
        self.columns, self.band, self.weights, self.is_exact = columns, band, weights, is_exact
        n = band[0].shape[0]
        self.norms = columns.curvatures(2.0 * band[2])
        self.force, self.stiff = np.empty(n), np.empty(n)
        self.move_to(columns.matrix.T @ weights if weights.any() else np.zeros(n))

    def move_to(self, scores):
        """Take over scores; the weights are the caller's business."""
        self.scores = scores
        self.loss = loss_state(scores, *self.band, self.force, self.stiff)

    def passes(self, order, n_active, shrink, count):
        """Coordinate descent over the first columns of `order`, extrapolated every few passes."""
        epoch = sparse_l1_pass if self.columns.is_sparse else dense_l1_pass
        history = [(self.weights.copy(), self.scores.copy())]
        n_passes = 0
        while n_passes < count and shrink > 0.0:
            n_passes += 1
            moving = (self.weights, self.scores, self.force, self.stiff)
            n_active, shrink = epoch(self.columns.record, self.band, self.norms, order, n_active, shrink, *moving)
            history.append((self.weights.copy(), self.scores.copy()))
            if len(history) > HISTORY:
                self._extrapolate(history)
                history = [(self.weights.copy(), self.scores.copy())]
        self.loss = squared_band(self.scores, *self.band)
        return n_passes

    def _extrapolate(self, history):
        """The affine combination of the last points whose combined steps are shortest, if it is better."""
        points = np.array([weights for weights, _ in history])
        steps = np.diff(points, axis=0)
        gram = steps @ steps.T
        gram[np.diag_indices(HISTORY)] += 1e-10 * np.trace(gram)
        factor, failed = dpotrf(gram, lower=1)
        if failed:  # the points are all the same
            return
        share = dpotrs(factor, np.ones(HISTORY), lower=1)[0]
        share /= share.sum()
        weights = share @ points[1:]
        scores = share @ np.array([scores for _, scores in history[1:]])
        before = np.abs(self.weights).sum() + squared_band(self.scores, *self.band)
        if np.abs(weights).sum() + squared_band(scores, *self.band) < before:
            self.weights[:] = weights
            self.move_to(scores)

    def support_step(self):
        """Towards the minimum on the present support; returns whether signs or rows changed on the way."""
        support = np.flatnonzero(self.weights)
        if not 0 < support.size <= LARGEST_SUPPORT or not self.stiff.any():
            return False
        here, signs, rows = self.weights[support], np.sign(self.weights[support]), self.stiff != 0.0
        downhill = self.columns.matrix[support] @ self.force - signs
        found = self.columns.direction(support, self.stiff, downhill, self.is_exact)
        if found is None:
            return False
        step, zero = best_on_ray(here, found[0], self.scores, found[1], self.band)
        there = here + step * found[0]
        if zero >= 0:
            there[zero] = 0.0
        self.weights[support] = there
        self.move_to(self.scores + step * found[1])
        return not (np.array_equal(np.sign(there), signs) and np.array_equal(self.stiff != 0.0, rows))


def l1_descent(design, band, *, target_gap, max_iter, columns=None, start=None, trial=np.inf):
    """Minimise by alternating passes and systems; an iteration is one pass or one system.

    After `trial` iterations it gives up as soon as the objective still falls fast: the optimum is far then.
    """
    columns = columns or Columns(design)
    state = State(columns, band, np.zeros(design.width) if start is None else start.copy(), start is not None)
    order, n_iter, best, stalled = np.arange(design.width), 0, np.inf, 0
    passes = FIRST_PASSES if start is None else HISTORY  # a good start needs systems more than passes
    while True:
        gradient = columns.matrix @ state.force
        primal, gap = l1_gap(state.force, gradient, state.weights, state.loss, band)
        if gap <= target_gap * primal or n_iter >= max_iter or stalled > STALL_ROUNDS or not np.isfinite(gap):
            break
        fall = best / primal - 1.0
        if n_iter >= trial and fall > NEAR_FALL:
            break
        state.is_exact |= fall < EXACT_FALL and np.count_nonzero(state.weights) <= EXACT_SUPPORT
        stalled, best = (0, primal) if primal < best * (1.0 - 1e-12) else (stalled + 1, best)
        signs = np.sign(state.weights)
        violation = np.where(signs == 0.0, np.maximum(np.abs(gradient) - 1.0, 0.0), np.abs(gradient - signs)).max()
        n_active = l1_partition(gradient, state.weights, violation, order)
        n_iter += state.passes(order, n_active, violation, min(passes, max_iter - n_iter))
        passes = min(2 * passes, PASSES)
        for _ in range(SYSTEMS):
            n_iter += 1
            if n_iter > max_iter or not state.support_step():
                break
        n_iter = min(n_iter, max_iter)
    before = state.weights.copy()
    if LAST_DIGITS * target_gap * primal < gap <= target_gap * primal:
        state.support_step()
    for weights in (state.weights.copy(), before):
        state.move_to(columns.matrix.T @ weights)  # without what additions left behind
        primal, gap = l1_gap(state.force, columns.matrix @ state.force, weights, state.loss, band)
        if gap <= target_gap * primal:
            break
    if gap <= target_gap * primal:
        status = Status.CONVERGED
    elif not np.isfinite(gap):
        status = Status.DIVERGED
    else:
        status = Status.MAX_ITER if n_iter >= max_iter else Status.STALLED
    return Outcome(weights, state.force, primal, gap, n_iter, status)
