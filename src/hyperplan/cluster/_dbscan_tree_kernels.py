"""Kernels of DBSCAN on a tree of boxes or balls: the sixteen points of a leaf are searched for together.

Positions are those of the tree: leaf l holds LEAF * l to LEAF * (l + 1) - 1.  `where` is the tree without its cuts:
blocks, order, spans and bounds.  Searches go to near nodes first and leave out those that can change nothing: points
that have enough neighbours look no further, and parts of the tree that are known to be in one cluster are not linked
again.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._math._space_tree_kernels import LEAF, any_near, load_group, measure, push_children
from hyperplan.cluster._dbscan_kernels import root, unite

NO_CORES, SEVERAL = -2, -1  # of a node: it has no core points, or not all are known to be in one set
BESIDE = 4  # leaves after a leaf that are linked with it first


@view_kernel
def find_cores(X, where, rule, room, weights, totals, first, stop, limit, need, may_stop, cores):  # OUT: cores
    """Which points of leaves first to stop - 1 have the weight `need` within the limit, themselves included.

    With `may_stop` (no weight is negative) a point is done when it has enough.
    """
    # X: (n, d) C order, float64; weights: (n,) by position, or empty; totals: (LEAF,) scratch; cores: (n,) bool
    blocks, order, spans, bounds = where
    points, group, hull, gaps, near, limits, stack, reach = room
    n = order.shape[0]
    for leaf in range(first, stop):
        begin, end = leaf * LEAF, min((leaf + 1) * LEAF, n)
        load_group(X, order[begin:end], rule, points, group, hull)
        left = end - begin
        for i in range(LEAF):
            limits[i], totals[i] = limit if i < left else -1.0, 0.0
        stack[0], reach[0], top = 0, 0.0, 1
        while top > 0 and left > 0:
            top -= 1
            node = stack[top]
            if reach[top] > limit:
                continue
            low = spans[node, 0]
            if spans[node, 1] - low > 1:
                top = push_children(node, hull, bounds, rule, top, stack, reach)
            elif any_near(group, bounds[node], rule, limits, gaps):
                base, width = low * LEAF, min(LEAF, n - low * LEAF)
                for i in range(LEAF):
                    if gaps[i] > limits[i]:
                        continue
                    measure(points[i], blocks[low], rule, near)
                    totals[i] += weigh(near, limit, weights, base, width)
                    if may_stop and totals[i] >= need:
                        limits[i] = -1.0
                        left -= 1
        for i in range(end - begin):
            cores[begin + i] = totals[i] >= need


@inner_kernel
def weigh(near, limit, weights, base, width):
    """Weight of the points of a leaf within the limit."""
    if weights.shape[0] == 0:
        count = 0
        for j in range(width):
            count += near[j] <= limit
        return np.float64(count)
    total = 0.0
    for j in range(width):
        total += weights[base + j] if near[j] <= limit else 0.0
    return total


@view_kernel
def summarise(spans, axes, cores, parents, roots):  # OUT: parents, roots
    """roots[node] = the set that all core points of a node are in, or NO_CORES, or SEVERAL; leaves before parents."""
    # spans: (n_nodes, 2); axes: (n_nodes,), -1 for leaves; cores: (n,) bool, parents: (n,) int64, both by position
    n = cores.shape[0]
    for node in range(spans.shape[0] - 1, -1, -1):
        if spans[node, 0] == spans[node, 1]:
            continue
        known = NO_CORES
        if axes[node] < 0:
            for i in range(spans[node, 0] * LEAF, min(spans[node, 1] * LEAF, n)):
                if cores[i]:
                    own = root(parents, i)
                    known = own if known in (NO_CORES, own) else SEVERAL
        else:
            a, b = roots[2 * node + 1], roots[2 * node + 2]
            if a in (NO_CORES, b):
                known = b
            else:
                known = a if b == NO_CORES else SEVERAL
        roots[node] = known


@inner_kernel
def link_leaf(begin, low, known, where, rule, limit, lanes, cores, parents):  # OUT: lanes, parents
    """Join the core points of a group, which begins at a position, with those of a leaf that are within the limit.

    `known` is the set of all core points of the leaf, or negative.
    """
    points, gaps, limits, near = lanes
    blocks, n = where[0], cores.shape[0]
    for i in range(LEAF):
        if gaps[i] > limits[i] or (known >= 0 and root(parents, known) == root(parents, begin + i)):
            continue
        measure(points[i], blocks[low], rule, near)
        for j in range(min(LEAF, n - low * LEAF)):
            if near[j] <= limit and cores[low * LEAF + j]:
                unite(parents, begin + i, low * LEAF + j)


@inner_kernel
def load_cores(X, where, rule, room, leaf, wanted, limit, cores):  # OUT: room
    """Load the points of a leaf that are core points (or those that are not); returns how many there are."""
    points, group, hull, _, _, limits, _, _ = room
    order, count = where[1], 0
    begin, end = leaf * LEAF, min((leaf + 1) * LEAF, order.shape[0])
    for i in range(LEAF):
        is_wanted = begin + i < end and cores[begin + i] == wanted
        limits[i] = limit if is_wanted else -1.0
        count += is_wanted
    if count > 0:
        load_group(X, order[begin:end], rule, points, group, hull)
    return count


@view_kernel
def link_beside(X, where, rule, room, limit, cores, parents):  # OUT: room, parents
    """Join core points of leaves that follow each other: near ones, mostly, so that little is left to search for."""
    # as for `find_cores`; parents: (n,) int64 by position
    points, _, _, gaps, near, limits, _, _ = room
    n_leaves = where[0].shape[0]
    for leaf in range(n_leaves):
        if load_cores(X, where, rule, room, leaf, True, limit, cores) == 0:
            continue
        for i in range(LEAF):
            gaps[i] = 0.0
        for low in range(leaf, min(leaf + BESIDE, n_leaves)):
            link_leaf(leaf * LEAF, low, -1, where, rule, limit, (points, gaps, limits, near), cores, parents)


@inner_kernel
def common_root(begin, end, cores, parents):  # OUT: parents
    """The set that all core points of a leaf are in, or SEVERAL; there is one at least."""
    known = NO_CORES
    for i in range(begin, end):
        if cores[i]:
            own = root(parents, i)
            if known != NO_CORES and known != own:
                return SEVERAL
            known = own
    return known


@view_kernel
def link_leaves(X, where, rule, room, roots, first, stop, limit, cores, parents):  # OUT: room, parents
    """Join the core points of leaves first to stop - 1 with all others within the limit in them or later leaves."""
    # as for `link_beside`; roots: (n_nodes,) int64 of `summarise`, which may be out of date
    _, spans, bounds = where[1], where[2], where[3]
    points, group, hull, gaps, near, limits, stack, reach = room
    for leaf in range(first, stop):
        if load_cores(X, where, rule, room, leaf, True, limit, cores) == 0:
            continue
        begin, end = leaf * LEAF, min((leaf + 1) * LEAF, cores.shape[0])
        own = common_root(begin, end, cores, parents)
        stack[0], reach[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            known = roots[node]
            if reach[top] > limit or spans[node, 1] <= leaf or known == NO_CORES:
                continue
            if known >= 0 and own >= 0 and root(parents, known) == root(parents, own):
                continue
            if spans[node, 1] - spans[node, 0] > 1:
                top = push_children(node, hull, bounds, rule, top, stack, reach)
            elif any_near(group, bounds[node], rule, limits, gaps):
                lanes = points, gaps, limits, near
                link_leaf(begin, spans[node, 0], known, where, rule, limit, lanes, cores, parents)
                own = common_root(begin, end, cores, parents)


@view_kernel
def place_borders(X, where, rule, room, roots, first, stop, limit, cores, labels, out):  # OUT: room, out
    """The smallest label of core points within the limit of each point that is none; returns how many had a choice."""
    # as for `link_leaves`; labels: (n,) int64 by position; out: (n,) int64 by row number, -1 for points without a label
    blocks, order, spans, bounds = where
    points, group, hull, gaps, near, limits, stack, reach = room
    n, n_shared = order.shape[0], 0
    for leaf in range(first, stop):
        if load_cores(X, where, rule, room, leaf, False, limit, cores) == 0:
            continue
        shared = 0  # a bit for each point
        stack[0], reach[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            low = spans[node, 0]
            if reach[top] > limit or roots[node] == NO_CORES:
                continue
            if spans[node, 1] - low > 1:
                top = push_children(node, hull, bounds, rule, top, stack, reach)
                continue
            if not any_near(group, bounds[node], rule, limits, gaps):
                continue
            for i in range(LEAF):
                if gaps[i] > limits[i]:
                    continue
                measure(points[i], blocks[low], rule, near)
                row = order[leaf * LEAF + i]
                for j in range(low * LEAF, min((low + 1) * LEAF, n)):
                    if near[j - low * LEAF] <= limit and cores[j] and labels[j] != out[row]:
                        shared |= (out[row] >= 0) << i
                        out[row] = labels[j] if out[row] < 0 else min(out[row], labels[j])
        while shared > 0:
            n_shared += shared & 1
            shared >>= 1
    return n_shared
