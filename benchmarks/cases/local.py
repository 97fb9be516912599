"""Workloads of densities, local means, learnt metrics, reductions to two classes and calibration."""

import numpy as np

from cases._case import Case
from cases.linear import make, same

THREADS = 2


def sizes(small, medium, large, **common):
    return {name: {"n": n, **common} for name, n in (("small", small), ("medium", medium), ("large", large))}


def clouds(rng, n, d):
    """A mixture of eight Gaussians; as many rows to be judged as to learn from."""
    centres = 2 * rng.standard_normal((8, d))
    X = centres[rng.integers(0, 8, 2 * n)] + rng.standard_normal((2 * n, d))
    return {"X": X[:n].copy(), "y": np.zeros(n), "Xt": X[n:].copy(), "yt": np.zeros(n)}


def waves(rng, n, d):
    """A smooth function of the first two columns with noise."""
    X = rng.uniform(-3, 3, (2 * n, d))
    y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * rng.standard_normal(2 * n)
    return {"X": X[:n].copy(), "y": y[:n].copy(), "Xt": X[n:].copy(), "yt": y[n:].copy()}


def classes(rng, n, d, k, apart=1.2):
    """k Gaussian classes; with many columns they overlap only if the means are little apart."""
    y = rng.integers(0, k, n + n // 5)
    X = rng.standard_normal((k, d))[y] * apart + rng.standard_normal((len(y), d))
    return {"X": X[:n].copy(), "y": y[:n].copy(), "Xt": X[n:].copy(), "yt": y[n:].copy()}


class PlainLocalMean:
    """Local means by matrix products over blocks of rows: what one writes by hand."""

    def __init__(self, bandwidth):
        self.bandwidth = bandwidth

    def fit(self, X, y):
        self.X, self.y, self.squares = X, np.column_stack([np.ones(len(y)), y]), (X * X).sum(axis=1)
        return self

    def predict(self, Q):
        parts = []
        for first in range(0, len(Q), 1000):
            part = Q[first : first + 1000]
            gaps = (part * part).sum(axis=1)[:, None] + self.squares - 2 * part @ self.X.T
            sums = np.exp(gaps * (-0.5 / self.bandwidth**2)) @ self.y
            parts.append(sums[:, 1] / sums[:, 0])
        return np.concatenate(parts)


def mean_log_density(model, data, output):
    """Mean log density of the rows to be judged: contenders must agree in it."""
    return {"mean log density": float(np.mean(output))}


def r2(model, data, output):
    return {"r2": 1 - np.mean((data.yt - output) ** 2) / data.yt.var()}


def accuracy(model, data, output):
    return {"accuracy": float(np.mean(output == data.yt))}


def log_loss(model, data, output):
    picked = output[np.arange(len(output)), data.yt]
    return {"log loss": float(-np.mean(np.log(np.maximum(picked, 1e-15))))}


def right_neighbours(model, data, output):
    """Expected share of training rows that a random neighbour classifies correctly: the objective of NCA."""
    Z, total = data.X @ np.asarray(model.components_).T, 0.0
    for first in range(0, len(Z), 500):
        part = Z[first : first + 500]
        D = ((part * part).sum(axis=1)[:, None] + (Z * Z).sum(axis=1)) - 2 * part @ Z.T
        D[np.arange(len(part)), np.arange(first, first + len(part))] = np.inf
        P = np.exp(-(D - D.min(axis=1, keepdims=True)))
        total += ((P * (data.y[first : first + 500, None] == data.y)).sum(axis=1) / P.sum(axis=1)).sum()
    return {"right neighbours": total / len(Z)}


def members(library, name, **options):
    """A wrapper of `library` around its own logistic regression."""

    def build(data):
        estimator = make(f"{library}.linear_model.LogisticRegression", tol=1e-6)(data)
        module = {"CalibratedClassifierCV": "calibration"}.get(name, "multiclass")
        return make(f"{library}.{module}.{name}", estimator=estimator, **options)(data)

    return build


def both(name, **options):
    processes = members("sklearn", name, **options, n_jobs=THREADS)
    ours, theirs = members("hyperplan", name, **options), members("sklearn", name, **options)
    return {"hyperplan": ours, "sklearn": theirs, "sklearn-processes": processes}


BANDWIDTH = 0.3
DENSITY = same("neighbors.KernelDensity", peers=("sklearn",), bandwidth=BANDWIDTH, rtol=1e-4)
EXACT = same("neighbors.KernelDensity", peers=("sklearn",), bandwidth=BANDWIDTH)
LOCAL = {
    "hyperplan": make("hyperplan.neighbors.NadarayaWatsonRegressor", bandwidth=BANDWIDTH),
    "numpy": lambda data: PlainLocalMean(BANDWIDTH),
}
NCA = same("neighbors.NeighborhoodComponentsAnalysis", peers=("sklearn",), n_components=2, init="pca", max_iter=30)

CASES = {
    "kde_2d": Case(clouds, sizes(500, 20_000, 100_000, d=2), DENSITY, mean_log_density, False, "score_samples"),
    "kde_exact": Case(
        clouds,
        sizes(500, 5_000, 20_000, d=3),
        EXACT,
        mean_log_density,
        False,
        "score_samples",
    ),
    "nadaraya_watson": Case(waves, sizes(500, 20_000, 100_000, d=2), LOCAL, r2, False),
    "nadaraya_watson_loo": Case(
        waves,
        sizes(500, 20_000, 100_000, d=2),
        {"hyperplan": make("hyperplan.neighbors.NadarayaWatsonRegressor")},
        r2,
        False,
    ),
    "nca": Case(classes, sizes(200, 1_000, 3_000, d=20, k=5), NCA, right_neighbours, False, "transform", slack=1e-2),
    "one_vs_rest": Case(classes, sizes(500, 20_000, 100_000, d=50, k=8), both("OneVsRestClassifier"), accuracy, False),
    "one_vs_one": Case(classes, sizes(500, 20_000, 100_000, d=50, k=8), both("OneVsOneClassifier"), accuracy, False),
    "calibrated_sigmoid": Case(
        classes,
        sizes(500, 20_000, 200_000, d=30, k=2, apart=0.3),
        both("CalibratedClassifierCV", cv=5),
        log_loss,
        True,
        "predict_proba",
    ),
    "calibrated_isotonic": Case(
        classes,
        sizes(500, 20_000, 200_000, d=30, k=2, apart=0.3),
        both("CalibratedClassifierCV", cv=5, method="isotonic"),
        log_loss,
        True,
        "predict_proba",
    ),
}
