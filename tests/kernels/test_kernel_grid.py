"""Gaussian sums by way of a grid: the bound holds, and what is not good enough is computed otherwise."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._math import _kernel_grid_kernels as k
from hyperplan._math import kernel_grid
from hyperplan._math.distances import learn_metric
from hyperplan._math.kernel_grid import DESIGNS, denominators, error_constants, grid_sums, plan_grid
from hyperplan._math.kernel_sums import kernel_sums, make_summands


def clouds(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 2, size=(n, 1))
    return X, np.column_stack([rng.integers(0, 3, size=n).astype(float), rng.normal(size=n)])


def by_pairs(X, values, Q, bandwidth):
    squares = ((Q[:, None] - X[None]) ** 2).sum(-1) / bandwidth**2
    return np.exp(-0.5 * squares) @ values


@pytest.mark.parametrize("width", [2, 6, 8, 16])
def test_weights_keep_polynomials(width):
    """A polynomial of a degree below the number of nodes is met exactly; weights of 16 nodes have 14 digits."""
    nodes = np.arange(1 - width // 2, width // 2 + 1)
    weights = np.empty(width)
    for x in (0.0, 0.25, 0.9):
        k.lagrange_weights(x, denominators(width), weights)
        for degree in range(width):
            size = np.abs(weights) @ np.abs(nodes.astype(float)) ** degree
            assert weights @ nodes.astype(float) ** degree == pytest.approx(x**degree, abs=1e-13 * max(size, 1.0))


def test_constants_fall_with_the_cost():
    near = [error_constants(*design)[0] for design in DESIGNS]
    assert near == sorted(near, reverse=True) and near[-1] < 1e-12


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("rtol", [1e-2, 1e-6, 0.0])
def test_the_bound_holds(d, rtol, monkeypatch):
    monkeypatch.setattr(kernel_grid, "PER_PAIR", 1e9)  # pairs never pay
    monkeypatch.setattr(kernel_grid, "FEWEST_PAIRS", 0.0)
    n, bandwidth = 60, 4.0 if d == 3 else 1.5
    X, values = clouds(n, d)
    Q = np.vstack([X[:20] + 0.1, X[:5] + 3.0])
    grid = plan_grid(X.T, len(Q), 2, bandwidth, rtol)
    if grid is None:
        assert d == 3 and rtol == 0.0  # too many nodes for twelve digits
        return
    found, bound, inside = grid_sums(grid, X.T.copy(), values.T.copy(), Q, bandwidth)
    expected = by_pairs(X, values, Q[inside], bandwidth)
    rounding = 1e-14 * values[:, 0].sum()
    assert (np.abs(found[:, 0] - expected[:, 0]) <= bound + rounding).all() and (bound < 1e-2 * expected[:, 0]).any()
    ratio = 3.0 * np.abs(values[:, 1]).max()
    assert (np.abs(found[:, 1] - expected[:, 1]) <= ratio * bound + 1e-3 * rtol + rounding * 10).all()


@pytest.mark.parametrize("rtol", [1e-3, 0.0])
def test_sums_by_a_grid_are_within_what_is_allowed(rtol, monkeypatch):
    monkeypatch.setattr(kernel_grid, "PER_PAIR", 1e9)
    monkeypatch.setattr(kernel_grid, "FEWEST_PAIRS", 0.0)
    X, values = clouds(80, 2)
    own = np.where(np.arange(80) < 40, np.arange(80), -1)
    Q = X.copy()
    Q[60:] += 30.0  # outside of the grid
    summands = make_summands(X, values, learn_metric("euclidean", X))
    found = kernel_sums(summands, Q, "gaussian", 1.2, rtol=rtol, own=own)
    expected = by_pairs(X, values, Q, 1.2)
    expected[:40] -= values[:40]
    found = found.values * np.exp(found.shift)[:, None]
    assert (np.abs(found[:, 0] - expected[:, 0]) <= max(rtol, 2e-12) * expected[:, 0]).all()


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(kernel_grid, "PER_PAIR", 1e9)
    monkeypatch.setattr(kernel_grid, "QUERIES", 7)
    monkeypatch.setattr(kernel_grid, "FEWEST_PAIRS", 0.0)
    X, values = clouds(70, 2)
    summands = make_summands(X, values, learn_metric("euclidean", X))
    whole = kernel_sums(summands, X, "gaussian", 1.0, rtol=1e-4, n_jobs=1).values
    for threads in (2, 3):
        with thread_limit(threads):
            assert kernel_sums(summands, X, "gaussian", 1.0, rtol=1e-4).values.tobytes() == whole.tobytes()


def test_pairs_are_looked_at_when_there_are_few_or_many_columns():
    X = np.random.default_rng(0).normal(size=(2000, 4))
    assert plan_grid(X[:, :2].T, 100, 1, 0.3, 1e-4) is None
    assert plan_grid(X.T, 10_000, 1, 0.3, 1e-4) is None
    assert plan_grid(X[:, :2].T, 10_000, 1, 1e-3, 1e-4) is None  # too many nodes
    assert plan_grid(X[:, :2].T, 10_000, 1, 0.3, 1e-4) is not None
