"""Quantile regression: the exact optimum of the linear program, as HiGHS finds it."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hyperplan._solvers.quantile import solve_quantile
from hyperplan.linear_model import QuantileRegressor

rng = np.random.default_rng(13)


def pinball(fit, X, y, weight=None):
    r = y - X @ fit.coef_ - fit.intercept_
    loss = np.where(r > 0, fit.quantile * r, (fit.quantile - 1) * r)
    return np.average(loss, weights=weight) + fit.alpha * np.abs(fit.coef_).sum()


@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.8])
@pytest.mark.parametrize(("n", "d"), [(10, 1), (200, 5), (30, 40)])
def test_equals_scikit_learn(n, d, quantile, alpha):
    if alpha == 0 and d > n:
        pytest.skip("the program has many optima")
    X = rng.normal(size=(n, d)) + 3.0
    y = X @ rng.normal(size=d) + rng.standard_t(3, size=n)
    weight = rng.uniform(0.5, 2.0, n)
    ours = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weight)
    theirs = peer.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weight)
    assert_allclose(pinball(ours, X, y, weight), pinball(theirs, X, y, weight), rtol=1e-9)  # two exact optima
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert ((ours.coef_ == 0) == (np.abs(theirs.coef_) < 1e-12)).all()
    assert ours.certificate_.holds and ours.certificate_.value < 1e-10


@settings(max_examples=40, derandomize=True)
@given(
    st.integers(2, 12),
    st.integers(1, 3),
    st.sampled_from([0.1, 0.5, 0.75]),
    st.sampled_from([0.0, 0.1, 2.0]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_integer_data_with_ties_reach_the_optimum(n, d, quantile, alpha, fit_intercept, seed):
    """Small integers make degenerate vertices, dependent columns and several optima."""
    local = np.random.default_rng(seed)
    X = local.integers(-2, 3, size=(n, d)).astype(float)
    y = local.integers(-3, 4, size=n).astype(float)
    params = {"quantile": quantile, "alpha": alpha, "fit_intercept": fit_intercept}
    ours, theirs = QuantileRegressor(**params).fit(X, y), peer.QuantileRegressor(**params).fit(X, y)
    assert pinball(ours, X, y) <= pinball(theirs, X, y) + 1e-9


def test_dual_values_prove_the_optimum():
    X, tau = rng.normal(size=(100, 3)), 0.3
    y = X @ np.ones(3) + rng.normal(size=100)
    fit = solve_quantile(X, y, quantile=tau, alpha=0.0)
    assert (fit.dual <= tau + 1e-12).all() and (fit.dual >= tau - 1 - 1e-12).all()
    assert_allclose(np.column_stack([np.ones(100), X]).T @ fit.dual, 0.0, atol=1e-10)
    assert_allclose(fit.dual @ y / 100, fit.objective, rtol=1e-10)


def test_dependent_columns_and_zero_weights():
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60)
    weight = np.r_[np.zeros(20), np.ones(40)]
    doubled = QuantileRegressor(alpha=0.0).fit(np.hstack([X, X, np.ones((60, 1))]), y, weight)
    single = QuantileRegressor(alpha=0.0).fit(X[20:], y[20:])
    assert_allclose(doubled.predict(np.hstack([X, X, np.ones((60, 1))])), single.predict(X), atol=1e-9)


@pytest.mark.parametrize("solver", ["highs", "highs-ds", "highs-ipm"])
def test_sparse_and_solver_names(solver):
    X = np.where(rng.random((150, 6)) < 0.5, 0.0, rng.normal(size=(150, 6)))
    y = X @ np.arange(6.0) + rng.normal(size=150)
    dense = QuantileRegressor(alpha=0.05).fit(X, y)
    sparse = QuantileRegressor(alpha=0.05, solver=solver).fit(sp.csc_matrix(X), y)
    assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)  # HiGHS' own tolerance is 1e-7
    assert sparse.certificate_.holds


def test_removed_solvers_say_so():
    with pytest.raises(ValueError, match="not anymore available"):
        QuantileRegressor(solver="interior-point").fit([[1.0], [2.0]], [1.0, 2.0])


def test_exact_fit_constant_target_and_one_row():
    X = rng.normal(size=(20, 2))
    exact = QuantileRegressor(alpha=0.0).fit(X, X @ [1.0, -1.0] + 2.0)
    assert_allclose(exact.coef_, [1.0, -1.0], atol=1e-9)
    assert_allclose(QuantileRegressor().fit(X, np.full(20, 5.0)).intercept_, 5.0, rtol=1e-12)
    assert_allclose(QuantileRegressor().fit([[1.0]], [3.0]).predict([[1.0]]), [3.0])
