"""Odd tables for every tree, forest and boosting estimator: what is defined, and what is refused in which words."""

import numpy as np
import pytest
import sklearn

from hyperplan import ensemble, tree
from hyperplan._base import InvalidParameterError, is_classifier
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

FEW = {"n_estimators": 5}


def members(kind, **options):
    """Options of ensembles that take trees from outside."""
    learner = DecisionTreeClassifier if kind.endswith("Classifier") else DecisionTreeRegressor
    return {"estimator": learner(**options), **FEW}


BUILD = {
    "DecisionTree": lambda kind, **options: options,
    "ExtraTree": lambda kind, **options: options,
    "RandomForest": lambda kind, **options: {**FEW, **options},
    "ExtraTrees": lambda kind, **options: {**FEW, **options},
    "Bagging": members,
    "AdaBoost": members,
    "GradientBoosting": lambda kind, **options: {**FEW, **options},
    "HistGradientBoosting": lambda kind, **options: {"max_iter": 5, "min_samples_leaf": 1, **options},
}


class Variant(str):
    """A class by name, with options beyond those of all variants."""

    def __new__(cls, name, **options):
        self = super().__new__(cls, name)
        self.options = options
        return self

    def __repr__(self):
        return "-".join([str(self), *map(str, self.options.values())])


NAMES = [Variant(family + kind) for family in BUILD for kind in ("Classifier", "Regressor")]
NAMES += [Variant(f"RandomForest{kind}", splitter="histogram") for kind in ("Classifier", "Regressor")]
NAMES += [Variant(f"HistGradientBoosting{kind}", growth="oblivious") for kind in ("Classifier", "Regressor")]
NAMES += [Variant("AdaBoostClassifier", variant=variant) for variant in ("real", "gentle", "logit")]
NO_MISSING = ("AdaBoost", "GradientBoosting")  # as in scikit-learn
MISSING = [name for name in NAMES if not name.startswith(NO_MISSING)]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Z = X[:, 0] + X[:, 1]

each = pytest.mark.parametrize("name", NAMES, ids=repr)


def model(name, **options):
    kind = name[-len("Classifier") :] if name.endswith("Classifier") else "Regressor"
    family = name.removesuffix(kind)
    cls = getattr(tree if family in ("DecisionTree", "ExtraTree") else ensemble, name)
    further = getattr(name, "options", {})
    kind = "Regressor" if further.get("variant") == "logit" else kind  # whose members fit numbers
    return cls(random_state=0, **BUILD[family](kind, **options), **further)


def target(name):
    return np.where(Z > 0, "up", "down") if name.endswith("Classifier") else Z


def output(fitted, rows):
    return fitted.predict_proba(rows) if is_classifier(fitted) else fitted.predict(rows)


def answers_are_whole(fitted, rows):
    found = output(fitted, rows)
    sums = np.allclose(found.sum(axis=1), 1.0) if found.ndim == 2 else True
    return bool(np.isfinite(found).all()) and sums and fitted.predict(rows).shape == (len(rows),)


@each
def test_one_class_or_one_value(name):
    y = np.full(60, "only") if name.endswith("Classifier") else np.full(60, 3.5)
    if name == "GradientBoostingClassifier":  # as in scikit-learn
        with pytest.raises(ValueError, match=r"y contains 1 class .* minimum of 2 classes"):
            model(name).fit(X, y)
        return
    fitted = model(name).fit(X, y)
    assert (fitted.predict(X) == y).all() and answers_are_whole(fitted, X)
    if name.endswith("Classifier"):
        assert fitted.predict_proba(X).shape == (60, 1)


@each
def test_one_row(name):
    y = ["only"] if name.endswith("Classifier") else [2.5]
    if name == "GradientBoostingClassifier":
        with pytest.raises(ValueError, match="minimum of 2 classes"):
            model(name).fit(X[:1], y)
        return
    assert (model(name).fit(X[:1], y).predict(X) == y[0]).all()


@each
def test_no_row_and_no_column(name):
    with pytest.raises(ValueError, match=r"0 sample\(s\).* minimum of 1"):
        model(name).fit(X[:0], target(name)[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\).* minimum of 1"):
        model(name).fit(X[:, :0], target(name))


@each
def test_constant_columns_give_one_answer(name):
    y = np.r_[np.zeros(15), np.ones(45)]
    fitted = model(name).fit(np.ones((60, 3)), y)
    found = output(fitted, X)
    assert (found == found[0]).all() and answers_are_whole(fitted, X)
    if name.startswith(("DecisionTree", "ExtraTree", "GradientBoosting", "HistGradientBoosting")):
        # no bootstrap and no reweighting: shares, or the mean
        assert found[0] == pytest.approx([0.25, 0.75] if name.endswith("Classifier") else 0.75, rel=1e-12)


@each
def test_an_all_missing_column(name):
    rows = X.copy()
    rows[:, 2] = np.nan
    if name not in MISSING:
        with pytest.raises(ValueError, match=r"contains NaN. 60 such values, the first at row 0, column 2"):
            model(name).fit(rows, target(name))
        return
    fitted = model(name).fit(rows, target(name))
    assert fitted.score(rows, target(name)) > 0.6  # five rounds of boosting explain about two thirds
    rows[:, 2] = 0.0  # never seen, never asked for
    assert answers_are_whole(fitted, rows)
    nothing = np.full_like(X, np.nan)
    found = output(model(name).fit(nothing, target(name)), nothing)
    assert (found == found[0]).all()


@each
def test_missing_at_prediction_only(name):
    rows = X.copy()
    rows[::2, 0] = np.nan
    fitted = model(name).fit(X, target(name))
    if name not in MISSING:
        with pytest.raises(ValueError, match=r"contains NaN. 30 such values, the first at row 0, column 0"):
            fitted.predict(rows)
        return
    found = output(fitted, rows)
    assert answers_are_whole(fitted, rows)
    np.testing.assert_array_equal(found[1::2], output(fitted, X)[1::2])  # complete rows are not affected
    assert (found[::2] != output(fitted, X)[::2]).any()


@each
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_infinite_values_are_located(name, value):
    """Trees work in float32, as scikit-learn's do; histogram boosting only compares, so that any number will do."""
    rows = X.copy()
    rows[7, 1] = value
    if name.startswith("HistGradientBoosting"):
        fitted = model(name).fit(rows, target(name))
        assert answers_are_whole(fitted, rows) and fitted.score(rows, target(name)) > 0.6
        return
    words = r"contains infinity or a value too large.* 1 such value, the first at row 7, column 1"
    with pytest.raises(ValueError, match=words):
        model(name).fit(rows, target(name))
    with pytest.raises(ValueError, match=words):
        model(name).fit(X, target(name)).predict(rows)


@pytest.mark.parametrize("name", MISSING, ids=repr)
def test_both_infinities_among_missing_values(name):
    rows = X.copy()
    rows[2, 0], rows[9, 2], rows[11, 2] = np.nan, np.inf, -np.inf
    if name.startswith("HistGradientBoosting"):
        assert answers_are_whole(model(name).fit(rows, target(name)), rows)
        return
    with pytest.raises(ValueError, match="2 such values, the first at row 9, column 2"):
        model(name).fit(rows, target(name))


@each
def test_depth_zero_is_refused(name):
    with pytest.raises(InvalidParameterError, match=r"'max_depth' parameter .* must be an int .*\[1, inf\).* Got 0"):
        model(name, max_depth=0).fit(X, target(name))


@each
def test_more_leaves_than_rows(name):
    fitted = model(name, max_leaf_nodes=10_000).fit(X, target(name))
    assert fitted.score(X, target(name)) > 0.55  # five small steps of boosting
    if name.startswith(("DecisionTree", "ExtraTree")):
        assert fitted.score(X, target(name)) == 1.0


@each
def test_rows_of_weight_zero_have_no_say(name):
    weight = np.r_[np.ones(30), np.zeros(30)]
    y = target(name)
    other = y.copy()
    other[30:] = np.where(other[30:] == "up", "down", "up") if name.endswith("Classifier") else 1000.0
    first, second = (output(model(name).fit(X, target, weight), X) for target in (y, other))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Classifier")], ids=repr)
def test_a_class_of_weight_zero_is_never_predicted(name):
    weight = (target(name) == "up").astype(float)
    if name == "GradientBoostingClassifier":
        with pytest.raises(ValueError, match="1 class after sample_weight trimmed classes with zero weights"):
            model(name).fit(X, target(name), weight)
        return
    fitted = model(name).fit(X, target(name), weight)
    assert fitted.classes_.tolist() == ["down", "up"] and (fitted.predict(X) == "up").all()


@each
def test_all_weights_zero_are_refused(name):
    with pytest.raises(ValueError, match="at least one non-zero"):
        model(name).fit(X, target(name), np.zeros(60))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Regressor")], ids=repr)
def test_negative_targets_of_poisson(name):
    y = np.abs(Z)
    y[4] = -2.0
    if name == "GradientBoostingRegressor":  # no such loss there
        with pytest.raises(InvalidParameterError, match="'loss'"):
            model(name, loss="poisson").fit(X, y)
        return
    option = {"loss": "poisson"} if name.startswith("Hist") else {"criterion": "poisson"}
    words = "non-negative y .* Row 4 has -2" if name.startswith("Hist") else "negative .* The first is in row 4"
    if name.startswith("AdaBoost"):  # its members see drawn rows
        words = "negative which is not allowed for Poisson"
    with pytest.raises(ValueError, match=words):
        model(name, **option).fit(X, y)
    y[4] = 0.0
    assert (model(name, **option).fit(X, y).predict(X) >= 0).all()


def test_targets_that_gamma_and_poisson_cannot_have():
    with pytest.raises(ValueError, match=r"strictly positive y. Row 1 has 0"):
        ensemble.HistGradientBoostingRegressor("gamma").fit(X[:3], [1.0, 0.0, 2.0])
    with pytest.raises(ValueError, match=r"sum\(y\) > 0. All are 0"):
        ensemble.HistGradientBoostingRegressor("poisson").fit(X[:3], np.zeros(3))


@each
def test_missing_targets_are_refused(name):
    y = Z.copy() if name.endswith("Regressor") else (Z > 0).astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        model(name).fit(X, y)


@each
def test_another_number_of_columns(name):
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        model(name).fit(X, target(name)).predict(X[:, :2])


@each
def test_duplicate_column_names(name):
    """Refused by scikit-learn from 1.9 on (names could not tell the columns apart); columns by position before."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "a", "b"])
    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9):
        with pytest.raises(ValueError, match=r"unique column names.*\n.*'a' 2 times"):
            model(name).fit(frame, target(name))
    else:
        fitted = model(name).fit(frame, target(name))
        np.testing.assert_array_equal(fitted.predict(frame), model(name).fit(X, target(name)).predict(X))


CATEGORICAL = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
CATEGORICAL += ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]


@pytest.mark.parametrize("name", CATEGORICAL)
def test_300_categories_in_one_column(name):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(300.0), 10)).reshape(-1, 1)
    effect = np.random.default_rng(1).normal(size=300)[codes[:, 0].astype(int)]
    y = effect > 0 if name.endswith("Classifier") else effect
    if name.startswith("Hist"):
        with pytest.raises(ValueError, match=r"cardinality <= 255 .* of 300. Set categorical_encoding='ordered'"):
            model(name, categorical_features=[0]).fit(codes, y)
        fitted = model(name, categorical_features=[0], categorical_encoding="ordered").fit(codes, y)
    else:
        fitted = model(name, categorical_features=[0]).fit(codes, y)
    # the mean of nine rows before says nearly all; five small steps of boosting go half of the way
    assert fitted.score(codes, y) > (0.5 if name.startswith("Hist") else 0.99)
    for unseen in (300.0, -1.0, 2.5):
        assert answers_are_whole(fitted, np.array([[unseen], [np.nan]]))


@pytest.mark.parametrize("name", CATEGORICAL)
def test_unseen_categories_at_prediction(name):
    codes = np.random.default_rng(0).integers(0, 6, 60).astype(float)
    rows = np.column_stack([codes, X[:, 1]])
    y = codes > 2 if name.endswith("Classifier") else codes + X[:, 1]
    fitted = model(name, categorical_features=[0]).fit(rows, y)
    unseen = rows.copy()
    unseen[::3, 0] = 17.0
    found = output(fitted, unseen)
    assert answers_are_whole(fitted, unseen)
    keep = np.arange(60) % 3 > 0
    np.testing.assert_array_equal(found[keep], output(fitted, rows)[keep])
    unseen[::3, 0] = 18.0  # all unseen ones are alike
    np.testing.assert_array_equal(output(fitted, unseen), found)


# Counters and packed sums beyond 10^6 rows

MANY = 2**20 + 3


class Shifted:
    """Squared error from 0: all derivatives of the first round have one sign, and their sum is as large as can be."""

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def gradient(self, y, f):
        return f - y

    def curvature(self, y, f):
        return np.ones_like(f)


@pytest.fixture(scope="module")
def many():
    """A column of four values, one of which only the rows 0 .. 699 have, and targets 1 to 4 by value."""
    codes = np.zeros(MANY)
    codes[700:] = 1 + np.arange(MANY - 700) % 3
    return codes.reshape(-1, 1), 1.0 + codes


@pytest.mark.parametrize("growth", ["leaf", "level", "oblivious"])
@pytest.mark.parametrize("scale", [1.0, 1e18, 1e-18])
def test_packed_sums_of_many_rows(many, growth, scale):
    rows, y = many
    options = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "early_stopping": False, "growth": growth}
    options["random_state"] = 0
    fitted = ensemble.HistGradientBoostingRegressor(Shifted(), **options, min_hessian=0.0).fit(rows, scale * y)
    (grown,) = fitted._model.trees[0]
    assert grown.count[0] == MANY and grown.count.min() == 700 and grown.n_leaves == 4
    np.testing.assert_allclose(fitted.predict(np.arange(4.0).reshape(-1, 1)), scale * np.arange(1.0, 5.0), rtol=1e-6)


@pytest.mark.parametrize("weight", [1e9, 1e-9])
def test_packed_sums_of_many_weighted_rows(many, weight):
    rows, y = many
    weights = np.full(MANY, weight)
    weights[:700] *= 1e3  # they weigh nearly as much as all others together
    options = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "min_hessian": 0.0, "early_stopping": False}
    fitted = ensemble.HistGradientBoostingClassifier(**options).fit(rows, y > 2, weights)
    share = weights[y > 2].sum() / weights.sum()
    start = np.log(share / (1 - share))
    codes = np.arange(4.0).reshape(-1, 1)
    step = np.where(codes[:, 0] > 1, 1 / share, -1 / (1 - share))  # Newton's, from the share of all rows
    np.testing.assert_allclose(fitted.decision_function(codes), start + step, rtol=1e-5)  # float32 derivatives


ONE = {"n_estimators": 1, "bootstrap": False}


@pytest.mark.parametrize("name, options", [
    ("DecisionTreeRegressor", {}), ("ExtraTreeRegressor", {}), ("RandomForestRegressor", {**ONE, "splitter": "exact"}),
    ("RandomForestRegressor", {**ONE, "splitter": "histogram"}), ("ExtraTreesRegressor", ONE),
])  # fmt: skip
def test_counters_of_many_rows(many, name, options):
    rows, y = many
    fitted = model(name, **options).fit(rows, y)
    grown = (fitted.estimators_[0] if options else fitted).tree_
    assert grown.n_node_samples[0] == MANY and grown.n_node_samples.min() == 700
    np.testing.assert_allclose(fitted.predict(np.arange(4.0).reshape(-1, 1)), np.arange(1.0, 5.0), rtol=1e-12)


@pytest.mark.parametrize("name, options", [
    ("DecisionTreeRegressor", {}), ("RandomForestRegressor", {"n_estimators": 2, "splitter": "exact"}),
    ("RandomForestRegressor", {"n_estimators": 2, "splitter": "histogram"}), ("BaggingRegressor", {}),
    ("GradientBoostingRegressor", {"n_estimators": 1, "learning_rate": 1.0}),
])  # fmt: skip
def test_sums_of_many_weighted_rows(many, name, options):
    """Four values and room for four leaves: every tree is exact, whatever the scale of weights and targets."""
    rows, y = many
    weights = np.full(MANY, 1e9)
    weights[:700] *= 1e3
    for scale in (1e15, 1e-5):  # variances below 1e-16 count as 0, as in scikit-learn
        fitted = model(name, **options).fit(rows, scale * y, weights)
        # the residuals of boosting lose some of their digits to the mean
        found = fitted.predict(np.arange(4.0).reshape(-1, 1))
        np.testing.assert_allclose(found, scale * np.arange(1.0, 5.0), rtol=1e-9)
