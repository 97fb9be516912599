"""Who looks for groups: the registry of clustering methods, each with sensible settings for some points."""

import importlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hyperplan.explore._judge import number_of_neighbours

NUMBERS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)  # of groups that are tried
ROWS_PER_GROUP = 10  # at least, on average
FULL_SHARE = 0.25  # parameters of a mixture with full covariances, at most, per number in the data
EPS_QUANTILES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)  # of the distances to the farthest neighbour that counts
CLUSTER_SHARES = (0.03, 0.06, 0.12)  # least size of a cluster of OPTICS


class Sight(NamedTuple):
    """What settings depend on: numbers of rows and dimensions, and distances of neighbours in order."""

    n_rows: int
    n_dimensions: int
    far: np.ndarray  # distance of each row to its `min_samples`-th neighbour, sorted
    min_samples: int
    seed: int


class Method(NamedTuple):
    """A clustering method.

    Attributes
    ----------
    name : str
        Key of its words.
    path : str
        Family and class.
    settings : callable
        Keyword arguments to try, given a `Sight`; their number does not depend on the values in it.
    """

    name: str
    path: str
    settings: Callable[[Sight], list[dict]]

    def build(self, settings: dict):
        """An estimator with `fit_predict` and `predict`."""
        family, _, name = self.path.partition(".")
        return getattr(importlib.import_module(f"hyperplan.{family}"), name)(**settings)


def sight_of(points: np.ndarray, seed: int) -> Sight:
    """Look at points."""
    from hyperplan.neighbors import NearestNeighbors

    n, d = points.shape
    min_samples = int(min(max(5, 2 * d), 20, max(n // 5, 3), n - 1))
    distances, _ = NearestNeighbors(n_neighbors=min_samples).fit(points).kneighbors()
    return Sight(n, d, np.sort(distances[:, -1]), min_samples, seed)


def numbers_of_groups(sight: Sight) -> list[int]:
    """How many groups are tried."""
    return [number for number in NUMBERS if number <= max(2, sight.n_rows // ROWS_PER_GROUP)]


def _k_means(sight: Sight) -> list[dict]:
    return [{"n_clusters": k, "n_init": 5, "random_state": sight.seed} for k in numbers_of_groups(sight)]


def _mixture(sight: Sight) -> list[dict]:
    found = []
    for k in numbers_of_groups(sight):
        is_full = k * sight.n_dimensions**2 / 2 <= FULL_SHARE * sight.n_rows * sight.n_dimensions
        kind = "full" if is_full else "diag"
        options = {"n_components": k, "covariance_type": kind, "reg_covar": 1e-3, "n_init": 2}
        found.append(options | {"random_state": sight.seed})
    return found


def _spectral(sight: Sight) -> list[dict]:
    near = number_of_neighbours(sight.n_rows)
    options = {"affinity": "nearest_neighbors", "n_neighbors": near, "random_state": sight.seed}
    return [{"n_clusters": k} | options for k in numbers_of_groups(sight)]


def _dbscan(sight: Sight) -> list[dict]:
    positive = sight.far[sight.far > 0.0]
    far = positive if len(positive) else np.ones(1)
    reach = [float(far[int(share * (len(far) - 1))]) for share in EPS_QUANTILES]
    return [{"eps": eps, "min_samples": sight.min_samples} for eps in reach]


def _optics(sight: Sight) -> list[dict]:
    sizes = [min(max(5, int(share * sight.n_rows)), sight.n_rows // 2) for share in CLUSTER_SHARES]
    return [{"min_samples": sight.min_samples, "min_cluster_size": size} for size in sizes]


METHODS = (  # from the simplest to explain on
    Method("k_means", "cluster.KMeans", _k_means),
    Method("dbscan", "cluster.DBSCAN", _dbscan),
    Method("mixture", "mixture.GaussianMixture", _mixture),
    Method("spectral", "cluster.SpectralClustering", _spectral),
    Method("optics", "cluster.OPTICS", _optics),
)


def methods(names=None) -> tuple[Method, ...]:
    """The methods of these names, or all."""
    if names is None:
        return METHODS
    unknown = set(names) - {method.name for method in METHODS}
    if unknown:
        known = ", ".join(method.name for method in METHODS)
        raise ValueError(f"no clustering method named {', '.join(sorted(unknown))}; there are {known}")
    return tuple(method for method in METHODS if method.name in names)
