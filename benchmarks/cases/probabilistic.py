"""Workloads of the probabilistic classifiers: naive Bayes, discriminant analysis, mixtures."""

import numpy as np

from cases import _data
from cases._case import Case
from cases.linear import make, same, sizes

CLASSES = 5


def gaussian_classes(rng, n, d):
    """Correlated columns with class means a little apart."""
    m = n + n // 5
    y = rng.integers(0, CLASSES, m)
    return _data.parts(_data.correlated_columns(rng, m, d) + 0.12 * rng.standard_normal((CLASSES, d))[y], y, n)


def count_classes(rng, n, d):
    """Poisson counts whose rates depend a little on the class."""
    m = n + n // 5
    y = rng.integers(0, CLASSES, m)
    rates = rng.gamma(0.5, 2, d) * rng.lognormal(0, 0.2, (CLASSES, d))
    return _data.parts(rng.poisson(rates[y]).astype(np.float64), y, n)


def category_classes(rng, n, d):
    """Categories 0 to 9 whose shares depend a little on the class."""
    m = n + n // 5
    y = rng.integers(0, CLASSES, m)
    borders = np.cumsum(rng.dirichlet(np.full(10, 5.0), (CLASSES, d)), axis=2)[:, :, :-1]
    X = np.empty((m, d), dtype=np.int64)
    for j in range(d):
        X[:, j] = (rng.random(m)[:, None] > borders[y, j]).sum(axis=1)
    return _data.parts(X, y, n)


def clumps(rng, n, d, k):
    """Rows of k Gaussians with covariances of their own, overlapping."""
    label = rng.integers(0, k, n)
    X = rng.standard_normal((n, d))
    mixes = rng.standard_normal((k, d, d)) / d**0.5
    for c in range(k):
        X[label == c] = X[label == c] @ mixes[c] + 1.5 * rng.standard_normal(d)
    return {"X": X, "y": label}


def accuracy(model, data, output):
    return {"accuracy": float(np.mean(output == data.yt))}


def likelihood(model, data, output):
    return {"likelihood": float(model.score(data.X[:20_000])), "steps": int(model.n_iter_)}


score = {"quality": accuracy, "lower_is_better": False}
tall = sizes((2000, 10), (250_000, 50), (1_000_000, 50))
matrix = sizes((2000, 10), (50_000, 100), (200_000, 100))
linear, quadratic = (f"discriminant_analysis.{name}DiscriminantAnalysis" for name in ("Linear", "Quadratic"))
mixture = {"n_components": 10, "init_params": "k-means++", "random_state": 0, "tol": 0.0, "max_iter": 20}
only = {"peers": ("sklearn",)}

CASES = {
    "gaussian_nb": Case(gaussian_classes, tall, same("naive_bayes.GaussianNB", **only), **score),
    "multinomial_nb": Case(count_classes, tall, same("naive_bayes.MultinomialNB", **only), **score),
    "bernoulli_nb": Case(count_classes, tall, same("naive_bayes.BernoulliNB", **only), **score),
    "complement_nb": Case(count_classes, tall, same("naive_bayes.ComplementNB", **only), **score),
    "categorical_nb": Case(
        category_classes,
        sizes((2000, 10), (50_000, 30), (200_000, 30)),
        same("naive_bayes.CategoricalNB", **only),
        **score,
    ),
    "lda": Case(
        gaussian_classes,
        matrix,
        {**same(linear, **only), "sklearn-lsqr": make(f"sklearn.{linear}", solver="lsqr")},
        **score,
    ),
    "qda": Case(gaussian_classes, matrix, same(quadratic, **only), **score),
    **{
        f"mixture_{kind}": Case(
            clumps,
            sizes((1000, 5), (20_000, 10), (100_000, 20), k=10),
            same("mixture.GaussianMixture", covariance_type=kind, **only, **mixture),
            likelihood,
            lower_is_better=False,
        )
        for kind in ("full", "diag")
    },
}
