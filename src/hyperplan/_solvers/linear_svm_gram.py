"""Band losses with few rows: the dual with K = X X' at hand.

A row is one multiplier.  Passes of coordinate descent find which multipliers are zero or at their bound, a linear
system then gives the others exactly; both alternate, and each increases the dual.  After K is summed, a pass costs
rows * (multipliers that moved) however many columns there are.
Bertsekas (1982), SIAM J. Control and Optimization 20(2); Hsieh et al. (2008), ICML.
"""

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_dual_kernels import gram_band_passes
from hyperplan._solvers.linear_svm_dual import certified, dual_band, pair_gap, start_from_zero_rows
from hyperplan._solvers.linear_svm_newton import solve_definite

PASSES = 20  # of coordinate descent between two linear systems
SYSTEM_STEPS = 3  # linear systems in a row, as long as each of them changes which multipliers are at a bound
GRAM_ROWS = 128  # rows of K per task
JITTER = 1e-13  # share of the mean diagonal that keeps a singular system solvable
STALL_ROUNDS = 4  # rounds in a row that do not halve the gap before another method is asked


def inner_products(design):
    """``X X'`` with the intercept's constant, dense."""
    n = design.n_rows
    require_memory(8 * n * n, f"the inner products of {n} rows", "use fewer rows")
    if design.is_sparse:
        return np.ascontiguousarray((design.X @ design.X.T).toarray(), dtype=np.float64) + design.scale**2
    K = np.empty((n, n))
    X = design.X.astype(np.float64, copy=False)

    def fill(block):
        K[block, : block.stop] = X[block] @ X[: block.stop].T + design.scale**2

    blocks = spans(n, GRAM_ROWS)
    thread_map(fill, blocks)
    for block in blocks:
        K[: block.start, block] = K[block, : block.start].T
    return K


def gram_descent(design, band, *, power, target_gap, max_iter, seed):
    """Solve by alternating passes and systems; `target_gap` is relative to the objective."""
    K, dual = inner_products(design), dual_band(band, power)
    order, state, pull = np.arange(design.n_rows), kernel_state(seed), np.zeros(design.n_rows)
    start_from_zero_rows(np.diagonal(K), band, power, pull)
    scores, n_iter, best, stalled = np.zeros(design.n_rows), 0, np.inf, 0
    while True:
        objective, gap = pair_gap(0.0, 0.5 * (pull @ scores), scores, pull, band, power)
        stalled, best = (0, gap) if gap < 0.5 * best else (stalled + 1, best)
        converged = gap <= target_gap * objective
        if converged or n_iter >= max_iter or stalled > STALL_ROUNDS or not np.isfinite(gap):
            found = certified(design, pull, band, power, n_iter, Status.CONVERGED)
            if found.gap <= target_gap * found.primal or not np.isfinite(found.gap):
                return found
            return found._replace(status=Status.MAX_ITER if n_iter >= max_iter else Status.STALLED)
        n_iter += gram_band_passes(K, dual, min(PASSES, max_iter - n_iter), 0.0, order, state, pull, scores)
        for _ in range(SYSTEM_STEPS):
            if not _solve_free(K, dual, pull, scores):
                break
        scores = K @ pull  # no drift from round to round


def _solve_free(K, dual, pull, scores):
    """Move the multipliers strictly between their bounds to their joint optimum, or towards it.

    `pull` and `scores` change in place; returns whether a bound was met.
    """
    low, high, bound, ridge = dual
    free = np.flatnonzero((pull != 0.0) & (np.abs(pull) < bound) & (np.diagonal(K) > 0.0))
    if free.size == 0:
        return False
    now = pull[free]
    wish = np.where(now > 0.0, low[free], high[free]) - scores[free] - ridge[free] * now
    system = K[np.ix_(free, free)]
    diagonal = np.diagonal(system)
    system[np.diag_indices(free.size)] = diagonal + ridge[free] + JITTER * diagonal.mean()
    move = solve_definite(system, wish)
    # all the way, each multiplier held at its bounds, if the dual rises by that; else straight up to the first bound
    sign = np.sign(now)
    target = sign * np.clip(sign * (now + move), 0.0, bound[free])
    bent = not np.array_equal(target, now + move)
    change = K[:, free] @ (target - now)
    step = target - now
    if bent and not step @ wish - 0.5 * (step @ change[free] + step @ (ridge[free] * step)) > 0.0:
        room = np.where(sign * move > 0.0, bound[free] - np.abs(now), np.abs(now)) / np.abs(move)
        target = now + min(1.0, np.fmin.reduce(room)) * move
        change = K[:, free] @ (target - now)
    pull[free] = target
    scores += change
    return bent
