"""What the methods of multidimensional scaling share: distances that are given or made, and their checks."""

import numpy as np

from hyperplan._base import Choice, Is, Null, OneOf, check_design
from hyperplan.metrics._distance_source import KNOWN
from hyperplan.metrics._pairwise_distances import pairwise_distances

METRIC = OneOf(Choice(*KNOWN, "precomputed"), Is(callable, "a callable"))
METRIC_PARAMS = OneOf(Is(lambda value: isinstance(value, dict), "an instance of 'dict'"), Null)
ROUNDING = 1e-10  # of distances, absolute as in scikit-learn and relative to the largest


def checked_distances(D) -> np.ndarray:
    """A square symmetric matrix of dissimilarities without negative entries and with zeros on its diagonal."""
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"array must be 2-dimensional and square. shape = {D.shape}")
    tolerance = ROUNDING * max(1.0, float(np.abs(D).max(initial=0.0)))
    if not np.allclose(D, D.T, rtol=1e-5 if D.dtype == np.float32 else 1e-7, atol=tolerance):
        row, column = np.unravel_index(int(np.abs(D - D.T).argmax()), D.shape)
        raise ValueError(
            f"Array must be symmetric: distances ({row}, {column}) and ({column}, {row}) are {D[row, column]:.6g} and "
            f"{D[column, row]:.6g}. Use (D + D.T) / 2 if the difference is meaningless."
        )
    if D.size and D.min() < 0:
        row, column = np.unravel_index(int(D.argmin()), D.shape)
        raise ValueError(
            f"Precomputed distances must not be negative, got {D[row, column]:.6g} in row {row}, column {column}. "
            "Similarities s become distances by sqrt(s_ii - 2 s_ij + s_jj)."
        )
    own = np.abs(np.diagonal(D))
    if own.max(initial=0.0) > tolerance:
        row = int(own.argmax())
        raise ValueError(
            f"Precomputed distances need zeros on their diagonal: row {row} is at distance {D[row, row]:.6g} of itself."
        )
    return D


def learnt_options(metric, params, X) -> dict:
    """Options of a metric with all that it takes from the training rows, so that new rows are measured alike."""
    options = dict(params or {})
    if metric == "seuclidean" and options.get("V") is None:
        options["V"] = np.var(X, axis=0, ddof=1, dtype=np.float64)
    if metric == "mahalanobis" and options.get("VI") is None:
        options["VI"] = np.linalg.inv(np.cov(X, rowvar=False).reshape(X.shape[1], -1))
    return options


def is_euclidean(metric, options) -> bool:
    """Whether distances are those of the rows as points."""
    if metric == "minkowski":
        return options.get("p", 2) == 2 and options.get("w") is None
    return isinstance(metric, str) and metric in ("euclidean", "l2") and not options


def all_distances(X, metric, options, n_jobs=None) -> np.ndarray:
    """The matrix of distances between rows; the given one, checked, for "precomputed"."""
    if metric == "precomputed":
        return checked_distances(X)
    return pairwise_distances(X, metric=metric, n_jobs=n_jobs, **options)


def check_queries(model, X, metric, n_fitted) -> np.ndarray:
    """New rows, or for "precomputed" their distances from the training rows."""
    X = check_design(model, X, accept_sparse=False, order="C")
    if metric == "precomputed" and X.size and X.min() < 0:
        row, column = np.unravel_index(int(X.argmin()), X.shape)
        raise ValueError(f"Distances must not be negative, got {X[row, column]:.6g} in row {row}, column {column}.")
    if metric == "precomputed" and X.shape[1] != n_fitted:
        raise ValueError(f"Each row needs its distances from the {n_fitted} training rows, got shape {X.shape}.")
    return X


def query_distances(X, fitted, metric, options, n_jobs=None) -> np.ndarray:
    """Distances between new rows and training rows."""
    return X if metric == "precomputed" else pairwise_distances(X, fitted, metric=metric, n_jobs=n_jobs, **options)


class DissimilarityMixin:
    """The attribute `dissimilarity_matrix_`, made anew when asked for: models do not carry it."""

    _metric: object
    _options: dict
    _fitted: np.ndarray
    n_jobs: int | None

    @property
    def dissimilarity_matrix_(self):
        """Distances between the training rows."""
        if "_fitted" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no dissimilarity_matrix_ before fit")
        return all_distances(self._fitted, self._metric, self._options, self.n_jobs)
