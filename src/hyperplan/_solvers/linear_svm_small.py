"""Small dense support vector machines: each problem is one compiled call.

Absolute losses are solved by an augmented Lagrangian method: a row's multiplier follows its score linearly over a short
width, Newton's method solves that problem (only the rows within the width enter the Hessian), the multipliers become
the new centers and the width shrinks.  Squared losses are the same thing with one fixed width and no bounds.  The l1
penalty: proximal Newton steps.  No step allocates or leaves compiled code, where data of this size spends its time.
Rockafellar (1976), Mathematics of Operations Research 1(2); Li, Sun, Toh (2018), SIAM J. Optimization 28(1).
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers._linear_svm_small_kernels import small_l1, small_ridge
from hyperplan._solvers.linear_svm_design import Outcome

SMALL_WIDTH = 128  # columns up to which plain loops factorise nearly as fast as LAPACK
SMALL_VALUES = {1: 1_000_000, 2: 200_000}  # values of X up to which threads gain nothing over the other methods
SMALL_WORK = 10_000_000  # rows times squared columns up to which plain loops sum the Hessian as fast as BLAS
MAX_STEPS = 200  # Newton steps before the methods for larger data are asked
FIRST_WIDTH = 0.5  # of the elastic zone, in units of the mean distance to the band at score 0
STIFFEN = 4.0  # from one set of centers to the next
L1_SHARE = 1e-4  # of the target that the l1 penalty aims at
MODEL_PASSES = 1000  # of coordinate descent on one quadratic model


class Work(NamedTuple):
    """Arrays that the kernels work in: one entry per row, then per column."""

    scores: np.ndarray
    move: np.ndarray
    center: np.ndarray
    amount: np.ndarray
    stiff: np.ndarray
    bound: np.ndarray
    rows: np.ndarray
    is_elastic: np.ndarray
    hessian: np.ndarray
    factor: np.ndarray
    gradient: np.ndarray
    direction: np.ndarray


def work_space(n, d, stiff, bound):
    """A `Work` at scores 0 and centers 0."""
    per_row, squares, per_column = np.zeros((4, n)), np.zeros((2, d, d)), np.empty((2, d))
    return Work(*per_row, stiff, bound, np.empty(n, np.int64), np.zeros(n, bool), *squares, *per_column)


def is_small(design, power):
    """Whether one compiled call is the fastest way."""
    n, d = design.n_rows, design.width
    if design.is_sparse or not d <= min(SMALL_WIDTH, n) or n * d > SMALL_VALUES[power]:
        return False
    return power == 1 or n * d**2 <= SMALL_WORK  # few rows are elastic where the loss is absolute


def solve_small(design, band, *, power, l1, target_gap, max_iter):
    """Solve in one call; a status other than CONVERGED means that another method should try."""
    Z = np.empty((design.n_rows, design.width))
    Z[:, : design.n_features] = design.X
    if design.scale:
        Z[:, -1] = design.scale
    weights, pull = np.zeros(design.width), np.empty(design.n_rows)
    steps, (low, high, cost) = min(max_iter, MAX_STEPS), band
    if power == 2:
        stiff, bound = 2.0 * cost, np.full(design.n_rows, np.inf)
    else:
        typical = np.maximum(np.maximum(low, -high), 0.0).mean()
        stiff, bound = cost / (FIRST_WIDTH * typical), cost
    work = work_space(design.n_rows, design.width, stiff, bound)
    if l1:
        finest = max(L1_SHARE * target_gap, 1e-12)  # convergence is quadratic: digits are nearly free
        objective, gap, n_iter = small_l1(Z, band, finest, steps, MODEL_PASSES, work, weights, pull)
    else:
        objective, gap, n_iter = small_ridge(Z, band, power, STIFFEN, target_gap, steps, work, weights, pull)
    if gap <= target_gap * objective:
        status = Status.CONVERGED
    else:
        status = Status.MAX_ITER if n_iter >= max_iter and np.isfinite(gap) else Status.STALLED
    return Outcome(weights, pull, objective, gap, n_iter, status)
