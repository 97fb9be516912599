"""The working-set engine of coordinate descent: for many columns of which few matter.

The state (working set, its Gram matrix, residual, correlations) travels along a path of penalties.  Correlations
with the residual are exact for a residual seen before and bounded since: a column is read again only where the bound
cannot show that its coefficient stays zero.
"""

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers._coordinate_design_kernels import distance, uncertain
from hyperplan._solvers._coordinate_kernels import coefficient_sums, dot, duality_gap
from hyperplan._solvers.coordinate import BLOCK_PATIENCE, Stop, _primal, _Recorder, gram_solve, residual_path
from hyperplan._solvers.coordinate_design import Block
from hyperplan._solvers.coordinate_newton import SupportFactor

FIRST_COLUMNS = 128  # least number of columns added at a time
SNAPSHOTS = 16  # residuals remembered
LARGEST_BLOCK = 6000  # beyond, the Gram matrix costs more than it saves
ROUNDS = 200  # of the outer loop, for one penalty
POLISH = 4  # Newton rounds, and calls, when nothing can be added to the working set
INNER_SHARE = 0.1  # of the measured gap that is left to the working set


class Correlations:
    """c = X'r for the columns that may matter, from remembered residuals and the bound of Cauchy and Schwarz."""

    def __init__(self, design, residual, xy):
        self.design = design
        self.c = xy.copy()
        self.norm = np.sqrt(design.arrays.norm2)
        self.seen = np.zeros(design.d, dtype=np.intp)
        self.past = [residual.copy()]
        self.needed = np.empty(design.d, dtype=np.bool_)

    def update(self, residual, root, w, bound):
        """Recompute what may reach `bound` at the residual (scaled by the root of the weights) of w."""
        if len(self.past) == SNAPSHOTS:
            self._forget()
        moved = np.array([distance(residual, old) for old in self.past])
        uncertain(self.c, self.norm, self.seen, moved, w, bound, self.needed)
        self.design.correlate(root * residual, self.needed, self.c)
        self.seen[self.needed] = len(self.past)
        self.past.append(residual.copy())

    def _forget(self):
        """Drop the older half of the residuals; columns last seen there become unknown."""
        half = SNAPSHOTS // 2
        old = self.seen < half
        self.c[old] = np.inf
        self.seen = np.where(old, 0, self.seen - half)
        self.past = self.past[half:]


class WorkingSet:
    """State of the engine; `solve` moves it to the solution of a penalty."""

    def __init__(self, design, y, xy, w0=None):
        self.design, self.y, self.xy = design, y, xy
        self.block = Block(design)
        self.factor = SupportFactor()
        self.root = self.block.root
        self.target = self.root * y
        self.y2 = float(self.target @ self.target)
        self.w = np.zeros(design.d)
        self.inside = np.zeros(design.d, dtype=np.bool_)
        self.residual = self.target.copy()
        self.correlations = Correlations(design, self.residual, xy)
        self.previous_l1 = None
        if w0 is not None and np.any(w0):
            self.w[:] = w0
            self._add(np.flatnonzero(self.w))
            self._set_residual()
            self.correlations.update(self.residual, self.root, self.w, 0.0)

    def _add(self, columns):
        self.block.add(columns)
        self.inside[columns] = True

    def _set_residual(self):
        self.residual = self.target - self.block.fitted(self.w[self.block.columns])

    def gap(self, penalty):
        """(gap, primal) with correlations good enough to certify it."""
        c, w = self.correlations.c, self.w
        used = self.block.columns
        w_l1, w_l2, _, _ = coefficient_sums(penalty, w[used], w[used])
        score = self.score(penalty)
        correlation = max(0.0, float(score.max())) if c.shape[0] else 0.0
        r2 = dot(self.residual, self.residual)
        ry = dot(self.residual, self.target)
        gap = duality_gap(penalty.l1, penalty.l2, r2, ry, w_l1, w_l2, correlation, 0.0)
        return gap, _primal(penalty, r2, w[used])

    def score(self, penalty):
        """|X'r - l2 w|, or its positive side: what must not exceed l1."""
        score = self.correlations.c - penalty.l2 * self.w if penalty.l2 else self.correlations.c
        return score if penalty.positive else np.abs(score)

    def solve(self, penalty, options):
        """Move to the solution for `penalty`; return (gap, primal, epochs, status)."""
        goal = options.tol * self.y2
        epochs = polished = 0
        warm = self.previous_l1 is not None
        for turn in range(ROUNDS):
            if turn:
                self.correlations.update(self.residual, self.root, self.w, penalty.l1)
            gap, primal = self.gap(penalty)
            known = turn > 0 or not warm  # along a path the correlations are those of the previous penalty
            if known and (gap <= goal or not np.isfinite(gap) or epochs >= options.max_iter or polished == POLISH):
                break
            added = self._grow(penalty, strong=warm and turn == 0)
            if len(self.block) > LARGEST_BLOCK:
                return self._by_columns(penalty, options, epochs)
            budget = options.max_iter - epochs
            if turn and not added:  # the working set is complete: Newton steps alone, down to rounding
                epochs += max(1, self._descend(penalty, -1.0, min(POLISH, budget), 0))
                polished += 1
            else:
                inner_goal = 0.3 * goal if warm else max(0.3 * goal, INNER_SHARE * gap)
                epochs += max(1, self._descend(penalty, inner_goal, budget, 0 if warm else BLOCK_PATIENCE))
        self.previous_l1 = penalty.l1
        status = Status.CONVERGED if gap <= goal else Status.MAX_ITER
        return float(gap), primal, epochs, status

    def _grow(self, penalty, strong):
        """Add the columns that violate optimality most (or are about to, by the sequential strong rule)."""
        score = self.score(penalty)
        least = max(2 * penalty.l1 - self.previous_l1, 0.5 * penalty.l1) if strong else penalty.l1
        violation = np.where(self.inside, -1.0, score - least)
        candidates = np.flatnonzero(violation > 0)
        room = max(FIRST_COLUMNS, 2 * int(np.count_nonzero(self.w)))
        if candidates.shape[0] > room:
            excess = violation[candidates] / self.correlations.norm[candidates]
            candidates = np.sort(candidates[np.argpartition(-excess, room)[:room]])
        if candidates.shape[0]:
            self._make_room(candidates.shape[0])
            self._add(candidates)
        return candidates.shape[0]

    def _make_room(self, n_new):
        """Forget idle columns when the working set has become much larger than the support."""
        used = self.w[self.block.columns] != 0
        n_used = int(np.count_nonzero(used))
        if len(self.block) + n_new > 4 * n_used + 8 * FIRST_COLUMNS:
            self.inside[self.block.columns[~used]] = False
            self.block.keep(np.flatnonzero(used))
            self.factor.forget()

    def _descend(self, penalty, goal, epochs, patience):
        """Solve on the working set."""
        columns = self.block.columns
        w, q = self.w[columns], self.xy[columns]
        G = self.block.storage
        c = q - self.block.gram @ w
        stop = Stop(self.y2, goal, np.inf, max(1, epochs))
        used, _ = gram_solve(G, q, penalty, stop, w, c, np.empty(0, dtype=np.uint64), patience, self.factor)
        self.w[columns] = w
        self._set_residual()
        return used

    def _by_columns(self, penalty, options, epochs):
        """Too many columns matter: go on without a Gram matrix."""
        left = options._replace(max_iter=max(1, options.max_iter - epochs))
        solution = residual_path(self.design, self.y, [penalty], left, self.w)
        self.w[:] = solution.coefs[0]
        outside = np.flatnonzero((self.w != 0) & ~self.inside)
        self._add(outside)
        self._set_residual()
        self.previous_l1 = penalty.l1
        return float(solution.gaps[0]), solution.primals[0], epochs + solution.n_iters[0], solution.statuses[0]


def working_set_path(design, y, xy, penalties, options, w0=None):
    """Solve for each penalty (l1 > 0) in turn; `y` centred and ``xy = design.prepare(y)``; returns a `PathSolution`."""
    record = _Recorder(design.d, len(penalties))
    with single_threaded_blas():
        state = WorkingSet(design, y, xy, w0)
        for penalty in penalties:
            gap, primal, epochs, status = state.solve(penalty, options)
            record(state.w, gap, primal, epochs, status)
    return record.solution()
