"""Random numbers inside kernels: one uint64 of state per task (splitmix64), advanced in place.

`state` is an array of one uint64, so that a kernel can pass it on; two tasks never share one.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel


@kernel
def next_uint64(state):
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def next_uniform(state):
    """Uniform on [0, 1) with 53 bits."""
    return (next_uint64(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def next_below(state, n):
    """Uniform integer in [0, n); the bias is below n / 2^53."""
    return np.intp(next_uniform(state) * n)


@kernel
def next_normal(state):
    """Standard normal by Box and Muller (one of the pair is thrown away: simplicity over speed)."""
    u = 1.0 - next_uniform(state)
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * next_uniform(state))


@kernel
def shuffle_in_place(values, state):
    """Fisher-Yates."""
    for i in range(values.shape[0] - 1, 0, -1):
        j = next_below(state, i + 1)
        values[i], values[j] = values[j], values[i]
