"""LogisticRegression against scikit-learn and statsmodels."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.datasets import load_iris, make_classification

from hyperplan import thread_limit
from hyperplan._base import ConvergenceWarning
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.logistic import engine_for, solve_binary
from hyperplan._solvers.logistic_rows import Penalty, Rows
from hyperplan._solvers.softmax import solve_softmax
from hyperplan.linear_model import LogisticRegression


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """The peer's small products are slow with several BLAS threads on a busy machine."""
    with single_threaded_blas():
        yield


def _blobs(n=300, d=6, classes=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d) * 0.5) + rng.normal(size=d)
    scores = (X - X.mean(axis=0)) @ rng.normal(size=(d, classes)) + noise * rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1), rng.random(n) + 0.1


def _objective(model, X, y, weight, C, l1_ratio):
    """scikit-learn's objective divided by C."""
    X = X.toarray() if sp.issparse(X) else X
    scores = X.astype(float) @ model.coef_.T.astype(float) + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    w = model.coef_.astype(float)
    loss = -np.sum(weight * log_p[np.arange(len(y)), y])
    return loss + (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w * w).sum()) / C


def _peer(**params):
    return sklearn.linear_model.LogisticRegression(max_iter=20_000, **params)


@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc", "float32"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l2_coefficients(layout, classes, fit_intercept):
    X, y, weight = _blobs(classes=classes)
    peer = _peer(tol=1e-10, C=0.5, fit_intercept=fit_intercept, solver="newton-cholesky").fit(X, y, weight)
    convert = {"F": np.asfortranarray, "csr": sp.csr_matrix, "csc": sp.csc_array, "float32": np.float32}
    given = convert.get(layout, np.asarray)(X)
    ours = LogisticRegression(tol=1e-10, C=0.5, fit_intercept=fit_intercept).fit(given, y, weight)
    # both gradients are below 1e-10; float32 rounds the features to 6e-8
    tolerance = 1e-5 if layout == "float32" else 1e-7
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=tolerance, atol=tolerance)
    assert ours.coef_.dtype == (np.float32 if layout == "float32" else np.float64)
    assert ours.certificate_.holds


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lasso_and_elastic_net_reach_the_minimum(classes, l1_ratio, sparse, fit_intercept):
    X, y, weight = _blobs(d=12, classes=classes)
    C = 0.05
    params = {"C": C, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "solver": "saga"}
    peer = _peer(tol=1e-9, random_state=0, **params).fit((X - X.mean(axis=0)) if fit_intercept else X, y, weight)
    if fit_intercept:
        peer.intercept_ = peer.intercept_ - peer.coef_ @ X.mean(axis=0)  # saga converges on centred columns only
    ours = LogisticRegression(tol=1e-8, **params).fit(sp.csr_array(X) if sparse else X, y, weight)
    low, reference = (_objective(m, X, y, weight, C, l1_ratio) for m in (ours, peer))
    assert low <= reference * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)  # saga stops by the size of its steps
    assert (ours.coef_ == 0).any()
    assert ours.certificate_.kind == "duality gap" and ours.certificate_.holds


@pytest.mark.parametrize("l1_ratio", [0, 1])
@pytest.mark.parametrize("scaling", [1.0, 50.0])
def test_liblinear_penalises_the_intercept(l1_ratio, scaling):
    X, y, weight = _blobs()
    params = {"solver": "liblinear", "l1_ratio": l1_ratio, "C": 0.1, "intercept_scaling": scaling, "tol": 1e-9}
    peer = _peer(**params).fit(X, y, weight)
    ours = LogisticRegression(**params).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)  # liblinear's tolerance is relative
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-4)
    assert ours.certificate_.holds


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
def test_class_weights(class_weight):
    X, y, weight = _blobs()
    params = {"class_weight": class_weight, "tol": 1e-10}
    peer = _peer(solver="newton-cholesky", **params).fit(X, y, weight)
    np.testing.assert_allclose(LogisticRegression(**params).fit(X, y, weight).coef_, peer.coef_, rtol=1e-7)


def test_large_data_start_on_a_part_of_the_rows():
    X, y, _ = _blobs(n=60_000, d=40, noise=5.0)
    ours = LogisticRegression().fit(X, y)
    assert ours.n_iter_[0] <= 4  # few steps on all rows
    peer = _peer(solver="newton-cholesky", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)  # a relative gap of 1e-4 at most
    assert ours.certificate_.kind == "duality gap" and ours.certificate_.holds


def test_many_features_use_lbfgs():
    X, y, weight = _blobs(n=150, d=400)
    assert engine_for(Rows(X, y.astype(float), weight), Penalty(0, 1, 0, 0, True)) == "lbfgs"
    peer = _peer(tol=1e-9, C=0.1).fit(X, y, weight)
    for given in (X, sp.csr_matrix(X)):
        ours = LogisticRegression(tol=1e-8, C=0.1, max_iter=2000).fit(given, y, weight)
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_with_many_coefficients_uses_preconditioned_lbfgs(dtype):
    X, y, weight = _blobs(n=3000, d=100, classes=10, noise=10.0)
    penalty = Penalty(0.0, 1e-3, 0.0, 0.0, True)
    found = solve_softmax(X.astype(dtype), y, weight, 10, penalty, tol=1e-5, max_iter=500)
    exact = solve_softmax(X, y, weight, 10, penalty, tol=1e-8, max_iter=500)
    assert exact.objective - exact.dual <= 1e-9 * exact.objective  # weak duality proves the reference optimal
    assert found.objective <= exact.objective * (1 + 1e-6)  # a gradient of 1e-5 leaves about |g|^2 / l2 above it
    assert found.n_iter < 60


def test_wide_lasso_for_several_classes_uses_working_sets():
    X, y, weight = _blobs(n=200, d=400, classes=4, noise=20.0)
    found = solve_softmax(X, y, weight, 4, Penalty(0.02, 0.0, 0.0, 0.0, True), tol=1e-6, max_iter=1000)
    assert found.status.ok
    assert found.objective - found.dual <= 1e-6 * found.objective


def test_no_penalty_equals_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = _blobs(n=200, d=4, noise=3.0)
    ours = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y).summary()
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    order = [1, 2, 3, 4, 0]  # their constant comes first
    np.testing.assert_allclose(ours.coef, peer.params[order], rtol=1e-7)
    np.testing.assert_allclose(ours.standard_error, peer.bse[order], rtol=1e-7)
    np.testing.assert_allclose(ours.p_value, peer.pvalues[order], rtol=1e-6)
    np.testing.assert_allclose(ours.interval, peer.conf_int()[order], rtol=1e-6)
    assert ours.extra["log-likelihood"] == pytest.approx(peer.llf)
    assert ours.extra["pseudo R2 (McFadden)"] == pytest.approx(peer.prsquared)
    assert ours.extra["AIC"] == pytest.approx(peer.aic)
    assert "maximum likelihood" in str(ours)


def test_several_classes_equal_statsmodels_differences():
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = _blobs(n=300, d=2, classes=3, noise=3.0)
    ours = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    theirs = np.asarray(peer.params)  # classes 1, 2 against class 0; rows: constant, features
    np.testing.assert_allclose((ours.coef_[1:] - ours.coef_[0]).T, theirs[1:], rtol=1e-6)
    table = ours.summary()
    assert table.extra["log-likelihood"] == pytest.approx(peer.llf)
    assert table.extra["AIC"] == pytest.approx(peer.aic)
    assert table.coef.shape == (9,)


def test_summary_with_penalty_and_with_data():
    X, y, weight = _blobs(n=200)
    model = LogisticRegression(C=0.1).fit(X, y, weight)
    assert "penalised fit" in str(model.summary())
    np.testing.assert_allclose(model.summary(X, y, weight).standard_error, model.summary().standard_error, rtol=1e-12)
    lasso = LogisticRegression(C=0.02, solver="saga", l1_ratio=1.0).fit(X, y, weight)
    zero = lasso.coef_[0] == 0
    assert zero.any()
    np.testing.assert_array_equal(np.isnan(lasso.summary().standard_error[:-1]), zero)


def test_probabilities_are_stable():
    model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])
    model.coef_[:] = 1.0
    log_p = model.predict_log_proba([[800.0], [-800.0]])
    np.testing.assert_allclose(log_p, [[-800.0, 0.0], [0.0, -800.0]])
    three = LogisticRegression().fit(*load_iris(return_X_y=True))
    X = load_iris().data * 1e4
    assert np.isfinite(three.predict_log_proba(X)).all()
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "params",
    [{}, {"solver": "saga", "l1_ratio": 1.0, "C": 0.01}, {"solver": "liblinear"}],
    ids=["l2", "l1", "liblinear"],
)
def test_same_bits_for_any_number_of_threads(params):
    X, y, _ = _blobs(n=12_000, d=200, noise=3.0)
    fits = []
    for n_jobs in (1, 2, 4):
        with thread_limit(n_jobs):
            fits.append(LogisticRegression(**params).fit(X, y))
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].coef_, other.coef_)
        np.testing.assert_array_equal(fits[0].intercept_, other.intercept_)


@pytest.mark.parametrize("params", [{}, {"solver": "saga", "l1_ratio": 0.5}])
def test_weights_count_repetitions_and_zeros_leave_out(params):
    X, y, _ = _blobs(n=80)
    times = np.random.default_rng(0).integers(0, 4, 80)
    weighted = LogisticRegression(tol=1e-9, **params).fit(X, y, times)
    repeated = LogisticRegression(tol=1e-9, **params).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)  # two optima of tolerance 1e-9


def test_nan_in_large_data_is_located():
    X, y, _ = _blobs(n=20_000, d=10)
    X[123, 4] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*row 123, column 4"):
        LogisticRegression().fit(X, y)


def test_convergence_warning_has_a_number():
    X, y, _ = _blobs()
    with pytest.warns(ConvergenceWarning, match=r"lbfgs failed to converge after 1 iteration.*violation .* is \d"):
        LogisticRegression(max_iter=1, tol=1e-12).fit(X, y)


def test_odd_inputs_end_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="Negative values"):
        LogisticRegression().fit(X, y, -np.ones(20))
    constant = np.column_stack([X, np.ones(20), X[:, 0]])  # a constant and a repeated column
    ours = LogisticRegression(tol=1e-9).fit(constant, y)
    peer = _peer(tol=1e-10).fit(constant, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    labels = np.array(["no", "yes"], dtype=object)[y]
    assert set(LogisticRegression().fit(X, labels).predict(X)) <= {"no", "yes"}
    two = LogisticRegression().fit(X[:2], y[:2])
    assert np.isfinite(two.coef_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn ends with a warning or with nothing useful
        huge = LogisticRegression().fit(X * 1e200, y)
    assert huge.coef_.shape == (1, 3)


def test_warm_start_continues():
    X, y = make_classification(n_samples=200, random_state=0)
    model = LogisticRegression(warm_start=True, tol=1e-8).fit(X, y)
    first = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < first
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :3], y)


def test_solve_function_stops_when_asked():
    X, y, weight = _blobs()
    found = solve_binary(
        X, y.astype(float), weight, Penalty(0, 0.01, 0, 0, True), tol=0, max_iter=50, observe=lambda i, *_: i == 2
    )
    assert found.n_iter == 2 and found.status.name == "STOPPED"
