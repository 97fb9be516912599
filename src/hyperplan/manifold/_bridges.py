"""Edges that join the components of a graph of neighbours, so that all geodesic distances are finite.

Either the shortest link between two components again and again until one component is left (Kruskal's rule: these links
are edges of the minimum spanning tree of all rows), or the shortest link of each pair of components.  Distances
between rows are looked at tile by tile and never held.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.distances import TILE
from hyperplan._math.shortest_paths import Roads, roads
from hyperplan.manifold import _isomap_kernels as k
from hyperplan.neighbors._nearest_index import _source


class Bridges(NamedTuple):
    """Links between components, the shortest first."""

    pairs: np.ndarray  # (n_bridges, 2) row numbers, the smaller first
    lengths: np.ndarray


NO_BRIDGES = Bridges(np.empty((0, 2), np.int64), np.empty(0))


def find_bridges(nbrs, labels, how, n_jobs=None) -> Bridges:
    """Links that join all components.

    Parameters
    ----------
    nbrs : NearestNeighbors
        Knows the rows and how to measure between them.
    labels : ndarray of shape (n,)
        Component of each row.
    how : {"mst", "all_pairs"}
        One link less than there are components, or one for each pair of components.
    n_jobs : int, default=None
        Threads; they change no bit.
    """
    labels = labels.astype(np.int32)
    if labels.max(initial=0) == 0:
        return NO_BRIDGES
    index = nbrs._index
    fill = _source(index, index.X).fill
    n_jobs = 1 if callable(index.metric) else n_jobs
    found = (_spanning if how == "mst" else _of_all_pairs)(fill, labels, n_jobs)
    pairs, lengths = found
    if not np.isfinite(lengths).all():
        raise ValueError("components of the graph are infinitely far from each other: no link can join them")
    order = np.lexsort((pairs[:, 1], pairs[:, 0], lengths))
    return Bridges(pairs[order], lengths[order] / index.scale)


def _tile(scratch, rows, columns):
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return scratch[: shape[0] * shape[1]].reshape(shape)


def _spanning(fill, labels, n_jobs):
    """Boruvka's rounds: each component chooses its shortest way out; at most half as many are left.

    Links are compared by (length, smaller row, larger row), so that no two are equal and no circle can close.
    """
    n = len(labels)
    pairs, lengths = [], []
    while labels.max() > 0:
        best, places = np.full(n, np.inf), np.zeros(n, np.int64)

        def run(rows, labels=labels, best=best, places=places):
            scratch = np.empty(TILE * TILE)
            for columns in spans(n, TILE):
                tile = _tile(scratch, rows, columns)
                fill(rows, columns, tile)
                k.nearest_outside(tile, labels[rows], labels[columns], columns.start, best[rows], places[rows])

        thread_map(run, spans(n, TILE), n_jobs)
        ends = np.sort(np.column_stack([np.arange(n), places]), axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0], best))
        chosen = order[np.unique(labels[order], return_index=True)[1]]
        _, once = np.unique(ends[chosen, 0] * n + ends[chosen, 1], return_index=True)
        chosen = chosen[once]
        pairs.append(ends[chosen])
        lengths.append(best[chosen])
        a, b = labels[ends[chosen]].T
        size = int(labels.max()) + 1
        parts = connected_components(sp.csr_array((np.ones(len(a)), (a, b)), shape=(size, size)), directed=False)[1]
        labels = parts[labels].astype(np.int32)
    return np.concatenate(pairs), np.concatenate(lengths)


def _of_all_pairs(fill, labels, n_jobs):
    n, size = len(labels), int(labels.max()) + 1
    require_memory(48.0 * size * size, f"The links of {size} components", 'use reconnect="mst", or more neighbours')

    def run(rows):
        scratch = np.empty(TILE * TILE)
        own = labels[rows]
        here, codes = np.unique(own, return_inverse=True)
        shape = (len(here), size)
        values, firsts, seconds = np.full(shape, np.inf), np.full(shape, n, np.int64), np.full(shape, n, np.int64)
        for columns in spans(n, TILE):
            tile = _tile(scratch, rows, columns)
            fill(rows, columns, tile)
            k.pair_minima(tile, codes, own, rows.start, labels[columns], columns.start, values, firsts, seconds)
        return here, values, firsts, seconds

    values = np.full((size, size), np.inf)
    firsts, seconds = np.zeros((2, size, size), np.int64)
    for here, some, rows, columns in thread_map(run, spans(n, TILE), n_jobs):  # rows rise: the first of equals stays
        better = some < values[here]
        values[here] = np.where(better, some, values[here])
        firsts[here] = np.where(better, rows, firsts[here])
        seconds[here] = np.where(better, columns, seconds[here])
    a, b = np.triu_indices(size, 1)
    ends = np.sort(np.column_stack([firsts[a, b], seconds[a, b]]), axis=1)
    return ends, values[a, b]


def with_bridges(edges: Roads, bridges: Bridges) -> Roads:
    """A graph and further edges."""
    if not len(bridges.pairs):
        return edges
    n = edges.n_nodes
    rows = np.concatenate([np.repeat(np.arange(n), np.diff(edges.starts)), bridges.pairs[:, 0]])
    columns = np.concatenate([edges.ends, bridges.pairs[:, 1]])
    lengths = np.concatenate([edges.lengths, bridges.lengths])
    return roads(sp.coo_array((lengths, (rows, columns)), shape=(n, n)))
