"""Growing one tree: partition rows, evaluate the children, keep the open nodes in a heap.

`advance` splits node after node in one call and returns only when a node is so large that its work is better shared
among threads; the caller then does `split_part` (threads share the rows) and `go_on_with_parts`, or `divide`, `branch`,
`expand` (they share the features) and `go_on`.  Sums are exact, so that all paths give the same bits.

Nodes of at most `rules.direct_rows` rows keep no histograms: those of their children are made from the rows, four
columns at a time, scanned in the first-level cache and forgotten (`expand_direct`).
"""

import numpy as np

from hyperplan._core.jit import kernel, prefetch, view_kernel
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees._boosting_nodes_kernels import (
    N_FREE,
    N_LEAVES,
    N_OPEN,
    bound_children,
    give_slot_back,
    may_split,
    new_node,
    open_features,
    pop,
    push,
    release,
    take_slot,
)
from hyperplan._trees._boosting_rows_kernels import divide, move_part, split_rows
from hyperplan._trees._boosting_scan_kernels import NO, YES, choose, rules_of, scan_buffers, scan_unit
from hyperplan._trees._histogram_kernels import (
    AHEAD,
    GROUP,
    HESSIAN,
    add_all_rows,
    add_lines,
    add_rows,
    count_rows,
)

DENSE = 10  # nodes with at least one row in so many are read column by column
SPAN = 8192  # rows whose derivatives stay in the cache from one column to the next


@kernel
def add_node_rows(packed, work, rows, start, stop, first, last, hist, counts, counted):  # OUT: hist, counts
    """Add rows[start:stop] to the histograms of words first .. last - 1 (and to their counts when `counted`)."""
    if work.lines.shape[0] > 0 and (stop - start) * DENSE < packed.shape[0]:
        add_lines(work.lines, packed, rows, start, stop, first, last, hist, counts, counted)
        return
    for low in range(start, stop, SPAN):
        high = min(low + SPAN, stop)
        for unit in range(first, last):
            place = slice(unit * WIDTH, unit * WIDTH + WIDTH)
            add_rows(work.words[unit], packed, rows, low, high, hist[place])
            if counted:
                count_rows(work.words[unit], rows, low, high, counts[place])


@kernel
def add_span(packed, work, start, stop, first, last, hist):  # OUT: hist
    """`add_node_rows` of the rows start .. stop - 1 themselves."""
    for low in range(start, stop, SPAN):
        for unit in range(first, last):
            place = slice(unit * WIDTH, unit * WIDTH + WIDTH)
            add_all_rows(work.words[unit], packed, low, min(low + SPAN, stop), hist[place])


@kernel
def fill_histograms(packed, nodes, work, node, n_parts, first, last, counted):  # OUT: work
    """Histograms of `node` for words first .. last - 1: the sum of those of its parts; from its rows if n_parts = 0.

    counted: also numbers of rows (from rows only).
    """
    start, stop, slot = nodes.start[node], nodes.stop[node], nodes.slot[node]
    place = slice(first * WIDTH, last * WIDTH)
    if n_parts > 0:
        for c in range(first * WIDTH, last * WIDTH):
            for b in range(work.hist.shape[2]):
                total = np.int64(0)
                for part in range(n_parts):
                    total += work.parts[part, c, b]
                work.hist[slot, c, b] = total
        return
    work.hist[slot, place] = 0
    if counted:
        work.counts[slot, place] = 0
    if stop - start == packed.shape[0] and not counted:
        add_span(packed, work, start, stop, first, last, work.hist[slot])
        return
    counts = work.counts[slot if counted else 0]
    add_node_rows(packed, work, work.rows, start, stop, first, last, work.hist[slot], counts, counted)


@view_kernel
def subtract(part, unit, hist):  # OUT: hist
    """hist -= part for the four columns of a word."""
    for c in range(unit * WIDTH, unit * WIDTH + WIDTH):
        for b in range(hist.shape[1]):
            hist[c, b] -= part[c, b]


@kernel
def expand(data, packed, nodes, rules, constraints, work, small, large, n_parts, first, last):  # OUT: work
    """Histograms and best splits of two siblings for words first .. last - 1.

    The rows of `small` are visited (or were, in `n_parts` parts); the histogram of `large`, which still holds the
    parent's, is reduced by them.  large = -1: one node alone (the root).  A node that may not be split needs no scan.
    """
    if nodes.slot[small] < 0:
        expand_direct(data, packed, nodes, rules, constraints, work, small, large, first, last)
        return
    buffers = scan_buffers(work)
    scan_large = large >= 0 and may_split(nodes, large, rules)
    scan_small = may_split(nodes, small, rules)
    small_rules = rules_of(packed, nodes, small, rules, work)
    large_rules = rules_of(packed, nodes, large, rules, work) if large >= 0 else rules
    for group in range(first, last, GROUP):  # few enough to stay in the cache from one step to the next
        stop = min(group + GROUP, last)
        fill_histograms(packed, nodes, work, small, n_parts, group, stop, NO)
        for unit in range(group, stop):
            place = slice(unit * WIDTH, unit * WIDTH + WIDTH)
            if scan_large:
                hist = work.hist[nodes.slot[large]]
                subtract(work.hist[nodes.slot[small]], unit, hist)
                scan_unit(data, nodes, large, YES, unit, hist[place], large_rules, constraints, work, buffers)
            if scan_small:
                hist = work.hist[nodes.slot[small]]
                scan_unit(data, nodes, small, NO, unit, hist[place], small_rules, constraints, work, buffers)


@view_kernel
def gather_words(work, start, stop, first, n_words, block):  # OUT: block
    """block[u, i] is word first + u of row rows[start + i]."""
    rows = work.rows[start:stop]
    if work.lines.shape[0] == 0:
        for u in range(n_words):
            words, target = work.words[first + u], block[u]
            for i in range(rows.shape[0]):
                target[i] = words[rows[i]]
        return
    columns = work.lines[:, first : first + n_words]
    for i in range(rows.shape[0]):
        prefetch(columns, rows[min(i + AHEAD, rows.shape[0] - 1)])
        for u in range(n_words):
            block[u, i] = columns[rows[i], u]


@kernel
def expand_direct(data, packed, nodes, rules, constraints, work, small, large, first, last):  # OUT: work
    """`expand` of nodes with few rows, both from their rows; the histograms of four columns at a time are all there is.

    Rows of siblings lie side by side, so that one gather serves both.
    """
    buffers = scan_buffers(work)
    start, stop = nodes.start[small], nodes.stop[small]
    if large >= 0:
        start, stop = min(start, nodes.start[large]), max(stop, nodes.stop[large])
    values, block = np.empty(stop - start, np.int64), np.empty((GROUP, stop - start), np.uint32)
    hist = np.empty((WIDTH, work.hist.shape[2]), np.int64)
    small_rules = rules_of(packed, nodes, small, rules, work)
    large_rules = rules_of(packed, nodes, large, rules, work) if large >= 0 else rules
    for i in range(stop - start):
        values[i] = packed[work.rows[start + i]]
    for group in range(first, last, GROUP):
        n_words = min(GROUP, last - group)
        gather_words(work, start, stop, group, n_words, block)
        for u in range(n_words):
            for side in range(1 + np.int64(large >= 0)):
                node, own = (small, small_rules) if side == 0 else (large, large_rules)
                if may_split(nodes, node, rules):
                    hist[:] = 0
                    add_all_rows(block[u], values, nodes.start[node] - start, nodes.stop[node] - start, hist)
                    scan_unit(data, nodes, node, side, group + u, hist, own, constraints, work, buffers)


@kernel
def settle(data, packed, nodes, node, side, rules, constraints, work):  # OUT: nodes, work
    """Choose among the features' splits; the node becomes open, or stays a leaf.

    Its histogram is kept only for an open node whose children will be made from it.
    """
    feature = choose(data, packed, nodes, node, side, rules, constraints, work)
    if feature < 0:
        release(nodes, node, work)
        return
    nodes.gain[node], nodes.feature[node] = work.found_gain[side, feature], feature
    nodes.bin[node], nodes.missing_left[node] = work.found_bin[side, feature], work.found_missing[side, feature]
    nodes.left_packed[node] = work.found_left[side, feature]
    for j in range(8):
        nodes.chosen[node, j] = work.found_chosen[side, feature, j]
    if nodes.stop[node] - nodes.start[node] <= rules.direct_rows:
        give_slot_back(nodes, node, work)
    push(nodes, node, rules, work)


@view_kernel
def plant(nodes, rules, constraints, work, n_rows, packed):  # OUT: nodes, work
    """Start a tree: the root holds all rows.  Returns whether it may be split."""
    work.state[:4] = 0
    n_slots = work.hist.shape[0]
    for slot in range(n_slots):
        work.free[slot] = n_slots - 1 - slot
    work.state[N_FREE] = n_slots
    root = new_node(nodes, work, -1, 0, n_rows, packed)
    nodes.groups[root] = 1
    work.state[N_LEAVES] = 1
    if not may_split(nodes, root, rules) or rules.max_leaves < 2:
        return False
    if n_rows > rules.direct_rows:
        nodes.slot[root] = take_slot(work)
    open_features(nodes, root, rules, constraints, work, work.allowed[0])
    return True


@view_kernel
def lighter_side(nodes, node, rules, work):
    """The side of a node's split with less hessian, whose rows to visit: 0 left, 1 right; -1 if no child needs it."""
    if work.state[N_LEAVES] + 1 >= rules.max_leaves or nodes.depth[node] + 1 >= rules.max_depth:
        return -1
    left = nodes.left_packed[node] & HESSIAN
    return np.int64(2 * left > (nodes.packed[node] & HESSIAN))


@kernel
def split_part(data, packed, nodes, node, rules, work, filled, part, start, stop):  # OUT: work
    """Partition rows[start:stop] into work.scratch; n_left.  `filled`: the lighter side into histograms of `part`."""
    left, right = work.scratch[0], work.scratch[1]
    n_left = split_rows(data, nodes, node, work.rows, start, stop, left[start:stop], right[start:stop])
    side = lighter_side(nodes, node, rules, work) if filled else np.int64(-1)
    if side >= 0:
        last = start + n_left if side == 0 else stop - n_left
        hist = work.parts[part]
        hist[:] = 0
        add_node_rows(
            packed, work, work.scratch[side], start, last, NO, np.int64(work.words.shape[0]), hist, work.counts[0], NO
        )  # fmt: skip
    return n_left


@kernel
def add_whole_part(packed, work, part, start, stop):  # OUT: work
    """Histograms of the rows start .. stop - 1 themselves, all words, as those of `part`."""
    work.parts[part] = 0
    add_span(packed, work, start, stop, NO, np.int64(work.words.shape[0]), work.parts[part])


@view_kernel
def branch(nodes, node, n_left, side, rules, constraints, work):  # OUT: nodes, work
    """Make the children of a node whose rows are partitioned; `side` was visited (0 left, 1 right, -1 none yet).

    Returns (small, large) to expand, or (-1, -1) if there is nothing to evaluate.
    """
    start, stop = nodes.start[node], nodes.stop[node]
    n_right = stop - start - n_left
    total, left_sum, feature = nodes.packed[node], nodes.left_packed[node], nodes.feature[node]
    left = new_node(nodes, work, node, start, start + n_left, left_sum)
    right = new_node(nodes, work, node, start + n_left, stop, total - left_sum)
    nodes.left[node], nodes.right[node] = left, right
    if constraints.monotone[feature] != 0:
        bound_children(nodes, node, rules, constraints.monotone[feature])
    for g in range(constraints.groups.shape[0]):
        still = nodes.groups[node, g] & constraints.groups[g, feature]
        nodes.groups[left, g], nodes.groups[right, g] = still, still
    work.state[N_LEAVES] += 1
    full = work.state[N_LEAVES] >= rules.max_leaves
    if full or not (may_split(nodes, left, rules) or may_split(nodes, right, rules)):
        release(nodes, node, work)
        nodes.feature[node] = feature
        return -1, -1
    visit_left = n_left <= n_right if side < 0 else side == 0
    small, large = (left, right) if visit_left else (right, left)
    if nodes.slot[node] >= 0:
        nodes.slot[large], nodes.slot[small] = nodes.slot[node], take_slot(work)
        nodes.slot[node] = -1
    open_features(nodes, small, rules, constraints, work, work.allowed[0])
    open_features(nodes, large, rules, constraints, work, work.allowed[1])
    return small, large


@kernel
def finish(data, packed, nodes, small, large, rules, constraints, work):  # OUT: nodes, work
    """After `expand` of all units: choose the best split of each of the two nodes (the left one first)."""
    for node in range(min(small, large) if large >= 0 else small, max(small, large) + 1):
        if may_split(nodes, node, rules):
            settle(data, packed, nodes, node, 0 if node == small else 1, rules, constraints, work)
        else:
            release(nodes, node, work)


@kernel
def advance(data, packed, nodes, rules, constraints, work, serial_cost):  # OUT: nodes, work
    """Split open nodes until there is none (returns -1), or one whose cost exceeds `serial_cost` (returns it)."""
    n_units = work.words.shape[0]
    per_row = 2.0 + n_units
    fixed = 8.0 * n_units * work.hist.shape[2]
    while work.state[N_OPEN] > 0 and work.state[N_LEAVES] < rules.max_leaves:
        node = pop(work)
        start, stop = nodes.start[node], nodes.stop[node]
        if (stop - start) * per_row + fixed > serial_cost:
            return node
        n_left = divide(data, nodes, node, work)
        small, large = branch(nodes, node, n_left, -YES, rules, constraints, work)
        if small >= 0:
            expand(data, packed, nodes, rules, constraints, work, small, large, NO, NO, n_units)
            finish(data, packed, nodes, small, large, rules, constraints, work)
    return -1


@kernel
def go_on(data, packed, nodes, rules, constraints, work, pair, serial_cost):  # OUT: nodes, work
    """`finish` of the two nodes of `pair`, if any, then `advance`."""
    if pair[0] >= 0:
        finish(data, packed, nodes, pair[0], pair[1], rules, constraints, work)
    return advance(data, packed, nodes, rules, constraints, work, serial_cost)


@kernel
def go_on_with_parts(data, packed, nodes, rules, constraints, work, node, bounds, n_left, serial_cost):
    # OUT: nodes, work
    """After `split_part` of all parts of a node, its children and `go_on`.

    In one thread: what the others have in their caches is dear to fetch, and so are two more calls.
    """
    all_left = np.int64(0)
    for part in range(n_left.shape[0]):
        all_left += n_left[part]
        move_part(work, bounds, n_left, part)
    side, n_words = lighter_side(nodes, node, rules, work), np.int64(work.words.shape[0])
    pair = branch(nodes, node, all_left, side, rules, constraints, work)
    if pair[0] >= 0:
        n_parts = np.int64(n_left.shape[0])
        expand(data, packed, nodes, rules, constraints, work, pair[0], pair[1], n_parts, NO, n_words)
    return go_on(data, packed, nodes, rules, constraints, work, pair, serial_cost)


@kernel
def grow_alone(data, packed, nodes, rules, constraints, work, n_rows, total):  # OUT: nodes, work
    """A whole tree in one call, for one thread."""
    if plant(nodes, rules, constraints, work, n_rows, total):
        expand(data, packed, nodes, rules, constraints, work, NO, -YES, NO, NO, np.int64(work.words.shape[0]))
        finish(data, packed, nodes, NO, -YES, rules, constraints, work)
        advance(data, packed, nodes, rules, constraints, work, np.inf)
