"""Growing one tree of a forest with weights: squared error, or any number of classes.

The matrix of codes is stored by columns, shape (n_features, n_rows).  ``stat`` holds weight and target (or class) of
each row; see `_forest_kernels` for the rest.
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._criterion_kernels import ENTROPY, EPSILON
from hyperplan._trees._forest_kernels import (
    DEPTH,
    END,
    IS_LEFT,
    IS_LOCAL,
    LEFT_SALT,
    PARENT,
    RIGHT_SALT,
    START,
    VALUES,
    by_histogram,
    child_key,
    column_seed,
    draw_feature,
    gather_columns,
    is_final,
    link,
    push,
    split_node,
    undo_draws,
    write_leaf,
)
from hyperplan._trees._forest_random_kernels import draw_cut, judge_classes_random, judge_means_random
from hyperplan._trees._forest_scan_kernels import (
    CONSTANT,
    GAIN,
    scan_classes_histogram,
    scan_classes_sorted,
    scan_means_histogram,
    scan_means_sorted,
    sum_of_terms,
    x_log_x,
)

EQUALLY_GOOD = 1.0 + 1e-10  # gains closer than this are equal but for rounding: the first feature drawn wins


@kernel
def gather_means(stat, rows, start, end, rowwise):  # OUT: rowwise; returns weight, sum and variance
    """Weight and weighted target of the node's rows; the variance from targets shifted by the first."""
    first = stat[rows[start], 1]
    weight, total, s1, s2 = 0.0, 0.0, 0.0, 0.0
    for p in range(start, end):
        w, y = stat[rows[p], 0], stat[rows[p], 1]
        rowwise[p - start, 0], rowwise[p - start, 1] = w, w * y
        weight += w
        total += w * y
        d = y - first
        s1 += w * d
        s2 += w * d * d
    return weight, total, max(s2 / weight - (s1 / weight) * (s1 / weight), 0.0)


@kernel
def gather_classes(stat, rows, start, end, rowwise, sums):  # OUT: rowwise, sums; returns the weight
    sums[:] = 0.0
    weight = 0.0
    for p in range(start, end):
        w, c = stat[rows[p], 0], stat[rows[p], 1]
        rowwise[p - start, 0], rowwise[p - start, 1] = w, c
        sums[np.int64(c)] += w
        weight += w
    return weight


@kernel
def class_impurity(criterion, weight, sums):
    for c in range(sums.shape[0]):
        if sums[c] == weight:
            return 0.0
    terms = sum_of_terms(criterion, sums)
    return max(x_log_x(weight) - terms, 0.0) / weight if criterion == ENTROPY else 1.0 - terms / (weight * weight)


@kernel
def search_sums(matrix, offsets, rows, span, totals, key, rule, work):  # OUT: work.best; the feature, -1 without one
    """Best split of the drawn features; ``totals = (weight, sum)``."""
    order, swaps, draw, found, best, rowwise = work.order, work.swaps, work.draw, work.found, work.best, work.rowwise
    keys, spare, digits, table, sums, sides = work.keys, work.spare, work.digits, work.table, work.sums, work.sides
    codes, bits, real, state = work.codes, work.pun_bits, work.pun_real, work.state
    limits = (rule.criterion, rule.min_leaf, rule.min_weight)
    d, n, random, means = matrix.shape[0], span[1] - span[0], offsets.shape[0] == 0, rule.means
    draw[0] = key
    i, usable, gain, winner = 0, 0, -1.0, -1
    while i < d and (i < rule.max_features or usable == 0):
        j = draw_feature(order, swaps, i, draw)
        i += 1
        column = matrix[j]
        n_codes = 0 if random else offsets[j + 1] - offsets[j]
        if random:
            if draw_cut(column, rows, span, column_seed(key, j), codes, bits, real, state, found):
                if means:
                    judge_means_random(codes, n, totals, limits, rowwise, found)
                else:
                    judge_classes_random(codes, n, limits, rowwise, sums, sides, found)
        elif by_histogram(n, n_codes):
            if means:
                scan_means_histogram(column, rows, span, totals, limits, n_codes, rowwise, table, found)
            else:
                scan_classes_histogram(column, rows, span, limits, n_codes, rowwise, sums, sides, table, found)
        elif means:
            scan_means_sorted(column, rows, span, totals, limits, rowwise, keys, spare, digits, found)
        else:
            scan_classes_sorted(column, rows, span, limits, rowwise, sums, sides, keys, spare, digits, found)
        usable += found[GAIN] != CONSTANT
        if found[GAIN] > gain * EQUALLY_GOOD:
            gain, winner = found[GAIN], j
            best[:] = found
    undo_draws(order, swaps, i)
    return winner


@kernel
def gather_node(stat, rows, start, end, i, rule, rowwise, sums, reals):  # OUT: rowwise, sums, reals
    """Rows and values of node i; returns weight, sum and impurity."""
    if rule.means:
        weight, total, variance = gather_means(stat, rows, start, end, rowwise)
        reals[i, VALUES] = rule.centre + rule.scale * (total / weight)
        return weight, total, variance * rule.scale * rule.scale
    weight = gather_classes(stat, rows, start, end, rowwise, sums)
    for c in range(sums.shape[0]):
        reals[i, VALUES + c] = sums[c] / weight
    return weight, 0.0, class_impurity(rule.criterion, weight, sums)


@kernel
def copy_rows(stat, rows, start, end, local):  # OUT: local, rows: numbers within the copy
    for p in range(start, end):
        local[p - start, 0], local[p - start, 1] = stat[rows[p], 0], stat[rows[p], 1]
        rows[p] = p - start


@kernel
def grow_sums(matrix, stat, tables, rows, seed, rule, block, work, ints, reals):  # OUT: rows, block, work, ints, reals
    """Grow a tree for means or classes with weights; the number of nodes."""
    offsets, low, high = tables.offsets, tables.low, tables.high
    local_matrix, local_stat, stack, keys = block.matrix, block.stat, work.stack, work.stack_keys
    spill, best, state, rowwise, sums = work.spill, work.best, work.state, work.rowwise, work.sums
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
            copy_rows(stat, rows, start, end, local_stat)
            local = 1
        here, here_stat = (local_matrix, local_stat) if local == 1 else (matrix, stat)
        weight, total, impurity = gather_node(here_stat, rows, start, end, i, rule, rowwise, sums, reals)
        write_leaf(i, end - start, weight, impurity, ints, reals)
        if is_final(rule, end - start, weight, depth, impurity):
            continue
        j = search_sums(here, offsets, rows, span, (weight, total), key, rule, work)
        gain = best[GAIN] * rule.scale * rule.scale / rule.total_weight
        if j < 0 or gain + EPSILON < rule.min_decrease:
            continue
        middle = start + split_node(here, offsets, low, high, j, rows, span, i, best, spill, ints, reals)
        push(stack, keys, top, middle, end, depth + 1, i, 0, local, child_key(key, RIGHT_SALT, state))
        push(stack, keys, top + 1, start, middle, depth + 1, i, 1, local, child_key(key, LEFT_SALT, state))
        top += 2
    return n_nodes
