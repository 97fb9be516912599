"""Exhaustive search for neighbours, tile by tile, exact and never with the whole matrix of distances in memory.

For Euclidean distances between many rows, tiles of scores come from products of float32 matrices.  With rows centred
and scaled, and two columns more, the score of query q and row x is

    s(q, x) = q'x - |x|^2 / 2 + g (|q| |x| + |x|^2 / 2)

where g bounds the relative error of such a product in float32.  So ``|q|^2 - 2 s`` is at most the true squared
distance.  The rows with the best scores are kept, a few more than asked for, and measured again in float64.  If the
last of the list is nearer than any row outside can be, the list is exact.  If not (there are ties, or nearly), the
products are made again, and each row that could be as near as the last of the list is measured.

Other distances are measured in float64 at once.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.arrays import kernel_view
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math import _brute_kernels as k
from hyperplan._math import distances as metrics
from hyperplan._math.space_tree import Lists, sort_lists

QUERIES, ROWS = 512, 512  # of a tile of float32: it stays in the second cache
TILE = metrics.TILE
FEW_QUERIES, FEW_ROWS = 32, 1024  # below which preparing float32 tables costs more than it saves
LARGEST = 1e15  # of a scaled query: its square and products stay far from overflow in float32
UNIT = 2.0**-24  # rounding of float32
CAUTION = 1e-6  # share of a threshold that its rounding to float32 cannot exceed


class ScoreTable(NamedTuple):
    """Rows ready for products: centred, multiplied by a power of two, with two columns more, in float32."""

    rows: np.ndarray
    middle: np.ndarray
    scale: float


def squared_nearest(X, Q, n_neighbors, n_jobs=None):
    """Squared Euclidean distances to the nearest rows of X and their numbers; ties go to the smaller number.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), C order, float32 or float64
        Where to search.
    Q : ndarray of shape (n_queries, n_columns), C order, of the same type
        Queries.
    n_neighbors : int, at most the number of rows
        How many.
    n_jobs : int, default=None
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.brute import squared_nearest
    >>> squared_nearest(np.array([[0.0], [1.0], [5.0]]), np.array([[4.0]]), 2)
    (array([[1., 9.]]), array([[2, 1]]))
    """
    n, m = X.shape[0], Q.shape[0]
    if m < FEW_QUERIES or n < FEW_ROWS:
        return _by_differences(X, Q, n_neighbors, n_jobs)
    require_memory(4.0 * n * (X.shape[1] + 2), "A copy of the table in float32", "search in parts of the table")
    size = min(n, n_neighbors + max(5, n_neighbors // 2))
    table = _score_table(X, n_jobs)
    squares, found = np.empty((m, n_neighbors)), np.empty((m, n_neighbors), np.int64)
    settled, far = np.zeros(m, bool), np.zeros(m, bool)

    def run(part):
        queries, norms, far[part] = _score_queries(Q[part], table)
        best, places = np.full((len(queries), size), -np.inf, np.float32), np.zeros((len(queries), size), np.int32)
        for start, tile in _tiles(queries, table):
            k.keep_largest(tile, start, best, places)
        lowest = np.full(len(queries), np.inf) if size == n else norms - 2.0 * best[:, -1].astype(np.float64)
        k.settle(Q[part], X, places, lowest / table.scale**2, squares[part], found[part], settled[part])

    def run_again(part):
        some = doubtful[part]
        queries, norms, _ = _score_queries(Q[some], table)
        some_squares, some_found = squares[some], found[some]
        least = 0.5 * (norms - some_squares[:, -1] * table.scale**2)
        least = (least - CAUTION * (np.abs(least) + norms)).astype(np.float32)
        for start, tile in _tiles(queries, table):
            k.measure_above(tile, start, least, Q[some], X, some_squares, some_found)
        squares[some], found[some] = some_squares, some_found

    thread_map(run, spans(m, QUERIES), n_jobs)
    doubtful, others = np.flatnonzero(~settled & ~far), np.flatnonzero(far)
    if doubtful.size:
        thread_map(run_again, spans(len(doubtful), QUERIES), n_jobs)
    if others.size:
        squares[others], found[others] = _by_differences(X, Q[others], n_neighbors, n_jobs)
    return squares, found


def _tiles(queries, table: ScoreTable):
    """Scores of some queries, tile by tile, with the number of the first row."""
    scratch = np.empty(len(queries) * ROWS, np.float32)
    for rows in spans(table.rows.shape[0], ROWS):
        tile = _room(scratch, slice(0, len(queries)), rows)
        np.matmul(queries, table.rows[rows].T, out=tile)
        yield rows.start, tile


def _score_table(X, n_jobs) -> ScoreTable:
    n, d = X.shape
    rows, parts = np.empty((n, d + 2), np.float32), spans(n, 4 * TILE)
    middle, error = X.mean(axis=0, dtype=np.float64), _error(d)
    largest = max(thread_map(lambda part: float(np.abs(X[part] - middle).max()), parts, n_jobs))
    scale = 2.0 ** -float(np.frexp(largest)[1]) if largest > 0 else 1.0

    def fill(part):
        centred = (X[part] - middle) * scale
        squares = np.einsum("ij,ij->i", centred, centred)
        rows[part, :d] = centred
        rows[part, d] = -0.5 * (1.0 - error) * squares
        rows[part, d + 1] = error * np.sqrt(squares)

    thread_map(fill, parts, n_jobs)
    return ScoreTable(rows, middle, scale)


def _error(d):
    """Bound of the relative error of a product of d + 2 numbers that were rounded before, with a margin."""
    return 1.1 * (d + 12) * UNIT


def _score_queries(Q, table: ScoreTable):
    """Queries as float32 with columns that fit those of the table, their squared norms, and which are too far away.

    Those would overflow in float32: they become zero here.
    """
    centred = (Q - table.middle) * table.scale
    far = ~(np.abs(centred).max(axis=1) <= LARGEST)
    centred[far] = 0.0
    squares = np.einsum("ij,ij->i", centred, centred)
    queries = np.empty((Q.shape[0], Q.shape[1] + 2), np.float32)
    queries[:, :-2] = centred
    queries[:, -2] = 1.0
    queries[:, -1] = np.sqrt(squares)
    return queries, squares * (1.0 - 1e-12), far


def _by_differences(X, Q, n_neighbors, n_jobs):
    """The same in float64, and from differences: equal rows are equally near to the last bit."""
    metric = metrics.learn_metric("sqeuclidean", X)._replace(offset=None)
    A, B = metrics.prepare(kernel_view(Q), metric), metrics.prepare(kernel_view(X), metric)

    def fill(rows, columns, tile):
        metrics.fill(metric, A, rows, B, columns, tile)

    return nearest_by_tiles(fill, len(A), len(B), n_neighbors, n_jobs)


def nearest_by_tiles(fill, n_queries, n_rows, n_neighbors, n_jobs=None):
    """Distances to the nearest rows and their numbers, whatever the distance; ties go to the smaller number.

    Parameters
    ----------
    fill : callable
        ``fill(queries, rows, tile)`` writes the distances between two slices.
    n_queries, n_rows : int
        How many there are.
    n_neighbors : int, at most n_rows
        How many to find.  Rows at a distance that is not a number come last.
    n_jobs : int, default=None
        Threads.
    """
    shape = (n_queries, n_neighbors)
    require_memory(16.0 * shape[0] * shape[1], "The lists of neighbours", "ask for fewer, or for parts of the queries")
    distances, found = np.full(shape, np.inf), np.full(shape, -1, np.int64)

    def run(part):
        scratch = np.empty(TILE * TILE)
        for columns in spans(n_rows, TILE):
            tile = _room(scratch, part, columns)
            fill(part, columns, tile)
            k.keep_smallest(tile, columns.start, distances[part], found[part])
        for i in part.start + np.flatnonzero(found[part, -1] < 0):
            _fill_up(fill, i, n_rows, distances[i], found[i])

    thread_map(run, spans(n_queries, TILE), n_jobs)
    return distances, found


def _fill_up(fill, query, n_rows, distances, found):
    """Distances without order (infinite, not a number) were left out: here all are sorted."""
    row = np.empty((1, n_rows))
    fill(slice(query, query + 1), slice(0, n_rows), row)
    found[:] = np.argsort(row[0], kind="stable")[: len(found)]
    distances[:] = row[0, found]


def _room(scratch, rows, columns):
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return scratch[: shape[0] * shape[1]].reshape(shape)


def within_by_tiles(fill, n_queries, n_rows, radius, by_distance=False, n_jobs=None) -> Lists:
    """The rows within a radius (a number, or one per query), sorted by number, or by distance and then number.

    Other parameters are those of `nearest_by_tiles`.
    """
    limits = np.ascontiguousarray(np.broadcast_to(np.asarray(radius, dtype=np.float64), (n_queries,)))

    def run(part):
        scratch, values = np.empty(TILE * TILE), np.empty(TILE * TILE)
        rows, places = np.empty(TILE * TILE, np.int64), np.empty(TILE * TILE, np.int64)
        pieces = [(rows[:0], places[:0], values[:0])]
        for columns in spans(n_rows, TILE):
            tile = _room(scratch, part, columns)
            fill(part, columns, tile)
            count = k.pick_within(tile, columns.start, limits[part], rows, places, values)
            pieces.append((rows[:count].copy(), places[:count].copy(), values[:count].copy()))
        return _lists(part.stop - part.start, *map(np.concatenate, zip(*pieces)))

    found = join_lists(thread_map(run, spans(n_queries, TILE), n_jobs))
    if by_distance:
        sort_lists(found, True, n_jobs)
    return found


def _lists(n_queries, rows, columns, values):
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_queries))]).astype(np.int64)
    found, distances = np.empty(len(rows), np.int64), np.empty(len(rows))
    k.gather_lists(rows, columns, values, starts[:-1].copy(), found, distances)
    return Lists(starts, found, distances)


def join_lists(parts) -> Lists:
    """The lists of several runs of queries, one after the other."""
    counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
    rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])
    return Lists(np.cumsum(counts), rows, np.concatenate([np.empty(0), *(part.distances for part in parts)]))
