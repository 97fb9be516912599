"""Copies of sorted columns: without some rows, with labels in the sign bits, or with rows numbered anew.

Columns are rows of a C-ordered array of (value, row) pairs.
"""

import numpy as np

from hyperplan._core.jit import view_kernel
from hyperplan._trees._exact_scan_kernels import row_at


@view_kernel
def keep_rows(source, keep, target):  # OUT: target; the pairs whose row is kept, in order
    for c in range(source.shape[0]):
        n = 0
        for p in range(source.shape[1]):
            pair = source[c, p]
            if keep[pair & 0x7FFFFFFF] and n < target.shape[1]:
                target[c, n] = pair
                n += 1


@view_kernel
def label_rows(pairs, codes):  # OUT: pairs
    """Write the class (0 or 1) of each row into its sign bit."""
    for c in range(pairs.shape[0]):
        for p in range(pairs.shape[1]):
            pair = pairs[c, p] & ~0x80000000
            pairs[c, p] = pair | (np.int64(codes[pair & 0x7FFFFFFF, 0]) << 31)


@view_kernel
def number_rows(columns, start, end, place, rows):  # OUT: place, rows
    """Number the rows at positions [start, end) from 0 on, in the order of the first column."""
    first = columns.rows[0]
    for p in range(start, end):
        row = row_at(first, p)
        rows[p - start] = row
        place[row] = p - start


@view_kernel
def renumber(columns, start, end, place, target):  # OUT: target
    """Copy positions [start, end) of all columns with rows renumbered by `place`; labels stay."""
    for c in range(target.shape[0]):
        pairs = columns.pairs[c]
        for p in range(start, end):
            pair = pairs[p]
            row = pair & 0x7FFFFFFF
            target[c, p - start] = pair - row + place[row]
