"""Trees of boxes or balls over points: grown by medians, searched for sixteen neighbouring queries at a time.

The points are reordered: leaf l holds the positions LEAF * l to LEAF * (l + 1) - 1, column by column, so that a leaf is
measured in a few vector instructions.  All leaves are full but the last, which is filled up with copies of its last
point.  The children of node v are 2v + 1 and 2v + 2; `spans` says which leaves are below a node.

Bounds are exact: a box is never nearer than its points *in floating point*, because differences, squares and sums
taken in the same order are monotone after rounding.  Powers and balls have no such order and get a margin instead.

Distances are "reduced" while searching (squares, sums of powers); ties go to the smaller row number.
"""

import math

import numpy as np

from hyperplan._core.jit import inner_kernel, kernel, view_kernel
from hyperplan._math._distance_kernels import CHEBYSHEV, EUCLIDEAN, MANHATTAN, MINKOWSKI

LEAF = 16  # points of a leaf, and queries of a group
SHARED = 4  # leaves side by side whose queries are searched for together, in space
DEPTH = 80  # places of a stack: one per level, and leaves hold 2^4 of at most 2^31 points
MARGIN = 1e-10  # relative, far above the rounding of a distance in a million dimensions


@inner_kernel
def select(keys, order, begin, end, nth):  # OUT: keys, order
    """Hoare's selection: the nth place gets what sorting would put there, smaller ones stand before it."""
    left, right = begin, end - 1
    while right > left:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            return


@inner_kernel
def find_box(X, order, begin, end, bound):  # OUT: bound
    """The box around rows begin to end - 1 of the order, and in which column it is widest."""
    for k in range(X.shape[1]):
        bound[0, k] = bound[1, k] = X[order[begin], k]
    for i in range(begin + 1, end):
        row = order[i]
        for k in range(X.shape[1]):
            value = X[row, k]
            bound[0, k] = value if value < bound[0, k] else bound[0, k]
            bound[1, k] = value if value > bound[1, k] else bound[1, k]
    axis = 0
    for k in range(1, X.shape[1]):
        axis = k if bound[1, k] - bound[0, k] > bound[1, axis] - bound[0, axis] else axis
    return axis


@view_kernel
def split_node(X, order, node, spans, axes, cuts, bounds, keys):  # OUT: order, spans, axes, cuts, bounds, keys
    """Find the box of a node of several leaves, and cut it between two of them near the median of its widest column."""
    # X: (n, d) C order, float64; order: (n,) int32; keys: (n,) scratch; only the node's own part is touched
    first, stop = spans[node, 0], spans[node, 1]
    middle = (first + stop + 1) // 2
    begin, end = first * LEAF, min(stop * LEAF, order.shape[0])
    axis = find_box(X, order, begin, end, bounds[node])
    for i in range(begin, end):
        keys[i] = X[order[i], axis]
    select(keys, order, begin, end, middle * LEAF)
    axes[node], cuts[node] = axis, keys[middle * LEAF]
    spans[2 * node + 1, 0], spans[2 * node + 1, 1] = first, middle
    spans[2 * node + 2, 0], spans[2 * node + 2, 1] = middle, stop


@kernel
def grow(X, order, node, spans, axes, cuts, bounds, keys):  # OUT: order, spans, axes, cuts, bounds, keys
    """Cut a node and all nodes below it, and find their boxes; leaves get the axis -1."""
    # as for split_node
    stack = np.empty(DEPTH, np.int64)
    stack[0], top = node, 1
    while top > 0:
        top -= 1
        node = stack[top]
        first, stop = spans[node, 0], spans[node, 1]
        if stop - first == 1:
            axes[node] = -1
            find_box(X, order, first * LEAF, min(stop * LEAF, order.shape[0]), bounds[node])
        else:
            split_node(X, order, node, spans, axes, cuts, bounds, keys)
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2


@kernel
def fill_leaves(X, order, first, stop, blocks):  # OUT: blocks
    """Copy the points of some leaves, column by column."""
    # X: (n, d) C order, float64; order: (n,) int32; blocks: (n_leaves, d, LEAF)
    last = order.shape[0] - 1
    for leaf in range(first, stop):
        for j in range(LEAF):
            row = order[min(leaf * LEAF + j, last)]
            for k in range(X.shape[1]):
                blocks[leaf, k, j] = X[row, k]


@kernel
def bound_by_balls(blocks, spans, first_node, stop_node, rule, bounds):  # OUT: bounds
    """bounds[node, 0] = mean of the points, bounds[node, 1, 0] = distance of the farthest, with a margin."""
    # blocks: (n_leaves, d, LEAF); spans: (n_nodes, 2); bounds: (n_nodes, 2, d)
    near = np.empty(LEAF)
    for node in range(first_node, stop_node):
        first, stop = spans[node, 0], spans[node, 1]
        if stop == first:
            continue
        for k in range(blocks.shape[1]):
            total = 0.0
            for leaf in range(first, stop):
                for j in range(LEAF):
                    total += blocks[leaf, k, j]
            bounds[node, 0, k] = total / ((stop - first) * LEAF)
        farthest = 0.0
        for leaf in range(first, stop):
            measure(bounds[node, 0], blocks[leaf], rule, near)
            for j in range(LEAF):
                farthest = max(farthest, near[j])
        bounds[node, 1, 0] = to_distance(farthest, rule) * (1.0 + MARGIN)


@inner_kernel
def to_distance(reduced, rule):
    if rule.code == EUCLIDEAN:
        return math.sqrt(reduced)
    return reduced ** (1.0 / rule.power) if rule.code == MINKOWSKI else reduced


@inner_kernel
def to_reduced(distance, rule):
    if rule.code == EUCLIDEAN:
        return distance * distance
    return distance**rule.power if rule.code == MINKOWSKI else distance


@inner_kernel
def add(total, gap, rule):
    """The reduced distance with one more coordinate."""
    if rule.code <= EUCLIDEAN:
        return total + gap * gap
    if rule.code == MANHATTAN:
        return total + abs(gap)
    if rule.code == CHEBYSHEV:
        return max(total, abs(gap))
    return total + abs(gap) ** rule.power


@inner_kernel
def measure(point, lanes, rule, near):  # OUT: near
    """near[j] = reduced distance between a point (d,) and column j of lanes (d, LEAF)."""
    d, width = lanes.shape[0], near.shape[0]  # a width that the compiler knows would be unrolled, not vectorised
    for j in range(width):
        near[j] = 0.0
    for k in range(d):
        x = point[k]
        if rule.code <= EUCLIDEAN:
            for j in range(width):
                gap = lanes[k, j] - x
                near[j] += gap * gap
        else:
            for j in range(width):
                near[j] = add(near[j], lanes[k, j] - x, rule)


@inner_kernel
def ball_gap(reduced, radius, rule):
    """Reduced distance from the border of a ball, given that from its centre; never too large."""
    gap = to_distance(reduced, rule) * (1.0 - MARGIN) - radius * (1.0 + MARGIN)
    return to_reduced(gap, rule) if gap > 0.0 else 0.0


@inner_kernel
def hull_gap(hull, bound, rule):
    """What separates a group of queries from a node at least."""
    total = 0.0
    if rule.is_ball:
        for k in range(hull.shape[1]):
            total = add(total, hull[0, k] - bound[0, k], rule)
        return ball_gap(total, hull[1, 0] + bound[1, 0], rule)
    if rule.code <= EUCLIDEAN:
        for k in range(hull.shape[1]):
            below, above = bound[0, k] - hull[1, k], hull[0, k] - bound[1, k]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            total += gap * gap
        return total
    for k in range(hull.shape[1]):
        below, above = bound[0, k] - hull[1, k], hull[0, k] - bound[1, k]
        gap = below if below > above else above
        total = add(total, gap if gap > 0.0 else 0.0, rule)
    return total * (1.0 - MARGIN) if rule.code == MINKOWSKI else total


@inner_kernel
def hull_span(hull, bound, rule):
    """What separates a query of the group from a point of the node at most."""
    total = 0.0
    if rule.is_ball:
        for k in range(hull.shape[1]):
            total = add(total, hull[0, k] - bound[0, k], rule)
        return to_reduced((to_distance(total, rule) + hull[1, 0] + bound[1, 0]) * (1.0 + MARGIN), rule)
    for k in range(hull.shape[1]):
        below, above = bound[1, k] - hull[0, k], hull[1, k] - bound[0, k]
        total = add(total, below if below > above else above, rule)
    return total * (1.0 + MARGIN) if rule.code == MINKOWSKI else total


@inner_kernel
def lane_gaps(group, bound, rule, gaps):  # OUT: gaps
    """What separates each query of the group from a node at least."""
    if rule.is_ball:
        measure(bound[0], group, rule, gaps)
        for j in range(group.shape[1]):
            gaps[j] = ball_gap(gaps[j], bound[1, 0], rule)
        return
    for j in range(group.shape[1]):
        gaps[j] = 0.0
    for k in range(group.shape[0]):
        low, high = bound[0, k], bound[1, k]
        if rule.code <= EUCLIDEAN:
            for j in range(group.shape[1]):
                below, above = low - group[k, j], group[k, j] - high
                gap = below if below > above else above
                gap = gap if gap > 0.0 else 0.0
                gaps[j] += gap * gap
        else:
            for j in range(group.shape[1]):
                gaps[j] = add(gaps[j], max(low - group[k, j], group[k, j] - high, 0.0), rule)
    if rule.code == MINKOWSKI:
        for j in range(group.shape[1]):
            gaps[j] *= 1.0 - MARGIN


@inner_kernel
def any_near(group, bound, rule, limits, gaps):  # OUT: gaps
    """Whether a node is within the limit of a query of the group."""
    lane_gaps(group, bound, rule, gaps)
    found = False
    for j in range(group.shape[1]):
        found |= gaps[j] <= limits[j]
    return found


@inner_kernel
def end_of_group(chosen, homes, d, start):
    """Where the group that begins at `start` ends: up to LEAF queries that live near each other.

    The more dimensions there are, the more leaves all of them have to look into anyway.
    """
    shared = SHARED << min(max(d - 3, 0), 8)
    place, stop = homes[chosen[start]] // shared, start + 1
    while stop < min(start + LEAF, chosen.shape[0]) and homes[chosen[stop]] // shared == place:
        stop += 1
    return stop


@inner_kernel
def load_group(Q, chosen, rule, points, group, hull):  # OUT: points, group, hull
    """Up to LEAF queries as rows and as columns (filled up with copies of the last), and a box or ball around them."""
    count, d = chosen.shape[0], Q.shape[1]
    for j in range(LEAF):
        row = chosen[min(j, count - 1)]
        for k in range(d):
            points[j, k] = group[k, j] = Q[row, k]
    for k in range(d):
        low = high = total = group[k, 0]
        for j in range(1, LEAF):
            low, high, total = min(low, group[k, j]), max(high, group[k, j]), total + group[k, j]
        hull[0, k], hull[1, k] = (total / LEAF, 0.0) if rule.is_ball else (low, high)
    if rule.is_ball:
        farthest = 0.0
        for j in range(LEAF):
            total = 0.0
            for k in range(d):
                total = add(total, group[k, j] - hull[0, k], rule)
            farthest = max(farthest, total)
        hull[1, 0] = to_distance(farthest, rule) * (1.0 + MARGIN)


@kernel
def find_homes(Q, first, stop, spans, axes, cuts, homes):  # OUT: homes
    """homes[i] = the leaf on whose side of all cuts query i lies."""
    # Q: (m, d) C order, float64; homes: (m,) int32
    for i in range(first, stop):
        node = 0
        while axes[node] >= 0:
            node = 2 * node + 1 if Q[i, axes[node]] < cuts[node] else 2 * node + 2
        homes[i] = spans[node, 0]


@kernel
def order_by_home(homes, starts, chosen):  # OUT: starts, chosen
    """Sort queries by their leaf, by counting; `starts` has a place per leaf and two more, all zero."""
    # homes: (m,) int32; starts: (n_leaves + 2,) int64; chosen: (m,) int32
    for i in range(homes.shape[0]):
        starts[homes[i] + 2] += 1
    for leaf in range(2, starts.shape[0]):
        starts[leaf] += starts[leaf - 1]
    for i in range(homes.shape[0]):
        place = starts[homes[i] + 1]
        chosen[place] = i
        starts[homes[i] + 1] = place + 1


@inner_kernel
def insert(values, places, value, place):  # OUT: values, places
    """Put a pair into a sorted list of pairs, whose last falls out."""
    j = values.shape[0] - 1
    while j > 0 and (values[j - 1] > value or (values[j - 1] == value and places[j - 1] > place)):
        values[j], places[j] = values[j - 1], places[j - 1]
        j -= 1
    values[j], places[j] = value, place


@inner_kernel
def take_leaf(points, block, rows, rule, gaps, near, limits, values, places):  # OUT: near, limits, values, places
    """Offer the points of a leaf (with numbers `rows`) to the queries that it is near; returns the largest limit."""
    last, width, worst = values.shape[1] - 1, near.shape[0], 0.0
    in_space, in_plane = rule.code <= EUCLIDEAN and block.shape[0] == 3, rule.code <= EUCLIDEAN and block.shape[0] == 2
    xs, ys, zs = block[0], block[min(1, block.shape[0] - 1)], block[min(2, block.shape[0] - 1)]
    for i in range(width):
        if gaps[i] <= limits[i]:
            if in_space:  # as in `measure`, which would have to be called: a third of the time
                x, y, z = points[i, 0], points[i, 1], points[i, 2]
                for j in range(width):
                    a, b, c = xs[j] - x, ys[j] - y, zs[j] - z
                    near[j] = a * a + b * b + c * c
            elif in_plane:
                x, y = points[i, 0], points[i, 1]
                for j in range(width):
                    a, b = xs[j] - x, ys[j] - y
                    near[j] = a * a + b * b
            else:
                measure(points[i], block, rule, near)
            for j in range(rows.shape[0]):
                if near[j] <= limits[i] and (near[j] < limits[i] or rows[j] < places[i, last]):
                    insert(values[i], places[i], near[j], rows[j])
                    limits[i] = values[i, last]
        worst = limits[i] if limits[i] > worst else worst
    return worst


@inner_kernel
def push_children(node, hull, bounds, rule, top, stack, reach):  # OUT: stack, reach
    """Put the children of a node on the stack, the nearer on top."""
    left, right = 2 * node + 1, 2 * node + 2
    a, b = hull_gap(hull, bounds[left], rule), hull_gap(hull, bounds[right], rule)
    if a <= b:
        stack[top], reach[top], stack[top + 1], reach[top + 1] = right, b, left, a
    else:
        stack[top], reach[top], stack[top + 1], reach[top + 1] = left, a, right, b
    return top + 2


@view_kernel
def nearest(
    Q, chosen, homes, blocks, order, spans, bounds, rule, room, lists, distances, found
):  # OUT: distances, found
    """The rows nearest to the chosen queries, which should be sorted by `homes`; nearest first.

    For each group the leaf it lives in is measured first: then the lists are good enough to leave most of the rest out.
    Returns how many nodes were visited.
    """
    # Q: (m, d) C order, float64; chosen: some of range(m); blocks: (n_leaves, d, LEAF); distances, found: (m, k)
    # lists: distances and rows of a group, (LEAF, k): queries stand far apart in memory, their lists should not
    (values, places), k, n = lists, distances.shape[1], order.shape[0]
    points, group, hull, gaps, near, limits, stack, reach = room
    stop = visits = 0
    while stop < chosen.shape[0]:
        start, stop = stop, end_of_group(chosen, homes, Q.shape[1], stop)
        some = chosen[start:stop]
        load_group(Q, some, rule, points, group, hull)
        home = homes[some[0]]
        rows = order[home * LEAF : min((home + 1) * LEAF, n)]
        for i in range(LEAF):
            gaps[i], limits[i] = 0.0, np.inf if i < some.shape[0] else -1.0  # lanes without a query take nothing
            for j in range(k):
                values[i, j], places[i, j] = np.inf, n
        worst = take_leaf(points, blocks[home], rows, rule, gaps, near, limits, values, places)
        stack[0], reach[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            first = spans[node, 0]
            if reach[top] > worst:
                continue
            visits += 1
            if spans[node, 1] - first > 1:
                top = push_children(node, hull, bounds, rule, top, stack, reach)
            elif first != home and any_near(group, bounds[node], rule, limits, gaps):
                rows = order[first * LEAF : min((first + 1) * LEAF, n)]
                worst = take_leaf(points, blocks[first], rows, rule, gaps, near, limits, values, places)
        for i in range(some.shape[0]):
            for j in range(k):
                distances[some[i], j], found[some[i], j] = to_distance(values[i, j], rule), places[i, j]
    return visits


@view_kernel
def within(Q, chosen, homes, radii, blocks, order, spans, bounds, rule, room, counts, lists):  # OUT: counts, lists
    """Count the rows within `radii` (reduced) of the chosen queries; list them too unless `lists` is empty.

    The list of query i begins at starts[i]; its entries come in no particular order.
    """
    # as for `nearest`; radii, counts: (m,), counts zero; lists: starts, rows and distances (the last two may be empty)
    n, only_count, (starts, found, distances) = order.shape[0], lists[1].shape[0] == 0, lists
    points, group, hull, gaps, near, limits, stack, _ = room
    stop = 0
    while stop < chosen.shape[0]:
        start, stop = stop, end_of_group(chosen, homes, Q.shape[1], stop)
        some = chosen[start:stop]
        load_group(Q, some, rule, points, group, hull)
        least = most = radii[some[0]]
        for i in range(LEAF):
            limits[i] = radii[some[i]] if i < some.shape[0] else -1.0
            least, most = min(least, radii[some[min(i, some.shape[0] - 1)]]), max(most, limits[i])
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            first, after = spans[node, 0], spans[node, 1]
            if hull_gap(hull, bounds[node], rule) > most:
                continue
            if only_count and hull_span(hull, bounds[node], rule) <= least:
                for i in range(some.shape[0]):
                    counts[some[i]] += min(after * LEAF, n) - first * LEAF
            elif after - first > 1:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2
            elif any_near(group, bounds[node], rule, limits, gaps):
                rows = order[first * LEAF : min((first + 1) * LEAF, n)]
                for i in range(some.shape[0]):
                    if gaps[i] > limits[i]:
                        continue
                    query = some[i]
                    measure(points[i], blocks[first], rule, near)
                    for j in range(rows.shape[0]):
                        if near[j] <= limits[i]:
                            if not only_count:
                                place = starts[query] + counts[query]
                                found[place], distances[place] = rows[j], to_distance(near[j], rule)
                            counts[query] += 1


@inner_kernel
def sift(keys, other, by_other, begin, root, size):  # OUT: keys, other
    """Let an element sink in the heap that starts at `begin`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(keys, other, by_other, begin + child, begin + child + 1):
            child += 1
        if not comes_before(keys, other, by_other, begin + root, begin + child):
            return
        a, b = begin + root, begin + child
        keys[a], keys[b] = keys[b], keys[a]
        other[a], other[b] = other[b], other[a]
        root = child


@inner_kernel
def comes_before(keys, other, by_other, i, j):
    if by_other and other[i] != other[j]:
        return other[i] < other[j]
    return keys[i] < keys[j]


@kernel
def sort_lists(starts, first, stop, by_distance, found, distances):  # OUT: found, distances
    """Sort some lists by row number, or by distance and then row number; in place, by heaps."""
    # starts: (m + 1,) int64; found: int64, distances: float64, both (starts[-1],)
    for i in range(first, stop):
        begin, size = starts[i], starts[i + 1] - starts[i]
        for root in range(size // 2 - 1, -1, -1):
            sift(found, distances, by_distance, begin, root, size)
        for end in range(size - 1, 0, -1):
            a, b = begin, begin + end
            found[a], found[b] = found[b], found[a]
            distances[a], distances[b] = distances[b], distances[a]
            sift(found, distances, by_distance, begin, 0, end)
