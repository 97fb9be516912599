"""Experiments and advice of the tree chapter: X2, X3, X11, J6, J7, J9, J13, K5, K7, K16, exercise 4.1, E58 and E69."""

import math

import numpy as np
import pytest

from hyperplan.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from hyperplan.linear_model import LinearRegression
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor


def wave(n, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + noise * rng.normal(size=n)


def spheres(n, seed):
    """Nested spheres in ten dimensions: +1 outside the median of chi squared."""
    X = np.random.default_rng(seed).normal(size=(n, 10))
    return X, np.where((X**2).sum(axis=1) > 9.34, 1, -1)


def squared_error(model, X, y):
    return float(((model.predict(X) - y) ** 2).mean())


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_I2_impurities_rise_from_pure_nodes_to_the_even_one(criterion):
    """Exercise 4.1: zero at 0 and 1, the largest at a half, symmetric, monotone on either side."""
    X = np.zeros((20, 1))
    found = [DecisionTreeClassifier(criterion=criterion).fit(X, np.arange(20) < k).tree_.impurity[0] for k in range(21)]
    assert found[0] == found[20] == 0.0 and max(found) == found[10]
    assert (np.diff(found[:11]) > 0).all()
    assert found == pytest.approx(found[::-1], abs=1e-15)  # the same sums in another order


def test_X2_a_line_extrapolates_and_trees_do_not():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, size=(500, 1))
    y = x[:, 0] + 0.5 * np.cos(x[:, 0]) + 0.1 * rng.normal(size=500)
    truth = 12 + 0.5 * math.cos(12)
    line = LinearRegression().fit(x, y).predict([[12.0]])[0]
    assert line == pytest.approx(11.7807, abs=0.15)  # five standard errors of the line at 12, its residuals being 0.35
    for model in (
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(20, random_state=0),
        GradientBoostingRegressor(random_state=0),
    ):
        answer = model.fit(x, y).predict([[12.0]])[0]
        # boosting adds leaves and may pass the largest target by a little, not by the slope
        assert answer <= y.max() + 0.2 and truth - answer > 3 * (truth - line)


def test_X3_ten_models_on_samples_of_thirty_average_to_the_truth():
    grid = np.linspace(0, 1, 200)[:, None]
    truth = np.sin(2 * np.pi * grid[:, 0])
    answers = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.random((30, 1))
        y = np.sin(2 * np.pi * x[:, 0]) + 0.4 * rng.normal(size=30)
        answers.append(DecisionTreeRegressor(random_state=0).fit(x, y).predict(grid))
    errors = ((np.array(answers) - truth) ** 2).mean(axis=1)
    averaged = ((np.mean(answers, axis=0) - truth) ** 2).mean()
    assert averaged < errors.min()  # better than the best of the ten, not only than their mean
    assert averaged < 0.25 * errors.mean()  # independent errors: a tenth of it, and the bias of small samples


def test_X11_bagging_and_boosting_beat_a_tree_on_nested_spheres():
    X, y = spheres(400, 0)
    X_test, y_test = spheres(4000, 1)
    models = (
        DecisionTreeClassifier(random_state=0),
        BaggingClassifier(n_estimators=100, random_state=0),
        AdaBoostClassifier(n_estimators=300, variant="discrete", random_state=0),
    )
    tree, bagged, boosted = (np.mean(model.fit(X, y).predict(X_test) != y_test) for model in models)
    # one standard error of an error on 4000 rows is below 0.008
    assert boosted < bagged - 0.02 and bagged < tree - 0.02


def test_J6_J7_J9_fewer_features_and_random_thresholds_make_members_less_alike():
    """The advice for unstable ensembles: fewer features per node, smaller samples, extra trees."""
    X, y = wave(500, 0)

    def rho(model):
        return model.fit(X, y).certificate_.details["rho"]

    plain = rho(RandomForestRegressor(60, random_state=0))
    assert rho(RandomForestRegressor(60, max_features=1, random_state=0)) < plain - 0.02
    assert rho(RandomForestRegressor(60, max_samples=0.3, random_state=0)) < plain - 0.02
    assert rho(ExtraTreesRegressor(60, bootstrap=True, random_state=0)) < plain - 0.02


def test_J9_depth_cures_underfitting_and_its_inverse_overfitting():
    X, y = wave(600, 0, noise=2.0)
    X_test, y_test = wave(4000, 1, noise=2.0)
    trees = {depth: DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y) for depth in (1, 4, None)}
    train = [squared_error(tree, X, y) for tree in trees.values()]
    test = [squared_error(tree, X_test, y_test) for tree in trees.values()]
    assert train[0] > train[1] > train[2] == 0.0  # deeper always fits the training rows better
    assert test[2] > 1.2 * min(test)  # and what is learned by heart does not carry over
    forests = [
        squared_error(RandomForestRegressor(40, max_depth=depth, random_state=0).fit(X, y), X_test, y_test)
        for depth in (1, 8)
    ]
    assert forests[1] < forests[0]


def test_J13_other_settings_on_the_same_rows_are_no_substitute_for_other_rows():
    X, y = wave(600, 0)
    X_test, y_test = wave(4000, 1)
    settings = [DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y) for depth in range(1, 21)]
    bagged = BaggingRegressor(n_estimators=20, random_state=0).fit(X, y)
    answers = np.array([tree.predict(X_test) for tree in settings])
    mixed = float(((answers.mean(axis=0) - y_test) ** 2).mean())
    assert squared_error(bagged, X_test, y_test) < 0.9 * mixed
    members = np.array([member.predict(X_test) for member in bagged.estimators_])

    def alike(answers):
        return np.corrcoef(answers)[np.triu_indices(len(answers), 1)].mean()

    # deep trees on the same rows are nearly the same tree: there is little variance to average away
    assert alike(answers[9:]) > alike(members) + 0.2


def test_E58_averaging_lowers_the_variance_at_equal_bias():
    grid = np.random.default_rng(9).normal(size=(100, 6))
    single, averaged = [], []
    for seed in range(60):
        X, y = wave(120, seed)
        members = BaggingRegressor(n_estimators=20, random_state=seed).fit(X, y)
        single.append(members.estimators_[0].predict(grid))
        averaged.append(members.predict(grid))
    single, averaged = np.array(single), np.array(averaged)
    assert averaged.var(axis=0).mean() < 0.6 * single.var(axis=0).mean()
    gap = averaged.mean(axis=0) - single.mean(axis=0)
    noise = single.var(axis=0, ddof=1) / 60
    # the same expectation at every point: squared differences are what 60 repetitions scatter by
    assert (gap**2).mean() < 1.5 * noise.mean()


def test_K5_the_bound_grows_with_the_rounds_while_the_error_falls():
    """ln #H of stumps is at most ln(2 d n); past a few rounds the bound says nothing, the test error still falls."""
    n, d, delta = 1000, 10, 0.05
    X, y = spheres(n, 2)
    X_test, y_test = spheres(4000, 3)
    model = AdaBoostClassifier(n_estimators=200, variant="discrete", random_state=0).fit(X, y)
    errors = np.array([np.mean(stage != y_test) for stage in model.staged_predict(X_test)])

    def term(rounds):
        return math.sqrt((rounds * math.log(2 * d * n) + rounds * math.log(n / rounds) - math.log(delta)) / n)

    assert term(10) < term(100) and term(200) > 1.0  # vacuous: errors are at most 1
    assert errors[199] < errors[99] - 0.005 < errors[9] - 0.05


def test_K7_weak_learners_with_an_edge_become_a_strong_one():
    X, y = spheres(300, 4)
    model = AdaBoostClassifier(n_estimators=1000, variant="discrete", random_state=0).fit(X, y)
    edge = 0.5 - model.estimator_errors_
    assert edge.min() > 0.0 and edge.max() < 0.15  # no stump is good
    assert model.score(X, y) == 1.0
    assert model.certificate_.details["edge bound"] == pytest.approx(math.exp(-2 * (edge**2).sum()), rel=1e-9)


def test_K16_bagged_members_stand_alone_and_boosted_ones_do_not():
    X, y = wave(200, 0)
    bagged = BaggingRegressor(n_estimators=5, random_state=0).fit(X, y)
    rows = bagged.estimators_samples_[4]
    again = DecisionTreeRegressor(random_state=bagged.estimators_[4].random_state).fit(X[rows], y[rows])
    # weights that count copies or the copies themselves: sums in another order
    np.testing.assert_allclose(again.predict(X), bagged.estimators_[4].predict(X), rtol=1e-12, atol=1e-12)
    boosted = GradientBoostingRegressor(n_estimators=5, max_depth=2, learning_rate=0.5, random_state=0).fit(X, y)
    stages = list(boosted.staged_predict(X))
    fifth = boosted.estimators_[4, 0].predict(X)
    after_four = DecisionTreeRegressor(max_depth=2, criterion="squared_error").fit(X, y - stages[3]).predict(X)
    alone = DecisionTreeRegressor(max_depth=2, criterion="squared_error").fit(X, y - y.mean()).predict(X)
    np.testing.assert_allclose(fifth, after_four, atol=1e-6)  # residuals are kept as float32
    assert np.abs(fifth - alone).max() > 0.1


def test_E69_leaves_need_curvature():
    """Rows that are certain have no curvature: G / (F + lambda) must not blow up, and such leaves are not made."""
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    options = {"max_iter": 200, "learning_rate": 1.0, "min_samples_leaf": 1}
    free = HistGradientBoostingClassifier(min_hessian=0.0, **options).fit(X, y)
    raw = free.decision_function(X)
    assert np.isfinite(raw).all() and free.score(X, y) == 1.0
    guarded = HistGradientBoostingClassifier(min_hessian=1.0, **options).fit(X, y)
    # a leaf needs a curvature of 1, which 20 rows of p (1 - p) have only while p is away from 0 and 1
    assert np.abs(guarded.decision_function(X)).max() < np.abs(raw).max()
    penalised = HistGradientBoostingClassifier(l2_regularization=1.0, min_hessian=0.0, **options).fit(X, y)
    assert np.abs(penalised.decision_function(X)).max() < np.abs(raw).max()
