"""Exact leave-one-out errors of ridge regression for many penalties from one eigendecomposition.

With hat matrix ``H = Xs (Xs'Xs + alpha I)^-1 Xs' + s s'/W`` (``Xs = sqrt(w) (X - mean)``, ``s = sqrt(w)``), the error
at row i of the fit without row i is ``(y_i - prediction_i) / (1 - H_ii)`` (Golub, Heath and Wahba, 1979).  Tall designs
use the eigenvectors of ``X'X`` and a pass over row panels, wide ones those of ``XX'``, where the same error is
``c_i / (G^-1)_ii`` with ``c = G^-1 y``, ``G = XX' + alpha I``.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas, spans
from hyperplan._math.moments import (
    Moments,
    RowGram,
    add_outer,
    fill_panel,
    memory_order,
    moments,
    panel_rows,
    quiet_map,
    row_gram,
    task_rows,
)
from hyperplan._math.orthogonal import triangularize
from hyperplan.linear_model._normal_equations import weighted_means
from hyperplan.linear_model._ridge_solvers import RidgeProblem, centred_targets, dual_fit, primal_fit, solve_svd


class Spectrum(NamedTuple):
    """A decomposed design; either `tall` (vectors of columns) or wide (vectors of rows)."""

    tall: bool
    values: np.ndarray  # eigenvalues, never negative
    vectors: np.ndarray
    rotated: np.ndarray  # targets in the basis of `vectors`, (len(values), k)
    x_mean: np.ndarray
    y_mean: np.ndarray
    total: float
    sums: Moments | RowGram | None  # None when the decomposition came from singular values
    filled: float = 0.0  # wide and centred: eigenvalue given to the direction in which rows sum to zero

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.values).all() and np.isfinite(self.rotated).all())


def decompose(X, Y, weight, center, by_svd=False) -> Spectrum:
    """Eigenvalues and eigenvectors of the Gram matrix of the shorter side (or singular values of a tall X)."""
    n, d = X.shape
    root, y_mean, target = centred_targets(Y, weight, center)
    total, filled = float(root @ root), 0.0
    if d < n and by_svd:
        x_mean, _ = weighted_means(X, Y, weight, center)
        triangle = triangularize(X, Y, weight, x_mean, y_mean)
        with single_threaded_blas():
            left, singular, right = np.linalg.svd(triangle.r, full_matrices=False)
        rotated = singular[:, None] * (left.T @ triangle.rotated)
        return Spectrum(True, singular**2, right.T, rotated, x_mean, y_mean, total, None)
    if d < n:
        sums = moments(X, Y, weight, center=center)
        x_mean, y_mean, square = sums.x_mean, sums.y_mean, sums.gram
        right = sums.cross
    else:
        sums = row_gram(X, weight, center=center)
        x_mean, square = sums.x_mean, sums.gram
        right = target
        if center:  # that direction belongs to the intercept: move it away from the small eigenvalues
            filled = float(np.diagonal(square).mean())
            add_outer(square, root, filled / total)
    if not np.isfinite(np.diagonal(square)).all():
        bad = np.full(square.shape[0], np.nan)
        return Spectrum(d < n, bad, square, right, x_mean, y_mean, total, sums)
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(square)
        rotated = vectors.T @ right
    return Spectrum(d < n, np.maximum(values, 0.0), vectors, rotated, x_mean, y_mean, total, sums, filled)


def leave_one_out(spectrum, X, Y, weight, center, alphas):
    """Errors ``y - prediction without the row``, of shape (n, k, n_alphas), in the units of y."""
    require_memory(8 * Y.size * len(alphas), "Leave-one-out errors", "use fewer alphas or store_cv_results=False")
    errors = np.empty((*Y.shape, len(alphas)))
    if spectrum.tall:

        def keep(at, part):
            errors[at] = part

        _tall_errors(spectrum, X, Y, weight, center, alphas, keep)
        return errors
    return _wide_errors(spectrum, Y, weight, center, alphas)


def mean_squared_errors(spectrum, X, Y, weight, center, alphas):
    """Weighted leave-one-out squares averaged over rows, of shape (k, n_alphas); stores no errors when tall."""
    if not spectrum.tall:
        errors = _wide_errors(spectrum, Y, weight, center, alphas)
        weighted = errors if weight is None else errors * weight[:, None, None]
        return np.einsum("ika,ika->ka", weighted, errors) / Y.shape[0]
    parts = _tall_errors(spectrum, X, Y, weight, center, alphas, None)
    return sum(parts) / Y.shape[0]


def _tall_errors(spectrum, X, Y, weight, center, alphas, keep):
    """Row panels in parallel: give each panel's errors to `keep`, or return the tasks' sums of squares in order."""
    n, d = X.shape
    k, n_alphas = Y.shape[1], len(alphas)
    X = X.tocsr() if sp.issparse(X) else X
    shrink = 1.0 / (spectrum.values[:, None] + np.asarray(alphas))
    coef = (spectrum.rotated[:, :, None] * shrink[:, None, :]).reshape(d, k * n_alphas)
    rows = panel_rows(2 * d + k * n_alphas)

    def task(span):
        squares = np.zeros((k, n_alphas))
        buffer = np.empty((min(rows, span.stop - span.start), d), order=memory_order(X))
        for start in range(span.start, span.stop, rows):
            at = slice(start, min(start + rows, span.stop))
            part = buffer[: at.stop - at.start]
            fill_panel(X[at], spectrum.x_mean, part)
            scores = part @ spectrum.vectors
            error = (Y[at] - spectrum.y_mean)[:, :, None] - (scores @ coef).reshape(-1, k, n_alphas)
            np.multiply(scores, scores, out=scores)
            leverage = scores @ shrink + (1.0 / spectrum.total if center else 0.0)
            if weight is not None:
                leverage *= weight[at, None]
            error /= (1.0 - leverage)[:, None, :]
            if keep is None:
                weighted = error if weight is None else error * weight[at, None, None]
                squares += np.einsum("ika,ika->ka", weighted, error)
            else:
                keep(at, error)
        return squares

    return quiet_map(task, spans(n, task_rows(n)))


def _wide_errors(spectrum, Y, weight, center, alphas):
    """``c / diag(G^-1)`` for each penalty; rows of weight zero have no error (they are never left out of anything)."""
    root = np.ones(Y.shape[0]) if weight is None else np.sqrt(weight)
    shrink = 1.0 / (spectrum.values[:, None] + np.asarray(alphas))
    with single_threaded_blas(), np.errstate(divide="ignore", invalid="ignore"):
        diagonal = (spectrum.vectors**2) @ shrink
        if center:  # the intercept takes the direction of sqrt(w) out of the inverse
            diagonal -= (root**2 / spectrum.total)[:, None] / (spectrum.filled + np.asarray(alphas))
        spread = spectrum.rotated[:, :, None] * shrink[:, None, :]
        combined = np.einsum("ij,jka->ika", spectrum.vectors, spread, optimize=True)
        errors = combined / diagonal[:, None, :] / root[:, None, None]
    errors[root == 0] = 0.0
    return errors


def final_fit(spectrum, X, Y, weight, center, alpha):
    """Coefficients for the chosen penalty (one per target) from the sums at hand."""
    problem = RidgeProblem(X, Y, weight, np.broadcast_to(np.asarray(alpha, dtype=np.float64), (Y.shape[1],)), center)
    if spectrum.sums is None:
        return solve_svd(problem)
    return (primal_fit if spectrum.tall else dual_fit)(problem, spectrum.sums)
