"""Seeded synthetic data, shaped like what linear models meet: correlated columns, uneven scales, sparse truths."""

import numpy as np


def correlated_columns(rng, n, d):
    """Rows from a low-rank factor model plus noise, with log-normal column scales and shifted means (float64)."""
    rank = max(2, d // 5)
    factors = rng.standard_normal((n, rank), dtype=np.float32)
    loadings = rng.standard_normal((rank, d), dtype=np.float32) / np.float32(rank**0.5)
    X = factors @ loadings + 0.7 * rng.standard_normal((n, d), dtype=np.float32)
    scales, means = np.exp(0.5 * rng.standard_normal(d)), rng.standard_normal(d)
    return (X * scales.astype(np.float32) + means.astype(np.float32)).astype(np.float64)


def parts(X, y, n, **extra):
    """The first n rows to train on, the rest to test on."""
    return {"X": X[:n].copy(), "y": y[:n].copy(), "Xt": X[n:].copy(), "yt": y[n:].copy(), **extra}


def regression(rng, n, d, tails=None):
    """Half of the coefficients are zero; noise at half the signal's deviation, Gaussian or (`tails`) Student's t."""
    m = n + n // 5
    X = correlated_columns(rng, m, d)
    signal = X @ (rng.standard_normal(d) * (rng.random(d) < 0.5))
    noise = rng.standard_normal(m) if tails is None else rng.standard_t(tails, size=m)
    return parts(X, signal + 0.5 * signal.std() * noise, n)


def standardised_regression(rng, n, d, tails=None):
    """`regression` with columns and target of mean 0 and deviation 1, as support vector and Huber users prepare it."""
    data = regression(rng, n, d, tails)
    mean, deviation = data["X"].mean(axis=0), data["X"].std(axis=0)
    centre, spread = data["y"].mean(), data["y"].std()
    for name in ("X", "Xt"):
        data[name] = (data[name] - mean) / deviation
    for name in ("y", "yt"):
        data[name] = (data[name] - centre) / spread
    return data


def sparse_truth(rng, n, d, active=50, share=0.05, rho=0.5):
    """AR(1) columns in Fortran order, `active` true coefficients; alpha is a `share` of the smallest that kills all."""
    X = np.asfortranarray(rng.standard_normal((n, d)))
    for j in range(1, d):
        X[:, j] *= (1 - rho * rho) ** 0.5
        X[:, j] += rho * X[:, j - 1]
    coef = np.zeros(d)
    chosen = rng.choice(d, size=min(active, d // 2), replace=False)
    coef[chosen] = rng.standard_normal(chosen.size)
    signal = X @ coef
    y = signal + signal.std() / 3 * rng.standard_normal(n)
    largest = float(np.abs(X.T @ (y - y.mean())).max() / n)  # a centred y makes centring X superfluous
    return {"X": X, "y": y, "alpha": share * largest, "alphas": largest * np.logspace(0, -2, 100)}


def two_classes(rng, n, d, active=None, share=None):
    """Standardised correlated columns, logistic label noise; with `share`, C is set for a sparse l1 solution."""
    m = n + n // 5
    X = correlated_columns(rng, m, d)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    coef = rng.standard_normal(d)
    if active:
        coef[rng.permutation(d)[active:]] = 0.0
    signal = X @ coef
    y = (2 * signal / signal.std() + rng.logistic(size=m) > 0).astype(np.int64)
    C = 1.0 if share is None else float(1 / (share * np.abs(X[:n].T @ (y[:n] - 0.5)).max()))
    return parts(X, y, n, C=C)


def counts(rng, n, d):
    """Poisson counts of a log-linear rate around 2."""
    m = n + n // 5
    X = correlated_columns(rng, m, d)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = X @ rng.standard_normal(d)
    return parts(X, rng.poisson(np.exp(0.5 * signal / signal.std() + 0.7)).astype(np.float64), n)


def images(rng, n, side=28, n_classes=10):
    """Digit-like float32 images: four smooth prototypes a class, deformed, many zeros, 2 % wrong labels."""
    from scipy.ndimage import gaussian_filter

    def smooth(count, width):
        fields = [gaussian_filter(rng.standard_normal((side, side)), width).ravel() for _ in range(count)]
        fields = np.stack(fields)
        return (fields / fields.std(axis=1, keepdims=True)).astype(np.float32)

    m, styles = n + n // 7, 4
    prototypes, deformations = smooth(n_classes * styles, 2.5), smooth(40, 2.0)
    y = rng.integers(0, n_classes, m)
    X = prototypes[y * styles + rng.integers(0, styles, m)]
    X = X + 0.17 * rng.standard_normal((m, 40), dtype=np.float32) @ deformations
    X += 0.3 * rng.standard_normal(X.shape, dtype=np.float32)
    X = np.clip((X - 0.5) / 2.5, 0, 1).astype(np.float32)
    wrong = rng.random(m) < 0.02
    y[wrong] = rng.integers(0, n_classes, int(wrong.sum()))
    return parts(X, y, n)
