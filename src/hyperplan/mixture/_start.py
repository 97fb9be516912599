"""Checked starting values of EM, given by the user or made by one of four ways."""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._base import FLOATS, check_array
from hyperplan._core.parallel import single_threaded_blas
from hyperplan.mixture._em import Mixture, factors_of_precisions, from_shares, precision_factors
from hyperplan.mixture._kmeans_start import kmeans_labels, spread_rows


class Given(NamedTuple):
    """What the user gave; None where nothing."""

    weights: Any
    means: Any
    precisions: Any


def _require_shape(values, shape, name):
    if values.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {values.shape}")


def checked_start(kind, k, d, weights, means, precisions) -> Given:
    """Starting values of the right shapes and ranges, as float64."""
    if weights is not None:
        weights = check_array(weights, dtype=FLOATS, ensure_2d=False)
        _require_shape(weights, (k,), "weights")
        if (weights < 0).any() or (weights > 1).any():
            raise ValueError(
                "The parameter 'weights' should be in the range [0, 1], but got max value "
                f"{weights.min():.5f}, min value {weights.max():.5f}"
            )
        if abs(1.0 - weights.sum()) > (1e-6 if weights.dtype == np.float32 else 1e-8):
            raise ValueError(
                f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}"
            )
        weights = weights.astype(np.float64)
    if means is not None:
        means = check_array(means, dtype=FLOATS, ensure_2d=False)
        _require_shape(means, (k, d), "means")
        means = means.astype(np.float64)
    if precisions is not None:
        precisions = check_array(precisions, dtype=FLOATS, ensure_2d=False, allow_nd=kind == "full")
        precisions = _checked_precisions(kind, k, d, precisions).astype(np.float64)
    return Given(weights, means, precisions)


def _checked_precisions(kind, k, d, precisions):
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    _require_shape(precisions, shape, f"{kind} precision")
    if kind in ("diag", "spherical"):
        if (precisions <= 0).any():
            raise ValueError(f"'{kind} precision' should be positive")
        return precisions
    for matrix in precisions if kind == "full" else [precisions]:
        if not (np.allclose(matrix, matrix.T) and (np.linalg.eigvalsh(matrix) > 0).all()):
            raise ValueError(f"'{kind} precision' should be symmetric, positive-definite")
    return precisions


def _shares(X, way, k, random_state):
    """(n, k) shares of the rows in the components, by the name of the way."""
    n = X.shape[0]
    if way == "random":
        share = random_state.uniform(size=(n, k))
        return share / share.sum(axis=1, keepdims=True)
    share = np.zeros((n, k))
    if way == "kmeans":
        share[np.arange(n), kmeans_labels(X, k, random_state)] = 1.0
    elif way == "random_from_data":
        share[random_state.choice(n, size=k, replace=False), np.arange(k)] = 1.0
    else:
        share[spread_rows(X, k, random_state), np.arange(k)] = 1.0
    return share


def start_mixture(rows, kind, k, given, way, reg_covar, random_state) -> Mixture:
    """Parameters to begin with: what was given, the rest from shares."""
    weights, means, precisions = given
    covariances = None
    if weights is None or means is None or precisions is None:
        share = _shares(rows.X, way, k, random_state)
        count, found_means, covariances = from_shares(rows, kind, share, reg_covar)
        weights = count / rows.X.shape[0] if weights is None else weights
        means = found_means if means is None else means
    if precisions is None:
        with single_threaded_blas():
            return Mixture(weights, means, covariances, precision_factors(kind, covariances))
    inverse = np.linalg.inv(precisions) if kind in ("full", "tied") else 1.0 / precisions
    return Mixture(weights, means, inverse, factors_of_precisions(kind, precisions))
