"""The tall engine of coordinate descent: far more rows than columns, of which few matter.

A Gram matrix of all columns would cost more than reading X several times.  Instead, the problem of a sample of rows
(a pilot) says which columns matter; one reading of X gives their Gram matrix and the exact correlations of all
columns, the problem is solved on these columns, and another reading certifies the solution or names the columns that
were missing.  Whatever the pilot says, the certificate comes from residuals of all rows.
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
from hyperplan._solvers.coordinate import BLOCK_PATIENCE, PathSolution, Penalty, Stop, gram_solve
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
MARGIN = 2.0  # standard deviations of a sampled correlation that count as "may matter"
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

    def read(self, w, columns=None):
        """(`RowSums` at w, Gram matrix of the chosen columns) in one reading; makes the means exact."""
        used = np.flatnonzero(w)
        chosen = np.empty(0, dtype=np.intp) if columns is None else columns
        shift, y_shift = self.x_mean, self.y_mean

        def task(rows):
            r, sums, c = np.empty(PANEL), np.zeros(6), np.zeros((2, w.shape[0]))
            G = np.zeros((chosen.shape[0], chosen.shape[0]))
            Z = np.empty((min(PANEL, rows.stop - rows.start), chosen.shape[0]), order=self.order)
            for first in range(rows.start, rows.stop, PANEL):
                last = min(first + PANEL, rows.stop)
                self._residual_panel(self.X, self.y, self.weight, shift, y_shift, used, w, first, last, r, sums, c)
                if chosen.shape[0]:
                    part = Z[: last - first]
                    gather_panel(self.X, shift, self.root, chosen, first, last, part)
                    G += part.T @ part
            return sums, c, G

        sums, c, G = _added(quiet_map(task, spans(self.X.shape[0], TASK_ROWS)))
        total, r1, r2, rt, t1, t2 = (float(value) for value in sums)
        self.total = total
        if self.center:
            rest = c[1] / total
            G -= total * np.outer(rest[chosen], rest[chosen])
            c[0] -= rest * r1
            r2, rt, t2 = r2 - r1 * r1 / total, rt - r1 * t1 / total, t2 - t1 * t1 / total
            self.x_mean, self.y_mean = shift + rest, y_shift + t1 / total
        self.y2 = max(t2, 0.0)
        return RowSums(c[0], max(r2, 0.0), rt), G

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


def pilot_columns(rows, penalty, w0=None):
    """(columns that may matter, coefficients of the sample's problem), or None when the sample is not finite."""
    m = rows.pilot
    if not m.usable:
        return None
    sampled = m.penalty(penalty, rows.total)
    w = np.zeros(m.xy.shape[0]) if w0 is None else np.array(w0, dtype=np.float64)
    c = m.xy - m.gram @ w if w.any() else m.xy.copy()
    stop = Stop(m.y2, PILOT_TOLERANCE * m.y2, np.inf, PILOT_EPOCHS)
    gram_solve(m.gram, m.xy, sampled, stop, w, c, _CYCLIC, BLOCK_PATIENCE, SupportFactor())
    spread = np.sqrt(max(m.y2 - w @ m.xy - w @ c, 0.0) / m.total * np.diagonal(m.gram).clip(0.0))
    score = c - sampled.l2 * w
    score = score if penalty.positive else np.abs(score)
    near = (w != 0) | (score > sampled.l1 - MARGIN * spread)
    if w0 is not None:
        near |= np.asarray(w0) != 0
    return np.flatnonzero(near), w


def rows_solve(rows, penalty, options, w0=None) -> PathSolution | None:
    """Solve for one penalty with l1 > 0; None when too many columns matter, or the data are not finite."""
    found = pilot_columns(rows, penalty, w0)
    d = rows.X.shape[1]
    if found is None or found[0].shape[0] > LARGEST_SHARE * d:
        return None
    columns, w = found
    w = w if w0 is None else np.array(w0, dtype=np.float64)
    sums, G = rows.read(w, columns)
    if not np.isfinite(sums.c).all():
        return None  # a column that is not used may hide a NaN from the gap
    goal, epochs, factor, complete = options.tol * rows.y2, 0, SupportFactor(), False
    gap, primal, score = _gap(penalty, sums, w)
    for turn in range(ROUNDS):
        if (gap <= goal and (turn or w0 is not None)) or epochs >= options.max_iter or not np.isfinite(gap):
            break
        inside, c, left = w[columns], sums.c[columns], options.max_iter - epochs
        # when no column is missing, Newton steps alone, down to rounding
        inner, most, patience = (-1.0, min(POLISH, left), 0) if complete else (0.3 * goal, left, BLOCK_PATIENCE)
        stop = Stop(rows.y2, inner, options.tol, most)
        used, _ = gram_solve(G, c + G @ inside, penalty, stop, inside, c, options.rng, patience, factor)
        epochs += max(1, used)
        w[columns] = inside
        sums, _ = rows.read(w)
        gap, primal, score = _gap(penalty, sums, w)
        missing = np.setdiff1d(np.flatnonzero(score > penalty.l1), columns)
        complete = not missing.shape[0]
        if gap > goal and not complete:
            if columns.shape[0] + missing.shape[0] > LARGEST_SHARE * d:
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
