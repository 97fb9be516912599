"""Kernels of stochastic gradient descent for linear models.

X is a `CompressedMatrix` in both cases: CSR, or dense in C order with `data` the flattened table and `indptr` empty
(the branch is taken once per row).  Index arrays are unsigned, so that no negative index has to be considered.
Rows are copied into a small `Block` (float64) before they are used, see `gather_rows`.

The weight vector is ``scale * coef``: an l2 step only multiplies `scale`.  Its running average is
``(average + a * coef) / b`` (Bottou's form), so that a step touches only the columns of its row.  The l1 penalty is
the cumulative one: column j has received ``received[j]`` of the total ``cumulative`` owed so far.
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import shuffle_in_place
from hyperplan._core.jit import fast_kernel, kernel

# losses; the first five compare y = -1, +1 with the score, the others are functions of the residual
HINGE, LOG, MODIFIED_HUBER, SQUARED_HINGE, PERCEPTRON = 0, 1, 2, 3, 4
SQUARED, HUBER, INSENSITIVE, SQUARED_INSENSITIVE = 5, 6, 7, 8
# learning rates
CONSTANT, OPTIMAL, INVSCALING, ADAPTIVE, PA1, PA2 = 1, 2, 3, 4, 5, 6
# positions in the state array
INTERCEPT, SCALE, CUMULATIVE, AVERAGE_A, AVERAGE_B, AVERAGE_INTERCEPT, ETA, CLOCK = 0, 1, 2, 3, 4, 5, 6, 7
BEST, STALE, UPDATES, LOSS, OBJECTIVE, SCORE, SQUARE, ABSOLUTE = 8, 9, 10, 11, 12, 13, 14, 15
GAIN, STALE_GAIN = 16, 17
STATE_SIZE = 18
# what the run returns: the values of `hyperplan._core.status.Status`
CONVERGED, MAX_ITER, DIVERGED = 0, 2, 4

SMALLEST_SCALE = 1e-9  # below, the scale is multiplied into the weights
LARGEST_SLOPE = 1e12  # steeper losses are clipped, as one wild row must not end the fit
SMALLEST_ADAPTIVE_ETA = 1e-6


@kernel
def loss_and_slope(code, y, p, epsilon):
    """Loss at score p, and its derivative in p (one of them at a kink)."""
    if code == LOG:
        z = y * p
        e = math.exp(-abs(z))
        return math.log(1.0 + e) + max(-z, 0.0), -y * (e if z > 0.0 else 1.0) / (1.0 + e)
    if code in (HINGE, PERCEPTRON):
        z = y * p - (1.0 if code == HINGE else 0.0)
        return (-z, -y) if z <= 0.0 else (0.0, 0.0)
    if code == SQUARED:
        r = p - y
        return 0.5 * r * r, r
    if code in (MODIFIED_HUBER, SQUARED_HINGE):
        z = 1.0 - y * p
        if z <= 0.0:
            return 0.0, 0.0
        if code == MODIFIED_HUBER and z > 2.0:
            return 4.0 * (z - 1.0), -4.0 * y
        return z * z, -2.0 * y * z
    r = p - y
    sign = 1.0 if r > 0.0 else -1.0
    excess = abs(r) - epsilon
    if code == HUBER:
        return (0.5 * r * r, r) if excess <= 0.0 else (epsilon * (abs(r) - 0.5 * epsilon), epsilon * sign)
    if excess <= 0.0:
        return 0.0, 0.0
    return (excess, sign) if code == INSENSITIVE else (excess * excess, 2.0 * excess * sign)


@kernel
def gather_rows(X, y, weight, rule, rows, first, block):  # OUT: block
    """Copy rows ``rows[first:]`` into the block until it is full; return how many.

    Rows in random order wait for memory one after the other when a step depends on the last; copied together they
    wait at the same time, and the steps then run from cache.  The order of the steps stays that of `rows`.
    """
    data, indices, indptr = X.data, X.indices, X.indptr
    values, columns, start, target, factor = block
    dense = indptr.shape[0] == 0
    room = min(target.shape[0], rows.shape[0] - first)
    filled = np.uint64(0)
    for r in range(room):
        i = np.uint64(rows[first + r])
        if dense:
            length = np.uint64(X.n_cols)
            begin = i * length
        else:
            begin = np.uint64(indptr[i])
            length = np.uint64(indptr[i + np.uint64(1)]) - begin
            if filled + length > np.uint64(values.shape[0]):
                return r
            for j in range(length):
                columns[filled + j] = indices[begin + j]
        for j in range(length):
            values[filled + j] = data[begin + j]
        filled = start[r + 1] if dense else filled + length
        start[r + 1] = filled
        target[r] = y[i]
        factor[r] = rule.positive_weight if y[i] > 0.0 else rule.negative_weight
        if weight.shape[0] > 0:
            factor[r] *= weight[i]
    return room


@fast_kernel
def dense_dot(values, begin, vector):
    """<x, vector> for the dense row x at `begin` of the block (as long as `vector`)"""
    total = 0.0
    for j in range(np.uint64(vector.shape[0])):
        total += values[begin + j] * vector[j]
    return total


@fast_kernel
def sparse_dot(values, columns, begin, end, vector):
    """<x, vector> for the sparse row x at ``begin:end`` of the block"""
    total = 0.0
    for k in range(begin, end):
        total += values[k] * vector[columns[k]]
    return total


@fast_kernel
def row_square(values, begin, end):
    """|x|^2"""
    total = 0.0
    for k in range(begin, end):
        total += values[k] * values[k]
    return total


@fast_kernel
def dense_add(values, begin, step, vector):  # OUT: vector
    """vector += step * x"""
    for j in range(np.uint64(vector.shape[0])):
        vector[j] += step * values[begin + j]


@fast_kernel
def sparse_add(values, columns, begin, end, step, vector):  # OUT: vector
    """vector += step * x"""
    for k in range(begin, end):
        vector[columns[k]] += step * values[k]


@kernel
def truncated(z, owed, received):
    """Move z towards zero by what the l1 penalty still owes, without crossing zero."""
    low, high = z - (owed + received), z + (owed - received)
    return max(low, 0.0) if z > 0.0 else (min(high, 0.0) if z < 0.0 else 0.0)


@fast_kernel
def dense_step_l1(values, begin, step, scale, owed, a, coef, average, received):  # OUT: coef, average, received
    """Add ``step * x`` to coef, then pay the l1 penalty; returns the squared and the l1 norm of the new coef."""
    square = absolute = 0.0
    back = 1.0 / scale
    for j in range(np.uint64(average.shape[0])):
        average[j] += a * coef[j]  # the change of coef is taken off again below
    for j in range(np.uint64(coef.shape[0])):
        z = scale * (coef[j] + step * values[begin + j])
        paid = truncated(z, owed, received[j])
        received[j] += paid - z
        new = paid * back
        coef[j] = new
        square += new * new
        absolute += abs(new)
    for j in range(np.uint64(average.shape[0])):
        average[j] -= a * coef[j]
    return square, absolute


@fast_kernel
def sparse_step_l1(values, columns, begin, end, step, scale, owed, a, coef, average, received):
    """Add ``step * x`` to coef, then pay the l1 penalty on its columns; changes of the squared and l1 norms.

    # OUT: coef, average, received
    """
    square = absolute = 0.0
    back = 1.0 / scale
    for k in range(begin, end):
        j = columns[k]
        old = coef[j]
        z = scale * (old + step * values[k])
        paid = truncated(z, owed, received[j])
        received[j] += paid - z
        new = paid * back
        coef[j] = new
        square += new * new - old * old
        absolute += abs(new) - abs(old)
        if a != 0.0:
            average[j] -= a * (new - old)
    return square, absolute


@kernel
def fold_scale(scale, a, b, coef, average):  # OUT: coef, average
    """Multiply the scale into coef and the average's two numbers into average (which may be empty)."""
    for j in range(average.shape[0]):
        average[j] = (average[j] + a * coef[j]) / b
    for j in range(coef.shape[0]):
        coef[j] *= scale


@fast_kernel
def norms(coef):
    square = absolute = 0.0
    for j in range(coef.shape[0]):
        square += coef[j] * coef[j]
        absolute += abs(coef[j])
    return square, absolute


@kernel
def inverse_power(t, power):
    """t ** -power; the two defaults by square roots, which are ten times cheaper."""
    if power == 0.5:
        return 1.0 / math.sqrt(t)
    if power == 0.25:
        return 1.0 / math.sqrt(math.sqrt(t))
    return t**-power


@kernel
def passive_aggressive_step(square, y, p, loss, rule):
    """Length of the step of Crammer et al. (2006), algorithms PA-I and PA-II, with its sign."""
    if rule.schedule == PA1:
        step = min(rule.eta0, loss / square) if square > 0.0 else 0.0
    else:
        step = loss / (square + 0.5 / rule.eta0)
    if rule.loss == HINGE:
        return step * y
    return step if y >= p else -step


@kernel
def sgd_steps(block, n_rows, rule, state, coef, average, received):  # OUT: state, coef, average, received
    """One step per row of the block, in order; sums of losses and penalties and updates are added to `state`."""
    intercept, scale, owed = state[INTERCEPT], state[SCALE], state[CUMULATIVE]
    a, b, average_intercept = state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT]
    eta, t = state[ETA], state[CLOCK]
    square, absolute = state[SQUARE], state[ABSOLUTE]
    sum_loss = sum_objective = 0.0
    updates = 0
    values, columns, start, target, factor = block
    dense = columns.shape[0] == 0
    for r in range(n_rows):
        y, begin, end = target[r], start[r], start[r + 1]
        dot = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
        p = scale * dot + intercept
        if rule.schedule == OPTIMAL:
            eta = 1.0 / (rule.alpha * (rule.t0 + t - 1.0))
        elif rule.schedule == INVSCALING:
            eta = rule.eta0 * inverse_power(t, rule.power_t)
        loss, slope = loss_and_slope(rule.loss, y, p, rule.epsilon)
        sum_loss += loss + 0.0 * p  # an overflowed score must not pass as a loss of zero
        sum_objective += loss + scale * (0.5 * rule.l2 * scale * square + rule.l1 * absolute) + rule.nu * intercept
        if rule.schedule >= PA1:
            step = passive_aggressive_step(row_square(values, begin, end), y, p, loss, rule)
        else:
            step = -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
        step *= factor[r]
        if rule.l2 > 0.0:
            scale *= max(0.0, 1.0 - rule.l2 * eta)
            if scale < SMALLEST_SCALE:
                fold_scale(scale, a, b, coef, average)
                scale, a, b = 1.0, 0.0, 1.0
                square, absolute = norms(coef)
        if rule.l1 > 0.0:
            owed += rule.l1 * eta
            if dense:
                square, absolute = dense_step_l1(values, begin, step / scale, scale, owed, a, coef, average, received)
            else:
                more_square, more_absolute = sparse_step_l1(
                    values, columns, begin, end, step / scale, scale, owed, a, coef, average, received
                )
                square += more_square
                absolute += more_absolute
        elif step != 0.0:
            move = step / scale
            if rule.l2 > 0.0:
                square += move * (2.0 * dot + move * row_square(values, begin, end))
            if dense:
                dense_add(values, begin, move, coef)
            else:
                sparse_add(values, columns, begin, end, move, coef)
            if a != 0.0 and dense:
                dense_add(values, begin, -a * move, average)
            elif a != 0.0:
                sparse_add(values, columns, begin, end, -a * move, average)
        updates += step != 0.0
        intercept += rule.intercept_step * (step - rule.nu * eta)
        if rule.average > 0 and t >= rule.average:
            m = t - rule.average + 1.0
            b = b / (1.0 - 1.0 / m) if m > 1.0 else b
            a += b * scale / m
            average_intercept += (intercept - average_intercept) / m
        t += 1.0
    state[INTERCEPT], state[SCALE], state[CUMULATIVE] = intercept, scale, owed
    state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT] = a, b, average_intercept
    state[ETA], state[CLOCK] = eta, t
    state[SQUARE], state[ABSOLUTE] = square, absolute
    state[LOSS] += sum_loss
    state[OBJECTIVE] += sum_objective
    state[UPDATES] += updates


@kernel
def sgd_epoch(X, y, weight, order, rule, block, state, coef, average, received):
    """One pass over the rows in `order`; leaves the mean loss and objective of the pass in `state`.

    # OUT: block, state, coef, average, received
    """
    state[LOSS] = state[OBJECTIVE] = 0.0
    state[SQUARE], state[ABSOLUTE] = norms(coef)  # anew each epoch: increments would drift
    before = state[UPDATES]
    first = 0
    while first < order.shape[0]:
        n_rows = gather_rows(X, y, weight, rule, order, first, block)
        sgd_steps(block, n_rows, rule, state, coef, average, received)
        first += n_rows
    state[LOSS] /= order.shape[0]
    state[OBJECTIVE] /= order.shape[0]
    return state[UPDATES] - before


@kernel
def holdout_score(X, y, weight, rows, rule, block, scale, intercept, coef):
    """Accuracy (classification) or R^2 (regression) on the held-out rows."""
    good = total = mean = 0.0
    for k in range(rows.shape[0]):
        w = weight[rows[k]] if weight.shape[0] > 0 else 1.0
        total += w
        mean += w * y[rows[k]]
    mean /= total
    residual = spread = 0.0
    first = 0
    values, columns, start, target, _ = block
    dense = columns.shape[0] == 0
    while first < rows.shape[0]:
        n_rows = gather_rows(X, y, weight, rule, rows, first, block)
        for r in range(n_rows):
            w = weight[rows[first + r]] if weight.shape[0] > 0 else 1.0
            begin, end = start[r], start[r + 1]
            dot = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
            p = scale * dot + intercept
            if (p > 0.0) == (target[r] > 0.0):
                good += w
            residual += w * (target[r] - p) ** 2
            spread += w * (target[r] - mean) ** 2
        first += n_rows
    if rule.classify:
        return good / total
    return 1.0 - residual / spread if spread > 0.0 else (1.0 if residual == 0.0 else 0.0)


@kernel
def improved(score, rule, state):  # OUT: state
    """Compare `score` (larger is better) with the best so far; False when it stopped improving for too long."""
    gain = score - state[BEST]
    if rule.tol > -np.inf and gain < rule.tol:
        state[STALE] += 1.0
        state[STALE_GAIN] = max(state[STALE_GAIN], gain)
    else:
        state[STALE], state[STALE_GAIN], state[GAIN] = 0.0, 0.0, gain
    state[BEST] = max(state[BEST], score)
    if state[STALE] < rule.patience:
        return True
    if rule.schedule == ADAPTIVE and state[ETA] > SMALLEST_ADAPTIVE_ETA:
        state[ETA] /= 5.0
        state[STALE] = 0.0
        return True
    return False


@kernel
def sgd_run(X, y, weight, order, holdout, rule, n_epochs, block, seed, state, vectors):
    """Up to `n_epochs` epochs with the stopping rule; returns (epochs done, status).

    # OUT: order, block, seed, state, vectors (coef, average, received)
    """
    coef, average, received = vectors
    for epoch in range(n_epochs):
        if rule.shuffle:
            shuffle_in_place(order, seed)
        updates = sgd_epoch(X, y, weight, order, rule, block, state, coef, average, received)
        finite = math.isfinite(state[INTERCEPT]) and math.isfinite(state[LOSS]) and math.isfinite(state[OBJECTIVE])
        for j in range(coef.shape[0]):
            finite = finite and math.isfinite(coef[j])
        if not finite:
            return epoch + 1, DIVERGED
        score = -state[OBJECTIVE] if rule.schedule < PA1 else -state[LOSS]
        if holdout.shape[0] > 0:
            score = holdout_score(X, y, weight, holdout, rule, block, state[SCALE], state[INTERCEPT], coef)
            state[SCORE] = score
        if not improved(score, rule, state):
            return epoch + 1, CONVERGED
        if rule.stop_clean and updates == 0:
            return epoch + 1, CONVERGED
    return n_epochs, MAX_ITER


@kernel
def gap_sums(X, y, weight, rows, rule, block, intercept, coef, sums, positive, negative):
    """What the duality gap needs from some rows, in one pass.

    With s_i the slope of the loss at the score p_i, Fenchel's equality gives minus the conjugate at s_i as
    ``loss_i - s_i p_i``.  Rows with s > 0 and with s < 0 are kept apart: sums holds the loss, then for both
    signs the conjugate part and the sum of abs(s); positive and negative hold the sums of s_i x_i.

    # OUT: block, sums, positive, negative
    """
    first = 0
    values, columns, start, target, factors = block
    dense = columns.shape[0] == 0
    while first < rows.shape[0]:
        n_rows = gather_rows(X, y, weight, rule, rows, first, block)
        for r in range(n_rows):
            begin, end = start[r], start[r + 1]
            p = dense_dot(values, begin, coef) if dense else sparse_dot(values, columns, begin, end, coef)
            p += intercept
            loss, slope = loss_and_slope(rule.loss, target[r], p, rule.epsilon)
            factor = factors[r]
            sums[0] += factor * loss
            if slope != 0.0:
                side = 1 if slope > 0.0 else 2
                sums[side] += factor * (loss - slope * p)
                sums[side + 2] += factor * abs(slope)
                gradient = positive if slope > 0.0 else negative
                if dense:
                    dense_add(values, begin, factor * slope, gradient)
                else:
                    sparse_add(values, columns, begin, end, factor * slope, gradient)
        first += n_rows
