"""Labels as small integers: look-ups by value, and strings told apart by their letters."""

import numpy as np

from hyperplan._core.jit import view_kernel


@view_kernel
def mark_seen(values, low, seen):  # OUT: seen
    # values: (n,) integers, all in [low, low + len(seen)); seen: uint8, one per possible value
    for i in range(values.shape[0]):
        seen[values[i] - low] = 1


@view_kernel
def look_up(values, low, table, codes):  # OUT: codes
    # values as in `mark_seen`; codes[i] = table[values[i] - low]
    for i in range(values.shape[0]):
        codes[i] = table[values[i] - low]


@view_kernel
def code_rows(rows, slots, firsts, codes):  # OUT: slots, firsts, codes
    """Number of distinct rows, or -1 when there are more than `firsts` can hold.

    codes[i] counts rows in order of appearance, firsts[code] is where a row first stood.  `slots` is a hash table of
    2^k places, all -1 at the start, at least twice as long as `firsts`.
    """
    # rows: (n, k) uint32, C order: the letters of strings
    n, k = rows.shape
    mask, found = np.uint64(slots.shape[0] - 1), 0
    for i in range(n):
        key = np.uint64(14695981039346656037)
        for j in range(k):
            key = (key ^ np.uint64(rows[i, j])) * np.uint64(1099511628211)
        place = (key ^ (key >> np.uint64(29))) & mask
        while True:
            code = slots[place]
            if code < 0:
                if found == firsts.shape[0]:
                    return -1
                code, slots[place], firsts[found] = found, found, i
                found += 1
                break
            same, first = True, firsts[code]
            for j in range(k):
                if rows[i, j] != rows[first, j]:
                    same = False
                    break
            if same:
                break
            place = (place + np.uint64(1)) & mask
        codes[i] = code
    return found
