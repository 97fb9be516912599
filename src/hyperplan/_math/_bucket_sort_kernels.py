"""Sorting integers by dealing them to about as many buckets as there are numbers, alone or with a payload.

Buckets are equal steps of the range, so that numbers without clusters need one round and a few exchanges in each
bucket; a bucket that received many is dealt again over its own range.  Each round takes away at least four bits of
what is left of the range, hence clusters cost a few rounds more, never squares.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel

FEW = 16  # buckets of at most this many numbers are sorted by insertion


@inner_kernel
def _plan_round(keys, start, stop, counts):  # OUT: counts
    """Smallest key, shift and number of buckets of a round; counts become where each bucket starts."""
    low, high = keys[start], keys[start]
    for i in range(start, stop):
        low = min(low, keys[i])
        high = max(high, keys[i])
    limit = min(stop - start, counts.shape[0])
    shift = np.uint64(0)
    while (high - low) >> shift >= np.uint64(limit):
        shift += np.uint64(1)
    size = np.int64((high - low) >> shift) + 1
    for b in range(size):
        counts[b] = 0
    for i in range(start, stop):
        counts[(keys[i] - low) >> shift] += 1
    place = start
    for b in range(size):
        count = counts[b]
        counts[b] = place
        place += count
    return low, shift, size


@view_kernel
def sort_keys(keys, other, counts, stack):  # OUT: keys; other, counts, stack are scratch
    # keys, other: (n,) uint64; counts: (most buckets,) int64, at least 16; stack: (n // 16 + 1, 2) int64
    top = 0
    if keys.shape[0] > 1:
        stack[0, 0], stack[0, 1], top = 0, keys.shape[0], 1
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        low, shift, size = _plan_round(keys, start, stop, counts)
        if size == 1 and shift == 0:
            continue
        for i in range(start, stop):
            b = (keys[i] - low) >> shift
            other[counts[b]] = keys[i]
            counts[b] += 1
        begin = start
        for b in range(size):
            end = counts[b]
            if end - begin > FEW:
                for i in range(begin, end):
                    keys[i] = other[i]
                if shift > 0:
                    stack[top, 0], stack[top, 1] = begin, end
                    top += 1
            else:
                for i in range(begin, end):
                    key, j = other[i], i
                    while j > begin and keys[j - 1] > key:
                        keys[j] = keys[j - 1]
                        j -= 1
                    keys[j] = key
            begin = end


@view_kernel
def sort_pairs(keys, rows, other, other_rows, counts, stack):  # OUT: keys, rows; the rest is scratch
    """As `sort_keys`, with a number that moves along with each key; equal keys keep their order."""
    # rows, other_rows: (n,) int64
    top = 0
    if keys.shape[0] > 1:
        stack[0, 0], stack[0, 1], top = 0, keys.shape[0], 1
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        low, shift, size = _plan_round(keys, start, stop, counts)
        if size == 1 and shift == 0:
            continue
        for i in range(start, stop):
            b = (keys[i] - low) >> shift
            other[counts[b]], other_rows[counts[b]] = keys[i], rows[i]
            counts[b] += 1
        begin = start
        for b in range(size):
            end = counts[b]
            if end - begin > FEW:
                for i in range(begin, end):
                    keys[i], rows[i] = other[i], other_rows[i]
                if shift > 0:
                    stack[top, 0], stack[top, 1] = begin, end
                    top += 1
            else:
                for i in range(begin, end):
                    key, row, j = other[i], other_rows[i], i
                    while j > begin and keys[j - 1] > key:
                        keys[j], rows[j] = keys[j - 1], rows[j - 1]
                        j -= 1
                    keys[j], rows[j] = key, row
            begin = end
