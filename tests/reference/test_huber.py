"""Huber regression against scikit-learn's objective and solver."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from numpy.testing import assert_allclose

from hyperplan import thread_limit
from hyperplan.linear_model import HuberRegressor

rng = np.random.default_rng(11)
N, D = 500, 6
X = rng.normal(size=(N, D)) + 1.0
Y = X @ rng.normal(size=D) + 0.5 * rng.normal(size=N) + 3.0
Y[:50] += 40.0 * rng.normal(size=50)


def objective(fit, A, y, weight=None):
    """The concomitant-scale objective, written out."""
    weight = np.ones(len(y)) if weight is None else weight
    z = np.abs(y - A @ fit.coef_ - fit.intercept_) / fit.scale_
    rho = np.where(z <= fit.epsilon, z**2, 2 * fit.epsilon * z - fit.epsilon**2)
    return np.sum(weight * fit.scale_ * (1 + rho)) + fit.alpha * fit.coef_ @ fit.coef_


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("epsilon", [1.1, 1.35, 2.0, 100.0])
def test_not_above_scikit_learn(epsilon, fit_intercept):
    weight = rng.uniform(0.5, 2.0, N)
    params = {"epsilon": epsilon, "fit_intercept": fit_intercept, "alpha": 0.01}
    ours = HuberRegressor(**params).fit(X, Y, weight)
    theirs = peer.HuberRegressor(max_iter=10_000, tol=1e-8, **params).fit(X, Y, weight)
    assert objective(ours, X, Y, weight) <= objective(theirs, X, Y, weight) * (1 + 1e-12)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)  # L-BFGS stops at a relative objective of 2e-9
    assert_allclose(ours.scale_, theirs.scale_, rtol=1e-3)
    assert ours.certificate_.holds
    residual = np.abs(Y - X @ ours.coef_ - ours.intercept_)
    assert (ours.outliers_ == (residual > ours.epsilon * ours.scale_)).all()


def test_weights_count_repetitions_sparse_equals_dense_and_threads_agree():
    weight = rng.integers(0, 3, N)
    ours = HuberRegressor(tol=1e-8).fit(X, Y, weight)
    repeated = HuberRegressor(tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    sparse = HuberRegressor(tol=1e-8).fit(sp.csr_matrix(X), Y, weight)
    assert_allclose(repeated.coef_, ours.coef_, atol=1e-8)
    assert_allclose(sparse.coef_, ours.coef_, atol=1e-8)
    big = np.tile(X, (60, 1)) + 0.01 * rng.normal(size=(60 * N, D))
    fits = []
    for jobs in (1, 3):
        with thread_limit(jobs):
            fits.append(HuberRegressor().fit(big, np.tile(Y, 60)))
    assert (fits[0].coef_ == fits[1].coef_).all() and fits[0].scale_ == fits[1].scale_


def test_large_epsilon_is_least_squares():
    ours = HuberRegressor(epsilon=1e4, alpha=0.0, tol=1e-9).fit(X, Y)
    assert_allclose(ours.coef_, peer.LinearRegression().fit(X, Y).coef_, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(5, 20), (40, 20)])
def test_an_exact_fit_drives_the_scale_to_zero(n, d):
    A = rng.normal(size=(n, d))
    y = A @ np.ones(d)
    ours = HuberRegressor(alpha=1e-6).fit(A, y)
    assert_allclose(ours.predict(A), y, atol=1e-4)
    assert ours.scale_ < 1e-3


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_columns_than_rows_is_solved_among_the_rows(fit_intercept):
    """Sparse data stay in the space of the columns; both take the derivatives of one objective below 1e-5."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 90))
    y = A[:, 0] + rng.standard_t(2, size=40)
    model = HuberRegressor(alpha=100.0, fit_intercept=fit_intercept)
    dense, sparse = model.fit(A, y), HuberRegressor(**model.get_params()).fit(sp.csr_array(A), y)
    assert_allclose(dense.coef_, sparse.coef_, atol=1e-5)
    assert abs(dense.intercept_ - sparse.intercept_) < 1e-5 and abs(dense.scale_ - sparse.scale_) < 1e-5


def test_warm_start_needs_no_step():
    model = HuberRegressor(warm_start=True).fit(X, Y)
    assert model.fit(X, Y).n_iter_ == 0


def test_non_finite_input_is_located():
    bad = X.copy()
    bad[2, 4] = np.inf
    with pytest.raises(ValueError, match="row 2, column 4"):
        HuberRegressor().fit(bad, Y)
