"""Kernels of the perceptron: the pocket variant, margins, and the textbook loops.

Rows come as in `_sgd_kernels` (a `CompressedMatrix`, copied into blocks), except in the textbook loops, where X is
a dense table in C order whose last column is one.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_below, shuffle_in_place
from hyperplan._core.jit import kernel
from hyperplan._solvers._sgd_kernels import (
    CLOCK,
    CONVERGED,
    INTERCEPT,
    LOSS,
    MAX_ITER,
    OBJECTIVE,
    UPDATES,
    dense_add,
    dense_dot,
    gather_rows,
    improved,
    row_square,
    sparse_add,
    sparse_dot,
)


@kernel
def weighted_errors(X, y, weight, rule, rows, block, intercept, coef):  # OUT: block
    """Weight of the rows with ``y * score <= 0``."""
    values, columns, start, target, factor = block
    dense = columns.shape[0] == 0
    errors = 0.0
    first = 0
    while first < rows.shape[0]:
        n_rows = gather_rows(X, y, weight, rule, rows, first, block)
        for r in range(n_rows):
            begin, end = start[r], start[r + 1]
            p = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
            if target[r] * (p + intercept) <= 0.0:
                errors += factor[r]
        first += n_rows
    return errors


@kernel
def keep_if_better(errors, intercept, coef, record, pocket):  # OUT: record, pocket
    """Put the weights into the pocket if they err less; record is (errors, intercept, longest run tried)."""
    if errors < record[0]:
        record[0], record[1] = errors, intercept
        pocket[:] = coef


@kernel
def pocket_run(X, y, weight, order, rule, n_epochs, blocks, seed, state, coef, record, pocket):
    """Perceptron steps that keep the best weights seen (Gallant's pocket with ratchet).

    Weights are tried on all rows at the end of each epoch, and whenever they classified twice as many rows in
    a row as the last weights tried for that reason.  Returns (epochs, status).
    # OUT: order, blocks, seed, state, coef, record, pocket
    """
    block, other = blocks
    values, columns, start, target, factor = block
    dense = columns.shape[0] == 0
    run = 0
    for epoch in range(n_epochs):
        if rule.shuffle:
            shuffle_in_place(order, seed)
        loss, updates, first = 0.0, 0, 0
        while first < order.shape[0]:
            n_rows = gather_rows(X, y, weight, rule, order, first, block)
            for r in range(n_rows):
                begin, end = start[r], start[r + 1]
                p = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
                margin = target[r] * (p + state[INTERCEPT])
                if margin > 0.0:
                    run += 1
                    continue
                if run > 2.0 * record[2]:
                    record[2] = run
                    errors = weighted_errors(X, y, weight, rule, order, other, state[INTERCEPT], coef)
                    keep_if_better(errors, state[INTERCEPT], coef, record, pocket)
                step = rule.eta0 * target[r] * factor[r]
                if dense:
                    dense_add(values, begin, step, coef)
                else:
                    sparse_add(values, columns, begin, end, step, coef)
                state[INTERCEPT] += rule.intercept_step * step
                loss -= margin
                updates += 1
                run = 0
            first += n_rows
        state[UPDATES] += updates
        state[CLOCK] += order.shape[0]
        state[LOSS] = state[OBJECTIVE] = loss / order.shape[0]
        errors = weighted_errors(X, y, weight, rule, order, other, state[INTERCEPT], coef)
        keep_if_better(errors, state[INTERCEPT], coef, record, pocket)
        if updates == 0 or not improved(-state[LOSS], rule, state):
            return epoch + 1, CONVERGED
    return n_epochs, MAX_ITER


@kernel
def margin_and_radius(X, y, weight, rule, rows, block, intercept, coef):  # OUT: block
    """Least ``y * score`` and largest squared row norm."""
    values, columns, start, target, _ = block
    dense = columns.shape[0] == 0
    margin, radius = np.inf, 0.0
    first = 0
    while first < rows.shape[0]:
        n_rows = gather_rows(X, y, weight, rule, rows, first, block)
        for r in range(n_rows):
            begin, end = start[r], start[r + 1]
            p = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
            margin = min(margin, target[r] * (p + intercept))
            radius = max(radius, row_square(values, begin, end))
        first += n_rows
    return margin, radius


@kernel
def hard_margin_passes(X, y, weight, rule, rows, block, n_passes, multiplier, coef):  # OUT: block, multiplier, coef
    """Dual coordinate ascent for the widest margin, in the space with the constant column; returns the intercept.

    One step sets the multiplier of a row so that its margin is one, or to zero (Hsieh et al. 2008, C = infinity).
    """
    values, columns, start, target, _ = block
    dense = columns.shape[0] == 0
    intercept = 0.0
    for _ in range(n_passes):
        first = 0
        while first < rows.shape[0]:
            n_rows = gather_rows(X, y, weight, rule, rows, first, block)
            for r in range(n_rows):
                begin, end = start[r], start[r + 1]
                square = row_square(values, begin, end) + rule.intercept_step
                if square <= 0.0:
                    continue
                p = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
                old = multiplier[first + r]
                new = max(0.0, old + (1.0 - target[r] * (p + intercept)) / square)
                multiplier[first + r] = new
                step = (new - old) * target[r]
                if step != 0.0 and dense:
                    dense_add(values, begin, step, coef)
                elif step != 0.0:
                    sparse_add(values, columns, begin, end, step, coef)
                intercept += step * rule.intercept_step
            first += n_rows
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
