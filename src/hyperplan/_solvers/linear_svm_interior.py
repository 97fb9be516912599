"""Absolute band loss with a ridge penalty: a primal-dual interior-point method.

    minimise   1/2 |w|^2 + sum_i cost_i * dist(x_i'w, [low_i, high_i])

Hinge and epsilon-insensitive losses are both of this kind.  Each of some 10 to 25 iterations solves one system of
the size of w; coordinate descent on the dual needs thousands of passes for the same gap when columns are correlated.
The duality gap is ``1/2 |w - X'p|^2`` plus a sum of non-negative terms, one per row (p is the dual point).
Mehrotra (1992), SIAM J. Optimization 2(4); Ferris, Munson (2002), SIAM J. Optimization 13(3).
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_barrier_kernels import (
    barrier_advance,
    barrier_direction,
    barrier_products,
    barrier_start,
    barrier_system,
)
from hyperplan._solvers._linear_svm_kernels import absolute_band, band_excess
from hyperplan._solvers.linear_svm_design import Outcome
from hyperplan._solvers.linear_svm_newton import newton_cholesky, solve_definite

BOUNDARY_SHARE = 0.995  # of the longest step that stays inside
START_WIDTH = 0.3  # smoothing of the first point, in units of the typical miss
NEGLIGIBLE = 1e-9  # rows with less than this share of the largest curvature stay out of the Gram matrix
STALL_STEPS = 20  # far from the optimum the gap may rise for a while
POLISH_GAP = 1e-4  # relative gap from which the exact solution is guessed
POLISH_EARLY = 200_000  # stored values up to which it is guessed before the target is reached
POLISH_STEPS = 12
EXACT_GAP = 1e-12  # a right guess is exact up to rounding


class Barrier(NamedTuple):
    """Interior point and direction; arrays of shape (sides, rows)."""

    alpha: np.ndarray
    room: np.ndarray
    slack: np.ndarray
    miss: np.ndarray
    d_alpha: np.ndarray
    d_slack: np.ndarray
    d_miss: np.ndarray


def absolute_gap(design, weights, scores, pull, band):
    """Primal objective and duality gap of the absolute band loss at `weights` and the dual point `pull`."""
    residual = weights - design.combine(pull)
    objective = 0.5 * (weights @ weights) + absolute_band(scores, *band)
    return objective, 0.5 * (residual @ residual) + band_excess(scores, pull, *band)


def band_sides(band):
    """Signs and ends of the finite sides of the bands: one row of them if each band has one finite end, else two."""
    low, high, _ = band
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    if (has_low != has_high).all():
        return np.where(has_low, 1.0, -1.0)[None], np.where(has_low, low, -high)[None]
    return np.stack([np.ones_like(low), -np.ones_like(low)]), np.stack([low, -high])


def interior_point(design, band, *, target_gap, max_iter):
    """Solve by Mehrotra's predictor-corrector steps; `target_gap` is relative to the objective."""
    sign, end = band_sides(band)
    weights = _squared_loss_start(design, band)
    scores = design.scores(weights)
    state = Barrier(*(np.zeros(sign.shape) for _ in Barrier._fields))
    typical = np.abs(end - sign * scores).mean()
    barrier_start(scores, sign, end, band[2], START_WIDTH * max(typical, 1e-8), state)
    pull = (sign * state.alpha).sum(axis=0)
    best = Outcome(weights, pull.copy(), np.inf, np.inf, 0, Status.MAX_ITER)
    since_best = 0
    for n_iter in range(max_iter + 1):
        objective, gap = absolute_gap(design, weights, scores, pull, band)
        since_best = 0 if gap < 0.9 * best.gap else since_best + 1
        if gap < best.gap:
            best = Outcome(weights, pull.copy(), objective, gap, n_iter, Status.MAX_ITER)
        done = gap <= target_gap * objective
        if done or (design.n_stored <= POLISH_EARLY and gap <= POLISH_GAP * objective):
            exact = _polished(design, band, sign, state, typical)
            if exact is not None and exact.gap < (gap if done else EXACT_GAP * objective):
                return exact._replace(n_iter=n_iter)
        if done:
            return best._replace(status=Status.CONVERGED)
        if since_best > STALL_STEPS or not np.isfinite(gap):
            return best._replace(n_iter=n_iter, status=Status.STALLED if np.isfinite(gap) else Status.DIVERGED)
        if n_iter == max_iter:
            break
        weights, scores = _step(design, sign, state, weights, scores, pull)
    return best._replace(n_iter=n_iter)


def _squared_loss_start(design, band):
    """Squared losses are quick to solve, and their solution is near enough for a few steps to suffice."""
    start = newton_cholesky(design, band, target_gap=1e-2, max_iter=10)[0]
    return start if np.isfinite(start).all() else np.zeros(design.width)


def _polished(design, band, sign, state, typical):
    """The exact solution by a few active-set steps from the rows that seem to be on the border of their band, or None.

    The multipliers of the border rows follow from the condition that their scores equal the ends of the bands; all
    other multipliers sit at a bound.  A border multiplier beyond its bounds goes to the bound, a row on the wrong side
    of its end joins the border.
    """
    low, high, cost = band
    at_zero = state.alpha * typical < cost * state.slack
    at_cost = state.room * typical < cost * state.miss
    free = ~at_zero & ~at_cost
    pull = np.where(at_cost & ~free.any(axis=0), sign * cost, 0.0).sum(axis=0)
    side = np.where(free[0], sign[0], np.where(free[-1], sign[-1], 0.0))  # +1 lower end, -1 upper end, 0 neither
    is_tube = low < high
    least, most = np.where(np.isfinite(high), -cost, 0.0), np.where(np.isfinite(low), cost, 0.0)
    best = None
    for _ in range(POLISH_STEPS):
        border = np.flatnonzero(side)
        if border.size > 2 * design.width + 50:
            break
        pull[border] = 0.0
        weights = design.combine(pull)
        if border.size:
            pull[border] = _border_multipliers(design.take(border), np.where(side > 0, low, high)[border], weights)
        inside = np.clip(pull, np.where((side > 0) & is_tube, 0.0, least), np.where((side < 0) & is_tube, 0.0, most))
        weights = design.combine(inside)
        scores = design.scores(weights)
        objective, gap = absolute_gap(design, weights, scores, inside, band)
        if not np.isfinite(gap) or (best is not None and gap >= best.gap):
            break
        best = Outcome(weights, inside, objective, gap, 0, Status.CONVERGED)
        left = (side != 0) & (inside != pull)
        slip = 1e-10 * (1.0 + np.abs(scores))
        below, above = scores < low - slip, scores > high + slip
        joins_low = (side == 0) & ((below & (inside <= 0.0)) | (~below & (inside > 0.0)))
        joins_high = (side == 0) & ((above & (inside >= 0.0)) | (~above & (inside < 0.0)))
        if not (left.any() or joins_low.any() or joins_high.any()):
            break
        side = np.where(left, 0.0, np.where(joins_low, 1.0, np.where(joins_high, -1.0, side)))
        pull = inside
    return best


def _border_multipliers(rows, ends, weights):
    """Multipliers that put the scores of the border rows on their ends (the smallest ones if there are many)."""
    product = rows.X @ rows.X.T
    product = np.asarray(product.todense() if rows.is_sparse else product, dtype=np.float64) + rows.scale**2
    return np.linalg.lstsq(product, ends - rows.scores(weights), rcond=1e-13)[0]


def _step(design, sign, state, weights, scores, pull):
    """One predictor and one corrector step with the same factorised matrix; `state` and `pull` advance in place."""
    n_pairs = 2 * sign.size
    weight, wish = np.empty(design.n_rows), np.empty(design.n_rows)
    before = barrier_products(state, 0.0)
    barrier_system(sign, state, 0.0, 0.0, weight, wish)
    rows = np.flatnonzero(weight > NEGLIGIBLE * weight.max())
    hessian = design.gram(rows, weight[rows], np.zeros(rows.size))[:-1, :-1] + np.eye(design.width)

    direction = solve_definite(hessian, design.combine(wish) - weights)  # predictor: straight to complementarity zero
    longest = barrier_direction(sign, state, 0.0, 0.0, design.scores(direction))
    after = barrier_products(state, min(1.0, longest))
    tau = (after / before) ** 3 * before / n_pairs

    barrier_system(sign, state, tau, 1.0, weight, wish)
    direction = solve_definite(hessian, design.combine(wish) - weights)
    move = design.scores(direction)
    longest = barrier_direction(sign, state, tau, 1.0, move)
    step = min(1.0, BOUNDARY_SHARE * longest)
    barrier_advance(state, sign, step, pull)
    return weights + step * direction, scores + step * move
