"""Kernels of small dense support vector machines: one call solves a problem.

Z is C-ordered float64 and holds the intercept's constant as its last column.  Each row pulls its score into its band
[low, high] with the force ``center + stiff * (end - score)``, never more than `bound`; the squared loss is of this
form with center 0 and no bound, the absolute loss is the limit of it (an augmented Lagrangian).  A row is elastic
where its force follows its score; elastic rows make the Hessian.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._solvers._linear_svm_dual_kernels import l1_quadratic
from hyperplan._solvers._linear_svm_kernels import dense_combine, dense_scores


@fast_kernel
def elastic_pull(scores, center, stiff, bound, low, high, pull):  # pull OUT: the force of each row
    for i in range(scores.shape[0]):
        up = center[i] + (low[i] - scores[i]) * stiff[i]
        down = center[i] + (high[i] - scores[i]) * stiff[i]
        pull[i] = max(min(up, bound[i]), 0.0) + min(max(down, -bound[i]), 0.0)


@fast_kernel
def elastic_slope(scores, move, step, center, stiff, bound, low, high):
    """Slope and curvature in `step` of the rows' energy at scores + step * move."""
    slope, curvature = 0.0, 0.0
    for i in range(scores.shape[0]):
        score = scores[i] + step * move[i]
        up = center[i] + (low[i] - score) * stiff[i]
        down = center[i] + (high[i] - score) * stiff[i]
        force = max(min(up, bound[i]), 0.0) + min(max(down, -bound[i]), 0.0)
        slope -= force * move[i]
        curvature += stiff[i] * move[i] * move[i] if force != 0.0 and abs(force) < bound[i] else 0.0
    return slope, curvature


@kernel
def elastic_changes(pull, bound, stiff, is_elastic, rows, amount):  # is_elastic, rows, amount OUT
    """Rows that became elastic (amount = stiff) or ceased to be (amount = -stiff); returns their number."""
    count = 0
    for i in range(pull.shape[0]):
        now = pull[i] != 0.0 and abs(pull[i]) < bound[i]
        if now != is_elastic[i]:
            is_elastic[i] = now
            rows[count] = i
            amount[count] = stiff[i] if now else -stiff[i]
            count += 1
    return count


@fast_kernel
def add_outer(Z, rows, amount, count, hessian):  # Z C-ordered; hessian OUT: += sum of amount z z', both triangles
    d = Z.shape[1]
    n_pairs = count // 2
    for q in range(n_pairs):
        first, second = rows[2 * q], rows[2 * q + 1]
        for j in range(d):
            a, b = amount[2 * q] * Z[first, j], amount[2 * q + 1] * Z[second, j]
            for k in range(d):
                hessian[j, k] += a * Z[first, k] + b * Z[second, k]
    for q in range(2 * n_pairs, count):
        for j in range(d):
            a = amount[q] * Z[rows[q], j]
            for k in range(d):
                hessian[j, k] += a * Z[rows[q], k]


@fast_kernel
def solve_shifted(hessian, rhs, factor, out):  # factor, out OUT: (hessian + I) out = rhs by Cholesky's factorisation
    n = rhs.shape[0]
    for j in range(n):
        for k in range(j + 1):
            total = hessian[j, k]
            for m in range(k):
                total -= factor[j, m] * factor[k, m]
            if k < j:
                factor[j, k] = total / factor[k, k]
            else:
                factor[j, j] = math.sqrt(max(total + 1.0, 1e-15 * hessian[j, j]))
    for j in range(n):
        total = rhs[j]
        for m in range(j):
            total -= factor[j, m] * out[m]
        out[j] = total / factor[j, j]
    for j in range(n - 1, -1, -1):
        out[j] /= factor[j, j]
        for m in range(j):
            out[m] -= factor[j, m] * out[j]


@kernel
def elastic_step(scores, move, start, ridge_slope, ridge_curvature, force, band):
    """Exact line search: the root of the increasing, piecewise linear slope, which is `start` at 0."""
    center, stiff, bound = force
    step, lower, upper = 1.0, 0.0, np.inf
    for _ in range(60):
        slope, curvature = elastic_slope(scores, move, step, center, stiff, bound, band[0], band[1])
        slope += ridge_slope + step * ridge_curvature
        curvature += ridge_curvature
        if abs(slope) <= 1e-3 * abs(start) or not curvature > 0.0:
            break
        if slope > 0.0:
            upper = step
        else:
            lower = step
        proposal = step - slope / curvature
        if not (lower < proposal and proposal < upper):
            proposal = 0.5 * (lower + upper) if upper < np.inf else 2.0 * step
        step = proposal
    return step


@fast_kernel
def band_terms(scores, pull, power, low, high, cost):
    """Loss, and for the absolute loss the excess of `band_excess` (0 for the squared loss, whose forces are exact)."""
    loss, excess = 0.0, 0.0
    for i in range(scores.shape[0]):
        miss = max(low[i] - scores[i], scores[i] - high[i], 0.0)
        if power == 2:
            loss += cost[i] * miss * miss
        else:
            loss += cost[i] * miss
            reach = low[i] - scores[i] if pull[i] > 0.0 else high[i] - scores[i]
            excess += max(cost[i] * miss - (pull[i] * reach if pull[i] != 0.0 else 0.0), 0.0)
    return loss, excess


@kernel
def new_centers(pull, shrink, center, stiff, is_elastic, hessian):  # center, stiff, is_elastic, hessian OUT
    """The forces become centers; the Hessian is summed afresh, as differences of large sums lose digits."""
    for i in range(pull.shape[0]):
        center[i] = pull[i]
        stiff[i] *= shrink
        is_elastic[i] = False
    for j in range(hessian.shape[0]):
        for k in range(hessian.shape[1]):
            hessian[j, k] = 0.0


@kernel
def small_ridge(Z, band, power, shrink, target_gap, max_iter, work, weights, pull):  # work, weights, pull OUT
    """Newton's method for the ridge penalty from weights 0; `work` is a `Work` with the first stiffness and bounds.

    Where the weights fit the forces better than the forces fit the loss, the forces become the centers and stiffer
    by `shrink`.  Returns objective, duality gap and the number of Newton steps.
    """
    force = (work.center, work.stiff, work.bound)
    n, d = Z.shape
    step, is_exact, is_new = 0, True, False
    while True:
        elastic_pull(work.scores, work.center, work.stiff, work.bound, band[0], band[1], pull)
        dense_combine(Z, pull, work.gradient)
        objective, residual = 0.0, 0.0
        for j in range(d):
            work.gradient[j] = weights[j] - work.gradient[j]
            objective += 0.5 * weights[j] * weights[j]
            residual += 0.5 * work.gradient[j] * work.gradient[j]
        loss, excess = band_terms(work.scores, pull, power, band[0], band[1], band[2])
        objective += loss
        gap = residual + excess
        done = gap <= target_gap * objective or step >= max_iter
        if is_exact and (done or not gap < np.inf):
            return objective, gap, step
        if done:  # sums over several steps: the last word have scores without rounding errors
            dense_scores(Z, weights, 0.0, work.scores)
            is_exact = True
            continue
        if residual < 0.3 * excess and not is_new:
            new_centers(pull, shrink, work.center, work.stiff, work.is_elastic, work.hessian)
            is_new = True
            continue
        count = elastic_changes(pull, work.bound, work.stiff, work.is_elastic, work.rows, work.amount)
        add_outer(Z, work.rows, work.amount, count, work.hessian)
        solve_shifted(work.hessian, work.gradient, work.factor, work.direction)
        ridge_slope, ridge_curvature, start = 0.0, 0.0, 0.0
        for j in range(d):
            work.direction[j] = -work.direction[j]
            ridge_slope += weights[j] * work.direction[j]
            ridge_curvature += work.direction[j] * work.direction[j]
            start += work.gradient[j] * work.direction[j]
        dense_scores(Z, work.direction, 0.0, work.move)
        length = elastic_step(work.scores, work.move, start, ridge_slope, ridge_curvature, force, band)
        for j in range(d):
            weights[j] += length * work.direction[j]
        for i in range(n):
            work.scores[i] += length * work.move[i]
        step, is_exact, is_new = step + 1, False, False


@kernel
def l1_size(weights, gradient, pull, band):
    """|w|_1, the dual objective at the largest feasible share of `pull`, and the worst violation of optimality."""
    low, high, cost = band
    linear, quadratic = 0.0, 0.0
    for i in range(pull.shape[0]):
        if pull[i] != 0.0:
            linear += pull[i] * (low[i] if pull[i] > 0.0 else high[i])
            quadratic += pull[i] * pull[i] / (4.0 * cost[i])
    size, largest, worst = 0.0, 0.0, 0.0
    for j in range(weights.shape[0]):
        size += abs(weights[j])
        largest = max(largest, abs(gradient[j]))
        distance = abs(gradient[j]) - 1.0 if weights[j] == 0.0 else abs(gradient[j] - math.copysign(1.0, weights[j]))
        worst = max(worst, distance)
    share = 1.0 if largest <= 0.0 else 1.0 / largest
    if quadratic > 0.0:
        share = min(share, linear / (2.0 * quadratic))
    share = max(share, 0.0)
    return size, share * linear - share * share * quadratic, worst


@fast_kernel
def l1_step(scores, move, weights, direction, objective, band):
    """Step length by halving until the objective is not larger, up to rounding; 0 if there is none."""
    low, high, cost = band
    length = 1.0
    for _ in range(30):
        total = 0.0
        for j in range(weights.shape[0]):
            total += abs(weights[j] + length * direction[j])
        for i in range(scores.shape[0]):
            score = scores[i] + length * move[i]
            miss = max(low[i] - score, score - high[i], 0.0)
            total += cost[i] * miss * miss
        if total <= objective * (1.0 + 1e-14):
            return length
        length *= 0.5
    return 0.0


@kernel
def small_l1(Z, band, target_gap, max_iter, max_passes, work, weights, pull):  # work, weights, pull OUT
    """Proximal Newton steps for the l1 penalty with the squared loss: each minimises the quadratic model of the
    rows outside their band by at most `max_passes` of coordinate descent.  Returns as `small_ridge`."""
    low, high, cost = band
    slope, target = work.factor[0], work.direction
    n, d = Z.shape
    step, is_exact, is_stuck = 0, True, False
    while True:
        elastic_pull(work.scores, work.center, work.stiff, work.bound, low, high, pull)
        dense_combine(Z, pull, work.gradient)
        size, dual, worst = l1_size(weights, work.gradient, pull, band)
        objective = size + band_terms(work.scores, pull, 2, low, high, cost)[0]
        gap = max(objective - dual, 0.0)
        done = gap <= target_gap * objective or is_stuck or step >= max_iter
        if is_exact and (done or not gap < np.inf):
            return objective, gap, step
        if done:
            dense_scores(Z, weights, 0.0, work.scores)
            is_exact = True
            continue
        count = elastic_changes(pull, work.bound, work.stiff, work.is_elastic, work.rows, work.amount)
        add_outer(Z, work.rows, work.amount, count, work.hessian)
        for j in range(d):
            target[j] = weights[j]
            slope[j] = -work.gradient[j]
        l1_quadratic(work.hessian, work.gradient, 1e-3 * worst, max_passes, target, slope)
        for j in range(d):
            target[j] -= weights[j]
        dense_scores(Z, target, 0.0, work.move)
        length = l1_step(work.scores, work.move, weights, target, objective, band)
        is_stuck = length == 0.0
        for j in range(d):
            weights[j] += length * target[j]
        for i in range(n):
            work.scores[i] += length * work.move[i]
        step, is_exact = step + 1, False
