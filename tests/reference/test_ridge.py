"""Ridge, ridge_regression, RidgeCV and the ridge classifiers against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as reference
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from hyperplan import thread_limit
from hyperplan._math.mixed_precision import SMALLEST_SIDE, dual_solve
from hyperplan.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV, _ridge_solvers, ridge_regression

EXACT = ["auto", "cholesky", "svd"]
# two exact solvers of a problem of condition number below 1e3
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def data(n, d, k=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + np.arange(d)
    y = X @ rng.normal(size=(d,) if k is None else (d, k)) + rng.normal(size=(n,) if k is None else (n, k))
    return X, y, rng.uniform(0.1, 2, size=n)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("shape", [(60, 5), (6, 25), (10, 10)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [None, 3])
def test_exact_solvers_equal_scikit_learn(solver, shape, fit_intercept, weighted, k):
    X, y, weight = data(*shape, k)
    options = {"alpha": 0.7, "fit_intercept": fit_intercept, "solver": solver}
    ours = Ridge(**options).fit(X, y, weight if weighted else None)
    theirs = reference.Ridge(**options).fit(X, y, weight if weighted else None)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **CLOSE)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-9)
    assert ours.coef_.shape == theirs.coef_.shape and ours.solver_ == theirs.solver_
    assert ours.n_iter_ is None and ours.certificate_.holds


@pytest.mark.parametrize("solver", ["lsqr", "sparse_cg", "sag", "saga"])
@pytest.mark.parametrize("weighted", [True, False])
def test_iterative_solvers_reach_the_same_minimum(solver, weighted):
    X, y, weight = data(80, 4, 2)
    weight = weight if weighted else None
    exact = Ridge(alpha=2.0).fit(X, y, weight)
    model = Ridge(alpha=2.0, solver=solver, tol=1e-12, max_iter=20000, random_state=0).fit(X, y, weight)
    # stopping rules of 1e-12 on residuals or changes; stochastic ones stop a little early
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)
    assert model.solver_ == solver and model.certificate_.value < 1e-6


@pytest.mark.parametrize("k", [3, 9])
def test_one_penalty_per_target(k):
    X, y, weight = data(50, 6, k)
    alphas = np.logspace(-3, 3, k)
    for design in (X, X[:5]):
        together = Ridge(alpha=alphas).fit(design, y[: len(design)], weight[: len(design)])
        for j, alpha in enumerate(alphas):
            alone = Ridge(alpha=alpha).fit(design, y[: len(design), j], weight[: len(design)])
            np.testing.assert_allclose(together.coef_[j], alone.coef_, **CLOSE)
    with pytest.raises(ValueError, match="Number of targets and number of penalties"):
        Ridge(alpha=[1.0, 2.0]).fit(X, y)


@pytest.mark.parametrize("shape", [(60, 5), (6, 25)])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_sparse_equals_dense(shape, kind):
    X, y, weight = data(*shape)
    X[X < 1] = 0
    for solver in ("auto", "lsqr", "sparse_cg"):
        sparse = Ridge(solver=solver, tol=1e-12).fit(kind(X), y, weight)
        np.testing.assert_allclose(sparse.coef_, Ridge().fit(X, y, weight).coef_, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="does not support fitting the intercept on sparse data"):
        Ridge(solver="svd").fit(kind(X), y)


def test_nearly_singular_problems_fall_back_to_singular_values():
    X, y, _ = data(50, 4)
    X = np.column_stack([X, X[:, 0] * (1 + 1e-14)])
    model = Ridge(alpha=0.0).fit(X, y)
    theirs = reference.LinearRegression(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9)
    tiny = Ridge(alpha=1e-13).fit(X, y)
    assert tiny.solver_ == "svd"
    np.testing.assert_allclose(tiny.predict(X), theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_positive_is_optimal(fit_intercept, sparse):
    X, y, weight = data(40, 8, 2)
    design = sp.csr_array(X) if sparse else X
    model = Ridge(alpha=1.5, positive=True, fit_intercept=fit_intercept).fit(design, y, weight)
    assert (model.coef_ >= 0).all() and (model.coef_ == 0).any() and model.solver_ == "lbfgs"
    theirs = reference.Ridge(alpha=1.5, positive=True, fit_intercept=fit_intercept, tol=1e-12).fit(X, y, weight)

    def objective(m):
        return (weight[:, None] * (y - m.predict(X)) ** 2).sum() + 1.5 * (m.coef_**2).sum()

    # ours is exact: never above scikit-learn's iterative minimum by more than rounding
    assert objective(model) <= objective(theirs) * (1 + 1e-10)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_extreme_units_do_not_overflow(factor):
    X, y, _ = data(30, 3)
    huge = Ridge(alpha=0.0).fit(X * factor, y)
    np.testing.assert_allclose(huge.predict(X * factor), Ridge(alpha=0.0).fit(X, y).predict(X), rtol=1e-7)
    assert np.isfinite(Ridge(alpha=1.0).fit(X * factor, y).coef_).all()


def test_function_form():
    X, y, weight = data(50, 4)
    np.testing.assert_allclose(
        ridge_regression(X, y, 2.0, sample_weight=weight),
        reference.ridge_regression(X, y, 2.0, sample_weight=weight),
        **CLOSE,
    )
    coef, n_iter, intercept = ridge_regression(
        X, y, 2.0, return_n_iter=True, return_intercept=True, tol=1e-12, max_iter=50000, random_state=0
    )
    full = Ridge(alpha=2.0).fit(X, y)
    np.testing.assert_allclose(coef, full.coef_, rtol=1e-6)
    assert intercept == pytest.approx(full.intercept_, rel=1e-5) and n_iter.shape == (1,)


def test_stochastic_solver_warns_with_a_number():
    X, y, _ = data(50, 4)
    with pytest.warns(ConvergenceWarning, match="gradient of .* relative to its start"):
        model = Ridge(solver="sag", max_iter=2, tol=1e-14, random_state=0).fit(X, y)
    assert model.n_iter_ == [2] and not model.certificate_.holds


def test_threads_change_no_bit():
    for shape in ((30000, 6), (600, 1500)):
        X, y, _ = data(*shape)
        with thread_limit(1):
            one = Ridge().fit(X, y)
        with thread_limit(4):
            four = Ridge().fit(X, y)
        np.testing.assert_array_equal(one.coef_, four.coef_)


def wide_data(condition, seed=0):
    """Rows enough for two precisions; the Gram matrix of the rows has about this condition number."""
    n, d = SMALLEST_SIDE, SMALLEST_SIDE + 90
    rng = np.random.default_rng(seed)
    left, right = np.linalg.qr(rng.normal(size=(n, n)))[0], np.linalg.qr(rng.normal(size=(d, n)))[0]
    X = left * np.sqrt(np.logspace(3, 3 - np.log10(condition), n)) @ right.T
    return X, rng.normal(size=n), rng.uniform(0.1, 2, size=n)


def in_double_precision(monkeypatch, *arguments, **options):
    with monkeypatch.context() as patch:
        patch.setattr(_ridge_solvers, "suits", lambda X, n_targets: False)
        return Ridge(**options).fit(*arguments)


@pytest.fixture
def answers(monkeypatch):
    """What the solver in two precisions answered: None means that double precision was used."""
    found = []

    def spied(*arguments, **options):
        found.append(dual_solve(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(_ridge_solvers, "dual_solve", spied)
    return found


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_two_precisions_give_the_digits_of_double(fit_intercept, weighted, k, order, answers):
    X, y, weight = wide_data(1e3)
    Y = np.column_stack([y, np.roll(y, 1), y**2])[:, :k]
    offset = np.arange(X.shape[1]) if fit_intercept else 0.0
    X, weight = np.asarray(X + offset, order=order), weight if weighted else None
    ours = Ridge(0.1, fit_intercept=fit_intercept).fit(X, Y, weight)
    theirs = reference.Ridge(0.1, fit_intercept=fit_intercept, solver="cholesky").fit(X, Y, weight)
    assert len(answers) == 1 and answers[0] is not None
    # 1e-16 times a condition number of 1e4, with room
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-11 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8 * np.abs(offset).max())
    assert ours.certificate_.holds


@pytest.mark.parametrize("condition", [1e1, 1e5, 1e7, 1e9, 1e12])
def test_two_precisions_or_double_by_condition(condition, answers, monkeypatch):
    X, y, _ = wide_data(condition)
    alpha = 1e-14 * 1e3
    ours, double = Ridge(alpha).fit(X, y), in_double_precision(monkeypatch, X, y, alpha=alpha)
    if condition <= 1e5:
        assert answers[0] is not None
        assert answers[0].residual.max() < 1e-12
    if condition >= 1e9:  # beyond the reciprocal of the rounding of single precision, which is 6e-8
        assert answers == [None]
        np.testing.assert_array_equal(ours.coef_, double.coef_)
    # two backward stable solutions differ by the condition number times 1e-16, with room for 10
    scale = np.abs(double.coef_).max()
    np.testing.assert_allclose(ours.coef_, double.coef_, atol=max(1e-13, 1e-15 * min(condition, 1e9)) * scale)


def test_float32_in_two_precisions(answers, monkeypatch):
    X, y, _ = wide_data(1e3)
    X = X.astype(np.float32)
    ours = Ridge().fit(X, y)
    assert answers[0] is not None and ours.coef_.dtype == np.float32
    exact = in_double_precision(monkeypatch, X.astype(np.float64), y)
    # float32 input, float64 sums: only the last rounding of the coefficients remains
    np.testing.assert_allclose(ours.coef_, exact.coef_, rtol=1e-6, atol=1e-7 * np.abs(exact.coef_).max())


@pytest.mark.parametrize("factor", [1e200, 1e30, 1e-30, 1e-150])
def test_two_precisions_with_extreme_units(factor, monkeypatch):
    X, y, _ = wide_data(1e3)
    expected = Ridge(1.0).fit(X, y).coef_
    alpha = factor * factor if 1e-300 < factor * factor < np.inf else 0.0
    if alpha == 0.0:  # the penalty that belongs to these units has no floating-point number
        assert np.isfinite(Ridge(1.0).fit(X * factor, y).coef_).all()
        return
    found = Ridge(alpha).fit(X * factor, y).coef_ * factor
    # the same problem in other units, of condition number 1e3
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def test_two_precisions_with_rows_of_no_weight_and_targets_of_zero(monkeypatch):
    X, y, weight = wide_data(1e2)
    weight[::7] = 0.0
    Y = np.column_stack([y, np.zeros_like(y)])
    ours, double = Ridge().fit(X, Y, weight), in_double_precision(monkeypatch, X, Y, weight)
    np.testing.assert_allclose(ours.coef_, double.coef_, atol=1e-12 * np.abs(double.coef_).max())
    assert not ours.coef_[1].any()


def test_a_bad_value_in_a_wide_design_is_located():
    X, y, _ = wide_data(1e2)
    for bad in (np.nan, np.inf):
        X[300, 7] = bad
        with pytest.raises(ValueError, match="row 300, column 7"):
            Ridge().fit(X, y)


@pytest.mark.parametrize("model", [Ridge(), Ridge(solver="svd"), RidgeCV(), Ridge(positive=True), Ridge(solver="lsqr")])
@pytest.mark.parametrize("shape", [(20, 4), (4, 20)])
def test_bad_values_are_located(model, shape):
    X, y, _ = data(*shape)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 2"):
        model.fit(X, y)


@pytest.mark.parametrize("shape", [(40, 5), (8, 30), (12, 12)])
@pytest.mark.parametrize("gcv_mode", ["eigen", "svd"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leave_one_out_is_exact(shape, gcv_mode, weighted, fit_intercept):
    X, y, weight = data(*shape, 2)
    alphas = [1e-3, 0.5, 20.0]
    model = RidgeCV(
        alphas, gcv_mode=gcv_mode, store_cv_results=True, fit_intercept=fit_intercept, scoring="neg_mean_squared_error"
    )
    model.fit(X, y, weight if weighted else None)
    for a, alpha in enumerate(alphas):
        for i in range(0, shape[0], 3):
            rest = np.arange(shape[0]) != i
            left = Ridge(alpha=alpha, fit_intercept=fit_intercept, solver="svd")
            left.fit(X[rest], y[rest], weight[rest] if weighted else None)
            # the formula divides by 1 - leverage, which is small for tiny alpha
            np.testing.assert_allclose(model.cv_results_[i, :, a], left.predict(X[[i]])[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"alpha_per_target": True}, {"scoring": "r2"}, {"cv": 4}, {"cv": KFold(3)}])
@pytest.mark.parametrize("shape", [(60, 5), (9, 20)])
def test_cross_validation_chooses_as_scikit_learn(options, shape):
    X, y, weight = data(*shape, 3, seed=3)
    y = y + 5 * np.random.default_rng(1).normal(size=y.shape)
    alphas = np.logspace(-3, 3, 7)
    ours, theirs = RidgeCV(alphas, **options).fit(X, y, weight), reference.RidgeCV(alphas, **options).fit(X, y, weight)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-9)


def test_leave_one_out_of_many_rows_in_panels():
    X, y, weight = data(20001, 4)
    ours, theirs = RidgeCV([0.1, 1e4]).fit(X, y, weight), reference.RidgeCV([0.1, 1e4]).fit(X, y, weight)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}])
def test_classifiers_equal_scikit_learn(n_classes, options):
    X, y, weight = data(90, 4)
    labels = np.array(["a", "b", "c", "d"])[np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))]
    for ours, theirs in (
        (RidgeClassifier, reference.RidgeClassifier),
        (RidgeClassifierCV, reference.RidgeClassifierCV),
    ):
        mine, other = ours(**options).fit(X, labels, weight), theirs(**options).fit(X, labels, weight)
        np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_array_equal(mine.predict(X), other.predict(X))
        np.testing.assert_array_equal(mine.classes_, other.classes_)
        assert mine.coef_.shape == other.coef_.shape


def test_multilabel_and_scored_classification():
    X, y, _ = data(60, 4, 3)
    labels = (y > np.median(y, axis=0)).astype(int)
    for model in (RidgeClassifier(), RidgeClassifierCV()):
        predicted = model.fit(X, labels).predict(X)
        np.testing.assert_array_equal(predicted, reference.RidgeClassifier().fit(X, labels).predict(X))
    binary = RidgeClassifierCV([0.1, 1e5], scoring="accuracy").fit(X, labels[:, 0])
    assert binary.alpha_ == 0.1 and 0.5 < binary.best_score_ <= 1.0
