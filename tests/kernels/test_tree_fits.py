"""Kernels of trees through fits of a few rows, against searches by brute force.

Small enough for plain Python and for bounds checks: splits beside the first and the last value, empty sides, rows
without a value.
"""

import itertools

import numpy as np
import pytest

from hyperplan.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from hyperplan.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiwayTreeClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    add_surrogates,
)


def entropy(y):
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return -(shares * np.log2(shares)).sum()


def gini(y):
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return 1 - (shares**2).sum()


def after(parts, impurity):
    """Mean impurity of parts of the rows."""
    n = sum(len(part) for part in parts)
    return sum(len(part) / n * impurity(part) for part in parts if len(part))


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "mantaras"])
@pytest.mark.parametrize("n", [2, 3, 24])
def test_multiway_trees_learn_words_numbers_and_holes(criterion, n):
    rng = np.random.default_rng(n)
    words, numbers = np.array(["a", "b", "c"], dtype=object)[np.arange(n) % 3], rng.normal(size=n)
    X = np.column_stack([words, numbers])
    y = np.where(words == "b", 1, (numbers > 0.2) * 2)
    model = MultiwayTreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    X[::5, 0] = None
    X[::7, 1] = np.nan
    holes = MultiwayTreeClassifier(criterion=criterion, min_samples_leaf=1).fit(X, y)
    shares = holes.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    # a row without its word follows all branches by their weights: the children weigh as much as their parent
    nodes = holes.tree_
    for node in np.flatnonzero(nodes.n_children):
        children = slice(nodes.first_child[node], nodes.first_child[node] + nodes.n_children[node])
        assert nodes.weight[children].sum() == pytest.approx(nodes.weight[node], rel=1e-9)


def test_multiway_gain_is_the_largest_of_all_columns():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 3, 20), rng.integers(0, 4, 20), rng.integers(0, 2, 20)]).astype(float)
    y = rng.integers(0, 2, 20)
    left = [after([y[column == value] for value in np.unique(column)], entropy) for column in X.T]
    model = MultiwayTreeClassifier(criterion="gain", max_depth=1, categorical_features=range(3)).fit(X, y)
    assert model.tree_.feature[0] == int(np.argmin(left))


@pytest.mark.parametrize("directions", ["axis", "lda", "ridge", "random"])
def test_oblique_trees_walk_as_they_were_grown(directions):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -1.0, 0.5] > 0.1
    model = ObliqueTreeClassifier(directions=directions, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    leaves, tree = model.apply(X), model.tree_
    outer = tree.children_left < 0
    np.testing.assert_array_equal(np.bincount(leaves, minlength=outer.size)[outer], tree.n_node_samples[outer])
    numbers = ObliqueTreeRegressor(directions=directions if directions != "lda" else "ridge", random_state=0)
    assert numbers.fit(X, y + X[:, 0]).score(X, y + X[:, 0]) == pytest.approx(1.0, abs=1e-9)


def test_surrogates_agree_most_often():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 3)).round(1)
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    y = (X[:, 0] > 0).astype(float)
    model = DecisionTreeRegressor(max_depth=1).fit(X, y)
    root = model.tree_.feature[0]
    left = X[:, root] <= model.tree_.threshold[0]
    model = add_surrogates(model, X, n_surrogates=2)
    for column, _, _, agreement, *_ in model.tree_.stand_ins(0):
        found = [np.mean((X[:, column] <= t) == left) for t in np.unique(X[:, column])]
        assert agreement == pytest.approx(max(max(found), 1 - min(found)), abs=1e-12)
    rows = X.copy()
    rows[:, root] = np.nan
    first = model.tree_.stand_ins(0)[0]
    goes_left = (rows[:, first[0]] <= first[1]) != first[2]
    expected = np.where(goes_left, model.tree_.value[1, 0, 0], model.tree_.value[2, 0, 0])
    np.testing.assert_array_equal(model.predict(rows), expected)
    nothing = model.predict(np.full((1, 3), np.nan))
    assert nothing[0] in model.tree_.value[1:, 0, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories_of_a_split_are_the_best_set(criterion, n_classes):
    rng = np.random.default_rng(4)
    codes = np.r_[np.arange(5), rng.integers(0, 5, 25)]
    y = (rng.normal(size=5)[codes] + rng.normal(size=30) > 0) if n_classes == 2 else rng.integers(0, 3, 30)
    X = np.column_stack([codes, np.zeros(30)]).astype(float)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1, categorical_features=[0]).fit(X, y).tree_
    impurity = gini if criterion == "gini" else entropy
    sets = [np.isin(codes, s) for size in (1, 2) for s in itertools.combinations(range(5), size)]
    best = min(after([y[chosen], y[~chosen]], impurity) for chosen in sets)
    found = (tree.weighted_n_node_samples[1:3] / 30) @ tree.impurity[1:3]
    if n_classes == 2:
        assert found == pytest.approx(best, abs=1e-12)
    else:  # the order along the principal component is a rule of thumb: never better than the best, never useless
        assert best - 1e-12 <= found < tree.impurity[0]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_deep_trees_of_categories_with_holes_and_unseen_values(criterion):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 70, 90), rng.normal(size=90)]).astype(float)  # more categories than a word
    X[::9, 0] = np.nan
    y = np.nan_to_num(X[:, 0]) % 7 + np.abs(X[:, 1])
    for options in ({}, {"max_leaf_nodes": 9}, {"splitter": "random"}):
        model = DecisionTreeRegressor(criterion=criterion, categorical_features=[0], random_state=0, **options)
        leaves, tree = model.fit(X, y).apply(X), model.tree_
        outer = tree.children_left < 0
        np.testing.assert_array_equal(np.bincount(leaves, minlength=outer.size)[outer], tree.n_node_samples[outer])
        assert np.isfinite(model.predict([[999.0, 0.0], [-1.0, 0.0], [np.nan, np.nan]])).all()
    assert DecisionTreeRegressor(criterion=criterion, categorical_features=[0]).fit(X, y).score(X, y) > 0.9


def best_level(X, gradient, parts):
    """(feature, threshold) of the test that raises sum G^2 / n over the parts most, when all of them take it."""
    options = {}
    for j, column in enumerate(X.T):
        for low, high in itertools.pairwise(np.unique(column)):
            goes = column <= (low + high) / 2
            pieces = [rows & side for rows in parts for side in (goes, ~goes)]
            total = sum(gradient[rows].sum() ** 2 / rows.sum() for rows in pieces if rows.any())
            options[j, (low + high) / 2] = total
    return max(options, key=options.get)


def test_oblivious_trees_ask_all_nodes_the_best_question():
    rng = np.random.default_rng(6)
    X = rng.integers(0, 6, size=(50, 3)).astype(float)
    y = (X[:, 0] > 2) * 2.0 + (X[:, 1] > 3) + 0.1 * rng.normal(size=50)
    options = {"growth": "oblivious", "max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "max_leaf_nodes": 4}
    model = HistGradientBoostingRegressor(**options, min_hessian=0.0).fit(X, y)
    parts, residual = [np.ones(50, dtype=bool)], y - y.mean()
    for _ in range(2):
        j, threshold = best_level(X, residual, parts)
        parts = [rows & side for rows in parts for side in (X[:, j] <= threshold, X[:, j] > threshold)]
    expected = np.zeros(50)
    for rows in parts:
        expected[rows] = y[rows].mean() if rows.any() else 0.0
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-6)  # float32 derivatives


@pytest.mark.parametrize("growth", ["leaf", "level", "oblivious"])
@pytest.mark.parametrize("n", [1, 2, 21, 70])
def test_boosting_of_few_rows_with_holes_categories_and_classes(growth, n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 5, n), rng.normal(size=n)])
    X[::4, 0] = np.nan
    X[::6, 1] = np.nan
    y = np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 0])
    options = {"growth": growth, "max_iter": 3, "min_samples_leaf": 1, "categorical_features": [1], "max_bins": 8}
    numbers = HistGradientBoostingRegressor(learning_rate=0.5, **options).fit(X, y)
    loss = [np.mean((stage - y) ** 2) for stage in numbers.staged_predict(X)]
    assert (np.diff([y.var(), *loss]) <= 1e-12).all()
    np.testing.assert_array_equal(numbers.predict(X), np.concatenate([numbers.predict(X[i : i + 1]) for i in range(n)]))
    classes = HistGradientBoostingClassifier(**options).fit(X, np.arange(n) % 3)
    np.testing.assert_allclose(classes.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(classes.predict_proba([[0.0, 17.0, np.nan], [np.nan, np.nan, 1e300]])).all()


@pytest.mark.parametrize("extra", [{"sampling": "goss"}, {"sampling": "mvs", "subsample": 0.5}, {"subsample": 0.5},
                                   {"max_features": 0.5}, {"monotonic_cst": [1, 0, -1]},
                                   {"interaction_cst": [[0], [1, 2]]}])  # fmt: skip
def test_boosting_options_on_few_rows(extra):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] - X[:, 2] + 0.1 * rng.normal(size=60)
    options = {"max_iter": 4, "min_samples_leaf": 2, "max_leaf_nodes": 6, "random_state": 0, "max_bins": 16}
    model = HistGradientBoostingRegressor(learning_rate=0.5, **options, **extra).fit(X, y)
    assert model.score(X, y) > 0.4
    if "monotonic_cst" in extra:
        grid = np.zeros((30, 3))
        grid[:, 0] = np.linspace(-2, 2, 30)
        assert (np.diff(model.predict(grid)) >= 0).all()
    if "interaction_cst" in extra:  # no path asks about column 0 and another one: the sum of parts
        a, b = np.zeros((5, 3)), np.zeros((5, 3))
        a[:, 0], b[:, 2] = np.linspace(-1, 1, 5), np.linspace(-1, 1, 5)
        both = model.predict(a + b) - model.predict(np.zeros((1, 3)))
        np.testing.assert_allclose(both, model.predict(a) + model.predict(b) - 2 * model.predict(np.zeros((1, 3))),
                                   atol=1e-9)  # fmt: skip


def test_forests_of_several_outputs_and_their_quantiles():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 3))
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2])
    forest = RandomForestRegressor(4, random_state=0).fit(X, Y)
    mean = sum(tree.predict(X) for tree in forest.estimators_) / 4
    np.testing.assert_allclose(forest.predict(X), mean, rtol=1e-12)
    one = RandomForestRegressor(4, bootstrap=False, max_features=1, min_samples_leaf=4, random_state=0).fit(X, Y[:, 0])
    together = one.apply(X)[:, None] == one.apply(X)[None]  # rows x rows x trees
    share = (together / together.sum(axis=1, keepdims=True)).mean(axis=2)
    order = np.argsort(Y[:, 0])
    reached = np.cumsum(share[:, order], axis=1)
    for level in (0.1, 0.5, 0.9):
        expected = Y[order, 0][(reached >= level - 1e-12).argmax(axis=1)]
        np.testing.assert_array_equal(one.predict_quantiles(X, level), expected)
