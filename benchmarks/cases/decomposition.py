"""Workloads of projections: principal components, linear and with a kernel, random ones, and eigen-solvers."""

import importlib

import numpy as np
import scipy.sparse as sp

from cases import _data
from cases._case import Case
from cases.linear import THREADS, make, same, sizes
from cases.trees import tabular

COMPONENTS = 10


def symmetric(rng, n):
    """The covariance of correlated columns: eigenvalues over several orders of magnitude."""
    X = _data.correlated_columns(rng, 2 * n, n)
    X -= X.mean(axis=0)
    return {"X": X.T @ X / (2 * n - 1), "y": np.zeros(n)}


def grid(rng, n):
    """``I + A / 4``, A the neighbours in a square grid with random weights: sparse, eigenvalues in (0, 2)."""
    side = round(n**0.5)
    rows = np.arange(side * side).reshape(side, side)
    pairs = [(rows[:, :-1].ravel(), rows[:, 1:].ravel()), (rows[:-1].ravel(), rows[1:].ravel())]
    first, second = np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])
    weights = 0.25 * rng.uniform(0.5, 1.0, first.size)
    upper = sp.coo_array((weights, (first, second)), shape=(side * side,) * 2)
    return {"X": (sp.eye_array(side * side) + upper + upper.T).tocsr(), "y": np.zeros(side * side)}


class Eigenpairs:
    """A function that returns eigenvalues and vectors as a model, its matrix as the rows."""

    def __init__(self, solve):
        self.solve = solve

    def fit(self, X, y=None):
        self.values_, self.vectors_ = self.solve(X)
        return self


def ours(method, k=None):
    """A builder for ``hyperplan.linalg.eigh``."""

    def solve(A):
        found = importlib.import_module("hyperplan.linalg").eigh(A, method=method, n_components=k)
        return found.values, found.vectors

    return lambda data: Eigenpairs(solve)


def lapack(module):
    """A builder for the `eigh` of NumPy (divide and conquer) or SciPy (relatively robust representations)."""
    return lambda data: Eigenpairs(lambda A: importlib.import_module(module).eigh(A))


def arpack(data):
    linalg = importlib.import_module("scipy.sparse.linalg")
    start = np.random.default_rng(0).standard_normal(data.X.shape[0])
    return Eigenpairs(lambda A: linalg.eigsh(A, COMPONENTS, which="LA", tol=1e-10, v0=start))


def kept_share(model, data, output):
    """Share of the variance along the axes found."""
    return {"explained": float(np.sum(model.explained_variance_ratio_))}


def eigenvalue_sum(model, data, output):
    """Sum of the eigenvalues found: an iteration that stops early finds less."""
    return {"eigenvalues": float(np.sum(model.eigenvalues_))}


def distance_error(model, data, output):
    """Mean relative change of the distances among 200 rows."""
    upper = np.triu_indices(200, 1)

    def lengths(rows):
        rows = np.asarray(rows[:200], dtype=np.float64)
        squares = (rows * rows).sum(axis=1)
        return np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)[upper])

    return {"change": float(np.abs(lengths(output) / lengths(data.X) - 1).mean())}


def largest_residual(model, data, output):
    """Largest ``|A v - value v|`` relative to the largest value: what rounding, or the tolerance, leaves."""
    gaps = np.linalg.norm(data.X @ model.vectors_ - model.vectors_ * model.values_, axis=0)
    return {"residual": max(float(gaps.max() / np.abs(model.values_).max()), 1e-12)}


def pca(*solvers):
    path, options = "decomposition.PCA", {"n_components": COMPONENTS, "random_state": 0}
    named = {f"sklearn-{name}": make(f"sklearn.{path}", svd_solver=name, **options) for name in solvers}
    return {**same(path, **options), **named}


def kernel_pca(*solvers):
    path = "decomposition.KernelPCA"
    options = {"n_components": COMPONENTS, "kernel": "rbf", "gamma": 0.05, "random_state": 0, "n_jobs": THREADS}
    named = {f"sklearn-{name}": make(f"sklearn.{path}", eigen_solver=name, **options) for name in solvers}
    return {**same(path, peers=("sklearn",), **options), **named}


def projections(name, *peers, **options):
    """Ours by name; of scikit-learn Gaussian ("sklearn") and sparse ones, which do the same work for the user."""
    module, common = "random_projection", {"n_components": 500, "random_state": 0}
    known = {
        "sklearn": make(f"sklearn.{module}.GaussianRandomProjection", **common),
        "sklearn-sparse": make(f"sklearn.{module}.SparseRandomProjection", dense_output=True, **common),
    }
    mine = {"hyperplan": make(f"hyperplan.{module}.{name}", **common, **options)}
    return mine | {peer: known[peer] for peer in peers}


def projection_case(*arguments, **options):
    # the quality is itself random, by a few per cent from one matrix to the next
    shapes = sizes((200, 1000), (2000, 5000), (10_000, 10_000))
    contenders = projections(*arguments, **options)
    return Case(_data.regression, shapes, contenders, distance_error, apply="transform@X", slack=0.1)


def squares(small, medium, large):
    return {name: {"n": n} for name, n in (("small", small), ("medium", medium), ("large", large))}


def eigen_case(generate, shapes, **contenders):
    return Case(generate, shapes, contenders, largest_residual, apply=None, slack=1e3)  # all at the level of rounding


DENSE = {"numpy": lapack("numpy.linalg"), "scipy": lapack("scipy.linalg")}
CASES = {
    "pca_tall": Case(
        _data.regression,
        sizes((2000, 30), (50_000, 200), (200_000, 200)),
        pca("randomized", "full"),
        kept_share,
        lower_is_better=False,
        apply="transform",
    ),
    "pca_square": Case(
        _data.regression,
        sizes((500, 500), (2000, 2000), (5000, 5000)),
        pca("arpack", "randomized", "covariance_eigh"),
        kept_share,
        lower_is_better=False,
        apply="transform",
    ),
    "kernel_pca": Case(
        tabular,
        sizes((500, 10), (2000, 20), (5000, 20)),
        kernel_pca("randomized", "arpack", "dense"),
        eigenvalue_sum,
        lower_is_better=False,
        apply="transform",
    ),
    "random_projection": projection_case("SparseRandomProjection", "sklearn", "sklearn-sparse", dense_output=True),
    "random_projection_gaussian": projection_case("GaussianRandomProjection", "sklearn"),
    "random_projection_kane_nelson": projection_case("KaneNelsonRandomProjection", "sklearn-sparse"),
    "eigen_householder_ql": eigen_case(symmetric, squares(50, 300, 1000), hyperplan=ours("householder-ql"), **DENSE),
    "eigen_jacobi": eigen_case(symmetric, squares(50, 100, 300), hyperplan=ours("jacobi"), **DENSE),
    "eigen_lanczos": eigen_case(
        grid, squares(900, 10_000, 40_000), hyperplan=ours("lanczos", COMPONENTS), scipy=arpack
    ),
}
