"""Expectation and maximisation in one pass over the rows.

Objective: ``sum_i log sum_k weight_k N(x_i; mean_k, covariance_k)``.  A pass reads each panel of rows once: it computes
the shares ``P(component k | x_i)`` under the present parameters, adds the panel to the sums that the next parameters
are closed forms of, and forgets the shares.  Squares are summed about the present means, which keeps the digits of
clusters far apart.  Tasks depend on shapes only and are added in order, so threads change no bit.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from hyperplan._core.parallel import single_threaded_blas, spans
from hyperplan._math._class_scores_kernels import diagonal_scores, normalise_shares
from hyperplan._math.class_scores import triangle_norms
from hyperplan._math.moments import moments, panel_rows, quiet_map, task_rows
from hyperplan.mixture._em_kernels import STRIP, add_strip_moments, add_strip_squares, strip_scores

FEW_COLUMNS = 32  # up to here kernels beat BLAS
KINDS = ("full", "tied", "diag", "spherical")
LOG_2_PI = float(np.log(2 * np.pi))


class Mixture(NamedTuple):
    """Weights (k,), means (k, d), covariances and the factors of their inverses, in the shape of their kind."""

    weights: np.ndarray
    means: np.ndarray
    covariances: Any
    factors: np.ndarray  # upper triangular with U U' the precision; its square root for 'diag' and 'spherical'


class Sums(NamedTuple):
    """Weighted counts (k,), first and second moments about the shifts of a pass."""

    count: np.ndarray
    first: np.ndarray  # (k, d)
    second: Any  # (k, d, d) for 'full', (k, d) for 'diag' and 'spherical', empty for 'tied'


class Rows(NamedTuple):
    """Checked rows, their mean and, for 'tied' covariances, their scatter about it."""

    X: np.ndarray
    centre: np.ndarray
    scatter: Any


class CollapsedError(ValueError):
    """A covariance has no inverse."""


def rows_of(X, kind) -> Rows:
    """Rows with what does not change between passes."""
    if kind != "tied":
        return Rows(X, np.zeros(X.shape[1]), None)
    found = moments(X, np.empty((X.shape[0], 0)))
    return Rows(X, found.x_mean, found.gram)


def _scorer(kind, mixture, centre):
    """``fill(rows, out)``: logarithm of weight times density of every component."""
    weights, means, _, factors = mixture
    k, d = means.shape
    with np.errstate(divide="ignore"):
        constant = np.log(weights) + _log_determinants(kind, factors, d) - 0.5 * d * LOG_2_PI
    if kind == "full" and d <= FEW_COLUMNS:

        def fill(rows, out):
            strip_scores(rows, means, factors, constant, _scratch(d), out)

    elif kind == "full":

        def fill(rows, out):
            centred, norms = np.empty(rows.shape), np.empty(rows.shape[0])
            for c in range(k):
                np.subtract(rows, means[c], out=centred)
                triangle_norms(centred, factors[c], norms)
                out[:, c] = constant[c] - 0.5 * norms

    elif kind == "tied":
        white_means, ones = np.ascontiguousarray((means - centre) @ factors), np.ones((k, d))

        def fill(rows, out):
            diagonal_scores((rows - centre) @ factors, white_means, ones, constant, out)

    else:
        precision = np.ascontiguousarray(np.broadcast_to((factors**2).reshape(k, -1), (k, d)))

        def fill(rows, out):
            diagonal_scores(rows, means, precision, constant, out)

    return fill


def _scratch(d):
    return np.empty((2 * d + 3, STRIP))


def _log_determinants(kind, factors, d):
    """Half the logarithms of the determinants of the precisions."""
    if kind == "full":
        return np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    if kind == "tied":
        return np.log(np.diagonal(factors)).sum()
    return np.log(factors).sum(axis=1) if kind == "diag" else d * np.log(factors)


def joint_scores(X, kind, mixture, n_jobs=None):
    """(n, k) logarithms of weight times density."""
    out = np.empty((X.shape[0], mixture.weights.shape[0]))
    fill = _scorer(kind, mixture, mixture.weights @ mixture.means)
    quiet_map(lambda part: fill(X[part], out[part]), spans(X.shape[0], panel_rows(X.shape[1])), n_jobs)
    return out


def _adder(kind, shift):
    """``add(rows, share, sums)``: weighted moments of rows about the shifts."""
    if kind in ("diag", "spherical"):
        return lambda rows, share, sums: add_strip_squares(rows, share, shift, _scratch(shift.shape[1]), *sums)

    if kind == "full" and shift.shape[1] <= FEW_COLUMNS:
        return lambda rows, share, sums: add_strip_moments(rows, share, shift, _scratch(shift.shape[1]), *sums)

    def add_tied(rows, share, sums):
        sums.count[...] += share.sum(axis=0)
        sums.first[...] += share.T @ (rows - shift[0])

    def add_full(rows, share, sums):
        centred = np.empty(rows.shape)
        sums.count[...] += share.sum(axis=0)
        for c in range(share.shape[1]):
            weight = share[:, c]
            np.subtract(rows, shift[c], out=centred)
            sums.first[c] += weight @ centred
            centred *= np.sqrt(weight)[:, None]
            sums.second[c] += centred.T @ centred

    return add_tied if kind == "tied" else add_full


def _empty_sums(kind, k, d):
    second = {"full": (k, d, d), "tied": (0,)}.get(kind, (k, d))
    return Sums(np.zeros(k), np.zeros((k, d)), np.zeros(second))


def _summed(rows, kind, shift, shares):
    """Sums over all panels; ``shares(slice, panel)`` gives the shares of a panel and a number to add up."""
    n, d = rows.X.shape
    k, add, panel = shift.shape[0], _adder(kind, shift), panel_rows(max(d, shift.shape[0]))

    def task(span):
        sums, total = _empty_sums(kind, k, d), 0.0
        for start in range(span.start, span.stop, panel):
            part = slice(start, min(start + panel, span.stop))
            share, value = shares(part, rows.X[part])
            total += value
            add(rows.X[part], share, sums)
        return sums, total

    (sums, total), *others = quiet_map(task, spans(n, max(task_rows(n), panel)))
    for other, value in others:
        total += value
        for mine, theirs in zip(sums, other):
            mine += theirs
    return sums, total


def _shift(rows, kind, means):
    return np.tile(rows.centre, (means.shape[0], 1)) if kind == "tied" else np.ascontiguousarray(means)


def em_pass(rows, kind, mixture, reg_covar):
    """Mean log-likelihood of the present parameters, and the next parameters."""
    fill = _scorer(kind, mixture, rows.centre)
    k = mixture.weights.shape[0]

    def shares(part, panel):
        share, norms = np.empty((panel.shape[0], k)), np.empty(panel.shape[0])
        fill(panel, share)
        normalise_shares(share, norms)
        return share, float(norms.sum())

    shift = _shift(rows, kind, mixture.means)
    with single_threaded_blas():  # the factorisations are small: to wake other threads would take longer
        sums, total = _summed(rows, kind, shift, shares)
        return total / rows.X.shape[0], maximise(rows, kind, sums, shift, reg_covar)


def from_shares(rows, kind, share, reg_covar):
    """Weights, means and covariances for given shares (n, k): two passes, for the means and about them."""
    k, given = share.shape[1], lambda part, panel: (share[part], 0.0)
    about_zero, _ = _summed(rows, "tied", np.zeros((k, rows.X.shape[1])), given)
    means = about_zero.first / (about_zero.count + 10 * np.finfo(np.float64).eps)[:, None]
    shift = _shift(rows, kind, means)
    sums, _ = _summed(rows, kind, shift, given)
    return _moments_to_parameters(rows, kind, sums, shift, reg_covar)


def _moments_to_parameters(rows, kind, sums, shift, reg_covar):
    count = sums.count + 10 * np.finfo(np.float64).eps
    rest = sums.first / count[:, None]
    d = rest.shape[1]
    if kind == "full":
        second = np.triu(sums.second) + np.swapaxes(np.triu(sums.second, 1), 1, 2)
        covariances = second / count[:, None, None] - rest[:, :, None] * rest[:, None, :]
        covariances[:, range(d), range(d)] += reg_covar
    elif kind == "tied":
        covariances = (rows.scatter - (count[:, None] * rest).T @ rest) / rows.X.shape[0]
        covariances.flat[:: d + 1] += reg_covar
    else:
        covariances = np.maximum(sums.second / count[:, None] - rest**2, 0.0) + reg_covar
        covariances = covariances.mean(axis=1) if kind == "spherical" else covariances
    return count, shift + rest, covariances


def maximise(rows, kind, sums, shift, reg_covar) -> Mixture:
    """The parameters of the largest expected likelihood, in closed form."""
    count, means, covariances = _moments_to_parameters(rows, kind, sums, shift, reg_covar)
    return Mixture(count / count.sum(), means, covariances, precision_factors(kind, covariances))


def precision_factors(kind, covariances):
    """Factors of the inverses; `CollapsedError` where there is none."""
    if kind == "full":
        return np.stack([_inverse_factor(covariance) for covariance in covariances])
    if kind == "tied":
        return _inverse_factor(covariances)
    if not (np.isfinite(covariances) & (covariances > 0)).all():
        raise CollapsedError(_collapsed())
    return 1.0 / np.sqrt(covariances)


def _inverse_factor(covariance):
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise CollapsedError(_collapsed()) from None
    if not np.isfinite(np.diagonal(lower)).all():  # the squares of the rows overflow
        raise CollapsedError(_collapsed())
    inverse, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
    return np.ascontiguousarray(inverse.T)


def _collapsed():
    return (
        "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance "
        "caused by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or "
        "scale the input data."
    )


def factors_of_precisions(kind, precisions):
    """Upper triangular U with ``U U'`` the given precisions (square roots of numbers)."""

    def factor(precision):
        return np.ascontiguousarray(scipy.linalg.cholesky(precision[::-1, ::-1], lower=True)[::-1, ::-1])

    if kind == "full":
        return np.stack([factor(precision) for precision in precisions])
    return factor(precisions) if kind == "tied" else np.sqrt(precisions)
