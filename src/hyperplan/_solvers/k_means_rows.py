"""Tables that K-means runs on: which centre is nearest to each row, exactly, and what the clusters add up to.

Dense rows have a table in float32 beside them.  With rows shifted and scaled, one product of float32 matrices gives all
scores ``x'c - |c|^2 / 2``, whose error is known: where the best wins by more, it is the nearest; where not, distances
in question are measured in float64.  From one step to the next centres move little: a bound on the distance to the own
centre and one on the distance to all others, corrected by the movements, prove for most rows that nothing changes, and
these are not even read.  Sums of clusters change by the rows that changed their cluster.

Labels are what float64 says, whatever was skipped; sums are merged in the order of fixed spans of rows.  So the number
of threads changes no bit.

Hamerly (2010), Making k-means even faster.  Elkan (2003), Using the triangle inequality to accelerate k-means.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.arrays import CompressedMatrix, compressed
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, split_map
from hyperplan._solvers import _k_means_kernels as k

MOST_SPANS, FEWEST_SPANS, FEWEST_ROWS = 64, 4, 2048  # parts of a table whose sums are merged, and their rows
SUMS_ENTRIES = 1 << 23  # numbers that the sums of all parts may hold
TILE_ENTRIES, PANEL_ENTRIES, MOST_PANEL = 1 << 17, 1 << 18, 8192  # of the scores and rows that one product has
UNIT = 2.0**-24  # rounding of float32
DOUBLE = 2.0**-53
OFFSET = 16.0  # times the variance: a squared mean above makes shifted rows worth a copy
EXPONENTS = 20  # of two: float32 rows whose largest entry is beyond are scaled
STRETCH = 1.0 + 1e-12  # more than the rounding of a movement
CROWDED = 8  # rows per centre below which distances between centres are not worth computing


class Sums(NamedTuple):
    """What clusters add up to, about the middle of the table: rows with a weight, weights, sums, sums of squares."""

    counts: np.ndarray
    masses: np.ndarray
    totals: np.ndarray
    spreads: np.ndarray

    @classmethod
    def zeros(cls, n_clusters, d):
        return cls(np.zeros(n_clusters), np.zeros(n_clusters), np.zeros((n_clusters, d)), np.zeros(n_clusters))

    def add(self, other):
        for mine, theirs in zip(self, other):
            mine += theirs


def row_spans(n, n_clusters, d):
    """Parts of a table that are worked on one by one; they depend on shapes only."""
    parts = max(FEWEST_SPANS, min(MOST_SPANS, SUMS_ENTRIES // (n_clusters * d)))
    return spans(n, max(-(-n // parts), FEWEST_ROWS))


def panel_rows(n_clusters, d):
    """Rows of one product."""
    return max(64, min(TILE_ENTRIES // n_clusters, PANEL_ENTRIES // d, MOST_PANEL))


class Frame(NamedTuple):
    """How rows become float32: ``(x - middle) * scale``, and the relative error of squared distances then."""

    middle: np.ndarray
    scale: float
    error: float


def frame_of(middle, largest):
    """A frame for rows whose entries are at most `largest` away from the middle."""
    scale = 2.0 ** -float(np.frexp(largest)[1]) if 0.0 < largest < np.inf else 1.0
    return Frame(middle, min(scale, 2.0**1000), float_error(middle.shape[0]))


def float_error(d):
    """Bound of the error of a squared distance from float32 products, relative to the squared sum of both norms."""
    return 1.1 * (d + 12) * UNIT


class Screen(NamedTuple):
    """Centres ready for products: in float32, the halves of their squared norms, and the largest norm."""

    centres: np.ndarray
    narrow: np.ndarray
    half: np.ndarray
    largest: float


def screen_of(centres, frame: Frame) -> Screen:
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = ((centres - frame.middle) * frame.scale).astype(np.float32)
        squares = np.einsum("ij,ij->i", narrow, narrow, dtype=np.float64)
        return Screen(centres, narrow, (0.5 * squares).astype(np.float32), float(np.sqrt(squares.max())))


class Scratch:
    """Arrays of one worker: a tile of scores and what is found in it."""

    def __init__(self, n_clusters, d, panel, span):
        self.tile, self.rows = np.empty(n_clusters * panel, np.float32), np.empty((panel, d), np.float32)
        self.best, self.second = np.empty(panel, np.float32), np.empty(panel, np.float32)
        self.place, self.chosen = np.empty(panel, np.int32), np.empty(span, np.intp)

    def settle(self, X, table, chosen, screen: Screen, squares, limits, upper, lower):
        """The nearest centre of each chosen row of X; `table` holds just these rows."""
        m = chosen.shape[0]
        tile = self.tile[: screen.narrow.shape[0] * m].reshape(screen.narrow.shape[0], m)
        best, second, place = self.best[:m], self.second[:m], self.place[:m]
        with np.errstate(over="ignore", invalid="ignore"):  # rows far outside: measured in float64
            np.matmul(screen.narrow, table.T, out=tile)
        k.top_two(tile, screen.half, best, second, place)
        k.settle(X, chosen, screen.centres, tile, screen.half, best, second, place, squares, limits, upper, lower)
        return place


class Spares:
    """Scratch that workers hand back: memory is touched for the first time once, not in every step."""

    def __init__(self, make):
        self.make, self.free = make, []

    def take(self):
        try:
            return self.free.pop()
        except IndexError:
            return self.make()

    def give(self, scratch):
        self.free.append(scratch)


def movement_limits(travel, error, largest, slack):
    """The six numbers of the kernels."""
    order = np.argsort(-travel, kind="stable")[:2]
    second = travel[order[1]] if travel.shape[0] > 1 else 0.0
    return np.array([travel[order[0]], second, float(order[0]), error, largest, slack])


class Search:
    """One run: labels, bounds and sums that follow the centres."""

    def __init__(self, rows, n_clusters):
        n, d = rows.shape
        self.rows, self.n_clusters = rows, n_clusters
        self.parts = row_spans(n, n_clusters, d)
        self.labels = np.full(n, -1, np.int32)
        self.upper, self.lower = np.full(n, np.inf), np.zeros(n)
        self.sums = Sums.zeros(n_clusters, d)
        self.peaks = np.zeros(n_clusters)
        self.travelled = 0.0  # of all centres since the beginning: what bounds were corrected by

    def assign(self, centres, travel=None) -> int:
        """Find the nearest centres and move the sums along; returns how many labels changed.

        Parameters
        ----------
        centres : ndarray of shape (n_clusters, d)
            Centres in float64.
        travel : ndarray of shape (n_clusters,), default=None
            How far they are from those of the last call.
        """
        work = self.prepare(centres, np.zeros(self.n_clusters) if travel is None else travel, travel is None)
        found = split_map(work, self.parts, self.rows.n_jobs)
        for change, _ in found:
            if change is not None:
                self.sums.add(change)
        moved = sum(moved for _, moved in found)
        if moved:
            self._keep_digits()
        return moved

    def _keep_digits(self):
        """Sums that lost most of what was in them are summed again: the rounding of large rows would stay in them."""
        np.maximum(self.peaks, self.sums.spreads, out=self.peaks)
        self.sums.masses[self.sums.counts == 0] = 0.0
        if (self.sums.spreads < 1e-4 * self.peaks).any():
            self.sums = self.rows.cluster_sums(self.labels, self.n_clusters, self.parts)
            self.peaks = self.sums.spreads.copy()

    def _slack(self, travel, scale):
        self.travelled += float(travel.max(initial=0.0)) * scale
        return 1e-12 * self.travelled

    def _apart(self, centres):
        """Half the distance to the nearest other centre; nothing when that would cost more than it saves."""
        apart = np.zeros(self.n_clusters)
        if 1 < self.n_clusters * CROWDED <= self.labels.shape[0]:
            k.half_nearest(centres, apart)
        return np.where(np.isfinite(apart), apart, 0.0)


class BoundedSearch(Search):
    """Dense rows: one lower bound per row, all other distances from products in float32."""

    def __init__(self, rows, n_clusters):
        super().__init__(rows, n_clusters)
        self.panel = panel_rows(n_clusters, rows.shape[1])
        span = max(part.stop - part.start for part in self.parts)
        self.everyone = np.arange(span)
        self.spares = Spares(lambda: Scratch(n_clusters, rows.shape[1], self.panel, span))

    def prepare(self, centres, travel, is_first):
        rows, frame = self.rows, self.rows.frame
        screen = screen_of(centres, frame)
        shift = travel * frame.scale * STRETCH
        limits = movement_limits(shift, frame.error, screen.largest, self._slack(travel, frame.scale))
        apart = self._apart(centres) * frame.scale

        def choose(part, scratch):
            if is_first:
                return self.everyone[: part.stop - part.start]
            bounds = self.labels[part], self.upper[part], self.lower[part]
            table, squares = rows.table[part], rows.squares[part]
            count = k.select(table, squares, *bounds, screen.narrow, shift, apart, limits, scratch.chosen)
            return scratch.chosen[:count]

        def work(part):
            scratch = self.spares.take()
            chosen, moved = choose(part, scratch), 0
            change = Sums.zeros(*centres.shape) if chosen.size else None
            X, table, weight, squares, labels = rows.part(part, self.labels)
            upper, lower = self.upper[part], self.lower[part]
            for piece in spans(chosen.size, self.panel):
                some = chosen[piece]
                if chosen.size == table.shape[0]:
                    narrow = table[piece]
                else:
                    narrow = scratch.rows[: some.size]
                    k.gather(table, some, narrow)
                place = scratch.settle(X, narrow, some, screen, squares, limits, upper, lower)
                moved += k.move(X, weight, frame.middle, some, place, labels, *change)
            self.spares.give(scratch)
            return change, moved

        return work


class ElkanSearch(Search):
    """Dense rows: a lower bound for every row and centre."""

    def __init__(self, rows, n_clusters):
        super().__init__(rows, n_clusters)
        n = rows.shape[0]
        require_memory(8.0 * n * n_clusters, "A bound for every row and centre", "use algorithm='lloyd'")
        self.lowers, self.place = np.zeros((n, n_clusters)), np.zeros(n, np.int32)
        self.everyone = np.arange(max(part.stop - part.start for part in self.parts))

    def prepare(self, centres, travel, is_first):
        rows, shift = self.rows, travel * STRETCH
        apart, half = np.zeros(self.n_clusters), np.zeros((self.n_clusters, self.n_clusters))
        k.half_nearest(centres, apart)
        k.half_between(centres, half)
        slack = self._slack(travel, 1.0)

        def work(part):
            X, _, weight, _, labels = rows.part(part, self.labels)
            change, place = Sums.zeros(*centres.shape), self.place[part]
            k.elkan_pass(X, centres, shift, apart, half, slack, self.upper[part], self.lowers[part], place)
            everyone = self.everyone[: X.shape[0]]
            return change, k.move(X, weight, rows.frame.middle, everyone, place, labels, *change)

        return work


class SparseSearch(Search):
    """Sparse rows: one lower bound per row, scores in float64."""

    def __init__(self, rows, n_clusters):
        super().__init__(rows, n_clusters)
        self.place = self.labels.copy()

    def prepare(self, centres, travel, is_first):
        rows, shift = self.rows, travel * STRETCH
        columns = np.ascontiguousarray(centres.T)
        norms = np.einsum("ij,ij->i", centres, centres)
        limits = movement_limits(shift, rows.error, float(np.sqrt(norms.max())), self._slack(travel, 1.0))
        apart = self._apart(centres)

        def work(part):
            matrix, squares = rows.block(part), rows.squares[part]
            place, labels, weight = self.place[part], self.labels[part], rows.weight[part]
            bounds = self.upper[part], self.lower[part], place
            k.sparse_pass(matrix, squares, columns, 0.5 * norms, shift, apart, limits, np.empty(len(norms)), *bounds)
            change = Sums.zeros(*centres.shape)
            return change, k.sparse_move(matrix, weight, squares, place, labels, *change)

        return work


class DenseRows:
    """Rows with weights, and the table in float32 beside them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered, float32 or float64.
    weight : ndarray of shape (n,), default=None
        Weights; None counts every row once.
    n_jobs : int, default=None
        Threads.
    """

    def __init__(self, X, weight=None, n_jobs=None):
        self.X, self.shape, self.n_jobs = X, X.shape, n_jobs
        self.weight = np.empty(0) if weight is None else weight
        self.parts = row_spans(*X.shape, 1)
        self.middle, self.variance = self._moments()
        self.frame, self.table, self.squares = self._table()

    def _moments(self):
        n, d = self.shape
        shift = self.X[0].astype(np.float64)

        def work(part):
            sums, squares = np.zeros(d), np.zeros(d)
            k.add_columns(self.X[part], shift, sums, squares)
            return sums, squares

        with np.errstate(over="ignore", invalid="ignore"):
            sums, squares = (np.sum(parts, axis=0) for parts in zip(*split_map(work, self.parts, self.n_jobs)))
            return shift + sums / n, np.maximum(squares / n - (sums / n) ** 2, 0.0)

    def _table(self):
        X, squares = self.X, np.empty(self.shape[0])
        largest = max(split_map(lambda part: float(np.abs(X[part]).max()), self.parts, self.n_jobs))
        is_centred = self.middle @ self.middle <= OFFSET * self.variance.sum()
        if X.dtype == np.float32 and is_centred and abs(np.frexp(largest)[1]) <= EXPONENTS:
            frame, table = Frame(np.zeros(self.shape[1]), 1.0, float_error(self.shape[1])), X
            split_map(lambda part: k.row_squares(X[part], squares[part]), self.parts, self.n_jobs)
            return frame, table, squares
        require_memory(4.0 * X.size, "A copy of the table in float32", "use MiniBatchKMeans, or fewer rows")
        frame, table = frame_of(self.middle, largest + float(np.abs(self.middle).max())), np.empty(X.shape, np.float32)

        def fill(part):
            k.fill_table(X[part], frame.middle, frame.scale, table[part], squares[part])

        split_map(fill, self.parts, self.n_jobs)
        return frame, table, squares

    def search(self, n_clusters, elkan=False):
        return (ElkanSearch if elkan else BoundedSearch)(self, n_clusters)

    def part(self, part, labels):
        return self.X[part], self.table[part], self.weight[part], self.squares[part], labels[part]

    def take(self, numbers):
        return self.X[numbers]

    def own_gaps(self, labels, centres):
        """Squared distances of the rows to their centres."""
        gaps = np.empty(self.shape[0])
        split_map(lambda part: k.own_gaps(self.X[part], labels[part], centres, gaps[part]), self.parts, self.n_jobs)
        return gaps

    def cluster_sums(self, labels, n_clusters, parts):
        """The sums of clusters from scratch."""

        def work(part):
            X, _, weight, _, place = self.part(part, labels)
            change, everyone = Sums.zeros(n_clusters, self.shape[1]), np.arange(X.shape[0])
            k.move(X, weight, self.frame.middle, everyone, place, np.full(X.shape[0], -1, np.int32), *change)
            return change

        return _merged(split_map(work, parts, self.n_jobs))


class SparseRows:
    """The same for a CSR matrix; nothing is shifted."""

    def __init__(self, X, weight=None, n_jobs=None):
        self.X, self.shape, self.n_jobs, self.matrix = X, X.shape, n_jobs, compressed(X)
        self.weight = np.empty(0) if weight is None else weight
        self.parts = row_spans(*X.shape, 1)
        self.frame = Frame(np.zeros(X.shape[1]), 1.0, 0.0)
        wide = X.astype(np.float64)
        wide.data **= 2
        self.squares = np.asarray(wide.sum(axis=1), dtype=np.float64).ravel()
        self.middle = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        self.variance = np.maximum(np.asarray(wide.mean(axis=0)).ravel() - self.middle**2, 0.0)
        self.error = 4.0 * (X.shape[1] + 12) * DOUBLE

    def search(self, n_clusters, elkan=False):
        return SparseSearch(self, n_clusters)

    def block(self, part):
        starts = self.matrix.indptr[part.start : part.stop + 1]
        return CompressedMatrix(self.matrix.data, self.matrix.indices, starts, part.stop - part.start, self.shape[1])

    def take(self, numbers):
        return self.X[numbers].toarray()

    def own_gaps(self, labels, centres):
        gaps, norms = np.empty(self.shape[0]), np.einsum("ij,ij->i", centres, centres)

        def work(part):
            k.sparse_own_gaps(self.block(part), self.squares[part], labels[part], centres, norms, gaps[part])

        split_map(work, self.parts, self.n_jobs)
        return gaps

    def cluster_sums(self, labels, n_clusters, parts):
        def work(part):
            place, before = labels[part], np.full(part.stop - part.start, -1, np.int32)
            change = Sums.zeros(n_clusters, self.shape[1])
            k.sparse_move(self.block(part), self.weight[part], self.squares[part], place, before, *change)
            return change

        return _merged(split_map(work, parts, self.n_jobs))


def _merged(parts):
    total = parts[0]
    for part in parts[1:]:
        total.add(part)
    return total
