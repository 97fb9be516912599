"""Sums ``sum_j v_j K(|x - x_j| / h)`` at many points x: what densities, local means and mean shift are made of.

For few columns the rows stand in a tree of boxes; a box of rows whose kernel values are nearly equal counts as one
(Gray, Moore 2001, N-body problems in statistical learning).  Many Gaussian sums in at most three columns go by way of a
grid (see `kernel_grid`).  What is lost is at most ``rtol * sum + atol * weight``; with both 0, boxes are skipped only
below rounding, and a grid must keep twelve digits.  For many columns, where boxes do not help, distances come tile by
tile from matrix products.

Far from all rows the values of the Gaussian and the exponential kernel are too small for floating point numbers: such
sums are computed relative to the nearest row, and `Sums.shift` is the logarithm of the factor left out.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math import _kernel_sums_kernels as k
from hyperplan._math.distances import CODES, TILE, Metric, Points, fill, prepare
from hyperplan._math.kernel_grid import EXACT, grid_sums, plan_grid
from hyperplan._math.space_tree import LEAF, grow_tree

PROFILES = {
    "gaussian": k.GAUSSIAN,
    "tophat": k.TOPHAT,
    "epanechnikov": k.EPANECHNIKOV,
    "exponential": k.EXPONENTIAL,
    "linear": k.LINEAR,
    "cosine": k.COSINE,
}
UNBOUNDED = ("gaussian", "exponential")  # kernels that are positive everywhere
TREE_COLUMNS = 12  # beyond, boxes overlap all there is
QUERIES = 128  # per task
ROUNDING = 2.0**-53
TOO_SMALL = 1e-280  # share of the weight below which sums are computed again, relative to the nearest row


class Cells(NamedTuple):
    """Rows in a tree of boxes: see `tree_sums`.  `place` is where each row went."""

    points: np.ndarray
    singles: np.ndarray
    values: np.ndarray
    prefix: np.ndarray
    bounds: np.ndarray
    spans: np.ndarray
    place: np.ndarray


class Summands(NamedTuple):
    """Rows with their values (column 0: weights, none negative), ready for a metric; `cells` None without a tree."""

    metric: Metric
    rows: Points
    values: np.ndarray
    cells: Cells | None


class Sums(NamedTuple):
    """The sums are ``values * exp(shift)[:, None]``."""

    values: np.ndarray
    shift: np.ndarray


def make_summands(X, values, metric: Metric) -> Summands:
    """Rows X (n, d) and values (n, m), in a tree where that pays."""
    rows = prepare(X, metric)
    values = np.ascontiguousarray(values, dtype=np.float64)
    is_straight = metric.code == CODES["euclidean"]
    cells = _cells(rows.rows, values) if is_straight and 0 < X.shape[1] <= TREE_COLUMNS else None
    return Summands(metric, rows, values, cells)


def _cells(rows, values) -> Cells:
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    tree, n = grow_tree(rows), rows.shape[0]
    values = np.ascontiguousarray(values[tree.order].T)
    prefix = np.zeros((values.shape[0], n + 1))
    np.cumsum(values, axis=1, out=prefix[:, 1:])
    limits = np.minimum(tree.spans.astype(np.intp) * LEAF, n)
    place = np.empty(n, dtype=np.intp)
    place[tree.order] = np.arange(n)
    points = np.ascontiguousarray(rows[tree.order].T)
    return Cells(points, _from_middles(points, tree.bounds, limits), values, prefix, tree.bounds, limits, place)


def _from_middles(points, bounds, limits):
    """Points in single precision, seen from the middle of the box of their leaf: the first with few enough points."""
    sizes = limits[:, 1] - limits[:, 0]
    above = np.concatenate([[k.LEAF + 1], sizes[(np.arange(1, len(sizes)) - 1) // 2]])
    leaves = np.flatnonzero((sizes <= k.LEAF) & (sizes > 0) & (above > k.LEAF))
    leaves = leaves[np.argsort(limits[leaves, 0])]
    middles = 0.5 * (bounds[leaves, 0] + bounds[leaves, 1])
    return (points - np.repeat(middles, sizes[leaves], axis=0).T).astype(np.float32)


def foreign_metric(name) -> Metric:
    """A metric whose distances the caller computes: see `between` of `kernel_sums`."""
    return Metric(name, -1)


def kernel_sums(
    summands: Summands, X, kernel, bandwidth, *, rtol=0.0, atol=0.0, own=None, between=None, n_jobs=None
) -> Sums:
    """Sums at the rows of X.

    Parameters
    ----------
    kernel : str
        Key of `PROFILES`.
    bandwidth : float
        Unit of distances.
    rtol, atol : float
        What may be lost: ``rtol * sum + atol * weight`` in the column of weights, and that times the largest ratio of
        value to weight in the others.
    own : ndarray of intp of shape (n_queries,), default=None
        Row of the table that does not count for each query; -1 for none.
    between : callable, default=None
        ``between(A, B)`` returns the distances of a `foreign_metric`.
    """
    job = _Job(summands, prepare(X, summands.metric), kernel, bandwidth, own, between, n_jobs)
    values = _tile_sums(job) if summands.cells is None else _cell_sums(job, rtol, atol)
    shift = np.zeros(values.shape[0])
    if kernel in UNBOUNDED:
        far = np.flatnonzero(~(values[:, 0] > TOO_SMALL * summands.values[:, 0].sum()))
        if far.size:
            values[far], shift[far] = _far_sums(job.only(far))
    return Sums(values, shift)


class _Job(NamedTuple):
    """The arguments of `kernel_sums`."""

    summands: Summands
    points: Points
    kernel: str
    bandwidth: float
    own: np.ndarray | None
    between: object
    n_jobs: int | None

    @property
    def scale(self):
        return 1.0 / self.bandwidth**2

    def only(self, few):
        """The same for some of the queries."""
        points = Points(*(None if part is None else part[few] for part in self.points))
        return self._replace(points=points, own=None if self.own is None else self.own[few])

    def empty_sums(self):
        return np.zeros((len(self.points), self.summands.values.shape[1]))

    def squared_tiles(self, rows):
        """(tile, columns): squared distances between some queries and all rows of the table, one tile after another.

        Rows that do not count are infinitely far away.
        """
        scratch = np.empty(TILE * TILE)
        table = self.summands.rows
        for columns in spans(len(table), TILE):
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = scratch[: shape[0] * shape[1]].reshape(shape)
            if self.between is None:
                fill(self.summands.metric, self.points, rows, table, columns, tile)
            else:
                tile[:] = self.between(self.points.rows[rows], table.rows[columns])
            np.multiply(tile, tile, out=tile)
            if self.own is not None:
                own = self.own[rows]
                inside = np.flatnonzero((own >= columns.start) & (own < columns.stop))
                tile[inside, own[inside] - columns.start] = np.inf
            yield tile, columns


def _cell_sums(job, rtol, atol):
    """Sums by a grid where that is cheaper and good enough, along the tree elsewhere."""
    cells, queries = job.summands.cells, np.ascontiguousarray(job.points.rows, dtype=np.float64)
    grid = None
    if job.kernel == "gaussian":
        grid = plan_grid(cells.points, len(queries), len(cells.values), job.bandwidth, rtol)
    if grid is None:
        return _tree_sums(job, max(rtol, ROUNDING), atol)
    found, bound, inside = grid_sums(grid, cells.points, cells.values, queries, job.bandwidth, job.n_jobs)
    if job.own is not None:
        counted = np.flatnonzero(job.own[inside] >= 0)
        found[counted] -= job.summands.values[job.own[inside[counted]]]
    total = job.summands.values[:, 0].sum()
    is_good = bound <= max(rtol, EXACT) * (found[:, 0] - bound) + atol * total
    sums, left = job.empty_sums(), np.ones(len(queries), dtype=bool)
    sums[inside[is_good]], left[inside[is_good]] = found[is_good], False
    rest = np.flatnonzero(left)
    if rest.size:
        sums[rest] = _tree_sums(job.only(rest), max(rtol, ROUNDING), atol)
    return sums


def _tree_sums(job, rtol, atol):
    cells, own = job.summands.cells, job.own
    queries = kernel_view(np.ascontiguousarray(job.points.rows, dtype=np.float64))
    place = np.full(len(job.points), -1) if own is None else np.where(own < 0, -1, cells.place[own])
    is_single = job.kernel == "gaussian" and rtol >= 2 * k.SINGLE_LOSS
    sums, allowed = job.empty_sums(), np.array([rtol - k.SINGLE_LOSS if is_single else rtol, atol])
    cells = cells if is_single else cells._replace(singles=cells.singles[:, :0])

    def run(part):
        k.tree_sums(*cells[:6], queries[part], place[part], PROFILES[job.kernel], job.scale, allowed, sums[part])

    thread_map(run, spans(len(job.points), QUERIES), job.n_jobs)
    return sums


def _tile_sums(job):
    sums = job.empty_sums()

    def run(rows):
        unmoved = np.zeros(rows.stop - rows.start)
        for tile, columns in job.squared_tiles(rows):
            k.profile_tile(PROFILES[job.kernel], job.scale, unmoved, tile)
            sums[rows] += tile @ job.summands.values[columns]

    thread_map(run, spans(len(job.points), TILE), job.n_jobs)
    return sums


def _far_sums(job):
    """Sums relative to the nearest row that counts, and the logarithm of the kernel there."""
    sums, shift = job.empty_sums(), np.zeros(len(job.points))
    values = job.summands.values
    gaussian = job.kernel == "gaussian"

    def run(rows):
        nearest = np.full(rows.stop - rows.start, np.inf)
        for tile, columns in job.squared_tiles(rows):
            tile[:, values[columns, 0] <= 0.0] = np.inf
            np.minimum(nearest, tile.min(axis=1), out=nearest)
        nearest = np.where(np.isfinite(nearest), nearest * job.scale, 0.0)
        for tile, columns in job.squared_tiles(rows):
            if gaussian:
                k.profile_tile(PROFILES[job.kernel], job.scale, nearest, tile)
            else:
                k.shifted_exponential_tile(job.scale, np.sqrt(nearest), tile)
            sums[rows] += tile @ values[columns]
        shift[rows] = -0.5 * nearest if gaussian else -np.sqrt(nearest)

    thread_map(run, spans(len(job.points), TILE), job.n_jobs)
    return sums, shift


def nearest_rows(summands: Summands, X, n_jobs=None):
    """Number of the nearest row of positive weight, for each row of X; the first of several."""
    job = _Job(summands, prepare(X, summands.metric), "tophat", 1.0, None, None, n_jobs)
    found = np.zeros(len(job.points), dtype=np.intp)
    without = summands.values[:, 0] <= 0.0

    def run(rows):
        nearest = np.full(rows.stop - rows.start, np.inf)
        for tile, columns in job.squared_tiles(rows):
            tile[:, without[columns]] = np.inf
            best = tile.argmin(axis=1)
            least = tile[np.arange(len(best)), best]
            closer = least < nearest
            nearest[closer] = least[closer]
            found[rows][closer] = best[closer] + columns.start

    thread_map(run, spans(len(job.points), TILE), n_jobs)
    return found
