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


class MultiTaskProblem:
    """A design with all its targets, prepared once for any number of paths.

    It answers like the problems of single targets in `_elastic_net_problem`, so that cross-validation can take either;
    `weight` is scaled to sum to `total`, by default the number of rows.
    """

    def __init__(self, X, Y, weight, *, center, mean=None, total=None):
        self.design = Design(by_columns(X), weight, center=center, mean=mean, total=total)
        pairs = [self.design.center_target(y) for y in Y.T]
        self.targets = np.array([y for y, _ in pairs])
        self.design.prepare(self.targets[0])
        self.total = self.design.total
        self.x_mean, self.y_mean = self.design.arrays.mean, np.array([mean for _, mean in pairs])
        self.y2 = np.array([float((self.design.weight * self.targets**2).sum())])
        self.finite = bool(np.isfinite(self.design.arrays.norm2).all())

    @property
    def xy(self):
        """X'SY, of shape (n_features, n_targets)."""
        products, every = np.empty((self.targets.shape[0], self.design.d)), np.ones(self.design.d, dtype=np.bool_)
        for y, c in zip(self.targets, products):
            self.design.correlate(self.design.weight * y, every, c)
        return products.T

    def solve(self, _, penalties, options, start=None) -> MultiTaskSolution:
        """Solve for each penalty in turn, all targets together."""
        design, (n_targets, _) = self.design, self.targets.shape
        W = np.zeros((design.d, n_targets)) if start is None else np.array(start, dtype=np.float64).T.copy()
        rho = design.weight * self.targets
        if W.any():
            rho -= design.weight * (np.asarray(design.X @ W, dtype=np.float64) - design.arrays.mean @ W).T
        rho, offset = np.ascontiguousarray(rho), np.zeros(n_targets)
        y2 = float(self.y2[0])
        work, active = np.empty((3, max(design.d, n_targets))), np.empty(design.d, dtype=np.intp)
        coefs, gaps, primals = np.empty((len(penalties), n_targets, design.d)), [], []
        n_iters, statuses = [], []
        for p, penalty in enumerate(penalties):
            stop = Stop(y2, options.tol * y2, options.tol, options.max_iter)
            epochs, gap = task_descent(
                design.arrays, self.targets, penalty, stop, options.rng, work, active, W, rho, offset
            )
            coefs[p] = W.T
            gaps.append(gap)
            primals.append(_primal(design, penalty, W, rho, offset))
            n_iters.append(int(epochs))
            statuses.append(Status.CONVERGED if gap <= stop.goal else Status.MAX_ITER)
        return MultiTaskSolution(
            coefs, np.array(gaps), np.array(primals), n_iters, statuses, self.x_mean, self.y_mean, y2, self.total,
            self.finite,
        )  # fmt: skip


def multi_task_path(X, Y, weight, penalties, options, *, center, mean=None, start=None) -> MultiTaskSolution:
    """Solve for each penalty in turn; `weight` sums to the number of rows, or is None."""
    return MultiTaskProblem(X, Y, weight, center=center, mean=mean).solve(0, penalties, options, start)


def _primal(design, penalty, W, rho, offset):
    seen = design.weight > 0
    residual = rho[:, seen] / design.weight[seen] - offset[:, None]
    squares = (W**2).sum(axis=1)
    fit = 0.5 * float((design.weight[seen] * residual**2).sum())
    return fit + penalty.l1 * float(np.sqrt(squares).sum()) + 0.5 * penalty.l2 * float(squares.sum())
