"""Growing one tree: partition rows, evaluate the children, keep the open nodes in a heap.

`advance` splits node after node in one call and returns only when a node is so large that its work is better shared
among threads; the caller then does `split_part` and `join_parts` (threads share the rows) or `divide` (they share the
features), then `branch`, `expand` and `finish` itself.  Sums are exact, so that all paths give the same bits.

Numbers of rows are not in the histograms.  A side whose hessian reaches `rules.safe_hessian` has enough rows; only
if the best split of a node is not of that kind, rows are counted, for its feature alone (`settle`).
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees._boosting_nodes_kernels import (
    N_FREE,
    N_LEAVES,
    N_OPEN,
    bound_children,
    may_split,
    new_node,
    open_features,
    pop,
    push,
    release,
    take_slot,
)
from hyperplan._trees._boosting_rows_kernels import divide, split_rows
from hyperplan._trees._bundle_kernels import unbundle
from hyperplan._trees._histogram_kernels import (
    GROUP,
    HESSIAN,
    ROUNDING,
    TINY,
    add_all_rows,
    add_lines,
    add_rows,
    count_rows,
    scan_bounded,
    scan_categories,
    scan_numbers,
)

NO, YES = np.int64(0), np.int64(1)  # a literal 0 handed to a kernel would compile one more version of it
DENSE = 10  # nodes with at least one row in so many are read column by column


@kernel
def facts_of(nodes, node, counted):
    """What scans need to know of a node."""
    n_rows = nodes.stop[node] - nodes.start[node]
    return nodes.packed[node], n_rows, counted, nodes.lower[node], nodes.upper[node]


@kernel
def scan_feature(data, nodes, node, side, f, rules, constraints, work, counts, counted, buffers):  # OUT: work (found)
    """Best split of feature f at `node`, into row `side` of the found_ arrays; exact about rows when `counted`."""
    prefix, gains, order, own = buffers
    facts = facts_of(nodes, node, counted)
    out = (work.found_gain[side], work.found_bin[side], work.found_missing[side], work.found_left[side])
    hist = work.hist[nodes.slot[node], work.column[f]]
    n_bins, missing, missing_bin = data.n_bins[f], np.int64(data.has_missing[f]), data.missing_bin
    if work.usual[f] >= 0:
        unbundle(hist, nodes.packed[node], work.offset[f], work.usual[f], n_bins, own)
        hist = own
    monotone = constraints.monotone[f]
    if data.categorical[f]:
        chosen = work.found_chosen[side, f]
        scan_categories(
            hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, (gains, order), f, out, chosen
        )  # fmt: skip
    elif monotone != 0 or nodes.lower[node] > -np.inf or nodes.upper[node] < np.inf:
        scan_bounded(hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, f, out)
    else:
        scan_numbers(hist, counts, n_bins, missing, missing_bin, facts, rules, (prefix, gains, order), f, out)


@kernel
def scan_free(hist, counts, shape, facts, rules, buffers, f, out):  # OUT: buffers, out
    """`scan_feature` of numbers without constraints: many features a node, so that the arguments are few.

    hist: that of the column.  shape: (n_bins, has_missing, missing_bin, offset, usual).
    """
    n_bins, missing, missing_bin, offset, usual = shape
    prefix, gains, order, own = buffers
    if usual >= 0:
        unbundle(hist, facts[0], offset, usual, n_bins, own)
        hist = own
    scan_numbers(hist, counts, n_bins, missing, missing_bin, facts, rules, (prefix, gains, order), f, out)


@kernel
def is_indicator(data, f):
    return data.n_bins[f] == 2 and not data.has_missing[f] and not data.categorical[f]


@kernel
def scan_two_bins(nodes, node, side, f, rules, work):  # OUT: work (found)
    """`scan_feature` of a feature with two bins (an indicator, say) and no constraint."""
    total, code = nodes.packed[node], work.offset[f]
    left = work.hist[nodes.slot[node], work.column[f], code]
    if work.usual[f] == 0:  # the histogram of the column has the other bin only
        left = total - left
    right = total - left
    g, h = np.float64(total >> 32), np.float64(total & HESSIAN)
    g_left, h_left = np.float64(left >> 32), np.float64(left & HESSIAN)
    g_right, h_right = np.float64(right >> 32), np.float64(right & HESSIAN)
    l2, parent = rules.l2 + TINY, g * g / (h + rules.l2 + TINY)
    a, c = h_left + l2, h_right + l2
    gain = (g_left * g_left * c + g_right * g_right * a) / (a * c)
    enough = h_left >= rules.min_hessian and h_right >= rules.min_hessian and left != 0 and right != 0
    better = enough and gain > parent * (1.0 + ROUNDING) + rules.min_gain
    work.found_gain[side, f] = gain - parent if better else -1.0
    work.found_bin[side, f], work.found_missing[side, f], work.found_left[side, f] = 0, 0, left


@kernel
def scan_unit(data, nodes, node, side, unit, rules, constraints, work, buffers):  # OUT: work (found)
    """Best split of each feature of four columns at `node`, into row `side` of the found_ arrays."""
    last = min(unit * WIDTH + WIDTH, work.member_start.shape[0] - 1)
    simple = nodes.lower[node] == -np.inf and nodes.upper[node] == np.inf
    hist, counts, facts = work.hist[nodes.slot[node]], work.counts[0, 0], facts_of(nodes, node, NO)
    out = (work.found_gain[side], work.found_bin[side], work.found_missing[side], work.found_left[side])
    for m in range(work.member_start[unit * WIDTH], work.member_start[last]):
        f = work.member[m]
        if not work.allowed[side, f] or data.n_bins[f] + data.has_missing[f] < 2:
            work.found_gain[side, f] = -1.0
        elif simple and is_indicator(data, f) and constraints.monotone[f] == 0:
            scan_two_bins(nodes, node, side, f, rules, work)
        elif simple and not data.categorical[f] and constraints.monotone[f] == 0:
            missing = np.int64(data.has_missing[f])
            shape = (data.n_bins[f], missing, data.missing_bin, np.int64(work.offset[f]), np.int64(work.usual[f]))
            scan_free(hist[work.column[f]], counts, shape, facts, rules, buffers, f, out)
        else:
            scan_feature(data, nodes, node, side, f, rules, constraints, work, counts, NO, buffers)


@kernel
def scan_buffers(work):
    """Room for the scan of one feature: running sums, gains, bins in use, its own histogram."""
    n = work.hist.shape[2] + 1
    return np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)


@kernel
def add_node_rows(packed, work, rows, start, stop, first, last, hist, counts, counted):  # OUT: hist, counts
    """Add rows[start:stop] to the histograms of words first .. last - 1 (and to their counts when `counted`)."""
    if work.lines.shape[0] > 0 and (stop - start) * DENSE < packed.shape[0]:
        add_lines(work.lines, packed, rows, start, stop, first, last, hist, counts, counted)
        return
    for unit in range(first, last):
        place = slice(unit * WIDTH, unit * WIDTH + WIDTH)
        add_rows(work.words[unit], packed, rows, start, stop, hist[place])
        if counted:
            count_rows(work.words[unit], rows, start, stop, counts[place])


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
        for unit in range(first, last):
            hist = work.hist[slot, unit * WIDTH : unit * WIDTH + WIDTH]
            add_all_rows(work.words[unit], packed, start, stop, hist)
        return
    counts = work.counts[slot if counted else 0]
    add_node_rows(packed, work, work.rows, start, stop, first, last, work.hist[slot], counts, counted)


@kernel
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
    buffers = scan_buffers(work)
    scan_large = large >= 0 and may_split(nodes, large, rules)
    scan_small = may_split(nodes, small, rules)
    for group in range(first, last, GROUP):  # few enough to stay in the cache from one step to the next
        stop = min(group + GROUP, last)
        fill_histograms(packed, nodes, work, small, n_parts, group, stop, NO)
        for unit in range(group, stop):
            if scan_large:
                subtract(work.hist[nodes.slot[small]], unit, work.hist[nodes.slot[large]])
                scan_unit(data, nodes, large, YES, unit, rules, constraints, work, buffers)
            if scan_small:
                scan_unit(data, nodes, small, NO, unit, rules, constraints, work, buffers)


@kernel
def has_enough_rows(nodes, node, left, rules):
    """Whether both sides of a split certainly have `min_samples` rows, by their sums of hessians."""
    h_left, h = left & HESSIAN, nodes.packed[node] & HESSIAN
    return rules.hessian_counts == 1 or (h_left >= rules.safe_hessian and h - h_left >= rules.safe_hessian)


@kernel
def recount(data, nodes, node, side, f, rules, constraints, work):  # OUT: work (found)
    """Best split of feature f at `node` with at least `min_samples` rows on each side."""
    counts = np.zeros(work.hist.shape[2] + 1, np.int32)
    words, shift = data.words[f // WIDTH], np.uint32(8 * (f % WIDTH))
    for i in range(nodes.start[node], nodes.stop[node]):
        counts[(words[work.rows[i]] >> shift) & np.uint32(255)] += 1
    scan_feature(data, nodes, node, side, f, rules, constraints, work, counts, YES, scan_buffers(work))


@kernel
def settle(data, nodes, node, side, rules, constraints, work):  # OUT: nodes, work
    """Choose among the features' splits; the node becomes open, or stays a leaf and gives its histogram back.

    A split that may leave too few rows is an upper bound of what its feature can gain: the best of the bounds is made
    exact until the best one is exact already.
    """
    exact = np.zeros(work.found_gain.shape[1], np.uint8)
    while True:
        best, feature = 0.0, -1
        for f in range(work.found_gain.shape[1]):
            if work.found_gain[side, f] > best:
                best, feature = work.found_gain[side, f], f
        if feature < 0:
            release(nodes, node, work)
            return
        if exact[feature] or has_enough_rows(nodes, node, work.found_left[side, feature], rules):
            break
        recount(data, nodes, node, side, feature, rules, constraints, work)
        exact[feature] = 1
    nodes.gain[node], nodes.feature[node] = best, feature
    nodes.bin[node], nodes.missing_left[node] = work.found_bin[side, feature], work.found_missing[side, feature]
    nodes.left_packed[node] = work.found_left[side, feature]
    for j in range(8):
        nodes.chosen[node, j] = work.found_chosen[side, feature, j]
    push(nodes, node, rules, work)


@kernel
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
    nodes.slot[root] = take_slot(work)
    open_features(nodes, root, rules, constraints, work, work.allowed[0])
    return True


@kernel
def lighter_side(nodes, node, rules, work):
    """The side of a node's split with less hessian, whose rows to visit: 0 left, 1 right; -1 if no child needs it."""
    if work.state[N_LEAVES] + 1 >= rules.max_leaves or nodes.depth[node] + 1 >= rules.max_depth:
        return -1
    left = nodes.left_packed[node] & HESSIAN
    return np.int64(2 * left > (nodes.packed[node] & HESSIAN))


@kernel
def split_part(data, packed, nodes, node, work, side, part, start, stop):  # OUT: work
    """Partition rows[start:stop] into work.scratch and add those of `side` to the histograms of `part`; n_left."""
    left, right = work.scratch[0], work.scratch[1]
    n_left = split_rows(data, nodes, node, work.rows, start, stop, left[start:stop], right[start:stop])
    if side >= 0:
        last = start + n_left if side == 0 else stop - n_left
        add_part(packed, work, work.scratch[side], part, start, last)
    return n_left


@kernel
def add_part(packed, work, rows, part, start, stop):  # OUT: work
    """Histograms of rows[start:stop], all words, as those of `part`."""
    hist, n_words = work.parts[part], work.words.shape[0]
    hist[:] = 0
    add_node_rows(packed, work, rows, start, stop, NO, n_words, hist, work.counts[0], NO)


@kernel
def add_whole_part(packed, work, part, start, stop):  # OUT: work
    """`add_part` of the rows start .. stop - 1 themselves."""
    work.parts[part] = 0
    for unit in range(work.words.shape[0]):
        hist = work.parts[part, unit * WIDTH : unit * WIDTH + WIDTH]
        add_all_rows(work.words[unit], packed, start, stop, hist)


@kernel
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
    nodes.slot[large], nodes.slot[small] = nodes.slot[node], take_slot(work)
    nodes.slot[node] = -1
    open_features(nodes, small, rules, constraints, work, work.allowed[0])
    open_features(nodes, large, rules, constraints, work, work.allowed[1])
    return small, large


@kernel
def finish(data, nodes, small, large, rules, constraints, work):  # OUT: nodes, work
    """After `expand` of all units: choose the best split of each of the two nodes (the left one first)."""
    for node in range(min(small, large) if large >= 0 else small, max(small, large) + 1):
        if may_split(nodes, node, rules):
            settle(data, nodes, node, 0 if node == small else 1, rules, constraints, work)
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
            finish(data, nodes, small, large, rules, constraints, work)
    return -1


@kernel
def grow_alone(data, packed, nodes, rules, constraints, work, n_rows, total):  # OUT: nodes, work
    """A whole tree in one call, for one thread."""
    if plant(nodes, rules, constraints, work, n_rows, total):
        expand(data, packed, nodes, rules, constraints, work, NO, -YES, NO, NO, np.int64(work.words.shape[0]))
        finish(data, nodes, NO, -YES, rules, constraints, work)
        advance(data, packed, nodes, rules, constraints, work, np.inf)
