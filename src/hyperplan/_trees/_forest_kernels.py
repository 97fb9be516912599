"""Growing one tree of a forest, depth first, on columns of codes: what all criteria share, and two classes with counts.

The matrix of codes is stored by columns, shape (n_features, n_rows).  A node owns a span of `rows`, which a split
partitions in place, so that only the drawn features of a node are ever looked at.  Once a node is small its codes and
targets are copied together: everything below it then works within the cache, and its `rows` are numbers within that
copy.  Random choices come from a key that a node's path from the root determines.

Nodes are written to ``ints`` (left, right, feature, rows, missing left) and ``reals`` (threshold, impurity, weight,
values).  Inner loops are given plain arrays: a record of many arrays is expensive to hand on.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_below, next_uint64
from hyperplan._core.jit import kernel
from hyperplan._trees._criterion_kernels import ENTROPY, EPSILON
from hyperplan._trees._forest_random_kernels import draw_cut, judge_two_random
from hyperplan._trees._forest_scan_kernels import (
    BY_INSERTION,
    CODE_LEFT,
    CODE_RIGHT,
    CONSTANT,
    CUT,
    GAIN,
    fields,
    scan_two_histogram,
    scan_two_sorted,
    two_class_entropy,
)

LEFT_SALT, RIGHT_SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
START, END, DEPTH, PARENT, IS_LEFT, IS_LOCAL, N_SPAN = range(7)
LEFT, RIGHT, FEATURE, N_ROWS, MISSING_LEFT, N_INTS = range(6)
THRESHOLD, IMPURITY, WEIGHT, VALUES = range(4)
CODES_PER_ROW = 2  # codes of a column per row of the node up to which a histogram is worth clearing


@kernel
def child_key(key, salt, state):  # OUT: state
    """Key of a child from its parent's, as for exact trees."""
    state[0] = key ^ salt
    return next_uint64(state)


@kernel
def write_leaf(i, n_rows, weight, impurity, ints, reals):  # OUT: ints, reals
    ints[i, LEFT], ints[i, RIGHT], ints[i, FEATURE], ints[i, N_ROWS], ints[i, MISSING_LEFT] = -1, -1, -2, n_rows, 0
    reals[i, THRESHOLD], reals[i, IMPURITY], reals[i, WEIGHT] = -2.0, impurity, weight


@kernel
def is_final(rule, n_rows, weight, depth, impurity):
    small = n_rows < rule.min_split or n_rows < 2 * rule.min_leaf or weight < 2.0 * rule.min_weight
    return small or depth >= rule.max_depth or impurity <= EPSILON


@kernel
def draw_feature(order, swaps, i, draw):  # OUT: order, swaps, draw; the next feature of a random order
    d = order.shape[0]
    k = i + next_below(draw, d - i) if i < d - 1 else i
    swaps[i] = k
    order[i], order[k] = order[k], order[i]
    return order[i]


@kernel
def undo_draws(order, swaps, n_drawn):  # OUT: order, as before the draws
    for i in range(n_drawn - 1, -1, -1):
        k = swaps[i]
        order[i], order[k] = order[k], order[i]


@kernel
def by_histogram(n, n_codes):
    return n > BY_INSERTION and CODES_PER_ROW * n >= n_codes


@kernel
def column_seed(key, j):
    """Seed of the random threshold of column j, as for exact trees."""
    return key ^ (np.uint64(j + 1) * LEFT_SALT)


@kernel
def divide(column, rows, start, end, cut, spill):  # OUT: rows, spill; returns the rows on the left
    left, right = start, 0
    for p in range(start, end):
        row = rows[p]
        inside = np.int64(column[row] <= cut)
        rows[left] = row
        spill[right] = row
        left += inside
        right += 1 - inside
    for i in range(right):
        rows[left + i] = spill[i]
    return left - start


@kernel
def split_node(matrix, offsets, low, high, j, rows, span, i, best, spill, ints, reals):  # OUT: rows, spill, ints, reals
    """Write the split of node i at column j and divide its rows; the number on the left."""
    start, end = span
    left, right = np.int64(best[CODE_LEFT]), np.int64(best[CODE_RIGHT])
    n_left = divide(matrix[j], rows, start, end, left, spill)
    ints[i, FEATURE] = j
    ints[i, MISSING_LEFT] = 2 * n_left > end - start
    if offsets.shape[0] == 0:
        reals[i, THRESHOLD] = best[CUT]
    else:
        reals[i, THRESHOLD] = high[offsets[j] + left] / 2.0 + low[offsets[j] + right] / 2.0
    return n_left


@kernel
def gather_columns(matrix, rows, start, end, local):  # OUT: local
    """Codes of a node's rows, together."""
    for j in range(matrix.shape[0]):
        column, target = matrix[j], local[j]
        for p in range(start, end):
            target[p - start] = column[rows[p]]


@kernel
def push(stack, keys, top, start, end, depth, parent, is_left, is_local, key):  # OUT: stack, keys
    stack[top, START], stack[top, END], stack[top, DEPTH] = start, end, depth
    stack[top, PARENT], stack[top, IS_LEFT], stack[top, IS_LOCAL] = parent, is_left, is_local
    keys[top] = key


@kernel
def link(parent, is_left, i, ints):  # OUT: ints
    if parent >= 0:
        ints[parent, LEFT if is_left == 1 else RIGHT] = i


@kernel
def two_class_impurity(criterion, weight, ones):
    if ones <= 0.0 or ones >= weight:
        return 0.0
    if criterion == ENTROPY:
        return max(two_class_entropy(weight, ones), 0.0) / weight
    p, q = ones / weight, (weight - ones) / weight
    return 1.0 - p * p - q * q


@kernel
def gather_two(unit, rows, start, end, units):  # OUT: units; returns their sum
    total = np.uint64(0)
    for p in range(start, end):
        one = unit[rows[p]]
        units[p - start] = one
        total += one
    return total


@kernel
def search_two(matrix, offsets, rows, span, total, key, rule, work):  # OUT: work.best; the feature, -1 without one
    """Best split of the drawn features: two classes with counts."""
    order, swaps, draw, found, best, units = work.order, work.swaps, work.draw, work.found, work.best, work.units
    keys, spare, digits, cells = work.keys, work.spare, work.digits, work.cells
    codes, bits, real, state, seen = work.codes, work.pun_bits, work.pun_real, work.state, work.seen
    limits = (rule.criterion, rule.min_leaf, rule.min_weight)
    d, n, random = matrix.shape[0], span[1] - span[0], offsets.shape[0] == 0
    draw[0] = key
    i, usable, gain, winner = 0, 0, -1.0, -1
    while i < d and (i < rule.max_features or usable == 0):
        j = draw_feature(order, swaps, i, draw)
        i += 1
        if random:
            if draw_cut(matrix[j], rows, span, column_seed(key, j), codes, bits, real, state, found):
                judge_two_random(codes, n, total, limits, units, found)
        elif by_histogram(n, offsets[j + 1] - offsets[j]):
            n_codes = offsets[j + 1] - offsets[j]
            scan_two_histogram(matrix[j], rows, span, total, limits, n_codes, units, cells, seen, codes, found)
        else:
            scan_two_sorted(matrix[j], rows, span, total, limits, units, keys, spare, digits, seen, codes, found)
        usable += found[GAIN] != CONSTANT
        if found[GAIN] > gain:
            gain, winner = found[GAIN], j
            best[:] = found
    undo_draws(order, swaps, i)
    return winner


@kernel
def grow_two(matrix, unit, tables, rows, seed, rule, block, work, ints, reals):  # OUT: rows, block, work, ints, reals
    """Grow a tree for two classes with counts, ``unit`` of each row packed; the number of nodes."""
    offsets, low, high = tables.offsets, tables.low, tables.high
    local_matrix, local_unit, stack, keys, units = block.matrix, block.unit, work.stack, work.stack_keys, work.units
    spill, best, state = work.spill, work.best, work.state
    push(stack, keys, 0, 0, rows.shape[0], 0, -1, 0, 0, seed)
    top, n_nodes, capacity = 1, 0, local_matrix.shape[1]
    while top > 0:
        top -= 1
        i, key, start, end, depth = n_nodes, keys[top], stack[top, START], stack[top, END], stack[top, DEPTH]
        local, span = stack[top, IS_LOCAL], (start, end)
        n_nodes += 1
        link(stack[top, PARENT], stack[top, IS_LEFT], i, ints)
        if local == 0 and end - start <= capacity:
            gather_columns(matrix, rows, start, end, local_matrix)
            gather_two(unit, rows, start, end, local_unit)
            for p in range(start, end):
                rows[p] = p - start
            local = 1
        here, here_unit = (local_matrix, local_unit) if local == 1 else (matrix, unit)
        total = gather_two(here_unit, rows, start, end, units)
        _, weight, ones = fields(total)
        impurity = two_class_impurity(rule.criterion, weight, ones)
        write_leaf(i, end - start, weight, impurity, ints, reals)
        reals[i, VALUES], reals[i, VALUES + 1] = (weight - ones) / weight, ones / weight
        if is_final(rule, end - start, weight, depth, impurity):
            continue
        j = search_two(here, offsets, rows, span, total, key, rule, work)
        if j < 0 or best[GAIN] / rule.total_weight + EPSILON < rule.min_decrease:
            continue
        middle = start + split_node(here, offsets, low, high, j, rows, span, i, best, spill, ints, reals)
        push(stack, keys, top, middle, end, depth + 1, i, 0, local, child_key(key, RIGHT_SALT, state))
        push(stack, keys, top + 1, start, middle, depth + 1, i, 1, local, child_key(key, LEFT_SALT, state))
        top += 2
    return n_nodes
