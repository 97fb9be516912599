"""Groups of points, judged: silhouette, Calinski-Harabasz, separation of neighbourhoods, and their known biases.

- Silhouette ``(b - a) / max(a, b)``, with a and b the mean distances to the own and to the nearest other group: likes
  round groups of like size.
- Calinski-Harabasz, variance between over variance within: likes round groups even more, and grows with the rows.
- Separation: the share of the links to nearest neighbours that stay within a group, corrected for chance as Cohen's
  kappa is.  It does not ask for a shape, but likes few large groups.

Rows in no group count as badly placed: they add 0 to the silhouette, and none of their links is kept.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.metrics import calinski_harabasz_score, pairwise_distances, silhouette_score
from hyperplan.neighbors import NearestNeighbors

NEIGHBOURS, FEWEST_NEIGHBOURS = 10, 3
LEAST_SHARE, LEAST_ROWS = 0.02, 3  # smaller groups are none: outliers are another question


class Scores(NamedTuple):
    """What a judge says of a grouping; a grouping into fewer than two groups has zeros."""

    n_groups: int
    grouped: float
    silhouette: float
    calinski_harabasz: float
    separation: float


NO_GROUPS = Scores(1, 0.0, 0.0, 0.0, 0.0)


class Judge:
    """Knows the distances and neighbours of some points; `scores` of labels are then cheap.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_dimensions)
        At most some thousands.
    """

    def __init__(self, points: np.ndarray):
        self.points = points
        n = len(points)
        self.distances = pairwise_distances(points)
        np.fill_diagonal(self.distances, 0.0)
        finder = NearestNeighbors(n_neighbors=number_of_neighbours(n)).fit(points)
        self._near = finder.kneighbors(return_distance=False)

    def scores(self, labels: np.ndarray) -> Scores:
        """Scores of groups 1, 2, ... and 0 for rows in no group."""
        inside = labels > 0
        n_groups = int(labels.max(initial=0))
        if n_groups < 2:
            return NO_GROUPS._replace(grouped=float(inside.mean()))
        rows, grouped = np.flatnonzero(inside), float(inside.mean())
        silhouette = silhouette_score(self.distances[np.ix_(rows, rows)], labels[rows], metric="precomputed")
        dispersion = calinski_harabasz_score(self.points[rows], labels[rows])
        return Scores(n_groups, grouped, silhouette * grouped, float(dispersion), self._separation(labels))

    def _separation(self, labels) -> float:
        kept = float(((labels[self._near] == labels[:, None]) & (labels > 0)[:, None]).mean())
        shares = np.bincount(labels)[1:] / len(labels)
        chance = float((shares**2).sum())
        return (kept - chance) / (1.0 - chance) if chance < 1.0 else 0.0


def number_of_neighbours(n: int) -> int:
    """Neighbours that are looked at: few of few rows, for a small group has no more."""
    return min(max(n // 20, FEWEST_NEIGHBOURS), NEIGHBOURS, n - 1)


def group_codes(raw: np.ndarray) -> dict[int, int]:
    """Which group each label of an estimator stands for: the largest is 1; noise and tiny groups are 0."""
    values, counts = np.unique(raw[raw >= 0], return_counts=True)
    least = max(LEAST_ROWS, LEAST_SHARE * len(raw))
    order = sorted((-count, value) for count, value in zip(counts.tolist(), values.tolist()) if count >= least)
    return {value: place for place, (_, value) in enumerate(order, start=1)}


def coded(raw: np.ndarray, codes: dict[int, int]) -> np.ndarray:
    """Groups 0, 1, 2, ... of the labels of an estimator."""
    lookup = np.zeros(max([*codes, int(raw.max(initial=0))]) + 2, dtype=np.intp)
    for value, code in codes.items():
        lookup[value] = code
    return lookup[raw]  # the label -1 of noise finds the last place, which is 0
