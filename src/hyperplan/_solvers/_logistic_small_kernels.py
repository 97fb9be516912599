"""Whole prox-Newton runs of binary logistic regression in one call, for data whose passes cost less than Python does.

Coordinates are ``theta = [w, b]``; those taken part in are the first m, m = d without intercept and d + 1 with it.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._solvers._logistic_kernels import dense_pass, quadratic_descent

BLOCK = 64  # rows read twice while they are in cache
SWEEPS = 60  # of coordinate descent before an exact step
MAX_ROUNDS = 40  # of both in one model
SHARE = 2e-3  # violations left in the model relative to those of the problem: sweeps cost nothing beside a pass
ARMIJO = 1e-3
MAX_HALVINGS = 30
FLAT = 64 * 2.0**-52  # relative decrease below which the objective does not tell better from worse


@fast_kernel
def four_products(weighted, columns, b):
    """Inner products of `weighted` with the lines b..b+3 of `columns`."""
    s0 = s1 = s2 = s3 = 0.0
    for i in range(weighted.shape[0]):
        v = weighted[i]
        s0 += v * columns[b, i]
        s1 += v * columns[b + 1, i]
        s2 += v * columns[b + 2, i]
        s3 += v * columns[b + 3, i]
    return s0, s1, s2, s3


@fast_kernel
def one_product(weighted, columns, b):
    """Inner product of `weighted` with line b of `columns`."""
    total = 0.0
    for i in range(weighted.shape[0]):
        total += weighted[i] * columns[b, i]
    return total


@kernel
def column_gram(columns, curvature, bend, total, weighted, gram):
    # columns: (d, n) in C order, one line per feature; bend: the last line of the result (d + 1,), already divided
    # OUT: weighted (n,) scratch; gram (m, m) = [X, 1]' diag(curvature) [X, 1] / total, both triangles
    d, m = columns.shape[0], gram.shape[0]
    for a in range(d):
        for i in range(weighted.shape[0]):
            weighted[i] = curvature[i] * columns[a, i] / total
        b = 0
        while b + 3 <= a:
            gram[a, b], gram[a, b + 1], gram[a, b + 2], gram[a, b + 3] = four_products(weighted, columns, b)
            b += 4
        while b <= a:
            gram[a, b] = one_product(weighted, columns, b)
            b += 1
    if m > d:
        for b in range(m):
            gram[d, b] = bend[b]
    for a in range(m):
        for b in range(a):
            gram[b, a] = gram[a, b]


@kernel
def cholesky_solve(matrix, size, right):
    # OUT: matrix, its leading block replaced by the lower factor; right = the solution; False when not positive
    for a in range(size):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if a > b:
                matrix[a, b] = total / matrix[b, b]
            elif total > 0.0:
                matrix[a, a] = math.sqrt(total)
            else:
                return False
    for a in range(size):
        for c in range(a):
            right[a] -= matrix[a, c] * right[c]
        right[a] /= matrix[a, a]
    for a in range(size - 1, -1, -1):
        for c in range(a + 1, size):
            right[a] -= matrix[c, a] * right[c]
        right[a] /= matrix[a, a]
    return True


@kernel
def length_to_best(here, direction, descent, lasso):
    """The length t in [0, 1] of least objective on ``here + t direction``; `descent` is minus the slope at t = 0.

    The objective is a parabola whose slope vanishes at t = 1, plus the bends ``2 lasso_j |direction_j|`` where a
    coordinate passes zero.
    """
    passed, last = 0.0, 0.0
    while True:
        first, climb = 2.0, 0.0
        for j in range(here.shape[0]):
            if direction[j] * here[j] < 0.0 and abs(direction[j]) > abs(here[j]):
                time = -here[j] / direction[j]
                if last < time < first:
                    first, climb = time, 2.0 * lasso[j] * abs(direction[j])
                elif time == first:
                    climb += 2.0 * lasso[j] * abs(direction[j])
        if first > 1.0 or -descent * (1.0 - first) + passed + climb >= 0.0:
            return min(first, max(1.0 - passed / descent, last))
        last, passed = first, passed + climb


@kernel
def support_step(hessian, ridge, lasso, matrix, chosen, buffers, slope, z):
    # hessian (m, m) without the ridge part; matrix (m, m), chosen (m,) and buffers (3, m) are scratch
    # OUT: z moved towards the minimiser over its support and signs, slope likewise; False when there is no such point
    size = 0
    for j in range(z.shape[0]):
        if z[j] != 0.0 or (lasso[j] == 0.0 and slope[j] != 0.0):
            chosen[size] = j
            size += 1
    here, direction, bends = buffers[0, :size], buffers[1, :size], buffers[2, :size]
    for a in range(size):
        j = chosen[a]
        here[a], bends[a] = z[j], lasso[j]
        sign = 1.0 if z[j] > 0.0 else (-1.0 if z[j] < 0.0 else 0.0)
        direction[a] = -slope[j] - lasso[j] * sign
        for b in range(a + 1):
            matrix[a, b] = hessian[j, chosen[b]]
        matrix[a, a] += ridge[j]
    if size == 0 or not cholesky_solve(matrix, size, direction):
        return False
    descent = 0.0
    for a in range(size):
        j = chosen[a]
        sign = 1.0 if z[j] > 0.0 else (-1.0 if z[j] < 0.0 else 0.0)
        descent -= (slope[j] + lasso[j] * sign) * direction[a]
    if not 0.0 < descent < np.inf:
        return False
    t = length_to_best(here, direction, descent, bends)
    for a in range(size):
        j = chosen[a]
        new = here[a] + t * direction[a]
        if direction[a] * here[a] < 0.0 and -here[a] / direction[a] == t:
            new = 0.0
        change = new - z[j]
        z[j] = new
        slope[j] += ridge[j] * change
        for c in range(z.shape[0]):
            slope[c] += hessian[j, c] * change
    return True


@kernel
def violation(slope, lasso, z):
    """The distance of 0 to the subdifferential ``slope + lasso d|z|`` of one coordinate."""
    if z == 0.0:
        return max(abs(slope) - lasso, 0.0)
    return abs(slope + math.copysign(lasso, z))


@kernel
def worst_violation(gradient, ridge, lasso, z):
    """The largest violation of the optimality conditions; `gradient` lacks the ridge part."""
    worst = 0.0
    for j in range(lasso.shape[0]):
        worst = max(worst, violation(gradient[j] + ridge[j] * z[j], lasso[j], z[j]))
    return worst


@kernel
def minimise_small_model(hessian, ridge, lasso, tolerance, matrix, chosen, buffers, slope, z):
    # OUT: z, the minimiser of slope'u + u'(H + ridge)u / 2 + lasso'|z| from its value; slope at z; see `support_step`
    sweeps = 0  # without lasso part the first exact step is the last
    for j in range(lasso.shape[0]):
        if lasso[j] > 0.0:
            sweeps = SWEEPS
    for _ in range(MAX_ROUNDS):
        quadratic_descent(hessian, ridge, lasso, tolerance, sweeps, slope, z)
        worst = 0.0
        for j in range(z.shape[0]):
            worst = max(worst, violation(slope[j], lasso[j], z[j]))
        if worst <= 2.0 * tolerance:
            return
        if not support_step(hessian, ridge, lasso, matrix, chosen, buffers, slope, z):
            quadratic_descent(hessian, ridge, lasso, tolerance, 10 * sweeps, slope, z)
            return


@kernel
def mean_pass(X, target, weight, theta, total, values, sums):
    # X: C order
    # OUT: values (3, n) scores, residuals, curvatures; sums (2, d + 1) on the mean scale; returns the mean loss
    sums[:] = 0.0
    loss = dense_pass(X, target, weight, theta, BLOCK, values[0], values[1], values[2], sums)
    for j in range(sums.shape[1]):
        sums[0, j] /= total
        sums[1, j] /= total
    return loss / total


@kernel
def penalty_value(ridge, lasso, theta):
    """The penalties of the coordinates that take part."""
    value = 0.0
    for j in range(lasso.shape[0]):
        value += 0.5 * ridge[j] * theta[j] * theta[j] + lasso[j] * abs(theta[j])
    return value


@kernel
def accepts(sums, trial_sums, penalty, theta, trial, values):
    """Whether Armijo's rule takes `trial`; `values` are the objectives at theta and there.

    Where the objective no longer tells better from worse, the violations of the optimality conditions decide.
    """
    ridge, lasso = penalty[0], penalty[1]
    slope = 0.0
    for j in range(lasso.shape[0]):
        smooth = sums[0, j] + ridge[j] * theta[j]
        slope += smooth * (trial[j] - theta[j]) + lasso[j] * (abs(trial[j]) - abs(theta[j]))
    if -slope > FLAT * abs(values[0]):
        return values[1] <= values[0] + ARMIJO * slope
    better = worst_violation(trial_sums[0], ridge, lasso, trial) < worst_violation(sums[0], ridge, lasso, theta)
    return better and values[1] <= values[0] + FLAT * abs(values[0])


@kernel
def model_point(columns, curvature, sums, penalty, limits, tolerance, line, square, buffers, chosen, z):
    # columns: (d, n) in C order; limits as in `small_prox_newton`
    # line (n,), square (2, m, m), buffers (5, m) and chosen (m,) are scratch
    # OUT: z, theta at the start, the minimiser of the quadratic model at the end
    ridge, lasso, slope, weights = penalty[0], penalty[1], buffers[3], buffers[4]
    m = lasso.shape[0]
    hessian = square[0]
    column_gram(columns, curvature, sums[1], limits[0], line, hessian)
    for j in range(m):
        slope[j] = sums[0, j] + ridge[j] * z[j]
        weights[j] = ridge[j] + limits[4] * hessian[j, j]
    minimise_small_model(hessian, weights, lasso, tolerance, square[1], chosen, buffers[:3], slope, z[:m])


@kernel
def small_prox_newton(X, columns, target, weight, penalty, limits, max_steps, theta, values, sums, report):
    # X: C order, columns: its transpose, also in C order; penalty (2, m): ridge and lasso of the coordinates
    # limits: sum of the weights; violation to stop at and finest one of a model, both relative to the reference; the
    # reference (0: the largest gradient at theta); a ridge for the model relative to its diagonal
    # OUT: theta; values (3, n) and sums (2, d + 1) of `mean_pass` there; report: objective, worst violation,
    # reference, 1 when no step decreased the objective; returns the number of steps
    d, m, total = X.shape[1], penalty.shape[1], limits[0]
    ridge, lasso = penalty[0], penalty[1]
    square, buffers, chosen = np.empty((2, m, m)), np.empty((5, m)), np.empty(m, dtype=np.intp)
    line = np.empty(X.shape[0])
    z, trial = np.zeros(d + 1), np.zeros(d + 1)
    trial_values, trial_sums, pair = np.empty_like(values), np.empty_like(sums), np.empty(2)
    objective = mean_pass(X, target, weight, theta, total, values, sums) + penalty_value(ridge, lasso, theta)
    largest = lasso[0] if d else 0.0
    reference = limits[3]
    if reference == 0.0:
        reference = largest
        for j in range(d):
            reference = max(reference, abs(sums[0, j]))
    finest = limits[2] * (min(reference, largest) if largest > 0.0 else reference)
    steps, stalled = 0, False
    while True:
        worst = worst_violation(sums[0], ridge, lasso, theta)
        if steps >= max_steps or stalled or worst <= limits[1] * reference or not math.isfinite(objective + worst):
            break
        for j in range(d + 1):  # `z[:] = theta` would compile Numba's text functions, for an error message: seconds
            z[j] = theta[j]
        tolerance = max(SHARE * worst, finest)
        model_point(columns, values[2], sums, penalty, limits, tolerance, line, square, buffers, chosen, z)
        length, stalled = 1.0, True
        for _ in range(MAX_HALVINGS):
            for j in range(d + 1):
                trial[j] = theta[j] + length * (z[j] - theta[j]) if length < 1.0 else z[j]
            pair[0] = objective
            pair[1] = mean_pass(X, target, weight, trial, total, trial_values, trial_sums)
            pair[1] += penalty_value(ridge, lasso, trial)
            if accepts(sums, trial_sums, penalty, theta, trial, pair):
                stalled = False
                break
            length *= 0.5
        if not stalled:
            for j in range(d + 1):
                theta[j], sums[0, j], sums[1, j] = trial[j], trial_sums[0, j], trial_sums[1, j]
            for i in range(values.shape[1]):
                values[0, i], values[1, i] = trial_values[0, i], trial_values[1, i]
                values[2, i] = trial_values[2, i]
            objective, steps = pair[1], steps + 1
    report[0], report[1], report[2], report[3] = objective, worst, reference, 1.0 if stalled else 0.0
    return steps
