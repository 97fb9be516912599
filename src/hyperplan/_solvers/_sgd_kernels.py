"""Kernels of stochastic gradient descent for linear models.

X is a `CompressedMatrix` in both cases: CSR, or dense in C order with `data` the flattened table and `indptr` empty.
Index arrays are unsigned, so that no negative index has to be considered.

The weight vector is ``scale * coef``: an l2 step only multiplies `scale`.  Its running average is
``(average + a * coef) / b`` (Bottou's form), so that a step touches only the columns of its row.  The l1 penalty is
the cumulative one: column j has received ``received[j]`` of the total ``cumulative`` owed so far.

Every kernel that calls another is compiled with all of that one's code: dense and sparse descents are therefore
separate kernels one epoch long, and what happens once per epoch stays in Python.
"""

import math

import numpy as np

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

SMALLEST_SCALE = 1e-9  # below, the scale is multiplied into the weights
LARGEST_SLOPE = 1e12  # steeper losses are clipped, as one wild row must not end the fit


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
def losses_and_slopes(code, y, p, epsilon, loss, slope):  # OUT: loss, slope
    """`loss_and_slope` of many rows."""
    for i in range(y.shape[0]):
        loss[i], slope[i] = loss_and_slope(code, y[i], p[i], epsilon)


@kernel
def step_and_loss(rule, y, p, t, eta, square):
    """Step along x, loss, and learning rate at score p in step t; `square` is abs(x)^2, read for PA-I and PA-II only.

    The last two are algorithms of Crammer et al. (2006).
    """
    if rule.schedule == OPTIMAL:
        eta = 1.0 / (rule.alpha * (rule.t0 + t - 1.0))
    elif rule.schedule == INVSCALING:  # the two defaults by square roots, which are ten times cheaper
        root = math.sqrt(t)
        if rule.power_t == 0.25:
            eta = rule.eta0 / math.sqrt(root)
        else:
            eta = rule.eta0 / root if rule.power_t == 0.5 else rule.eta0 * t**-rule.power_t
    loss, slope = loss_and_slope(rule.loss, y, p, rule.epsilon)
    step = -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
    if rule.schedule == PA1:
        step = min(rule.eta0, loss / square) if square > 0.0 else 0.0
    elif rule.schedule == PA2:
        step = loss / (square + 0.5 / rule.eta0)
    if rule.schedule >= PA1:
        step *= y if rule.loss == HINGE else (1.0 if y >= p else -1.0)
    return step, loss, eta


@kernel
def shuffle(order, seed):  # OUT: order, seed
    """Fisher-Yates, with the numbers of `_core._rng_kernels` (written out: four small kernels take long to compile)."""
    for i in range(order.shape[0] - 1, 0, -1):
        seed[0] += np.uint64(0x9E3779B97F4A7C15)
        z = seed[0]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = (z ^ (z >> np.uint64(31))) >> np.uint64(11)
        j = np.intp(z * (1.0 / 9007199254740992.0) * (i + 1))
        order[i], order[j] = order[j], order[i]


@fast_kernel
def dense_dot(values, begin, vector):
    """<x, vector> for the row x at `begin` of the block (as long as `vector`)"""
    total = 0.0
    for j in range(np.uint64(vector.shape[0])):
        total += values[begin + j] * vector[j]
    return total


@fast_kernel
def row_square(values, begin, end):
    """abs(x)^2"""
    total = 0.0
    for k in range(begin, end):
        total += np.float64(values[k]) * values[k]
    return total


@fast_kernel
def dense_add(values, begin, step, vector):  # OUT: vector
    """vector += step * x"""
    for j in range(np.uint64(vector.shape[0])):
        vector[j] += step * values[begin + j]


@fast_kernel
def dense_step_l1(values, begin, step, scale, owed, coef, received):  # OUT: coef, received
    """Add ``step * x`` to coef, then pay the l1 penalty; returns the squared and the l1 norm of the new coef.

    A weight moves towards zero by what it still owes, and never across zero.
    """
    square = absolute = 0.0
    back = 1.0 / scale
    for j in range(np.uint64(coef.shape[0])):
        z = scale * (coef[j] + step * values[begin + j])
        low, high = z - (owed + received[j]), z + (owed - received[j])
        low = low if low > 0.0 else 0.0
        high = high if high < 0.0 else 0.0
        paid = low if z > 0.0 else high
        paid = 0.0 if z == 0.0 else paid
        received[j] += paid - z
        new = paid * back
        coef[j] = new
        square += new * new
        absolute += abs(new)
    return square, absolute


@kernel
def dense_epoch(X, y, weight, order, rule, seed, block, state, coef, average, received):
    """One step per row in a new order; sums of losses, penalties and updates are added to `state`.

    Rows in random order wait for memory one after the other when a step depends on the last.  Copied together into
    the block they wait at the same time, and the steps then run from cache on full vector registers.
    # OUT: order, seed, block, state, coef, average, received
    """
    if rule.shuffle:
        shuffle(order, seed)
    intercept, scale, owed, eta, t = state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK]
    a, b, average_intercept = state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT]
    square, absolute = state[SQUARE], state[ABSOLUTE]
    sum_loss, sum_objective, updates, first, begin = 0.0, 0.0, 0, 0, np.uint64(0)
    data, n, width, length = X.data, order.shape[0], np.uint64(X.n_cols), np.uint64(coef.shape[0])
    values, targets, factors = block
    for s in range(n):
        if s == first:
            first = min(n, s + targets.shape[0])
            for r in range(first - s):
                i, to = np.uint64(order[s + r]), np.uint64(r) * length
                begin = i * width
                for j in range(width):
                    values[to + j] = data[begin + j]
                targets[r] = y[i]
                factors[r] = rule.positive_weight if y[i] > 0.0 else rule.negative_weight
                if weight.shape[0] > 0:
                    factors[r] *= weight[i]
            begin, row = np.uint64(0), 0
        dot = dense_dot(values, begin, coef)
        p = scale * dot + intercept
        row_length = row_square(values, begin, begin + length) if rule.schedule >= PA1 else 0.0
        step, loss, eta = step_and_loss(rule, targets[row], p, t, eta, row_length)
        step *= factors[row]
        sum_loss += loss + 0.0 * p  # an overflowed score must not pass as a loss of zero
        sum_objective += loss + scale * (0.5 * rule.l2 * scale * square + rule.l1 * absolute) + rule.nu * intercept
        if rule.l2 > 0.0:
            scale *= max(0.0, 1.0 - rule.l2 * eta)
            if scale < SMALLEST_SCALE:
                for j in range(average.shape[0]):
                    average[j] = (average[j] + a * coef[j]) / b
                for j in range(coef.shape[0]):
                    coef[j] *= scale
                square, absolute = square * scale * scale, absolute * scale
                scale, a, b = 1.0, 0.0, 1.0
        move = step / scale
        if rule.l1 > 0.0:
            owed += rule.l1 * eta
            for j in range(average.shape[0]):
                average[j] += a * coef[j]  # the change of coef is taken off again below
            square, absolute = dense_step_l1(values, begin, move, scale, owed, coef, received)
            for j in range(average.shape[0]):
                average[j] -= a * coef[j]
        elif step != 0.0:
            if rule.l2 > 0.0:
                square += move * (2.0 * dot + move * row_square(values, begin, begin + length))
            dense_add(values, begin, move, coef)
            if a != 0.0:
                dense_add(values, begin, -a * move, average)
        updates += step != 0.0
        intercept += rule.intercept_step * (step - rule.nu * eta)
        if rule.average > 0 and t >= rule.average:
            m = t - rule.average + 1.0
            b = b / (1.0 - 1.0 / m) if m > 1.0 else b
            a += b * scale / m
            average_intercept += (intercept - average_intercept) / m
        t += 1.0
        begin += length
        row += 1
    state[INTERCEPT], state[SCALE], state[CUMULATIVE], state[ETA], state[CLOCK] = intercept, scale, owed, eta, t
    state[AVERAGE_A], state[AVERAGE_B], state[AVERAGE_INTERCEPT] = a, b, average_intercept
    state[LOSS] += sum_loss
    state[OBJECTIVE] += sum_objective
    state[UPDATES] += updates
