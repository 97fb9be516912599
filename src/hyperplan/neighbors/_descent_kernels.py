"""An approximate graph of neighbours: random projections, neighbours of neighbours, and walks in the graph.

Every task writes the lists of its own rows only and reads those of the round before: threads change nothing.  Distances
are squared and Euclidean, in float32; lists are sorted.
"""

import numpy as np

from hyperplan._core._rng_kernels import next_below
from hyperplan._core.jit import fast_kernel, inner_kernel, kernel
from hyperplan._math._space_tree_kernels import DEPTH, select

LEAF = 32  # rows of a leaf of the projection trees


@fast_kernel
def squared_gap(x, y):
    """sum_k (x[k] - y[k])^2."""
    total = np.float32(0.0)
    for k in range(x.shape[0]):
        gap = x[k] - y[k]
        total += gap * gap
    return total


@fast_kernel
def project(x, a, b):
    """x' (a - b)."""
    total = np.float32(0.0)
    for k in range(x.shape[0]):
        total += x[k] * (a[k] - b[k])
    return total


@kernel
def plant(X, leaf, state, order, spans, pairs, cuts, keys):  # OUT: state, order, spans, pairs, cuts, keys
    """Cut the rows at the median of their projection on the line through two of them, again and again."""
    # X: (n, d) float32, C order; order: (n,) int32; spans: (n_nodes, 2) leaves of nodes; pairs: (n_nodes, 2) int32
    # leaf: rows of a leaf
    n, stack, top = order.shape[0], np.zeros(DEPTH, np.int64), 1
    while top > 0:
        top -= 1
        node = stack[top]
        first, stop = spans[node, 0], spans[node, 1]
        if stop - first == 1:
            pairs[node, 0] = -1
            continue
        begin, end, middle = first * leaf, min(stop * leaf, n), (first + stop + 1) // 2
        a = order[begin + next_below(state, end - begin)]
        b = order[begin + next_below(state, end - begin)]
        for i in range(begin, end):
            keys[i] = project(X[order[i]], X[a], X[b])
        select(keys, order, begin, end, middle * leaf)
        pairs[node, 0], pairs[node, 1], cuts[node] = a, b, keys[middle * leaf]
        left, right = 2 * node + 1, 2 * node + 2
        spans[left, 0], spans[left, 1], spans[right, 0], spans[right, 1] = first, middle, middle, stop
        stack[top], stack[top + 1] = left, right
        top += 2


@inner_kernel
def offer(value, row, values, rows, fresh):  # OUT: values, rows, fresh
    """Put a row into a sorted list unless it is there already or too far; says whether it went in."""
    last = values.shape[0] - 1
    if value >= values[last]:
        return False
    spot = last
    while spot > 0 and values[spot - 1] > value:
        spot -= 1
    before = spot - 1  # a row that is there has the same distance
    while before >= 0 and values[before] == value:
        if rows[before] == row:
            return False
        before -= 1
    for j in range(last, spot, -1):
        values[j], rows[j], fresh[j] = values[j - 1], rows[j - 1], fresh[j - 1]
    values[spot], rows[spot], fresh[spot] = value, row, True
    return True


@kernel
def join_leaves(X, order, first, stop, values, rows, fresh):  # OUT: values, rows, fresh
    """Offer all rows of a leaf to each other."""
    n = order.shape[0]
    for leaf in range(first, stop):
        end = min((leaf + 1) * LEAF, n)
        for i in range(leaf * LEAF, end):
            one = order[i]
            for j in range(leaf * LEAF, end):
                if i != j:
                    other = order[j]
                    offer(squared_gap(X[one], X[other]), other, values[one], rows[one], fresh[one])


@kernel
def turn_around(rows, counts, backward):  # OUT: counts, backward
    """Who has whom in the list: for each row the first few rows whose neighbour it is; -1 where there are no more."""
    # rows: (n, K) int32, -1 where unknown; counts: (n,) zero; backward: (n, K) int32
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            other = rows[i, j]
            if other >= 0 and counts[other] < backward.shape[1]:
                backward[other, counts[other]] = i
                counts[other] += 1


@kernel
def improve(X, old_rows, old_fresh, backward, first, stop, values, rows, fresh):  # OUT: values, rows, fresh
    """Offer to some rows the neighbours of their neighbours, in both directions; returns how many were taken.

    Pairs that met in an earlier round are left out: one of the two steps must be fresh.
    """
    # X: (n, d) float32; old_rows, backward: (n, K) int32; values, rows, fresh: (n, K), of first to stop - 1 changed
    taken, width = 0, old_rows.shape[1]
    seen = np.full(X.shape[0], -1, np.int32)
    for i in range(first, stop):
        seen[i] = i
        for j in range(width):
            fresh[i, j] = False
            if rows[i, j] >= 0:
                seen[rows[i, j]] = i
        for step in range(2 * width):
            middle = old_rows[i, step] if step < width else backward[i, step - width]
            if middle < 0:
                continue
            is_fresh = old_fresh[i, step] if step < width else True
            for j in range(width):
                other = old_rows[middle, j]
                if other >= 0 and seen[other] != i and (is_fresh or old_fresh[middle, j]):
                    seen[other] = i
                    taken += offer(squared_gap(X[i], X[other]), other, values[i], rows[i], fresh[i])
            if step >= width and seen[middle] != i:
                seen[middle] = i
                taken += offer(squared_gap(X[i], X[middle]), middle, values[i], rows[i], fresh[i])
    return taken


@kernel
def walk(Q, X, own, order, spans, pairs, cuts, graph, values, rows):  # OUT: values, rows
    """From the leaf of each tree that a query falls into, along the graph, always on from the nearest row not left yet.

    A walk ends when that row is farther than all of the list, whose length is how patient the search is.
    """
    # Q: (m, d), X: (n, d) float32; own: (m,) rows that may not be met, or -1
    # order: (T, n); spans, pairs, cuts: (T, n_nodes, ...); graph: (n, K) int32
    # values: (m, length) float32, rows: (m, length) int32
    seen, length = np.full(X.shape[0], -1, np.int32), values.shape[1]
    open_rows = np.empty(length, np.bool_)
    for i in range(Q.shape[0]):
        if own[i] >= 0:
            seen[own[i]] = i
        for j in range(length):
            values[i, j], rows[i, j], open_rows[j] = np.inf, -1, False
        for tree in range(order.shape[0]):
            node = 0
            while pairs[tree, node, 0] >= 0:
                height = project(Q[i], X[pairs[tree, node, 0]], X[pairs[tree, node, 1]])
                node = 2 * node + 1 if height < cuts[tree, node] else 2 * node + 2
            begin, end = spans[tree, node, 0] * LEAF, min(spans[tree, node, 1] * LEAF, order.shape[1])
            for place in range(begin, end):
                meet(Q[i], X, order[tree, place], i, seen, values[i], rows[i], open_rows)
        while True:
            spot = 0
            while spot < length and not open_rows[spot]:
                spot += 1
            if spot == length:
                break
            open_rows[spot] = False
            middle = rows[i, spot]
            for j in range(graph.shape[1]):
                if graph[middle, j] >= 0:
                    meet(Q[i], X, graph[middle, j], i, seen, values[i], rows[i], open_rows)


@inner_kernel
def meet(q, X, row, query, seen, values, rows, open_rows):  # OUT: seen, values, rows, open_rows
    """Measure a row that this query has not met."""
    if seen[row] != query:
        seen[row] = query
        offer(squared_gap(q, X[row]), row, values, rows, open_rows)
