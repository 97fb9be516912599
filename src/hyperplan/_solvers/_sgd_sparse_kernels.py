"""Kernels of stochastic gradient descent on sparse rows (`X` a `CompressedMatrix`, CSR, unsigned indices).

The arrays that a step moves are columns of one table, so that a feature is one place in memory: coef first, then
what the l1 penalty has `received` (if there is one), last the average (if asked for).
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
    SCALE,
    SMALLEST_SCALE,
    SQUARE,
    UPDATES,
    shuffle,
    step_and_loss,
)

TOGETHER = 8  # rows asked from memory at once: their nonzeros must fit in the first-level cache


@kernel
def touch_rows(X, order, first, last):
    """Read one entry of every cache line of some rows (the number of nans, so that the reads are not removed).

    Rows in random order wait for memory one after the other when a step depends on the last; asked for together
    they wait at the same time.
    """
    data, indices, indptr, nans = X.data, X.indices, X.indptr, 0
    largest = np.uint64(indices.shape[0])
    for r in range(first, last):
        i = np.uint64(order[r])
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        for k in range(begin, end, np.uint64(8)):
            nans += data[k] != data[k]
            nans += np.uint64(indices[k]) > largest
    return nans


@kernel
def sparse_dot(data, indices, begin, end, table):
    """<x, coef> in four sums, as one would wait for its last addition (gathers by vector instructions are slow)."""
    a = b = c = d = 0.0
    k = begin
    while k + np.uint64(4) <= end:
        a += data[k] * table[indices[k], 0]
        b += data[k + np.uint64(1)] * table[indices[k + np.uint64(1)], 0]
        c += data[k + np.uint64(2)] * table[indices[k + np.uint64(2)], 0]
        d += data[k + np.uint64(3)] * table[indices[k + np.uint64(3)], 0]
        k += np.uint64(4)
    while k < end:
        a += data[k] * table[indices[k], 0]
        k += np.uint64(1)
    return (a + b) + (c + d)


@fast_kernel
def row_square(data, begin, end):
    """abs(x)^2"""
    total = 0.0
    for k in range(begin, end):
        total += np.float64(data[k]) * data[k]
    return total


@kernel
def sparse_add(data, indices, begin, end, step, back, table):  # OUT: table
    """Add ``step * x`` to column 0 of the table, and ``back * x`` to column 1 if there is one."""
    for k in range(begin, end):
        table[indices[k], 0] += step * data[k]
    if table.shape[1] > 1:
        for k in range(begin, end):
            table[indices[k], 1] += back * data[k]


@fast_kernel
def sparse_step_l1(data, indices, begin, end, step, scale, owed, a, table):  # OUT: table
    """Add ``step * x`` to coef, then pay the l1 penalty on its columns; changes of the squared and l1 norms.

    The table's columns are coef, received and, if there is a third, average.
    """
    square = absolute = 0.0
    back = 1.0 / scale
    averaged = table.shape[1] > 2
    for k in range(begin, end):
        j = indices[k]
        old, received = table[j, 0], table[j, 1]
        z = scale * (old + step * data[k])
        low, high = z - (owed + received), z + (owed - received)
        low = low if low > 0.0 else 0.0
        high = high if high < 0.0 else 0.0
        paid = low if z > 0.0 else high
        paid = 0.0 if z == 0.0 else paid
        new = paid * back
        table[j, 0] = new
        table[j, 1] = received + (paid - z)
        if averaged:
            table[j, 2] -= a * (new - old)
        square += new * new - old * old
        absolute += abs(new) - abs(old)
    return square, absolute


@kernel
def sparse_epoch(X, y, weight, order, rule, seed, state, table):
    """One step per row in a new order; sums of losses, penalties and updates are added to `state`.

    # OUT: order, seed, state, table
    """
    if rule.shuffle:
        shuffle(order, seed)
    intercept, scale, owed, eta, t = state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK]
    a, b, average_intercept = state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT]
    square, absolute = state[SQUARE], state[ABSOLUTE]
    n, last, nans = order.shape[0], np.uint64(table.shape[1] - 1), 0
    data, indices, indptr = X.data, X.indices, X.indptr
    for s in range(n):
        if s % TOGETHER == 0:
            nans += touch_rows(X, order, s, min(n, s + TOGETHER))
        i = np.uint64(order[s])
        target, begin, end = y[i], np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        dot = sparse_dot(data, indices, begin, end, table)
        p = scale * dot + intercept
        needs_square = rule.l1 == 0.0  # for the norm of coef after the step, or passive-aggressive steps
        row = row_square(data, begin, end) if needs_square else 0.0
        step, loss, eta = step_and_loss(rule, target, p, t, eta, row)
        step *= rule.positive_weight if target > 0.0 else rule.negative_weight
        if weight.shape[0] > 0:
            step *= weight[i]
        state[LOSS] += loss + 0.0 * p  # an overflowed score must not pass as a loss of zero
        state[OBJECTIVE] += loss + scale * (0.5 * rule.l2 * scale * square + rule.l1 * absolute) + rule.nu * intercept
        if rule.l2 > 0.0:
            scale *= max(0.0, 1.0 - rule.l2 * eta)
            if scale < SMALLEST_SCALE:
                for j in range(np.uint64(table.shape[0])):
                    if rule.average > 0:
                        table[j, last] = (table[j, last] + a * table[j, 0]) / b
                    table[j, 0] *= scale
                square, absolute = square * scale * scale, absolute * scale
                scale, a, b = 1.0, 0.0, 1.0
        move = step / scale
        if rule.l1 > 0.0:
            owed += rule.l1 * eta
            more = sparse_step_l1(data, indices, begin, end, move, scale, owed, a, table)
            square += more[0]
            absolute += more[1]
        elif step != 0.0:
            square += move * (2.0 * dot + move * row)
            sparse_add(data, indices, begin, end, move, -a * move, table)
        state[UPDATES] += step != 0.0
        intercept += rule.intercept_step * (step - rule.nu * eta)
        if rule.average > 0 and t >= rule.average:
            m = t - rule.average + 1.0
            b = b / (1.0 - 1.0 / m) if m > 1.0 else b
            a += b * scale / m
            average_intercept += (intercept - average_intercept) / m
        t += 1.0
    state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK] = intercept, scale, owed, eta, t
    state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT] = a, b, average_intercept
    return nans
