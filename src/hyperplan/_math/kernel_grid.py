"""Gaussian sums over many points at many places, by way of a regular grid, with a bound of the error at each place.

Each point is replaced by the nodes around it (weights of polynomial interpolation), the grid is smoothed axis by axis,
and the sums at the queries are read off by the same interpolation.  This costs a few operations per point, per query
and per node instead of one per pair.

The error.  In one dimension, at the distance r (in bandwidths), the kernel is replaced by one that differs from it by
at most ``c exp(-r^2 / 2 s^2)`` with s = 1.5, plus next to nothing where it is cut off: the constants are found by
trying positions between nodes.  In d dimensions this is at most ``d c (1 + c)^(d-1)`` times the Gaussian that is s
times as wide, so that the same grid, smoothed that much, gives a bound of the error of each sum.  Sums whose bound is
not good enough (far from all points) are left to others.

Reference: Greengard, Strain (1991), The fast Gauss transform, SIAM J. Sci. Stat. Comput., for the idea that smooth sums
need few numbers.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy.ndimage import correlate1d

from hyperplan._core.parallel import spans, thread_map
from hyperplan._math import _kernel_grid_kernels as k

MOST_COLUMNS = 3
MOST_NODES = 2**21  # of all grids together
REACH = 10.0  # bandwidths beyond which the kernel counts as zero
WHOLE = 8.0  # up to here a stencil sees nothing of that
WIDER = 1.5
BEYOND = 1.0  # bandwidths around the points in which queries are answered
MARGIN = 40.0  # how many times better than asked the error must be where points are dense
SAFE = 1.5  # the constant of the error was found at some positions only
EXACT = 1e-12  # what "no error" means
SEEN = 6.0  # bandwidths within which the tree looks at pairs
FEWEST_PAIRS = 1e6
DESIGNS = ((6, 3), (8, 4), (8, 6), (10, 6), (12, 7), (16, 8))  # (nodes of a stencil, nodes per bandwidth), by cost
POSITIONS = 9
QUERIES = 512  # per task
PER_PAIR, PER_TERM, PER_TAP = (
    2.0,
    0.7,
    1.0,
)  # nanoseconds for a pair, for a node of a stencil, for a tap of the smoother


class Grid(NamedTuple):
    """A grid that pays: nodes of a stencil and per bandwidth, its corner, its shape and the constants of the error."""

    width: int
    density: int
    origin: np.ndarray
    shape: tuple[int, int, int]
    errors: tuple[float, float]


def plan_grid(points, n_queries, n_values, bandwidth, rtol) -> Grid | None:
    """The cheapest grid over the points (d, n) that keeps the error, or None if pairs are cheaper."""
    d, n_points = points.shape
    if d > MOST_COLUMNS or n_points * float(n_queries) < FEWEST_PAIRS:
        return None
    low, extent = points.min(axis=1), np.ptp(points, axis=1) / bandwidth
    usual = np.sqrt(12.0) * points.std(axis=1) / bandwidth  # the extent of a uniform column with this deviation
    pairs = float(n_queries) * n_points * np.prod(np.minimum(1.0, 2 * SEEN / np.maximum(usual, SEEN)))
    for width, density in DESIGNS:
        nodes = np.floor((extent + 2 * BEYOND) * density).clip(max=1e9) + width + 2
        errors = error_constants(width, density)
        if np.prod(nodes) * (n_values + 1) > MOST_NODES or _cost(nodes, width, density, d, n_points + n_queries,
                                                                 n_values) > PER_PAIR * pairs:  # fmt: skip
            return None
        if d * errors[0] * MARGIN <= max(rtol, MARGIN * EXACT):
            origin = low - BEYOND * bandwidth - (width // 2) * bandwidth / density
            return Grid(width, density, origin, (1,) * (3 - d) + tuple(int(count) for count in nodes), errors)
    return None


def _cost(nodes, width, density, d, n_places, n_values) -> float:
    """Nanoseconds, about."""
    taps = 2 * REACH * density + 1
    return PER_TERM * n_places * float(width) ** d * n_values + PER_TAP * float(np.prod(nodes)) * taps * d * (
        n_values + 1
    )


@functools.cache
def error_constants(width: int, density: int) -> tuple[float, float]:
    """What the kernel is off by in one dimension: over ``exp(-r^2 / 2 s^2)``, and as such where it ends."""
    half_taps = _half_taps(density)
    places = np.linspace(0.0, 1.0, POSITIONS)
    weights = np.empty((POSITIONS, width))
    for place, row in zip(places, weights):
        k.lagrange_weights(place, denominators(width), row)
    apart = np.arange(width)[:, None] - np.arange(width)
    shifts = np.arange(half_taps + width + 2)
    near = far = 0.0
    for shift in shifts:
        steps = shift + apart
        values = np.where(np.abs(steps) <= half_taps, np.exp(-0.5 * (steps / density) ** 2), 0.0)
        r = (shift + places[:, None] - places) / density
        gap = np.abs(weights @ values @ weights.T - np.exp(-0.5 * r**2))
        if r.max() < WHOLE:
            near = max(near, float((gap * np.exp(0.5 * (r / WIDER) ** 2)).max()))
        else:
            far = max(far, float(gap.max()))
    return SAFE * near, SAFE * far


@functools.cache
def denominators(width: int) -> np.ndarray:
    """``prod_j (node_i - node_j)`` over the other nodes j of a stencil of unit steps."""
    return np.array(
        [math.factorial(i) * math.factorial(width - 1 - i) * (-1.0) ** (width - 1 - i) for i in range(width)]
    )


def _half_taps(density: int) -> int:
    return math.ceil(REACH * density)


def grid_sums(grid: Grid, points, values, queries, bandwidth, n_jobs=None):
    """``(sums, bound, inside)``: sums of shape (q, m), the bound of the error of column 0, queries that were answered.

    Parameters
    ----------
    grid : Grid
        From `plan_grid` for these points.
    points : ndarray of shape (d, n)
        Points.
    values : ndarray of shape (m, n)
        Their values; those of column 0 are not negative.
    queries : ndarray of shape (q, d)
        Where the sums are wanted.
    """
    d, inverse = points.shape[0], grid.density / bandwidth
    origin = np.concatenate([np.zeros(3 - d), grid.origin])
    widths = np.array([1] * (3 - d) + [grid.width] * d)
    below = denominators(grid.width)
    points, places = _three(points), _three(queries.T)
    grids = np.zeros((len(values) + 1, *grid.shape))

    def fill(c):
        k.spread(points, values[c], origin, inverse, widths, below, grids[c])

    def smooth(c):
        wider = WIDER if c == len(values) else 1.0
        taps = np.exp(
            -0.5 * (np.arange(-_half_taps(grid.density), _half_taps(grid.density) + 1) / (grid.density * wider)) ** 2
        )
        for axis in range(3 - d, 3):
            correlate1d(grids[c], taps, axis=axis, output=grids[c], mode="constant")

    thread_map(fill, range(len(values)), n_jobs)
    grids[-1] = grids[0]
    thread_map(smooth, range(len(grids)), n_jobs)
    cells = (queries - grid.origin) * inverse
    first, last = grid.width // 2, np.array(grid.shape[3 - d :]) - grid.width // 2 - 1
    inside = np.flatnonzero(((cells >= first) & (cells < last)).all(axis=1))
    sums = np.empty((inside.size, len(grids)))

    def read(part):
        k.gather(grids, places[:, inside[part]], origin, inverse, widths, below, sums[part])

    thread_map(read, spans(inside.size, QUERIES), n_jobs)
    near, far = grid.errors
    floor = values[0].sum() * (near * math.exp(-0.5 * (REACH / WIDER) ** 2) + far)
    return sums[:, :-1], d * (1.0 + near + far) ** (d - 1) * (near * np.abs(sums[:, -1]) + floor), inside


def _three(points):
    """The same points (d, n) with three rows, zeros first."""
    whole = np.zeros((3, points.shape[1]))
    whole[3 - points.shape[0] :] = points
    return whole
