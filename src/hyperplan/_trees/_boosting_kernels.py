"""Growing one tree: partition rows, evaluate the children, keep the open nodes in a heap.

`advance` splits node after node in one call and returns only when a node is so large that its work is better shared
among threads; the caller then does `split_part` and `join_parts` (threads share the rows) or `divide` (they share the
features), then `branch`, `expand` and `finish` itself.  Sums are exact, so that all paths give the same bits.

Numbers of rows are not in the histograms.  A side whose hessian reaches `rules.safe_hessian` has enough rows; only
if the best split of a node is not of that kind, rows are counted, for its feature alone (`settle`).
"""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import kernel
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees._bundle_kernels import unbundle
from hyperplan._trees._histogram_kernels import (
    GROUP,
    HESSIAN,
    add_all_rows,
    add_lines,
    add_rows,
    count_rows,
    node_value,
    scan_bounded,
    scan_categories,
    scan_numbers,
)

N_NODES, N_LEAVES, N_OPEN, N_FREE = 0, 1, 2, 3  # places in Workspace.state
NO, YES = np.int64(0), np.int64(1)  # a literal 0 handed to a kernel would compile one more version of it
DENSE = 10  # nodes with at least one row in so many are read column by column


@kernel
def fill_lines(words, start, stop, lines):  # OUT: lines
    # words: (n_words, n_samples), lines: (n_samples, n_words); rows start .. stop - 1, in blocks for the cache
    for low in range(start, stop, 512):
        for unit in range(words.shape[0]):
            for i in range(low, min(low + 512, stop)):
                lines[i, unit] = words[unit, i]


@kernel
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


@kernel
def push(nodes, node, rules, work):  # OUT: work
    """Insert a node into the heap of open nodes (largest key on top; the older node first among equals)."""
    position = work.state[N_OPEN]
    work.state[N_OPEN] += 1
    key = nodes.gain[node]
    if rules.order == 1:
        key = -np.float64(node)
    elif rules.order == 2:
        key = np.float64(nodes.start[node] - nodes.stop[node])
    while position > 0:
        parent = (position - 1) // 2
        if work.keys[parent] > key or (work.keys[parent] == key and work.heap[parent] < node):
            break
        work.keys[position], work.heap[position] = work.keys[parent], work.heap[parent]
        position = parent
    work.keys[position], work.heap[position] = key, node


@kernel
def pop(work):  # OUT: work
    top = work.heap[0]
    work.state[N_OPEN] -= 1
    n = work.state[N_OPEN]
    key, node = work.keys[n], work.heap[n]
    position = 0
    while 2 * position + 1 < n:
        child = 2 * position + 1
        other = child + 1
        if other < n and (
            work.keys[other] > work.keys[child]
            or (work.keys[other] == work.keys[child] and work.heap[other] < work.heap[child])
        ):
            child = other
        if key > work.keys[child] or (key == work.keys[child] and node < work.heap[child]):
            break
        work.keys[position], work.heap[position] = work.keys[child], work.heap[child]
        position = child
    work.keys[position], work.heap[position] = key, node
    return top


@kernel
def open_features(nodes, node, rules, constraints, work, allowed):  # OUT: work, allowed
    """Mark the features that `node` may split on: those of its interaction groups, of which a share is drawn."""
    n_features = allowed.shape[0]
    n_groups = constraints.groups.shape[0]
    allowed[:] = 1 if n_groups == 0 else 0
    for g in range(n_groups):
        if nodes.groups[node, g]:
            for f in range(n_features):
                allowed[f] |= constraints.groups[g, f]
    if rules.feature_share >= 1.0:
        return
    left = np.int64(0)
    for f in range(n_features):
        left += allowed[f]
    wanted = max(np.int64(1), np.int64(math.ceil(rules.feature_share * left - 1e-9)))
    for f in range(n_features):  # selection sampling: each of the remaining is taken with probability wanted / left
        if allowed[f]:
            take = next_uniform(work.seed) * left < wanted
            allowed[f] = np.uint8(take)
            wanted -= np.int64(take)
            left -= 1


@kernel
def may_split(nodes, node, rules):
    n_rows = nodes.stop[node] - nodes.start[node]
    return n_rows >= 2 * rules.min_samples and n_rows > 1 and nodes.depth[node] < rules.max_depth


@kernel
def scan_feature(data, nodes, node, side, f, rules, constraints, work, counts, counted, buffers):  # OUT: work (found)
    """Best split of feature f at `node`, into row `side` of the found_ arrays; exact about rows when `counted`."""
    prefix, gains, order, own = buffers
    facts = (nodes.packed[node], nodes.stop[node] - nodes.start[node], counted, nodes.lower[node], nodes.upper[node])
    out = (
        work.found_gain[side, f : f + 1],
        work.found_bin[side, f : f + 1],
        work.found_missing[side, f : f + 1],
        work.found_left[side, f : f + 1],
    )
    hist = work.hist[nodes.slot[node], work.column[f]]
    n_bins, missing, missing_bin = data.n_bins[f], np.int64(data.has_missing[f]), data.missing_bin
    if work.usual[f] >= 0:
        unbundle(hist, nodes.packed[node], work.offset[f], work.usual[f], n_bins, own)
        hist = own
    monotone = constraints.monotone[f]
    if data.categorical[f]:
        chosen = work.found_chosen[side, f]
        scan_categories(
            hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, (gains, order), out, chosen
        )  # fmt: skip
    elif monotone != 0 or nodes.lower[node] > -np.inf or nodes.upper[node] < np.inf:
        scan_bounded(hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, out)
    else:
        scan_numbers(hist, counts, n_bins, missing, missing_bin, facts, rules, (prefix, gains, order), out)


@kernel
def scan_unit(data, nodes, node, side, unit, rules, constraints, work, buffers):  # OUT: work (found)
    """Best split of each feature of four columns at `node`, into row `side` of the found_ arrays."""
    last = min(unit * WIDTH + WIDTH, work.member_start.shape[0] - 1)
    for m in range(work.member_start[unit * WIDTH], work.member_start[last]):
        f = work.member[m]
        if work.allowed[side, f]:
            scan_feature(data, nodes, node, side, f, rules, constraints, work, work.counts[0, 0], NO, buffers)
        else:
            work.found_gain[side, f] = -1.0


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
def release(nodes, node, work):  # OUT: nodes, work
    if nodes.slot[node] >= 0:
        work.free[work.state[N_FREE]] = nodes.slot[node]
        work.state[N_FREE] += 1
        nodes.slot[node] = -1
    nodes.feature[node] = -1


@kernel
def take_slot(work):  # OUT: work
    work.state[N_FREE] -= 1
    return work.free[work.state[N_FREE]]


@kernel
def new_node(nodes, work, parent, start, stop, packed):  # OUT: nodes, work
    node = work.state[N_NODES]
    work.state[N_NODES] += 1
    nodes.start[node], nodes.stop[node], nodes.packed[node] = start, stop, packed
    nodes.feature[node], nodes.slot[node], nodes.left[node], nodes.right[node] = -1, -1, -1, -1
    nodes.gain[node] = 0.0
    nodes.depth[node] = nodes.depth[parent] + 1 if parent >= 0 else 0
    nodes.lower[node] = nodes.lower[parent] if parent >= 0 else -np.inf
    nodes.upper[node] = nodes.upper[parent] if parent >= 0 else np.inf
    return node


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
def bound_children(nodes, node, rules, monotone):  # OUT: nodes
    """Values of the two sides stay on their side of the middle when the split is monotone."""
    if monotone == 0:
        return
    left, right = nodes.left[node], nodes.right[node]
    lower, upper = nodes.lower[node], nodes.upper[node]
    low = node_value(nodes.packed[left], rules, lower, upper)
    high = node_value(nodes.packed[right], rules, lower, upper)
    middle = 0.5 * (low + high)
    if monotone > 0:
        nodes.upper[left], nodes.lower[right] = middle, middle
    else:
        nodes.lower[left], nodes.upper[right] = middle, middle


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
def copy_rows(source, start, n, place, rows):  # OUT: rows
    """source[start:start + n] to rows[place:]; array assignment would compile its error messages, for seconds."""
    target, source = rows[place : place + n], source[start : start + n]
    for i in range(n):
        target[i] = source[i]


@kernel
def join_parts(work, bounds, n_left):  # OUT: work
    """Rows of the parts bounds[j]:bounds[j + 1], n_left[j] of each go left, from work.scratch back to work.rows."""
    position = bounds[0]
    for side in range(2):
        for j in range(n_left.shape[0]):
            n = n_left[j] if side == 0 else bounds[j + 1] - bounds[j] - n_left[j]
            copy_rows(work.scratch[side], bounds[j], n, position, work.rows)
            position += n


@kernel
def divide(data, nodes, node, work):  # OUT: work
    """Partition all rows of a node; n_left."""
    start, stop = nodes.start[node], nodes.stop[node]
    n_left = split_rows(data, nodes, node, work.rows, start, stop, work.rows[start:stop], work.scratch[0])
    copy_rows(work.scratch[0], NO, stop - start - n_left, start + n_left, work.rows)
    return n_left


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
def fill_inner_values(left, right, count, value):  # OUT: value
    """Inner nodes get the mean of their rows' leaf values."""
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            a, b = left[node], right[node]
            value[node] = (value[a] * count[a] + value[b] * count[b]) / count[node]


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
