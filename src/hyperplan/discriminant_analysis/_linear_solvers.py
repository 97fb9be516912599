"""The three ways to the linear rule ``score_k(x) = x' S^-1 mean_k - mean_k' S^-1 mean_k / 2 + log prior_k``.

S is the covariance within classes.  'svd' whitens by the eigenvectors of S, which comes from one pass over the rows;
where these would lose digits (or rows are fewer than columns) by a singular value decomposition of the centred rows,
as the name says.  'eigen' solves ``Sb v = lambda S v``, 'lsqr' the normal equations.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from hyperplan._math.class_moments import between_scatter, class_moments, class_scatters
from hyperplan._math.covariance import shrunk_covariance
from hyperplan.discriminant_analysis._common import class_rows, covariance_of, require_finite

EXACT = 1e-7  # eigenvalues below this share of the largest have lost too many digits
ROUNDING = 1e-12  # share of the largest eigenvalue below which eigenvalues are rounding errors


class LinearRule(NamedTuple):
    """A fitted rule; what a solver does not give is None."""

    means: np.ndarray  # (k, d)
    coef: np.ndarray  # (k, d)
    intercept: np.ndarray  # (k,)
    residual: float  # what is left of S coef_k = mean_k (up to what all classes share), relative
    covariance: Any = None
    scalings: Any = None
    explained: Any = None
    xbar: Any = None


def _log(priors):
    with np.errstate(divide="ignore"):
        return np.log(priors)


def _class_spread(model, X, codes, priors):
    """Class means, scatter matrix within classes and covariance to keep (both None if not needed), deviations."""
    n, d = X.shape
    k = priors.shape[0]
    if n < d and not model.store_covariance:  # a matrix of all columns would be larger than X
        found = class_moments(X, codes, k)
        require_finite(model, X, found.square)
        return found.mean, None, None, np.sqrt(found.square.sum(axis=0) / n)
    apart = model.priors is not None and model.store_covariance
    scatters = class_scatters(X, codes, k, pooled=not apart)
    require_finite(model, X, scatters.scatter)
    within = scatters.scatter.sum(axis=0) if apart else scatters.scatter
    kept = None
    if model.store_covariance:
        kept = np.tensordot(priors / scatters.count, scatters.scatter, axes=1) if apart else within / n
    return scatters.mean, within, kept, np.sqrt(np.diagonal(within) / n)


def solve_svd(model, X, codes, priors, n_components) -> LinearRule:
    """Whiten within classes, then rotate to the axes of the class means."""
    n, k = X.shape[0], priors.shape[0]
    means, within, covariance, spread = _class_spread(model, X, codes, priors)
    xbar = priors @ means
    spread = np.where(spread > 0, spread, 1.0)
    axes, within_times = _whitening(X, codes, means, within, spread, model.tol)
    centred = means - xbar
    white = centred @ axes
    _, lengths, rotation = scipy.linalg.svd(np.sqrt(n * priors / max(k - 1, 1))[:, None] * white, full_matrices=False)
    square = lengths**2
    total = square.sum()
    explained = (square / total if total > 0 else np.zeros_like(square))[:n_components]
    rank = int((lengths > model.tol * lengths.max(initial=0.0)).sum())
    scalings = axes @ rotation.T[:, :rank]
    projected = centred @ scalings
    coef = projected @ scalings.T
    intercept = -0.5 * (projected**2).sum(axis=1) + _log(priors) - xbar @ coef.T
    left = axes.T @ within_times(coef.T) - white.T
    residual = float(np.abs(left).max(initial=0.0) / max(np.abs(white).max(initial=0.0), 1e-300))
    return LinearRule(means, coef, intercept, residual, covariance, scalings, explained, xbar)


def _whitening(X, codes, means, within, spread, tol):
    """``A`` with ``A' S A = I`` over the directions in which classes spread, and the product with S."""
    n = X.shape[0]
    if within is not None:
        values, vectors = scipy.linalg.eigh(within / (n * np.outer(spread, spread)), driver="evd")
        top = max(float(values[-1]), 0.0)
        sure = 0.5 * tol**2 if tol**2 > ROUNDING * top else -np.inf  # eigenvalues below it are dropped for sure
        if not ((values > sure) & (values < EXACT * top)).any():
            keep = np.flatnonzero(np.sqrt(np.maximum(values, 0.0)) > tol)[::-1]
            axes = vectors[:, keep] / spread[:, None] / np.sqrt(values[keep])
            return axes, lambda right: within @ right / n
    rows = (X - means[codes]) / (spread * np.sqrt(n))
    _, lengths, axes = scipy.linalg.svd(rows, full_matrices=False)
    rank = int((lengths > tol).sum())
    return (axes[:rank] / spread).T / lengths[
        :rank
    ], lambda right: spread[:, None] * (rows.T @ (rows @ (spread[:, None] * right)))


def _within_covariance(model, X, codes, priors):
    """Class means and the covariance within classes, shrunk or estimated as asked; one matrix where that is enough."""
    k = priors.shape[0]
    pooled = model.priors is None and model.covariance_estimator is None and not isinstance(model.shrinkage, str)
    scatters = class_scatters(X, codes, k, pooled=pooled)
    require_finite(model, X, scatters.scatter)
    if pooled:  # shrinking is linear: the mean of shrunk matrices is the shrunk mean
        covariance = scatters.scatter / X.shape[0]
        return scatters, covariance if model.shrinkage is None else shrunk_covariance(covariance, model.shrinkage)
    options = model.shrinkage, model.covariance_estimator
    parts = zip(class_rows(scatters), scatters.mean, scatters.scatter)
    return scatters, sum(p * covariance_of(X, *part, *options) for p, part in zip(priors, parts))


def _residual(covariance, coef, means):
    """What is left of the normal equations ``S (S coef_k - mean_k) = 0``, relative to their terms."""
    left = covariance @ (covariance @ coef.T - means.T)
    scale = np.abs(covariance).max() * np.abs(means).max() * covariance.shape[0]
    return float(np.abs(left).max() / scale) if scale > 0 else 0.0


def solve_lsqr(model, X, codes, priors, n_components) -> LinearRule:
    """Coefficients of least norm that solve ``S coef_k = mean_k``."""
    scatters, covariance = _within_covariance(model, X, codes, priors)
    means = scatters.mean
    coef = scipy.linalg.lstsq(covariance, means.T)[0].T
    intercept = -0.5 * (means * coef).sum(axis=1) + _log(priors)
    return LinearRule(means, coef, intercept, _residual(covariance, coef, means), covariance)


def solve_eigen(model, X, codes, priors, n_components) -> LinearRule:
    """Directions of the largest ratio of the scatter between classes to that within (Fisher's criterion)."""
    scatters, covariance = _within_covariance(model, X, codes, priors)
    n, means = X.shape[0], scatters.mean
    within = scatters.scatter if scatters.scatter.ndim == 2 else scatters.scatter.sum(axis=0)
    between, overall = between_scatter(scatters.count, means)
    everyone = np.arange(n)
    total = covariance_of(X, everyone, overall, within + between, model.shrinkage, model.covariance_estimator)
    values, vectors = scipy.linalg.eigh(total - covariance, covariance)
    scalings = vectors[:, ::-1]
    explained = (values[::-1] / values.sum())[:n_components]
    coef = means @ scalings @ scalings.T
    intercept = -0.5 * (means * coef).sum(axis=1) + _log(priors)
    return LinearRule(means, coef, intercept, _residual(covariance, coef, means), covariance, scalings, explained)


SOLVERS = {"svd": solve_svd, "lsqr": solve_lsqr, "eigen": solve_eigen}
