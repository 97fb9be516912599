"""Workloads of the kernel family: matrices of kernel values, kernel ridge, approximate feature maps."""

import importlib

import numpy as np

from cases import _data, _quality
from cases._case import Case
from cases.linear import same, sizes


class GaussianMatrix:
    """A function of pairwise kernels as a model: `fit` makes the matrix of the training rows."""

    def __init__(self, build):
        self.build = build

    def fit(self, X, y=None):
        self.values_ = self.build(X)
        return self


def gaussian(function):
    """A builder for a matrix of Gaussian kernel values by ``function(module, X, gamma)``."""

    def build(data):
        return GaussianMatrix(lambda X: function(X, 1.0 / X.shape[1]))

    return build


def ours(dtype):
    def values(X, gamma):
        return importlib.import_module("hyperplan.kernels").RBF(gamma).gram(X, dtype=dtype)

    return values


def theirs(X, gamma):
    return importlib.import_module("sklearn.metrics.pairwise").rbf_kernel(X, gamma=gamma)


def one_dal(X, gamma):
    """The kernel of scikit-learn-intelex's support vector machines."""
    return importlib.import_module("onedal.primitives").rbf_kernel(X, gamma=gamma)


def single(function):
    return lambda X, gamma: function(X.astype(np.float32), np.float32(gamma))


def plain_numpy(X, gamma):
    """What people write: one product, one exponential, whole matrices."""
    squares = np.einsum("ij,ij->i", X, X)
    K = X @ X.T
    K *= 2.0
    K -= squares
    K -= squares[:, None]
    K *= gamma
    return np.exp(K, out=K)


def largest_gap(model, data, output):
    """Largest error of a thousand entries of the matrix."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, data.X.shape[0], size=(1000, 2))
    gaps = ((data.X[pairs[:, 0]] - data.X[pairs[:, 1]]) ** 2).sum(axis=1)
    exact = np.exp(-gaps / data.X.shape[1])
    return {"error": float(np.abs(model.values_[pairs[:, 0], pairs[:, 1]] - exact).max())}


def waves(rng, n, d):
    """A smooth function of standardised columns, with noise."""
    m = n + n // 5
    X = rng.standard_normal((m, d))
    y = np.sin(X[:, 0]) + X[:, 1] * np.cos(X[:, 2]) + 0.3 * rng.standard_normal(m)
    return _data.parts(X, y, n)


def feature_size(model, data, output):
    """Mean squared length of the features of the test rows: 1 for an exact map of the Gaussian kernel."""
    return {"distance from one": float(abs(1.0 - (np.asarray(output) ** 2).sum(axis=1).mean()))}


SQUARE = sizes((500, 10), (3000, 50), (10_000, 50))
TALL = sizes((500, 10), (20_000, 50), (100_000, 50))
RIDGE = {"kernel": "rbf", "alpha": 0.1, "gamma": 0.05}
CASES = {
    "gram_rbf": Case(
        waves,
        SQUARE,
        {
            "hyperplan": gaussian(ours(np.float64)),
            "sklearn": gaussian(theirs),
            "onedal": gaussian(one_dal),
            "numpy": gaussian(plain_numpy),
        },
        largest_gap,
        apply=None,
        slack=1e6,  # errors of rounding: any of them is as good
    ),
    "gram_rbf_single": Case(
        waves,
        SQUARE,
        {
            "hyperplan": gaussian(ours(np.float32)),
            "numpy": gaussian(single(plain_numpy)),
            "sklearn": gaussian(single(theirs)),
            "onedal": gaussian(single(one_dal)),
        },
        largest_gap,
        apply=None,
        slack=1e6,
    ),
    "kernel_ridge": Case(
        waves,
        sizes((400, 5), (2000, 10), (6000, 10)),
        same("kernel_ridge.KernelRidge", peers=("sklearn",), **RIDGE),
        _quality.r2,
        lower_is_better=False,
    ),
    "nystroem": Case(
        waves,
        TALL,
        same("kernel_approximation.Nystroem", peers=("sklearn",), gamma=0.02, n_components=300, random_state=0),
        feature_size,
        apply="transform",
    ),
    "rbf_sampler": Case(
        waves,
        TALL,
        same("kernel_approximation.RBFSampler", peers=("sklearn",), gamma=0.02, n_components=300, random_state=0),
        feature_size,
        apply="transform",
        slack=1e-2,
    ),
}
