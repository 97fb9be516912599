"""Workloads of geodesic maps: the rolled sheet whole, by landmarks, in pieces; and shortest paths alone."""

import numpy as np

from cases._case import Case
from cases.embedding import swiss_roll, unrolled
from cases.linear import THREADS, make, same


def rolled(rng, n):
    """A rolled sheet; nobody needs a target."""
    return {"y": np.zeros(n), **swiss_roll(rng, n)}


def clouds(rng, n, d=10, k=8):
    """Clouds so far apart that ten neighbours do not join them."""
    return {
        "y": np.zeros(n),
        "X": rng.standard_normal((n, d)) + 12.0 * rng.standard_normal((k, d))[rng.integers(k, size=n)],
    }


def error(model, data, output):
    """What two coordinates leave of the Gram matrix of geodesic distances (both join pairs of pieces alike)."""
    return {"error": float(model.reconstruction_error())}


class Paths:
    """All shortest paths of a graph of ten neighbours."""

    def __init__(self, library):
        self.library = library

    def fit(self, X, y=None):
        from hyperplan.neighbors import kneighbors_graph

        self.graph = kneighbors_graph(X, 10, mode="distance")
        return self

    def measure(self, X):
        if self.library == "scipy":
            from scipy.sparse.csgraph import dijkstra

            return dijkstra(self.graph, directed=False)
        from hyperplan._math.shortest_paths import shortest_paths

        return shortest_paths(self.graph)


def total(model, data, output):
    return {"total": float(output.sum())}


ROLLED = {"n_neighbors": 10, "n_components": 2, "n_jobs": THREADS}
OURS = "hyperplan.manifold."


def case(generate, sizes, quality, contenders, **options):
    sizes = {name: {"n": n} for name, n in zip(("small", "medium", "large"), sizes)}
    return Case(generate=generate, sizes=sizes, contenders=contenders, quality=quality, **{"apply": None, **options})


ISOMAP = same("manifold.Isomap", peers=("sklearn",), **ROLLED)
CASES = {
    "isomap_5k": case(rolled, (500, 2000, 5000), unrolled, ISOMAP, lower_is_better=False),
    "isomap_10k": case(rolled, (500, 5000, 10_000), unrolled, ISOMAP, lower_is_better=False),
    "isomap_transform": case(rolled, (500, 2000, 5000), unrolled, ISOMAP, apply="transform", lower_is_better=False),
    "isomap_landmarks": case(
        rolled,
        (500, 5000, 10_000),
        unrolled,
        {
            "hyperplan": make(OURS + "LandmarkIsomap", n_landmarks=200, random_state=0, **ROLLED),
            "sklearn": ISOMAP["sklearn"],
        },
        lower_is_better=False,
        slack=1e-2,
    ),
    "isomap_pieces": case(clouds, (500, 2000, 5000), error, ISOMAP),
    "risimap": case(
        clouds,
        (500, 2000, 5000),
        error,
        {"hyperplan": make(OURS + "RISIMAP", reconnect="all_pairs", **ROLLED), "sklearn": ISOMAP["sklearn"]},
    ),
    "shortest_paths": case(
        rolled,
        (500, 2000, 5000),
        total,
        {"hyperplan": lambda data: Paths("hyperplan"), "scipy": lambda data: Paths("scipy")},
        apply="measure",
    ),
}
