"""Squared band loss with a ridge penalty: Newton's method with an exact line search.

    minimise   1/2 |w|^2 + sum_i cost_i * dist(x_i'w, [low_i, high_i])^2

Squared hinge and squared epsilon-insensitive losses are both of this kind.  The objective is piecewise quadratic:
where the rows outside their band are fixed, one linear system gives the minimum.  The weighted Gram matrix of
those rows carries the gradient too, and from one step to the next only the rows that entered or left are added
or subtracted, so that after the first step a step costs little more than one product with X.

The duality gap at w is exactly ``1/2 |gradient|^2``: the dual point 2 cost_i * miss_i makes every other term vanish.
Keerthi, DeCoste (2005), JMLR 6; Chapelle (2007), Neural Computation 19(5).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_kernels import band_codes, squared_band, squared_band_pull, squared_band_slope
from hyperplan._solvers.linear_svm_design import Outcome

LINE_SEARCH_STEPS = 25
SLOPE_DROP = 1e-3  # the line search ends when the slope has fallen to this share
SUBSAMPLE_ROWS = 16_384  # from here on a fit on every eighth row comes first
SUBSAMPLE_STRIDE = 8
STALL_STEPS = 3  # steps without a smaller objective before giving up
CG_STEPS = 250


def exact_step(scores, direction, ridge_slope, ridge_curvature, band):
    """Step length t that minimises the objective on a line, by a safeguarded Newton iteration on its slope.

    `ridge_slope` and `ridge_curvature` are w'dw and |dw|^2.  The slope is piecewise linear and increasing.
    """
    step, lower, upper = 1.0, 0.0, np.inf
    start = ridge_slope + squared_band_slope(scores, direction, 0.0, *band)[0]
    for _ in range(LINE_SEARCH_STEPS):
        slope, curvature = squared_band_slope(scores, direction, step, *band)
        slope += ridge_slope + step * ridge_curvature
        curvature += ridge_curvature
        if abs(slope) <= SLOPE_DROP * abs(start) or not curvature > 0.0:
            break
        if slope > 0.0:
            upper = step
        else:
            lower = step
        proposal = step - slope / curvature
        if not lower < proposal < upper:
            proposal = 0.5 * (lower + upper) if upper < np.inf else 2.0 * step
        step = proposal
    return step


def squared_gap(design, weights, scores, band):
    """Primal objective and duality gap of the squared band loss at `weights`."""
    pull = np.empty(scores.shape[0])
    squared_band_pull(scores, *band, pull)
    residual = weights - design.combine(pull)
    return 0.5 * (weights @ weights) + squared_band(scores, *band), 0.5 * (residual @ residual), pull, residual


class ActiveGram:
    """``2 sum cost_i z_i z_i'`` over the rows outside their band, z_i = [x_i, scale, target_i], kept up to date."""

    def __init__(self, design, band):
        self._design, self._band = design, band
        self._codes = np.zeros(design.n_rows, dtype=np.int8)
        self._n_active = 0
        self.matrix = np.zeros((design.width + 1,) * 2)

    def update(self, scores):
        """Bring the matrix to the active rows at `scores`; True if it was summed afresh."""
        low, high, _ = self._band
        codes = np.empty_like(self._codes)
        band_codes(scores, low, high, codes)
        changed = codes != self._codes
        leave = np.flatnonzero(changed & (self._codes != 0))
        enter = np.flatnonzero(changed & (codes != 0))
        n_active = self._n_active + enter.size - leave.size
        if fresh := leave.size + enter.size >= n_active:
            self.matrix = self._sum(np.flatnonzero(codes), codes)
        else:
            self.matrix += self._sum(enter, codes)
            self.matrix -= self._sum(leave, self._codes)
        self._codes, self._n_active = codes, n_active
        return fresh

    def refresh(self):
        """Sum afresh: additions and subtractions leave rounding errors behind."""
        self.matrix = self._sum(np.flatnonzero(self._codes), self._codes)

    def _sum(self, rows, codes):
        low, high, cost = self._band
        target = np.where(codes[rows] < 0, low[rows], high[rows])
        return self._design.gram(rows, 2.0 * cost[rows], target)


def newton_cholesky(design, band, *, target_gap, max_iter, start=None):
    """Newton's method with a factorised Hessian: for at most some hundred columns.

    `target_gap` is relative to the objective.
    """
    weights, scores = _first_point(design, band, newton_cholesky, start)
    gram, best, stalled = ActiveGram(design, band), np.inf, 0
    fresh = False
    for n_iter in range(max_iter + 1):
        fresh = gram.update(scores)
        hessian = gram.matrix[:-1, :-1] + np.eye(design.width)
        gradient = hessian @ weights - gram.matrix[:-1, -1]
        objective = 0.5 * (weights @ weights) + squared_band(scores, *band)
        gap = 0.5 * (gradient @ gradient)
        if gap <= target_gap * objective or stalled >= STALL_STEPS:
            _, exact_gap, pull, _ = squared_gap(design, weights, scores, band)
            if exact_gap <= target_gap * objective or fresh or stalled >= STALL_STEPS:
                done = exact_gap <= target_gap * objective
                return Outcome(
                    weights, pull, objective, exact_gap, n_iter, Status.CONVERGED if done else Status.STALLED
                )
            gram.refresh()
            continue
        if n_iter == max_iter or not np.isfinite(gap):
            break
        stalled, best = (0, objective) if objective < best else (stalled + 1, best)
        direction = solve_definite(hessian, -gradient)
        move = design.scores(direction)
        step = exact_step(scores, move, weights @ direction, direction @ direction, band)
        weights = weights + step * direction
        scores = scores + step * move
    objective, gap, pull, _ = squared_gap(design, weights, scores, band)
    return Outcome(weights, pull, objective, gap, n_iter, Status.MAX_ITER if np.isfinite(gap) else Status.DIVERGED)


def newton_cg(design, band, *, target_gap, max_iter, start=None):
    """Newton's method with conjugate gradients: for many columns.  Same result as `newton_cholesky`."""
    weights, scores = _first_point(design, band, newton_cg, start)
    low, high, cost = band
    codes = np.empty(design.n_rows, dtype=np.int8)
    best, stalled = np.inf, 0
    for n_iter in range(max_iter + 1):
        objective, gap, pull, gradient = squared_gap(design, weights, scores, band)
        if gap <= target_gap * objective:
            return Outcome(weights, pull, objective, gap, n_iter, Status.CONVERGED)
        if stalled >= STALL_STEPS or not np.isfinite(gap):
            status = Status.STALLED if np.isfinite(gap) else Status.DIVERGED
            return Outcome(weights, pull, objective, gap, n_iter, status)
        if n_iter == max_iter:
            break
        stalled, best = (0, objective) if objective < best else (stalled + 1, best)
        band_codes(scores, low, high, codes)
        curvature = 2.0 * cost * (codes != 0)
        # the direction must be exact enough to hit the target, and no more
        accuracy = min(0.1, max(0.3 * np.sqrt(target_gap * objective / gap), np.sqrt(gap / (gap + objective)) * 0.1))
        direction, move = _conjugate_gradients(design, curvature, -gradient, accuracy)
        step = exact_step(scores, move, weights @ direction, direction @ direction, band)
        weights = weights + step * direction
        scores = scores + step * move
    return Outcome(weights, pull, objective, gap, n_iter, Status.MAX_ITER)


def _first_point(design, band, method, start):
    """Zero, or the solution on every eighth row when there are many rows: it has nearly the same active rows."""
    if start is None and design.n_rows >= max(SUBSAMPLE_ROWS, SUBSAMPLE_STRIDE * 4 * min(design.width, 1000)):
        low, high, cost = (values[::SUBSAMPLE_STRIDE] for values in band)
        rows = design.take(slice(None, None, SUBSAMPLE_STRIDE))
        start = method(rows, (low, high, cost * SUBSAMPLE_STRIDE), target_gap=1e-4, max_iter=20)[0]
    if start is None or not np.isfinite(start).all():
        return np.zeros(design.width), np.zeros(design.n_rows)
    return start, design.scores(start)


def solve_definite(hessian, rhs):
    """Solution of the Newton system; a ridge of rounding size where the Hessian lost its definiteness."""
    boost = 0.0
    for _ in range(12):
        try:
            factor = cho_factor(hessian + boost * np.eye(hessian.shape[0]), lower=True, check_finite=False)
            return cho_solve(factor, rhs, check_finite=False)
        except LinAlgError:
            boost = max(10.0 * boost, 1e-14 * np.abs(np.diag(hessian)).max())
    return rhs


def _conjugate_gradients(design, curvature, rhs, accuracy):
    """Approximate solution of ``(I + X' diag(curvature) X) d = rhs`` and its scores ``X d``."""
    direction, move = np.zeros_like(rhs), np.zeros(design.n_rows)
    residual, search = rhs.copy(), rhs.copy()
    square = residual @ residual
    stop = accuracy**2 * square
    for _ in range(CG_STEPS):
        if square <= stop:
            break
        search_move = design.scores(search)
        image = search + design.combine(curvature * search_move)
        step = square / (search @ image)
        direction += step * search
        move += step * search_move
        residual -= step * image
        square, before = residual @ residual, square
        search = residual + (square / before) * search
    return direction, move
