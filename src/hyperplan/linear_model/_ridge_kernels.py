"""Stochastic average gradient for ridge regression: ``1/n sum_i w_i (x_i'v + b - y_i)^2 / 2 + alpha / 2 |v|^2``.

Schmidt, Le Roux and Bach (2017) for SAG; Defazio, Bach and Lacoste-Julien (2014) for SAGA.
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_below
from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def row_product(X, i, coef):
    # X is C-ordered
    total = 0.0
    for j in range(coef.shape[0]):
        total += X[i, j] * coef[j]
    return total


@fast_kernel
def average_step(X, i, change, direct, shrink, pull, gradient_sum, coef):
    # X is C-ordered.  One update of all coordinates: the new gradient enters the sum, then the step is taken.
    for j in range(coef.shape[0]):
        entering = change * X[i, j]
        gradient_sum[j] += entering
        coef[j] = shrink * coef[j] - pull * gradient_sum[j] - direct * entering


@kernel
def epoch_change(coef, last):
    """Largest change relative to the largest coefficient since `last`, which becomes `coef`."""
    change = 0.0
    size = 0.0
    for j in range(coef.shape[0]):
        change = max(change, abs(coef[j] - last[j]))
        size = max(size, abs(coef[j]))
        last[j] = coef[j]
    if size != 0.0:
        return change / size
    return change


@kernel
def sag_dense(X, y, weight, alpha, step, tol, max_iter, saga, state, coef):
    # X is C-ordered; coef is OUT.  Returns the number of passes, negative when they did not suffice.
    n, d = X.shape
    gradient = np.zeros(n)
    seen = np.zeros(n, dtype=np.bool_)
    gradient_sum = np.zeros(d)
    last = coef.copy()
    n_seen = 0
    for epoch in range(max_iter):
        for _ in range(n):
            i = next_below(state, n)
            if not seen[i]:
                seen[i] = True
                n_seen += 1
            fresh = weight[i] * (row_product(X, i, coef) - y[i])
            change = fresh - gradient[i]
            gradient[i] = fresh
            direct = step * (1.0 - 1.0 / n_seen) if saga else 0.0
            average_step(X, i, change, direct, 1.0 - step * alpha, step / n_seen, gradient_sum, coef)
        moved = epoch_change(coef, last)
        if moved <= tol or not math.isfinite(moved):
            return epoch + 1
    return -max_iter


@kernel
def catch_up(j, due, paid, gradient_sum, coef):
    # Steps that coordinate j missed since it was last touched.
    coef[j] -= (due - paid[j]) * gradient_sum[j]
    paid[j] = due


@kernel
def sag_sparse(matrix, y, weight, alpha, step, tol, max_iter, saga, intercept_rate, state, coef, intercept):
    # matrix is CSR; coef and intercept (one number) are OUT.  The coefficients are `scale * coef` while running, and a
    # coordinate pays the steps it missed when a row next needs it, so that a step costs the row's entries only.
    n, d = matrix.n_rows, matrix.n_cols
    gradient = np.zeros(n)
    seen = np.zeros(n, dtype=np.bool_)
    gradient_sum, paid, last = np.zeros(d), np.zeros(d), coef.copy()
    intercept_sum, last_intercept, due, scale = 0.0, intercept[0], 0.0, 1.0
    n_seen = 0
    for epoch in range(max_iter):
        for _ in range(n):
            i = next_below(state, n)
            if not seen[i]:
                seen[i] = True
                n_seen += 1
            begin, end = matrix.indptr[i], matrix.indptr[i + 1]
            product = 0.0
            for p in range(begin, end):
                j = matrix.indices[p]
                catch_up(j, due, paid, gradient_sum, coef)
                product += matrix.data[p] * coef[j]
            fresh = weight[i] * (scale * product + intercept[0] - y[i])
            change = fresh - gradient[i]
            gradient[i] = fresh
            scale *= 1.0 - step * alpha
            direct = step * (1.0 - 1.0 / n_seen) / scale if saga else 0.0
            for p in range(begin, end):
                j = matrix.indices[p]
                gradient_sum[j] += change * matrix.data[p]
                coef[j] -= direct * change * matrix.data[p]
            due += step / (n_seen * scale)
            if intercept_rate > 0.0:
                intercept_sum += change
                intercept[0] -= step * intercept_rate * intercept_sum / n_seen
                if saga:
                    intercept[0] -= intercept_rate * step * (1.0 - 1.0 / n_seen) * change
            if scale < 1e-9:
                due, scale = settle(due, scale, paid, gradient_sum, coef)
        due, scale = settle(due, scale, paid, gradient_sum, coef)
        shifted = abs(intercept[0] - last_intercept) / max(abs(intercept[0]), 1e-300)
        last_intercept = intercept[0]
        moved = max(epoch_change(coef, last), shifted)
        if moved <= tol or not math.isfinite(moved):
            return epoch + 1
    return -max_iter


@kernel
def settle(due, scale, paid, gradient_sum, coef):
    # All coordinates pay, the scale goes into them; returns the new (due, scale).
    for j in range(coef.shape[0]):
        catch_up(j, due, paid, gradient_sum, coef)
        coef[j] *= scale
        paid[j] = 0.0
    return 0.0, 1.0
