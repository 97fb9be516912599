"""Trees are the same to the bit whether nodes keep histograms or not, and for any number of threads."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._trees import _boosting_scan_kernels as scan
from hyperplan._trees import boosting_grower
from hyperplan._trees.binning import bin_rows, fit_bins
from hyperplan._trees.boosting_grower import Grower
from hyperplan._trees.histogram import UNLIMITED, Constraints, GrowthOptions


def mixed(n, seed=0):
    """Numbers (some missing, some equal to one another), indicators of one variable, a category; derivatives."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 6))
    numbers[rng.random(n) < 0.1, 1] = np.nan
    numbers[:, 3] = np.round(numbers[:, 3])
    numbers[:, 5] = numbers[:, 0]
    code = rng.integers(0, 9, n)
    X = np.column_stack([numbers, code[:, None] == np.arange(9), rng.integers(0, 12, n)]).astype(float)
    gradient = np.nan_to_num(numbers[:, 0] * numbers[:, 1]) + np.sin(X[:, -1]) + (code == 3) + rng.normal(size=n)
    return X, gradient.astype(np.float32), rng.uniform(0.05, 1, n).astype(np.float32)


def grown(X, gradient, hessian, monotone=None, categories=True, **options):
    d = X.shape[1]
    counts = [*[None] * (d - 1), 12] if categories else None
    data = bin_rows(X, fit_bins(X, 255, categories=counts))
    constraints = Constraints(np.zeros(d, np.int8), np.zeros((0, d), np.uint8))
    if monotone is not None:
        constraints.monotone[monotone] = 1
    constant = hessian is None
    hessian = np.empty(0, np.float32) if constant else hessian
    grower = Grower(data, GrowthOptions(**options), constraints, constant)
    leaves = grower.grow(gradient, hessian, (np.abs(gradient).sum(dtype=float), hessian.sum(dtype=float)))
    return grower.tree(leaves, grower.newton_values(leaves))


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a._fields)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_samples_leaf": 1, "max_leaves": 200},
        {"min_samples_leaf": 2, "max_leaves": UNLIMITED},
        {"growth": "level", "l2": 0.3},
        {"monotone": 0},
        {"max_conflict_rate": None, "max_features": 0.5},
        {"min_hessian": 0.0, "min_samples_leaf": 1, "leaf_cost": 0.4},
    ],
    ids=str,
)
@pytest.mark.parametrize("constant", [True, False])
def test_histograms_kept_or_not_give_the_same_tree(options, constant, monkeypatch):
    X, gradient, hessian = mixed(1500)
    trees = []
    for limit in (0, 7, 300, 5000):
        monkeypatch.setattr(boosting_grower, "direct_rows", lambda bundles, limit=limit: limit)
        trees.append(grown(X, gradient, None if constant else hessian, **options))
    assert trees[0].n_leaves > 5 and all(same(trees[0], tree) for tree in trees[1:])


def test_penalties_beyond_single_precision():
    X, gradient, _ = mixed(800)
    g, best = gradient.astype(float), (-1.0, -1, -1)
    data = bin_rows(X[:, :1], fit_bins(X[:, :1], 255))
    for b in range(data.n_bins[0] - 1):
        left = data.column(0) <= b
        if min(left.sum(), (~left).sum()) >= 20:
            best = max(best, (g[left].sum() ** 2 + g[~left].sum() ** 2, 0, b))  # what counts when l2 exceeds all counts
    tree = grown(X[:, :1], gradient, None, categories=False, l2=1e15, max_leaves=2)
    assert tree.n_leaves == 2 and (tree.feature[0], tree.bin[0]) == best[1:]


@pytest.mark.parametrize("n, d", [(800, 600), (4000, 300)])
def test_threads_do_not_change_a_bit_of_wide_trees(n, d):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    gradient = (X[:, 0] * X[:, 1] + rng.normal(size=n)).astype(np.float32)
    hessian = rng.uniform(0.5, 1, n).astype(np.float32)
    trees = []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            trees.append(grown(X, gradient, hessian, categories=False))
    assert trees[0].n_leaves > 20 and same(trees[0], trees[1]) and same(trees[0], trees[2])


@pytest.mark.parametrize("copies", [3, 2 * scan.TRIES + 5])
def test_the_first_of_equal_columns_wins(copies):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(400, 2)), copies, axis=1)
    gradient = (X[:, 0] + X[:, -1] ** 2 + rng.normal(size=400)).astype(np.float32)
    hessian = rng.uniform(0.5, 1, 400).astype(np.float32)
    tree = grown(X, gradient, hessian, categories=False, min_samples_leaf=15)
    one = grown(X[:, [0, -1]], gradient, hessian, categories=False, min_samples_leaf=15)
    assert set(tree.feature[tree.left >= 0]) == {0, copies}
    assert (tree.bin == one.bin).all() and (tree.value == one.value).all()
