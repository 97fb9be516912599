"""Workloads of layouts by attraction and repulsion (UMAP): ours with a seed, the peer without (faster for it)."""

import numpy as np

from cases import _data
from cases._case import Case
from cases.linear import THREADS, make

ROWS = 3000  # on which trustworthiness is measured


def blobs(rng, n, d, k):
    """Clouds of uneven weight and shape (float32)."""
    centres, label = rng.uniform(-3.5, 3.5, (k, d)), rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    X = centres[label] + rng.standard_normal((n, d)) * rng.uniform(0.4, 1.2, (k, d))[label]
    return {"X": X.astype(np.float32), "y": label}


def images(rng, n):
    """Digit-like float32 images."""
    data = _data.images(rng, n)
    return {"X": data["X"], "y": data["y"]}


def trust(model, data, output):
    """Share of neighbours on the map that are neighbours in the data, on some rows."""
    from hyperplan.manifold import trustworthiness

    some = np.random.default_rng(0).choice(len(data.X), min(ROWS, len(data.X)), replace=False)
    return {"trust": float(trustworthiness(data.X[some], np.asarray(model.embedding_)[some], n_neighbors=10))}


OPTIONS = {"n_neighbors": 15, "n_jobs": THREADS}
CONTENDERS = {
    "hyperplan": make("hyperplan.manifold.UMAP", random_state=0, **OPTIONS),
    "umap": make("umap.UMAP", **OPTIONS),
}
BLOBS = {
    "small": {"n": 5000, "d": 20, "k": 10},  # large enough that the peer compiles all that it needs
    "medium": {"n": 8000, "d": 50, "k": 20},
    "large": {"n": 20_000, "d": 50, "k": 20},
}
IMAGES = {"small": {"n": 5000}, "medium": {"n": 20_000}, "large": {"n": 70_000}}
COMMON = {"contenders": CONTENDERS, "quality": trust, "lower_is_better": False, "apply": None, "slack": 0.01}
CASES = {
    "umap_blobs": Case(generate=blobs, sizes=BLOBS, **COMMON),
    "umap_pixels": Case(generate=images, sizes=IMAGES, **COMMON),
}
