"""Workloads of clustering by density: DBSCAN in few and many columns, OPTICS."""

import numpy as np

from cases._case import Case
from cases.linear import THREADS, make, same


def clouds(rng, n, d, k, spread=1.0, kth=None):
    """Clouds of uneven sizes and shapes among 5 % of noise; eps is the median distance of the kth neighbour."""
    centres = rng.uniform(-10, 10, (k, d))
    label = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    X = centres[label] + spread * rng.standard_normal((n, d)) * rng.uniform(0.4, 1.2, (k, d))[label]
    is_noise = rng.random(n) < 0.05
    X[is_noise], label[is_noise] = rng.uniform(-12, 12, (int(is_noise.sum()), d)), -1
    data = {"X": X, "y": label}
    if kth is not None:
        some = X[rng.choice(n, 300)]
        squares = (some**2).sum(axis=1)[:, None] - 2 * some @ X.T + (X**2).sum(axis=1)
        data["eps"] = float(np.sqrt(np.median(np.partition(squares, kth, axis=1)[:, kth])))
    return data


def agreement(model, data, output):
    """Adjusted Rand index with the clouds, number of clusters, share of noise."""
    from sklearn.metrics import adjusted_rand_score

    labels = np.asarray(model.labels_)
    return {
        "rand": adjusted_rand_score(data.y, labels),
        "clusters": int(labels.max()) + 1,
        "noise": float((labels < 0).mean()),
    }


class GridDBSCAN:
    """The C++ library behind the package dbscan."""

    def __init__(self, eps, min_samples):
        self.eps, self.min_samples = eps, min_samples

    def fit(self, X, y=None):
        import dbscan

        self.labels_, self.is_core = dbscan.DBSCAN(X, eps=self.eps, min_samples=self.min_samples)
        return self


def eps(data):
    return data.eps


DENSE = {"eps": eps, "min_samples": 10}
CONTENDERS = {**same("cluster.DBSCAN", n_jobs=THREADS, **DENSE), "dbscan": lambda data: GridDBSCAN(data.eps, 10)}
FLAT = {
    "small": {"n": 1000, "d": 2, "k": 5, "kth": 20},
    "medium": {"n": 50_000, "d": 2, "k": 40, "spread": 0.4, "kth": 30},
    "large": {"n": 200_000, "d": 2, "k": 40, "spread": 0.4, "kth": 30},
}
DEEP = {
    "small": {"n": 1000, "d": 10, "k": 5, "kth": 20},
    "medium": {"n": 25_000, "d": 10, "k": 20, "kth": 30},
    "large": {"n": 100_000, "d": 10, "k": 20, "kth": 30},
}
ORDER = {
    "small": {"n": 500, "d": 2, "k": 5},
    "medium": {"n": 5000, "d": 2, "k": 10, "spread": 0.5},
    "large": {"n": 20_000, "d": 2, "k": 20, "spread": 0.5},
}
SETTINGS = {"generate": clouds, "quality": agreement, "lower_is_better": False, "apply": None}
CASES = {
    # the C++ library puts border points elsewhere: its index may be a little lower
    "dbscan_2d": Case(sizes=FLAT, contenders=CONTENDERS, slack=0.03, **SETTINGS),
    "dbscan_10d": Case(sizes=DEEP, contenders=CONTENDERS, slack=0.03, **SETTINGS),
    "optics": Case(
        sizes=ORDER,
        contenders={name: make(f"{name}.cluster.OPTICS", min_samples=10) for name in ("hyperplan", "sklearn")},
        **SETTINGS,
    ),
}
