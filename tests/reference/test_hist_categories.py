"""Categories in histogram boosting: ordered statistics of the target, and categories that training did not see."""

import itertools
import math
import pickle

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._base.holdout import holdout_split
from hyperplan.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    permutation_importance,
    shap_values,
)
from hyperplan.ensemble._hist_input import apply_columns
from hyperplan.ensemble._target_statistics import encode_rows, encode_training, learn_statistics, row_order

ORDERED = {"categorical_features": [1], "categorical_encoding": "ordered", "random_state": 0}
FEW = {"max_iter": 8, "min_samples_leaf": 5, **ORDERED}


def table(n=1200, n_categories=300, seed=0, missing=0.03):
    """A number and a category, both of which matter."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, n_categories, n)
    X = np.column_stack([rng.normal(size=n), code.astype(float)])
    y = X[:, 0] + 2 * np.random.default_rng(99).normal(size=n_categories)[code] + 0.3 * rng.normal(size=n)
    X[rng.random(n) < missing, 1] = np.nan
    return X, y


def target(kind, y):
    return {"number": y, "two": np.where(y > 0, "b", "a"), "three": np.digitize(y, [-1, 1])}[kind]


def model(kind, **options):
    return (HistGradientBoostingRegressor if kind == "number" else HistGradientBoostingClassifier)(**options)


def output(fitted, X):
    return fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.predict(X)


@pytest.mark.parametrize("kind", ["number", "two", "three"])
def test_many_categories_are_learned(kind):
    X, y = table(4000)
    y = target(kind, y)
    ordered = model(kind, **ORDERED).fit(X[:3000], y[:3000])
    plain = model(kind, random_state=0).fit(X[:3000], y[:3000])
    # codes without any order against means of ten rows: 0.91 and 0.48, 0.85 and 0.69, 0.80 and 0.60 when written
    assert ordered.score(X[3000:], y[3000:]) > plain.score(X[3000:], y[3000:]) + 0.08
    assert ordered.is_categorical_.tolist() == [False, True] and ordered.certificate_.holds
    assert ordered.importances("count").shape == (2,) and ordered.feature_importances_.argmax() == 1


@pytest.mark.parametrize("growth", ["leaf", "level", "oblivious"])
@pytest.mark.parametrize("extra", [
    {}, {"sampling": "goss"}, {"sampling": "mvs", "subsample": 0.5}, {"loss": "huber"}, {"loss": "absolute_error"},
    {"early_stopping": True, "scoring": "r2"}, {"monotonic_cst": [1, 0]}, {"max_features": 0.5},
])  # fmt: skip
def test_ordered_means_go_with_all_other_options(growth, extra):
    X, y = table(3000)
    fitted = model("number", **ORDERED, growth=growth, max_iter=60, **extra).fit(X[:2000], y[:2000])
    # six or seven rows for each category; 0.895 to 0.911 when written
    assert fitted.score(X[2000:], y[2000:]) > 0.85 and fitted.certificate_.holds


def test_300_categories_are_an_error_only_where_sets_of_them_are_sought():
    X, y = table()
    with pytest.raises(ValueError, match=r"index 1 is expected to have a cardinality <= 255 .* of 29\d.*'ordered'"):
        model("number", categorical_features=[1]).fit(X, y)
    X = np.column_stack([X, np.arange(len(X)) % 3])
    ordered, auto = (
        model("number", max_iter=3, categorical_features=[1, 2], categorical_encoding=encoding).fit(X, y)
        for encoding in ("ordered", "auto")
    )
    assert ordered._model.bin_map.categorical.tolist() == [0, 0, 0]
    assert auto._model.bin_map.categorical.tolist() == [0, 0, 1]


def test_a_category_for_every_row():
    n = 100_000
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(n), rng.normal(size=n)])
    y = X[:, 1] + rng.normal(size=n)
    options = {"max_iter": 3, "early_stopping": False, "random_state": 0}
    ids = model("number", categorical_features=[0], categorical_encoding="ordered", **options).fit(X, y)
    without = model("number", **options).fit(X[:, 1:], y)
    # every row is the first of its category: a constant column, never used
    assert ids.importances("count")[0] == 0
    np.testing.assert_allclose(ids.predict(X), without.predict(X[:, 1:]), rtol=1e-12)


def test_noise_is_not_learned_from_ordered_means_but_from_plain_ones():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 700, (2000, 1)).astype(float), rng.normal(size=2000)
    means = np.bincount(X[:1000, 0].astype(int), y[:1000], 700) / np.maximum(
        np.bincount(X[:1000, 0].astype(int), minlength=700), 1
    )
    options = {"max_iter": 50, "random_state": 0}
    plain = model("number", **options).fit(means[X[:1000].astype(int)], y[:1000])
    ordered = model("number", categorical_features=[0], categorical_encoding="ordered", **options).fit(
        X[:1000], y[:1000]
    )
    # nothing can be learned: a score of 0 is the best; -0.7 for plain means when written
    assert plain.score(means[X[1000:].astype(int)], y[1000:]) < -0.3
    assert ordered.score(X[1000:], y[1000:]) > -0.15


def test_a_rows_own_target_is_in_none_of_its_numbers():
    X, y = table(200, 20)
    statistics = learn_statistics(X, [1], [20], y, None, 1, 1.0)
    order = row_order(0, 0, 200)
    before = encode_training(X, statistics, y, None, order)
    for i in range(0, 200, 17):
        other = y.copy()
        other[i] += 100.0
        after = encode_training(X, statistics, other, None, order)
        np.testing.assert_array_equal(after[i], before[i])
        changed = np.flatnonzero((after != before)[:, 1] & ~np.isnan(X[:, 1]))
        place = np.argsort(order)
        assert all(X[j, 1] == X[i, 1] and place[j] > place[i] for j in changed)


@pytest.mark.parametrize("given", [False, True])
def test_held_out_targets_do_not_leak(given):
    """Trees and statistics are the same whatever the targets of the rows that are only watched."""
    X, y = table()
    options = {**FEW, "early_stopping": True, "n_iter_no_change": 20}
    first = model("number", **options)
    held = np.arange(900, 1200) if given else holdout_split(y, 0.1, int(first._fresh_seed()), stratify=False)[1]
    other = y.copy()
    other[held] = np.random.default_rng(1).permutation(other[held])

    def fitted(y):
        if given:
            return model("number", **options).fit(X[:900], y[:900], X_val=X[900:], y_val=y[900:])
        return model("number", **options).fit(X, y)

    one, two = fitted(y), fitted(other)
    assert (one.validation_score_[1:] != two.validation_score_[1:]).all()
    np.testing.assert_array_equal(one._model.columns.statistics.tables, two._model.columns.statistics.tables)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("kind", ["number", "two", "three"])
def test_warm_start_is_one_long_fit(kind):
    X, y = table(800)
    y = target(kind, y)
    whole = model(kind, **FEW).fit(X, y)
    parts = model(kind, **{**FEW, "max_iter": 3}, warm_start=True).fit(X, y)
    parts.set_params(max_iter=8).fit(X, y)
    # the restart sums the trees' values in another order than the fit did
    np.testing.assert_allclose(output(parts, X), output(whole, X), rtol=1e-6, atol=1e-9)


def test_a_warm_start_keeps_the_categories_of_the_first_fit():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (500, 1)).astype(float)
    y = rng.normal(size=10)[X[:, 0].astype(int)]
    for encoding in ("native", "ordered"):
        options = {"categorical_features": [0], "categorical_encoding": encoding, "warm_start": True}
        fitted = model("number", max_iter=60, **options).fit(X, y)
        before = fitted.score(X, y)
        some = X[:, 0] > 4  # their codes would be others if they were learned again
        fitted.set_params(max_iter=70).fit(X[some], y[some])
        assert fitted.score(X, y) > before - 0.01  # ten rounds on half of the rows; trees of wrong codes lose 0.3


def test_weights_are_copies_in_the_means_of_all_rows():
    X, y = table(150, 12)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    by_weight = learn_statistics(X, [1], [12], y, weight.astype(float), 1, 2.0)
    by_copies = learn_statistics(np.repeat(X, weight, axis=0), [1], [12], np.repeat(y, weight), None, 1, 2.0)
    np.testing.assert_allclose(by_weight.tables[0], by_copies.tables[0], rtol=1e-5, atol=1e-6)  # float32 numbers
    codes, known = np.nan_to_num(X[:, 1]).astype(int), ~np.isnan(X[:, 1])
    prior = np.average(y, weights=weight)
    for c in range(12):
        rows = known & (codes == c)
        expected = ((weight * y)[rows].sum() + 2.0 * prior) / (weight[rows].sum() + 2.0)
        assert by_weight.tables[0][c, 0] + prior == pytest.approx(expected, rel=1e-5)
    fitted = model("number", **FEW).fit(X, y, weight)
    assert np.isfinite(fitted.predict(X)).all()


def test_classes_have_a_share_each():
    X, y = table(400, 9, missing=0.0)
    y = np.digitize(y, [-1, 1]).astype(float)
    statistics = learn_statistics(X, [1], [9], y, None, 3, 1.0)
    assert statistics.source.tolist() == [0, 1, 1, 1]
    shares = statistics.tables[0] + statistics.prior
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-6)  # float32 numbers
    encoded = encode_rows(X, statistics)
    assert encoded.shape == (400, 4)
    np.testing.assert_array_equal(encoded[:, 0], X[:, 0])
    np.testing.assert_array_equal(encoded[:, 1:], statistics.tables[0][X[:, 1].astype(int)])


def test_several_classes_are_explained_by_feature():
    X, y = table(600, 40)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])
    fitted = model("three", **FEW, interaction_cst=[[0, 1], [2]]).fit(X, target("three", y))
    found = shap_values(fitted, X[:40])
    assert found.values.shape == (40, 3, 3)
    # sums of a few hundred numbers of about 1
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, fitted.decision_function(X[:40]), atol=1e-12)
    assert permutation_importance(fitted, X, target("three", y), n_repeats=1).importances_mean.argmax() == 1
    for (*trees,) in fitted._model.trees:
        for tree in trees:
            used = set(tree.feature[tree.left >= 0])
            assert used <= {0, 1, 3, 4} or used <= {2}  # columns 3 and 4 are the further classes of feature 1


def known_mean(fitted, tree, row, known, node=0):
    """Mean answer of a tree when the features in `known` are those of the encoded row, by bins."""
    left, right = tree.left[node], tree.right[node]
    if left < 0:
        return tree.value[node]
    column = tree.feature[node]
    if fitted._model.columns.feature_of_columns()[column] in known:
        missing, edge = np.isnan(row[column]), fitted._model.bin_map.edges[column, tree.bin[node]]
        goes_left = tree.missing_left[node] if missing else row[column] <= edge
        return known_mean(fitted, tree, row, known, left if goes_left else right)
    share = tree.count[left] / tree.count[node]
    return share * known_mean(fitted, tree, row, known, left) + (1 - share) * known_mean(
        fitted, tree, row, known, right
    )


@pytest.mark.parametrize("unseen", ["missing", "prior"])
def test_shapley_values_of_several_classes_by_definition(unseen):
    """A feature is one player, whatever the number of its columns."""
    X, y = table(500, 90)
    X = np.column_stack([X, np.random.default_rng(0).integers(0, 70, len(X))])
    options = {**FEW, "max_iter": 2, "categorical_features": [1, 2], "unseen_category": unseen}
    fitted = model("three", **options).fit(X, target("three", y))
    rows = X[:6].copy()
    rows[0, 1], rows[1, 1], rows[2, 2] = np.nan, 1000.0, -5.0
    found = shap_values(fitted, rows)
    for i, row in enumerate(apply_columns(fitted, rows, fitted._model.columns)):
        for output in range(3):
            trees = [trees[output] for trees in fitted._model.trees]
            value = {
                known: sum(known_mean(fitted, tree, row, known) for tree in trees)
                for size in range(4)
                for known in itertools.combinations(range(3), size)
            }
            for f in range(3):
                others = [known for known in value if f not in known]
                terms = [
                    math.factorial(len(known)) * math.factorial(2 - len(known)) / 6
                    * (value[tuple(sorted((*known, f)))] - value[known])
                    for known in others
                ]  # fmt: skip
                assert found.values[i, f, output] == pytest.approx(sum(terms), abs=1e-12)  # rounding


def test_sets_and_shares_side_by_side():
    X, y = table(1500)
    few = np.random.default_rng(1).integers(0, 5, len(X))
    y = target("three", y + few)
    X = np.column_stack([few, X, few == 2])
    options = {"categorical_features": [0, 2], "max_iter": 20, "random_state": 0}
    auto = model("three", categorical_encoding="auto", **options).fit(X, y)
    assert auto._model.bin_map.categorical.tolist() == [1, 0, 0, 0, 0, 0]  # feature 2 has two more columns
    assert auto.importances("count").shape == (4,) and auto.certificate_.holds
    found = shap_values(auto, X[:20])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, auto.decision_function(X[:20]), atol=1e-12)
    # sets of five categories are as good as their means
    ordered = model("three", categorical_encoding="ordered", **options).fit(X, y)
    assert abs(auto.score(X, y) - ordered.score(X, y)) < 0.05
    rows = X[:3].copy()
    rows[:, 0], rows[:, 2] = 17.0, 10_000.0
    auto.set_params(unseen_category="prior")
    at_prior = auto.predict_proba(rows)
    rows[:, 0] = np.nan  # no statistics there: missing
    np.testing.assert_array_equal(auto.predict_proba(rows), at_prior)


@pytest.mark.parametrize("kind", ["number", "three"])
def test_threads_precision_and_pickles_change_nothing(kind):
    X, y = table(3000)
    X = X.astype(np.float32)
    y = target(kind, y)
    first = model(kind, **FEW).fit(X, y)
    with thread_limit(1):
        one = model(kind, **FEW).fit(X.astype(np.float64), y)
    wide = model(kind, **FEW).fit(np.asfortranarray(X), y)
    for other in (one, wide, pickle.loads(pickle.dumps(first))):
        np.testing.assert_array_equal(output(other, X), output(first, X))
    seeds = model(kind, **{**FEW, "random_state": 1}).fit(X, y)
    assert (output(seeds, X) != output(first, X)).any()


@pytest.mark.parametrize("encoding", ["native", "ordered"])
@pytest.mark.parametrize("code", [-3.0, 1.5, 77.0, np.inf])
def test_unseen_categories_by_policy(encoding, code):
    X, y = table(600, 30)
    X[:, 1] *= 2  # codes with gaps
    fitted = model("number", **{**FEW, "categorical_encoding": encoding}).fit(X, y)
    rows = X[:4].copy()
    rows[2, 1] = np.nan
    expected = fitted.predict(rows)
    rows[2, 1] = code
    np.testing.assert_array_equal(fitted.predict(rows), expected)
    np.testing.assert_array_equal(list(fitted.staged_predict(rows))[-1], expected)
    fitted.set_params(unseen_category="error")
    with pytest.raises(ValueError, match=r"Column 1 has categories .* in 1 row: the first is .* in row 2\..*'missing'"):
        fitted.predict(rows)
    assert np.isfinite(fitted.predict(X)).all()


def test_unseen_categories_at_the_prior():
    X, y = table(600, 30)
    fitted = model("number", **FEW, unseen_category="prior").fit(X, y)
    at_prior = encode_rows(X[:5], fitted._model.columns.statistics)
    at_prior[:, 1] = 0.0
    rows = X[:5].copy()
    rows[:, 1] = 1000.0
    from hyperplan._trees.binned_predictor import predict_raw

    expected = predict_raw(fitted._cached_predictor(), at_prior, fitted._model.baseline)[0]
    np.testing.assert_array_equal(fitted.predict(rows), expected)
    with pytest.raises(ValueError, match=r"'prior' .* needs categorical_encoding='ordered'"):
        model("number", categorical_features=[1], unseen_category="prior").fit(X, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_strings(library):
    frames = pytest.importorskip(library)
    X, y = table(900, 280, missing=0.0)
    names = [f"town {int(c)}" for c in X[:, 1]]

    def frame(names):
        if library == "pandas":
            return frames.DataFrame({"x": X[: len(names), 0], "town": frames.Categorical(names)})
        return frames.DataFrame({"x": X[: len(names), 0], "town": frames.Series(names, dtype=frames.Categorical)})

    options = {"max_iter": 8, "categorical_encoding": "ordered", "random_state": 0, "min_samples_leaf": 5}
    fitted = model("number", **options).fit(frame(names), y)
    # sorted names have other codes than numbers, and nothing else is different
    np.testing.assert_array_equal(fitted.predict(frame(names)), model("number", **FEW).fit(X, y).predict(X))
    rows = frame(["town 1", "Atlantis", "town 2"])
    assert np.isfinite(fitted.predict(rows)).all()
    with pytest.raises(ValueError, match=r"Column 1 \('town'\) has .* the first is 'Atlantis' in row 1"):
        fitted.set_params(unseen_category="error").predict(rows)


def test_columns_without_any_category():
    X, y = table(300, 5)
    X[:, 1] = np.nan
    for encoding in ("native", "ordered", "auto"):
        fitted = model("number", **{**FEW, "categorical_encoding": encoding}).fit(X, y)
        seen = X.copy()
        seen[:, 1] = 3.0  # unseen: missing
        np.testing.assert_array_equal(fitted.predict(seen), fitted.predict(X))


@pytest.mark.parametrize("options", [{"target_smoothing": 0.0}, {"n_permutations": 0}, {"unseen_category": "ignore"}])
def test_bad_options_are_named(options):
    X, y = table(50, 3)
    with pytest.raises(ValueError, match=next(iter(options))):
        model("number", **{**FEW, **options}).fit(X, y)


@pytest.mark.parametrize("kind", ["number", "three"])
def test_one_row_at_a_time_is_all_rows_together(kind):
    X, y = table(600, n_categories=12, missing=0.1)  # few rows are walked by values, many go by masks of bins
    X = np.column_stack([np.ones(600), X, np.zeros(600)])  # columns that no tree asks about
    fitted = model(kind, max_iter=8, categorical_features=[2], random_state=0).fit(X[:500], target(kind, y)[:500])
    fresh = np.vstack(
        [X[500:540], [[1.0, np.nan, 40.0, 0.0], [np.nan, np.inf, np.nan, 1e300], [1.0, -np.inf, 3.0, 0.0]]]
    )
    singly = np.concatenate([output(fitted, row[None]) for row in fresh])
    assert (singly == output(fitted, fresh)).all()
