"""Workloads of clustering by centres: K-means in few and many columns, its start, mini-batches, spectral clustering."""

import numpy as np

from cases import _data
from cases._case import Case
from cases.linear import THREADS, make, same


def blobs(rng, n, d, k):
    """Clouds of uneven sizes and shapes that overlap, with random rows to start from."""
    centres = rng.uniform(-10, 10, (k, d)) * (1 if d < 20 else 0.35)
    label = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    X = centres[label] + 3.0 * rng.standard_normal((n, d)) * rng.uniform(0.4, 1.2, (k, d))[label]
    return {"X": X, "y": label, "init": X[rng.choice(n, k, replace=False)].copy(), "k": k}


def images(rng, n):
    """Digit-like float32 images; the first ten are the start."""
    data = _data.images(rng, n)
    return {**data, "init": data["X"][:10].copy(), "k": 10}


def rings(rng, n):
    """Two noisy rings, one in the other."""
    angle, y = rng.uniform(0, 2 * np.pi, n), rng.integers(0, 2, n)
    radius = 1.0 + 1.5 * y + 0.1 * rng.standard_normal(n)
    return {"X": np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), "y": y}


def inertia(model, data, output):
    """Mean squared distance of the rows to their nearest centres, and steps."""
    centres, total = np.asarray(model.cluster_centers_, dtype=np.float64), 0.0
    for first in range(0, len(data.X), 20_000):
        rows = data.X[first : first + 20_000].astype(np.float64)
        total += ((rows**2).sum(axis=1) + ((centres**2).sum(axis=1) - 2 * rows @ centres.T).min(axis=1)).sum()
    return {"inertia": total / len(data.X), "steps": int(getattr(model, "n_iter_", -1))}


def pairs_right(model, data, output):
    """Share of pairs of rows that are together in both or apart in both; two clusters."""
    same_side = np.mean(np.asarray(model.labels_) == data.y)
    return {"right": float(max(same_side, 1 - same_side))}


class Faiss:
    """faiss-cpu's K-means in float32, from random rows of its own."""

    def __init__(self, k, n_iter):
        self.k, self.n_iter_ = k, n_iter

    def fit(self, X, y=None):
        import faiss

        faiss.omp_set_num_threads(THREADS)
        rows, many = np.ascontiguousarray(X, dtype=np.float32), 10**9
        self.model = faiss.Kmeans(X.shape[1], self.k, niter=self.n_iter_, seed=0, max_points_per_centroid=many)
        self.model.train(rows)
        self.cluster_centers_ = self.model.centroids
        return self

    def predict(self, X):
        return self.model.index.search(np.ascontiguousarray(X, dtype=np.float32), 1)[1][:, 0]


def start(data):
    return data.init


def number(data):
    return data.k


def contenders(n_iter):
    options = {"n_clusters": number, "init": start, "n_init": 1, "max_iter": n_iter, "tol": 0}
    return {
        **same("cluster.KMeans", **options),
        "sklearn-elkan": make("sklearn.cluster.KMeans", algorithm="elkan", **options),
        "faiss": lambda data: Faiss(data.k, n_iter),
    }


ROWS = {name: {"n": n, "d": 20, "k": 50} for name, n in (("small", 2000), ("medium", 100_000), ("large", 500_000))}
PIXELS = {name: {"n": n} for name, n in (("small", 1000), ("medium", 20_000), ("large", 70_000))}
RINGS = {name: {"n": n} for name, n in (("small", 300), ("medium", 2000), ("large", 5000))}
SEEDED = {"n_clusters": number, "n_init": 1, "random_state": 0}
CASES = {
    "kmeans_lowd": Case(generate=blobs, sizes=ROWS, contenders=contenders(40), quality=inertia),
    "kmeans_pixels": Case(generate=images, sizes=PIXELS, contenders=contenders(40), quality=inertia),
    "kmeans_pp_init": Case(
        generate=blobs,
        sizes=ROWS,
        contenders=same("cluster.KMeans", max_iter=1, tol=0, **SEEDED),
        quality=inertia,
        apply=None,
        slack=0.05,  # other random numbers
    ),
    "minibatch_kmeans": Case(
        generate=blobs,
        sizes=ROWS,
        contenders=same("cluster.MiniBatchKMeans", peers=("sklearn",), batch_size=4096, **SEEDED),
        quality=inertia,
        slack=0.02,  # stops after another batch
    ),
    "spectral_clustering": Case(
        generate=rings,
        sizes=RINGS,
        contenders=same(
            "cluster.SpectralClustering",
            peers=("sklearn",),
            n_clusters=2,
            affinity="nearest_neighbors",
            n_jobs=THREADS,
            random_state=0,
        ),
        quality=pairs_right,
        lower_is_better=False,
        apply=None,
    ),
}
