"""Rows of nodes: stable partitions by a split, and their bins row by row."""

import numpy as np

from hyperplan._core.jit import kernel, view_kernel
from hyperplan._trees._binning_kernels import WIDTH


@kernel
def fill_lines(words, start, stop, lines):  # OUT: lines
    # words: (n_words, n_samples), lines: (n_samples, n_words); rows start .. stop - 1, in blocks for the cache
    for low in range(start, stop, 512):
        for unit in range(words.shape[0]):
            for i in range(low, min(low + 512, stop)):
                lines[i, unit] = words[unit, i]


@view_kernel
def split_rows(data, nodes, node, rows, start, stop, left, right):  # OUT: left, right
    """Stable partition of rows[start:stop] by the best split of `node`; `left` may be rows[start:]. Returns n_left."""
    feature = nodes.feature[node]
    words, shift = data.words[feature // WIDTH], np.uint32(8 * (feature % WIDTH))
    n_left, n_right = 0, 0
    if data.categorical[feature]:
        chosen = nodes.chosen[node]
        for i in range(start, stop):
            row = rows[i]
            value = (words[row] >> shift) & np.uint32(255)
            side = np.int64((chosen[value >> np.uint32(5)] >> (value & np.uint32(31))) & np.uint32(1))
            left[n_left] = row
            right[n_right] = row
            n_left += side
            n_right += 1 - side
        return n_left
    # right if bin - (threshold + 1), as an unsigned number, is below `span`: one comparison also for missing values
    first = np.uint32(nodes.bin[node] + 1)
    span = np.uint32(data.missing_bin - nodes.bin[node] - np.int64(nodes.missing_left[node]))
    for i in range(start, stop):
        row = rows[i]
        value = np.uint32(np.uint32((words[row] >> shift) & np.uint32(255)) - first)
        side = np.int64(value < span)
        left[n_left] = row
        right[n_right] = row
        n_left += 1 - side
        n_right += side
    return n_left


@view_kernel
def copy_rows(source, start, n, place, rows):  # OUT: rows
    """source[start:start + n] to rows[place:]; array assignment would compile its error messages, for seconds."""
    target, source = rows[place : place + n], source[start : start + n]
    for i in range(n):
        target[i] = source[i]


@view_kernel
def move_part(work, bounds, n_left, part):  # OUT: work
    """Rows of one of the parts bounds[j]:bounds[j + 1], n_left[j] of each go left, from work.scratch to work.rows."""
    before, all_left = np.int64(0), np.int64(0)
    for j in range(n_left.shape[0]):
        before += n_left[j] if j < part else 0
        all_left += n_left[j]
    start, n = bounds[part], bounds[part + 1] - bounds[part]
    copy_rows(work.scratch[0], start, n_left[part], bounds[0] + before, work.rows)
    copy_rows(work.scratch[1], start, n - n_left[part], start + all_left - before, work.rows)


@view_kernel
def divide(data, nodes, node, work):  # OUT: work
    """Partition all rows of a node; n_left."""
    start, stop = nodes.start[node], nodes.stop[node]
    n_left = split_rows(data, nodes, node, work.rows, start, stop, work.rows[start:stop], work.scratch[0])
    copy_rows(work.scratch[0], np.int64(0), stop - start - n_left, start + n_left, work.rows)
    return n_left
