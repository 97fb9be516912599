"""AdaBoost against scikit-learn, its bounds as properties, its variants and its edges."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import ensemble as peer
from sklearn import linear_model, neighbors, tree
from sklearn.datasets import load_iris

from hyperplan import thread_limit
from hyperplan.ensemble import AdaBoostClassifier, AdaBoostRegressor
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

VARIANTS = ["samme", "discrete", "real", "gentle", "logit"]
ROUNDING = 1e-9  # sums of a few hundred weights, through at most 60 rounds that multiply the errors of rounding


def rows(n=400, d=6, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_same_as_scikit_learn(n_classes, learning_rate):
    X, y = rows(n_classes=n_classes)
    options = {"n_estimators": 60, "learning_rate": learning_rate, "random_state": 0}
    ours, theirs = AdaBoostClassifier(**options).fit(X, y), peer.AdaBoostClassifier(**options).fit(X, y)
    for name in ("estimator_errors_", "estimator_weights_", "feature_importances_"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=ROUNDING, abs=ROUNDING), name
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        assert getattr(ours, method)(X) == pytest.approx(getattr(theirs, method)(X), rel=1e-7, abs=ROUNDING), method
    for a, b in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        assert a == pytest.approx(b, abs=ROUNDING)
    assert list(ours.staged_score(X, y)) == list(theirs.staged_score(X, y))


@pytest.mark.filterwarnings("ignore:divide by zero encountered in log")  # the peer's
def test_same_as_scikit_learn_with_weights_and_any_learner():
    X, y = rows(n_classes=3)
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    for learner in (tree.DecisionTreeClassifier(max_depth=2), linear_model.LogisticRegression(), None):
        options = {"estimator": learner, "n_estimators": 15, "random_state": 3}
        ours = AdaBoostClassifier(**options).fit(X, y, sample_weight=weight)
        theirs = peer.AdaBoostClassifier(**options).fit(X, y, sample_weight=weight)
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression_same_as_scikit_learn(loss):
    X, _ = rows()
    y = X[:, 0] * X[:, 1] - 3.0  # negative numbers too
    learner = tree.DecisionTreeRegressor(max_depth=3)
    options = {"estimator": learner, "n_estimators": 15, "loss": loss, "random_state": 0}
    ours, theirs = AdaBoostRegressor(**options).fit(X, y), peer.AdaBoostRegressor(**options).fit(X, y)
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_, rel=1e-10)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-10)
    assert [len(p) for p in ours.staged_predict(X)] == [len(X)] * len(ours.estimators_)
    assert ours.certificate_.holds
    scores = [kind(random_state=0).fit(X, y).score(X, y) for kind in (AdaBoostRegressor, peer.AdaBoostRegressor)]
    assert scores[0] == pytest.approx(scores[1], abs=0.15)  # trees that decide ties otherwise


@pytest.mark.parametrize(("variant", "n_classes"), [*((variant, 2) for variant in VARIANTS), ("samme", 3), ("real", 3)])
def test_fast_stumps_are_the_learner_itself(variant, n_classes):
    """A subclass of the tree takes the general road; all numbers must be those of the presorted stumps."""
    base = DecisionTreeRegressor if variant in ("gentle", "logit") else DecisionTreeClassifier

    class Plain(base):
        pass

    X, y = rows(n=150, n_classes=n_classes)
    options = {"n_estimators": 12, "variant": variant, "random_state": 0}
    fast, slow = AdaBoostClassifier(**options).fit(X, y), AdaBoostClassifier(Plain(max_depth=1), **options).fit(X, y)
    assert fast.estimator_errors_ == pytest.approx(slow.estimator_errors_, rel=ROUNDING)
    assert fast.decision_function(X) == pytest.approx(slow.decision_function(X), rel=1e-7, abs=ROUNDING)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 3),
    st.integers(0, 10_000),
    st.sampled_from(VARIANTS),
    st.sampled_from([1.0, 0.3]),
)
def test_training_error_is_below_the_product(n, d, seed, variant, learning_rate):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(n, d)), 1), rng.integers(0, 2, size=n)
    y[:2] = [0, 1]
    model = AdaBoostClassifier(n_estimators=10, variant=variant, learning_rate=learning_rate, random_state=0)
    X[:, 0] = np.arange(n)  # no column that is all the same, on which no learner beats chance
    model.fit(X, y)
    certificate = model.certificate_
    assert certificate.holds
    assert certificate.value == pytest.approx(np.mean(model.predict(X) != y))
    if "edge bound" in certificate.details:
        assert certificate.bound <= certificate.details["edge bound"] * (1 + 1e-8)
    if variant != "logit" and certificate.details["errors"][-1] > 0:
        assert certificate.details["loss"] == pytest.approx(certificate.details["product"], rel=1e-6)


def test_the_bound_holds_for_several_classes():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=20, random_state=0).fit(X, y)
    assert model.certificate_.holds and model.certificate_.value == pytest.approx(np.mean(model.predict(X) != y))
    assert AdaBoostClassifier(variant="real", random_state=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("options", [{"resample": True}, {"trim": 0.1}, {"trim": 0.1, "estimator": "tree"}])
@pytest.mark.parametrize("variant", VARIANTS)
def test_resampling_and_trimming(variant, options):
    X, y = rows()
    kind = DecisionTreeRegressor if variant in ("gentle", "logit") else DecisionTreeClassifier
    options = {**options, "estimator": kind(max_depth=2)} if "estimator" in options else options
    model = AdaBoostClassifier(n_estimators=30, variant=variant, random_state=0, **options).fit(X, y)
    assert model.score(X, y) > 0.9 and model.certificate_.holds
    again = AdaBoostClassifier(n_estimators=30, variant=variant, random_state=0, **options).fit(X, y)
    assert np.array_equal(model.decision_function(X), again.decision_function(X))


def test_trimming_leaves_the_lightest_rows_out():
    sizes = []

    class Recorder(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            sizes.append((len(y), sample_weight.sum()))
            return super().fit(X, y, sample_weight=sample_weight)

    X, y = rows()
    AdaBoostClassifier(Recorder(max_depth=1), n_estimators=20, trim=0.1, random_state=0).fit(X, y)
    assert sizes[-1][0] < sizes[0][0] and all(total >= 0.9 - 1e-12 for _, total in sizes)


def test_resampling_is_for_learners_without_weights():
    X, y = rows()
    learner = neighbors.KNeighborsClassifier(3)
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        AdaBoostClassifier(learner).fit(X, y)
    assert AdaBoostClassifier(learner, n_estimators=5, resample=True, random_state=0).fit(X, y).score(X, y) > 0.85


def test_variants_that_cannot_be():
    X, y = rows(n_classes=3)
    for variant in ("discrete", "gentle", "logit"):
        with pytest.raises(ValueError, match="two classes"):
            AdaBoostClassifier(variant=variant).fit(X, y)
    with pytest.raises(ValueError, match="must be a regressor"):
        AdaBoostClassifier(DecisionTreeClassifier(), variant="logit").fit(X, y > 0)
    with pytest.raises(ValueError, match="no predict_proba"):
        AdaBoostClassifier(linear_model.Perceptron(), variant="real").fit(X, y)
    for option in ({"variant": "x"}, {"trim": 1.0}, {"n_estimators": 0}, {"learning_rate": 0.0}, {"resample": 2}):
        with pytest.raises(ValueError, match=next(iter(option))):
            AdaBoostClassifier(**option).fit(X, y)


def test_gentle_boosting_takes_classifiers():
    X, y = rows()
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10, variant="gentle", random_state=0)
    assert model.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_class_and_a_perfect_stump(variant):
    X = np.arange(6.0)[:, None]
    alone = AdaBoostClassifier(variant=variant, random_state=0).fit(X, np.ones(6))
    assert alone.predict(X).tolist() == [1.0] * 6 and alone.predict_proba(X).tolist() == [[1.0]] * 6
    y = np.array(["n", "n", "n", "y", "y", "y"])
    model = AdaBoostClassifier(variant=variant, random_state=0).fit(X, y)
    assert len(model) == 1 and model.estimator_errors_[0] == 0.0 and model.score(X, y) == 1.0
    assert model.certificate_.value == 0.0 and model.certificate_.holds


def test_constant_columns_are_refused_like_a_learner_worse_than_chance():
    with pytest.raises(ValueError, match="worse than random"):
        AdaBoostClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_rows_of_weight_zero_do_not_matter():
    X, y = rows(n=120)
    weight = np.ones(120)
    weight[100:] = 0.0
    with_zeros = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y, sample_weight=weight)
    without = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X[:100], y[:100])
    assert with_zeros.decision_function(X) == pytest.approx(without.decision_function(X), abs=1e-12)


def test_sparse_rows_and_pickle():
    X, y = rows(n=200)
    X[np.abs(X) < 0.7] = 0.0
    dense = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    for container in (sp.csr_matrix, sp.csc_array):
        sparse = AdaBoostClassifier(n_estimators=20, random_state=0).fit(container(X), y)
        assert np.array_equal(sparse.decision_function(container(X)), dense.decision_function(X))
    copy = pickle.loads(pickle.dumps(dense))
    assert np.array_equal(copy.predict_proba(X), dense.predict_proba(X))


def test_changed_learners_are_noticed():
    X, y = rows(n=200)
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    before = model.decision_function(X)
    model.estimator_weights_[0] *= 5.0
    assert not np.array_equal(model.decision_function(X), before)


def test_large_values_are_refused_by_the_trees():
    X, y = rows(n=50)
    X[3, 2] = 1e200
    with pytest.raises(ValueError, match="infinity or a value too large"):
        AdaBoostClassifier().fit(X, y)


def test_threads_change_no_bit():
    X, y = rows(n=9000, d=8)
    found = []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
            found.append((model.estimator_weights_.tobytes(), model.decision_function(X).tobytes()))
    assert found[0] == found[1] == found[2]
