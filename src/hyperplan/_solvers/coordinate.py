"""Coordinate descent for the lasso and the elastic net, in engines that share one stopping rule.

    minimise  P(w) = 1/2 sum_i s_i (y_i - x_i'w)^2 + l1 |w|_1 + l2/2 |w|_2^2        (X and y centred, weights s)

- `gram_path`: everything from X'SX and X'Sy; for few columns and many rows.
- `rows_solve` and `rows_path`: for very many rows, the Gram matrix of the columns that a sample of rows points out.
- `working_set_path`: a growing set of columns with its Gram matrix, so that a step costs the size of the set and not
  the number of rows; the other columns are only correlated with the residual, and only where a bound cannot rule
  them out.
- `residual_path`: the textbook loop on columns, with Anderson extrapolation when it is slow.

On a Gram matrix, slow descent is helped by Newton steps on the current support with an exact line search over sign
changes: where the support is right they end the iteration.  All engines stop when the duality gap is at most ``tol *
sum s_i y_i^2``.

References: Friedman, Hastie, Tibshirani (2010), J. Stat. Software 33(1); Massias, Gramfort, Salmon (2018), ICML;
Fercoq, Gramfort, Salmon (2015), ICML; Bertrand, Massias (2021), AISTATS.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers._coordinate_kernels import (
    coefficient_sums,
    enter_worst,
    gram_descent,
    gram_gap,
    residual_descent,
    residual_sums,
)
from hyperplan._solvers.coordinate_newton import SupportFactor, minimise_over_support

GRAM_PATIENCE = 200  # epochs before a Newton step is tried on a full Gram matrix
WARM_PATIENCE = 20  # the same when the caller gave a start
BLOCK_PATIENCE = 8  # the same on a working set
PLAIN_EPOCHS = 20  # textbook epochs before extrapolation starts
HISTORY = 5  # iterates that an extrapolation combines


class Penalty(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|_2^2``, and w >= 0 when `positive`; in units of the summed squared error."""

    l1: float
    l2: float
    positive: bool = False


class Stop(NamedTuple):
    """When a kernel returns: see `gram_descent`."""

    y2: float
    goal: float
    step: float
    epochs: int
    entry: bool = True


class Options(NamedTuple):
    """What the engines need to know besides the problem.  `rng` is empty for cyclic order (see `_rng_kernels`)."""

    tol: float = 1e-4
    max_iter: int = 1000
    rng: np.ndarray = np.empty(0, dtype=np.uint64)


class PathSolution(NamedTuple):
    """One row, or one entry, per penalty."""

    coefs: np.ndarray
    gaps: np.ndarray
    primals: np.ndarray
    n_iters: list
    statuses: list


def gram_path(G, q, y2, penalties, options, w0=None) -> PathSolution:
    """Solve for each penalty in turn, warm, from the Gram matrix `G` (C-ordered), ``q = X'Sy`` and ``y2 = y'Sy``."""
    w = np.zeros(q.shape[0]) if w0 is None else np.array(w0, dtype=np.float64)
    c = q - G @ w if w.any() else q.copy()
    goal = options.tol * y2
    record, factor = _Recorder(len(w), len(penalties)), SupportFactor()
    for penalty in penalties:
        stop = Stop(y2, goal, options.tol, options.max_iter)
        patience = GRAM_PATIENCE if w0 is None else WARM_PATIENCE
        epochs, gap = gram_solve(G, q, penalty, stop, w, c, options.rng, patience, factor)
        r2 = y2 - w @ q - w @ c
        record(w, gap, _primal(penalty, r2, w), epochs, Status.CONVERGED if gap <= goal else Status.MAX_ITER)
    return record.solution()


def gram_solve(G, q, penalty, stop, w, c, rng, patience, factor):
    """Descent on G, w and ``c = q - G w`` being updated; return (epochs, gap).

    After `patience` epochs the search goes over signs: minimise over the support, let in the worst of the other
    coordinates, and again (Lee, Battle, Raina, Ng 2007).  Every step lowers the objective, so that no pattern of
    signs comes twice.
    """
    active = np.empty(w.shape[0], dtype=np.intp)
    epochs = patience if patience else BLOCK_PATIENCE
    done, settled = 0, True
    gap, _ = gram_gap(penalty, stop.y2, q, w, c)
    if patience:
        done, gap, settled = _gram_epochs(G, q, penalty, stop, epochs, rng, active, w, c)
        stop = stop._replace(entry=False)
    while not (gap <= stop.goal and settled) and done < stop.epochs and np.isfinite(gap):
        if minimise_over_support(G, penalty, factor, w, c):
            done += 1
            gap, _ = gram_gap(penalty, stop.y2, q, w, c)
            settled = True
            if gap > stop.goal:
                enter_worst(G, penalty, max(1, np.count_nonzero(w) // 8), w, c)
        else:
            used, gap, settled = _gram_epochs(G, q, penalty, stop, min(epochs, stop.epochs - done), rng, active, w, c)
            done += used
    return done, float(gap)


def _gram_epochs(G, q, penalty, stop, epochs, rng, active, w, c):
    limited = stop._replace(epochs=min(epochs, stop.epochs))
    return gram_descent(G, q, penalty, limited, rng, active, w, c)


def residual_path(design, y, penalties, options, w0=None, *, stop_early=False) -> PathSolution:
    """Solve for each penalty in turn by descent on the columns of a prepared `Design`, `y` centred.

    With `stop_early` the path ends with the first penalty that was not solved.
    """
    w = np.zeros(design.d) if w0 is None else np.array(w0, dtype=np.float64)
    rho = design.weight * (y - _centred_product(design, w)) if w.any() else design.weight * y
    y2 = float(design.weight @ y**2)
    record = _Recorder(design.d, len(penalties))
    state = _Residual(w, rho, 0.0)
    for penalty in penalties:
        stop = Stop(y2, options.tol * y2, options.tol, options.max_iter)
        epochs, gap, primal, state = _residual_solve(design, y, penalty, stop, options.rng, state)
        record(state.w, gap, primal, epochs, Status.CONVERGED if gap <= stop.goal else Status.MAX_ITER)
        if stop_early and gap > stop.goal:
            break
    return record.solution()


def join_paths(first, n_first, rest) -> PathSolution:
    """The first `n_first` solutions of one path, then another."""
    stacked = (np.concatenate([a[:n_first], b]) for a, b in zip(first[:3], rest[:3]))
    return PathSolution(*stacked, first.n_iters[:n_first] + rest.n_iters, first.statuses[:n_first] + rest.statuses)


class _Residual(NamedTuple):
    """Coefficients with their weighted residual ``rho - offset * weight``."""

    w: np.ndarray
    rho: np.ndarray
    offset: float

    def copy(self):
        return _Residual(self.w.copy(), self.rho.copy(), self.offset)


def _residual_solve(design, y, penalty, stop, rng, state):
    """Plain epochs, then groups of epochs whose ends are extrapolated; return (epochs, gap, primal, state)."""
    active, c = np.empty(design.d, dtype=np.intp), np.empty(design.d)
    done, past = 0, []
    while True:
        epochs = min(HISTORY if done else PLAIN_EPOCHS, stop.epochs - done)
        limited = stop._replace(epochs=epochs, entry=done == 0)
        used, gap, settled, offset = residual_descent(
            design.arrays, y, penalty, limited, rng, active, state.w, state.rho, state.offset, c
        )
        done += used
        state = state._replace(offset=offset)
        primal = _residual_primal(design, y, penalty, state)
        if (gap <= stop.goal and settled) or done >= stop.epochs or not np.isfinite(gap):
            return done, float(gap), primal, state
        past.append(state.copy())
        if len(past) > HISTORY:
            guess = _extrapolate(past, penalty)
            past.clear()
            if guess is not None and _residual_primal(design, y, penalty, guess) < primal:
                state = guess


def _residual_primal(design, y, penalty, state):
    r2, _ = residual_sums(design.arrays, y, state.rho, state.offset)
    return _primal(penalty, r2, state.w)


def _extrapolate(past, penalty):
    """Anderson: the affine combination of iterates whose combined step is shortest; None when it is degenerate."""
    steps = np.array([b.w - a.w for a, b in pairwise(past)])
    products = steps @ steps.T
    size = np.trace(products)
    if not 0 < size < np.inf:
        return None
    products.flat[:: len(products) + 1] += 1e-12 * size
    share = np.linalg.solve(products, np.ones(len(products)))
    share /= share.sum()
    if not np.isfinite(share).all():
        return None
    w = sum(s * p.w for s, p in zip(share, past[1:]))
    w[~np.any([p.w != 0 for p in past[1:]], axis=0)] = 0.0
    if penalty.positive and (w < 0).any():
        return None
    return _Residual(
        w, sum(s * p.rho for s, p in zip(share, past[1:])), sum(s * p.offset for s, p in zip(share, past[1:]))
    )


def _centred_product(design, w):
    """(X - mean) w from the support of w."""
    used = np.flatnonzero(w)
    return np.asarray(design.X[:, used] @ w[used], dtype=np.float64) - float(design.arrays.mean[used] @ w[used])


def _primal(penalty, r2, w):
    w_l1, w_l2, _, _ = coefficient_sums(penalty, w, w)
    return 0.5 * max(r2, 0.0) + penalty.l1 * w_l1 + 0.5 * penalty.l2 * w_l2


class _Recorder:
    """Collects the solutions along a path."""

    def __init__(self, d, n_penalties):
        self.coefs = np.zeros((n_penalties, d))
        self.gaps, self.primals = np.zeros((2, n_penalties))
        self.n_iters, self.statuses = [], []

    def __call__(self, w, gap, primal, epochs, status):
        k = len(self.n_iters)
        self.coefs[k] = w
        self.gaps[k], self.primals[k] = gap, primal
        self.n_iters.append(int(epochs))
        self.statuses.append(status if np.isfinite(gap) else Status.DIVERGED)

    def solution(self):
        k = len(self.n_iters)
        return PathSolution(self.coefs[:k], self.gaps[:k], self.primals[:k], self.n_iters, self.statuses)
