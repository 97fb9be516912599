"""Growing one tree of a forest, depth first, on columns of codes: what all criteria share, and two classes with counts.

The matrix of codes is stored by columns, shape (n_features, n_rows).  A node owns a span of `rows`, which a split
partitions in place together with what belongs to the rows, so that only the drawn features of a node are ever looked
at.  ``blocks`` is the matrix and ever smaller rooms: once a node fits in one its codes are copied there, so that all
below it works within a nearer cache; its `rows` are then numbers within that copy.  Random choices come from a key
that a node's path from the root determines.

``tables`` is an empty tuple for random thresholds: the compiler knows and leaves out the other searches.  They have two
blocks that hold the whole matrix, by columns and by rows, and their rooms hold rows; see `_forest_random_kernels`.

Nodes are written to ``ints`` (left, right, feature, rows, missing left) and ``reals`` (threshold, impurity, weight,
values).
Numbers that are handed on start as `ZERO`, not 0: the compiler would make one more version for a literal.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_uint64
from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._criterion_kernels import ENTROPY, EPSILON
from hyperplan._trees._forest_draw_kernels import draw_feature, undo_draws
from hyperplan._trees._forest_random_kernels import move_rows_nearer, search_random
from hyperplan._trees._forest_scan_kernels import (
    BY_INSERTION,
    CONSTANT,
    fields,
    scan_two_histogram,
    scan_two_sorted,
    two_class_entropy,
)

LEFT_SALT, RIGHT_SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
START, END, DEPTH, PARENT, IS_LEFT, LEVEL, N_SPAN = range(7)
KEY, TOTAL = range(2)  # of a node on the stack
LEFT, RIGHT, FEATURE, N_ROWS, MISSING_LEFT, N_INTS = range(6)
THRESHOLD, IMPURITY, WEIGHT, VALUES = range(4)
ZERO, ONE = np.int64(0), np.int64(1)
NONE = np.uint64(0)  # an index that Numba knows not to be negative
WORTH_A_COPY = 16  # rows of a node from which its codes are copied
NOTHING_LEFT = 1.0 - 1e-12  # share of the impurity: a split that removes so much cannot be beaten
CODES_PER_ROW = 2  # codes of a column per row of the node up to which a histogram is worth clearing


@inner_kernel
def child_key(key, salt, state):  # OUT: state
    """Key of a child from its parent's, as for exact trees."""
    state[0] = key ^ salt
    return next_uint64(state)


@inner_kernel
def write_leaf(i, n_rows, weight, impurity, ints, reals):  # OUT: ints, reals
    ints[i, LEFT], ints[i, RIGHT], ints[i, FEATURE], ints[i, N_ROWS], ints[i, MISSING_LEFT] = -1, -1, -2, n_rows, 0
    reals[i, THRESHOLD], reals[i, IMPURITY], reals[i, WEIGHT] = -2.0, impurity, weight


@inner_kernel
def is_final(rule, n_rows, weight, depth, impurity):
    small = n_rows < rule.min_split or n_rows < 2 * rule.min_leaf or weight < 2.0 * rule.min_weight
    return small or depth >= rule.max_depth or impurity <= EPSILON


@inner_kernel
def by_histogram(n, n_codes):
    return n > BY_INSERTION and CODES_PER_ROW * n >= n_codes


@inner_kernel
def middle_of(tables, j, left, right):
    """Threshold between two neighbouring codes of column j."""
    first = tables.offsets[j]
    return tables.high[first + left] / 2.0 + tables.low[first + right] / 2.0


@inner_kernel
def write_split(i, j, threshold, n_left, n_rows, ints, reals):  # OUT: ints, reals
    ints[i, FEATURE], ints[i, MISSING_LEFT] = j, 2 * n_left > n_rows
    reals[i, THRESHOLD] = threshold


@inner_kernel
def gather_columns(source, rows, target):  # OUT: target, rows: numbers within the copy
    """Codes of a node's rows, together."""
    for j in range(source.shape[0]):
        column, room = source[j], target[j]
        for p in range(rows.shape[0]):
            room[p] = column[rows[p]]
    for p in range(rows.shape[0]):
        rows[p] = p


@inner_kernel
def move_nearer(blocks, level, rows):  # OUT: rows, blocks; returns the level that holds the node's codes
    nearest = level
    if rows.shape[0] >= WORTH_A_COPY:
        while nearest + 1 < len(blocks) and rows.shape[0] <= blocks[nearest + 1].shape[1]:
            nearest += 1
    if nearest > level:
        gather_columns(blocks[level], rows, blocks[nearest])
    return nearest


@inner_kernel
def push(stack, top, start, end, depth, parent, is_left, level):  # OUT: stack
    stack[top, START], stack[top, END], stack[top, DEPTH] = start, end, depth
    stack[top, PARENT], stack[top, IS_LEFT], stack[top, LEVEL] = parent, is_left, level


@inner_kernel
def link(parent, is_left, i, ints):  # OUT: ints
    if parent >= 0:
        ints[parent, LEFT if is_left == 1 else RIGHT] = i


@inner_kernel
def two_class_impurity(criterion, weight, ones):
    if ones <= 0.0 or ones >= weight:
        return 0.0
    if criterion == ENTROPY:
        return max(two_class_entropy(weight, ones), 0.0) / weight
    p, q = ones / weight, (weight - ones) / weight
    return 1.0 - p * p - q * q


@inner_kernel
def gather_two(unit, rows, units):  # OUT: units; returns their sum
    total = np.uint64(0)
    for p in range(rows.shape[0]):
        units[p] = unit[rows[p]]
        total += units[p]
    return total


@view_kernel
def divide_two(codes, column, cut, rows, units, spill, spare):  # OUT: rows, units, spill, spare
    """Rows and units with codes up to `cut` first, in order; how many, and the sum of their units.

    The codes of the node, or, if there are none, those of the whole column.
    """
    left, right, below, known = NONE, NONE, NONE, codes.shape[0] > 0
    for p in range(rows.shape[0]):
        row, one = rows[p], units[p]
        code = codes[p] if known else column[row]
        inside = np.uint64(code <= cut)
        rows[left], units[left] = row, one
        spill[right], spare[right] = row, one
        below += inside * one
        left += inside
        right += np.uint64(1) - inside
    n_left, others, their = np.int64(left), rows[left:], units[left:]
    for i in range(np.int64(right)):
        others[i], their[i] = spill[i], spare[i]
    return n_left, below


@inner_kernel
def search_two(matrix, tables, rows, units, total, most, key, rule, work):  # OUT: work
    """Best split of the drawn features, two classes with counts: gain, feature, codes on both sides.

    The feature is -1 without one; the search ends when a gain reaches `most`.
    """
    order, swaps, draw, seen, found = work.order, work.swaps, work.draw, work.seen, work.codes[0]
    limits = (rule.criterion, rule.min_leaf, rule.min_weight)
    d, n = matrix.shape[0], rows.shape[0]
    draw[0] = key
    i, usable, best, winner, left, right = ZERO, 0, CONSTANT, -ONE, ZERO, ZERO
    while i < d and (i < rule.max_features or usable == 0) and best < most:
        j = draw_feature(order, swaps, i, draw)
        column, n_codes = matrix[j], tables.offsets[j + 1] - tables.offsets[j]
        i += 1
        if by_histogram(n, n_codes):
            gain, code, after = scan_two_histogram(column, rows, total, limits, n_codes, units, work.cells, seen, found)
        else:
            room, spare = work.keys, work.spare
            gain, code, after = scan_two_sorted(
                column, rows, total, limits, units, room, spare, work.digits, seen, found
            )
        usable += gain != CONSTANT
        if gain > best:
            best, winner, left, right = gain, j, code, after
    undo_draws(order, swaps, i)
    return best, winner, left, right


@view_kernel
def grow_two(blocks, unit, tables, rows, seed, rule, work, ints, reals):  # OUT: all but unit, tables, seed, rule
    """Grow a tree for two classes with counts, ``unit`` of each row packed; the number of nodes."""
    stack, waiting, units, spill, spare, state = work.stack, work.keyed, work.units, work.spill, work.spare, work.state
    push(stack, ZERO, ZERO, rows.shape[0], ZERO, -ONE, ZERO, ZERO)
    waiting[0, KEY], waiting[0, TOTAL] = seed, gather_two(unit, rows, units)
    top, n_nodes = ONE, ZERO
    while top > 0:
        top -= 1
        i, key, total = n_nodes, waiting[top, KEY], waiting[top, TOTAL]
        start, end, depth, level = stack[top, START], stack[top, END], stack[top, DEPTH], stack[top, LEVEL]
        n_nodes += 1
        link(stack[top, PARENT], stack[top, IS_LEFT], i, ints)
        _, weight, ones = fields(total)
        impurity = two_class_impurity(rule.criterion, weight, ones)
        write_leaf(i, end - start, weight, impurity, ints, reals)
        reals[i, VALUES], reals[i, VALUES + 1] = (weight - ones) / weight, ones / weight
        if is_final(rule, end - start, weight, depth, impurity):
            continue
        mine, ours, most = rows[start:end], units[start:end], NOTHING_LEFT * weight * impurity
        if len(tables) == 0:
            level = move_rows_nearer(blocks, level, mine)
            gain, j, left, cut, codes = search_random(blocks, level, mine, ours, (total,), most, key, rule, (), work)
        else:
            level = move_nearer(blocks, level, mine)
            gain, j, left, right = search_two(blocks[level], tables, mine, ours, total, most, key, rule, work)
        if j < 0 or gain / rule.total_weight + EPSILON < rule.min_decrease:
            continue
        if len(tables) == 0:
            n_left, below = divide_two(codes, codes, left, mine, ours, spill, spare)
        else:
            cut = middle_of(tables, j, left, right)
            n_left, below = divide_two(work.codes[0, :0], blocks[level][j], left, mine, ours, spill, spare)
        write_split(i, j, cut, n_left, end - start, ints, reals)
        push(stack, top, start + n_left, end, depth + 1, i, ZERO, level)
        waiting[top, KEY], waiting[top, TOTAL] = child_key(key, RIGHT_SALT, state), total - below
        push(stack, top + 1, start, start + n_left, depth + 1, i, ONE, level)
        waiting[top + 1, KEY], waiting[top + 1, TOTAL] = child_key(key, LEFT_SALT, state), below
        top += 2
    return n_nodes
