"""The stochastic gradient estimators against scikit-learn's (same steps when the rows are not shuffled)."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer

from hyperplan import linear_model as ours
from hyperplan import thread_limit
from hyperplan._solvers.sgd import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore:Maximum number of iteration")

CLASSIFICATION = ("hinge", "log_loss", "squared_hinge", "perceptron")
REGRESSION = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7))
    score = X @ rng.normal(size=7) + rng.normal(size=300)
    return X, score, (score > 0).astype(int), np.digitize(score, [-1.0, 1.0])


def agree(a, b, rtol=1e-7):
    """The same steps in another order of additions: 2000 steps leave differences far below 1e-7."""
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=rtol, atol=1e-9)
    assert (a.n_iter_, a.t_) == (b.n_iter_, b.t_)
    assert a.coef_.shape == b.coef_.shape and a.coef_.dtype == b.coef_.dtype


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("loss", LOSSES)
def test_classifier_takes_the_same_steps(table, loss, penalty):
    X, _, y, _ = table
    options = dict(loss=loss, penalty=penalty, alpha=1e-3, learning_rate="constant", eta0=0.01, shuffle=False)
    agree(*(m.SGDClassifier(**options, max_iter=60).fit(X, y) for m in (ours, peer)))


@pytest.mark.parametrize("schedule", ["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"])
@pytest.mark.parametrize("sparse", [False, True])
def test_classifier_schedules(table, schedule, sparse):
    X, _, y, _ = table
    # a fixed number of epochs: scikit-learn's norm of sparse weights, part of its stopping rule, is that of one row
    options = dict(learning_rate=schedule, eta0=0.05, power_t=0.3, alpha=1e-2, shuffle=False, tol=None, max_iter=6)
    X = sp.csr_array(X * (np.abs(X) > 0.5)) if sparse else X
    agree(*(m.SGDClassifier(**options).fit(X, y) for m in (ours, peer)))


@pytest.mark.parametrize("schedule", ["constant", "invscaling", "adaptive"])
@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_regressor_takes_the_same_steps(table, loss, schedule, penalty):
    X, y, _, _ = table
    options = dict(loss=loss, learning_rate=schedule, eta0=0.01, penalty=penalty, shuffle=False, max_iter=100)
    agree(*(m.SGDRegressor(**options).fit(X, y) for m in (ours, peer)))


@pytest.mark.parametrize("schedule", ["pa1", "pa2"])
def test_regressor_passive_aggressive(table, schedule):
    X, y, _, _ = table
    options = dict(loss="epsilon_insensitive", learning_rate=schedule, eta0=0.1, shuffle=False, penalty=None)
    agree(*(m.SGDRegressor(**options).fit(X, y) for m in (ours, peer)))


@pytest.mark.parametrize("average", [True, 50, 10**6])
@pytest.mark.parametrize("penalty", ["l2", None])
def test_average(table, average, penalty):
    X, y, _, _ = table
    options = dict(average=average, penalty=penalty, shuffle=False, eta0=0.02)
    agree(*(m.SGDRegressor(**options).fit(X, y) for m in (ours, peer)))


@pytest.mark.parametrize("loss", CLASSIFICATION)
def test_many_classes_weights_and_class_weights(table, loss):
    X, _, _, y = table
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    options = dict(loss=loss, class_weight={0: 2.0, 1: 1.0, 2: 0.5}, shuffle=False, tol=None, max_iter=5)
    options |= dict(learning_rate="constant", eta0=0.01)
    agree(*(m.SGDClassifier(**options).fit(X, y, sample_weight=weight) for m in (ours, peer)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_partial_fit_and_warm_start(table, dtype):
    X, _, y, _ = table
    X = X.astype(dtype)
    models = [m.SGDClassifier(loss="log_loss", shuffle=False, alpha=0.01) for m in (ours, peer)]
    for model in models:
        for start in range(0, 300, 100):
            model.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-6 if dtype == np.float64 else 1e-3)
    assert models[0].coef_.dtype == dtype and models[0].t_ == models[1].t_
    assert models[0].certificate_.kind == "none" and not models[0].certificate_.holds
    warm = [m.SGDRegressor(shuffle=False, warm_start=True, max_iter=3, tol=None) for m in (ours, peer)]
    agree(*(model.fit(X.astype(float), y).fit(X.astype(float), y) for model in warm))


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
def test_probabilities(table, loss):
    X, _, binary, many = table
    for y in (binary, many):
        a, b = (m.SGDClassifier(loss=loss, random_state=0).fit(X, y) for m in (ours, peer))
        a.coef_, a.intercept_ = b.coef_, b.intercept_
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("loss", CLASSIFICATION[:3])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_shuffled_fits_reach_an_equal_objective(table, loss, penalty):
    """Other random orders, the same problem: objectives within 5 % of each other after 50 epochs."""
    X, _, y, _ = table
    options = dict(loss=loss, penalty=penalty, alpha=0.01, max_iter=50, tol=None, learning_rate="invscaling", eta0=0.1)
    a = ours.SGDClassifier(**options, random_state=0).fit(X, y)
    b = peer.SGDClassifier(**options, random_state=0).fit(X, y)
    at_peer = ours.SGDClassifier(**{**options, "max_iter": 1, "eta0": 1e-12}, random_state=0)
    at_peer.fit(X, y, coef_init=b.coef_, intercept_init=b.intercept_)
    objectives = [m.certificate_.details["objective"] for m in (a, at_peer)]
    assert objectives[0] == pytest.approx(objectives[1], rel=0.05)


def test_certificate_bounds_the_true_excess(table):
    """The gap is at least the excess over the minimum, found by Newton's method on the same objective."""
    X, _, y, _ = table
    alpha = 0.1
    best = peer.LogisticRegression(C=1 / (alpha * 300), tol=1e-12, max_iter=1000).fit(X, y)

    def objective(model):
        margins = np.where(y == 1, 1, -1) * model.decision_function(X)
        return np.logaddexp(0, -margins).mean() + 0.5 * alpha * (model.coef_**2).sum()

    for options in (dict(max_iter=2), dict(max_iter=200), dict(max_iter=200, average=True)):
        model = ours.SGDClassifier("log_loss", alpha=alpha, random_state=0, tol=None, **options).fit(X, y)
        excess = objective(model) - objective(best)
        assert model.certificate_.details["objective"] == pytest.approx(objective(model), rel=1e-12)
        assert excess <= model.certificate_.value + 1e-12
    assert (
        model.certificate_.value < 1e-3 and model.certificate_.holds
    )  # averaged over 200 epochs: close to the minimum


def test_threads_do_not_change_a_bit(table):
    X, _, _, y = table
    fits = [ours.SGDClassifier(random_state=3, n_jobs=n, max_iter=20, tol=None).fit(X, y) for n in (1, 2, 4)]
    with thread_limit(1):
        fits.append(ours.SGDClassifier(random_state=3, max_iter=20, tol=None).fit(X, y))
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].coef_, other.coef_)
        assert fits[0].certificate_ == other.certificate_


def test_inputs_are_not_changed_and_may_be_read_only(table):
    X, y, _, _ = table
    X = X.copy(order="F")
    before = X.copy()
    X.flags.writeable = False
    a = ours.SGDRegressor(random_state=0).fit(X, y)
    b = ours.SGDRegressor(random_state=0).fit(np.ascontiguousarray(X), y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(X, before)


def test_sparse_equals_dense_without_intercept(table):
    X, y, _, _ = table
    X = X * (np.abs(X) > 0.7)
    for index in (np.int32, np.int64):
        S = sp.csr_array(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        a, b = (ours.SGDRegressor(fit_intercept=False, random_state=0, max_iter=5, tol=None).fit(M, y) for M in (X, S))
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-10)


def test_unknown_label_in_partial_fit_is_named(table):
    X, _, y, _ = table
    model = ours.SGDClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="label 7 in row 2"):
        model.partial_fit(X[:3], [0, 1, 7])


def test_one_class(table):
    X = table[0] + 2.0
    options = dict(nu=0.2, shuffle=False, learning_rate="constant", eta0=0.01, max_iter=40, tol=None)
    a, b = (m.SGDOneClassSVM(**options).fit(X) for m in (ours, peer))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8)
    np.testing.assert_allclose(a.offset_, b.offset_, rtol=1e-8)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
