"""Classical gradient boosting against scikit-learn, and its edges.

With `min_samples_leaf=20` ties decide no split, so that both grow the same trees; sums then differ by rounding.
"""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import ensemble as peer
from sklearn.linear_model import LinearRegression, LogisticRegression

from hyperplan import thread_limit
from hyperplan.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

ROUNDING = 1e-9  # thirty stages of sums over 500 rows
RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 6)).astype(np.float32)
Y = X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=500)
WEIGHT = RNG.exponential(size=500)  # without equal weights there are no ties of absolute errors either
COMMON = {"n_estimators": 30, "min_samples_leaf": 20, "random_state": 0}
SETTINGS = [
    {},
    {"subsample": 0.5},
    {"max_leaf_nodes": 5, "max_depth": None},
    {"init": "zero"},
    {"n_iter_no_change": 3},
    {"min_weight_fraction_leaf": 0.05, "min_impurity_decrease": 0.001},
    {"ccp_alpha": 0.01},
    {"learning_rate": 0.5, "max_depth": 1},
]


def both(name, y, options, weight=WEIGHT):
    ours = {"Classifier": GradientBoostingClassifier, "Regressor": GradientBoostingRegressor}[name](**COMMON, **options)
    theirs = getattr(peer, f"GradientBoosting{name}")(**COMMON, **options)
    return ours.fit(X, y, sample_weight=weight), theirs.fit(X, y, sample_weight=weight)


def assert_same_history(ours, theirs):
    assert ours.n_estimators_ == theirs.n_estimators_
    for name in ("train_score_", "oob_improvement_", "oob_scores_", "feature_importances_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(ours, name):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-7, abs=ROUNDING), name
    assert np.array_equal(ours.apply(X), theirs.apply(X))
    assert ours.certificate_.holds


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_regressor_is_scikit_learns(loss, settings):
    ours, theirs = both("Regressor", Y, {"loss": loss, **settings})
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=ROUNDING, abs=ROUNDING)
    assert_same_history(ours, theirs)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("loss", "cuts"), [("log_loss", [1.0]), ("exponential", [1.0]), ("log_loss", [0.0, 2.0])])
def test_classifier_is_scikit_learns(loss, cuts, settings):
    y = np.array(["low", "middle", "top"])[np.digitize(Y, cuts)]
    ours, theirs = both("Classifier", y, {"loss": loss, **settings})
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), rel=1e-7, abs=ROUNDING)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), rel=1e-7, abs=ROUNDING)
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert np.array_equal(a, b)
    assert_same_history(ours, theirs)


@pytest.mark.parametrize("name", ["Classifier", "Regressor"])
def test_first_models(name):
    y = (Y > 1).astype(int) if name == "Classifier" else Y
    init = LogisticRegression() if name == "Classifier" else LinearRegression()
    ours, theirs = both(name, y, {"init": init})
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-6, abs=1e-6)  # the peer fits the same object
    constant, _ = both(name, y, {})
    assert constant.certificate_.bound > ours.certificate_.bound


def test_without_weights_too():
    ours, theirs = both("Regressor", Y, {"subsample": 0.7}, weight=None)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=ROUNDING, abs=ROUNDING)
    assert_same_history(ours, theirs)


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_warm_start_goes_on(kind):
    y = (Y > 1).astype(int) if kind is GradientBoostingClassifier else Y
    whole = kind(n_estimators=20, subsample=0.6, random_state=1).fit(X, y)
    part = kind(n_estimators=8, subsample=0.6, random_state=1, warm_start=True).fit(X, y)
    first = part.estimators_[0, 0]
    part.set_params(n_estimators=20).fit(X, y)
    assert part.estimators_[0, 0] is first and part.n_estimators_ == 20
    assert part.predict(X) == pytest.approx(whole.predict(X), rel=1e-12)
    assert part.oob_improvement_ == pytest.approx(whole.oob_improvement_, rel=1e-9)
    with pytest.raises(ValueError, match="must be larger or equal"):
        part.set_params(n_estimators=5).fit(X, y)


def test_monitor_sees_the_model_and_stops_it():
    seen = []

    def monitor(i, model, state):
        seen.append((model.n_estimators_, len(model.train_score_), state["i"]))
        return i == 4

    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y, monitor=monitor)
    assert seen == [(i + 1, i + 1, i) for i in range(5)] and model.n_estimators_ == 5


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
def test_sparse_rows(container):
    table = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    dense = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(table, Y > 1)
    sparse = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(container(table), Y > 1)
    assert np.array_equal(sparse.predict_proba(container(table)), dense.predict_proba(table))
    assert np.array_equal(sparse.apply(container(table)), dense.apply(table))


def test_threads_change_no_bit():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(20_000, 30)).astype(np.float32)  # large enough for threads in the trees
    y = table[:, 0] + rng.normal(size=20_000)
    found = []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            model = GradientBoostingRegressor(n_estimators=3, subsample=0.9, random_state=0).fit(table, y)
            found.append((model.train_score_.tobytes(), model.predict(table).tobytes()))
    assert found[0] == found[1] == found[2]


def test_learning_rate_and_trees_may_be_changed_after_the_fit():
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)
    start, full = model.init_.predict(X), model.predict(X)
    model.set_params(learning_rate=0.2)
    assert model.predict(X) - start == pytest.approx(2.0 * (full - start), rel=1e-9, abs=1e-12)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X), model.predict(X))


def test_constant_columns_and_targets():
    model = GradientBoostingRegressor(n_estimators=3).fit(np.ones((5, 2)), [-1.0, -2.0, -3.0, -4.0, -5.0])
    assert model.predict(np.ones((1, 2))) == pytest.approx([-3.0])
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    flat = GradientBoostingRegressor(n_estimators=3, loss="huber").fit(X, np.full(500, 7.0))
    assert flat.predict(X[:2]).tolist() == [7.0, 7.0] and flat.certificate_.holds


def test_zero_weights_leave_rows_out():
    weight = np.ones(500)
    weight[400:] = 0.0
    options = {"n_estimators": 10, "random_state": 0}
    some = GradientBoostingRegressor(**options).fit(X, Y, sample_weight=weight)
    fewer = GradientBoostingRegressor(**options).fit(X[:400], Y[:400])
    assert some.predict(X) == pytest.approx(fewer.predict(X), rel=1e-9)


def test_refusals():
    y = (Y > 1).astype(int)
    with pytest.raises(ValueError, match="y contains 1 class"):
        GradientBoostingClassifier().fit(X, np.zeros(500))
    with pytest.raises(ValueError, match="y contains 1 class"):
        GradientBoostingClassifier().fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match="only suitable for a binary"):
        GradientBoostingClassifier(loss="exponential").fit(X, np.digitize(Y, [0.0, 2.0]))
    with pytest.raises(ValueError, match="contains NaN"):
        GradientBoostingRegressor().fit(np.where(X > 2, np.nan, X), Y)
    with pytest.warns(FutureWarning, match="`criterion` is deprecated"):
        GradientBoostingRegressor(n_estimators=1, criterion="friedman_mse").fit(X, Y)


def test_report(capsys):
    GradientBoostingRegressor(n_estimators=12, verbose=1, subsample=0.8, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.rstrip().split("\n")
    assert lines[0].split() == ["Iter", "Train", "Loss", "OOB", "Improve", "Remaining", "Time"] and len(lines) == 11
