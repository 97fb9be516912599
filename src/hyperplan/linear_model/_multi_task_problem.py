"""Several targets under one penalty on the rows of W, by block coordinate descent.

minimise  1/(2S) sum_i s_i |y_i - b - W'x_i|^2 + alpha (r sum_j |W_j|_2 + (1 - r)/2 |W|_F^2)
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import Status
from hyperplan._solvers._coordinate_task_kernels import task_descent
from hyperplan._solvers.coordinate import Stop
from hyperplan._solvers.coordinate_design import Design, by_columns


class MultiTaskSolution(NamedTuple):
    """One entry per penalty; ``coefs[p]`` has shape (n_targets, n_features)."""

    coefs: np.ndarray
    gaps: np.ndarray
    primals: np.ndarray
    n_iters: list
    statuses: list
    x_mean: np.ndarray
    y_mean: np.ndarray
    y2: float
    total: float
    finite: bool


def multi_task_path(
    X, Y, weight, penalties, options, *, center, mean=None, start=None, total=None
) -> MultiTaskSolution:
    """Solve for each penalty in turn; `weight` sums to the number of rows, or is None."""
    design = Design(by_columns(X), weight, center=center, mean=mean, total=total)
    pairs = [design.center_target(y) for y in Y.T]
    targets = np.array([y for y, _ in pairs])
    design.prepare(targets[0])
    n_targets = targets.shape[0]
    W = np.zeros((design.d, n_targets)) if start is None else np.array(start, dtype=np.float64).T.copy()
    rho = design.weight * targets
    if W.any():
        rho -= design.weight * (np.asarray(design.X @ W, dtype=np.float64) - design.arrays.mean @ W).T
    rho, offset = np.ascontiguousarray(rho), np.zeros(n_targets)
    y2 = float((design.weight * targets**2).sum())
    work, active = np.empty((3, max(design.d, n_targets))), np.empty(design.d, dtype=np.intp)
    coefs, gaps, primals = np.empty((len(penalties), n_targets, design.d)), [], []
    n_iters, statuses = [], []
    for p, penalty in enumerate(penalties):
        stop = Stop(y2, options.tol * y2, options.tol, options.max_iter)
        epochs, gap = task_descent(design.arrays, targets, penalty, stop, options.rng, work, active, W, rho, offset)
        coefs[p] = W.T
        gaps.append(gap)
        primals.append(_primal(design, penalty, W, rho, offset))
        n_iters.append(int(epochs))
        statuses.append(Status.CONVERGED if gap <= stop.goal else Status.MAX_ITER)
    finite = bool(np.isfinite(design.arrays.norm2).all())
    return MultiTaskSolution(
        coefs, np.array(gaps), np.array(primals), n_iters, statuses, design.arrays.mean,
        np.array([m for _, m in pairs]), y2, design.total, finite,
    )  # fmt: skip


def _primal(design, penalty, W, rho, offset):
    seen = design.weight > 0
    residual = rho[:, seen] / design.weight[seen] - offset[:, None]
    squares = (W**2).sum(axis=1)
    fit = 0.5 * float((design.weight[seen] * residual**2).sum())
    return fit + penalty.l1 * float(np.sqrt(squares).sum()) + 0.5 * penalty.l2 * float(squares.sum())
