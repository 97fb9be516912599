"""Layout of a weighted graph in few dimensions: edges pull, random rows push.

A task moves the rows of its own span.  It reads rows of its span as they are and all others as they were when the epoch
began, so that the outcome depends on the spans and not on threads.  Random numbers are functions of the seed, the epoch
and the row.  Arithmetic is float32.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, kernel, view_kernel

BLOCK = 8  # rows that push together: as many as a vector of the processor holds
MULTIPLIER_1, MULTIPLIER_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
ZERO, ONE, TWO, FOUR = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(4.0)
SOFT = np.float32(1e-3)  # added to squared distances of rows that push each other
LEAST = np.float32(1e-12)  # squared distance below which rows that pull count as being in one place
BIAS, LOWEST, HIGHEST = np.float32(127.0), np.float32(-126.0), np.float32(126.0)  # exponents of float32
MANTISSA, EXPONENT_OF_ONE, MANTISSA_BITS = 0x7FFFFF, 0x3F800000, 23
# log2(1 + t) / t and 2^t on [0, 1), errors 1.3e-6 and 3.6e-6
L0, L1, L2 = np.float32(1.4426932570029796), np.float32(-0.7211627341993856), np.float32(0.47770593084398383)
L3, L4, L5 = np.float32(-0.3392477732701452), np.float32(0.21558853276325463), np.float32(-0.09606624944844844)
L6 = np.float32(0.02049034609759108)
E0, E1, E2 = np.float32(1.0000035971445644), np.float32(0.6929695509319082), np.float32(0.24162132266294112)
E3, E4 = np.float32(0.05171773546019194), np.float32(0.01368398289383295)


@fast_kernel
def power(x, b):
    """x^b for x >= 0 and moderate b, to about four digits; without branches, so that it vectorises."""
    bits = np.float32(x).view(np.int32)
    exponent = np.float32(np.int32(bits >> MANTISSA_BITS)) - BIAS
    t = np.int32((bits & MANTISSA) | EXPONENT_OF_ONE).view(np.float32) - ONE
    square = t * t
    low, middle = (L0 + L1 * t) + square * (L2 + L3 * t), (L4 + L5 * t) + square * L6
    log = t * (low + square * square * middle) + exponent
    shifted = min(max(b * log, LOWEST), HIGHEST) + BIAS
    whole = np.int32(shifted)
    t = shifted - np.float32(whole)
    square = t * t
    value = (E0 + E1 * t) + square * ((E2 + E3 * t) + square * E4)
    return value * np.int32(whole << MANTISSA_BITS).view(np.float32)


@fast_kernel
def attraction(square, a, b):
    """Share of their difference by which two rows approach: derivative of log(1 + a s^b), s the squared distance."""
    square = max(square, LEAST)
    value = a * power(square, b)
    return TWO * b * value / (square * (ONE + value))


@fast_kernel
def repulsion(square, a, b, gamma):
    """Share of their difference by which a row leaves another: derivative of -gamma log(a s^b / (1 + a s^b))."""
    return TWO * gamma * b / ((SOFT + square) * (ONE + a * power(square, b)))


@inner_kernel
def clip(value):
    return min(max(value, -FOUR), FOUR)


@inner_kernel
def scramble(x):
    """A bijection of 32 bits under which neighbours become unrelated (the finaliser of MurmurHash3)."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * MULTIPLIER_1)
    x = np.uint32(x ^ (x >> np.uint32(13)))
    x = np.uint32(x * MULTIPLIER_2)
    return np.uint32(x ^ (x >> np.uint32(16)))


@inner_kernel
def drawn(counter, n):
    """A number below n, all about equally likely; n is an uint64."""
    return (np.uint64(scramble(np.uint32(counter))) * n) >> np.uint64(32)


@inner_kernel
def begin(key, epoch, row):
    """Where the random numbers of a row in an epoch begin."""
    return scramble(np.uint32(scramble(np.uint32(key + epoch)) + np.uint32(row)))


@inner_kernel
def is_due(step, epoch):
    """Whether an edge pulls in this epoch: multiples of its share of 2^32 have just passed a multiple of 2^32."""
    return np.uint32(epoch * step) < step


@fast_kernel
def push_2(S, counter, x, y, numbers):
    """The sum of what a block of random rows does to the point (x, y)."""
    a, b, gamma, n = numbers[1], numbers[2], numbers[3], np.uint64(S.shape[0])
    gx, gy = ZERO, ZERO
    for k in range(BLOCK):
        other = drawn(counter + np.uint32(k), n)
        dx, dy = x - S[other, 0], y - S[other, 1]
        force = repulsion(dx * dx + dy * dy, a, b, gamma)
        gx += clip(force * dx)
        gy += clip(force * dy)
    return gx, gy


@view_kernel
def move_2(starts, tails, steps, S, first, stop, epoch, numbers, n_pushes, key, is_fit, Y):  # OUT: Y
    """One epoch for rows first to stop - 1 of Y, in the plane.

    In a fit each edge stands in both rows and moves both ends: within the span at once, else each task moves its own
    end twice.  For new rows S is what they are placed into; it does not move.
    """
    # starts: (n + 1,) int64; tails: (m,) int32; steps: (m,) uint32; S: (n, 2), Y: (n or n_new, 2) float32
    # numbers: learning rate, a, b, gamma, float32; epoch, key: uint32
    rate, a, b = numbers[0], numbers[1], numbers[2]
    for i in range(first, stop):
        x, y, n_pulls = Y[i, 0], Y[i, 1], 0
        for e in range(starts[i], starts[i + 1]):
            if is_due(steps[e], epoch):
                n_pulls += 1
                j = tails[e]
                is_own = is_fit and first <= j < stop
                u, v = (Y[j, 0], Y[j, 1]) if is_own else (S[j, 0], S[j, 1])
                dx, dy = x - u, y - v
                force = attraction(dx * dx + dy * dy, a, b)
                gx, gy = rate * clip(force * dx), rate * clip(force * dy)
                x, y = x - gx, y - gy
                if is_own:
                    Y[j, 0], Y[j, 1] = u + gx, v + gy
                elif is_fit:
                    x, y = x - gx, y - gy
        counter = begin(key, epoch, i if is_fit else 0)
        n_blocks = (n_pulls * n_pushes + np.int64(counter & np.uint32(BLOCK - 1))) // BLOCK  # right on average
        for block in range(n_blocks):
            gx, gy = push_2(S, counter + np.uint32(BLOCK * (block + 1)), x, y, numbers)
            x, y = x + rate * clip(gx), y + rate * clip(gy)
        Y[i, 0], Y[i, 1] = x, y


@fast_kernel
def push_3(S, counter, x, y, z, numbers):
    """The sum of what a block of random rows does to the point (x, y, z)."""
    a, b, gamma, n = numbers[1], numbers[2], numbers[3], np.uint64(S.shape[0])
    gx, gy, gz = ZERO, ZERO, ZERO
    for k in range(BLOCK):
        other = drawn(counter + np.uint32(k), n)
        dx, dy, dz = x - S[other, 0], y - S[other, 1], z - S[other, 2]
        force = repulsion(dx * dx + dy * dy + dz * dz, a, b, gamma)
        gx += clip(force * dx)
        gy += clip(force * dy)
        gz += clip(force * dz)
    return gx, gy, gz


@view_kernel
def move_3(starts, tails, steps, S, first, stop, epoch, numbers, n_pushes, key, is_fit, Y):  # OUT: Y
    """`move_2` in space."""
    # arguments as for `move_2`, with three columns
    rate, a, b = numbers[0], numbers[1], numbers[2]
    for i in range(first, stop):
        x, y, z, n_pulls = Y[i, 0], Y[i, 1], Y[i, 2], 0
        for e in range(starts[i], starts[i + 1]):
            if is_due(steps[e], epoch):
                n_pulls += 1
                j = tails[e]
                is_own = is_fit and first <= j < stop
                u, v, w = (Y[j, 0], Y[j, 1], Y[j, 2]) if is_own else (S[j, 0], S[j, 1], S[j, 2])
                dx, dy, dz = x - u, y - v, z - w
                force = attraction(dx * dx + dy * dy + dz * dz, a, b)
                gx, gy, gz = rate * clip(force * dx), rate * clip(force * dy), rate * clip(force * dz)
                x, y, z = x - gx, y - gy, z - gz
                if is_own:
                    Y[j, 0], Y[j, 1], Y[j, 2] = u + gx, v + gy, w + gz
                elif is_fit:
                    x, y, z = x - gx, y - gy, z - gz
        counter = begin(key, epoch, i if is_fit else 0)
        n_blocks = (n_pulls * n_pushes + np.int64(counter & np.uint32(BLOCK - 1))) // BLOCK  # right on average
        for block in range(n_blocks):
            gx, gy, gz = push_3(S, counter + np.uint32(BLOCK * (block + 1)), x, y, z, numbers)
            x, y, z = x + rate * clip(gx), y + rate * clip(gy), z + rate * clip(gz)
        Y[i, 0], Y[i, 1], Y[i, 2] = x, y, z


@fast_kernel
def squared_gap(x, y):
    """sum_k (x[k] - y[k])^2."""
    total = ZERO
    for k in range(x.shape[0]):
        gap = x[k] - y[k]
        total += gap * gap
    return total


@fast_kernel
def push_any(S, counter, point, numbers, total):  # OUT: point, total
    """Move a point by what a block of random rows does to it."""
    a, b, gamma, n = numbers[1], numbers[2], numbers[3], np.uint64(S.shape[0])
    for c in range(point.shape[0]):
        total[c] = ZERO
    for k in range(BLOCK):
        other = drawn(counter + np.uint32(k), n)
        force = repulsion(squared_gap(point, S[other]), a, b, gamma)
        for c in range(point.shape[0]):
            total[c] += clip(force * (point[c] - S[other, c]))
    for c in range(point.shape[0]):
        point[c] += numbers[0] * clip(total[c])


@kernel
def move_any(starts, tails, steps, S, first, stop, epoch, numbers, n_pushes, key, is_fit, Y):  # OUT: Y
    """`move_2` in any dimension."""
    # arguments as for `move_2`, with as many columns as there are
    width = Y.shape[1]
    point, total = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(first, stop):
        n_pulls = 0
        for c in range(width):
            point[c] = Y[i, c]
        for e in range(starts[i], starts[i + 1]):
            if is_due(steps[e], epoch):
                n_pulls += 1
                j = tails[e]
                is_own = is_fit and first <= j < stop
                force = attraction(squared_gap(point, Y[j] if is_own else S[j]), numbers[1], numbers[2])
                for c in range(width):
                    other = Y[j, c] if is_own else S[j, c]
                    g = numbers[0] * clip(force * (point[c] - other))
                    point[c] -= g
                    if is_own:
                        Y[j, c] = other + g
                    elif is_fit:
                        point[c] -= g
        counter = begin(key, epoch, i if is_fit else 0)
        n_blocks = (n_pulls * n_pushes + np.int64(counter & np.uint32(BLOCK - 1))) // BLOCK  # right on average
        for block in range(n_blocks):
            push_any(S, counter + np.uint32(BLOCK * (block + 1)), point, numbers, total)
        for c in range(width):
            Y[i, c] = point[c]


@kernel
def add_losses(starts, tails, weights, Y, first, stop, numbers, n_samples, key, totals):  # OUT: totals
    """Sums over the edges and over random pairs of some rows, of which losses are made.

    With p = a s^b, the edges add ``w log(1 + p)``, ``(1 - w) log(1 + 1/p)`` and ``log(1 + 1/p)``; pairs add
    ``log(1 + 1/p)``, the same times the degree of the row, and one.
    """
    # starts: (n + 1,) int64; tails: int32, weights: float32; Y: (n, d) float32; numbers: as for `move_2`
    a, b, n = np.float64(numbers[1]), np.float64(numbers[2]), np.uint64(Y.shape[0])
    for i in range(first, stop):
        degree = 0.0
        for e in range(starts[i], starts[i + 1]):
            weight = np.float64(weights[e])
            value = a * (squared_gap(Y[i], Y[tails[e]]) + SOFT) ** b
            far = math.log(1.0 + 1.0 / value)
            degree += weight
            totals[0] += weight * math.log(1.0 + value)
            totals[1] += (1.0 - weight) * far
            totals[2] += far
        counter = begin(key, np.uint32(0), i)
        for k in range(n_samples):
            other = np.int64(drawn(counter + np.uint32(k), n))
            if other != i:
                value = a * (squared_gap(Y[i], Y[other]) + SOFT) ** b
                far = math.log(1.0 + 1.0 / value)
                totals[3] += far
                totals[4] += degree * far
                totals[5] += 1.0
