"""Worked numbers of splits: T14 to T17, and the errata about their weights."""

import numpy as np
import pytest

from hyperplan._trees.multiway import predicted_errors, split_measures
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor, MultiwayTreeClassifier

A = np.array([[300.0, 100.0], [100.0, 300.0]])
B = np.array([[200.0, 400.0], [200.0, 0.0]])


def rows_of(tables):
    """One column of branch numbers per table (all with the same class totals), and the classes."""
    columns = []
    for table in tables:
        counts = np.asarray(table, dtype=int)
        columns.append(np.concatenate([np.repeat(np.arange(len(counts)), counts[:, k]) for k in range(2)]))
    y = np.repeat([0, 1], np.asarray(tables[0], dtype=int).sum(axis=0))
    return np.column_stack(columns).astype(float), y


@pytest.mark.parametrize(
    ("table", "gain", "ratio", "distance"), [(A, 0.188722, 0.188722, 0.895807), (B, 0.311278, 0.383689, 0.792481)]
)
def test_T15_information_gain_ratio_and_distance(table, gain, ratio, distance):
    found = split_measures(table)
    # the worked numbers have six digits
    assert found["gain"] == pytest.approx(gain, abs=5e-7)
    assert found["gain_ratio"] == pytest.approx(ratio, abs=5e-7)
    assert found["mantaras"] == pytest.approx(distance, abs=5e-7)


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "mantaras"])
def test_T15_all_three_prefer_B(criterion):
    X, y = rows_of([A, B])
    model = MultiwayTreeClassifier(criterion=criterion, categorical_features=[0, 1], max_depth=1).fit(X, y)
    assert model.tree_.feature[0] == 1
    assert model.certificate_.details["root"] == pytest.approx(1.0, abs=1e-12)  # one bit: 400 against 400


@pytest.mark.parametrize(("criterion", "gains"), [("gini", (0.125, 1 / 6)), ("misclassification", (0.25, 0.25))])
def test_T15_gini_and_misclassification(criterion, gains):
    for table, gain in zip((A, B), gains):
        X, y = rows_of([table])
        nodes = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_.nodes
        share = nodes.weighted_n_node_samples[1:] / nodes.weighted_n_node_samples[0]
        assert nodes.impurity[0] - share @ nodes.impurity[1:] == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize(("p", "gini", "bits"), [(0.5, 0.5, 1.0), (0.25, 0.375, 0.811278), (0.1, 0.18, 0.468996)])
def test_T14_impurities(p, gini, bits):
    y = np.repeat([0, 1], [round(100 * (1 - p)), round(100 * p)])
    X = np.zeros((100, 1))
    assert DecisionTreeClassifier().fit(X, y).tree_.impurity[0] == pytest.approx(gini, abs=1e-12)
    assert DecisionTreeClassifier(criterion="entropy").fit(X, y).tree_.impurity[0] == pytest.approx(bits, abs=5e-7)
    assert MultiwayTreeClassifier().fit(X, y).certificate_.details["root"] == pytest.approx(bits, abs=5e-7)


def test_T16_E17_weights_are_shares_of_all_rows():
    """4 of 10 rows to the left, all positive; (1, 5) to the right: 1/3, not 0.4444."""
    X = np.array([0.0] * 4 + [1.0] * 6)[:, None]
    y = np.array([1] * 5 + [0] * 5)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    assert tree.compute_feature_importances(normalize=False)[0] == pytest.approx(1 / 3, abs=1e-12)


def test_T17_a_tree_does_not_extrapolate():
    x = np.linspace(0.0, 10.0, 5001)
    y = x + 0.5 * np.cos(x)
    model = DecisionTreeRegressor().fit(x[:, None], y)
    # the largest target of the grid is the last one
    assert model.predict([[12.0]])[0] == pytest.approx(10 + 0.5 * np.cos(10), abs=1e-12)
    assert model.predict([[12.0]])[0] == pytest.approx(9.58046, abs=5e-6)


def test_C45_predicted_errors_of_the_textbook():
    """Quinlan (1993), section 4.2: three leaves of 6, 9 and 1 rows without errors, against one leaf with 1 of 16."""
    leaves = predicted_errors(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25)
    # the book rounds each rate to three digits before it adds
    np.testing.assert_allclose(leaves / [6, 9, 1], [0.206, 0.143, 0.750], atol=5e-4)
    assert leaves.sum() == pytest.approx(3.273, abs=0.01)
    # the book interpolates to 0.157 where the binomial limit is 0.1596; the decision is the same: the subtree goes
    rate = predicted_errors(1.0, 16.0, 0.25) / 16
    assert rate == pytest.approx(0.157, abs=0.003)
    assert (1 - rate) ** 16 + 16 * rate * (1 - rate) ** 15 == pytest.approx(0.25, abs=1e-12)
    assert 16 * rate < leaves.sum()
