"""The dual of all kernel support vector machines, solved by pair steps.

    minimise   1/2 b'Kb + sum_i l_i(b_i),   low_i <= b_i <= high_i,   sum of b fixed within each group

with l_i(b) = above_i b for b >= 0 and below_i b for b <= 0, one signed coefficient b_i per row (V13, with SVR's two
multipliers merged: they are never both positive).  At the optimum a number c per group, minus the intercept, separates
the slopes: raising a coefficient gains at most c, lowering one costs at least c.  The largest overlap is the violation;
the fit stops when it is at most `tol`, as libsvm does.

Small problems hold the whole matrix and make all steps in one kernel.  Larger ones choose the coefficients that violate
most, a few hundred at a time, compute their kernel rows as one product, make pair steps among them, and then bring the
slopes of everybody else up to date (`kernel_svm_blocks`).
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers import _kernel_svm_kernels as k
from hyperplan._solvers.kernel_svm_blocks import solve_blocks

WHOLE = 2000  # rows up to which the whole matrix is held, in double precision
PRECISE = 1e-5  # tolerances below are not reached with kernel values in single precision
STEPS, STEPS_PER_ROW = 10_000_000, 100  # limit on the number of steps when none is asked for


class Problem(NamedTuple):
    """A dual problem: `terms` are low, high, below and above (4, n); `start` is feasible, `score` is K start if known.

    The groups are the rows before and from `split` (n when there is but one).
    """

    terms: np.ndarray
    start: np.ndarray
    split: int
    score: np.ndarray | None = None


class Outcome(NamedTuple):
    """The end of a solve: coefficients, ``score = K beta`` at all rows, one constant per group, and how good it is."""

    beta: np.ndarray
    score: np.ndarray
    constants: np.ndarray
    violation: float
    n_iter: int
    status: Status


def precision(n_rows, tol):
    """The type of kernel values that suits a problem."""
    return np.float64 if n_rows <= WHOLE or tol < PRECISE else np.float32


def solve_dual(source, problem: Problem, *, tol, max_iter=-1, cache_bytes=2e8, shrinking=True) -> Outcome:
    """Minimise a dual objective.

    Parameters
    ----------
    source : DenseRows, SparseRows, GivenMatrix or Mirrored
        The kernel.
    problem : Problem
        Bounds, slopes and a feasible start.
    tol : float
        Largest violation at which to stop.
    max_iter : int
        Limit on the number of pair steps; -1 for ten million or a hundred per row.
    cache_bytes : float
        Memory for kernel rows of larger problems.
    shrinking : bool
        Whether larger problems set rows aside that have been settled for a while.
    """
    n = len(source)
    limit = max_iter if max_iter >= 0 else max(STEPS, STEPS_PER_ROW * n)
    beta = problem.start.copy()
    moved = np.flatnonzero(beta)
    if n <= WHOLE:
        with single_threaded_blas():
            K = source.square().astype(np.float64, copy=False)
            score = K[:, moved] @ beta[moved] if problem.score is None else problem.score.copy()
        diagonal = K.diagonal().astype(np.float64)
        n_iter, violation = k.improve_pairs(
            K, diagonal, problem.terms, problem.split, tol, limit, beta, score, np.empty((3, n))
        )
        stalled = n_iter < limit
    else:
        score = np.zeros(n) if problem.score is None else problem.score.copy()
        if problem.score is None and moved.size:
            score = source.product(source.take(moved), beta[moved])
        n_iter, violation, stalled = solve_blocks(source, problem, beta, score, tol, limit, cache_bytes, shrinking)
    if not np.isfinite(score).all():  # kernel values that overflow
        return Outcome(beta, score, np.full(2, np.nan), np.nan, int(n_iter), Status.DIVERGED)
    status = Status.CONVERGED if violation <= tol else Status.STALLED if stalled else Status.MAX_ITER
    constants = group_constants(problem, beta, score)
    return Outcome(beta, score, constants, float(max(violation, 0.0)), int(n_iter), status)


def group_constants(problem, beta, score):
    """The number that separates the slopes of each group: the mean over free coefficients, else the middle.

    A coefficient is free if neither a bound nor the kink at zero holds it; there ``score + slope of l = -constant``.
    """
    low, high = problem.terms[:2]
    up, down = np.empty_like(beta), np.empty_like(beta)
    k.slopes(problem.terms, beta, score, up, down)
    is_free = (beta > low) & (beta < high) & (beta != 0.0)
    constants = []
    for group in (slice(0, problem.split), slice(problem.split, beta.size)):
        if is_free[group].any():
            constants.append(up[group][is_free[group]].mean())
        elif beta[group].size:
            constants.append(_middle(up[group].max(), down[group].min()))
    return np.array(constants)


def _middle(highest, lowest):
    """Between the two ends; at the finite one when all coefficients stand at the same bound."""
    if not np.isfinite(highest):
        return lowest
    return highest if not np.isfinite(lowest) else 0.5 * (highest + lowest)


def dual_objective(problem, beta, score):
    """What was minimised."""
    _, _, below, above = problem.terms
    return float(0.5 * beta @ score + np.where(beta >= 0.0, above, below) @ beta)
