"""Sums of kernels along a tree and over tiles against all pairs; what is lost stays within what is allowed."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._math import _kernel_sums_kernels as k
from hyperplan._math.distances import learn_metric
from hyperplan._math.kernel_sums import PROFILES, kernel_sums, make_summands, nearest_rows

NAIVE = {
    "gaussian": lambda s: np.exp(-0.5 * s),
    "tophat": lambda s: (s < 1).astype(float),
    "epanechnikov": lambda s: np.maximum(1 - s, 0),
    "exponential": lambda s: np.exp(-np.sqrt(s)),
    "linear": lambda s: np.maximum(1 - np.sqrt(s), 0),
    "cosine": lambda s: np.cos(0.5 * np.pi * np.sqrt(np.minimum(s, 1))),
}
SIZES = [1, 2, k.LEAF - 1, k.LEAF, k.LEAF + 1, 3 * k.LEAF + 7]


def table(n, d=2, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X, values = rng.normal(size=(n, d)), rng.normal(size=(n, m))
    values[:, 0] = rng.integers(0, 3, size=n)
    values[0, 0] = 1.0
    return X, values


def by_pairs(X, values, Q, kernel, bandwidth, own=None):
    table = NAIVE[kernel](((Q[:, None] - X[None]) ** 2).sum(-1) / bandwidth**2)
    if own is not None:
        inside = np.flatnonzero(own >= 0)
        table[inside, own[inside]] = 0.0
    return table @ values


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("n", SIZES)
def test_tree_sums_are_the_sums(kernel, n):
    """Each value is within a few units in the last place, and sums of n of them within n times that."""
    X, values = table(n)
    Q = np.random.default_rng(1).normal(size=(40, 2)) * 1.5
    for bandwidth in (0.3, 1.0, 10.0):
        found = kernel_sums(make_summands(X, values, learn_metric("euclidean", X)), Q, kernel, bandwidth)
        expected = by_pairs(X, values, Q, kernel, bandwidth)
        np.testing.assert_allclose(
            found.values * np.exp(found.shift)[:, None], expected, rtol=1e-11, atol=1e-12 * np.abs(values).sum()
        )


@pytest.mark.parametrize("kernel", PROFILES)
def test_tile_sums_are_the_sums(kernel):
    X, values = table(300, d=20)
    metric = learn_metric("euclidean", X)
    summands = make_summands(X, values, metric)
    assert summands.cells is None
    found = kernel_sums(summands, X[:50] + 0.1, kernel, 5.0).values
    np.testing.assert_allclose(found, by_pairs(X, values, X[:50] + 0.1, kernel, 5.0), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_own_row_is_left_out(d, kernel):
    X, values = table(200, d=d)
    own = np.arange(60)
    own[5] = -1
    bandwidth = 0.5 * np.sqrt(d)
    found = kernel_sums(make_summands(X, values, learn_metric("euclidean", X)), X[:60], kernel, bandwidth, own=own)
    expected = by_pairs(X, values, X[:60], kernel, bandwidth, own)
    np.testing.assert_allclose(found.values * np.exp(found.shift)[:, None], expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 2e-5, 1e-8])
def test_relative_error_is_kept(rtol):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 3))
    values = np.ones((5000, 1))
    summands = make_summands(X, values, learn_metric("euclidean", X))
    Q = rng.normal(size=(100, 3)) * 2
    exact = by_pairs(X, values, Q, "gaussian", 0.4)
    found = kernel_sums(summands, Q, "gaussian", 0.4, rtol=rtol).values
    assert (np.abs(found - exact) <= rtol * exact + 1e-12 * exact).all()
    assert rtol < 1e-4 or not np.array_equal(found, kernel_sums(summands, Q, "gaussian", 0.4).values)


def test_absolute_error_is_kept():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 2))
    summands = make_summands(X, np.ones((3000, 1)), learn_metric("euclidean", X))
    exact = by_pairs(X, np.ones((3000, 1)), X[:100], "exponential", 0.7)
    found = kernel_sums(summands, X[:100], "exponential", 0.7, atol=1e-3).values
    assert (np.abs(found - exact) <= 1e-3 * 3000).all()


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("d", [1, 15])
def test_far_from_all_rows_sums_are_relative_to_the_nearest(kernel, d):
    X = np.zeros((3, d))
    X[1, 0], X[2, 0] = 1.0, 5.0
    Q = np.zeros((1, d))
    Q[0, 0] = 2000.0
    found = kernel_sums(make_summands(X, np.ones((3, 1)), learn_metric("euclidean", X)), Q, kernel, 1.0)
    gaps = np.array([2000.0, 1999.0, 1995.0])
    logs = -0.5 * gaps**2 if kernel == "gaussian" else -gaps
    expected = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    np.testing.assert_allclose(np.log(found.values[0, 0]) + found.shift[0], expected, rtol=1e-12)


def test_threads_and_companions_change_no_bit():
    X, values = table(2000, d=3)
    summands = make_summands(X, values, learn_metric("euclidean", X))
    Q = np.random.default_rng(0).normal(size=(1500, 3))
    whole = kernel_sums(summands, Q, "gaussian", 0.3, rtol=1e-3, n_jobs=1).values
    with thread_limit(3):
        assert kernel_sums(summands, Q, "gaussian", 0.3, rtol=1e-3).values.tobytes() == whole.tobytes()
    for i in (0, 700, 1499):
        alone = kernel_sums(summands, Q[i : i + 1], "gaussian", 0.3, rtol=1e-3).values
        assert alone.tobytes() == whole[i : i + 1].tobytes()


def test_nearest_row_of_positive_weight():
    X, values = table(600, d=2)
    Q = np.random.default_rng(2).normal(size=(300, 2))
    gaps = ((Q[:, None] - X[None]) ** 2).sum(-1)
    gaps[:, values[:, 0] == 0] = np.inf
    found = nearest_rows(make_summands(X, values, learn_metric("euclidean", X)), Q)
    np.testing.assert_array_equal(found, gaps.argmin(axis=1))
