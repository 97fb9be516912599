"""The tall engine along a path of penalties: rows of the Gram matrix for the columns that ever matter.

The sample's solutions name a support; one reading of X corrects its gradient, and the corrected problem names the
columns whose products with all columns are summed.  With these products every penalty is solved and certified without
another look at X; columns that turn out to be missing are added together, and the path goes on from where they were
missed.
"""

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers._coordinate_kernels import gram_gap
from hyperplan._solvers.coordinate import GRAM_PATIENCE, PathSolution, Stop, _primal, _Recorder, gram_solve
from hyperplan._solvers.coordinate_newton import SupportFactor
from hyperplan._solvers.coordinate_rows import corrected_columns, pilot_solution

PILOT_STEP = 4  # one of so many penalties is solved on the sample
LARGEST_SAMPLE_SHARE = 0.75  # of the columns in the sample's own solution, which has more than the corrected one
LARGEST_PATH_SHARE = 0.4  # of the columns whose products are summed; beyond, the whole Gram matrix is cheaper
ROUNDS = 4


def path_columns(rows, penalties):
    """Columns that may have a coefficient for some penalty, by the sample and one reading of all rows; or None."""
    w = pilot_solution(rows, penalties[-1], GRAM_PATIENCE)
    if w is None or np.count_nonzero(w) > LARGEST_SAMPLE_SHARE * w.shape[0]:
        return None
    sums = rows.read(w)
    if not np.isfinite(sums.c).all():
        return None
    some = penalties[::-PILOT_STEP][::-1]
    return np.flatnonzero(corrected_columns(rows, some, w, sums, np.zeros(w.shape[0])))


def rows_path(rows, penalties, options) -> PathSolution | None:
    """Solve for decreasing penalties with l1 > 0; None when too many columns matter."""
    d = rows.X.shape[1]
    columns = path_columns(rows, penalties)
    if columns is None or columns.shape[0] > LARGEST_PATH_SHARE * d:
        return None
    state = _Path(rows, penalties, options)
    state.add(columns)
    with single_threaded_blas():
        for _ in range(ROUNDS):
            missing = state.run()
            if not missing.shape[0]:
                return state.solution()
            if state.columns.shape[0] + missing.shape[0] > LARGEST_PATH_SHARE * d:
                return None
            state.add(missing)
    return None


class _Path:
    """Products of the chosen columns with all columns, and the solutions found with them so far."""

    def __init__(self, rows, penalties, options):
        self.rows, self.penalties, self.options = rows, penalties, options
        self.columns = np.empty(0, dtype=np.intp)
        self.products = np.empty((0, rows.X.shape[1]))
        self.xy = None
        self.solved = []  # (coefficients, gap, primal, epochs) for each penalty up to the first with missing columns

    def add(self, columns):
        """Sum the products of further columns."""
        sums = self.rows.products_with_all(columns)
        self.products = np.concatenate([self.products, sums[:-1]])
        self.xy = sums[-1] if self.xy is None else self.xy
        self.columns = np.concatenate([self.columns, columns])

    def run(self):
        """Go on to the end of the path; return the columns that were missing, of which `solved` is free."""
        G, q = np.ascontiguousarray(self.products[:, self.columns]), self.xy[self.columns]
        w = np.zeros(self.xy.shape[0])
        if self.solved:
            w[:] = self.solved[-1][0]
        inside, factor = w[self.columns], SupportFactor()
        c = q - G @ inside
        missing = np.zeros(w.shape[0], dtype=np.bool_)
        goal = self.options.tol * self.rows.y2
        stop = Stop(self.rows.y2, goal, self.options.tol, self.options.max_iter)
        for penalty in self.penalties[len(self.solved) :]:
            epochs, _ = gram_solve(G, q, penalty, stop, inside, c, self.options.rng, GRAM_PATIENCE, factor)
            w[self.columns] = inside
            everywhere = self.xy - inside @ self.products
            everywhere[self.columns] = c
            gap, _ = gram_gap(penalty, self.rows.y2, self.xy, w, everywhere)
            if gap > goal:
                score = everywhere if penalty.positive else np.abs(everywhere)  # of columns outside: w = 0
                violating = score > penalty.l1
                violating[self.columns] = False
                missing |= violating
            if not missing.any():
                r2 = self.rows.y2 - inside @ q - inside @ c
                self.solved.append((w.copy(), gap, _primal(penalty, r2, w), epochs))
        return np.flatnonzero(missing)

    def solution(self):
        """All penalties' solutions."""
        record, goal = _Recorder(self.xy.shape[0], len(self.penalties)), self.options.tol * self.rows.y2
        for w, gap, primal, epochs in self.solved:
            record(w, gap, primal, epochs, Status.CONVERGED if gap <= goal else Status.MAX_ITER)
        return record.solution()
