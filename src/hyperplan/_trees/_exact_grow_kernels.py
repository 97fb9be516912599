"""Growing one exact tree: search of a node's columns, division of its rows, depth-first and best-first order.

Columns are arrays of (value, row) pairs sorted by value (see the scans); every column holds the rows of a node in the
same range of positions, and a split partitions each column stably, so nothing is ever sorted again.  Random choices
of a node come from a key that its path from the root determines: they do not depend on the order of growth.

``kind`` is a tuple whose length says how nodes are searched (`MEAN` to `RANDOM_MEDIAN`).  Numba knows lengths of tuples
when it compiles and leaves out the other branches: a tree is compiled for its kind only, in a fraction of the time.
In the same way ``sets`` is an empty tuple without categorical columns.
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_uint64
from hyperplan._core.jit import inner_kernel, view_kernel
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
    mean_impurity,
    node_value,
    row_weight,
)
from hyperplan._trees._exact_median_kernels import (
    median_totals,
    random_median_score,
    rank_rows,
    scan_median,
)
from hyperplan._trees._exact_scan_kernels import (
    EXTRA,
    LEFT_CHILD,
    MISSING_LEFT,
    NODE,
    POSITION,
    RIGHT_CHILD,
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

MEAN, CLASSES, GENERAL, MEDIAN, RANDOM, RANDOM_MEDIAN = range(1, 7)  # kinds of search
START, END, DEPTH, PARENT, IS_LEFT, N_SPAN = range(6)
FEATURE, N_LEFT, BEST, N_FOUND = range(4)  # what was decided about a node, in `work.found`
UNIT = 1.0 / 9007199254740992.0  # 2^-53
LEFT_SALT, RIGHT_SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


@view_kernel
def child_key(key, left, state):  # OUT: state
    """Key of a child from its parent's."""
    state[0] = key ^ (LEFT_SALT if left else RIGHT_SALT)
    return next_uint64(state)


@inner_kernel
def count_missing(values, start, end, some):
    """Missing values at the end of a node's column (`some`: there may be any); -1 if the column is constant."""
    n_missing = 0
    if some:
        while n_missing < end - start and math.isnan(values[2 * (end - n_missing) - 1]):
            n_missing += 1
    if n_missing > 0:
        return -1 if n_missing == end - start else n_missing
    return -1 if values[2 * end - 1] <= values[2 * start + 1] + TIE else 0


@inner_kernel
def scan_features(columns, some, span, targets, rule, kind, tot, work, sets):  # OUT: work.cands
    """Scan features of the node's order, ``some = (first, last, until)``; where it stopped, and how many are usable.

    Features up to `last` are scanned, and on to `until` while all of them are constant.
    """
    start, end = span
    i, last, until = some
    usable = 0
    if len(sets) > 0:
        for c in range(i, until):
            j = work.order[c]
            if rule.twin[j] >= 0:
                order_categories(columns, j, rule.twin[j], start, end, targets, sets)
    plain = rule.labelled and rule.monotone.shape[0] == 0 and rule.min_weight <= 0.0
    mins = (rule.min_leaf, rule.min_weight)
    totals = (tot[WEIGHT], tot[HEAD + targets.mean_column], tot[LOWER], tot[UPPER])
    while i < until and (i < last or usable == 0):
        j, cand = work.order[i], work.cands[i]
        values, rows = columns.values[j], columns.rows[j]
        cand[SCORE] = -math.inf
        i += 1
        n_missing = count_missing(values, start, end, rule.missing[j] > 0)
        if n_missing < 0:
            continue
        usable += 1
        cst = np.intp(rule.monotone[j]) if rule.monotone.shape[0] > 0 else 0
        if len(kind) == MEAN:
            if plain and n_missing == 0:
                scan_labels(values, rows, start, end, mins[0], totals[1], cand)
            else:
                scan_mean(values, rows, start, end, n_missing, cst, targets.real, targets.weight, mins, totals, cand)
        elif len(kind) == CLASSES:
            scan_classes(values, rows, start, end, n_missing, cst, targets, rule, tot, work.sums, cand)
        elif len(kind) == GENERAL:
            scan_general(values, rows, start, end, n_missing, cst, targets, rule, tot, work.sums, cand)
        elif len(kind) == MEDIAN:
            scan_median(columns, j, start, end, n_missing, cst, targets, rule, tot, work.medians, cand)
        elif len(kind) == RANDOM:
            work.state[0] = work.state[1] ^ (np.uint64(j + 1) * LEFT_SALT)
            scan_random(values, rows, (start, end, n_missing), cst, targets, rule, tot, work.sums, work.state, cand)
        else:
            work.state[0] = work.state[1] ^ (np.uint64(j + 1) * LEFT_SALT)
            scan_random(values, rows, (start, end, n_missing), 0, targets, rule, tot, work.sums, work.state, cand)
            if cand[SCORE] > -math.inf:
                random_median_score(columns, j, (start, end, n_missing), cst, targets, rule, tot, work.goes_left, cand)
    return i, usable


@view_kernel
def draw_order(key, n_features, n_drawn, state, order):  # OUT: state, order
    """The first `n_drawn` features of a random order that the node's key determines."""
    for j in range(n_features):
        order[j] = j
    state[0] = key
    for i in range(min(n_drawn, n_features - 1)):
        k = i + np.intp((next_uint64(state) >> np.uint64(11)) * UNIT * (n_features - i))
        order[i], order[k] = order[k], order[i]


@view_kernel
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


@view_kernel
def partition(columns, start, end, goes_left, spill):  # OUT: columns, spill
    """Move the flagged rows to the front in each column of pairs, keeping the order on both sides."""
    for c in range(columns.shape[0]):
        pairs = columns[c]
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


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def decrease(tot, left, right, total_weight):
    """Impurity decrease of a split, weighted by the node's share of all rows."""
    w = tot[WEIGHT]
    return w / total_weight * (tot[IMPURITY] - right[WEIGHT] / w * right[IMPURITY] - left[WEIGHT] / w * left[IMPURITY])


@view_kernel
def is_final(rule, tot, n_rows, depth):
    """Whether a node is a leaf without a look at its columns."""
    small = n_rows < rule.min_split or n_rows < 2 * rule.min_leaf or tot[WEIGHT] < 2.0 * rule.min_weight
    return small or depth >= rule.max_depth or tot[IMPURITY] <= EPSILON


@inner_kernel
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
    divisor = 1.0 if rule.criterion == ABSOLUTE else tot[WEIGHT]
    mean_column = targets.mean_column if rule.monotone.shape[0] > 0 else -1
    node_value(tot, divisor, mean_column, targets.codes.shape[0] == 0, targets.centre, targets.scale, nodes.value[i])


@view_kernel
def fill_impurity(columns, j, start, end, goes_left, side, targets, rule, kind, tot):  # OUT: tot
    """Impurity (and medians) of one side of a node, from its sums and rows; side 2: of the whole node."""
    if len(kind) == MEDIAN or len(kind) == RANDOM_MEDIAN:
        median_totals(columns, start, end, goes_left, side, targets, rule, tot)
    elif rule.criterion == POISSON:
        tot[IMPURITY] = poisson_impurity(columns.rows[j], start, end, goes_left, side, targets, tot)
    else:
        tot[IMPURITY] = impurity(rule.criterion, tot, targets)


@inner_kernel
def divide(columns, best, span, targets, rule, kind, tot, work):  # OUT: work.goes_left, work.sums, work.found
    """Divide a node at candidate `best` of `work.cands`: flags, sums, impurities and bounds of both children.

    Returns the impurity decrease, weighted by the node's share of all rows; -inf if a child is empty.
    """
    start, end = span
    j, cand, goes_left = work.order[best], work.cands[best], work.goes_left
    rows, values = columns.rows[j], columns.values[j]
    left, right = work.sums[LEFT_CHILD], work.sums[RIGHT_CHILD]
    boundary, missing_left = start + np.intp(cand[POSITION]), cand[MISSING_LEFT] > 0.0
    codes, real, weight, stride = targets.codes, targets.real, targets.weight, targets.stride
    n_left = 0
    for p in range(start, end):
        flag = p < boundary or (missing_left and math.isnan(values[2 * p + 1]))
        goes_left[row_at(rows, p)] = flag
        n_left += flag
    first_missing = end if n_left == boundary - start else boundary + end - start - n_left
    for side in range(2):
        child = left if side == 1 else right
        clear_totals(child)
        child[LOWER], child[UPPER] = tot[LOWER], tot[UPPER]
        if side == 1:
            add_rows(rows, start, boundary, codes, real, weight, stride, child)
            add_rows(rows, first_missing, end, codes, real, weight, stride, child)
        else:
            add_rows(rows, boundary, first_missing, codes, real, weight, stride, child)
        if len(kind) == MEAN:
            child[IMPURITY] = mean_impurity(rule.criterion, child, targets.n_classes, targets.scale)
        else:
            fill_impurity(columns, j, start, end, goes_left, side, targets, rule, kind, child)
    if rule.monotone.shape[0] > 0 and rule.monotone[j] != 0:
        bound_children(rule.monotone[j], rule.criterion, HEAD + targets.mean_column, left, right)
    work.found[FEATURE], work.found[N_LEFT], work.found[BEST] = j, n_left, best
    return decrease(tot, left, right, rule.total_weight) if 0 < n_left < end - start else -math.inf


@view_kernel
def scan_some(columns, some, span, targets, rule, kind, tot, work, sets):  # OUT: work.cands
    """`scan_features` for Python."""
    return scan_features(columns, some, span, targets, rule, kind, tot, work, sets)


@view_kernel
def divide_node(columns, best, span, targets, rule, kind, tot, work):  # OUT: work
    """`divide` for Python."""
    return divide(columns, best, span, targets, rule, kind, tot, work)


@view_kernel
def record_node(nodes, i, tot, n_rows, targets, rule):  # OUT: nodes
    """`write_node` for Python."""
    write_node(nodes, i, tot, n_rows, targets, rule)


@inner_kernel
def push(span, start, end, depth, parent, is_left):  # OUT: span
    span[START], span[END], span[DEPTH], span[PARENT], span[IS_LEFT] = start, end, depth, parent, is_left


@inner_kernel
def find_split(columns, span, depth, targets, rule, kind, tot, work, sets):  # OUT: work
    """Impurity decrease of a node's best split, which stands with both children in `work`; -inf for a leaf.

    Up to `max_features` columns are scanned in random order, and on until one is not constant.
    """
    start, end = span
    if is_final(rule, tot, end - start, depth):
        return -math.inf
    d = rule.n_features
    if len(kind) == MEDIAN:
        rank_rows(columns, start, end, targets, rule)
    draw_order(work.state[1], d, d, work.state, work.order)
    visited = scan_features(columns, (0, rule.max_features, d), span, targets, rule, kind, tot, work, sets)[0]
    best = choose(work.cands, visited, rule.criterion)
    if best < 0:
        return -math.inf
    gain = divide(columns, best, span, targets, rule, kind, tot, work)
    return -math.inf if gain + EPSILON < rule.min_decrease else gain


@view_kernel
def grow_depth_first(columns, targets, rule, kind, stack, nodes, work, sets, progress):  # OUT: stack, nodes, progress
    """Grow from the stack until it is empty; returns early when `nodes` or `stack` must be made longer.

    ``progress = [nodes on the stack, nodes written, deepest level]``.
    """
    tot, left, right = work.sums[NODE], work.sums[LEFT_CHILD], work.sums[RIGHT_CHILD]
    while progress[0] > 0:
        if progress[1] >= nodes.feature.shape[0] or progress[0] + 1 >= stack.key.shape[0]:
            return
        progress[0] -= 1
        top, i = progress[0], progress[1]
        span = stack.span[top]
        start, end, depth, parent, is_left = span[START], span[END], span[DEPTH], span[PARENT], span[IS_LEFT]
        copy_vector(stack.tot[top], tot)
        key = stack.key[top]
        work.state[1] = key
        write_node(nodes, i, tot, end - start, targets, rule)
        progress[1] += 1
        progress[2] = max(progress[2], depth)
        if parent >= 0:
            children = nodes.children_left if is_left else nodes.children_right
            children[parent] = i
        gain = find_split(columns, (start, end), depth, targets, rule, kind, tot, work, sets)
        if gain != -math.inf:  # NaN where impurities overflow: still a split
            j, cand = work.found[FEATURE], work.cands[work.found[BEST]]
            nodes.feature[i], nodes.threshold[i] = j, cand[THRESHOLD]
            nodes.missing_go_to_left[i] = cand[MISSING_LEFT] > 0.0
            if len(sets) > 0 and rule.twin[j] >= 0:
                words = nodes.categories[i]
                nodes.threshold[i] = write_set(columns, rule.twin[j], start, end, work.goes_left, words)
            middle = start + work.found[N_LEFT]
            left_final = is_final(rule, left, middle - start, depth + 1)
            right_final = is_final(rule, right, end - middle, depth + 1)
            if not (left_final and right_final):
                partition(columns.pairs, start, end, work.goes_left, work.spill)
            right_key, left_key = child_key(key, False, work.state), child_key(key, True, work.state)
            push(stack.span[top], middle, end, depth + 1, i, 0)
            push(stack.span[top + 1], start, middle, depth + 1, i, 1)
            stack.key[top], stack.key[top + 1] = right_key, left_key
            copy_vector(right, stack.tot[top])
            copy_vector(left, stack.tot[top + 1])
            progress[0] += 2
