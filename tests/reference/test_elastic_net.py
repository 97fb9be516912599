"""Elastic net and lasso against scikit-learn, solved to the same (tight) tolerance."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as reference
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning

from hyperplan import thread_limit
from hyperplan.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV

# both sides stop at a relative gap of 1e-10: coefficients agree to about its square root times the conditioning
CLOSE = {"rtol": 1e-4, "atol": 1e-4}
SHAPES = [(60, 10), (30, 80), (300, 300), (200, 900), (1500, 40)]


def problem(n, d, seed=0):
    X, y = make_regression(n, d, n_informative=8, noise=5.0, random_state=seed)
    return X + np.random.default_rng(seed).normal(size=d), y


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("kind", ["dense", "row-major", "csc"])
@pytest.mark.parametrize(
    "params",
    [{"alpha": 1.0}, {"alpha": 0.5, "positive": True}, {"alpha": 2.0, "l1_ratio": 1.0}, {"fit_intercept": False}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_same_coefficients(n, d, kind, params, weighted):
    X, y = problem(n, d)
    X = X if params.get("fit_intercept", True) else X - X.mean(axis=0)  # else scikit-learn needs very many passes
    rng = np.random.default_rng(1)
    weight = rng.random(n) * (rng.random(n) < 0.9) if weighted else None
    if kind == "csc":
        X = sp.csc_array(X * (rng.random(X.shape) < 0.3))
    X = np.asfortranarray(X) if kind == "dense" else X
    ours = ElasticNet(tol=1e-10, **params).fit(X, y, weight)
    theirs = reference.ElasticNet(tol=1e-10, max_iter=100_000, **params).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **CLOSE)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **CLOSE)
    assert ours.certificate_.holds
    assert ours.dual_gap_ <= 1e-10 * np.average((y - np.average(y, weights=weight)) ** 2, weights=weight) + (
        1e-10 * np.mean(y**2) * (not params.get("fit_intercept", True))
    )


def test_default_settings_take_the_same_steps():
    # small problems use the textbook loop: the same number of passes and, but for rounding, the same iterates
    X, y = problem(40, 90)
    ours, theirs = Lasso(alpha=3.0).fit(X, y), reference.Lasso(alpha=3.0).fit(X, y)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.dual_gap_, theirs.dual_gap_, rtol=1e-6)


def test_hard_problem_is_solved_where_plain_descent_gives_up():
    X, y = make_regression(300, 600, n_informative=8, noise=5.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = Lasso(alpha=0.02, tol=1e-9).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        reference.Lasso(alpha=0.02, tol=1e-9).fit(X, y)
    assert ours.certificate_.holds and ours.n_iter_ < 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [20, 800])
def test_several_targets_and_types(dtype, d):
    X, y = problem(120, d)
    Y = np.column_stack([y, -2 * y[::-1]])
    ours = ElasticNet(tol=1e-8).fit(X.astype(dtype), Y.astype(dtype))
    theirs = reference.ElasticNet(tol=1e-8, max_iter=50_000).fit(X, Y)
    assert ours.coef_.dtype == dtype and ours.coef_.shape == (2, d) and ours.intercept_.shape == (2,)
    # float32 data carry an error of 6e-8 relative to values of order 100
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=5e-3 if dtype == np.float32 else 1e-3)
    assert len(ours.n_iter_) == 2 and ours.sparse_coef_.shape == (2, d)
    np.testing.assert_allclose(ours.predict(X.astype(dtype)), theirs.predict(X), rtol=1e-3, atol=0.1)


@pytest.mark.parametrize(("n", "d"), [(500, 30), (100, 600)])
def test_cross_validation(n, d):
    X, y = problem(n, d)
    weight = np.random.default_rng(2).uniform(0.2, 2.0, n)
    for ours, theirs in [
        (LassoCV(alphas=20, eps=0.03, tol=1e-7), reference.LassoCV(alphas=20, eps=0.03, tol=1e-7, max_iter=20_000)),
        (
            ElasticNetCV(alphas=10, eps=0.03, l1_ratio=[0.5, 0.9], tol=1e-7),
            reference.ElasticNetCV(alphas=10, eps=0.03, l1_ratio=[0.5, 0.9], tol=1e-7, max_iter=20_000),
        ),
    ]:
        ours.fit(X, y, weight)
        theirs.fit(X, y, weight)
        np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
        # errors on test rows inherit the solver's tolerance
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-3)
        assert ours.mse_path_.shape == theirs.mse_path_.shape
        assert ours.alpha_ == pytest.approx(theirs.alpha_)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-2, atol=1e-2)


def test_sparse_cross_validation_equals_dense():
    X, y = problem(200, 50)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.2)
    dense, sparse = LassoCV(alphas=10, tol=1e-9).fit(X, y), LassoCV(alphas=10, tol=1e-9).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.mse_path_, sparse.mse_path_, rtol=1e-6)  # two summation orders
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(20_000, 30), (300, 4000)])
def test_threads_change_no_bit(n, d):
    X, y = problem(n, d)
    fits = []
    for jobs in (1, 2, 4):
        with thread_limit(jobs):
            fits.append((Lasso(alpha=1.0).fit(X, y).coef_, LassoCV(alphas=5, cv=3).fit(X, y).mse_path_))
    for coef, mse in fits[1:]:
        np.testing.assert_array_equal(coef, fits[0][0])
        np.testing.assert_array_equal(mse, fits[0][1])


@pytest.mark.parametrize("d", [10, 700])
def test_input_is_neither_changed_nor_needed_writable(d):
    X, y = problem(100, d)
    X = np.asfortranarray(X)
    copies = X.copy(), y.copy()
    X.setflags(write=False)
    y.setflags(write=False)
    Lasso(copy_X=False).fit(X, y)
    LassoCV(alphas=3, copy_X=False).fit(X, y)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


@pytest.mark.parametrize("d", [3, 600])
def test_non_finite_values_are_located(d):
    X, y = problem(300, d)
    X[7, 2] = np.nan
    for model in (Lasso(), LassoCV(alphas=3)):
        with pytest.raises(ValueError, match="row 7, column 2"):
            model.fit(X, y)


def test_huge_values_end_in_an_error_not_in_numbers():
    X, y = problem(50, 5)
    with pytest.raises(ValueError, match="non-finite parameter values"):
        Lasso().fit(X * 1e200, y)


def test_constant_and_duplicated_columns():
    X, y = problem(80, 6)
    X = np.column_stack([X, np.full(80, 0.1), X[:, 0], X[:, 0]])
    model = Lasso(alpha=0.1, tol=1e-8).fit(X, y)
    assert model.coef_[6] == 0.0 and model.certificate_.holds
    alone = Lasso(alpha=0.1, tol=1e-8).fit(X[:, :6], y)
    assert model.coef_[[0, 7, 8]].sum() == pytest.approx(alone.coef_[0], rel=1e-4)


def test_one_row_and_zero_target():
    assert Lasso().fit([[1.0, 2.0]], [3.0]).predict([[0.0, 0.0]]) == 3.0
    model = Lasso().fit([[1.0], [2.0], [3.0]], [0.0, 0.0, 0.0])
    assert model.coef_ == 0.0 and model.certificate_.holds


def test_warning_carries_the_gap():
    X, y = problem(100, 50)
    with pytest.warns(ConvergenceWarning, match=r"Duality gap: \d.*tolerance: \d"):
        Lasso(alpha=1e-3, max_iter=1, tol=1e-12).fit(X, y)


def test_warm_start_needs_no_pass():
    X, y = problem(200, 1000)
    model = Lasso(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, coef)


def test_alpha_zero_is_least_squares():
    X, y = problem(100, 5)
    with pytest.warns(UserWarning, match="With alpha=0"):
        model = Lasso(alpha=0, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(model.coef_, reference.LinearRegression().fit(X, y).coef_, rtol=1e-6)
    assert model.certificate_.kind == "optimality residual"
