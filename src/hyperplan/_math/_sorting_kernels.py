"""Sorting many floating point numbers by their digits.

The bits of a float64, read as an integer, are ordered like the number once the sign is flipped (all bits of negative
numbers).  Six stable passes by 11 bits each, of which those with a single digit are left out, sort them in time
proportional to their number.
"""

import numpy as np

from hyperplan._core.jit import kernel

BITS, PASSES = 11, 6
SIZE = 1 << BITS


@kernel
def to_keys(keys):  # OUT: keys
    """Bits of float64 numbers to integers of the same order; -0.0 counts as 0.0."""
    sign = np.uint64(1) << np.uint64(63)
    for i in range(keys.shape[0]):
        key = keys[i] if keys[i] != sign else np.uint64(0)
        negative = np.uint64(0) - (key >> np.uint64(63))
        keys[i] = key ^ (negative | sign)


@kernel
def from_keys(keys):  # OUT: keys
    """The inverse of `to_keys`."""
    sign = np.uint64(1) << np.uint64(63)
    for i in range(keys.shape[0]):
        positive = (keys[i] >> np.uint64(63)) - np.uint64(1)
        keys[i] = keys[i] ^ (positive | sign)


@kernel
def radix_sort(keys, other):  # OUT: keys, other
    # keys, other: (n,) uint64, the bits of float64 numbers without NaN; sorted in place, `other` is scratch
    n, digit = keys.shape[0], np.uint64(SIZE - 1)
    to_keys(keys)
    counts = np.zeros((PASSES, SIZE), np.int64)
    for i in range(n):
        key = keys[i]
        for p in range(PASSES):
            counts[p, (key >> np.uint64(BITS * p)) & digit] += 1
    source, target, moved = keys, other, False
    for p in range(PASSES):
        shift = np.uint64(BITS * p)
        if n == 0 or counts[p, (source[0] >> shift) & digit] == n:
            continue
        position = 0
        for d in range(SIZE):
            count = counts[p, d]
            counts[p, d] = position
            position += count
        for i in range(n):
            key = source[i]
            d = (key >> shift) & digit
            target[counts[p, d]] = key
            counts[p, d] += 1
        source, target, moved = target, source, not moved
    if moved:  # an odd number of passes ends in `other`
        for i in range(n):  # array assignment would compile its error messages, for seconds
            keys[i] = other[i]
    from_keys(keys)
