"""Shapley values of all tree models: they add up, follow the models' decisions, and are what the definition says."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import inspection
from sklearn.linear_model import LinearRegression

from hyperplan._core.parallel import thread_limit
from hyperplan.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    permutation_importance,
    shap_values,
)
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ObliqueTreeRegressor

ADDS_UP = 1e-10  # of answers of order 1 to 10; the rest is rounding


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=150)
    holes = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    return X, holes, y, (y > 0).astype(int) + (y > 1)


def check_sum(model, X, prediction):
    values, base = shap_values(model, X)
    np.testing.assert_allclose(base + values.sum(axis=1), prediction, atol=ADDS_UP, rtol=0)
    return values, base


REGRESSORS = [
    DecisionTreeRegressor(random_state=0),
    DecisionTreeRegressor(max_leaf_nodes=9, random_state=0),
    RandomForestRegressor(8, random_state=0),
    ExtraTreesRegressor(8, random_state=0),
    GradientBoostingRegressor(n_estimators=15, random_state=0),
    GradientBoostingRegressor(n_estimators=5, init="zero", subsample=0.5, random_state=0),
    HistGradientBoostingRegressor(max_iter=15, min_samples_leaf=3),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3, growth="oblivious"),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3, growth="level", subsample=0.5, random_state=0),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_numbers_add_up(model, data):
    X, holes, y, _ = data
    rows = X if isinstance(model, GradientBoostingRegressor) else holes
    weight = np.random.default_rng(1).integers(0, 3, size=y.shape[0])
    for options in ({}, {"sample_weight": weight}):
        model.fit(rows, y, **options)
        values, base = check_sum(model, rows, model.predict(rows))
        assert values.shape == X.shape
        assert isinstance(base, float)


CLASSIFIERS = [
    (DecisionTreeClassifier(random_state=0), "predict_proba"),
    (ExtraTreeClassifier(random_state=0), "predict_proba"),
    (RandomForestClassifier(8, class_weight="balanced", random_state=0), "predict_proba"),
    (ExtraTreesClassifier(8, random_state=0), "predict_proba"),
    (GradientBoostingClassifier(n_estimators=5, random_state=0), "decision_function"),
    (HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3), "decision_function"),
]


@pytest.mark.parametrize(("model", "method"), CLASSIFIERS, ids=lambda part: getattr(type(part), "__name__", part))
def test_classes_add_up(model, method, data):
    X, _, _, labels = data
    model.fit(X, np.array(["a", "b", "c"])[labels])
    values, base = check_sum(model, X, getattr(model, method)(X))
    assert values.shape == (*X.shape, 3)
    assert base.shape == (3,)
    model.fit(X, labels > 0)
    values, _ = check_sum(model, X, getattr(model, method)(X))
    assert values.shape == (X.shape if method == "decision_function" else (*X.shape, 2))


def test_several_outputs(data):
    X, _, y, labels = data
    for model in (DecisionTreeRegressor(max_depth=4), RandomForestRegressor(5, random_state=0)):
        model.fit(X, np.column_stack([y, X[:, 3]]))
        assert check_sum(model, X, model.predict(X))[0].shape == (*X.shape, 2)
    both = np.column_stack([labels, labels > 0])
    for model in (DecisionTreeClassifier(max_depth=4), ExtraTreesClassifier(5, random_state=0)):
        shares = model.fit(X, both).predict_proba(X)
        values, base = shap_values(model, X)
        assert values.shape == (*X.shape, 2, 3)
        for k, expected in enumerate(shares):
            total = (base + values.sum(axis=1))[:, k, : expected.shape[1]]
            np.testing.assert_allclose(total, expected, atol=ADDS_UP, rtol=0)


def by_definition(value_of, d):
    found = np.zeros(d)
    for f in range(d):
        others = [g for g in range(d) if g != f]
        for size in range(d):
            weight = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for known in itertools.combinations(others, size):
                found[f] += weight * (value_of({*known, f}) - value_of(set(known)))
    return found


def conditional_mean(tree, x, known, node=0):
    """Mean answer of a fitted `Tree` of numbers when splits on other features are averaged by training weight."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left < 0:
        return tree.value[node, 0, 0]
    if tree.feature[node] in known:
        v = np.float32(x[tree.feature[node]])
        goes_left = tree.missing_go_to_left[node] if np.isnan(v) else v <= tree.threshold[node]
        return conditional_mean(tree, x, known, left if goes_left else right)
    mass = tree.weighted_n_node_samples
    a, b = conditional_mean(tree, x, known, left), conditional_mean(tree, x, known, right)
    return (mass[left] * a + mass[right] * b) / mass[node]


def test_forests_and_stages_by_definition(data):
    _, holes, y, _ = data
    weight = np.random.default_rng(2).uniform(0.1, 2.0, size=y.shape[0])
    forest = RandomForestRegressor(4, max_depth=5, random_state=0).fit(holes, y, sample_weight=weight)
    full = np.nan_to_num(holes)
    stages = GradientBoostingRegressor(n_estimators=4, learning_rate=0.3, random_state=0).fit(full, y, weight)
    for model, rows, scale, trees in (
        (forest, holes, 1 / 4, [each.tree_ for each in forest.estimators_]),
        (stages, full, 0.3, [each.tree_ for each in stages.estimators_.ravel()]),
    ):
        values, _ = shap_values(model, rows[:4])
        for x, found in zip(rows, values):
            expected = by_definition(lambda s, x=x, trees=trees: sum(conditional_mean(t, x, s) for t in trees), 5)
            np.testing.assert_allclose(found, scale * expected, atol=1e-12, rtol=0)


def binned_mean(model, tree, bins, known, node=0):
    """`conditional_mean` of a histogram tree, on bins."""
    left, right, f = tree.left[node], tree.right[node], tree.feature[node]
    if left < 0:
        return tree.value[node]
    bin_map = model._model.bin_map
    if f in known:
        b = int(bins[f])
        if bin_map.categorical[f]:
            goes_left = int(tree.chosen[node, b >> 5]) >> (b & 31) & 1
        else:
            goes_left = tree.missing_left[node] if b == bin_map.missing_bin else b <= tree.bin[node]
        return binned_mean(model, tree, bins, known, left if goes_left else right)
    a, b = binned_mean(model, tree, bins, known, left), binned_mean(model, tree, bins, known, right)
    return (tree.count[left] * a + tree.count[right] * b) / tree.count[node]


def test_histogram_categories_by_definition():
    from hyperplan._trees.binning import bin_rows

    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(70, size=1400), rng.normal(size=(1400, 3))]).astype(float)
    y = (X[:, 0] % 7 > 3) * 2.0 + X[:, 1] * (X[:, 0] % 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = HistGradientBoostingRegressor(max_iter=4, categorical_features=[0], min_samples_leaf=5).fit(X, y)
    strange = X[:6].copy()
    strange[0, 0], strange[1, 0] = 250.0, np.nan  # a category that was not in training, and a missing one
    values, _ = check_sum(model, strange, model.predict(strange))
    coded = np.where(strange == 250.0, np.nan, strange)
    binned = bin_rows(coded, model._model.bin_map)
    bins = np.column_stack([binned.column(f) for f in range(4)])
    trees = [tree for stage in model._model.trees for tree in stage]
    assert any(model._model.bin_map.categorical[t.feature[t.left >= 0]].any() for t in trees)
    for row, found in zip(bins, values):
        expected = by_definition(lambda s, row=row: sum(binned_mean(model, t, row, s) for t in trees), 4)
        np.testing.assert_allclose(found, expected, atol=1e-12, rtol=0)


def test_categories_of_frames():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=200), "c": pd.Categorical(rng.choice(list("abcdef"), size=200))})
    y = frame["x"].to_numpy() + 2.0 * frame["c"].isin(["b", "e"]).to_numpy()
    frame.loc[:5, "c"] = None
    for model in (
        HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=4),
        DecisionTreeRegressor(max_depth=4, categorical_features="from_dtype"),
    ):
        model.fit(frame, y)
        values, _ = check_sum(model, frame, model.predict(frame))
        assert np.abs(values[:, 1]).mean() > 0.2  # the category matters


def test_surrogates_follow_the_model(data):
    X, holes, y, _ = data
    X = np.column_stack([X[:, :3], X[:, :3] + 0.1 * np.random.default_rng(5).normal(size=(150, 3))])
    model = DecisionTreeRegressor(max_depth=4, surrogates=2, random_state=0).fit(X, y)
    rows = np.where(np.isnan(np.column_stack([holes[:, :3], X[:, 3:]])), np.nan, X)
    assert np.isnan(rows).any()
    check_sum(model, rows, model.predict(rows))


def test_sparse_rows_are_dense_rows(data):
    X, _, y, _ = data
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    for model in (
        DecisionTreeRegressor(max_depth=5),
        RandomForestRegressor(3, random_state=0),
        GradientBoostingRegressor(n_estimators=3),
    ):
        model.fit(X, y)
        assert np.array_equal(shap_values(model, sp.csr_array(X)).values, shap_values(model, X).values)


def test_a_first_model_is_part_of_the_base(data):
    X, _, y, _ = data
    model = GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(X, y)
    _, base = check_sum(model, X, model.predict(X))
    assert base.shape == (X.shape[0],)


def test_log_link_is_explained_in_logarithms(data):
    X, _, y, _ = data
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=5, min_samples_leaf=5).fit(X, np.exp(y / 2))
    check_sum(model, X, np.log(model.predict(X)))


def test_constant_models_have_no_values():
    X, y = np.arange(10.0).reshape(5, 2), np.full(5, 3.0)
    for model in (DecisionTreeRegressor(), RandomForestRegressor(2), GradientBoostingRegressor(n_estimators=2)):
        values, base = shap_values(model.fit(X, y), X)
        assert not values.any()
        assert base == pytest.approx(3.0)


def test_threads_and_memory_order_do_not_change_a_bit(data):
    X, _, y, _ = data
    model = HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=3).fit(X, y)
    with thread_limit(1):
        expected = shap_values(model, X).values
    frozen = np.asfortranarray(X)
    frozen.setflags(write=False)
    with thread_limit(4):
        assert np.array_equal(shap_values(model, frozen).values, expected)


def test_other_models_are_refused(data):
    X, _, y, _ = data
    for model in (BaggingRegressor(n_estimators=2), ObliqueTreeRegressor(max_depth=2), LinearRegression()):
        with pytest.raises(TypeError, match="has no trees that can be read"):
            shap_values(model.fit(X, y), X)
    assert permutation_importance(ObliqueTreeRegressor(max_depth=2).fit(X, y), X, y).importances.shape == (5, 5)
    with pytest.raises(ValueError, match="fitted"):
        shap_values(DecisionTreeRegressor(), X)
    with pytest.raises(ValueError, match="3 features"):
        shap_values(DecisionTreeRegressor().fit(X, y), X[:, :3])


@pytest.mark.parametrize(
    "options", [{}, {"max_samples": 0.5}, {"max_samples": 40}, {"scoring": ["r2", "neg_max_error"]}]
)
@pytest.mark.parametrize("as_frame", [False, True])
def test_permutation_importance_is_that_of_scikit_learn(options, as_frame, data):
    X, _, y, _ = data
    X = pd.DataFrame(X, columns=list("abcde")) if as_frame else X
    before = X.copy()
    weight = np.random.default_rng(6).uniform(size=150)
    model = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y)
    for extra in ({}, {"sample_weight": weight}):
        if extra and "scoring" in options:
            continue  # the maximal error has no weights
        found = permutation_importance(model, X, y, random_state=3, **options, **extra)
        expected = inspection.permutation_importance(model, X, y, random_state=3, **options, **extra)
        pairs = [(found[s], expected[s]) for s in options.get("scoring", [])] or [(found, expected)]
        for ours, theirs in pairs:
            assert np.array_equal(ours.importances, theirs.importances)
            assert np.array_equal(ours.importances_mean, theirs.importances_mean)
            assert np.array_equal(ours.importances_std, theirs.importances_std)
    assert np.array_equal(np.asarray(X), np.asarray(before))


def test_unused_columns_are_not_tried(data):
    X, _, y, _ = data
    calls = []

    def scorer(model, X, y):
        calls.append(1)
        return model.score(X, y)

    model = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
    found = permutation_importance(model, X, y, scoring=scorer, n_repeats=4, random_state=0)
    assert len(calls) == 1 + 4
    assert np.count_nonzero(found.importances_mean) == 1
    other = permutation_importance(LinearRegression().fit(X, y), X, y, scoring=scorer, n_repeats=2, n_jobs=2)
    assert other.importances.shape == (5, 2)
    assert len(calls) == 5 + 1 + 10


def test_polars_and_categories(data):
    X, _, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = HistGradientBoostingRegressor(max_iter=5).fit(frame, y)
    found = permutation_importance(model, pl.DataFrame(frame.to_dict("list")), y, random_state=0)
    expected = permutation_importance(model, frame, y, random_state=0)
    assert np.array_equal(found.importances, expected.importances)


@pytest.mark.parametrize("wrong", [{"n_repeats": 0}, {"max_samples": 0}, {"max_samples": 1.5}, {"max_samples": 1000}])
def test_wrong_parameters(wrong, data):
    X, _, y, _ = data
    model = DecisionTreeRegressor(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match=r"max_samples|n_repeats"):
        permutation_importance(model, X, y, **wrong)
