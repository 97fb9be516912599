"""Kernels of the perceptron: the pocket variant, the widest margin, and the textbook loops.

Rows come as in `_sgd_kernels` (a `CompressedMatrix`), except in the textbook loops, where X is a dense table in C
order whose last column is one.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_below, shuffle_in_place
from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._solvers._sgd_kernels import CLOCK, INTERCEPT, LOSS, OBJECTIVE, UPDATES, shuffle


@fast_kernel
def row_dot(X, i, coef):
    """<x_i, coef> and abs(x_i)^2"""
    data, indices, dense = X.data, X.indices, X.indptr.shape[0] == 0
    begin = i * np.uint64(coef.shape[0]) if dense else np.uint64(X.indptr[i])
    end = begin + np.uint64(coef.shape[0]) if dense else np.uint64(X.indptr[i + np.uint64(1)])
    total = square = 0.0
    for k in range(begin, end):
        value = np.float64(data[k])
        total += value * coef[k - begin if dense else np.uint64(indices[k])]
        square += value * value
    return total, square


@kernel
def row_add(X, i, step, coef):  # OUT: coef
    """coef += step * x_i"""
    data, indices, dense = X.data, X.indices, X.indptr.shape[0] == 0
    begin = i * np.uint64(coef.shape[0]) if dense else np.uint64(X.indptr[i])
    end = begin + np.uint64(coef.shape[0]) if dense else np.uint64(X.indptr[i + np.uint64(1)])
    for k in range(begin, end):
        coef[k - begin if dense else np.uint64(indices[k])] += step * data[k]


@kernel
def try_pocket(X, y, factor, rows, intercept, coef, record, pocket):  # OUT: record, pocket
    """Put the weights into the pocket if they err less; record is (errors, intercept, longest run tried)."""
    errors = 0.0
    for r in range(rows.shape[0]):
        i = np.uint64(rows[r])
        if y[i] * (row_dot(X, i, coef)[0] + intercept) <= 0.0:
            errors += factor[i]
    if errors < record[0]:
        record[0], record[1] = errors, intercept
        for j in range(coef.shape[0]):
            pocket[j] = coef[j]


@kernel
def pocket_epoch(X, y, factor, order, rule, run, seed, state, coef, record, pocket):
    """Perceptron steps that keep the best weights seen (Gallant's pocket with ratchet); mistakes, current run.

    Weights are tried on all rows at the end of the epoch, and whenever they classified twice as many rows in
    a row as the last weights tried for that reason.
    # OUT: order, seed, state, coef, record, pocket
    """
    if rule.shuffle:
        shuffle(order, seed)
    loss, updates, n = 0.0, 0, order.shape[0]
    for r in range(n + 1):
        i = np.uint64(order[min(r, n - 1)])
        margin = y[i] * (row_dot(X, i, coef)[0] + state[INTERCEPT])
        if r < n and margin > 0.0:
            run += 1
            continue
        if r == n or run > 2.0 * record[2]:
            record[2] = max(record[2], run if r < n else 0)
            try_pocket(X, y, factor, order, state[INTERCEPT], coef, record, pocket)
        if r < n:
            step = rule.eta0 * y[i] * factor[i]
            row_add(X, i, step, coef)
            state[INTERCEPT] += rule.intercept_step * step
            loss -= margin
            updates += 1
            run = 0
    state[UPDATES] += updates
    state[CLOCK] += n
    state[LOSS] = state[OBJECTIVE] = loss / n
    return updates, run


@kernel
def hard_margin_passes(X, y, rule, rows, n_passes, multiplier, coef):  # OUT: multiplier, coef
    """Dual coordinate ascent for the widest margin, in the space with the constant column; returns the intercept.

    One step sets the multiplier of a row so that its margin is one, or to zero (Hsieh et al. 2008, C = infinity).
    """
    intercept = 0.0
    for _ in range(n_passes):
        for r in range(rows.shape[0]):
            i = np.uint64(rows[r])
            p, square = row_dot(X, i, coef)
            square += rule.intercept_step
            if square <= 0.0:
                continue
            old = multiplier[r]
            new = max(0.0, old + (1.0 - y[i] * (p + intercept)) / square)
            multiplier[r] = new
            step = (new - old) * y[i]
            if step != 0.0:
                row_add(X, i, step, coef)
            intercept += step * rule.intercept_step
    return intercept


@kernel
def textbook_epochs(X, y, rho, n_epochs, shuffle, order, seed, w):  # OUT: order, seed, w
    """``w += rho y x`` on each row with ``y <w, x> <= 0``, until an epoch has no mistake; (mistakes, epochs, clean)."""
    mistakes = 0
    for epoch in range(n_epochs):
        if shuffle:
            shuffle_in_place(order, seed)
        before = mistakes
        for k in range(order.shape[0]):
            i = order[k]
            score = 0.0
            for j in range(w.shape[0]):
                score += w[j] * X[i, j]
            if y[i] * score <= 0.0:
                mistakes += 1
                for j in range(w.shape[0]):
                    w[j] += rho * y[i] * X[i, j]
        if mistakes == before:
            return mistakes, epoch + 1, True
    return mistakes, n_epochs, False


@kernel
def rosenblatt_steps(X, y, rho, n_steps, seed, w):  # OUT: seed, w
    """Step on a row drawn uniformly among the misclassified ones, until there is none; (steps, clean)."""
    for step in range(n_steps + 1):
        chosen, found = 0, 0
        for i in range(X.shape[0]):
            score = 0.0
            for j in range(w.shape[0]):
                score += w[j] * X[i, j]
            if y[i] * score <= 0.0:
                found += 1
                if next_below(seed, found) == 0:  # reservoir of one: uniform over the rows found
                    chosen = i
        if found == 0:
            return step, True
        if step == n_steps:
            break
        for j in range(w.shape[0]):
            w[j] += rho * y[chosen] * X[chosen, j]
    return n_steps, False
