"""Kernels of OPTICS: the order in which points are reached, from a flat heap and a tree, and steep parts of its plot.

Points that were reached wait in a heap, ordered by reachability and then row number; `place` says where in the heap a
row is, or WAITING (nobody reached it) or DONE.  On a tree every point has a limit, the distance beyond which it is not
reached more easily than it was, and every node the largest limit below it: what is farther away is left out.
"""

import math

import numpy as np

from hyperplan._core.jit import inner_kernel, kernel, view_kernel
from hyperplan._math._space_tree_kernels import DEPTH, LEAF, MARGIN, hull_gap, measure, to_distance, to_reduced

WAITING, DONE = -1, -2
DECIMALS = 1e15  # reachabilities are rounded to 15 decimals, so that the order does not depend on the last bits


@inner_kernel
def rounded(value):
    scaled = value * DECIMALS
    return np.rint(scaled) / DECIMALS if scaled < np.inf else value


@inner_kernel
def comes_before(reach, a, b):
    return reach[a] < reach[b] or (reach[a] == reach[b] and a < b)


@inner_kernel
def rise(reach, heap, place, spot):  # OUT: heap, place
    """Let the row at a spot of the heap rise to where it belongs."""
    row = heap[spot]
    while spot > 0:
        above = (spot - 1) // 2
        if not comes_before(reach, row, heap[above]):
            break
        heap[spot] = heap[above]
        place[heap[spot]] = spot
        spot = above
    heap[spot], place[row] = row, spot


@inner_kernel
def take_first(reach, heap, place, size):  # OUT: heap, place
    """Take the first row out of a heap of that size, and mark it as done."""
    first, row, spot = heap[0], heap[size - 1], 0
    while True:
        child = 2 * spot + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and comes_before(reach, heap[child + 1], heap[child]):
            child += 1
        if not comes_before(reach, heap[child], row):
            break
        heap[spot] = heap[child]
        place[heap[spot]] = spot
        spot = child
    heap[spot], place[row] = row, spot
    place[first] = DONE
    return first


@inner_kernel
def offer(row, value, source, reach, predecessor, heap, place, size):  # OUT: reach, predecessor, heap, place
    """Note that a row can be reached from another at that value, if it is the least so far; returns the heap's size."""
    if place[row] == DONE or not value < reach[row]:
        return size
    reach[row], predecessor[row] = value, source
    if place[row] == WAITING:
        heap[size] = row
        size += 1
        rise(reach, heap, place, size - 1)
    else:
        rise(reach, heap, place, place[row])
    return size


@view_kernel
def next_row(reach, heap, place, sizes):  # OUT: heap, place, sizes
    """The row to be emitted next: the first of the heap, or the first that nobody reached."""
    # reach: (n,) float64; heap, place: (n,) int64; sizes: the heap's size, and a row before which all are done
    if sizes[0] > 0:
        row = take_first(reach, heap, place, sizes[0])
        sizes[0] -= 1
        return row
    while place[sizes[1]] == DONE:
        sizes[1] += 1
    place[sizes[1]] = DONE
    return sizes[1]


@view_kernel
def spread(columns, values, row, core, most, reach, predecessor, heap, place, sizes):  # OUT: reach ... sizes
    """Reach other rows from a core point, given their distances; `most` is the largest that counts."""
    # columns, values: (m,) row numbers and distances; the others as for `next_row`
    size = sizes[0]
    for j in range(columns.shape[0]):
        if values[j] <= most:
            value = rounded(max(values[j], core))
            size = offer(columns[j], value, row, reach, predecessor, heap, place, size)
    sizes[0] = size


@inner_kernel
def settle(leaf, node, limits, largest):  # OUT: largest
    """Bring the largest limits of a leaf's node and of those above up to date."""
    most = -1.0
    for j in range(leaf * LEAF, (leaf + 1) * LEAF):
        most = limits[j] if limits[j] > most else most
    while most < largest[node]:
        largest[node] = most
        if node == 0:
            return
        above = (node - 1) // 2
        a, b = largest[2 * above + 1], largest[2 * above + 2]
        node, most = above, a if a > b else b


@inner_kernel
def any_within(near, limits):
    found = False
    for j in range(near.shape[0]):
        found |= near[j] <= limits[j]
    return found


@kernel
def order_on_tree(X, where, rule, scale, core, most, reach, predecessor, ordering):  # OUT: reach, predecessor, ordering
    """Emit all rows, always the one that is reached at the least value, and reach others from it if it is a core point.

    `scale` multiplies distances in X; `core` and `reach` are as the caller measures, `most` is reduced.
    """
    # X: (n, d) C order, float64; core, reach: (n,), infinite where there is none; predecessor, ordering: (n,) int64
    blocks, order, spans, bounds = where
    n, n_leaves, d = order.shape[0], blocks.shape[0], X.shape[1]
    limits, largest = np.full(n_leaves * LEAF, most), np.full(spans.shape[0], most)
    position, leaf_nodes = np.empty(n, np.int64), np.empty(n_leaves, np.int64)
    heap, place, sizes = np.empty(n, np.int64), np.full(n, WAITING), np.zeros(2, np.int64)
    hull, near, stack = np.zeros((2, d)), np.empty(LEAF), np.empty(DEPTH, np.int64)
    for i in range(n):
        position[order[i]] = i
    for i in range(n, n_leaves * LEAF):
        limits[i] = -1.0
    for node in range(spans.shape[0]):
        if spans[node, 1] - spans[node, 0] == 1:
            leaf_nodes[spans[node, 0]] = node
    for step in range(n):
        row = next_row(reach, heap, place, sizes)
        ordering[step] = row
        leaf = position[row] // LEAF
        limits[position[row]] = -1.0
        settle(leaf, leaf_nodes[leaf], limits, largest)
        if core[row] == np.inf:
            continue
        for k in range(d):
            hull[0, k] = X[row, k]
            hull[1, k] = 0.0 if rule.is_ball else X[row, k]
        least = to_reduced(core[row] * scale, rule) * (1.0 - MARGIN)
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if largest[node] < least or hull_gap(hull, bounds[node], rule) > largest[node]:
                continue
            leaf = spans[node, 0]
            if spans[node, 1] - leaf > 1:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2
                continue
            measure(X[row], blocks[leaf], rule, near)
            base = leaf * LEAF
            if not any_within(near, limits[base : base + LEAF]):
                continue
            for j in range(LEAF):
                if near[j] <= limits[base + j]:
                    other = order[base + j]
                    value = rounded(max(to_distance(near[j], rule) / scale, core[row]))
                    sizes[0] = offer(other, value, row, reach, predecessor, heap, place, sizes[0])
                    bound = to_reduced((reach[other] + 2.0 / DECIMALS) * scale, rule) * (1.0 + MARGIN)
                    limits[base + j] = min(limits[base + j], bound)
            settle(leaf, node, limits, largest)


@inner_kernel
def is_steep(plot, i, complement, upward):
    ratio = plot[i] / plot[i + 1]
    return ratio <= complement if upward else ratio >= 1.0 / complement


@inner_kernel
def end_of_area(plot, start, complement, upward, min_samples):
    """Last steep point of a steep area: points between may be flat, not more than `min_samples` in a row."""
    end, flat = start, 0
    for i in range(start, plot.shape[0] - 1):
        ratio = plot[i] / plot[i + 1]
        if is_steep(plot, i, complement, upward):
            end, flat = i, 0
        elif ratio > 1.0 if upward else ratio < 1.0:
            return end
        else:
            flat += 1
            if flat > min_samples:
                return end
    return end


@inner_kernel
def corrected_end(plot, before, start, end):
    """The last end of a cluster whose point was reached from inside it (or lies below its start); -1 without one."""
    while start < end:
        if plot[start] > plot[end] or start <= before[end] < end:
            return end
        end -= 1
    return -1


@inner_kernel
def cluster_between(plot, before, begin, down_end, between, up_start, up_end, complement, min_size, correct):
    """Ends of the cluster between a steep area down and one up, or (-1, -1) if they make none."""
    start, end, top, after = begin, up_end, plot[begin], plot[up_end + 1]
    if after * complement < between:
        return -1, -1
    if top * complement >= after:
        while plot[start + 1] > after and start < down_end:
            start += 1
    elif after * complement >= top:
        while plot[end - 1] > top and end > up_start:
            end -= 1
    if correct:
        end = corrected_end(plot, before, start, end)
    if end < 0 or end - start + 1 < min_size or start > down_end or end < up_start:
        return -1, -1
    return start, end


@kernel
def steep_clusters(plot, before, complement, min_samples, min_size, correct, clusters):  # OUT: clusters
    """Clusters between steep areas of a reachability plot, smaller ones first; returns how many there are.

    Those for which there is no room are counted only.
    """
    # plot: (n + 1,) reachability in order, infinite at the end; before: (n,) place of the predecessor, or -1
    # clusters: (room, 2) int64, first and last place
    n, n_areas, count, index, between = before.shape[0], 0, 0, 0, 0.0
    begins, ends, highest = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for steep in range(n):
        down = is_steep(plot, steep, complement, False)
        if steep < index or not (down or is_steep(plot, steep, complement, True)):
            continue
        for i in range(index, steep + 1):
            between = max(between, plot[i])
        kept = 0
        for a in range(n_areas):
            if not math.isinf(between) and between <= plot[begins[a]] * complement:
                begins[kept], ends[kept], highest[kept] = begins[a], ends[a], max(highest[a], between)
                kept += 1
        n_areas = kept
        end = end_of_area(plot, steep, complement, not down, min_samples)
        index = end + 1
        between = plot[index]
        if down:
            begins[n_areas], ends[n_areas], highest[n_areas] = steep, end, 0.0
            n_areas += 1
            continue
        for a in range(n_areas - 1, -1, -1):
            first, last = cluster_between(
                plot, before, begins[a], ends[a], highest[a], steep, end, complement, min_size, correct
            )
            if last >= 0:
                if count < clusters.shape[0]:
                    clusters[count, 0], clusters[count, 1] = first, last
                count += 1
    return count


@view_kernel
def label_places(clusters, labels):  # OUT: labels
    """Number the clusters that contain no smaller one, in their order."""
    # clusters: (m, 2) int64; labels: (n,) int64 by place, all -1
    label = 0
    for c in range(clusters.shape[0]):
        is_free = True
        for i in range(clusters[c, 0], clusters[c, 1] + 1):
            if labels[i] != -1:
                is_free = False
                break
        if is_free:
            for i in range(clusters[c, 0], clusters[c, 1] + 1):
                labels[i] = label
            label += 1


@view_kernel
def reach_tile(tile, first, core, most, best, nearest, found):  # OUT: best, nearest, found
    """From which core points (columns) rows are reached at the least value; of those the nearest, then the first."""
    # tile: (m, w) distances; core: (w,); best, nearest: (m,) float64, infinite at first; found: (m,) int64
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            value = max(tile[i, j], core[j])
            if value > best[i] or tile[i, j] > most or value == np.inf:
                continue
            if value < best[i] or tile[i, j] < nearest[i]:
                best[i], nearest[i], found[i] = value, tile[i, j], first + j
