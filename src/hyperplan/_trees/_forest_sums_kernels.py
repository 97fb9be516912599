"""Growing one tree of a forest with weights: squared error of one or several targets, or any number of classes.

The matrix of codes is stored by columns, shape (n_features, n_rows).  ``stat`` holds weight and targets (or class) of
each row; see `_forest_kernels` for the rest.  The length of ``means`` says what is grown, and the compiler knows it:
`CLASSES`, `ONE_TARGET`, or `MANY_TARGETS` with their centres and their places in a node's vector of values.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._criterion_kernels import ENTROPY, EPSILON
from hyperplan._trees._forest_draw_kernels import draw_feature, undo_draws
from hyperplan._trees._forest_kernels import (
    DEPTH,
    END,
    IS_LEFT,
    KEY,
    LEFT_SALT,
    LEVEL,
    NONE,
    ONE,
    PARENT,
    RIGHT_SALT,
    START,
    VALUES,
    ZERO,
    by_histogram,
    child_key,
    is_final,
    link,
    middle_of,
    move_nearer,
    push,
    write_leaf,
    write_split,
)
from hyperplan._trees._forest_many_kernels import (
    add_many,
    divide_many,
    move_stats,
    scan_many_histogram,
    scan_many_sorted,
)
from hyperplan._trees._forest_random_kernels import move_rows_nearer, search_random
from hyperplan._trees._forest_scan_kernels import (
    CONSTANT,
    EQUALLY_GOOD,
    MANY_TARGETS,
    ONE_TARGET,
    scan_classes_histogram,
    scan_classes_sorted,
    scan_means_histogram,
    scan_means_sorted,
    sum_of_terms,
    x_log_x,
)


@inner_kernel
def add_means(pairs):
    """Weight, sum and variance of a node's targets; the variance from targets shifted by the first."""
    first = pairs[0, 1]
    weight, total, s1, s2 = 0.0, 0.0, 0.0, 0.0
    for p in range(pairs.shape[0]):
        w, y = pairs[p, 0], pairs[p, 1]
        weight += w
        total += w * y
        d = y - first
        s1 += w * d
        s2 += w * d * d
    return weight, total, max(s2 / weight - (s1 / weight) * (s1 / weight), 0.0)


@inner_kernel
def add_classes(pairs, sums):  # OUT: sums; returns the weight
    for c in range(sums.shape[0]):
        sums[c] = 0.0
    weight = 0.0
    for p in range(pairs.shape[0]):
        sums[np.uint64(pairs[p, 1])] += pairs[p, 0]
        weight += pairs[p, 0]
    return weight


@inner_kernel
def class_impurity(criterion, weight, sums):
    for c in range(sums.shape[0]):
        if sums[c] == weight:
            return 0.0
    terms = sum_of_terms(criterion, sums)
    return max(x_log_x(weight) - terms, 0.0) / weight if criterion == ENTROPY else 1.0 - terms / (weight * weight)


@inner_kernel
def scan_column(column, n_codes, rows, pairs, totals, limits, means, work):  # OUT: work
    """Best threshold of a column of bins or ranks."""
    sums, sides, table, keys, spare, digits = work.sums, work.sides, work.table, work.keys, work.spare, work.digits
    if len(means) == MANY_TARGETS:
        if by_histogram(rows.shape[0], n_codes * table.shape[1]):
            return scan_many_histogram(column, rows, pairs, totals[0], limits, n_codes, work)
        return scan_many_sorted(column, rows, pairs, totals[0], limits, work)
    if by_histogram(rows.shape[0], n_codes):
        if len(means) == ONE_TARGET:
            return scan_means_histogram(column, rows, totals, limits, n_codes, pairs, table)
        return scan_classes_histogram(column, rows, limits, n_codes, pairs, sums, sides, table)
    if len(means) == ONE_TARGET:
        return scan_means_sorted(column, rows, totals, limits, pairs, keys, spare, digits)
    return scan_classes_sorted(column, rows, limits, pairs, sums, sides, keys, spare, digits)


@inner_kernel
def search_sums(matrix, tables, rows, pairs, totals, most, key, rule, means, work):  # OUT: work
    """Best split of the drawn features; ``totals = (weight, sum)``; returns what `search_two` does."""
    order, swaps, draw = work.order, work.swaps, work.draw
    limits = (rule.criterion, rule.min_leaf, rule.min_weight)
    d = matrix.shape[0]
    draw[0] = key
    i, usable, best, winner, left, right = ZERO, 0, CONSTANT, -ONE, ZERO, ZERO
    while i < d and (i < rule.max_features or usable == 0) and best * EQUALLY_GOOD < most:
        j = draw_feature(order, swaps, i, draw)
        i += 1
        n_codes = tables.offsets[j + 1] - tables.offsets[j]
        gain, code, after = scan_column(matrix[j], n_codes, rows, pairs, totals, limits, means, work)
        usable += gain != CONSTANT
        if gain >= 0.0 and (winner < 0 or gain > best * EQUALLY_GOOD):
            best, winner, left, right = gain, j, code, after
    undo_draws(order, swaps, i)
    return best, winner, left, right


@inner_kernel
def add_node(pairs, i, rule, means, sums, reals):  # OUT: sums, reals
    """Sums and values of node i; returns weight, sum and impurity (of the scaled targets, summed over them)."""
    if len(means) == MANY_TARGETS:
        weight, variance = add_many(pairs, sums)
        centre, place = means
        reals[i, VALUES:] = 0.0
        for k in range(sums.shape[0]):
            reals[i, VALUES + place[k]] = centre[k] + rule.scale * (sums[k] / weight)
        return weight, 0.0, variance
    if len(means) == ONE_TARGET:
        weight, total, variance = add_means(pairs)
        reals[i, VALUES] = rule.centre + rule.scale * (total / weight)
        return weight, total, variance
    weight = add_classes(pairs, sums)
    for c in range(sums.shape[0]):
        reals[i, VALUES + c] = sums[c] / weight
    return weight, 0.0, class_impurity(rule.criterion, weight, sums)


@inner_kernel
def divide_pairs(codes, column, cut, rows, pairs, spill, spare):  # OUT: rows, pairs, spill, spare
    """Rows and pairs with codes up to `cut` first, in order; how many.  Codes as for `divide_two`."""
    left, right, known = NONE, NONE, codes.shape[0] > 0
    for p in range(rows.shape[0]):
        row, w, y = rows[p], pairs[p, 0], pairs[p, 1]
        code = codes[p] if known else column[row]
        inside = np.uint64(code <= cut)
        rows[left], pairs[left, 0], pairs[left, 1] = row, w, y
        spill[right], spare[right, 0], spare[right, 1] = row, w, y
        left += inside
        right += np.uint64(1) - inside
    n_left, others, their = np.int64(left), rows[left:], pairs[left:]
    for i in range(np.int64(right)):
        others[i], their[i, 0], their[i, 1] = spill[i], spare[i, 0], spare[i, 1]
    return n_left


@inner_kernel
def divide(codes, column, cut, rows, pairs, means, work):  # OUT: rows, pairs, work
    if len(means) == MANY_TARGETS:
        return divide_many(codes, column, cut, rows, pairs, work.spill, work.spare_pairs)
    return divide_pairs(codes, column, cut, rows, pairs, work.spill, work.spare_pairs)


@view_kernel
def grow_sums(blocks, stat, tables, rows, seed, rule, means, work, ints, reals):  # OUT: all but stat ... means
    """Grow a tree for means or classes with weights; the number of nodes.

    ``rule.share`` is one over the number of outputs, over which impurities are averaged.
    """
    stack, waiting, pairs, state, sums = work.stack, work.keyed, work.pairs, work.state, work.sums
    for p in range(rows.shape[0]):
        move_stats(stat, rows[p], pairs, p)
    push(stack, ZERO, ZERO, rows.shape[0], ZERO, -ONE, ZERO, ZERO)
    waiting[0, KEY] = seed
    top, n_nodes, square = ONE, ZERO, rule.scale * rule.scale * rule.share
    while top > 0:
        top -= 1
        i, key, start, end, depth = n_nodes, waiting[top, KEY], stack[top, START], stack[top, END], stack[top, DEPTH]
        level, mine, ours = stack[top, LEVEL], rows[start:end], pairs[start:end]
        n_nodes += 1
        link(stack[top, PARENT], stack[top, IS_LEFT], i, ints)
        weight, total, impurity = add_node(ours, i, rule, means, sums, reals)
        write_leaf(i, end - start, weight, impurity * square, ints, reals)
        if is_final(rule, end - start, weight, depth, impurity * square):
            continue
        totals, most = (weight, total), weight * impurity
        if len(tables) == 0:
            level = move_rows_nearer(blocks, level, mine)
            gain, j, left, cut, codes = search_random(blocks, level, mine, ours, totals, most, key, rule, means, work)
        else:
            level = move_nearer(blocks, level, mine)
            gain, j, left, right = search_sums(blocks[level], tables, mine, ours, totals, most, key, rule, means, work)
        if j < 0 or gain * square / rule.total_weight + EPSILON < rule.min_decrease:
            continue
        if len(tables) == 0:
            n_left = divide(codes, codes, left, mine, ours, means, work)
        else:
            cut = middle_of(tables, j, left, right)
            n_left = divide(work.codes[0, :0], blocks[level][j], left, mine, ours, means, work)
        write_split(i, j, cut, n_left, end - start, ints, reals)
        push(stack, top, start + n_left, end, depth + 1, i, ZERO, level)
        push(stack, top + 1, start, start + n_left, depth + 1, i, ONE, level)
        waiting[top, KEY] = child_key(key, RIGHT_SALT, state)
        waiting[top + 1, KEY] = child_key(key, LEFT_SALT, state)
        top += 2
    return n_nodes
