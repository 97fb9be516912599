"""DBSCAN in one to three dimensions, on a grid of cells in which all points are neighbours.

The side of a cell is ``eps / sqrt(d)``, so that all core points of a cell belong together: a cluster is a set of cells.
Sorting the points by their cells is most of the work; memory is linear whatever the radius.

Reference: Gunawan (2013), A faster algorithm for DBSCAN, TU Eindhoven.  Gan, Tao (2015), DBSCAN revisited: mis-claim,
un-fixability, and approximation, SIGMOD.
"""

import itertools
from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan.cluster import _dbscan_grid_kernels as g
from hyperplan.cluster import _dbscan_kernels as k

MOST_COLUMNS = 3
SLACK = 1e-6  # of the side of a cell: rounding of coordinates must not put points that are too far apart into one cell
MOST_CELLS = 2**30  # along an axis: rounding stays below the slack
LARGEST = 2**62  # of a cell's number
ROWS = 16_384  # of a task that passes over rows
POINTS = 4096  # of a task that measures distances


class Found(NamedTuple):
    """A clustering: labels by row (-1 is noise), which rows are core points, and how many could be in several."""

    labels: np.ndarray
    is_core: np.ndarray
    n_shared: int


def number_clusters(parents, nodes, rows, cores):
    """The cluster of each set: clusters are numbered by the smallest row number of their core points."""
    n = rows.shape[0]
    firsts = np.full(parents.shape[0], n, np.int64)
    k.first_rows(parents, nodes, rows, cores, firsts)
    roots = np.flatnonzero(firsts < n)
    labels = np.full(parents.shape[0], -1, np.int64)
    labels[roots[np.argsort(firsts[roots])]] = np.arange(roots.shape[0])
    return labels[parents]


def cluster_on_grid(X, radius, need, weight=None, n_jobs=None) -> Found | None:
    """DBSCAN of rows with up to three columns.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), C order, float64, finite
        Points.
    radius : float
        Largest Euclidean distance of neighbours.
    need : float
        Weight within the radius that makes a core point.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows; None: each counts once.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    found : Found or None
        None if the grid would have too many cells to be numbered: the radius is tiny compared with the table.
    """
    n, d = X.shape
    side, low = radius / np.sqrt(d) * (1.0 - SLACK), X.min(axis=0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        width = (X.max(axis=0) - low) / side
    if not (width < MOST_CELLS).all() or not side > 0:
        return None
    sizes = width.astype(np.int64) + 1 + 2 * g.REACH
    largest = int(np.prod(sizes.astype(object)))
    if largest >= LARGEST:
        return None
    rows, nodes, cells, starts, points = _sorted_points(X, low, side, sizes, largest, n_jobs)
    limit, weights = radius * radius, np.empty(0) if weight is None else weight[rows]
    may_stop, offsets = weight is None or bool((weight >= 0).all()), _row_offsets(sizes, g.REACH)
    cores, tasks = np.zeros(n, bool), _tasks(starts)
    thread_map(
        lambda part: g.find_cores(
            points, weights, cells, starts, offsets, part.start, part.stop, limit, float(need), may_stop, cores
        ),
        tasks,
        n_jobs,
    )
    near, near_starts = np.empty((d, int(np.count_nonzero(cores)))), np.empty_like(starts)
    g.keep_cores(points, cores, starts, near, near_starts)
    parents = np.arange(cells.shape[0])
    for reach in (1, g.REACH):  # cells side by side first: after them, most others are known to belong together
        later = _row_offsets(sizes, reach)
        g.link_cells(near, cells, near_starts, later[later >= 0], reach, limit, parents)
    labels = number_clusters(parents, nodes, rows, cores)
    out, is_core = np.empty(n, np.int64), np.empty(n, bool)
    out[rows], is_core[rows] = labels[nodes], cores

    def place(part):
        grid = cells, starts, near_starts
        return g.place_borders(points, rows, cores, grid, near, offsets, labels, limit, part.start, part.stop, out)

    return Found(out, is_core, sum(thread_map(place, tasks, n_jobs)))


def _sorted_points(X, low, side, sizes, largest, n_jobs):
    """Rows sorted by cell, the cell of each position, numbers and first positions of cells, and coordinates."""
    n, d = X.shape
    keys, rows = np.empty(n, np.int64), np.arange(n, dtype=np.int32)
    parts = spans(n, ROWS)
    thread_map(lambda part: g.number_cells(X, low, side, sizes, part.start, part.stop, keys), parts, n_jobs)
    spare_keys, spare_rows = np.empty_like(keys), np.empty_like(rows)
    if g.sort_by_key(keys, rows, spare_keys, spare_rows, largest):
        keys, rows, spare_keys, spare_rows = spare_keys, spare_rows, keys, rows
    starts, points = np.empty(n + 1, np.int64), np.empty((d, n))
    count = g.find_cells(keys, spare_keys, starts, spare_rows)
    thread_map(lambda part: g.gather(X, rows, part.start, part.stop, points), parts, n_jobs)
    return rows, spare_rows, spare_keys[:count].copy(), starts[: count + 1].copy(), points


def _row_offsets(sizes, reach):
    """Numbers to add to a cell's for the rows of cells up to `reach` away, its own first and the farthest last."""
    steps = [1]
    for size in sizes[:0:-1]:
        steps.append(steps[-1] * int(size))
    moves = itertools.product(range(-reach, reach + 1), repeat=len(sizes) - 1)
    by_distance = sorted(moves, key=lambda move: sum(step * step for step in move))
    return np.array([sum(a * b for a, b in zip(move, steps[:0:-1])) for move in by_distance], dtype=np.int64)


def _tasks(starts):
    """Runs of cells with about equally many points."""
    firsts = np.searchsorted(starts[:-1], np.arange(0, starts[-1], POINTS))
    borders = np.unique(np.append(firsts[firsts < len(starts) - 1], len(starts) - 1))
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(borders)]
