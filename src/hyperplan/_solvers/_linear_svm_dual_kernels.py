"""Kernels of dual coordinate descent: one epoch over the rows of a dense (C order) or CSR design.

`weights` = sum_i pull_i [x_i, scale] is kept up to date, `scale` is the constant of the intercept.  A dual band is
(low, high, bound, ridge): the absolute loss bounds a multiplier by the cost and has ridge 0, the squared loss has no
bound and adds ridge = 1 / (2 cost) to the diagonal of the dual.  Epochs have all numbers of a row side by side in a
`table`, as rows come in random order: the band, `step` = one over the curvature of the dual (0 for a row without any
value), and the multiplier `pull`.
"""

import numpy as np

from hyperplan._core._rng_kernels import shuffle_in_place
from hyperplan._core.jit import fast_kernel, kernel, prefetch

LOW, HIGH, BOUND, RIDGE, STEP, PULL = 0, 1, 2, 3, 4, 5  # columns of the table
TABLE_WIDTH = 8  # a row of it is one line of the cache
FAR_VALUES = 200_000  # stored values beyond which rows are far away in memory


@fast_kernel
def dense_dot(X, i, weights):
    total = 0.0
    for j in range(X.shape[1]):
        total += X[i, j] * weights[j]
    return total


@kernel
def dense_add(X, i, amount, weights):  # weights OUT
    for j in range(X.shape[1]):
        weights[j] += amount * X[i, j]


@kernel
def csr_dot(X, i, weights):
    total = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        total += X.data[p] * weights[X.indices[p]]
    return total


@kernel
def csr_add(X, i, amount, weights):  # weights OUT
    for p in range(X.indptr[i], X.indptr[i + 1]):
        weights[X.indices[p]] += amount * X.data[p]


@kernel
def band_violation(pull, score, low, high, cost):
    """Distance to optimality of one dual coordinate of the absolute band loss, negative where it may be shrunk.

    The negative value is minus the distance of the score to where the coordinate would start to move.
    """
    if pull == 0.0:
        return max(low - score, score - high)
    if pull > 0.0:
        rise = low - score
        return -rise if pull >= cost else abs(rise)
    rise = score - high
    return -rise if -pull >= cost else abs(rise)


@kernel
def band_minimum(pull, score, step, low, high, cost):
    """Exact minimiser of the dual in one coordinate, `step` one over its curvature; infinite ends never bind."""
    up = pull + (low - score) * step
    if up > 0.0:
        return min(up, cost)
    down = pull + (high - score) * step
    return max(down, -cost) if down < 0.0 else 0.0


@kernel
def dense_band_epoch(X, scale, order, n_active, shrink, state, table, weights):  # order, table, weights OUT
    shuffle_in_place(order[:n_active], state)
    last = weights.shape[0] - 1
    worst, k = 0.0, 0
    while k < n_active:
        i = np.uint64(order[k])
        low, high, bound, step = table[i, LOW], table[i, HIGH], table[i, BOUND], table[i, STEP]
        pull = table[i, PULL]
        score = dense_dot(X, i, weights) + (scale * weights[last] if scale != 0.0 else 0.0) + table[i, RIDGE] * pull
        violation = band_violation(pull, score, low, high, bound)
        if violation < -shrink or step == 0.0:
            n_active -= 1
            order[k], order[n_active] = order[n_active], order[k]
            continue
        k += 1
        worst = max(worst, violation)
        if violation > 0.0:
            new = band_minimum(pull, score, step, low, high, bound)
            if new != pull:
                table[i, PULL] = new
                dense_add(X, i, new - pull, weights)
                if scale != 0.0:
                    weights[last] += (new - pull) * scale
    return n_active, worst


@kernel
def prefetch_row(X, i, table):  # X CSR
    """Start to load a row that is visited soon: in random order no hardware can guess it."""
    first, stop = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + np.uint64(1)])
    prefetch(table[i], 0)
    for p in range(first, stop, np.uint64(8)):  # a line of the cache has eight values or sixteen column numbers
        prefetch(X.data, p)
    for p in range(first, stop, np.uint64(16)):
        prefetch(X.indices, p)


@kernel
def csr_band_epoch(X, scale, order, n_active, shrink, state, table, weights):  # order, table, weights OUT
    """The twin of `dense_band_epoch`; its loops are written out: rows are short, and plain order beats gathers.

    Scores are two sums, of every other value, that do not wait for each other.
    """
    shuffle_in_place(order[:n_active], state)
    data, indices, indptr = X.data, X.indices, X.indptr
    last, one, two = weights.shape[0] - 1, np.uint64(1), np.uint64(2)
    is_far = data.shape[0] > FAR_VALUES
    constant = weights[last] if scale != 0.0 else 0.0
    worst, k = 0.0, 0
    while k < n_active:
        if is_far and k + 8 < n_active:
            prefetch(indptr, order[k + 8])
        if is_far and k + 4 < n_active:
            prefetch_row(X, np.uint64(order[k + 4]), table)
        i = np.uint64(order[k])
        first, stop = np.uint64(indptr[i]), np.uint64(indptr[i + one])
        low, high, bound, step = table[i, LOW], table[i, HIGH], table[i, BOUND], table[i, STEP]
        pull = table[i, PULL]
        score, other = table[i, RIDGE] * pull + scale * constant, 0.0
        paired = first + ((stop - first) & ~one)
        for p in range(first, paired, two):
            score += data[p] * weights[indices[p]]
            other += data[p + one] * weights[indices[p + one]]
        if paired < stop:
            score += data[paired] * weights[indices[paired]]
        score += other
        violation = band_violation(pull, score, low, high, bound)
        if violation < -shrink or step == 0.0:
            n_active -= 1
            order[k], order[n_active] = order[n_active], order[k]
            continue
        k += 1
        worst = max(worst, violation)
        if violation > 0.0:
            new = band_minimum(pull, score, step, low, high, bound)
            change = new - pull
            if change != 0.0:
                table[i, PULL] = new
                for p in range(first, stop):
                    weights[indices[p]] += change * data[p]
                constant += change * scale
    if scale != 0.0:
        weights[last] = constant
    return n_active, worst


@kernel
def band_partition(scores, table, margin, order):  # order OUT: rows worth visiting first
    """Rows whose multiplier would move, or would if its score changed by `margin`; returns their number."""
    front, back = 0, order.shape[0]
    while front < back:
        i = np.uint64(order[front])
        score = scores[i] + table[i, RIDGE] * table[i, PULL]
        violation = band_violation(table[i, PULL], score, table[i, LOW], table[i, HIGH], table[i, BOUND])
        if table[i, STEP] > 0.0 and violation >= -margin:
            front += 1
        else:
            back -= 1
            order[front], order[back] = order[back], order[front]
    return front


@kernel
def gram_band_passes(K, band, n_passes, tolerance, order, state, pull, scores):  # order, pull, scores OUT
    """Passes over the multipliers with K = X X' at hand (C order): a row whose multiplier stays costs next to nothing.

    Ends when no multiplier was further than `tolerance` from its optimum; returns the number of passes.
    """
    for count in range(n_passes):
        shuffle_in_place(order, state)
        worst = 0.0
        for k in range(order.shape[0]):
            i = order[k]
            score = scores[i] + band[3][i] * pull[i]
            norm = K[i, i] + band[3][i]
            violation = band_violation(pull[i], score, band[0][i], band[1][i], band[2][i])
            if violation <= 0.0 or norm <= 0.0:
                continue
            worst = max(worst, violation)
            change = band_minimum(pull[i], score, 1.0 / norm, band[0][i], band[1][i], band[2][i]) - pull[i]
            if change != 0.0:
                pull[i] += change
                for j in range(scores.shape[0]):
                    scores[j] += change * K[i, j]
        if worst <= tolerance:
            return count + 1
    return n_passes


@kernel
def class_minimum(label, norm, cost, slope, pull, linear, change):  # change, linear OUT
    """Exact minimiser over the multipliers of one row: at most cost on its label, at most 0 elsewhere, sum zero.

    `slope` is the gradient.  The minimiser is min(limit, (level - linear) / norm) with the level that makes the sum
    zero, found from the largest break point down.
    """
    n_classes = slope.shape[0]
    for m in range(n_classes):
        linear[m] = slope[m] - norm * pull[m]
    for m in range(n_classes):
        change[m] = linear[m] + (norm * cost if m == label else 0.0)
    breaks = np.sort(change)
    level = breaks[n_classes - 1] - norm * cost
    count = 1
    while count < n_classes and level < count * breaks[n_classes - 1 - count]:
        level += breaks[n_classes - 1 - count]
        count += 1
    level /= count
    for m in range(n_classes):
        limit = cost if m == label else 0.0
        change[m] = min(limit, (level - linear[m]) / norm) - pull[m]


@kernel
def dense_class_epoch(X, scale, labels, cost, norms, order, state, pull, weights):  # pull, weights OUT
    """One pass of Crammer and Singer's dual; pull is (rows, classes), weights (classes, columns)."""
    shuffle_in_place(order, state)
    n_classes, last = weights.shape[0], weights.shape[1] - 1
    slope, linear, change = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for k in range(order.shape[0]):
        i = order[k]
        if norms[i] == 0.0 or cost[i] == 0.0:
            continue
        for m in range(n_classes):
            slope[m] = dense_dot(X, i, weights[m]) + (scale * weights[m, last] if scale != 0.0 else 0.0)
            slope[m] += 0.0 if m == labels[i] else 1.0
        class_minimum(labels[i], norms[i], cost[i], slope, pull[i], linear, change)
        for m in range(n_classes):
            if change[m] != 0.0:
                pull[i, m] += change[m]
                dense_add(X, i, change[m], weights[m])
                if scale != 0.0:
                    weights[m, last] += change[m] * scale


@kernel
def csr_class_epoch(X, scale, labels, cost, norms, order, state, pull, weights):  # pull, weights OUT
    """The twin of `dense_class_epoch` for a CSR design."""
    shuffle_in_place(order, state)
    n_classes, last = weights.shape[0], weights.shape[1] - 1
    slope, linear, change = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for k in range(order.shape[0]):
        i = order[k]
        if norms[i] == 0.0 or cost[i] == 0.0:
            continue
        for m in range(n_classes):
            slope[m] = csr_dot(X, i, weights[m]) + (scale * weights[m, last] if scale != 0.0 else 0.0)
            slope[m] += 0.0 if m == labels[i] else 1.0
        class_minimum(labels[i], norms[i], cost[i], slope, pull[i], linear, change)
        for m in range(n_classes):
            if change[m] != 0.0:
                pull[i, m] += change[m]
                csr_add(X, i, change[m], weights[m])
                if scale != 0.0:
                    weights[m, last] += change[m] * scale


@kernel
def l1_quadratic(hessian, linear, tolerance, max_epochs, weights, slope):  # weights, slope OUT
    """Coordinate descent on ``1/2 w'Hw - linear'w + |w|_1``; slope = Hw - linear is kept up to date.

    Cycles over the non-zero coordinates between two full passes.  Returns the number of passes.
    """
    n = weights.shape[0]
    full = True
    for epoch in range(max_epochs):
        worst = 0.0
        for j in range(n):
            if not full and weights[j] == 0.0:
                continue
            curvature = hessian[j, j]
            if curvature <= 0.0:
                continue
            free = weights[j] - slope[j] / curvature
            size = abs(free) - 1.0 / curvature
            new = 0.0 if size <= 0.0 else (size if free > 0.0 else -size)
            change = new - weights[j]
            if change != 0.0:
                weights[j] = new
                worst = max(worst, abs(change) * curvature)
                for i in range(n):
                    slope[i] += change * hessian[j, i]
        if worst <= tolerance:
            if full:
                return epoch + 1
            full = True
        else:
            full = False
    return max_epochs
