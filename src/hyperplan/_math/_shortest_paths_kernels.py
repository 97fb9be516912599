"""Shortest paths in undirected graphs: a heap for one source, sweeps for many neighbouring ones at a time.

Graphs are CSR arrays: the edges of node v lead to ``ends[starts[v]:starts[v + 1]]`` (int32), with float64 lengths that
are not negative, and each edge is listed at both of its ends.  A path is as long as its edges added up from the source
on; rounding is monotone, so that the least such sum does not depend on the order of the steps: all kernels here give
the same bits.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel

LANES = 32  # sources that are swept together; a row of a block is four cache lines
NEAR = 16 * LANES  # nodes around the sources that are swept until nothing changes, before the others begin
TILE = 64  # nodes that are written at a time


@inner_kernel
def rise(keys, nodes, place, spot, key, node):  # OUT: keys, nodes, place
    """Put a node into a heap with four children per node, at or above `spot`."""
    while spot > 0:
        parent = (spot - 1) >> 2
        if keys[parent] <= key:
            break
        keys[spot] = keys[parent]
        nodes[spot] = nodes[parent]
        place[nodes[spot]] = spot
        spot = parent
    keys[spot] = key
    nodes[spot] = node
    place[node] = spot


@inner_kernel
def sink(keys, nodes, place, size, key, node):  # OUT: keys, nodes, place
    """Put a node into a heap of that size whose root is free."""
    spot, child = 0, 1
    while child < size:
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if keys[other] < keys[best]:
                best = other
        if keys[best] >= key:
            break
        keys[spot] = keys[best]
        nodes[spot] = nodes[best]
        place[nodes[spot]] = spot
        spot, child = best, 4 * best + 1
    keys[spot] = key
    nodes[spot] = node
    place[node] = spot


@view_kernel
def settle(starts, ends, lengths, sources, offsets, distance, keys, nodes, place, order):  # OUT: distance, order
    """Dijkstra's algorithm from sources that lie `offsets` behind the start; returns how many nodes were reached.

    `order` lists those by distance.
    """
    # all but starts: (n,) and (number of edges,); keys, nodes, place: room for a heap of n nodes
    for v in range(distance.shape[0]):
        distance[v] = np.inf
        place[v] = -1
    size, count = 0, 0
    for s in range(sources.shape[0]):
        source, offset = sources[s], offsets[s]
        if offset < distance[source]:
            spot = place[source]
            if spot < 0:
                spot = size
                size += 1
            distance[source] = offset
            rise(keys, nodes, place, spot, offset, source)
    while size > 0:
        u, near = nodes[0], keys[0]
        order[count] = u
        count += 1
        size -= 1
        if size > 0:
            sink(keys, nodes, place, size, keys[size], nodes[size])
        for e in range(starts[u], starts[u + 1]):
            v, far = ends[e], near + lengths[e]
            if far < distance[v]:  # never true for a node that has left the heap
                spot = place[v]
                if spot < 0:
                    spot = size
                    size += 1
                distance[v] = far
                rise(keys, nodes, place, spot, far, v)
    return count


@view_kernel
def walk(starts, ends, seen, order):  # OUT: order
    """All nodes in the order of breadth-first walks; `seen` comes as zeros."""
    filled, head = 0, 0
    for root in range(order.shape[0]):
        if seen[root] == 0:
            seen[root] = 1
            order[filled] = root
            filled += 1
        while head < filled:
            u = order[head]
            head += 1
            for e in range(starts[u], starts[u + 1]):
                v = ends[e]
                if seen[v] == 0:
                    seen[v] = 1
                    order[filled] = v
                    filled += 1


@view_kernel
def group(starts, ends, order, wanted, seen, queue, grouped, bounds):  # OUT: grouped, bounds
    """Cut the wanted nodes into batches of up to LANES that are few steps from each other; returns their number.

    Batch b is ``grouped[bounds[b]:bounds[b + 1]]``; `seen` comes as minus ones, `wanted` is used up.
    """
    batch, filled = 0, 0
    for t in range(order.shape[0]):
        seed = order[t]
        if wanted[seed] == 0:
            continue
        bounds[batch] = filled
        queue[0] = seed
        seen[seed] = batch
        head, tail, room = 0, 1, LANES
        while head < tail and room > 0:
            u = queue[head]
            head += 1
            if wanted[u] != 0:
                wanted[u] = 0
                grouped[filled] = u
                filled += 1
                room -= 1
            for e in range(starts[u], starts[u + 1]):
                v = ends[e]
                if seen[v] != batch:
                    seen[v] = batch
                    queue[tail] = v
                    tail += 1
        batch += 1
    bounds[batch] = filled
    return batch


@inner_kernel
def shorten(row, near, length, shorter):  # OUT: shorter
    """The smaller of `row` and ``near + length``.

    Slices of unknown length are what the compiler vectorises.  In place it would store smaller values only: slowly.
    """
    for lane in range(row.shape[0]):
        far = near[lane] + length
        shorter[lane] = far if far < row[lane] else row[lane]


@inner_kernel
def shorten_by_four(row, near_a, a, near_b, b, near_c, c, near_d, d, shorter):  # OUT: shorter
    """The same for four neighbours at a time."""
    for lane in range(row.shape[0]):
        far_a, far_b, far_c, far_d = near_a[lane] + a, near_b[lane] + b, near_c[lane] + c, near_d[lane] + d
        left = far_a if far_a < far_b else far_b
        right = far_c if far_c < far_d else far_d
        far = left if left < right else right
        shorter[lane] = far if far < row[lane] else row[lane]


@inner_kernel
def any_shorter(near, length, known):
    """Whether an entry of ``near + length`` is smaller than the known one."""
    shorter = False
    for lane in range(near.shape[0]):
        shorter |= near[lane] + length < known[lane]
    return shorter


@inner_kernel
def pull(starts, ends, lengths, v, block, rows):  # OUT: block, rows
    """Shorten the paths to v by those to its neighbours; whether any became shorter."""
    own = block[v]
    known, shorter, spare = own, rows[0], rows[1]
    e, last = starts[v], starts[v + 1]
    while e + 4 <= last:
        near_a, near_b, near_c, near_d = block[ends[e]], block[ends[e + 1]], block[ends[e + 2]], block[ends[e + 3]]
        a, b, c, d = lengths[e], lengths[e + 1], lengths[e + 2], lengths[e + 3]
        shorten_by_four(known, near_a, a, near_b, b, near_c, c, near_d, d, shorter)
        known, shorter, spare = shorter, spare, shorter
        e += 4
    while e < last:
        shorten(known, block[ends[e]], lengths[e], shorter)
        known, shorter, spare = shorter, spare, shorter
        e += 1
    changed = any_shorter(known, 0.0, own)
    if changed:
        for lane in range(own.shape[0]):
            own[lane] = known[lane]
    return changed


@inner_kernel
def sweep_once(starts, ends, lengths, order, reach, backwards, block, rows, dirty):  # OUT: block, dirty
    """Pull at those of the first `reach` nodes of `order` that can gain; how many did.

    A node can gain if it has not been looked at, or if a neighbour has become so near that it offers a shorter way.
    """
    changed = 0
    for t in range(reach):
        v = order[reach - 1 - t] if backwards else order[t]
        if dirty[v] != 0:
            dirty[v] = 0
            if pull(starts, ends, lengths, v, block, rows):
                changed += 1
                for e in range(starts[v], starts[v + 1]):
                    u = ends[e]
                    if dirty[u] == 0 and any_shorter(block[v], lengths[e], block[u]):
                        dirty[u] = 1
    return changed


@view_kernel
def sweep(starts, ends, lengths, order, count, block, rows, dirty):  # OUT: block
    """Shortest paths from LANES sources at a time; returns the number of sweeps through all nodes.

    `block` holds zero where a lane has its source and infinity elsewhere.  In the order of distance from one of the
    sources, the last node before each on its shortest path has nearly always been there already, so that few sweeps,
    to and fro, settle everything.
    """
    # block: (n, LANES); rows: (2, LANES), room; dirty: (n,) int8; order: (n,), of which `count` entries count
    for t in range(count):
        dirty[order[t]] = 1
    near, backwards = min(count, NEAR), False
    while sweep_once(starts, ends, lengths, order, near, backwards, block, rows, dirty) > 0:
        backwards = not backwards
    sweeps, backwards = 1, False
    while sweep_once(starts, ends, lengths, order, count, backwards, block, rows, dirty) > 0:
        backwards = not backwards
        sweeps += 1
    return sweeps


@view_kernel
def spread(block, rows, out):  # OUT: out
    """Write the first lanes of a block into rows of the matrix of distances."""
    # block: (n, LANES) float64, C order; rows: (number of lanes in use,); out: (m, n) float32 or float64, C order
    for first in range(0, block.shape[0], TILE):
        last = min(first + TILE, block.shape[0])
        for lane in range(rows.shape[0]):
            r = rows[lane]
            for v in range(first, last):
                out[r, v] = block[v, lane]


@view_kernel
def through_all(matrix, row):  # OUT: matrix
    """Floyd and Warshall: let paths pass through node after node."""
    # matrix: (n, n), lengths of edges, infinite where there is none, zero on the diagonal; row: (n,), room
    n = matrix.shape[0]
    for k in range(n):
        for i in range(n):
            first = matrix[i, k]
            if first < np.inf and i != k:
                shorten(matrix[i], matrix[k], first, row)
                for j in range(n):
                    matrix[i, j] = row[j]


@view_kernel
def count_union(starts, ends, other_starts, other_ends, counts):  # OUT: counts
    """Edges of each node in the union of two graphs with sorted rows, without loops."""
    for v in range(counts.shape[0]):
        a, b, count = starts[v], other_starts[v], 0
        while a < starts[v + 1] or b < other_starts[v + 1]:
            left = ends[a] if a < starts[v + 1] else np.int32(2**31 - 1)
            right = other_ends[b] if b < other_starts[v + 1] else np.int32(2**31 - 1)
            a += left <= right
            b += right <= left
            count += min(left, right) != v
        counts[v] = count


@view_kernel
def fill_union(starts, ends, lengths, other_starts, other_ends, other_lengths, places, united, shortest):
    """Write that union; of an edge that both have, the shorter length."""
    # OUT: united, shortest; places: where the edges of each node begin
    for v in range(places.shape[0] - 1):
        a, b, at = starts[v], other_starts[v], places[v]
        while a < starts[v + 1] or b < other_starts[v + 1]:
            left = ends[a] if a < starts[v + 1] else np.int32(2**31 - 1)
            right = other_ends[b] if b < other_starts[v + 1] else np.int32(2**31 - 1)
            length = np.inf
            if left <= right:
                length = lengths[a]
            if right <= left:
                length = min(length, other_lengths[b])
            a += left <= right
            b += right <= left
            if min(left, right) != v:
                united[at] = min(left, right)
                shortest[at] = length
                at += 1


@view_kernel
def cut_edges(starts, ends, entry, low, parent, cursor, below, found):  # OUT: parent, below, found
    """Edges without which the graph falls apart (Tarjan's low links); returns their number.

    Each joins a node v of `found` to ``parent[v]``, and ``below[v]`` nodes would be cut off on the side of v.
    """
    # all (n,); entry comes as minus ones
    clock, count = 0, 0
    for root in range(entry.shape[0]):
        if entry[root] >= 0:
            continue
        v, u, above = -1, root, -1
        while True:
            if u >= 0:  # enter u from v
                entry[u], low[u], parent[u], cursor[u], below[u] = clock, clock, v, starts[u], 1
                clock += 1
                v, u = u, -1
            if cursor[v] < starts[v + 1]:
                end = ends[cursor[v]]
                cursor[v] += 1
                if entry[end] < 0:
                    u = end
                elif end != parent[v]:
                    low[v] = min(low[v], entry[end])
                continue
            above = parent[v]
            if above < 0:
                break
            low[above] = min(low[above], low[v])
            below[above] += below[v]
            if low[v] > entry[above]:
                found[count] = v
                count += 1
            v = above
    return count


@inner_kernel
def detour_within(starts, ends, lengths, source, target, limit, distance, keys, nodes, place, touched):
    """Whether a path of at most that length leads from source to target without their own edge."""
    # OUT: all from distance on; distance is infinite and place -1 everywhere, before and after
    distance[source], touched[0] = 0.0, source
    rise(keys, nodes, place, 0, 0.0, source)
    size, count, reached = 1, 1, False
    while size > 0:
        u, near = nodes[0], keys[0]
        if u == target:
            reached = True
            break
        size -= 1
        if size > 0:
            sink(keys, nodes, place, size, keys[size], nodes[size])
        for e in range(starts[u], starts[u + 1]):
            v, far = ends[e], near + lengths[e]
            if far <= limit and far < distance[v] and not (u == source and v == target):
                spot = place[v]
                if spot < 0:
                    spot = size
                    size += 1
                    touched[count] = v
                    count += 1
                distance[v] = far
                rise(keys, nodes, place, spot, far, v)
    for t in range(count):
        distance[touched[t]] = np.inf
        place[touched[t]] = -1
    return reached


@view_kernel
def long_detours(starts, ends, lengths, factor, distance, keys, nodes, place, touched, flags):  # OUT: flags
    """Mark the edges whose ends are more than `factor` times as far from each other without them; from i to j > i."""
    # distance, keys, nodes, place, touched: room for a heap, as above; flags: (number of entries,) int8, zeros
    for i in range(starts.shape[0] - 1):
        for e in range(starts[i], starts[i + 1]):
            j = ends[e]
            if i < j:
                limit = factor * lengths[e]
                if not detour_within(starts, ends, lengths, i, j, limit, distance, keys, nodes, place, touched):
                    flags[e] = 1
