"""Growing best first: the node whose split lowers the impurity most is split next.  Columns as in depth-first."""

from hyperplan._core.jit import kernel
from hyperplan._trees._criterion_kernels import copy_vector
from hyperplan._trees._exact_grow_kernels import (
    DEPTH,
    END,
    START,
    child_key,
    divide,
    find_split,
    partition,
    push,
    write_node,
    write_split,
)


@kernel
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


@kernel
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


@kernel
def consider(columns, targets, rule, front, i, nodes, work):  # OUT: front, nodes; 1 if node i can be split
    """Write node i, search it, and keep its split (in `front`) for the moment it is expanded."""
    span = front.span[i]
    tot = front.tot[i]
    work.key[0] = front.key[i]
    write_node(nodes, i, tot, span[END] - span[START], targets, rule)
    if not find_split(columns, span[START], span[END], span[DEPTH], targets, rule, tot, work):
        front.gain[i] = 0.0
        return 0
    front.gain[i] = work.gain[0]
    front.feature[i] = work.found[0]
    copy_vector(work.best, front.cand[i])
    return 1


@kernel
def grow_best_first(columns, targets, rule, max_leaves, front, nodes, work, progress):  # OUT: front, nodes, progress
    """Split the node with the largest decrease until there are `max_leaves` leaves; the root stands in `front`."""
    heap, n_heap, n_nodes, n_leaves = front.heap, 0, 1, 1
    if consider(columns, targets, rule, front, 0, nodes, work):
        heap[0] = 0
        n_heap = 1
    while n_heap > 0 and n_leaves < max_leaves:
        i = pop_best(heap, n_heap, front.gain)
        n_heap -= 1
        span, j, cand = front.span[i], front.feature[i], front.cand[i]
        start, end, depth = span[START], span[END], span[DEPTH]
        n_left = divide(columns, j, start, end, targets, rule, front.tot[i], cand, work)
        write_split(nodes, i, j, cand, columns, start, end, rule, work)
        partition(columns, 0, columns.pairs.shape[0], start, end, work.goes_left, work.spill)
        nodes.children_left[i], nodes.children_right[i] = n_nodes, n_nodes + 1
        middle, key = start + n_left, front.key[i]
        left_key, right_key = child_key(key, True, work.state), child_key(key, False, work.state)
        push(front, n_nodes, start, middle, depth + 1, i, 1, left_key, work.left_tot)
        push(front, n_nodes + 1, middle, end, depth + 1, i, 0, right_key, work.right_tot)
        progress[2] = max(progress[2], depth + 1)
        for child in range(n_nodes, n_nodes + 2):
            if consider(columns, targets, rule, front, child, nodes, work):
                heap[n_heap] = child
                n_heap += 1
                sift(heap, n_heap, front.gain)
        n_nodes += 2
        n_leaves += 1
    progress[1] = n_nodes
