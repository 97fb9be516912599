"""Block coordinate descent for several targets at once: the coefficients of a column are one block.

    minimise  1/2 sum_i s_i |y_i - W'x_i|^2 + l1 sum_j |W_j|_2 + l2/2 |W|_F^2

Targets and residuals are stored target by target, coefficients column by column; see `_coordinate_kernels` for the
design.
"""

import math

from hyperplan._core._rng_kernels import next_below
from hyperplan._core.jit import kernel
from hyperplan._solvers._coordinate_kernels import (
    column_dot,
    column_step,
    duality_gap,
    outside_safe_sphere,
    residual_sums,
    safe_gap,
)


@kernel
def row_norm(row):
    total = 0.0
    for k in range(row.shape[0]):
        total += row[k] * row[k]
    return math.sqrt(total)


@kernel
def task_gap(design, Y, penalty, W, rho, offset, score):
    """(gap, largest norm of a row of X'R - l2 W); ``score[j]`` is that norm for column j."""
    # score is OUT
    t = W.shape[1]
    w_l21 = w_l2 = gradient2 = correlation = r2 = ry = 0.0
    for k in range(t):
        square, product = residual_sums(design, Y[k], rho[k], offset[k])
        r2 += square
        ry += product
    for j in range(W.shape[0]):
        norm2 = total = 0.0
        for k in range(t):
            c = column_dot(design, j, rho[k], offset[k])
            gradient2 += c * c
            total += (c - penalty.l2 * W[j, k]) ** 2
            norm2 += W[j, k] ** 2
        score[j] = math.sqrt(total)
        correlation = max(correlation, score[j])
        w_l21 += math.sqrt(norm2)
        w_l2 += norm2
    return duality_gap(penalty.l1, penalty.l2, r2, ry, w_l21, w_l2, correlation, gradient2), correlation


@kernel
def task_step(design, j, new, W, rho, offset):
    """Move row j of W to `new`, residuals following; return the largest change."""
    # W, rho and offset are OUT
    largest = 0.0
    for k in range(W.shape[1]):
        step = new[k] - W[j, k]
        if step != 0.0:
            offset[k] = column_step(design, j, step, rho[k], offset[k])
            W[j, k] = new[k]
            largest = max(largest, abs(step))
    return largest


@kernel
def task_screen(design, penalty, gap, correlation, score, active, n_active, zero, W, rho, offset):
    """Keep the columns that the Gap Safe rule cannot exclude; return how many."""
    # active, W, rho and offset are OUT; zero is a row of zeros
    kept = 0
    for a in range(n_active):
        j = active[a]
        if penalty.l1 > 0.0 and outside_safe_sphere(score[j], design.norm2[j], correlation, gap, penalty):
            task_step(design, j, zero, W, rho, offset)
        else:
            active[kept] = j
            kept += 1
    return kept


@kernel
def task_descent(design, Y, penalty, stop, rng, work, active, W, rho, offset):
    """Cycle over the columns; return (epochs, gap).  The stopping rule is that of `gram_descent`.

    `work` holds three rows: the scores of columns, a row of zeros and the new block.
    """
    # W, rho and offset are updated in place (OUT)
    t = W.shape[1]
    score, zero, new = work[0], work[1, :t], work[2, :t]
    zero[:] = 0.0
    gap, correlation = task_gap(design, Y, penalty, W, rho, offset, score)
    if stop.entry and gap <= stop.goal:
        return 0, gap
    n_active = 0
    for j in range(W.shape[0]):
        if design.norm2[j] > 0.0:
            active[n_active] = j
            n_active += 1
    safe = safe_gap(gap, stop.y2)
    n_active = task_screen(design, penalty, safe, correlation, score, active, n_active, zero, W, rho, offset)
    for epoch in range(stop.epochs):
        largest = change = 0.0
        for a in range(n_active):
            j = active[next_below(rng, n_active)] if rng.shape[0] else active[a]
            norm2 = design.norm2[j]
            for k in range(t):
                new[k] = column_dot(design, j, rho[k], offset[k]) + norm2 * W[j, k]
            size = row_norm(new)
            shrink = max(0.0, 1.0 - penalty.l1 / size) / (norm2 + penalty.l2) if size > 0.0 else 0.0
            for k in range(t):
                new[k] *= shrink
                largest = max(largest, abs(new[k]))
            change = max(change, task_step(design, j, new, W, rho, offset))
        if largest == 0.0 or change <= stop.step * largest or epoch == stop.epochs - 1:
            gap, correlation = task_gap(design, Y, penalty, W, rho, offset, score)
            if gap <= stop.goal:
                return epoch + 1, gap
            safe = safe_gap(gap, stop.y2)
            n_active = task_screen(design, penalty, safe, correlation, score, active, n_active, zero, W, rho, offset)
    return stop.epochs, gap
