"""The tall engine of coordinate descent: far more rows than columns, of which few matter.

A Gram matrix of all columns would cost more than reading X several times.  Instead, a sample of rows (a pilot) is
solved; one reading of X gives the exact correlations of all columns there, which correct the sample's problem so that
it says which columns matter; another gives the Gram matrix of these, the problem is solved on them, and a last reading
certifies the solution or names the columns that were missing.  Whatever the pilot says, the certificate comes from
residuals of all rows.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans
from hyperplan._core.status import Status
from hyperplan._math.moments import quiet_map
from hyperplan._solvers._coordinate_kernels import coefficient_sums, duality_gap
from hyperplan._solvers._coordinate_rows_kernels import (
    PANEL,
    gather_panel,
    residual_panel_by_columns,
    residual_panel_by_rows,
    sample_panel,
)
from hyperplan._solvers.coordinate import BLOCK_PATIENCE, GRAM_PATIENCE, PathSolution, Penalty, Stop, gram_solve
from hyperplan._solvers.coordinate_newton import SupportFactor

TASK_ROWS = 4 * PANEL  # rows of one task
BLOCK_ROWS = 64  # neighbouring rows that are sampled together: whole cache lines of a column
TASK_BLOCKS = 25  # of one task
SHIFT_ROWS = 16  # rows whose means the sample is taken about
PILOT_ROWS = 32  # sampled rows per column
PILOT_SHARE = 8  # least number of rows per sampled row
PILOT_COLUMNS = 32  # fewer columns have their whole Gram matrix at the price of reading them
PILOT_TOLERANCE = 1e-4
PILOT_EPOCHS = 1000
PILOT_ROUNDING = 1e-6  # relative ridge against the rounding of single precision
NEAR = 0.9  # share of the penalty that a correlation must reach to count as "may matter": another reading costs more
LARGEST_SHARE = 0.6  # of the columns in the working set, beyond which the whole Gram matrix is cheaper
ROUNDS = 6  # readings of X before the whole Gram matrix is formed after all
POLISH = 4
_CYCLIC = np.empty(0, dtype=np.uint64)


def suits_rows(X, n_targets) -> bool:
    """Whether X is dense and tall enough for a pilot to pay."""
    n, d = X.shape
    if sp.issparse(X):
        return False
    contiguous = X.flags.c_contiguous or X.flags.f_contiguous
    return n_targets == 1 and contiguous and d >= PILOT_COLUMNS and n >= PILOT_SHARE * PILOT_ROWS * d


class Pilot(NamedTuple):
    """Moments of the sampled rows about their means."""

    total: float
    x_mean: np.ndarray
    y_mean: float
    gram: np.ndarray
    xy: np.ndarray
    y2: float

    @property
    def usable(self) -> bool:
        """Whether the sample has anything to say: finite numbers and a target that varies."""
        return bool(np.isfinite(self.gram).all() and np.isfinite(self.xy).all() and 0 < self.y2 < np.inf)

    @property
    def stop(self):
        """A coarse stopping rule: the sample only chooses columns."""
        return Stop(self.y2, PILOT_TOLERANCE * self.y2, np.inf, PILOT_EPOCHS)

    def penalty(self, penalty, total):
        """The penalty in the sample's units, with a little ridge against the rounding of single precision."""
        share = self.total / total
        ridge = PILOT_ROUNDING * float(np.diagonal(self.gram).max())
        return Penalty(penalty.l1 * share, penalty.l2 * share + ridge, penalty.positive)


class RowSums(NamedTuple):
    """Exact sums at coefficients w: correlations ``c = X'Sr``, ``r'Sr`` and ``r'Sy``, all about the means."""

    c: np.ndarray
    r2: float
    ry: float


class TallRows:
    """A dense design with one target, read by panels of rows; means are found on the first reading.

    Parameters
    ----------
    X : C- or F-contiguous ndarray of shape (n, d)
        Columns.
    y : ndarray of shape (n,)
        Target, float64.
    weight : ndarray of shape (n,) or None
        Weights of rows.
    center : bool
        Whether sums are about the weighted means.
    """

    def __init__(self, X, y, weight, *, center):
        self.X, self.y, self.center = X, y, center
        self.weight = np.ones(X.shape[0]) if weight is None else weight
        self.weighted = weight is not None
        self.root = self.weight if weight is None else np.sqrt(weight)
        self.order = "C" if X.flags.c_contiguous else "F"
        self._residual_panel = residual_panel_by_rows if self.order == "C" else residual_panel_by_columns
        self.pilot = self._sample()
        self.x_mean, self.y_mean = self.pilot.x_mean, self.pilot.y_mean
        self.total, self.y2 = float(X.shape[0]), np.nan

    def _sample(self):
        """Moments of blocks of rows at equal distances, in single precision: they only choose columns."""
        n, d = self.X.shape
        blocks = -(-PILOT_ROWS * d // BLOCK_ROWS)
        starts = np.linspace(0, n - BLOCK_ROWS, blocks).astype(np.intp)
        few = starts[:: max(1, blocks // SHIFT_ROWS)]
        x_shift, y_shift = np.zeros(d), 0.0
        if self.center:
            x_shift, y_shift = self.X[few].mean(axis=0, dtype=np.float64), float(self.y[few].mean())

        def task(piece):
            chosen = starts[piece]
            Z = np.empty((chosen.shape[0] * BLOCK_ROWS, d + 2), dtype=np.float32, order=self.order)
            sample_panel(self.X, self.y, self.root, x_shift, y_shift, chosen, BLOCK_ROWS, Z)
            return ((Z.T @ Z).astype(np.float64),)

        (square,) = _added(quiet_map(task, spans(blocks, TASK_BLOCKS)))
        total = float(square[d, d])
        if self.center and total > 0:
            rest = square[d] / total
            square -= total * np.outer(rest, rest)
            x_shift, y_shift = x_shift + rest[:d], y_shift + float(rest[d + 1])
        return Pilot(
            total,
            x_shift,
            y_shift,
            np.ascontiguousarray(square[:d, :d]),
            square[:d, d + 1].copy(),
            float(square[d + 1, d + 1]),
        )

    def read(self, w) -> RowSums:
        """The sums at w in one reading; makes the means exact."""
        used = np.flatnonzero(w)
        shift, y_shift = self.x_mean, self.y_mean

        def task(rows):
            r, sums, c = np.empty(PANEL), np.zeros(6), np.zeros((2, w.shape[0]))
            fixed = (self.X, self.y, self.weight, shift, y_shift, used, w, rows.start, rows.stop)
            self._residual_panel(*fixed, r, sums, c)
            return sums, c

        sums, c = _added(quiet_map(task, spans(self.X.shape[0], TASK_ROWS)))
        total, r1, r2, rt, t1, t2 = (float(value) for value in sums)
        self.total = total
        if self.center:
            rest = c[1] / total
            c[0] -= rest * r1
            r2, rt, t2 = r2 - r1 * r1 / total, rt - r1 * t1 / total, t2 - t1 * t1 / total
            self.x_mean, self.y_mean = shift + rest, y_shift + t1 / total
        self.y2 = max(t2, 0.0)
        return RowSums(c[0], max(r2, 0.0), rt)

    def products(self, new, old):
        """Products of the `new` columns with the old and the new ones, shape (old + new, new); means are exact."""
        both, k = np.concatenate([old, new]), new.shape[0]

        def task(rows):
            P = np.zeros((both.shape[0], k))
            Z = np.empty((min(PANEL, rows.stop - rows.start), both.shape[0]), order=self.order)
            for first in range(rows.start, rows.stop, PANEL):
                last = min(first + PANEL, rows.stop)
                part = Z[: last - first]
                gather_panel(self.X, self.x_mean, self.root, both, first, last, part)
                P += part.T @ part[:, -k:]
            return (P,)

        return _added(quiet_map(task, spans(self.X.shape[0], TASK_ROWS)))[0]

    def products_with_all(self, columns):
        """Products of the chosen columns, and of the target, with all columns: shape (chosen + 1, d)."""
        k, d = columns.shape[0], self.X.shape[1]
        every = np.arange(d)
        plain = not self.weighted and not self.x_mean.any() and self.X.dtype == np.float64

        def task(rows):
            P, size = np.zeros((k + 1, d)), min(PANEL, rows.stop - rows.start)
            Z = np.empty((size, k + 1), order=self.order)
            copied = np.empty((0 if plain else size, d), order=self.order)
            for first in range(rows.start, rows.stop, PANEL):
                last = min(first + PANEL, rows.stop)
                part, whole = Z[: last - first], self.X[first:last]
                gather_panel(self.X, self.x_mean, self.root, columns, first, last, part)
                part[:, k] = self.root[first:last] * (self.y[first:last] - self.y_mean)
                if not plain:
                    whole = copied[: last - first]
                    gather_panel(self.X, self.x_mean, self.root, every, first, last, whole)
                P += part.T @ whole
            return (P,)

        return _added(quiet_map(task, spans(self.X.shape[0], TASK_ROWS)))[0]


def _added(parts):
    """Sums of tuples of arrays, in the order of the tasks."""
    sums = parts[0]
    for part in parts[1:]:
        for mine, other in zip(sums, part):
            mine += other
    return sums


def pilot_solution(rows, penalty, patience=BLOCK_PATIENCE):
    """Coefficients of the sample's own problem, or None when the sample is not finite."""
    m = rows.pilot
    if not m.usable:
        return None
    w = np.zeros(m.xy.shape[0])
    gram_solve(m.gram, m.xy, m.penalty(penalty, rows.total), m.stop, w, m.xy.copy(), _CYCLIC, patience, SupportFactor())
    return w


def corrected_columns(rows, penalties, reference, sums, start):
    """Columns that the sample, its gradient corrected by all rows at `reference`, gives a coefficient or nearly one.

    The sample's noise is that of its residuals.  Once the correlations of all rows are known at some coefficients,
    only the (small) way from there to another solution is seen through the sample.
    """
    m = rows.pilot
    q = sums.c * (m.total / rows.total) + m.gram @ reference
    w, factor = start.copy(), SupportFactor()
    c = q - m.gram @ w
    ever = np.zeros(w.shape[0], dtype=np.bool_)
    for penalty in penalties:
        sampled = m.penalty(penalty, rows.total)
        gram_solve(m.gram, q, sampled, m.stop, w, c, _CYCLIC, GRAM_PATIENCE, factor)
        score = c - sampled.l2 * w
        ever |= (w != 0) | ((score if penalty.positive else np.abs(score)) > NEAR * sampled.l1)
    return ever


def rows_solve(rows, penalty, options, w0=None) -> PathSolution | None:
    """Solve for one penalty with l1 > 0; None when too many columns matter, or the data are not finite."""
    w = pilot_solution(rows, penalty)
    if w is None:
        return None
    w = w if w0 is None else np.array(w0, dtype=np.float64)
    sums = rows.read(w)
    if not np.isfinite(sums.c).all():
        return None  # a column that is not used may hide a NaN from the gap
    goal, epochs, factor, complete = options.tol * rows.y2, 0, SupportFactor(), False
    gap, primal, score = _gap(penalty, sums, w)
    columns = G = None
    for turn in range(ROUNDS):
        if (gap <= goal and (turn or w0 is not None)) or epochs >= options.max_iter or not np.isfinite(gap):
            break
        if columns is None:
            columns = np.flatnonzero(corrected_columns(rows, [penalty], w, sums, w) | (w != 0))
            if columns.shape[0] > LARGEST_SHARE * w.shape[0]:
                return None
            G = rows.products(columns, columns[:0])
        inside, c, left = w[columns], sums.c[columns], options.max_iter - epochs
        # when no column is missing, Newton steps alone, down to rounding
        inner, most, patience = (-1.0, min(POLISH, left), 0) if complete else (0.3 * goal, left, BLOCK_PATIENCE)
        stop = Stop(rows.y2, inner, options.tol, most)
        used, _ = gram_solve(G, c + G @ inside, penalty, stop, inside, c, options.rng, patience, factor)
        epochs += max(1, used)
        w[columns] = inside
        sums = rows.read(w)
        gap, primal, score = _gap(penalty, sums, w)
        missing = np.setdiff1d(np.flatnonzero(score > penalty.l1), columns)
        complete = not missing.shape[0]
        if gap > goal and not complete:
            if columns.shape[0] + missing.shape[0] > LARGEST_SHARE * w.shape[0]:
                return None
            G = _grown(G, rows.products(missing, columns))
            columns = np.concatenate([columns, missing])
    if not np.isfinite(gap) or (gap > goal and epochs < options.max_iter):
        return None
    status = Status.CONVERGED if gap <= goal else Status.MAX_ITER
    return PathSolution(w[None], np.array([gap]), np.array([primal]), [epochs], [status])


def _gap(penalty, sums, w):
    """(gap, primal, |c - l2 w| or its positive side) from exact sums."""
    w_l1, w_l2, correlation, _ = coefficient_sums(penalty, w, sums.c)
    gap = duality_gap(penalty.l1, penalty.l2, sums.r2, sums.ry, w_l1, w_l2, correlation, 0.0)
    score = sums.c - penalty.l2 * w
    primal = 0.5 * sums.r2 + penalty.l1 * w_l1 + 0.5 * penalty.l2 * w_l2
    return float(gap), primal, score if penalty.positive else np.abs(score)


def _grown(G, products):
    """G with the rows and columns of new members."""
    old, new = G.shape[0], products.shape[0]
    grown = np.empty((new, new))
    grown[:old, :old] = G
    grown[:, old:] = products
    grown[old:, :old] = products[:old].T
    return grown
