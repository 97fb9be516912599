"""Scores of rows by class, span by span in threads: diagonal and full Gaussians, linear and categorical models."""

import numpy as np

from hyperplan._core.parallel import spans
from hyperplan._math._class_scores_kernels import (
    binary_class_scores,
    diagonal_scores,
    linear_class_scores,
    log_normalise,
    row_winners,
)
from hyperplan._math.class_moments import worthwhile
from hyperplan._math.moments import quiet_map

SCORED_ENTRIES = 1 << 18  # entries of X that one task scores
MULTIPLIED_ENTRIES = 1 << 16  # entries of X of one task where every class multiplies them by a matrix
TRIANGLE_BLOCK = 32  # columns of a triangular factor that are multiplied at once


def fill_scores(X, n_classes, fill, n_jobs=None):
    """Scores (n, k), written by ``fill(rows of X, rows of scores)``."""
    n, d = X.shape
    out = np.empty((n, n_classes))
    rows = max(256, SCORED_ENTRIES // max(d, 1))
    quiet_map(lambda part: fill(X[part], out[part]), spans(n, rows), n_jobs)
    return out


def gaussian_diagonal_scores(X, mean, variance, log_prior, n_jobs=None):
    """Logarithms of prior times density of Gaussians with independent columns; variances must be positive."""
    constant = log_prior - 0.5 * np.log(2 * np.pi * variance).sum(axis=1)
    mean, precision = np.ascontiguousarray(mean), 1.0 / variance

    def fill(rows, out):
        diagonal_scores(rows, mean, precision, constant, out)

    return fill_scores(X, mean.shape[0], fill, n_jobs)


def dot_scores(X, coef, constant, *, above=None, n_jobs=None):
    """``constant + X coef'``; with `above`, ``X > above`` in place of X."""
    coef, constant = np.ascontiguousarray(coef), np.ascontiguousarray(constant)

    def fill(rows, out):
        if above is None:
            linear_class_scores(rows, coef, constant, out)
        else:
            binary_class_scores(rows, above, coef, constant, out)

    return fill_scores(X, coef.shape[0], fill, n_jobs)


def upper_triangle(factor):
    """U upper triangular with ``U U' = factor factor'``, for a factor (d, r)."""
    d, r = factor.shape
    triangle = np.linalg.qr(factor[::-1].T, mode="r").T  # lower triangular, of the reversed columns
    whole = triangle if r >= d else np.column_stack([triangle, np.zeros((d, d - r))])
    return np.ascontiguousarray(whole[::-1, ::-1])


def triangle_norms(rows, triangle, out):
    """Squared lengths of the rows of ``rows triangle`` (upper triangular), without the products with its zeros."""
    d = triangle.shape[0]
    out[...] = 0.0
    step = max(TRIANGLE_BLOCK, -(-d // 4))
    for start in range(0, d, step):
        stop = min(start + step, d)
        part = rows[:, :stop] @ triangle[:stop, start:stop]
        out += np.einsum("ij,ij->i", part, part)


def gaussian_full_scores(X, means, triangles, constant, n_jobs=None):
    """``constant_k - |(x - mean_k)' U_k|^2 / 2``, with U_k upper triangular and ``U_k U_k'`` the precision matrix."""
    n, d = X.shape
    out = np.empty((n, len(triangles)))

    def task(part):
        rows = X[part]
        centred, norms = np.empty((rows.shape[0], d)), np.empty(rows.shape[0])
        for k, triangle in enumerate(triangles):
            np.subtract(rows, means[k], out=centred)
            triangle_norms(centred, triangle, norms)
            out[part, k] = constant[k] - 0.5 * norms

    quiet_map(task, spans(n, max(256, MULTIPLIED_ENTRIES // d)), worthwhile(n_jobs, n * d * d * len(triangles)))
    return out


def winners(scores):
    """Column of the largest score of each row, the first of several."""
    out = np.empty(scores.shape[0], dtype=np.intp)
    quiet_map(lambda rows: row_winners(scores[rows], out[rows]), spans(scores.shape[0], 1 << 16))
    return out


def log_normalised(scores):
    """Scores minus the logarithm of the sum of their exponentials, row by row, and these logarithms; in place."""
    norms = np.empty(scores.shape[0])
    quiet_map(lambda rows: log_normalise(scores[rows], norms[rows]), spans(scores.shape[0], 1 << 14))
    return scores, norms
