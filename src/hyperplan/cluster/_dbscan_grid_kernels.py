"""Kernels of DBSCAN on a grid: cells so small that all points of a cell are neighbours, in one to three dimensions.

Cells have numbers in which the last coordinate runs fastest, and points are sorted by them.  So the cells around a
cell are a few runs of neighbouring numbers, one per row of cells, and their points are runs of neighbouring positions:
nothing has to be looked up, and distances are measured in vectors.  No list of neighbours is ever made.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, kernel, view_kernel
from hyperplan.cluster._dbscan_kernels import root

REACH = 2  # cells between neighbours at most, along each axis; also the empty margin of the grid
BITS = 11  # of a digit when cells are sorted
SIZE = 1 << BITS
BLOCK = 128  # points that are looked at before asking whether one of them was near
PAIRS = 2048  # of points in two cells that are measured one by one; larger cells are halved
DEPTH = 256  # halvings that may wait: two per level, and levels halve at most 2^31 points each


@view_kernel
def number_cells(X, low, side, sizes, first, stop, keys):  # OUT: keys
    """keys[i] = number of the cell of row i."""
    # X: (n, d) C order, float64; low, sizes: (d,); keys: (n,) int64
    for i in range(first, stop):
        key = 0
        for k in range(X.shape[1]):
            key = key * sizes[k] + np.int64((X[i, k] - low[k]) / side) + REACH
        keys[i] = key


@kernel
def sort_by_key(keys, rows, spare_keys, spare_rows, largest):  # OUT: all arrays
    """Sort rows by their keys, digit by digit; returns whether the result is in the spare arrays."""
    # keys: (n,) int64, from 0 to `largest`; rows: (n,) int32
    n, moved, shift = keys.shape[0], False, 0
    counts = np.zeros(SIZE, np.int64)
    while (largest >> shift) > 0:
        for digit in range(SIZE):
            counts[digit] = 0
        for i in range(n):
            counts[(keys[i] >> shift) & (SIZE - 1)] += 1
        total = 0
        for digit in range(SIZE):
            count = counts[digit]
            counts[digit] = total
            total += count
        for i in range(n):
            digit = (keys[i] >> shift) & (SIZE - 1)
            place = counts[digit]
            spare_keys[place], spare_rows[place] = keys[i], rows[i]
            counts[digit] = place + 1
        keys, spare_keys = spare_keys, keys
        rows, spare_rows = spare_rows, rows
        moved = not moved
        shift += BITS
    return moved


@view_kernel
def find_cells(keys, cells, starts, nodes):  # OUT: cells, starts, nodes
    """Cells that hold points: their numbers and first positions, and the cell of each position; returns how many."""
    # keys, cells: (n,) int64; starts: (n + 1,) int64; nodes: (n,) int32
    count = 0
    for i in range(keys.shape[0]):
        if i == 0 or keys[i] != keys[i - 1]:
            cells[count], starts[count] = keys[i], i
            count += 1
        nodes[i] = count - 1
    starts[count] = keys.shape[0]
    return count


@view_kernel
def gather(X, rows, first, stop, points):  # OUT: points
    """points[:, i] = X[rows[i]]."""
    for i in range(first, stop):
        row = rows[i]
        for k in range(X.shape[1]):
            points[k, i] = X[row, k]


@view_kernel
def keep_cores(points, cores, starts, near, near_starts):  # OUT: near, near_starts
    """The core points of all cells, one after the other."""
    count = 0
    for c in range(starts.shape[0] - 1):
        near_starts[c] = count
        for i in range(starts[c], starts[c + 1]):
            if cores[i]:
                for k in range(points.shape[0]):
                    near[k, count] = points[k, i]
                count += 1
    near_starts[starts.shape[0] - 1] = count


@inner_kernel
def lower_bound(cells, key):
    """How many cells have a smaller number."""
    low, high = 0, cells.shape[0]
    while low < high:
        middle = (low + high) // 2
        if cells[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def start_runs(cells, key, offsets, reach, begins, ends):  # OUT: begins, ends
    for r in range(offsets.shape[0]):
        begins[r] = ends[r] = lower_bound(cells, key + offsets[r] - reach)


@inner_kernel
def move_runs(cells, key, offsets, reach, begins, ends):  # OUT: begins, ends
    """The cells up to `reach` from a cell, one run per row of cells; keys may only grow from call to call."""
    n = cells.shape[0]
    for r in range(offsets.shape[0]):
        low, high, a = key + offsets[r] - reach, key + offsets[r] + reach, begins[r]
        while a < n and cells[a] < low:
            a += 1
        b = max(a, ends[r])
        while b < n and cells[b] <= high:
            b += 1
        begins[r], ends[r] = a, b


@inner_kernel
def count_near(points, i, a, b, limit):
    """How many of the points a to b - 1 are within the limit (a square) of point i."""
    count, d = 0, points.shape[0]
    x, xs = points[0, i], points[0, a:b]
    if d == 1:
        for j in range(xs.shape[0]):
            p = xs[j] - x
            count += p * p <= limit
        return count
    y, ys = points[1, i], points[1, a:b]
    if d == 2:
        for j in range(xs.shape[0]):
            p, q = xs[j] - x, ys[j] - y
            count += p * p + q * q <= limit
        return count
    z, zs = points[2, i], points[2, a:b]
    for j in range(xs.shape[0]):
        p, q, s = xs[j] - x, ys[j] - y, zs[j] - z
        count += p * p + q * q + s * s <= limit
    return count


@inner_kernel
def squared_gap(points, i, others, j):
    total = 0.0
    for k in range(points.shape[0]):
        gap = others[k, j] - points[k, i]
        total += gap * gap
    return total


@inner_kernel
def weigh_near(points, i, a, b, limit, weights):
    """As `count_near`, with weights."""
    total = 0.0
    for j in range(a, b):
        total += weights[j] if squared_gap(points, i, points, j) <= limit else 0.0
    return total


@inner_kernel
def any_near(points, i, others, a, b, limit):
    """Whether one of the others a to b - 1 is within the limit of point i."""
    d = points.shape[0]
    x, y, z = points[0, i], points[min(1, d - 1), i], points[d - 1, i]
    for start in range(a, b, BLOCK):
        stop = min(start + BLOCK, b)
        xs, ys, zs = others[0, start:stop], others[min(1, d - 1), start:stop], others[d - 1, start:stop]
        found = False
        if d == 2:
            for j in range(xs.shape[0]):
                p, q = xs[j] - x, ys[j] - y
                found |= p * p + q * q <= limit
        elif d == 1:
            for j in range(xs.shape[0]):
                p = xs[j] - x
                found |= p * p <= limit
        else:
            for j in range(xs.shape[0]):
                p, q, s = xs[j] - x, ys[j] - y, zs[j] - z
                found |= p * p + q * q + s * s <= limit
        if found:
            return True
    return False


@kernel
def find_cores(points, weights, cells, starts, offsets, first, stop, limit, need, may_stop, cores):  # OUT: cores
    """Which points of the cells first to stop - 1 have the weight `need` within the limit, themselves included.

    With `may_stop` (no weight is negative) the search ends as soon as there is enough; a cell that has it needs none.
    """
    # points: (d, n) C order, sorted by cell; weights: (n,) or empty; cells: (m,), starts: (m + 1,); cores: (n,) bool
    n_rows, is_weighted = offsets.shape[0], weights.shape[0] > 0
    begins, ends = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    start_runs(cells, cells[first], offsets, REACH, begins, ends)
    for c in range(first, stop):
        begin, end = starts[c], starts[c + 1]
        own = np.float64(end - begin)
        if is_weighted:
            own = 0.0
            for i in range(begin, end):
                own += weights[i]
        if may_stop and own >= need:
            for i in range(begin, end):
                cores[i] = True
            continue
        move_runs(cells, cells[c], offsets, REACH, begins, ends)
        for i in range(begin, end):
            total = 0.0
            for r in range(n_rows):
                a, b = starts[begins[r]], starts[ends[r]]
                if is_weighted:
                    total += weigh_near(points, i, a, b, limit, weights)
                else:
                    total += count_near(points, i, a, b, limit)
                if may_stop and total >= need:
                    break
            cores[i] = total >= need


@inner_kernel
def find_box(near, a, b, box):  # OUT: box
    """The box around points a to b - 1; returns its widest axis."""
    axis = 0
    for k in range(near.shape[0]):
        low = high = near[k, a]
        for i in range(a + 1, b):
            low, high = min(low, near[k, i]), max(high, near[k, i])
        box[0, k], box[1, k] = low, high
        if high - low > box[1, axis] - box[0, axis]:
            axis = k
    return axis


@inner_kernel
def halve(near, a, b, axis):  # OUT: near
    """Move points a to b - 1 so that the lower half along an axis comes first; returns where the other begins."""
    middle, left, right = (a + b) // 2, a, b - 1
    while right > left:
        u, v, w = near[axis, left], near[axis, (left + right) // 2], near[axis, right]
        pivot = max(min(u, v), min(max(u, v), w))
        i, j = left, right
        while i <= j:
            while near[axis, i] < pivot:
                i += 1
            while near[axis, j] > pivot:
                j -= 1
            if i <= j:
                for k in range(near.shape[0]):
                    near[k, i], near[k, j] = near[k, j], near[k, i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return middle


@inner_kernel
def are_close(near, limit, stack, boxes):  # OUT: near, stack, boxes
    """Whether a point of one run is within the limit of a point of another; stack[0] holds the ends of both runs.

    Large runs are halved until their boxes tell, or few pairs are left: crowded cells do not cost their square.
    """
    top = 1
    while top > 0:
        top -= 1
        a, b, c, d = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if (b - a) * (d - c) <= PAIRS:
            for i in range(a, b):
                if any_near(near, i, near, c, d, limit):
                    return True
            continue
        axis, other = find_box(near, a, b, boxes[0]), find_box(near, c, d, boxes[1])
        gap = span = 0.0
        for k in range(near.shape[0]):
            below, above = boxes[1, 0, k] - boxes[0, 1, k], boxes[0, 0, k] - boxes[1, 1, k]
            least = max(below, above, 0.0)
            most = max(boxes[1, 1, k] - boxes[0, 0, k], boxes[0, 1, k] - boxes[1, 0, k])
            gap, span = gap + least * least, span + most * most
        if gap > limit:
            continue
        if span <= limit:
            return True
        if b - a >= d - c:
            middle = halve(near, a, b, axis)
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a, middle, c, d
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = middle, b, c, d
        else:
            middle = halve(near, c, d, other)
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = a, b, c, middle
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = a, b, middle, d
        top += 2
    return False


@kernel
def link_cells(near, cells, near_starts, offsets, reach, limit, parents):  # OUT: near, parents
    """Join the cells up to `reach` apart that have core points within the limit of each other.

    Points of a cell may change places.
    """
    # near: (d, n_cores) C order; cells, parents: (m,) int64; offsets: of the cell's own row of cells and later ones
    n_rows = offsets.shape[0]
    begins, ends = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    stack, boxes = np.empty((DEPTH, 4), np.int64), np.empty((2, 2, 3))
    for c in range(cells.shape[0]):
        if near_starts[c] == near_starts[c + 1]:
            continue
        move_runs(cells, cells[c], offsets, reach, begins, ends)
        for r in range(n_rows):
            for e in range(max(begins[r], c + 1), ends[r]):
                if near_starts[e] == near_starts[e + 1]:
                    continue
                a, b = root(parents, c), root(parents, e)
                if a == b:
                    continue
                stack[0, 0], stack[0, 1] = near_starts[c], near_starts[c + 1]
                stack[0, 2], stack[0, 3] = near_starts[e], near_starts[e + 1]
                if are_close(near, limit, stack, boxes):
                    parents[max(a, b)] = min(a, b)


@kernel
def place_borders(points, rows, cores, grid, near, offsets, labels, limit, first, stop, out):  # OUT: out
    """The smallest label of core points within the limit of each point that is none; returns how many had a choice."""
    # grid: cells, starts and near_starts; labels: (m,) int64 of cells; out: (n,) int64, by row number
    cells, starts, near_starts = grid
    n_rows, n_shared = offsets.shape[0], 0
    begins, ends = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    start_runs(cells, cells[first], offsets, REACH, begins, ends)
    for c in range(first, stop):
        if near_starts[c + 1] - near_starts[c] == starts[c + 1] - starts[c]:
            continue
        move_runs(cells, cells[c], offsets, REACH, begins, ends)
        for i in range(starts[c], starts[c + 1]):
            if cores[i]:
                continue
            best, is_shared = -1, False
            for r in range(n_rows):
                for e in range(begins[r], ends[r]):
                    label = labels[e]
                    if near_starts[e] == near_starts[e + 1] or label == best or (is_shared and label > best):
                        continue
                    if any_near(points, i, near, near_starts[e], near_starts[e + 1], limit):
                        is_shared = best >= 0
                        best = label if best < 0 else min(best, label)
            out[rows[i]] = best
            n_shared += is_shared
    return n_shared
