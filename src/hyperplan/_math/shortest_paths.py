"""Lengths of shortest paths in sparse graphs without directions: all of them, or those from some nodes.

From few sources each gets Dijkstra's algorithm with a heap.  From many, batches of neighbouring sources share the work:
Dijkstra's order of one of them is nearly right for all, and sweeps through the nodes in that order, forwards and
backwards, shorten the paths from 32 sources at a time with vector instructions until nothing changes.  Both ways
compute the least sum of lengths, added up from the source on, to the same bits; so does any number of threads.

References: Dijkstra (1959), A note on two problems in connexion with graphs, Numerische Mathematik 1.  Delling,
Goldberg, Nowatzyk, Werneck (2011), PHAST: hardware-accelerated shortest path trees, IPDPS.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math import _shortest_paths_kernels as k

LANES = k.LANES
BATCHES, SOURCES = 4, 4  # of one task
DENSE_SOURCES = 8  # sweeps pay from one source among so many nodes on
MOST_NODES = 2**31 - 2  # nodes are numbered in 32 bits


class Roads(NamedTuple):
    """A graph as kernels take it: each edge is listed at both ends, rows are sorted, there are no loops."""

    starts: np.ndarray  # (n + 1,) int64
    ends: np.ndarray  # int32
    lengths: np.ndarray  # float64

    @property
    def n_nodes(self) -> int:
        return self.starts.shape[0] - 1


def roads(graph) -> Roads:
    """The edges of a square sparse matrix in both directions; where both are given, the shorter one.

    Explicit zeros are edges of length zero.
    """
    graph = sp.csr_array(graph)
    n = graph.shape[0]
    if graph.shape[1] != n or n > MOST_NODES:
        raise ValueError(f"a graph must be a square matrix with at most {MOST_NODES} rows, got shape {graph.shape}")
    lengths = np.asarray(graph.data, dtype=np.float64)
    if lengths.size and not lengths.min() >= 0.0:
        row = int(np.searchsorted(graph.indptr, np.flatnonzero(~(lengths >= 0.0))[0], side="right")) - 1
        raise ValueError(f"lengths of edges must be numbers that are not negative, see row {row} of the graph")
    back = _parts(sp.csr_array((lengths, graph.indices, graph.indptr), shape=graph.shape).T.tocsr())
    there = _parts(sp.csr_array((back.lengths, back.ends, back.starts), shape=graph.shape).T.tocsr())
    counts = np.empty(n, np.int64)
    k.count_union(there.starts, there.ends, back.starts, back.ends, counts)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    ends, united = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    k.fill_union(*there, *back, starts, ends, united)
    return Roads(starts, ends, united)


def _parts(graph) -> Roads:
    return Roads(graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data)


def as_matrix(graph: Roads):
    """The same graph as a sparse matrix."""
    n = graph.n_nodes
    return sp.csr_array((graph.lengths, graph.ends, graph.starts), shape=(n, n))


class Room(NamedTuple):
    """Where a search works; each task has its own."""

    distance: np.ndarray
    keys: np.ndarray
    nodes: np.ndarray
    place: np.ndarray
    order: np.ndarray


def make_room(n) -> Room:
    """Room for one search among n nodes."""
    numbers = (np.empty(n, np.int32) for _ in range(3))
    return Room(np.empty(n), np.empty(n), *numbers)


def shortest_paths(graph, sources=None, *, dtype=np.float64, n_jobs=None, out=None):
    """Lengths of the shortest paths from some nodes to all, infinite where there is none.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n), or Roads
        Lengths of edges, not negative; an edge leads both ways, explicit zeros are edges.
    sources : array-like of int, default=None
        Where paths begin; None means everywhere.
    dtype : {np.float64, np.float32}
        Of the result; sums are float64.
    n_jobs : int, default=None
        Threads; they change no bit.
    out : ndarray of shape (n_sources, n), C order, default=None
        Where to write; its type then counts.

    Returns
    -------
    distances : ndarray of shape (n_sources, n)
        ``distances[i, j]`` is the length from ``sources[i]`` to j.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from hyperplan._math.shortest_paths import shortest_paths
    >>> line = sp.csr_array(np.diag([1.0, 2.0, 4.0], 1))
    >>> shortest_paths(line, [0, 3])
    array([[0., 1., 3., 7.],
           [7., 6., 4., 0.]])
    """
    graph = graph if isinstance(graph, Roads) else roads(graph)
    n = graph.n_nodes
    sources = np.arange(n, dtype=np.int32) if sources is None else _checked_sources(sources, n)
    if out is None:
        dtype = np.dtype(dtype)
        need = float(dtype.itemsize) * len(sources) * n
        require_memory(need, f"A matrix of {len(sources)} x {n} path lengths", "start from fewer nodes")
        out = np.empty((len(sources), n), dtype)
    distinct, position = np.unique(sources, return_index=True)
    if len(distinct) < max(2, n // DENSE_SOURCES):
        thread_map(lambda part: _one_by_one(graph, sources, part, out), spans(len(sources), SOURCES), n_jobs)
        return out
    places = np.zeros(n, np.int64)
    places[distinct] = position
    grouped, bounds = _batches(graph, distinct)

    def run(part):
        room, block, rows, dirty = make_room(n), np.empty((n, LANES)), np.empty((2, LANES)), np.zeros(n, np.int8)
        for b in range(part.start, part.stop):
            batch = grouped[bounds[b] : bounds[b + 1]]
            count = k.settle(*graph, batch[:1], np.zeros(1), *room)
            block.fill(np.inf)
            block[batch, np.arange(len(batch))] = 0.0
            k.sweep(*graph, room.order, count, block, rows, dirty)
            k.spread(block, places[batch], out)

    thread_map(run, spans(len(bounds) - 1, BATCHES), n_jobs)
    if len(distinct) < len(sources):  # a source that was named twice has been written once
        again = np.flatnonzero(places[sources] != np.arange(len(sources)))
        out[again] = out[places[sources[again]]]
    return out


def _checked_sources(sources, n):
    sources = np.asarray(sources)
    if sources.ndim != 1 or sources.dtype.kind not in "iu":
        raise ValueError(f"sources must be a list of node numbers, got {sources.dtype} of shape {sources.shape}")
    if sources.size and not (sources.min() >= 0 and sources.max() < n):
        raise ValueError(f"sources must lie between 0 and {n - 1}, got {sources.min()} to {sources.max()}")
    return sources.astype(np.int32)


def _one_by_one(graph, sources, part, out):
    room = make_room(graph.n_nodes)
    for i in range(part.start, part.stop):
        k.settle(*graph, sources[i : i + 1], np.zeros(1), *room)
        out[i] = room.distance


def _batches(graph, sources):
    """Batches of sources that are near each other: their numbers, and where each batch begins."""
    n = graph.n_nodes
    order, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    k.walk(graph.starts, graph.ends, np.zeros(n, np.int8), order)
    wanted, seen = np.zeros(n, np.int8), np.full(n, -1, np.int32)
    wanted[sources] = 1
    grouped, bounds = np.empty(len(sources), np.int32), np.empty(len(sources) + 1, np.int64)
    count = k.group(graph.starts, graph.ends, order, wanted, seen, queue, grouped, bounds)
    return grouped, bounds[: count + 1]


def paths_from(graph: Roads, nodes, offsets, room: Room | None = None):
    """Lengths of the shortest paths from a point that is `offsets` away from some nodes, to all nodes.

    A row that is not in the graph is such a point; the nodes are its neighbours.
    """
    room = make_room(graph.n_nodes) if room is None else room
    k.settle(*graph, np.asarray(nodes, dtype=np.int32), np.asarray(offsets, dtype=np.float64), *room)
    return room.distance


def floyd_warshall(graph, *, dtype=np.float64):
    """All shortest paths of a small or dense graph by n passes through the whole matrix, in O(n^3).

    Sums are added up in another order than from the source on: the last bits may differ from `shortest_paths`.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from hyperplan._math.shortest_paths import floyd_warshall
    >>> floyd_warshall(sp.csr_array(np.diag([1.0, 2.0], 1)))[0]
    array([0., 1., 3.])
    """
    graph = graph if isinstance(graph, Roads) else roads(graph)
    n = graph.n_nodes
    require_memory(8.0 * n * n, f"A matrix of {n} x {n} path lengths", "use path_method='D' with fewer sources")
    matrix = np.full((n, n), np.inf)
    matrix[np.repeat(np.arange(n), np.diff(graph.starts)), graph.ends] = graph.lengths
    np.fill_diagonal(matrix, 0.0)
    k.through_all(matrix, np.empty(n))
    return matrix.astype(dtype, copy=False)


def cut_edges(graph: Roads):
    """Edges without which the graph falls apart, as (i, j), and how many nodes would be on the smaller side."""
    n = graph.n_nodes
    entry, low, parent, below, found = (np.full(n, -1, np.int32) for _ in range(5))
    count = k.cut_edges(graph.starts, graph.ends, entry, low, parent, np.empty(n, np.int64), below, found)
    child = found[:count]
    _, labels = connected_components(as_matrix(graph), directed=False)
    whole = np.bincount(labels)[labels]  # nodes of the component of each
    pairs = np.sort(np.column_stack([parent[child], child]), axis=1).astype(np.int64)
    smaller = np.minimum(below[child], whole[child] - below[child])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], smaller[order]


def long_detours(graph: Roads, factor):
    """Edges (i, j) whose ends are more than `factor` times their length apart without them."""
    n = graph.n_nodes
    room, flags = make_room(n), np.zeros(len(graph.ends), np.int8)
    room.distance.fill(np.inf)
    room.place.fill(-1)
    k.long_detours(*graph, float(factor), *room[:4], room.order, flags)
    marked = np.flatnonzero(flags)
    return np.column_stack(
        [np.searchsorted(graph.starts, marked, side="right") - 1, graph.ends[marked].astype(np.int64)]
    )
