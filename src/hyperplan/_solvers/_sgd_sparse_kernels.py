"""Kernels of stochastic gradient descent on sparse rows (`X` a `CompressedMatrix`, CSR, unsigned indices).

The arrays that a step moves are interleaved in one flat table, so that a feature is one place in memory: its coef,
then what the l1 penalty has `received` (if there is one), last the average (if asked for).
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._solvers._sgd_kernels import (
    ABSOLUTE,
    AVERAGE_A,
    AVERAGE_B,
    AVERAGE_INTERCEPT,
    CLOCK,
    CUMULATIVE,
    ETA,
    INTERCEPT,
    LOSS,
    OBJECTIVE,
    PA1,
    SCALE,
    SMALLEST_SCALE,
    SQUARE,
    UPDATES,
    loss_and_slope,
    row_square,
    shuffle,
    step_and_loss,
)


@kernel
def copy_rows(X, y, weight, rule, order, first, width, block):  # OUT: block
    """Copy the rows ``order[first:]`` into the block until it is full; returns how many.

    Rows in random order wait for memory one after the other when a step depends on the last; copied together they
    wait at the same time.  Columns become places in the table, `width` numbers apart.
    """
    data, indices, indptr = X.data, X.indices, X.indptr
    values, places, start, targets, factors = block
    filled = np.uint64(0)
    room = min(targets.shape[0], order.shape[0] - first)
    for r in range(room):
        i = np.uint64(order[first + r])
        begin = np.uint64(indptr[i])
        length = np.uint64(indptr[i + np.uint64(1)]) - begin
        if filled + length > np.uint64(values.shape[0]):
            return r
        for j in range(length):
            places[filled + j] = indices[begin + j] * width
        for j in range(length):
            values[filled + j] = data[begin + j]
        filled += length
        start[r + 1] = filled
        targets[r] = y[i]
        factors[r] = rule.positive_weight if y[i] > 0.0 else rule.negative_weight
        if weight.shape[0] > 0:
            factors[r] *= weight[i]
    return room


@fast_kernel
def sparse_dot(values, places, begin, end, table):
    """<x, coef>"""
    total = 0.0
    for k in range(begin, end):
        total += values[k] * table[places[k]]
    return total


@fast_kernel
def sparse_add(values, places, begin, end, step, table):  # OUT: table
    """coef += step * x (or another of the vectors, when `table` starts at its first number)"""
    for k in range(begin, end):
        table[places[k]] += step * values[k]


@fast_kernel
def sparse_step_l1(values, places, begin, end, step, scale, owed, a, averaged, table):  # OUT: table
    """Add ``step * x`` to coef, then pay the l1 penalty on its columns; changes of the squared and l1 norms.

    A feature's numbers in the table are coef, received and, if `averaged`, average.
    """
    square = absolute = 0.0
    back = 1.0 / scale
    for k in range(begin, end):
        j = np.uint64(places[k])
        old, received = table[j], table[j + np.uint64(1)]
        z = scale * (old + step * values[k])
        low, high = z - (owed + received), z + (owed - received)
        low = low if low > 0.0 else 0.0
        high = high if high < 0.0 else 0.0
        paid = low if z > 0.0 else high
        paid = 0.0 if z == 0.0 else paid
        new = paid * back
        table[j] = new
        table[j + np.uint64(1)] = received + (paid - z)
        if averaged:
            table[j + np.uint64(2)] -= a * (new - old)
        square += new * new - old * old
        absolute += abs(new) - abs(old)
    return square, absolute


@kernel
def sparse_epoch(X, y, weight, order, rule, seed, width, block, state, table):
    """One step per row in a new order; sums of losses, penalties and updates are added to `state`.

    # OUT: order, seed, block, state, table
    """
    if rule.shuffle:
        shuffle(order, seed)
    intercept, scale, owed, eta, t = state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK]
    a, b, average_intercept = state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT]
    square, absolute = state[SQUARE], state[ABSOLUTE]
    sum_loss, sum_objective, updates, first, row = 0.0, 0.0, 0, 0, 0
    values, places, start, targets, factors = block
    last = table[np.intp(width) - 1 :]
    for s in range(order.shape[0]):
        if s == first:
            first += copy_rows(X, y, weight, rule, order, s, width, block)
            row = 0
        begin, end = start[row], start[row + 1]
        dot = sparse_dot(values, places, begin, end, table)
        p = scale * dot + intercept
        row_length = row_square(values, begin, end) if rule.schedule >= PA1 else 0.0
        step, loss, eta = step_and_loss(rule, targets[row], p, t, eta, row_length)
        step *= factors[row]
        sum_loss += loss + 0.0 * p  # an overflowed score must not pass as a loss of zero
        sum_objective += loss + scale * (0.5 * rule.l2 * scale * square + rule.l1 * absolute) + rule.nu * intercept
        if rule.l2 > 0.0:
            scale *= max(0.0, 1.0 - rule.l2 * eta)
            if scale < SMALLEST_SCALE:
                for j in range(np.uint64(0), np.uint64(table.shape[0]), np.uint64(width)):
                    if rule.average > 0:
                        last[j] = (last[j] + a * table[j]) / b
                    table[j] *= scale
                square, absolute = square * scale * scale, absolute * scale
                scale, a, b = 1.0, 0.0, 1.0
        move = step / scale
        if rule.l1 > 0.0:
            owed += rule.l1 * eta
            more = sparse_step_l1(values, places, begin, end, move, scale, owed, a, rule.average > 0, table)
            square += more[0]
            absolute += more[1]
        elif step != 0.0:
            if rule.l2 > 0.0:
                square += move * (2.0 * dot + move * row_square(values, begin, end))
            sparse_add(values, places, begin, end, move, table)
            if a != 0.0:
                sparse_add(values, places, begin, end, -a * move, last)
        updates += step != 0.0
        intercept += rule.intercept_step * (step - rule.nu * eta)
        if rule.average > 0 and t >= rule.average:
            m = t - rule.average + 1.0
            b = b / (1.0 - 1.0 / m) if m > 1.0 else b
            a += b * scale / m
            average_intercept += (intercept - average_intercept) / m
        t += 1.0
        row += 1
    state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK] = intercept, scale, owed, eta, t
    state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT] = a, b, average_intercept
    state[LOSS] += sum_loss
    state[OBJECTIVE] += sum_objective
    state[UPDATES] += updates


@kernel
def sparse_gap_sums(X, y, weight, rows, rule, coef, intercept, sums, up, down):  # OUT: sums, up, down
    """What the duality gap needs from some rows, in one pass over them (see `sgd._gap_sums`)."""
    data, indices, indptr = X.data, X.indices, X.indptr
    for r in range(rows.shape[0]):
        i = np.uint64(rows[r])
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        p = 0.0
        for k in range(begin, end):  # plain order: rows are short, gathers are slower
            p += data[k] * coef[indices[k]]
        p += intercept
        factor = rule.positive_weight if y[i] > 0.0 else rule.negative_weight
        if weight.shape[0] > 0:
            factor *= weight[i]
        loss, slope = loss_and_slope(rule.loss, y[i], p, rule.epsilon)
        sums[0] += factor * loss
        s = factor * slope
        if slope > 0.0:
            sums[1] += factor * loss - s * p
            sums[3] += s
            for k in range(begin, end):
                up[indices[k]] += s * data[k]
        elif slope < 0.0:
            sums[2] += factor * loss - s * p
            sums[4] -= s
            for k in range(begin, end):
                down[indices[k]] += s * data[k]
