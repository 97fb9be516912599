"""Worked numbers and errata about trees: impurities, gains, what a regression tree can and cannot do."""

import math

import numpy as np
import pytest

from hyperplan._trees._criterion_kernels import HEAD, IMPURITY, WEIGHT, impurity, split_entropy, split_score
from hyperplan._trees.criteria import CLASSIFICATION, class_targets
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor


def node(counts, criterion, weight=None):
    """The vector of a two-class node, and its targets."""
    targets = class_targets(np.zeros((1, 1), dtype=int), [2], criterion=criterion, weight=weight)
    tot = np.zeros(targets.width)
    tot[WEIGHT], tot[HEAD:] = sum(counts), counts
    tot[IMPURITY] = impurity(CLASSIFICATION[criterion], tot, targets)
    return tot, targets


def gain(left, right, criterion):
    """Weighted decrease of the impurity for the split of ``left + right``."""
    parent = node(np.add(left, right), criterion)[0]
    a, b = node(left, criterion)[0], node(right, criterion)[0]
    n = parent[WEIGHT]
    return parent[IMPURITY] - a[WEIGHT] / n * a[IMPURITY] - b[WEIGHT] / n * b[IMPURITY]


def score(left, right, criterion):
    """What the search compares."""
    parent, targets = node(np.add(left, right), criterion)
    children = node(left, criterion)[0], node(right, criterion)[0]
    return split_score(CLASSIFICATION[criterion], *children, parent, targets)


A, B = ((300.0, 100.0), (100.0, 300.0)), ((200.0, 400.0), (200.0, 0.0))


@pytest.mark.parametrize("p, gini, bits", [(0.5, 0.5, 1.0), (0.25, 0.375, 0.811278), (0.1, 0.18, 0.468996)])
def test_t14_impurities(p, gini, bits):
    assert node((p, 1 - p), "gini")[0][IMPURITY] == pytest.approx(gini, abs=1e-12)
    assert node((p, 1 - p), "entropy")[0][IMPURITY] == pytest.approx(bits, abs=5e-7)


def test_t15_two_splits_of_one_node():
    # the worked numbers have six digits
    assert gain(*A, "misclassification") == gain(*B, "misclassification") == 0.25
    assert gain(*A, "gini") == pytest.approx(0.125) and gain(*B, "gini") == pytest.approx(1 / 6)
    assert score(*A, "gain_ratio") == pytest.approx(0.188722, abs=5e-7)
    assert score(*B, "gain_ratio") == pytest.approx(0.311278, abs=5e-7)
    ratios = [score(*split, "gain_ratio") / split_entropy(sum(split[0]), sum(split[1])) for split in (A, B)]
    assert ratios == pytest.approx([0.188722, 0.383689], abs=5e-7)
    distances = [1.0 - score(*split, "mantaras") for split in (A, B)]
    assert distances == pytest.approx([0.895807, 0.792481], abs=5e-7)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "mantaras"])
def test_t15_every_criterion_but_misclassification_prefers_the_pure_leaf(criterion):
    """Split A is feature 0, split B is feature 1."""
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 0], [0, 0]], [200, 100, 100, 300, 100], axis=0).astype(float)
    y = np.repeat([0, 0, 0, 1, 1], [200, 100, 100, 300, 100])
    X[:200, 1] = 1.0  # the 200 rows of B's pure leaf are of class 0
    X[200:300, 1] = 0.0
    assert [((X[:, 0] == 0) & (y == 0)).sum(), ((X[:, 1] == 1) & (y == 0)).sum(), (X[:, 1] == 1).sum()] == [
        300,
        200,
        200,
    ]
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
    assert model.tree_.feature[0] == 1


def test_t16_gain_is_weighted_by_observations():
    assert gain((4.0, 0.0), (1.0, 5.0), "gini") == pytest.approx(1 / 3)
    X, y = np.repeat([[0.0], [1.0]], [4, 6], axis=0), [1] * 5 + [0] * 5
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    assert tree.compute_feature_importances(normalize=False)[0] == pytest.approx(1 / 3)


def test_e17_class_shares_as_weights_would_be_wrong():
    wrong = 0.5 - 0.8 * 0.0 - 0.2 * (1 - (1 / 6) ** 2 - (5 / 6) ** 2)
    assert wrong == pytest.approx(0.4444, abs=5e-5) and wrong != pytest.approx(gain((4.0, 0.0), (1.0, 5.0), "gini"))


def test_t17_a_tree_cannot_extrapolate():
    x = np.linspace(0, 10, 20_001)
    y = x + 0.5 * np.cos(x)
    slope, intercept = np.polyfit(x, y, 1)
    # the printed coefficients are integrals over [0, 10]; a grid of step 5e-4 is within 1e-4 of them
    assert (slope, intercept) == (pytest.approx(0.972548, abs=1e-4), pytest.approx(0.110092, abs=5e-4))
    assert 12 * slope + intercept == pytest.approx(11.7807, abs=1e-3)
    assert 12 + 0.5 * math.cos(12) == pytest.approx(12.4219, abs=5e-5)
    model = DecisionTreeRegressor().fit(x[:, None], y)
    assert model.predict([[12.0]])[0] <= y.max() == pytest.approx(9.58046, abs=5e-6)
    assert model.predict([[12.0], [1e6]]).tolist() == [y[-1], y[-1]]


def test_e18_concave_impurities_never_lose():
    """With phi = min(p, 1 - p)^2 the split of p = .25 into 0 and .5 would lose .0625; ours cannot lose."""

    def phi(p):
        return min(p, 1 - p) ** 2

    assert phi(0.25) - 0.5 * phi(0.0) - 0.5 * phi(0.5) == -0.0625
    for criterion in ("gini", "entropy", "misclassification"):
        assert gain((2.0, 0.0), (1.0, 1.0), criterion) >= 0.0
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
        certificate = DecisionTreeClassifier(criterion=criterion).fit(X, y).certificate_
        assert certificate.holds
        parts = certificate.details
        assert parts["root"] == pytest.approx(parts["leaves"] + parts["decreases"], rel=1e-12)


def test_e19_depth_is_not_the_number_of_splits_and_predictions_are_piecewise_constant():
    x = np.linspace(0, 1, 64)[:, None]
    y = x[:, 0] ** 2
    tree = DecisionTreeRegressor(max_depth=3).fit(x, y).tree_
    assert tree.max_depth == 3 and (tree.feature >= 0).sum() == 7 and tree.n_leaves == 8
    fine = DecisionTreeRegressor(max_depth=3).fit(x, y).predict(np.linspace(0, 1, 5000)[:, None])
    assert np.unique(fine).shape[0] == 8


def test_c45_pays_for_thresholds_and_wants_average_gain():
    """A feature with many values and noise only: its best gain does not pay log2(N - 1) / n, so the root is a leaf."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 1)), np.arange(60) % 2
    assert DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(X, y).tree_.node_count == 3
    assert DecisionTreeClassifier(criterion="gain_ratio", max_depth=1).fit(X, y).tree_.node_count == 1
