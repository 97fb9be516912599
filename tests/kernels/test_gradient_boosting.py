"""Gradient boosting between two trees, and walks through many trees, against NumPy and against the trees themselves."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from hyperplan.ensemble import _gradient_boosting_kernels as k
from hyperplan.ensemble._gradient_boosting_losses import boosting_loss
from hyperplan.ensemble._gradient_boosting_walk import SHALLOW, CompleteTrees, PackedTrees, pack, walk
from hyperplan.tree import DecisionTreeRegressor

LOSSES = {
    "squared_error": (1, lambda y, f: 0.5 * (y - f) ** 2),
    "absolute_error": (1, lambda y, f: np.abs(y - f)),
    "quantile": (1, lambda y, f: np.maximum(0.8 * (y - f), (0.8 - 1) * (y - f))),
    "huber": (1, lambda y, f: np.where(np.abs(y - f) <= 0.5, (y - f) ** 2 / 2, 0.5 * (np.abs(y - f) - 0.25))),
    "log_loss": (2, lambda y, f: np.logaddexp(0, f) - y * f),
    "exponential": (2, lambda y, f: np.exp(-(2 * y - 1) * f)),
}
SIZES = [1, 2, 9, 50]


def problem(name, n):
    rng = np.random.default_rng(n)
    y = rng.normal(size=n) if LOSSES[name][0] == 1 else rng.integers(0, 2, n).astype(float)
    return y, rng.normal(scale=2.0, size=(1, n)), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("n", SIZES)
def test_residuals_are_minus_slopes_and_means_are_weighted(name, n):
    classes, value = LOSSES[name]
    y, raw, weight = problem(name, n)
    loss, h = boosting_loss(name, classes, alpha=0.8), 1e-6
    slope = (value(y, raw[0] + h) - value(y, raw[0] - h)) / (2 * h)
    np.testing.assert_allclose(loss.residuals(y, raw)[0], -slope, rtol=1e-6, atol=1e-8)  # central differences
    inside = (np.arange(n) % 2).astype(np.uint8)
    outer, inner = loss.mean(y, raw, weight, inside)
    for found, rows in ((outer, inside == 0), (inner, inside == 1)):
        if weight[rows].sum() > 0:
            expected = loss.reported * np.average(value(y, raw[0])[rows], weights=weight[rows])
            assert found == pytest.approx(expected, rel=1e-12)
        else:
            assert np.isnan(found)


@pytest.mark.parametrize("n", SIZES)
def test_residuals_and_loss_of_several_classes(n):
    rng = np.random.default_rng(n)
    y, raw = rng.integers(0, 3, n).astype(float), rng.normal(scale=5.0, size=(3, n))
    raw[:, 0] += 1000.0  # exponentials would overflow
    loss = boosting_loss("log_loss", 3)
    shares = np.exp(raw - raw.max(axis=0))
    shares /= shares.sum(axis=0)
    truth = (np.arange(3)[:, None] == y).astype(float)
    np.testing.assert_allclose(loss.residuals(y, raw), truth - shares, atol=1e-12)
    expected = -np.log((shares * truth).sum(axis=0)).mean()
    assert loss.mean(y, raw, np.ones(n))[1] == pytest.approx(expected, rel=1e-9)


def leaf_values(loss, leaves, left, column, y, raw, weight, mask):
    """Values of a pretended tree's nodes after `set_leaves`."""
    nodes = SimpleNamespace(value=np.full((left.size, 1), 7.0), children_left=left)
    residual = loss.residuals(y, raw)[column]
    loss.set_leaves(nodes, leaves, column, y, raw[column], residual, weight, mask)
    return nodes.value[:, 0]


LEFT = np.array([1, -1, 3, -1, -1, -1])  # nodes 1, 3, 4, 5 are leaves; nobody comes to node 5


@pytest.mark.parametrize("name", ["log_loss", "exponential", "three classes"])
@pytest.mark.parametrize("n", SIZES)
def test_newton_steps_of_leaves(name, n):
    rng = np.random.default_rng(n)
    several = name == "three classes"
    K, column = (3, 1) if several else (2, 0)
    y, raw = rng.integers(0, K, n).astype(float), rng.normal(size=(K if several else 1, n))
    weight, mask = rng.random(n) + 0.1, (rng.random(n) < 0.8).astype(np.uint8)
    leaves = np.array([1, 3, 4])[rng.integers(0, 3, n)]
    loss = boosting_loss("log_loss" if several else name, K)
    found = leaf_values(loss, leaves, LEFT, column, y, raw, weight, mask)
    residual = loss.residuals(y, raw)[column]
    p = (y == column if several else y) - residual
    curvature = np.abs(residual) if name == "exponential" else p * (1 - p)
    for leaf in (1, 3, 4):
        rows = (leaves == leaf) & (mask == 1)
        step = (weight * residual)[rows].sum() / (weight * curvature)[rows].sum() if rows.any() else 0.0
        assert found[leaf] == pytest.approx(step * (2 / 3 if several else 1), rel=1e-10)
    assert found[[0, 2]].tolist() == [7.0, 7.0] and found[5] == 0.0  # inner nodes as they were, empty leaves at zero


@pytest.mark.parametrize("name", ["absolute_error", "quantile", "huber"])
@pytest.mark.parametrize("n", SIZES)
def test_quantiles_of_leaves(name, n):
    rng = np.random.default_rng(n)
    y, raw, weight = rng.normal(size=n).round(1), rng.normal(size=(1, n)).round(1), rng.integers(0, 3, n) + 0.0
    leaves, mask = np.array([1, 3, 4])[rng.integers(0, 3, n)], np.ones(n, dtype=np.uint8)
    loss = boosting_loss(name, alpha=0.8).widened(y, raw, weight)
    found = leaf_values(loss, leaves, LEFT, 0, y, raw, weight, mask)
    level = 0.8 if name == "quantile" else 0.5
    for leaf in (1, 3, 4):
        gap, w = (y - raw[0])[leaves == leaf], weight[leaves == leaf]
        if w.sum() == 0:
            continue
        order = np.argsort(gap)
        least = gap[order][np.flatnonzero(np.cumsum(w[order]) >= level * w.sum() - 1e-12)[0]]
        rest = np.average(np.clip(gap - least, -loss.delta, loss.delta), weights=w) if name == "huber" else 0.0
        assert found[leaf] == pytest.approx(least + rest, abs=1e-12)


@pytest.mark.parametrize("n, n_bag", [(1, 0), (1, 1), (10, 3), (10, 10), (57, 28)])
def test_exactly_so_many_rows_are_drawn(n, n_bag):
    mask = np.full(n, 9, dtype=np.uint8)
    k.in_bag(np.random.default_rng(n).random(n), n_bag, mask)
    assert mask.sum() == n_bag and set(mask) <= {0, 1}


def test_every_row_is_drawn_as_often():
    uniform, count, mask = np.random.default_rng(0).random((4000, 6)), np.zeros(6), np.empty(6, dtype=np.uint8)
    for row in uniform:
        k.in_bag(row, 2, mask)
        count += mask
    np.testing.assert_allclose(count / 4000, 1 / 3, atol=0.04)  # five standard errors of a share of a third


@functools.cache
def three_trees(depth):
    """Trees of that depth on a table, and the table."""
    rng = np.random.default_rng(depth)
    X, y = rng.normal(size=(100, 3)).round(1), rng.normal(size=100)
    options = {"max_depth": depth, "random_state": 0} if depth else {"min_samples_split": 1000}
    return [DecisionTreeRegressor(**options).fit(X, y * t).tree_ for t in (1, 2, 3)], X


@pytest.mark.parametrize("depth", [0, 1, 3, SHALLOW, SHALLOW + 2])
@pytest.mark.parametrize("n", [1, 3, 4, 5, k.BLOCK + 3])
def test_rows_end_where_the_trees_say(depth, n):
    trees, X = three_trees(depth)
    assert max(tree.max_depth for tree in trees) == depth
    columns = [np.full(tree.node_count, t % 2) for t, tree in enumerate(trees)]
    packed = pack(trees, columns, [tree.value[:, 0, 0] for tree in trees])
    assert isinstance(packed, CompleteTrees if depth <= SHALLOW else PackedTrees)
    rows = X[np.arange(n) % 100].astype(np.float32)
    for first, last in ((0, 3), (1, 2)):
        raw = walk(packed, rows, np.zeros((n, 2)), first, last)
        expected = np.zeros((n, 2))
        for t in range(first, last):
            expected[:, t % 2] += trees[t].predict(rows)[:, 0]
        np.testing.assert_allclose(raw, expected, rtol=1e-14, atol=1e-14)


def test_leaf_values_are_added_to_a_span():
    raw = np.zeros(6)
    k.add_leaf_values(np.array([0, 1, 2, 0, 1, 2]), np.array([1.0, 10.0, 100.0]), 0.5, 1, 5, raw)
    assert raw.tolist() == [0.0, 5.0, 50.0, 0.5, 5.0, 0.0]
