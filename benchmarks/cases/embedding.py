"""Workloads of maps: locally linear embedding, scaling of distances, spectral embedding, measures of maps."""

import functools

import numpy as np
from scipy.spatial.distance import cdist, pdist

from cases._case import Case
from cases.linear import THREADS, make, same


def swiss_roll(rng, n):
    """A rolled sheet in space, and where its points are on it."""
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    h = 21 * rng.random(n)
    X = np.stack([t * np.cos(t), h, t * np.sin(t)], axis=1) + 0.05 * rng.standard_normal((n, 3))
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    return {"X": X, "truth": np.stack([arc, h], axis=1)}


def swiss_distances(rng, n):
    """Manhattan distances between the points of a rolled sheet: not Euclidean."""
    X = swiss_roll(rng, n)["X"]
    return {"X": cdist(X, X, "cityblock")}


def blobs(rng, n, d=10, k=5):
    """Clouds, for affinities and for maps with a misfit."""
    return {"X": rng.standard_normal((n, d)) + rng.uniform(-3, 3, (k, d))[rng.integers(k, size=n)]}


def unrolled(model, data, output):
    """Share of the variance of the places on the sheet that a linear map of the coordinates explains."""
    A = np.column_stack([model.embedding_, np.ones(len(data.X))])
    rest = data.truth - A @ np.linalg.lstsq(A, data.truth, rcond=None)[0]
    return {"r2": float(1 - (rest**2).mean() / data.truth.var(axis=0).mean())}


def kept_distances(model, data, output):
    """Correlation of distances before and after, of 500 points."""
    some = np.random.default_rng(0).choice(len(data.X), min(500, len(data.X)), replace=False)
    before = data.X[np.ix_(some, some)][np.triu_indices(some.size, 1)] if is_square(data.X) else pdist(data.X[some])
    return {"dist_corr": float(np.corrcoef(before, pdist(model.embedding_[some]))[0, 1])}


def is_square(X):
    return X.shape[0] == X.shape[1]


def final_stress(model, data, output):
    return {"stress": float(model.stress_)}


def smoothness(model, data, output):
    """``sum_ij A_ij |y_i - y_j|^2`` for the affinities of the model, which its coordinates minimise."""
    A, Y = model.affinity_matrix_, model.embedding_
    degrees = np.asarray(A.sum(axis=1)).ravel()
    return {"rayleigh": float(sum(2 * (y @ (degrees * y) - y @ (A @ y)) / (y @ (degrees * y)) for y in Y.T))}


def measured(model, data, output):
    return {"trust": float(model.value)}


class Trust:
    """Trustworthiness of the first two columns as a map."""

    def __init__(self, library):
        self.library = library

    def fit(self, X, y=None):
        import importlib

        measure = importlib.import_module(f"{self.library}.manifold").trustworthiness
        self.value = measure(X, X[:, :2].copy(), n_neighbors=10)
        return self


SKLEARN = ("sklearn",)
LLE = {"n_neighbors": 12, "n_components": 2, "random_state": 0, "n_jobs": THREADS}
NEAR = {"n_neighbors": 15, "random_state": 0, "n_jobs": THREADS}


def sizes(small, medium, large):
    return {"small": {"n": small}, "medium": {"n": medium}, "large": {"n": large}}


def roll(contenders, quality, *counts, generate=swiss_roll, lower=False, slack=1e-3):
    @functools.wraps(generate)
    def without_target(rng, n):
        return {"y": np.zeros(n), **generate(rng, n)}

    return Case(
        generate=without_target,
        sizes=sizes(*counts),
        contenders=contenders,
        quality=quality,
        lower_is_better=lower,
        apply=None,
        slack=slack,
    )


def lle(method):
    return same("manifold.LocallyLinearEmbedding", peers=SKLEARN, method=method, **LLE)


def nonmetric(library):
    options = {"metric_mds": False, "n_init": 1, "init": "classical_mds", "max_iter": 50, "eps": 0.0}
    return make(f"{library}.manifold.MDS", random_state=0, **options)


CASES = {
    "lle": roll(lle("standard"), unrolled, 500, 3000, 10_000, slack=0.01),
    "lle_modified": roll(lle("modified"), unrolled, 500, 1000, 3000, slack=0.01),
    "lle_ltsa": roll(lle("ltsa"), unrolled, 500, 1000, 3000, slack=0.01),
    "classical_mds": roll(same("manifold.ClassicalMDS", peers=SKLEARN), kept_distances, 300, 1000, 3000),
    "classical_mds_given": roll(
        same("manifold.ClassicalMDS", peers=SKLEARN, metric="precomputed"),
        kept_distances,
        300,
        1000,
        3000,
        generate=swiss_distances,
    ),
    "mds": roll(
        same("manifold.MDS", peers=SKLEARN, n_init=1, init="classical_mds", max_iter=50, eps=0.0, random_state=0),
        final_stress,
        200,
        1000,
        3000,
        generate=blobs,
        lower=True,
    ),
    "mds_nonmetric": roll(
        {library: nonmetric(library) for library in ("hyperplan", "sklearn")},
        final_stress,
        200,
        500,
        1500,
        generate=blobs,
        lower=True,
    ),
    "spectral_embedding": roll(
        same("manifold.SpectralEmbedding", peers=SKLEARN, **NEAR),
        smoothness,
        500,
        3000,
        10_000,
        lower=True,
        slack=0.01,
    ),
    "trustworthiness": roll(
        {library: lambda data, library=library: Trust(library) for library in ("hyperplan", "sklearn")},
        measured,
        300,
        2000,
        5000,
        generate=blobs,
    ),
}
