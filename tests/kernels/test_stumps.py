"""Stumps on presorted columns against the general trees (same nodes, bit by bit) and against a naive search."""

import numpy as np
import pytest

from hyperplan._core.parallel import thread_limit
from hyperplan._trees.criteria import class_targets, real_targets
from hyperplan._trees.exact import grow
from hyperplan._trees.stumps import ONE_SPLIT, Stumps


def problem(n, d, K, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[:, 0] = np.round(X[:, 0])  # ties
    weight = rng.exponential(size=n) + 0.01
    y = rng.integers(0, K, size=(n, 1)) if K else rng.normal(size=(n, 1))
    targets = class_targets(y, [K], weight=weight) if K else real_targets(y, weight=weight)
    return X, y[:, 0], weight, targets


@pytest.mark.parametrize("K", [0, 2, 3])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (3, 2), (60, 3), (61, 5), (200, 4)])
def test_same_nodes_as_the_general_trees(n, d, K):
    for seed in range(5):
        X, _, _, targets = problem(n, d, K, seed)
        stumps = Stumps(X)
        found, is_left = stumps.grow(targets, seed=seed)
        expected = grow(stumps.presorted, targets, ONE_SPLIT, seed=seed)
        for name, a, b in zip(found._fields, found, expected):
            assert np.array_equal(a, b), name
        if found.feature[0] >= 0:
            assert np.array_equal(is_left, X[:, found.feature[0]] <= found.threshold[0])
        else:
            assert is_left.all()


def impurity(y, weight, K):
    """Total weight times Gini impurity, or weighted squared error around the mean."""
    if K == 0:
        return weight @ (y - weight @ y / weight.sum()) ** 2
    shares = np.bincount(y, weights=weight, minlength=K) / weight.sum()
    return weight.sum() * (1.0 - (shares**2).sum())


@pytest.mark.parametrize("K", [0, 2, 4])
def test_no_threshold_is_better(K):
    X, y, weight, targets = problem(40, 3, K, seed=7)
    _, is_left = Stumps(X).grow(targets)

    def remaining(left):
        return impurity(y[left], weight[left], K) + impurity(y[~left], weight[~left], K)

    best = min(remaining(X[:, j] <= s) for j in range(3) for s in np.unique(X[:, j])[:-1])
    # both are sums of 40 terms in double precision
    assert remaining(is_left.astype(bool)) == pytest.approx(best, rel=1e-12)


def test_constant_columns_and_pure_targets_give_a_leaf():
    weight = np.array([1.0, 2.0, 3.0])
    constant = Stumps(np.ones((3, 2), dtype=np.float32))
    nodes, is_left = constant.grow(class_targets([[0], [1], [1]], [2], weight=weight))
    assert nodes.feature.tolist() == [-2] and is_left.all()
    assert nodes.value[0] == pytest.approx([1 / 6, 5 / 6])
    varied = Stumps(np.arange(3, dtype=np.float32)[:, None])
    assert varied.grow(class_targets([[1], [1], [1]], [2], weight=weight))[0].feature.tolist() == [-2]


def test_rows_of_weight_zero_are_left_out():
    X, y, weight, _ = problem(50, 3, 2, seed=3)
    weight[::3] = 0.0
    found, is_left = Stumps(X).grow(class_targets(y[:, None], [2], weight=weight))
    kept = weight > 0
    alone, _ = Stumps(X[kept]).grow(class_targets(y[kept][:, None], [2], weight=weight[kept]))
    assert found.threshold[0] == alone.threshold[0] and found.feature[0] == alone.feature[0]
    assert np.array_equal(is_left, X[:, found.feature[0]] <= found.threshold[0])


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr("hyperplan._trees.stumps.ENTRIES_PER_TASK", 64)
    X, _, _, targets = problem(120, 7, 2, seed=1)
    found = []
    for n_jobs in (1, 2, 4):
        with thread_limit(n_jobs):
            found.append(Stumps(X).grow(targets, seed=4))
    for nodes, is_left in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(nodes, found[0][0]))
        assert np.array_equal(is_left, found[0][1])
