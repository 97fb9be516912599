"""Is it a metric?  The axioms of a distance, tried on given points.

Passing proves nothing about other points; one failure proves that the function is no metric.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_array
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas
from hyperplan.metrics._arguments import Real, checked
from hyperplan.metrics._distance_source import METRIC, distance_source


class MetricAxioms(NamedTuple):
    """What held on the points; `witness` names the points of the worst failure of each axiom that did not.

    Attributes
    ----------
    non_negative : bool
        No distance is below zero.
    identity : bool
        Distances are zero between equal points, and between them only.
    symmetric : bool
        d(x, y) = d(y, x).
    triangle : bool
        d(x, z) <= d(x, y) + d(y, z).
    witness : dict
        Name of the axiom -> (positions of the points, amount of the failure).
    """

    non_negative: bool
    identity: bool
    symmetric: bool
    triangle: bool
    witness: dict

    @property
    def is_metric(self) -> bool:
        """Whether all four held."""
        return self.non_negative and self.identity and self.symmetric and self.triangle


@checked(distance=METRIC, tol=Real(ge=0))
def metric_axioms(distance, points, *, tol=1e-10, **options):
    """Try the axioms of a metric on all pairs and triples of points.

    Parameters
    ----------
    distance : str or callable
        Name of a distance, a function of two rows, or "precomputed" when `points` holds distances.
    points : array-like of shape (n_points, n_features), or (n_points, n_points) if precomputed
        Points; time grows with the cube of their number.
    tol : float, default=1e-10
        Failures up to this share of the largest distance count as rounding.
    **options : dict
        Parameters of the distance.

    Returns
    -------
    axioms : MetricAxioms
        What held, with a counter-example for what did not.

    Examples
    --------
    >>> from hyperplan.metrics import metric_axioms
    >>> metric_axioms("euclidean", [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]).is_metric
    True
    >>> found = metric_axioms("cosine", [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    >>> found.triangle, found.witness["triangle"][0]
    (False, (0, 1, 2))
    """
    points = check_array(points, dtype=np.float64)
    n = points.shape[0]
    require_memory(32.0 * n * n, f"Distances of {n} points", "try the axioms on fewer of them")
    source = distance_source(points, distance, **options)
    D = np.empty((n, source.n_columns))
    with single_threaded_blas():
        source.fill(slice(0, n), slice(0, n), D)
    slack = tol * max(float(np.abs(D).max()), np.finfo(np.float64).tiny)
    equal = np.eye(n, dtype=bool)
    if distance != "precomputed":
        equal = (points[:, None, :] == points[None, :, :]).all(axis=2)
    failures = {
        "non_negative": _worst(-D, slack),
        "identity": _worst(np.where(equal, np.abs(D), np.where(D > 0.0, 0.0, np.inf)), slack),
        "symmetric": _worst(np.abs(D - D.T), slack),
        "triangle": _worst_triangle(D, slack),
    }
    witness = {name: failure for name, failure in failures.items() if failure}
    return MetricAxioms(**{name: failure is None for name, failure in failures.items()}, witness=witness)


def _worst(excess, slack):
    """``((i, j), amount)`` of the largest entry above the slack, or None."""
    place = np.unravel_index(np.argmax(excess), excess.shape)
    return (tuple(int(i) for i in place), float(excess[place])) if excess[place] > slack else None


def _worst_triangle(D, slack):
    """``((i, k, j), amount)`` where the way from i to j over k is shorter than the direct one by most."""
    worst, amount = None, slack
    for k in range(D.shape[0]):
        excess = D - D[:, k, None] - D[None, k, :]
        i, j = np.unravel_index(np.argmax(excess), excess.shape)
        if excess[i, j] > amount:
            worst, amount = (int(i), k, int(j)), float(excess[i, j])
    return None if worst is None else (worst, amount)
