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
def is_safe(weight, slope, norm, change):
    """Whether a step decreases the objective even with all rows outside their band (`norm` is the curvature then)."""
    drop = slope * change + abs(weight + change) - abs(weight)
    return drop + 0.5 * norm * change * change <= 0.01 * drop


@kernel
def dense_l1_pass(columns, band, norms, order, n_active, shrink, weights, scores, force, stiff):
    # order, weights, scores, force, stiff OUT
    """One pass over the first `n_active` columns of `order`; returns their new number and the worst violation."""
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
        if not is_safe(weights[j], slope, norms[j], change):
            before = abs(weights[j]) + column_change(columns[j], 0.0, scores, low, high, cost)
            for _ in range(20):
                drop = slope * change + abs(weights[j] + change) - abs(weights[j])
                after = abs(weights[j] + change) + column_change(columns[j], change, scores, low, high, cost)
                if after - before <= 0.01 * drop:
                    break
                change *= 0.5
        weights[j] += change
        column_move(columns[j], change, scores, low, high, cost, force, stiff)
    return n_active, worst


@kernel
def sparse_change(columns, j, change, band, scores):
    """The loss of the rows of one column, after their scores have moved by `change` times the column."""
    low, high, cost = band
    total = 0.0
    for p in range(columns.indptr[j], columns.indptr[j + 1]):
        i = columns.indices[p]
        score = scores[i] + change * columns.data[p]
        miss = max(low[i] - score, 0.0) - max(score - high[i], 0.0)
        total += cost[i] * miss * miss
    return total


@kernel
def sparse_l1_pass(columns, band, norms, order, n_active, shrink, weights, scores, force, stiff):
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
            i, value = indices[p], data[p]
            slope -= force[i] * value
            curvature += stiff[i] * value * value
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
        if not is_safe(weights[j], slope, norms[j], change):
            before = abs(weights[j]) + sparse_change(columns, j, 0.0, band, scores)
            for _ in range(20):
                drop = slope * change + abs(weights[j] + change) - abs(weights[j])
                if abs(weights[j] + change) + sparse_change(columns, j, change, band, scores) - before <= 0.01 * drop:
                    break
                change *= 0.5
        weights[j] += change
        for p in range(first, stop):
            i = indices[p]
            score = scores[i] + change * data[p]
            scores[i] = score
            miss = max(low[i] - score, 0.0) - max(score - high[i], 0.0)
            force[i] = 2.0 * cost[i] * miss
            stiff[i] = 2.0 * cost[i] if miss != 0.0 else 0.0
    return n_active, worst


@kernel
def support_product(columns, support, vector, stiff, rows, image):  # rows, image OUT: rows = X vector
    """``image = X' diag(stiff) X vector`` for the columns `support` of a CSC record."""
    rows[:] = 0.0
    for c in range(support.shape[0]):
        for p in range(columns.indptr[support[c]], columns.indptr[support[c] + 1]):
            rows[columns.indices[p]] += vector[c] * columns.data[p]
    for c in range(support.shape[0]):
        total = 0.0
        for p in range(columns.indptr[support[c]], columns.indptr[support[c] + 1]):
            total += columns.data[p] * (stiff[columns.indices[p]] * rows[columns.indices[p]])
        image[c] = total


@kernel
def support_gradients(columns, support, stiff, rhs, diagonal, max_steps, tolerance, change, rows):  # change, rows OUT
    """Conjugate gradients for the Newton direction `change` on a support; `rows` = X change.

    `diagonal` scales the unknowns and bounds the curvature from below by a share of rounding size.
    """
    n = support.shape[0]
    residual, search, image = rhs.copy(), rhs / diagonal, np.empty(n)
    change[:] = 0.0
    square = np.sum(residual * search)
    stop = tolerance * square
    for _ in range(max_steps):
        support_product(columns, support, search, stiff, rows, image)
        curvature = 0.0
        for c in range(n):
            image[c] += 1e-10 * diagonal[c] * search[c]
            curvature += search[c] * image[c]
        step = square / curvature
        before, square = square, 0.0
        for c in range(n):
            change[c] += step * search[c]
            residual[c] -= step * image[c]
            square += residual[c] * residual[c] / diagonal[c]
        if not square > stop:
            break
        for c in range(n):
            search[c] = residual[c] / diagonal[c] + (square / before) * search[c]
    support_product(columns, support, change, stiff, rows, image)


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
