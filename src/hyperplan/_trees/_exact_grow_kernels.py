"""Growing one exact tree: search of a node's columns, division of its rows, depth-first and best-first order.

Columns are arrays of (value, row) pairs sorted by value (see the scans); every column holds the rows of a node in the
same range of positions, and a split partitions each column stably, so nothing is ever sorted again.  Random choices
of a node come from a key that its path from the root determines: they do not depend on the order of growth.
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_below, next_uint64
from hyperplan._core.jit import kernel
from hyperplan._trees._categorical_kernels import order_categories, write_set
from hyperplan._trees._criterion_kernels import (
    ABSOLUTE,
    EPSILON,
    GAIN_RATIO,
    HEAD,
    IMPURITY,
    LOWER,
    POISSON,
    UPPER,
    WEIGHT,
    clear_totals,
    copy_vector,
    impurity,
    node_value,
    row_weight,
)
from hyperplan._trees._exact_median_kernels import median_totals, random_median_score, rank_rows, scan_median
from hyperplan._trees._exact_scan_kernels import (
    EXTRA,
    MISSING_LEFT,
    POSITION,
    ROUNDING,
    SCORE,
    THRESHOLD,
    TIE,
    add_rows,
    row_at,
    scan_classes,
    scan_general,
    scan_labels,
    scan_mean,
    scan_random,
)

MEAN, CLASSES, GENERAL, MEDIAN = range(4)  # kinds of scan
START, END, DEPTH, PARENT, IS_LEFT, N_SPAN = range(6)
LEFT_SALT, RIGHT_SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


@kernel
def child_key(key, left, state):  # OUT: state
    """Key of a child from its parent's."""
    state[0] = key ^ (LEFT_SALT if left else RIGHT_SALT)
    return next_uint64(state)


@kernel
def count_missing(values, start, end):
    n_missing = 0
    while n_missing < end - start and math.isnan(values[2 * (end - n_missing) - 1]):
        n_missing += 1
    return n_missing


@kernel
def is_constant(values, start, end, n_missing):
    """All values equal and none missing, or all missing."""
    if n_missing > 0:
        return n_missing == end - start
    return values[2 * end - 1] <= values[2 * start + 1] + TIE


@kernel
def scan_means(columns, order, some, span, y, weight, missing, monotone, mins, totals, cands):  # OUT: cands
    """`scan_mean` or `scan_labels` over features ``some = (first, last, until)``; scanned and usable ones.

    At least the features up to `last` are scanned, at most those up to `until`, to find one that is not constant.
    """
    first, last, until, labelled = some
    start, end = span
    usable, i = 0, first
    plain = labelled and monotone.shape[0] == 0 and mins[1] <= 0.0
    while i < until and (i < last or usable == 0):
        j = order[i]
        values, rows, cand = columns.values[j], columns.rows[j], cands[i]
        cand[SCORE] = -math.inf
        i += 1
        n_missing = count_missing(values, start, end) if missing[j] > 0 else 0
        if is_constant(values, start, end, n_missing):
            continue
        usable += 1
        if plain and n_missing == 0:
            scan_labels(values, rows, start, end, mins[0], totals[1], cand)
        else:
            cst = np.intp(monotone[j]) if monotone.shape[0] > 0 else 0
            scan_mean(values, rows, start, end, n_missing, cst, y, weight, mins, totals, cand)
    return i, usable


@kernel
def scan_features(columns, first, last, until, span, targets, rule, tot, work):  # OUT: work.cands
    """Scan features of the node's order from `first` to `last`, and on to `until` while all of them are constant.

    Returns where it stopped and how many of the features are not constant.
    """
    start, end = span
    if rule.twin.shape[0] > 0:
        for i in range(first, until):
            j = work.order[i]
            if rule.twin[j] >= 0:
                order_categories(columns, j, rule.twin[j], start, end, targets, work)
    if rule.kind == MEAN and not rule.random:
        y = targets.real.reshape(targets.real.size)
        mins = (rule.min_leaf, rule.min_weight)
        totals = (tot[WEIGHT], tot[HEAD + targets.mean_column], tot[LOWER], tot[UPPER])
        some = (first, last, until, rule.labelled)
        order, cands, weight = work.order, work.cands, targets.weight
        return scan_means(columns, order, some, span, y, weight, rule.missing, rule.monotone, mins, totals, cands)
    usable, i = 0, first
    while i < until and (i < last or usable == 0):
        j, cand = work.order[i], work.cands[i]
        values, rows = columns.values[j], columns.rows[j]
        cand[SCORE] = -math.inf
        i += 1
        n_missing = count_missing(values, start, end) if rule.missing[j] > 0 else 0
        if is_constant(values, start, end, n_missing):
            continue
        usable += 1
        cst = np.intp(rule.monotone[j]) if rule.monotone.shape[0] > 0 else 0
        if rule.random:
            work.state[0] = work.key[0] ^ (np.uint64(j + 1) * LEFT_SALT)
            by_mean = cst if rule.kind != MEDIAN else 0
            scan_random(values, rows, start, end, n_missing, by_mean, targets, rule, tot, work, cand)
            if rule.kind == MEDIAN and cand[SCORE] > -math.inf:
                random_median_score(columns, j, (start, end, n_missing), cst, targets, rule, tot, work, cand)
        elif rule.kind == CLASSES:
            scan_classes(values, rows, start, end, n_missing, cst, targets, rule, tot, work, cand)
        elif rule.kind == MEDIAN:
            scan_median(columns, j, start, end, n_missing, cst, targets, rule, tot, work, cand)
        else:
            scan_general(values, rows, start, end, n_missing, cst, targets, rule, tot, work, cand)
    return i, usable


@kernel
def draw_order(key, n_features, n_drawn, state, order):  # OUT: state, order
    """The first `n_drawn` features of a random order that the node's key determines."""
    for j in range(n_features):
        order[j] = j
    state[0] = key
    for i in range(min(n_drawn, n_features - 1)):
        k = i + next_below(state, n_features - i)
        order[i], order[k] = order[k], order[i]


@kernel
def choose(cands, n_scanned, criterion):
    """Position of the winning candidate in the order of scanning, -1 without one; the first of equals wins.

    Gain ratio (C4.5): the best ratio among the features whose gain is positive and at least average.
    """
    best, found = -math.inf, -1
    if criterion != GAIN_RATIO:
        for i in range(n_scanned):
            if cands[i, SCORE] > best:
                best, found = cands[i, SCORE] + ROUNDING * abs(cands[i, SCORE]), i
        return found
    total, count = 0.0, 0
    for i in range(n_scanned):
        if cands[i, SCORE] > EPSILON:
            total += cands[i, SCORE]
            count += 1
    for i in range(n_scanned):
        enough = cands[i, SCORE] > EPSILON and cands[i, SCORE] * count >= total * (1.0 - ROUNDING)
        if enough and cands[i, EXTRA] > best:
            best, found = cands[i, EXTRA] + ROUNDING * abs(cands[i, EXTRA]), i
    return found


@kernel
def mark(columns, j, start, end, cand, goes_left):  # OUT: goes_left; returns the number of rows on the left
    """Flag the rows that a split of column j sends to the left."""
    rows, values = columns.rows[j], columns.values[j]
    boundary, missing_left = start + np.intp(cand[POSITION]), cand[MISSING_LEFT] > 0.0
    n_left = 0
    for p in range(start, end):
        left = p < boundary or (missing_left and math.isnan(values[2 * p + 1]))
        goes_left[row_at(rows, p)] = left
        n_left += left
    return n_left


@kernel
def partition(columns, first, last, start, end, goes_left, spill):  # OUT: columns, spill
    """Move the flagged rows to the front in columns [first, last), keeping the order on both sides."""
    for c in range(first, last):
        pairs = columns.pairs[c]
        left, right = start, 0
        for p in range(start, end):
            pair = pairs[p]
            flag = np.intp(goes_left[pair & 0x7FFFFFFF])
            pairs[left] = pair
            spill[right] = pair
            left += flag
            right += 1 - flag
        for i in range(right):
            pairs[left + i] = spill[i]


@kernel
def poisson_impurity(rows, start, end, goes_left, side, targets, tot):
    """Mean of ``y log(y / mean)`` over the rows of one side (side 2: all) and the outputs."""
    q, found = targets.n_classes.shape[0], 0.0
    real, weight = targets.real, targets.weight
    for k in range(q):
        if tot[HEAD + k] <= EPSILON:
            return math.inf
        mean = tot[HEAD + k] / tot[WEIGHT]
        for p in range(start, end):
            row = row_at(rows, p)
            y = real[row, k]
            if y > 0.0 and (side == 2 or goes_left[row] == side):
                found += row_weight(weight, row) * y * math.log(y / mean)
    return targets.scale * found / (tot[WEIGHT] * q)


@kernel
def root_totals(columns, start, end, targets, rule, work, tot):  # OUT: tot
    """Sums, impurity and (absent) bounds of the root."""
    clear_totals(tot)
    tot[LOWER], tot[UPPER] = -math.inf, math.inf
    rows = columns.rows[0]
    add_rows(rows, start, end, targets, tot)
    if rule.criterion == ABSOLUTE:
        median_totals(columns, start, end, work.goes_left, 2, targets, rule, tot)
    elif rule.criterion == POISSON:
        tot[IMPURITY] = poisson_impurity(rows, start, end, work.goes_left, 2, targets, tot)
    else:
        tot[IMPURITY] = impurity(rule.criterion, tot, targets)


@kernel
def divide(columns, j, start, end, targets, rule, tot, cand, work):  # OUT: work.goes_left, work.lower, work.upper
    """Flag the rows of the left child; sums, impurities and bounds of both; number of rows on the left."""
    left, right, rows = work.left_tot, work.right_tot, columns.rows[j]
    n_left = mark(columns, j, start, end, cand, work.goes_left)
    clear_totals(left)
    clear_totals(right)
    boundary, first_missing = start + np.intp(cand[POSITION]), start + np.intp(cand[POSITION]) + end - start - n_left
    if n_left == boundary - start:
        first_missing = end
    add_rows(rows, start, boundary, targets, left)
    add_rows(rows, boundary, first_missing, targets, right)
    add_rows(rows, first_missing, end, targets, left)
    for side in range(2):
        child = left if side == 1 else right
        child[LOWER], child[UPPER] = tot[LOWER], tot[UPPER]
        if rule.criterion == ABSOLUTE:
            median_totals(columns, start, end, work.goes_left, side, targets, rule, child)
        elif rule.criterion == POISSON:
            child[IMPURITY] = poisson_impurity(rows, start, end, work.goes_left, side, targets, child)
        else:
            child[IMPURITY] = impurity(rule.criterion, child, targets)
    if rule.monotone.shape[0] > 0 and rule.monotone[j] != 0:
        bound_children(rule.monotone[j], rule.criterion, HEAD + targets.mean_column, left, right)
    return n_left


@kernel
def bound_children(cst, criterion, i, left, right):  # OUT: left, right
    """The middle of the children's values (from sum i) separates all values below them."""
    if criterion == ABSOLUTE:
        middle = 0.5 * left[i] + 0.5 * right[i]
    else:
        middle = 0.5 * left[i] / left[WEIGHT] + 0.5 * right[i] / right[WEIGHT]
    if cst > 0:
        left[UPPER], right[LOWER] = middle, middle
    else:
        left[LOWER], right[UPPER] = middle, middle


@kernel
def decrease(tot, left, right, total_weight):
    """Impurity decrease of a split, weighted by the node's share of all rows."""
    w = tot[WEIGHT]
    return w / total_weight * (tot[IMPURITY] - right[WEIGHT] / w * right[IMPURITY] - left[WEIGHT] / w * left[IMPURITY])


@kernel
def is_final(rule, tot, n_rows, depth):
    """Whether a node is a leaf without a look at its columns."""
    small = n_rows < rule.min_split or n_rows < 2 * rule.min_leaf or tot[WEIGHT] < 2.0 * rule.min_weight
    return small or depth >= rule.max_depth or tot[IMPURITY] <= EPSILON


@kernel
def write_node(nodes, i, tot, n_rows, targets, rule):  # OUT: nodes
    """Record a node as a leaf."""
    nodes.children_left[i] = -1
    nodes.children_right[i] = -1
    nodes.feature[i] = -2
    nodes.threshold[i] = -2.0
    nodes.missing_go_to_left[i] = 0
    nodes.impurity[i] = tot[IMPURITY]
    nodes.n_node_samples[i] = n_rows
    nodes.weighted_n_node_samples[i] = tot[WEIGHT]
    node_value(rule.criterion, tot, targets, rule.monotone.shape[0] > 0, nodes.value[i])


@kernel
def write_split(nodes, i, feature, cand, columns, start, end, rule, work):  # OUT: nodes
    """Record a split, before its rows are moved; for categories the threshold is how many of them go left."""
    nodes.feature[i] = feature
    nodes.threshold[i] = cand[THRESHOLD]
    nodes.missing_go_to_left[i] = cand[MISSING_LEFT] > 0.0
    if rule.twin.shape[0] > 0 and rule.twin[feature] >= 0:
        words = nodes.categories[i]
        nodes.threshold[i] = write_set(columns, rule.twin[feature], start, end, work.goes_left, words)


@kernel
def find_split(columns, start, end, depth, targets, rule, tot, work):  # OUT: work; work.found = feature, rows left
    """Decide a node: False for a leaf, else the split, its gain and both children stand in `work`.

    Up to `max_features` columns are scanned in random order, and on until one is not constant.
    """
    if is_final(rule, tot, end - start, depth):
        return False
    d = rule.n_features
    if rule.kind == MEDIAN:
        rank_rows(columns, start, end, targets, rule)
    draw_order(work.key[0], d, d, work.state, work.order)
    visited = scan_features(columns, 0, rule.max_features, d, (start, end), targets, rule, tot, work)[0]
    best = choose(work.cands, visited, rule.criterion)
    if best < 0:
        return False
    return accept(columns, best, start, end, targets, rule, tot, work)


@kernel
def accept(columns, best, start, end, targets, rule, tot, work):  # OUT: work
    """Divide a node at candidate `best` of `work.cands`; False if the impurity decreases too little."""
    cand = work.cands[best]
    j = work.order[best]
    n_left = divide(columns, j, start, end, targets, rule, tot, cand, work)
    copy_vector(cand, work.best)
    work.found[0], work.found[1] = j, n_left
    work.gain[0] = decrease(tot, work.left_tot, work.right_tot, rule.total_weight)
    enough = not work.gain[0] + EPSILON < rule.min_decrease
    return enough and 0 < n_left < end - start


@kernel
def push(stack, top, start, end, depth, parent, is_left, key, tot):  # OUT: stack
    span = stack.span[top]
    span[START], span[END], span[DEPTH], span[PARENT], span[IS_LEFT] = start, end, depth, parent, is_left
    stack.key[top] = key
    copy_vector(tot, stack.tot[top])


@kernel
def grow_depth_first(columns, targets, rule, stack, nodes, work, progress):  # OUT: stack, nodes, progress
    """Grow from the stack until it is empty; returns early when `nodes` or `stack` must be made longer.

    ``progress = [nodes on the stack, nodes written, deepest level]``.
    """
    tot = work.tot
    n_columns = columns.pairs.shape[0]
    while progress[0] > 0:
        if progress[1] >= nodes.feature.shape[0] or progress[0] + 1 >= stack.key.shape[0]:
            return
        progress[0] -= 1
        top, i = progress[0], progress[1]
        span = stack.span[top]
        start, end, depth, parent, is_left = span[START], span[END], span[DEPTH], span[PARENT], span[IS_LEFT]
        copy_vector(stack.tot[top], tot)
        work.key[0] = stack.key[top]
        write_node(nodes, i, tot, end - start, targets, rule)
        progress[1] += 1
        progress[2] = max(progress[2], depth)
        if parent >= 0:
            if is_left:
                nodes.children_left[parent] = i
            else:
                nodes.children_right[parent] = i
        key = work.key[0]
        if find_split(columns, start, end, depth, targets, rule, tot, work):
            write_split(nodes, i, work.found[0], work.best, columns, start, end, rule, work)
            middle = start + work.found[1]
            left_final = is_final(rule, work.left_tot, middle - start, depth + 1)
            right_final = is_final(rule, work.right_tot, end - middle, depth + 1)
            if not (left_final and right_final):
                partition(columns, 0, n_columns, start, end, work.goes_left, work.spill)
            right_key, left_key = child_key(key, False, work.state), child_key(key, True, work.state)
            push(stack, top, middle, end, depth + 1, i, 0, right_key, work.right_tot)
            push(stack, top + 1, start, middle, depth + 1, i, 1, left_key, work.left_tot)
            progress[0] += 2
