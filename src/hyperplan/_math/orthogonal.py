"""Orthogonal factorisations of a design by row panels: the accurate way when the Gram matrix is too ill-conditioned.

``sqrt(w) [X - x_mean, Y - y_mean] = Q R`` is reduced panel by panel (tall and skinny QR; Demmel, Grigori, Hoemmen and
Langou, 2012) in tasks that depend on shapes only; neither Q nor a centred copy of X is ever stored.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._math.moments import fill_panel, task_rows


class Triangle(NamedTuple):
    """``R`` split at the targets: ``Xc = Q r``, ``Q'Yc = rotated``, `rest` the squares of Yc outside Xc's range."""

    r: np.ndarray  # (min(n, d), d)
    rotated: np.ndarray  # (min(n, d), k)
    rest: np.ndarray  # (k,)


def triangularize(X, Y, weight, x_mean, y_mean, n_jobs=None) -> Triangle:
    """Triangular factor of the centred, weighted design and targets."""
    n, d = X.shape
    width = d + Y.shape[1]
    X = X.tocsr() if sp.issparse(X) else X
    rows = max(256, 4 * width)
    per_task = -(-max(task_rows(n), 4 * rows) // rows) * rows

    def task(span):
        triangle = np.empty((0, width))
        for start in range(span.start, span.stop, rows):
            at = slice(start, min(start + rows, span.stop))
            panel = np.empty((at.stop - at.start, width))
            fill_panel(X[at], x_mean, panel[:, :d])
            np.subtract(Y[at], y_mean, out=panel[:, d:])
            if weight is not None:
                panel *= np.sqrt(weight[at])[:, None]
            triangle = np.linalg.qr(np.concatenate([triangle, panel]), mode="r")
        return triangle

    parts = thread_map(task, spans(n, per_task), n_jobs)
    with single_threaded_blas():
        whole = parts[0] if len(parts) == 1 else np.linalg.qr(np.concatenate(parts), mode="r")
    size = min(n, d)
    return Triangle(whole[:size, :d], whole[:size, d:], np.einsum("ij,ij->j", whole[size:, d:], whole[size:, d:]))


class SpectralFit(NamedTuple):
    """Minimum-norm least squares by singular values."""

    coef: np.ndarray  # (d, k)
    singular: np.ndarray  # all min(n, d) of them, decreasing
    right: np.ndarray  # (rank, d): right singular vectors of the kept ones
    rank: int
    rss: np.ndarray  # (k,)


def spectral_solve(triangle, tolerance, ridge=0.0) -> SpectralFit:
    """Least squares (or ridge, `ridge` a number or one per target) from `triangularize`.

    Singular values up to ``tolerance`` times the largest count as zero.
    """
    with single_threaded_blas():
        left, singular, right = np.linalg.svd(triangle.r, full_matrices=False)
        rank = int(np.count_nonzero(singular > tolerance * singular.max(initial=0.0)))
        left, kept, right = left[:, :rank], singular[:rank, None], right[:rank]
        along = left.T @ triangle.rotated
        coef = right.T @ (along * kept / (kept**2 + ridge) if np.any(ridge) else along / kept)
        missed = triangle.rotated - left @ along
        missed_square = np.einsum("ij,ij->j", missed, missed)
    return SpectralFit(coef, singular, right, rank, triangle.rest + missed_square)
