"""Counting pairs of small integers."""

import numpy as np

from hyperplan._core.jit import view_kernel


@view_kernel
def count_pairs(first, second, low, width, counts):  # OUT: counts
    """Add the pairs to counts[a - low, b - low]; those outside [low, low + width) are left out.

    Neighbouring rows go to two tables in turn: equal pairs one after the other would wait for each other's addition.
    """
    # first, second: (n,) integers; counts: (2, width * width) int64
    size = np.uint64(width)
    for i in range(first.shape[0]):
        a = np.uint64(np.int64(first[i]) - low)
        b = np.uint64(np.int64(second[i]) - low)
        if a < size and b < size:
            counts[i & 1, a * size + b] += 1


@view_kernel
def weigh_pairs(first, second, low, width, weight, sums):  # OUT: sums
    """As `count_pairs`, with a weight for each pair and one table, added in the order of the rows."""
    # weight: (n,) and sums: (width * width,), both float64 or both int64
    size = np.uint64(width)
    for i in range(first.shape[0]):
        a = np.uint64(np.int64(first[i]) - low)
        b = np.uint64(np.int64(second[i]) - low)
        if a < size and b < size:
            sums[a * size + b] += weight[i]
