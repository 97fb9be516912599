"""Growing best first: the node whose split lowers the impurity most is split next.  Columns as in depth-first."""

import math

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._categorical_kernels import write_set
from hyperplan._trees._criterion_kernels import copy_vector
from hyperplan._trees._exact_grow_kernels import (
    BEST,
    DEPTH,
    END,
    FEATURE,
    N_LEFT,
    START,
    child_key,
    divide,
    find_split,
    partition,
    push,
    write_node,
)
from hyperplan._trees._exact_scan_kernels import (
    LEFT_CHILD,
    MISSING_LEFT,
    RIGHT_CHILD,
    THRESHOLD,
)


@inner_kernel
def sift(heap, n, gain):  # OUT: heap
    """Put the last of n nodes in its place; larger gain first, then the older node."""
    i = n - 1
    while i > 0:
        parent = (i - 1) // 2
        a, b = heap[i], heap[parent]
        if gain[a] < gain[b] or (gain[a] == gain[b] and a > b):
            break
        heap[i], heap[parent] = b, a
        i = parent


@inner_kernel
def pop_best(heap, n, gain):  # OUT: heap
    """Take the first of n nodes out of the heap."""
    first = heap[0]
    heap[0] = heap[n - 1]
    i = 0
    while True:
        best = i
        for child in range(2 * i + 1, 2 * i + 3):
            if child < n - 1:
                a, b = heap[child], heap[best]
                if gain[a] > gain[b] or (gain[a] == gain[b] and a < b):
                    best = child
        if best == i:
            return first
        heap[i], heap[best] = heap[best], heap[i]
        i = best


@inner_kernel
def consider(columns, targets, rule, kind, front, i, nodes, work, sets):  # OUT: front, nodes; 1 if node i can be split
    """Write node i, search it, and keep its split (in `front`) for the moment it is expanded."""
    span = front.span[i]
    tot = front.tot[i]
    work.state[1] = front.key[i]
    write_node(nodes, i, tot, span[END] - span[START], targets, rule)
    place = (span[START], span[END])
    front.gain[i] = find_split(columns, place, span[DEPTH], targets, rule, kind, tot, work, sets)
    if front.gain[i] == -math.inf:
        return 0
    front.feature[i] = work.found[FEATURE]
    copy_vector(work.cands[work.found[BEST]], front.cand[i])
    return 1


@view_kernel
def grow_best_first(columns, targets, rule, kind, max_leaves, front, nodes, work, sets, progress):  # OUT: front, nodes
    """Split the node with the largest decrease until there are `max_leaves` leaves; the root stands in `front`."""
    heap, n_heap, n_nodes, n_leaves = front.heap, 0, 1, 1
    if consider(columns, targets, rule, kind, front, 0, nodes, work, sets):
        heap[0] = 0
        n_heap = 1
    while n_heap > 0 and n_leaves < max_leaves:
        i = pop_best(heap, n_heap, front.gain)
        n_heap -= 1
        span, j, cand = front.span[i], front.feature[i], front.cand[i]
        start, end, depth = span[START], span[END], span[DEPTH]
        work.order[0] = j
        copy_vector(cand, work.cands[0])
        divide(columns, 0, (start, end), targets, rule, kind, front.tot[i], work)
        nodes.feature[i], nodes.threshold[i] = j, cand[THRESHOLD]
        nodes.missing_go_to_left[i] = cand[MISSING_LEFT] > 0.0
        if len(sets) > 0 and rule.twin[j] >= 0:
            words = nodes.categories[i]
            nodes.threshold[i] = write_set(columns, rule.twin[j], start, end, work.goes_left, words)
        partition(columns.pairs, start, end, work.goes_left, work.spill)
        nodes.children_left[i], nodes.children_right[i] = n_nodes, n_nodes + 1
        middle, key = start + work.found[N_LEFT], front.key[i]
        left_key, right_key = child_key(key, True, work.state), child_key(key, False, work.state)
        push(front.span[n_nodes], start, middle, depth + 1, i, 1)
        push(front.span[n_nodes + 1], middle, end, depth + 1, i, 0)
        front.key[n_nodes], front.key[n_nodes + 1] = left_key, right_key
        copy_vector(work.sums[LEFT_CHILD], front.tot[n_nodes])
        copy_vector(work.sums[RIGHT_CHILD], front.tot[n_nodes + 1])
        progress[2] = max(progress[2], depth + 1)
        for child in range(n_nodes, n_nodes + 2):
            if consider(columns, targets, rule, kind, front, child, nodes, work, sets):
                heap[n_heap] = child
                n_heap += 1
                sift(heap, n_heap, front.gain)
        n_nodes += 2
        n_leaves += 1
    progress[1] = n_nodes
