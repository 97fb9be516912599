"""Branch and bound over subsets of columns (leaps and bounds on triangular factors).

A node is a set of columns, the first `forced` of which stay; its least-squares problem is kept as a triangular factor
``factor[level, :q, :q]`` of the q free columns with the rotated target in ``factor[level, :q, q]`` (C order, float64).
Dropping a column is a chain of Givens rotations; what it costs in residual sum of squares bounds every subset below.
Furnival, Wilson (1974), Technometrics 16(4); Gatu, Kontoghiorghes (2006), J. Comput. Graph. Stat. 15(1).
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

FORCED, FREE, CHILD = range(3)  # columns of `shape`: forced columns, free columns, next child to visit
BEST_SIZE, NODES, LEVEL = range(3)  # entries of `counts`


@kernel
def drop_costs(factor, q, inverse, costs):  # OUT: inverse (work), costs
    """costs[j] = rise of the residual sum of squares when column j is dropped: w_j^2 / (G^-1)_jj."""
    for j in range(q - 1, -1, -1):
        pivot = 1.0 / factor[j, j]
        inverse[j, j] = pivot
        for c in range(j + 1, q):
            inverse[j, c] = 0.0
        for l in range(j + 1, q):
            scaled = factor[j, l] * pivot
            for c in range(l, q):
                inverse[j, c] -= scaled * inverse[l, c]
        weight = spread = 0.0
        for c in range(j, q):
            weight += inverse[j, c] * factor[c, q]
            spread += inverse[j, c] * inverse[j, c]
        costs[j] = weight * weight / spread


@kernel
def sort_columns(factor, q, columns, costs, work):  # OUT: factor, columns, costs, work
    """Put the dearest columns first (stable insertion sort); returns the first position that changed, q if none."""
    position, row = work[0], work[1]
    first = q
    for j in range(q):
        k, cost, column = j, costs[j], columns[j]
        while k > 0 and cost > costs[k - 1]:
            costs[k], columns[k], position[k] = costs[k - 1], columns[k - 1], position[k - 1]
            k -= 1
        costs[k], columns[k], position[k] = cost, column, j
        if k < j:
            first = min(first, k)
    for i in range(q if first < q else 0):
        for c in range(first, q):
            row[c] = factor[i, np.intp(position[c])]
        for c in range(first, q):
            factor[i, c] = row[c]
    return first


@kernel
def triangularise(factor, q, first, work):  # OUT: factor, work
    """Householder reflections on columns from `first` on; rows are walked along so that the inner loops vectorise."""
    reflector, dots = work[0], work[1]
    for j in range(first, q - 1):
        square = below = 0.0
        for i in range(j, q):
            reflector[i] = factor[i, j]
            square += factor[i, j] * factor[i, j]
            if i > j:
                below = max(below, abs(factor[i, j]))
        if below == 0.0:
            continue
        norm = math.copysign(math.sqrt(square), factor[j, j])
        reflector[j] += norm
        scale = 1.0 / (norm * reflector[j])  # 2 / |reflector|^2
        for c in range(j + 1, q + 1):
            dots[c] = 0.0
        for i in range(j, q):
            for c in range(j + 1, q + 1):
                dots[c] += reflector[i] * factor[i, c]
        for i in range(j, q):
            share = scale * reflector[i]
            for c in range(j + 1, q + 1):
                factor[i, c] -= share * dots[c]
            factor[i, j] = 0.0
        factor[j, j] = -norm


@kernel
def drop_column(parent, q, i, child):  # OUT: child
    """Factor of the columns after i (rows from i on) without column i; returns the residual set free, squared."""
    size = q - 1 - i
    for r in range(size):
        for c in range(size + 1):
            child[r, c] = 0.0
    carry = child[size]  # the row that travels down: starts as row i of the parent
    for c in range(size + 1):
        carry[c] = parent[i, i + 1 + c]
    for r in range(size):
        a, b = carry[r], parent[i + 1 + r, i + 1 + r]
        norm = math.hypot(a, b)
        cos, sin = (1.0, 0.0) if norm == 0.0 else (a / norm, b / norm)
        for c in range(r, size + 1):
            top, low = carry[c], parent[i + 1 + r, i + 1 + c]
            child[r, c] = cos * top + sin * low
            carry[c] = cos * low - sin * top
    return carry[size] * carry[size]


@kernel
def record_prefixes(factor, shape, rss, columns, limits, best, counts, best_columns):  # OUT: last three
    """Try every prefix of a node's columns: their residual sums of squares are tail sums of the rotated target."""
    forced, q = shape[FORCED], shape[FREE]
    price, largest, slack = limits[0], limits[1], limits[2]
    tail = rss
    for i in range(q, -1, -1):
        if i < q:
            tail += factor[i, q] * factor[i, q]
        if forced + i <= largest and tail + price * (forced + i) < best[0] - slack:
            best[0] = tail + price * (forced + i)
            counts[BEST_SIZE] = forced + i
            for j in range(forced + i):
                best_columns[j] = columns[j]


@kernel
def open_node(factor, shape, rss, columns, costs, limits, work, best, counts, best_columns):  # OUT: all but limits
    """Order a new node's free columns, try its prefixes, point at its last child."""
    q = shape[FREE]
    if q > 0:
        drop_costs(factor, q, work, costs)
        first = sort_columns(factor, q, columns[shape[FORCED] :], costs, work)
        triangularise(factor, q, first, work)
    record_prefixes(factor, shape, rss, columns, limits, best, counts, best_columns)
    shape[CHILD] = q - 2  # dropping the last column leaves only forced ones: a prefix, already tried
    counts[NODES] += 1


@kernel
def child_bound(shape, rss, costs, limits, i):
    """Least criterion below child i; inf when no subset there is new and small enough."""
    if shape[FORCED] + i >= limits[1]:
        return np.inf
    return rss + costs[i] + limits[0] * (shape[FORCED] + i)


@kernel
def search_subsets(factor, shape, rss, columns, costs, limits, budget, work, best, counts, best_columns):
    """Visit at most `budget` more nodes below level 0; returns True when the tree is exhausted.

    limits = (price of a column, largest size, slack below which an improvement is rounding).  All arrays but `limits`
    are state and updated; level 0 must have been opened.
    """
    visited = 0
    while counts[LEVEL] >= 0:
        level = counts[LEVEL]
        node = shape[level]
        i = node[CHILD]
        if i < 0:
            counts[LEVEL] -= 1
            continue
        if child_bound(node, rss[level], costs[level], limits, i) >= best[0] - limits[2]:
            node[CHILD] -= 1
            continue
        if visited >= budget:
            return False
        visited += 1
        node[CHILD] -= 1
        below = level + 1
        freed = drop_column(factor[level], node[FREE], i, factor[below])
        rss[below] = rss[level] + freed
        shape[below, FORCED] = node[FORCED] + i
        shape[below, FREE] = node[FREE] - 1 - i
        kept = node[FORCED] + i
        for j in range(kept):
            columns[below, j] = columns[level, j]
        for j in range(kept, node[FORCED] + node[FREE] - 1):
            columns[below, j] = columns[level, j + 1]
        open_node(
            factor[below], shape[below], rss[below], columns[below], costs[below], limits, work, best, counts,
            best_columns,
        )  # fmt: skip
        counts[LEVEL] = below
    return True


@kernel
def lowest_open_bound(shape, rss, costs, limits, counts, best):
    """The least criterion that an unvisited subset could still have, at most best[0]."""
    lowest = best[0]
    for level in range(counts[LEVEL] + 1):
        for i in range(shape[level, CHILD] + 1):
            lowest = min(lowest, child_bound(shape[level], rss[level], costs[level], limits, i))
    return lowest
