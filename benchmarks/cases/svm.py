"""Workloads of support vector machines with kernels, on standardised tables."""

import numpy as np

from cases import _quality
from cases._case import Case
from cases._data import correlated_columns, parts
from cases.linear import THREADS, make

PEERS = ("sklearn", "sklearnex")


def tabular(rng, n, d, noise=1.0, numbers=False):
    """Columns of deviation one, some skewed or rounded; products, waves and steps of six columns, and noise."""
    m = n + n // 5
    X = correlated_columns(rng, m, d)
    X[:, 1::4] = np.exp(0.5 * np.clip(X[:, 1::4], -6, 6))
    X[:, 3::4] = np.round(X[:, 3::4] * 4) / 4
    Z = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    signal = 1.2 * Z[:, 0] * Z[:, 1] + np.sin(2 * Z[:, 2]) + (Z[:, 3] > 0.5) * Z[:, 4] + 0.5 * np.abs(Z[:, 5])
    signal += 0.6 * (Z @ (rng.standard_normal(d) * (rng.random(d) < 0.5))) / d**0.5
    signal = (signal - signal.mean()) / signal.std()
    target = signal + 0.5 * noise * rng.standard_normal(m)
    if not numbers:
        target = (2 * signal + noise * rng.logistic(size=m) > 0).astype(np.int64)
    return parts(Z, target, n, gamma=float(1 / (d * Z[:n].var())))


def accuracy(model, data, output):
    """Share of test rows that are right, and the number of support vectors."""
    return {"accuracy": float(np.mean(np.ravel(output) == data.yt)), "vectors": int(np.sum(model.n_support_))}


def r2(model, data, output):
    """Explained variance on the test rows, and the number of support vectors."""
    return {**_quality.r2(model, data, output), "vectors": int(np.sum(model.n_support_))}


def outliers(model, data, output):
    """Share of test rows inside the region, and the number of support vectors."""
    return {"inside": float(np.mean(np.ravel(output) > 0)), "vectors": int(np.sum(model.n_support_))}


def contenders(name, **options):
    """Ours, scikit-learn's and its patched twin, and ThunderSVM; the peers with room for all rows they want to keep.

    Ours keeps two hundred megabytes, its default: it computes rows as fast as memory for more of them is handed out.
    """
    path, options = f"svm.{name}", {"kernel": "rbf", "C": 1.0, **options}
    found = {
        "hyperplan": make(f"hyperplan.{path}", gamma="scale", **options),
        **{library: make(f"{library}.{path}", gamma="scale", cache_size=2000, **options) for library in PEERS},
    }
    thunder = make(f"thundersvm.{name}", gamma=lambda data: data.gamma, n_jobs=THREADS, **options)
    return {**found, "thundersvm": thunder}


def table(small, medium, large, **common):
    """Arguments of `tabular` by size."""
    shapes = {"small": small, "medium": medium, "large": large}
    return {name: {"n": n, "d": d, **common} for name, (n, d) in shapes.items()}


CASES = {
    "svc_rbf_10k": Case(
        tabular,
        table((500, 20), (4000, 50), (10_000, 50), noise=0.3),
        contenders("SVC"),
        accuracy,
        lower_is_better=False,
        slack=5e-3,
    ),
    "svc_rbf_30k": Case(
        tabular,
        table((500, 20), (10_000, 50), (30_000, 50), noise=0.3),
        contenders("SVC"),
        accuracy,
        lower_is_better=False,
        slack=5e-3,
    ),
    "svr_rbf": Case(
        tabular,
        table((500, 20), (4000, 20), (10_000, 20), numbers=True),
        contenders("SVR", epsilon=0.1),
        r2,
        lower_is_better=False,
    ),
    "one_class_rbf": Case(
        tabular,
        table((500, 20), (4000, 20), (20_000, 20)),
        {
            "hyperplan": make("hyperplan.svm.OneClassSVM", nu=0.1),
            "sklearn": make("sklearn.svm.OneClassSVM", nu=0.1, cache_size=2000),
        },
        outliers,
        lower_is_better=False,
        slack=5e-3,
    ),
}
