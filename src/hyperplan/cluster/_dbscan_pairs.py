"""DBSCAN where all pairs are looked at: matrices of distances, graphs of them, and distances that no tree can bound.

Rectangles of distances are made, used and forgotten three times: to find the core points, to link them, and to place
the border points.  Only the rectangles of a few tasks are in memory.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan.cluster import _dbscan_kernels as k
from hyperplan.cluster._dbscan_grid import Found, number_clusters

TILE = 256  # rows and columns of a rectangle: it stays in the second cache
WAITING = 16  # rectangles that are made before they are looked at, in order
ROWS = 1024  # of a graph, in one task


def cluster_graph(graph, limit, need, weight=None, n_jobs=None) -> Found:
    """DBSCAN of a CSR matrix of distances with an explicit diagonal; what is not stored is far away."""
    n = graph.shape[0]
    starts, columns = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    values, limit = np.ascontiguousarray(graph.data), graph.data.dtype.type(limit)
    weights, totals = np.empty(0) if weight is None else weight, np.empty(n)
    thread_map(
        lambda part: k.weigh_graph(starts, columns, values, limit, weights, part.start, part.stop, totals),
        spans(n, ROWS),
        n_jobs,
    )
    labels, shared, is_core = np.full(n, -1, np.int64), np.zeros(n, bool), totals >= need
    k.spread_in_graph(starts, columns, values, limit, is_core, labels, shared)
    return Found(labels, is_core, int(shared.sum()))


def cluster_matrix(distances, limit, need, weight=None, n_jobs=None) -> Found:
    """DBSCAN of a matrix of distances, which need not be symmetric: clusters spread along its rows."""
    n, limit = distances.shape[0], distances.dtype.type(limit)
    weights, totals = np.empty(0) if weight is None else weight, np.zeros(n)
    thread_map(lambda part: k.weigh_tile(distances[part], limit, weights, totals[part]), spans(n, TILE), n_jobs)
    labels, shared, is_core = np.full(n, -1, np.int64), np.zeros(n, bool), totals >= need
    k.spread_in_matrix(distances, limit, is_core, labels, shared)
    return Found(labels, is_core, int(shared.sum()))


def cluster_lists(lists, need, weight=None, n_jobs=None) -> Found:
    """DBSCAN of lists of neighbours."""
    n = lists.starts.shape[0] - 1
    graph = sp.csr_array((lists.distances, lists.rows, lists.starts), shape=(n, n))
    return cluster_graph(graph, np.inf, need, weight, n_jobs)


def cluster_by_tiles(make_fill, n, limit, need, weight=None, n_jobs=None) -> Found:
    """DBSCAN for any symmetric distance.

    Parameters
    ----------
    make_fill : callable
        ``make_fill(rows, columns)`` gives a function that writes rectangles of the distances between some rows and
        others, both arrays of row numbers: ``fill(slice, slice, tile)``.
    n : int
        Rows.
    limit : float
        Largest distance of neighbours, on the scale of `fill`.
    need, weight, n_jobs
        As in `cluster_on_grid`.
    """
    everything, totals = np.arange(n), np.zeros(n)
    fill, none = make_fill(everything, everything), np.empty(0)

    def count(part):
        for columns, tile in _tiles(fill, part, n):
            k.weigh_tile(tile, limit, none if weight is None else weight[columns], totals[part])

    thread_map(count, spans(n, TILE), n_jobs)
    is_core = totals >= need
    cores, others = np.flatnonzero(is_core), np.flatnonzero(~is_core)
    core_labels = _link(make_fill(cores, cores), len(cores), limit, n_jobs)
    labels, placed, shared = np.full(n, -1, np.int64), np.full(len(others), -1, np.int64), np.zeros(len(others), bool)
    labels[cores], fill = core_labels, make_fill(others, cores)

    def place(part):
        for columns, tile in _tiles(fill, part, len(cores)):
            k.offer_labels(tile, limit, core_labels[columns], placed[part], shared[part])

    thread_map(place, spans(len(others), TILE), n_jobs)
    labels[others] = placed
    return Found(labels, is_core, int(shared.sum()))


def _tiles(fill, rows, n_columns):
    """Rectangles of some rows, one after the other in the same memory."""
    room = np.empty(TILE * TILE)
    for columns in spans(n_columns, TILE):
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        tile = room[: shape[0] * shape[1]].reshape(shape)
        fill(rows, columns, tile)
        yield columns, tile


def _link(fill, n, limit, n_jobs):
    """Clusters of core points; rectangles are filled in threads and looked at in order."""
    parts, parents = spans(n, TILE), np.arange(n)
    pairs = [(rows, columns) for i, rows in enumerate(parts) for columns in parts[i:]]

    def make(pair):
        rows, columns = pair
        tile = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        fill(rows, columns, tile)
        return tile

    for wave in spans(len(pairs), WAITING):
        for (rows, columns), tile in zip(pairs[wave], thread_map(make, pairs[wave], n_jobs)):
            k.link_tile(tile, limit, rows.start, columns.start, parents)
    own = np.arange(n, dtype=np.int32)
    return number_clusters(parents, own, own, np.ones(n, bool))
