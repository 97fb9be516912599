"""Trees beyond thresholds: multiway, oblique, surrogates, categories; against definitions and brute force."""

import itertools

import numpy as np
import pytest

from hyperplan._core.parallel import thread_limit
from hyperplan.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiwayTreeClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    add_surrogates,
    export_graphviz,
    export_text,
    rules,
)

# Quinlan (1986): outlook, temperature, humidity, windy; play?
PLAY = """sunny hot high false no
sunny hot high true no
overcast hot high false yes
rain mild high false yes
rain cool normal false yes
rain cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rain mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rain mild high true no"""
TABLE = np.array([line.split() for line in PLAY.splitlines()], dtype=object)
WEATHER, PLAYED = TABLE[:, :4], TABLE[:, 4].astype(str)
NAMES = ["outlook", "temperature", "humidity", "windy"]


def entropy(counts):
    shares = np.asarray(counts, dtype=float) / np.sum(counts)
    return -sum(p * np.log2(p) for p in shares if p > 0)


def test_id3_grows_quinlans_tree():
    model = MultiwayTreeClassifier(criterion="gain").fit(WEATHER, PLAYED)
    assert (model.predict(WEATHER) == PLAYED).all()
    assert (
        export_text(model, feature_names=NAMES)
        == model.to_text(feature_names=NAMES)
        == (
            "|--- outlook = overcast\n"
            "|   |--- class: yes\n"
            "|--- outlook = rain\n"
            "|   |--- windy = false\n"
            "|   |   |--- class: yes\n"
            "|   |--- windy = true\n"
            "|   |   |--- class: no\n"
            "|--- outlook = sunny\n"
            "|   |--- humidity = high\n"
            "|   |   |--- class: no\n"
            "|   |--- humidity = normal\n"
            "|   |   |--- class: yes\n"
        )
    )
    assert model.get_n_leaves() == 5 and model.get_depth() == 2 and model.certificate_.holds
    # the gain of outlook at the root is 0.2467 bits of the 0.9403 there are (Quinlan 1986)
    assert model.feature_importances_[0] == pytest.approx(0.24675 / 0.94029, abs=1e-4)


def test_multiway_gain_with_missing_values_counts_known_rows_only():
    """Quinlan (1993), section 3.2: with one outlook missing the gain is 13/14 * 0.214 = 0.199."""
    X = WEATHER.copy()
    X[11, 0] = None
    model = MultiwayTreeClassifier(criterion="gain", max_depth=1).fit(X, PLAYED)
    nodes = model.tree_
    assert nodes.feature[0] == 0
    # the row without outlook is dealt to the three branches by 3/13, 5/13 and 5/13 (overcast, rain, sunny)
    np.testing.assert_allclose(nodes.weight[1:], [3 + 3 / 13, 5 + 5 / 13, 5 + 5 / 13], rtol=1e-12)
    np.testing.assert_allclose(nodes.value[3], [3 / (5 + 5 / 13), (2 + 5 / 13) / (5 + 5 / 13)], rtol=1e-12)
    known = PLAYED[X[:, 0] != None]  # noqa: E711
    parts = [PLAYED[X[:, 0] == value] for value in ("overcast", "rain", "sunny")]
    counts = [[(part == "no").sum(), (part == "yes").sum()] for part in [known, *parts]]
    gain = entropy(counts[0]) - sum(sum(c) / 13 * entropy(c) for c in counts[1:])
    assert 13 / 14 * gain == pytest.approx(0.199, abs=1e-3)
    # a new row without outlook is answered by the same mixture
    expected = sum(share * nodes.value[k] for share, k in ((3 / 13, 1), (5 / 13, 2), (5 / 13, 3)))
    np.testing.assert_allclose(model.predict_proba([[None, "hot", "high", "true"]])[0], expected, rtol=1e-12)


def test_multiway_unseen_category_stops_where_it_is_asked():
    model = MultiwayTreeClassifier(criterion="gain").fit(WEATHER, PLAYED)
    shares = model.predict_proba([["snow", "hot", "high", "true"], ["rain", "hot", "high", "maybe"]])
    np.testing.assert_allclose(shares, [[5 / 14, 9 / 14], [2 / 5, 3 / 5]], rtol=1e-12)
    assert model.apply([["snow", "hot", "high", "true"]])[0] == 0


def brute_force_root(X, y, criterion):
    """Best column and threshold of the root by the definitions, over all midpoints."""
    n = len(y)
    classes = np.unique(y)
    gains, ratios, distances, thresholds = [], [], [], []
    for x in X.T:
        values = np.unique(x)
        options = []
        for low, high in itertools.pairwise(values):
            parts = [y[x <= low], y[x > low]]
            tables = [[(part == c).sum() for c in classes] for part in parts]
            rest = sum(len(part) / n * entropy(t) for part, t in zip(parts, tables))
            gain, split = entropy(np.sum(tables, axis=0)) - rest, entropy([len(p) for p in parts])
            options.append((gain, split, 1 - gain / (split + rest), (low + high) / 2))
        if criterion == "mantaras":
            best = min(options, key=lambda o: o[2])
        else:
            best = max(options, key=lambda o: o[0])
        penalty = np.log2(len(values) - 1) / n if criterion == "gain_ratio" else 0.0
        gains.append(best[0] - penalty)
        ratios.append((best[0] - penalty) / best[1])
        distances.append(best[2])
        thresholds.append(best[3])
    gains, ratios = np.array(gains), np.array(ratios)
    if criterion == "gain":
        j = int(gains.argmax())
    elif criterion == "mantaras":
        j = int(np.argmin(distances))
    else:
        able = (gains > 0) & (gains >= gains[gains > 0].mean() - 1e-12)
        j = int(np.where(able, ratios, -1).argmax())
    return j, thresholds[j]


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "mantaras"])
@pytest.mark.parametrize("seed", range(4))
def test_multiway_threshold_is_the_best_of_all(criterion, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(1)
    y = rng.integers(0, 3, size=60) * (X[:, 1] > 0.3)
    j, threshold = brute_force_root(X, y, criterion)
    nodes = MultiwayTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
    assert nodes.feature[0] == j and nodes.threshold[0] == pytest.approx(threshold, abs=1e-12)


def test_multiway_pruning_removes_what_only_fits_noise():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(400, 5)).astype(float)
    y = (X[:, 0] >= 2).astype(int) ^ (rng.random(400) < 0.15)
    options = {"categorical_features": range(5)}
    full = MultiwayTreeClassifier(**options).fit(X, y)
    small = MultiwayTreeClassifier(pruning="error", **options).fit(X, y)
    tiny = MultiwayTreeClassifier(pruning="error", confidence=1e-6, **options).fit(X, y)
    assert tiny.get_n_leaves() <= small.get_n_leaves() < full.get_n_leaves() / 2
    fresh = rng.integers(0, 4, size=(2000, 5)).astype(float)
    truth = fresh[:, 0] >= 2
    assert (small.predict(fresh) == truth).mean() > (full.predict(fresh) == truth).mean()
    assert small.certificate_.holds and small.tree_.first_child[0] == 1


def test_multiway_300_categories_pandas_and_weights():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    town = rng.integers(0, 300, size=3000)
    frame = pd.DataFrame({"town": pd.Categorical([f"t{k:03d}" for k in town]), "size": rng.normal(size=3000)})
    frame.loc[:20, "town"] = None
    y = np.where(town % 3 == 0, "x", "y")
    model = MultiwayTreeClassifier(criterion="gain").fit(frame, y)
    known = frame["town"].notna()
    assert (model.predict(frame)[known] == y[known]).mean() > 0.99
    assert list(model.feature_names_in_) == ["town", "size"] and len(model.categories_[0]) == 300
    assert model.to_text(max_depth=0).startswith("|--- town = t000")
    weight = rng.integers(0, 3, size=3000)[known]
    heavy = MultiwayTreeClassifier().fit(frame[known], y[known], sample_weight=weight)
    copies = MultiwayTreeClassifier().fit(
        frame[known].iloc[np.repeat(np.arange(len(weight)), weight)], np.repeat(y[known], weight)
    )
    np.testing.assert_array_equal(heavy.tree_.feature, copies.tree_.feature)
    np.testing.assert_array_equal(heavy.tree_.threshold, copies.tree_.threshold)


def test_multiway_edges():
    one = MultiwayTreeClassifier().fit([["a"], ["b"]], [1, 1])
    assert one.get_n_leaves() == 1 and one.predict([["c"]])[0] == 1
    empty = MultiwayTreeClassifier(categorical_features=[0]).fit([[np.nan, 0.0], [np.nan, 1.0]], [0, 1])
    assert empty.tree_.feature[0] == 1 and (empty.predict([[3.0, 0.0], [np.nan, 1.0]]) == [0, 1]).all()
    with pytest.raises(ValueError, match="names 'colour'"):
        MultiwayTreeClassifier(categorical_features=["colour"]).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="name the column in categorical_features"):
        MultiwayTreeClassifier(categorical_features=[1]).fit([["a", 0.0], ["b", 1.0]], [0, 1])
    with pytest.raises(ValueError, match="indices in"):
        MultiwayTreeClassifier(categorical_features=[5]).fit([[0.0], [1.0]], [0, 1])


def slanted(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, 100.0]
    return X, (X[:, 0] + X[:, 1] / 10 - 0.5 + X[:, 2] * 10 > 0.2).astype(int)


def test_oblique_needs_one_split_where_axes_need_many():
    X, y = slanted()
    model = ObliqueTreeClassifier(directions="lda", max_depth=2, random_state=0).fit(X, y)
    axes = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.97 > axes.score(X, y) + 0.1
    assert model.certificate_.holds and (np.abs(np.linalg.norm(model.tree_.weights, axis=1) - 1) < 1e-12).all()
    # the boundary's normal in units of the columns' deviations is (1, 1, 1, 0) up to sampling noise
    normal = model.tree_.weights[0] * X.std(axis=0)
    np.testing.assert_allclose(np.abs(normal[:3] / np.abs(normal).max()), 1.0, atol=0.3)
    assert model.feature_importances_[3] < 0.1


def test_oblique_with_axes_only_is_the_decision_tree():
    X, y = slanted()
    options = {"max_depth": 4, "random_state": 0}
    model = ObliqueTreeClassifier(directions="axis", **options).fit(X, y)
    axes = DecisionTreeClassifier(**options).fit(X, y)
    np.testing.assert_array_equal(model.tree_.feature, axes.tree_.feature)
    # columns are standardised before the scan, in float32: thresholds stay between the same two values
    np.testing.assert_array_equal(model.tree_.n_node_samples, axes.tree_.n_node_samples)
    np.testing.assert_array_equal(model.predict(X), axes.predict(X))
    np.testing.assert_allclose(model.feature_importances_, axes.feature_importances_, rtol=1e-12)


def test_oblique_walks_agree_with_the_record():
    X, y = slanted()
    model = ObliqueTreeClassifier(directions=["axis", "lda", "ridge", "random"], random_state=3).fit(X, y)
    tree, leaves = model.tree_, model.apply(X)
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.node_count)[tree.children_left < 0],
        tree.n_node_samples[tree.children_left < 0],
    )
    path = model.decision_path(X)
    assert (path[:, 0].toarray() == 1).all() and (path[np.arange(len(X)), leaves] == 1).all()
    by_hand = []
    for x in X.astype(np.float32).astype(float):
        node = 0
        while tree.children_left[node] >= 0:
            f = tree.feature[node]
            reached = x[f] if f >= 0 else tree.weights[-3 - f] @ x
            node = tree.children_left[node] if reached <= tree.threshold[node] else tree.children_right[node]
        by_hand.append(node)
    np.testing.assert_array_equal(leaves, by_hand)


def test_oblique_words_and_pruning():
    X, y = slanted()
    names = ["a", "b", "c", "d"]
    model = ObliqueTreeClassifier(directions="lda", max_depth=1, random_state=0).fit(X, y)
    first = export_text(model, feature_names=names).splitlines()[0]
    assert " a " in first and " <= " in first and "more" not in first
    assert "not (" in rules(model, feature_names=names)[0] or "not (" in rules(model, feature_names=names)[1]
    assert "<=" in export_graphviz(model, feature_names=names)
    full = ObliqueTreeClassifier(random_state=0).fit(X, y)
    small = ObliqueTreeClassifier(random_state=0, ccp_alpha=0.02).fit(X, y)
    assert small.get_n_leaves() < full.get_n_leaves() and small.score(X, y) > 0.9
    path = full.cost_complexity_pruning_path(X, y)
    assert (np.diff(path.ccp_alphas) >= 0).all()


def test_oblique_regression_with_weights_and_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] > 0.3, 2.0, -1.0)
    model = ObliqueTreeRegressor(max_depth=2, directions="ridge", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9 > DecisionTreeRegressor(max_depth=2).fit(X, y).score(X, y) + 0.2
    weight = rng.integers(0, 3, size=300)
    heavy = ObliqueTreeRegressor(max_depth=3, random_state=0).fit(X, y, sample_weight=weight)
    copies = ObliqueTreeRegressor(max_depth=3, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(heavy.predict(X), copies.predict(X), rtol=1e-9)  # sums in another order
    both = ObliqueTreeRegressor(max_depth=3, random_state=0).fit(X, np.column_stack([y, -2 * y]))
    np.testing.assert_allclose(both.predict(X)[:, 1], -2 * both.predict(X)[:, 0], rtol=1e-9)


def test_oblique_does_not_depend_on_threads_and_stands_bad_columns():
    X, y = slanted()
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])  # a constant and a copy
    options = {"directions": ["axis", "lda", "random"], "random_state": 1}
    with thread_limit(1):
        one = ObliqueTreeClassifier(**options).fit(X, y)
    with thread_limit(2):
        two = ObliqueTreeClassifier(**options).fit(X, y)
    assert one.tree_ == two.tree_ and one.score(X, y) == 1.0
    assert ObliqueTreeClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1]).get_n_leaves() == 1
    with pytest.raises(ValueError, match="NaN"):
        ObliqueTreeClassifier().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="directions"):
        ObliqueTreeClassifier(directions="diagonal").fit([[0.0], [1.0]], [0, 1])


# Column 0 decides (<= 4.5 goes left).  Column 1 disagrees in one of ten rows, column 2 runs backwards and disagrees in
# two, column 3 says nothing.
TWINS = np.array(
    [
        [0, 0, 9, 1],
        [1, 1, 8, 0],
        [2, 2, 7, 1],
        [3, 3, 0, 0],
        [4, 9, 5, 1],
        [5, 5, 4, 0],
        [6, 6, 3, 1],
        [7, 7, 2, 0],
        [8, 8, 1, 1],
        [9, 10, 6, 0],
    ],
    dtype=float,
)
SIDES = np.array([0.0] * 5 + [1.0] * 5)


def test_surrogates_by_hand():
    model = DecisionTreeRegressor(max_depth=1).fit(TWINS, SIDES)
    assert model.tree_.feature[0] == 0
    model = add_surrogates(model, TWINS, n_surrogates=3)
    found = model.tree_.stand_ins(0)
    # both sides have share 1/2, so the association is (1/2 - (1 - a)) / (1/2)
    assert [s[0] for s in found] == [1, 2, 3]
    assert found[0][1:] == pytest.approx((4.0, False, 0.9, 0.8))
    assert found[1][1:3] == (4.5, True) and found[1][3:] == pytest.approx((0.8, 0.6))
    assert found[2][2:] == (True, pytest.approx(0.6), pytest.approx(0.2))
    nan = np.nan
    rows = [[nan, 1, 0, 0], [nan, 9, 9, 0], [nan, nan, 9, 0], [nan, nan, 0, nan], [nan, nan, nan, nan]]
    expected = [0.0, 1.0, 0.0, 1.0, model.tree_.value[2 - model.tree_.missing_go_to_left[0], 0, 0]]
    np.testing.assert_array_equal(model.predict(rows), expected)
    path = model.decision_path(np.array(rows))
    np.testing.assert_array_equal(path.indices.reshape(5, 2)[:, 1], model.apply(rows))


def test_surrogates_are_the_best_of_all_thresholds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)).round(1)
    X[:, 1:] = (X[:, 1:] + X[:, :1] * [1.0, -0.5, 0.0]).round(1)
    y = (X[:, 0] > 0.4) * 1.0 + 0.01 * rng.normal(size=80)
    model = add_surrogates(DecisionTreeRegressor(max_depth=1).fit(X, y), X)
    tree = model.tree_
    left = X[:, tree.feature[0]].astype(np.float32) <= tree.threshold[0]
    share = min(left.mean(), 1 - left.mean())
    for column, threshold, backwards, agreement, association in tree.stand_ins(0):
        options = []
        for low, high in itertools.pairwise(np.unique(X[:, column])):
            same = ((X[:, column] <= (low + high) / 2) == left).mean()
            options += [same, 1 - same]
        assert agreement == pytest.approx(max(options)) and agreement > 1 - share
        assert association == pytest.approx((share - (1 - agreement)) / share)
        assert (((X[:, column] <= threshold) != backwards) == left).mean() == pytest.approx(agreement)


def test_surrogates_help_when_values_go_missing_at_prediction():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 5))
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=2000)
    y = (X[:, 0] + 0.5 * X[:, 2] > 0).astype(int)
    plain = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X[:1000], y[:1000])
    model = add_surrogates(plain, X[:1000])
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    holes = X[1000:].copy()
    holes[rng.random(1000) < 0.5, 0] = np.nan
    assert model.score(holes, y[1000:]) > plain.score(holes, y[1000:]) + 0.05
    with pytest.raises(TypeError, match="Multiway"):
        add_surrogates(MultiwayTreeClassifier().fit(X[:50], y[:50]), X[:50])


def best_set(codes, y, impurity):
    """Least weighted impurity over all divisions of the categories into two non-empty sets."""
    present = np.unique(codes)
    found = np.inf
    for size in range(1, len(present) // 2 + 1):
        for left in itertools.combinations(present, size):
            inside = np.isin(codes, left)
            found = min(found, inside.sum() * impurity(y[inside]) + (~inside).sum() * impurity(y[~inside]))
    return found / len(y)


def gini(y):
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return 1 - (shares**2).sum()


def half_deviance(y):
    return np.mean(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / y.mean()), 0.0))


def after_split(tree):
    share = tree.weighted_n_node_samples[1:3] / tree.weighted_n_node_samples[0]
    return float(share @ tree.impurity[1:3])


@pytest.mark.parametrize("seed", range(5))
def test_categories_are_divided_in_the_best_of_all_ways(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, size=90)
    X = codes[:, None].astype(float)
    effect = rng.normal(size=8)[codes]
    y = (effect + rng.normal(size=90) > 0).astype(int)
    options = {"max_depth": 1, "categorical_features": [0]}
    for criterion, impurity in (("gini", gini), ("entropy", lambda y: entropy(np.unique(y, return_counts=True)[1]))):
        tree = DecisionTreeClassifier(criterion=criterion, **options).fit(X, y).tree_
        assert after_split(tree) == pytest.approx(best_set(codes, y, impurity), abs=1e-12)
    numbers = effect + rng.normal(size=90)
    tree = DecisionTreeRegressor(**options).fit(X, numbers).tree_
    assert after_split(tree) == pytest.approx(best_set(codes, numbers, np.var), abs=1e-12)
    counts = rng.poisson(np.exp(effect)) + 0.1  # a set without any count could not be a leaf
    tree = DecisionTreeRegressor(criterion="poisson", **options).fit(X, counts).tree_
    assert after_split(tree) == pytest.approx(best_set(codes, counts, half_deviance), abs=1e-9)


def test_categories_with_several_classes_come_close_to_the_best():
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 8, size=200)
        shares = rng.dirichlet(np.ones(4), size=8)
        y = np.array([rng.choice(4, p=shares[c]) for c in codes])
        tree = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(codes[:, None], y).tree_
        before, best = gini(y), best_set(codes, y, gini)
        gaps.append((after_split(tree) - best) / (before - best))
    # the principal component is a heuristic: on average it finds nearly all of the decrease there is
    assert min(gaps) >= -1e-9 and np.mean(gaps) < 0.1


def test_categories_as_words_with_names_rules_and_importances():
    pd = pytest.importorskip("pandas")
    colours = ["red", "blue", "green", "blue", "red", "green", "white", "white"]
    frame = pd.DataFrame({"colour": pd.Categorical(colours), "size": [1.0, 5, 2, 6, 3, 4, 8, 7]})
    y = [1, 0, 0, 0, 1, 0, 1, 1]
    for wanted in ("from_dtype", ["colour"], [0], [True, False]):
        model = DecisionTreeClassifier(categorical_features=wanted, random_state=0).fit(frame, y)
        assert (model.predict(frame) == y).all() and model.get_n_leaves() == 2
    assert list(model.feature_names_in_) == ["colour", "size"]
    assert list(model.categories_[0]) == ["blue", "green", "red", "white"] and model.categories_[1] is None
    assert model.tree_.left_categories(0) == ["blue", "green"]
    assert export_text(model).splitlines()[0] == "|--- colour in {blue, green}"
    assert any("if colour in {blue, green} then 0" in rule for rule in rules(model))
    assert "colour in {blue, green}" in export_graphviz(model, feature_names=["colour", "size"])
    np.testing.assert_array_equal(model.feature_importances_, [1.0, 0.0])
    assert model.certificate_.holds


def test_unseen_categories_go_to_the_larger_child_and_missing_ones_where_training_says():
    X = np.array([["a"]] * 3 + [["b"]] * 2 + [[None]] * 2, dtype=object)
    y = np.array([0.0, 0, 0, 5, 5, 5, 5])
    model = DecisionTreeRegressor(categorical_features="from_dtype").fit(X, y)
    np.testing.assert_array_equal(model.predict([["a"], ["b"], [None], ["z"]]), [0.0, 5.0, 5.0, 5.0])
    no_hole = DecisionTreeRegressor(categorical_features=[0]).fit(X[:5], y[:5])
    np.testing.assert_array_equal(no_hole.predict([["a"], ["b"], [None], ["z"]]), [0.0, 5.0, 0.0, 0.0])


def test_300_categories_in_one_column():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, size=6000)
    high = rng.permutation(300) < 120
    X = np.column_stack([codes + 1000.0, rng.normal(size=6000)])
    y = high[codes] * 2.0 + X[:, 1]
    model = DecisionTreeRegressor(max_depth=1, categorical_features=[0]).fit(X, y)
    assert {int(c - 1000) for c in model.tree_.left_categories(0)} == set(np.flatnonzero(~high))
    assert model.tree_.threshold[0] == (~high).sum() and model.tree_.categories.shape[1] == 5
    assert model.predict([[5000.0, 0.0]])[0] == model.predict([[1000.0 + np.flatnonzero(~high)[0], 0.0]])[0]
    deep = DecisionTreeClassifier(categorical_features=[0]).fit(X, high[codes])
    assert deep.get_n_leaves() == 2 and deep.score(X, high[codes]) == 1.0
    three = DecisionTreeClassifier(categorical_features=[0], random_state=0).fit(X, codes % 3)
    assert three.score(X, codes % 3) == 1.0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_categorical_growth_options_agree(criterion):
    """Best-first without a limit, depth-first, weights as copies, threads: the same partition of the rows."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 12, size=300), rng.normal(size=300), rng.integers(0, 5, size=300)])
    X[rng.random(300) < 0.1, 0] = np.nan
    y = rng.normal(size=12)[np.nan_to_num(X[:, 0]).astype(int)] + X[:, 1] + rng.normal(size=300)
    y = np.exp(y) if criterion == "poisson" else y
    options = {"criterion": criterion, "categorical_features": [0, 2], "min_samples_leaf": 5, "random_state": 0}
    deep = DecisionTreeRegressor(**options).fit(X, y)
    wide = DecisionTreeRegressor(max_leaf_nodes=1000, **options).fit(X, y)
    np.testing.assert_allclose(deep.predict(X), wide.predict(X), rtol=1e-12)
    leaves = deep.apply(X)
    inner = deep.tree_.children_left >= 0
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=deep.tree_.node_count)[~inner], deep.tree_.n_node_samples[~inner]
    )
    assert deep.decision_path(X)[np.arange(300), leaves].sum() == 300
    pruned = DecisionTreeRegressor(ccp_alpha=0.05, **options).fit(X, y)
    assert pruned.get_n_leaves() < deep.get_n_leaves()
    assert np.isfinite(pruned.predict(X)).all()
    assert DecisionTreeRegressor(splitter="random", **options).fit(X, y).score(X, y) > 0.2


def test_categorical_trees_in_threads(monkeypatch):
    from hyperplan._trees import exact_threads

    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 40, size=2000), rng.normal(size=2000), rng.integers(0, 5, size=2000)])
    y = ((X[:, 0] % 7 < 3) ^ (X[:, 2] > 2) ^ (X[:, 1] > 1.5)).astype(int)
    options = {"categorical_features": [0, 2], "random_state": 0}
    whole = DecisionTreeClassifier(**options).fit(X, y)
    monkeypatch.setattr(exact_threads, "BIG_NODE", 600)
    with thread_limit(2):
        parts = DecisionTreeClassifier(**options).fit(X, y)
    assert whole.tree_ == parts.tree_ and whole.score(X, y) == 1.0


def test_numbers_as_categories_are_never_worse_than_thresholds():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 10, size=(200, 1)).astype(float)
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=200)
    sets = DecisionTreeRegressor(max_depth=2, categorical_features=[0]).fit(X, y)
    assert sets.score(X, y) > DecisionTreeRegressor(max_depth=2).fit(X, y).score(X, y) + 0.1
    ten = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    np.testing.assert_allclose(ten.predict(X), DecisionTreeRegressor().fit(X, y).predict(X), rtol=1e-12)


def test_categorical_refusals():
    X, y = [["a", 1.0], ["b", 2.0]], [0, 1]
    with pytest.raises(ValueError, match="monotonic_cst must be 0"):
        DecisionTreeClassifier(categorical_features=[0], monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(ValueError, match="surrogates are for columns of numbers"):
        DecisionTreeClassifier(categorical_features=[0], surrogates=2).fit(X, y)
    with pytest.raises(ValueError, match="mask of shape"):
        DecisionTreeClassifier(categorical_features=[True]).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        DecisionTreeClassifier(categorical_features=[0]).fit(X, y).predict([["a"]])


def test_surrogates_as_a_parameter():
    plain = DecisionTreeRegressor(max_depth=1).fit(TWINS, SIDES)
    model = DecisionTreeRegressor(max_depth=1, surrogates=2).fit(TWINS, SIDES)
    assert model.tree_.stand_ins(0) == add_surrogates(plain, TWINS, n_surrogates=2).tree_.stand_ins(0)
    assert model.predict([[np.nan, 9.0, 9.0, 0.0]])[0] == 1.0
