"""Kernels of the squared band loss with an l1 penalty: coordinate descent over columns, line search on a support.

Columns are the rows of a C-ordered array (dense) or a CSC record; the intercept's constant is one of them.
`force` is minus the derivative of the loss of each row, `stiff` its second derivative, both kept up to date.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def loss_state(scores, low, high, cost, force, stiff):  # force, stiff OUT
    """First and second derivatives at the scores; returns the loss."""
    total = 0.0
    for i in range(scores.shape[0]):
        miss = max(low[i] - scores[i], 0.0) - max(scores[i] - high[i], 0.0)
        force[i] = 2.0 * cost[i] * miss
        stiff[i] = 2.0 * cost[i] if miss != 0.0 else 0.0
        total += cost[i] * miss * miss
    return total


@fast_kernel
def column_slopes(column, force, stiff):
    slope, curvature = 0.0, 0.0
    for i in range(column.shape[0]):
        slope -= force[i] * column[i]
        curvature += stiff[i] * column[i] * column[i]
    return slope, curvature


@fast_kernel
def column_change(column, change, scores, low, high, cost):
    """The loss after the scores have moved by `change` times a column."""
    total = 0.0
    for i in range(column.shape[0]):
        score = scores[i] + change * column[i]
        miss = max(low[i] - score, 0.0) - max(score - high[i], 0.0)
        total += cost[i] * miss * miss
    return total


@fast_kernel
def column_move(column, change, scores, low, high, cost, force, stiff):  # scores, force, stiff OUT
    for i in range(column.shape[0]):
        scores[i] += change * column[i]
        miss = max(low[i] - scores[i], 0.0) - max(scores[i] - high[i], 0.0)
        force[i] = 2.0 * cost[i] * miss
        stiff[i] = 2.0 * cost[i] if miss != 0.0 else 0.0


@kernel
def soft_step(weight, slope, curvature):
    """The change of one weight that minimises its quadratic model with the penalty |w|."""
    free = weight - slope / curvature
    size = abs(free) - 1.0 / curvature
    return (0.0 if size <= 0.0 else (size if free > 0.0 else -size)) - weight


@kernel
def l1_violation(weight, slope):
    """Distance to optimality of one weight, negative where it is zero and stays so."""
    if weight == 0.0:
        return abs(slope) - 1.0
    return abs(slope + (1.0 if weight > 0.0 else -1.0))


@kernel
def dense_l1_pass(columns, band, order, n_active, shrink, loss, weights, scores, force, stiff):
    # order, weights, scores, force, stiff OUT
    """One pass over the first `n_active` columns of `order`; returns their new number, the worst violation, the loss."""
    low, high, cost = band
    worst, k = 0.0, 0
    while k < n_active:
        j = order[k]
        slope, curvature = column_slopes(columns[j], force, stiff)
        violation = l1_violation(weights[j], slope)
        if violation < -shrink:
            n_active -= 1
            order[k], order[n_active] = order[n_active], order[k]
            continue
        k += 1
        worst = max(worst, violation)
        if violation <= 0.0 or curvature <= 0.0:
            continue
        change = soft_step(weights[j], slope, curvature)
        for _ in range(20):
            drop = slope * change + abs(weights[j] + change) - abs(weights[j])
            after = column_change(columns[j], change, scores, low, high, cost)
            if after - loss + abs(weights[j] + change) - abs(weights[j]) <= 0.01 * drop:
                weights[j] += change
                loss = after
                column_move(columns[j], change, scores, low, high, cost, force, stiff)
                break
            change *= 0.5
    return n_active, worst, loss


@kernel
def sparse_l1_pass(columns, band, order, n_active, shrink, loss, weights, scores, force, stiff):
    # order, weights, scores, force, stiff OUT
    """The twin of `dense_l1_pass` for columns in CSC form."""
    data, indices, indptr = columns.data, columns.indices, columns.indptr
    low, high, cost = band
    worst, k = 0.0, 0
    while k < n_active:
        j = order[k]
        first, stop = indptr[j], indptr[j + 1]
        slope, curvature = 0.0, 0.0
        for p in range(first, stop):
            slope -= force[indices[p]] * data[p]
            curvature += stiff[indices[p]] * data[p] * data[p]
        violation = l1_violation(weights[j], slope)
        if violation < -shrink:
            n_active -= 1
            order[k], order[n_active] = order[n_active], order[k]
            continue
        k += 1
        worst = max(worst, violation)
        if violation <= 0.0 or curvature <= 0.0:
            continue
        change = soft_step(weights[j], slope, curvature)
        for _ in range(20):
            drop = slope * change + abs(weights[j] + change) - abs(weights[j])
            rise = abs(weights[j] + change) - abs(weights[j])
            for p in range(first, stop):
                i = indices[p]
                score = scores[i] + change * data[p]
                miss = max(low[i] - score, 0.0) - max(score - high[i], 0.0)
                rise += cost[i] * miss * miss
                if stiff[i] > 0.0:
                    rise -= force[i] * force[i] / (2.0 * stiff[i])
            if rise <= 0.01 * drop:
                loss += rise - abs(weights[j] + change) + abs(weights[j])
                weights[j] += change
                for p in range(first, stop):
                    i = indices[p]
                    scores[i] += change * data[p]
                    miss = max(low[i] - scores[i], 0.0) - max(scores[i] - high[i], 0.0)
                    force[i] = 2.0 * cost[i] * miss
                    stiff[i] = 2.0 * cost[i] if miss != 0.0 else 0.0
                break
            change *= 0.5
    return n_active, worst, loss


@kernel
def l1_partition(gradient, weights, margin, order):  # order OUT: columns worth visiting first
    """Columns whose weight is not zero, or would not be if its slope changed by `margin`; returns their number."""
    front, back = 0, order.shape[0]
    while front < back:
        j = order[front]
        if weights[j] != 0.0 or abs(gradient[j]) >= 1.0 - margin:
            front += 1
        else:
            back -= 1
            order[front], order[back] = order[back], order[front]
    return front
