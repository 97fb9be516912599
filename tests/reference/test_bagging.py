"""Bagging against scikit-learn's, whose draws it repeats, and against its own members."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble as peers
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression as TheirLinearRegression
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hyperplan._base.members import is_own, rows_of_params
from hyperplan.ensemble import BaggingClassifier, BaggingRegressor
from hyperplan.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

BOTH = pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=160)
    return X, np.digitize(score, [-0.7, 0.7]), score


def targets(kind, table):
    return table[1] if issubclass(kind, BaggingClassifier) else table[2]


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# ---- the same draws as scikit-learn's


DRAWS = [
    {},
    {"bootstrap": False, "max_samples": 0.5},
    {"max_samples": 40, "max_features": 3},
    {"max_samples": 0.8, "max_features": 0.5, "bootstrap_features": True},
    {"bootstrap": False, "bootstrap_features": True, "n_estimators": 3},
]


@pytest.mark.parametrize("options", DRAWS)
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_are_those_of_scikit_learn(table, options, weighted):
    X, _, y = table
    weight = np.linspace(0.5, 1.5, 160) if weighted and options.get("bootstrap", True) else None
    ours = BaggingRegressor(LinearRegression(), random_state=3, **options).fit(X, y, sample_weight=weight)
    theirs = peers.BaggingRegressor(TheirLinearRegression(), random_state=3, **options).fit(X, y, sample_weight=weight)
    for a, b in zip(ours.estimators_samples_, theirs.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(ours.estimators_features_, theirs.estimators_features_, strict=True):
        np.testing.assert_array_equal(a, b)
    # least squares of the same samples by two methods; samples of at least 40 rows are well conditioned
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("options", DRAWS)
def test_members_of_scikit_learn_give_the_same_answers(table, options):
    X, y, _ = table
    for base in (KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier(3))):
        ours = BaggingClassifier(base, random_state=1, **options).fit(X, y)
        theirs = peers.BaggingClassifier(base, random_state=1, **options).fit(X, y)
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_decision_functions_and_votes_of_scikit_learn(table):
    X, y, _ = table
    ours = BaggingClassifier(SVC(), n_estimators=7, random_state=1).fit(X, y)
    theirs = peers.BaggingClassifier(SVC(), n_estimators=7, random_state=1).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-12, atol=1e-12)
    # without probabilities: votes
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-12)


def test_deterministic_trees_without_draws_equal_scikit_learn(table):
    X, _, y = table
    ours = BaggingRegressor(bootstrap=False, n_estimators=3, random_state=0).fit(X, y)
    theirs = peers.BaggingRegressor(bootstrap=False, n_estimators=3, random_state=0).fit(X, y)
    # all targets differ, so that full trees return them
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), y, rtol=1e-12)


def test_default_trees_agree_statistically_with_scikit_learn(table):
    X, y, score = table
    ours = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    theirs = peers.BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    # same samples, but equal splits are decided by other random numbers: a few of 160 labels may differ
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.06)
    ours = BaggingRegressor(n_estimators=60, oob_score=True, random_state=0).fit(X, score)
    theirs = peers.BaggingRegressor(n_estimators=60, oob_score=True, random_state=0).fit(X, score)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.05)


# ---- trees that share sorted columns


@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="entropy", max_features=2, class_weight="balanced", max_depth=4),
        DecisionTreeClassifier(max_leaf_nodes=6, ccp_alpha=0.01, min_samples_leaf=3),
        ExtraTreeClassifier(),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
        DecisionTreeRegressor(min_weight_fraction_leaf=0.05, ccp_alpha=0.001),
        ExtraTreeRegressor(max_features=3),
    ],
)
@pytest.mark.parametrize("options", [{}, {"max_features": 0.5, "bootstrap_features": True}])
def test_trees_that_share_a_sort_equal_trees_fitted_alone(table, tree, options):
    kind = BaggingClassifier if isinstance(tree, ClassifierMixin) else BaggingRegressor
    X, y = table[0], targets(kind, table)
    model = kind(tree, n_estimators=4, random_state=0, **options).fit(X, y)
    for member, rows, columns in zip(model.estimators_, model.estimators_samples_, model.estimators_features_):
        counts = np.bincount(rows, minlength=160)
        alone = clone(tree).set_params(random_state=member.random_state)
        selected = X[:, columns] if options else X
        alone.fit(selected, y, sample_weight=counts)
        assert alone.tree_ == member.tree_
        assert vars(alone).keys() == vars(member).keys()
        np.testing.assert_array_equal(answers(alone, selected), answers(member, selected))


@pytest.mark.parametrize("option", [{"surrogates": 1}, {"categorical_features": [0]}])
def test_trees_with_categories_or_surrogates_keep_their_own_fit(table, option):
    X, y = table[0].copy(), table[2]
    X[:, 0] = np.digitize(X[:, 0], [-1.0, 0.0, 1.0])
    if not option.keys() <= DecisionTreeRegressor().get_params().keys():
        pytest.skip("trees do not have this option")
    tree = DecisionTreeRegressor(max_depth=4, **option)
    model = BaggingRegressor(tree, n_estimators=3, random_state=0).fit(X, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_):
        alone = clone(tree).set_params(random_state=member.random_state)
        alone.fit(X, y, sample_weight=np.bincount(rows, minlength=160))
        np.testing.assert_array_equal(alone.predict(X), member.predict(X))
    assert np.isfinite(model.predict(X)).all()


def test_subclasses_of_trees_keep_their_own_fit(table):
    X, y, _ = table

    class Marked(DecisionTreeClassifier):
        def fit(self, X, y):
            self.rows_ = X.shape[0]
            return super().fit(X, y)

    model = BaggingClassifier(Marked(), max_samples=50, random_state=0).fit(X, y)
    assert [member.rows_ for member in model.estimators_] == [50] * 10


@BOTH
def test_trees_take_missing_values_and_sparse_tables(table, kind):
    X, y = table[0].copy(), targets(kind, table)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    dense = kind(random_state=0).fit(X, y)
    for form in (sp.csr_matrix, sp.csc_array):
        model = kind(random_state=0, max_features=4).fit(form(X), y)
        plain = kind(random_state=0, max_features=4).fit(X, y)
        np.testing.assert_array_equal(answers(model, form(X)), answers(plain, X))
    holes = np.where(X == 0.0, np.nan, X)
    model = kind(random_state=0, oob_score=True, n_estimators=40).fit(holes, y)
    assert np.isfinite(answers(model, holes)).all() and model.oob_score_ > 0.0
    with pytest.raises(ValueError, match="infinity"):
        dense.predict(np.where(X == 0.0, np.inf, X))
    with pytest.raises(ValueError, match="infinity"):
        kind().fit(np.where(X == 0.0, np.inf, X), y)


# ---- threads


@pytest.mark.parametrize(
    "base", [None, DecisionTreeClassifier(max_features=2), LogisticRegression(), KNeighborsClassifier(), Perceptron()]
)
def test_any_number_of_threads_gives_the_same_bits(table, base):
    X, y, _ = table
    found = []
    for n_jobs in (1, 2, 3, None, -1):
        model = BaggingClassifier(base, n_estimators=9, oob_score=True, n_jobs=n_jobs, random_state=0)
        with pytest.warns(UserWarning, match="OOB"):  # nine members leave some rows without an answer
            model.fit(X, y)
        found.append((model.predict_proba(X).tobytes(), model.oob_decision_function_.tobytes(), model.oob_score_))
        found[-1] += (model.oob_error_curve().tobytes(), str(model.certificate_))
    assert all(each == found[0] for each in found)


def test_the_first_members_do_not_depend_on_how_many_follow(table):
    X, _, y = table
    few = BaggingRegressor(n_estimators=3, random_state=5).fit(X, y)
    many = BaggingRegressor(n_estimators=12, random_state=5, n_jobs=2).fit(X, y)
    for a, b in zip(few.estimators_, many.estimators_):
        assert a.tree_ == b.tree_


def test_threads_see_the_settings_of_the_caller(table):
    X, y, _ = table

    class Nosy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            from sklearn import get_config

            self.classes_ = np.arange(3)
            self.routing_, self.division_ = get_config()["enable_metadata_routing"], np.geterr()["divide"]
            return self

        def predict(self, X):
            return np.zeros(X.shape[0], dtype=int)

    with config_context(enable_metadata_routing=True), np.errstate(divide="raise"):
        model = BaggingClassifier(Nosy(), n_jobs=3).fit(X, y)
    assert {(m.routing_, m.division_) for m in model.estimators_} == {(True, "raise")}


def test_foreign_estimators_run_in_one_thread_unless_asked(table):
    import threading

    X, y, _ = table

    class Where(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.thread_ = threading.get_ident()
            return self

        def predict(self, X):
            return np.zeros(X.shape[0], dtype=int)

    model = BaggingClassifier(Where()).fit(X, y)
    assert {m.thread_ for m in model.estimators_} == {threading.get_ident()}
    asked = BaggingClassifier(Where(), n_jobs=2).fit(X, y)
    assert threading.get_ident() not in {m.thread_ for m in asked.estimators_}
    assert is_own(BaggingClassifier(Ridge())) and not is_own(BaggingClassifier(Where()))


# ---- out-of-bag rows


@BOTH
def test_out_of_bag_curve_ends_at_the_score(table, kind):
    X, y = table[0], targets(kind, table)
    model = kind(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    curve = model.oob_error_curve()
    assert curve.shape == (40,) and np.isfinite(curve).all()
    assert curve[-1] < curve[0]
    last = 1.0 - model.oob_score_ if kind is BaggingClassifier else (1.0 - model.oob_score_) * y.var()
    assert curve[-1] == pytest.approx(last, rel=1e-10)
    curve[:] = 0.0
    assert model.oob_error_curve().any()


@BOTH
def test_out_of_bag_curve_of_a_prefix_is_the_curve_of_a_smaller_ensemble(table, kind):
    X, y = table[0], targets(kind, table)
    whole = kind(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    part = kind(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.oob_error_curve()[:30], part.oob_error_curve())


def test_out_of_bag_score_can_be_any_function(table):
    X, y, score = table
    model = BaggingClassifier(n_estimators=40, oob_score=balanced_accuracy_score, random_state=0).fit(X, y)
    expected = balanced_accuracy_score(y, model.oob_decision_function_.argmax(axis=1))
    assert model.oob_score_ == pytest.approx(expected, rel=1e-12)
    model = BaggingRegressor(n_estimators=40, oob_score=mean_absolute_error, random_state=0).fit(X, score)
    assert model.oob_score_ == pytest.approx(np.abs(score - model.oob_prediction_).mean(), rel=1e-12)


def test_out_of_bag_answers_equal_scikit_learns_for_the_same_members(table):
    X, y, score = table
    options = {"n_estimators": 40, "oob_score": True, "random_state": 0}
    ours = BaggingClassifier(KNeighborsClassifier(), **options).fit(X, y)
    theirs = peers.BaggingClassifier(KNeighborsClassifier(), **options).fit(X, y)
    np.testing.assert_allclose(ours.oob_decision_function_, theirs.oob_decision_function_, rtol=1e-12)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, rel=1e-12)
    ours = BaggingRegressor(KNeighborsRegressor(), **options).fit(X, score)
    theirs = peers.BaggingRegressor(KNeighborsRegressor(), **options).fit(X, score)
    np.testing.assert_allclose(ours.oob_prediction_, theirs.oob_prediction_, rtol=1e-12)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, rel=1e-12)


@BOTH
def test_out_of_bag_without_any_row_left(kind):
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        model = kind(oob_score=True).fit([[1.0]], [2.0])
    assert np.isnan(model.oob_score_) and np.isnan(model.oob_error_curve()).all()
    np.testing.assert_array_equal(model.predict([[5.0]]), [2.0])


@BOTH
def test_out_of_bag_needs_to_be_asked_for(table, kind):
    model = kind(n_estimators=3, random_state=0).fit(table[0], targets(kind, table))
    with pytest.raises(ValueError, match="oob_score=True"):
        model.oob_error_curve()
    with pytest.raises(ValueError, match="bootstrap=True"):
        kind(bootstrap=False, oob_score=True).fit(table[0], targets(kind, table))
    with pytest.raises(ValueError, match="warm_start=False"):
        kind(warm_start=True, oob_score=True).fit(table[0], targets(kind, table))


def test_several_outputs(table):
    X, _, y = table
    Y = np.column_stack([y, -2.0 * y, X[:, 3]])
    for base in (None, LinearRegression()):
        model = BaggingRegressor(base, n_estimators=40, oob_score=True, random_state=0).fit(X, Y)
        assert model.predict(X).shape == model.oob_prediction_.shape == (160, 3)
        assert model.oob_score_ > 0.3 and model.certificate_.holds
        for source in ("members", "oob"):
            low, high = model.predict_interval(X, source=source)
            assert low.shape == (160, 3) and (low <= high).all()
    with pytest.warns(Warning, match="column-vector"):
        assert BaggingRegressor().fit(X, y[:, None]).predict(X).shape == (160,)


# ---- intervals


def test_intervals_of_members_are_their_quantiles(table):
    X, _, y = table
    model = BaggingRegressor(n_estimators=30, max_features=4, random_state=0).fit(X, y)
    low, high = model.predict_interval(X[:9], coverage=0.8)
    each = [m.predict(X[:9][:, columns]) for m, columns in zip(model.estimators_, model.estimators_features_)]
    np.testing.assert_allclose([low, high], np.quantile(each, [0.1, 0.9], axis=0), rtol=1e-12)


def test_out_of_bag_intervals_cover_new_observations():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3000, 2))
    y = X[:, 0] ** 2 + rng.normal(size=3000)
    model = BaggingRegressor(
        DecisionTreeRegressor(min_samples_leaf=10), n_estimators=40, oob_score=True, random_state=0
    )
    model.fit(X[:1000], y[:1000])
    shares = []
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(X[1000:], coverage=coverage, source="oob")
        shares.append(np.mean((low <= y[1000:]) & (y[1000:] <= high)))
    # the quantiles of 1000 errors are uncertain by 0.016 of coverage, the share of 2000 rows by 0.011
    np.testing.assert_allclose(shares, [0.5, 0.9], atol=0.06)


def test_wrong_intervals_are_refused(table):
    X, _, y = table
    model = BaggingRegressor(n_estimators=2, random_state=0).fit(X, y)
    for coverage in (0.0, 1.0, 90):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_interval(X, coverage=coverage)
    with pytest.raises(ValueError, match="source"):
        model.predict_interval(X, source="noise")
    with pytest.raises(ValueError, match="oob_score=True"):
        model.predict_interval(X, source="oob")


# ---- weights, metadata, warm start


def test_weights_are_probabilities_and_counts_with_a_share(table):
    X, _, y = table
    weight = np.zeros(160)
    weight[[3, 8]] = 30.0, 90.0
    model = BaggingRegressor(max_samples=0.5, random_state=0).fit(X, y, sample_weight=weight)
    rows = np.concatenate(model.estimators_samples_)
    assert rows.size == 10 * 60 and set(rows) == {3, 8}
    # five standard errors of a share of 3/4 among 600
    assert np.mean(rows == 8) == pytest.approx(0.75, abs=0.09)
    with pytest.raises(ValueError, match="non-zero"):
        BaggingRegressor().fit(X, y, sample_weight=np.zeros(160))
    with pytest.raises(ValueError, match="Negative"):
        BaggingRegressor().fit(X, y, sample_weight=weight - 1.0)


class Routed(RegressorMixin, BaseEstimator):
    """Keeps the keywords that reach it."""

    def fit(self, X, y, groups=None, mode="plain"):
        self.groups_, self.mode_ = groups, mode
        return self

    def predict(self, X, offset=0.0):
        return np.full(X.shape[0], offset)


def test_keywords_reach_the_members_row_by_row(table):
    X, _, y = table
    with config_context(enable_metadata_routing=True):
        base = Routed().set_fit_request(groups=True, mode=True).set_predict_request(offset=True)
        model = BaggingRegressor(base, max_samples=20, random_state=0, n_jobs=2)
        model.fit(X, y, groups=np.arange(160), mode="odd")
        for member, rows in zip(model.estimators_, model.estimators_samples_):
            np.testing.assert_array_equal(member.groups_, rows)
            assert member.mode_ == "odd"
        np.testing.assert_array_equal(model.predict(X[:3], offset=2.0), [2.0] * 3)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        BaggingRegressor(Routed()).fit(X, y, groups=np.arange(160))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        model.predict(X, offset=2.0)


def test_keywords_per_row_of_any_type():
    rows = np.array([2, 0, 2])
    found = rows_of_params({"a": [1, 2, 3], "b": pd.Series([4, 5, 6]), "c": "xyz", "d": None, "e": 7}, rows, 3)
    assert found["a"] == [3, 1, 3] and found["b"].tolist() == [6, 4, 6]
    assert (found["c"], found["d"], found["e"]) == ("xyz", None, 7)


@BOTH
def test_warm_start_adds_members(table, kind):
    X, y = table[0], targets(kind, table)
    model = kind(n_estimators=4, warm_start=True, random_state=7).fit(X, y)
    first = list(model.estimators_)
    model.set_params(n_estimators=9).fit(X, y)
    whole = kind(n_estimators=9, random_state=7).fit(X, y)
    assert model.estimators_[:4] == first and len(model) == len(model.estimators_samples_) == 9
    for a, b in zip(model.estimators_samples_, whole.estimators_samples_):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(answers(model, X), answers(whole, X))
    with pytest.warns(UserWarning, match="without increasing"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=5 must be larger or equal to len"):
        model.set_params(n_estimators=5).fit(X, y)


# ---- edges


def test_members_that_miss_classes(table):
    X, y, _ = table
    model = BaggingClassifier(KNeighborsClassifier(1), max_samples=3, n_estimators=20, random_state=0).fit(X, y)
    assert min(len(member.classes_) for member in model.estimators_) < 3
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares), rtol=1e-10)
    scores = BaggingClassifier(SVC(), max_samples=5, n_estimators=20, random_state=1).fit(
        X, (y == 2) * 1 + (y == 1) * 2
    )
    if min(len(member.classes_) for member in scores.estimators_) < 3:
        with pytest.raises(ValueError, match="saw only 2 of 3 classes"):
            scores.decision_function(X)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [10, -3], [0.0, 1.0]])
def test_labels_of_any_type(table, labels):
    X, y, _ = table
    named = np.array(labels, dtype=object if isinstance(labels[0], str) else None)[(y > 0).astype(int)]
    model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, named)
    assert set(model.predict(X)) == set(labels) and model.score(X, named) > 0.95
    assert model.oob_score_ > 0.6


def test_one_class_and_one_row(table):
    X = table[0]
    model = BaggingClassifier(random_state=0).fit(X, np.ones(160))
    assert model.predict_proba(X).shape == (160, 1) and model.certificate_.holds
    assert BaggingRegressor(n_estimators=1).fit([[1.0]], [3.0]).certificate_.details["rho"] == 1.0


def test_bad_parameters_are_named(table):
    X, _, y = table
    for wrong in (
        {"n_estimators": 0},
        {"max_samples": 0.0},
        {"max_samples": 1.5},
        {"max_features": 0},
        {"bootstrap": "yes"},
        {"estimator": "tree"},
        {"oob_score": "accuracy"},
        {"verbose": -1},
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of BaggingRegressor must be"):
            BaggingRegressor(**wrong).fit(X, y)
        with pytest.raises(ValueError):
            peers.BaggingRegressor(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="max_features must be <= n_features"):
        BaggingRegressor(max_features=7).fit(X, y)
    with pytest.raises(ValueError, match="max_samples=200 must be <= n_samples=160"):
        BaggingRegressor(max_samples=200, bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="n_jobs=0"):
        BaggingRegressor(n_jobs=0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        BaggingRegressor(LinearRegression()).fit(np.full_like(X, np.nan), y)


def test_names_of_columns_survive(table):
    X, y, _ = table
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = BaggingClassifier(n_estimators=30, max_features=0.7, oob_score=True, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    plain = BaggingClassifier(n_estimators=30, max_features=0.7, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))
    assert model.certificate_.holds


@BOTH
def test_copies_and_pickles(table, kind):
    X, y = table[0], targets(kind, table)
    frozen = X.astype(np.float32)
    frozen.setflags(write=False)
    model = kind(random_state=0).fit(frozen, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answers(again, frozen), answers(model, frozen))
    assert str(again.certificate_) == str(model.certificate_)
    assert clone(model).get_params() == model.get_params()
    assert model[0] is model.estimators_[0] and list(model) == model.estimators_


def test_progress_is_told(table, capsys):
    X, y, _ = table
    BaggingClassifier(n_estimators=3, verbose=2, n_jobs=1).fit(X, y)
    assert capsys.readouterr().out.count("Building estimator") == 3
    BaggingClassifier(n_estimators=3).fit(X, y)
    assert capsys.readouterr().out == ""


def test_decision_function_exists_where_members_have_it(table):
    X, y, _ = table
    assert hasattr(BaggingClassifier(SVC()), "decision_function")
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier().fit(X, y), "decision_function")
    assert hasattr(BaggingClassifier(LogisticRegression(), n_estimators=2).fit(X, y), "decision_function")


def test_certificate_measures_at_most_512_training_rows():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    found = model.certificate_
    assert found.holds and found.details["rows"] == 512 and 0.0 < found.details["rho"] <= 1.0
    assert found.details["limit"] < found.details["variance"] < found.details["sigma2"]
    assert "rho sigma^2" in str(found)
