"""Random choices of a forest's tree: features of a node in random order, and the seed of a column's threshold."""

import numpy as np

from hyperplan._core._rng_kernels import next_below
from hyperplan._core.jit import inner_kernel

COLUMN_SALT = np.uint64(0x9E3779B97F4A7C15)


@inner_kernel
def draw_feature(order, swaps, i, draw):  # OUT: order, swaps, draw; the next feature of a random order
    d = order.shape[0]
    k = i + next_below(draw, d - i) if i < d - 1 else i
    swaps[i] = k
    order[i], order[k] = order[k], order[i]
    return order[i]


@inner_kernel
def undo_draws(order, swaps, n_drawn):  # OUT: order, as before the draws
    for i in range(n_drawn - 1, -1, -1):
        k = swaps[i]
        order[i], order[k] = order[k], order[i]


@inner_kernel
def column_seed(key, j):
    """Seed of the random threshold of column j, as for exact trees."""
    return key ^ (np.uint64(j + 1) * COLUMN_SALT)
