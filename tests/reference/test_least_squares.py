"""LinearRegression against scikit-learn and exact solutions."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hilbert
from scipy.optimize import nnls
from sklearn.linear_model import LinearRegression as Reference

from hyperplan import thread_limit
from hyperplan.linear_model import LinearRegression
from hyperplan.linear_model._normal_equations import _iterative, least_squares


def data(n, d, k=None, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + offset
    W = rng.normal(size=(d,) if k is None else (d, k))
    y = X @ W + rng.normal(size=(n,) if k is None else (n, k)) + 3
    return X, y, rng.uniform(0.1, 2, size=n)


# both sides solve a well-conditioned problem in double precision; 1e-9 leaves room for 1e6 rounding errors
CLOSE = {"rtol": 1e-9, "atol": 1e-10}


@pytest.mark.parametrize("shape", [(50, 4), (5, 20), (20, 20), (21, 20), (300, 1), (2, 1)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_same_fit_as_scikit_learn(shape, fit_intercept, weighted, k):
    X, y, weight = data(*shape, k)
    weight = weight if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    theirs = Reference(fit_intercept=fit_intercept).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **CLOSE)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **CLOSE)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.rank_ == theirs.rank_
    # the last singular value may be zero: compare on the scale of the largest
    np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-8, atol=1e-7 * theirs.singular_[0])
    assert ours.certificate_.holds, str(ours.certificate_)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_large_offsets_lose_no_accuracy(offset):
    X, y, _ = data(500, 6, offset=offset)
    exact = LinearRegression().fit(X - offset, y)  # the subtraction is exact up to the rounding already in X
    moved = LinearRegression().fit(X, y)
    # X itself is rounded to offset * 2^-53, so slopes can only agree to that
    np.testing.assert_allclose(moved.coef_, exact.coef_, rtol=1e-9)


@pytest.mark.parametrize("d", [3, 4, 5, 6])
def test_hilbert_as_accurate_as_scikit_learn(d):
    X = hilbert(20)[:, :d]
    y = X.sum(axis=1)
    ours = np.abs(LinearRegression(fit_intercept=False).fit(X, y).coef_ - 1).max()
    theirs = np.abs(Reference(fit_intercept=False).fit(X, y).coef_ - 1).max()
    # "not worse": within the same power of ten, or at the level of rounding
    assert ours <= max(10 * theirs, 1e-13)


def test_longley_like_collinear_trends():
    year = np.arange(16.0)
    rng = np.random.default_rng(0)
    columns = [1e5 * (1 + 0.03 * year), 3e5 + 2e4 * year, 1000 + 100 * year, 1e3 * np.ones(16), 1947 + year]
    X = np.stack(columns, axis=1) + rng.normal(size=(16, 5)) * np.array([900, 9000, 300, 100, 0])
    y = X @ np.array([0.01, -0.03, -2.0, -1.0, 1800.0]) + rng.normal(size=16) * 10
    ours, theirs = LinearRegression(tol=1e-12).fit(X, y), Reference(tol=1e-12).fit(X, y)
    # the design's condition number is about 1e5: each side has an error of about 1e5 * eps, amplified by the residual
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def test_dependent_columns_give_the_solution_of_least_norm():
    X, y, _ = data(60, 4)
    X = np.column_stack([X, X[:, 0], np.full(60, 0.1), X[:, 1] - X[:, 2]])
    ours, theirs = LinearRegression().fit(X, y), Reference().fit(X, y)
    assert ours.rank_ == theirs.rank_ == 4
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **CLOSE)
    np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-9, atol=1e-9)


def test_tolerance_decides_the_rank_as_in_scikit_learn():
    X, y, _ = data(200, 5)
    X = X * np.array([1, 1, 1, 1, 1e-7])
    for tol in (1e-6, 1e-9):
        ours, theirs = LinearRegression(tol=tol).fit(X, y), Reference(tol=tol).fit(X, y)
        assert ours.rank_ == theirs.rank_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_extreme_units(factor):
    X, y, _ = data(40, 3)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(LinearRegression().fit(X * factor, y).coef_ * factor, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(LinearRegression().fit(X, y * factor).coef_ / factor, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(LinearRegression().fit(X.T[:, :3] * factor, y[:3]).predict(X.T[:, :3] * factor), y[:3])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(200, 5), (6, 30)])
def test_sparse_equals_dense(kind, shape):
    X, y, weight = data(*shape, 2)
    X[X < 0] = 0
    sparse, dense = LinearRegression().fit(kind(X), y, weight), LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, **CLOSE)
    np.testing.assert_allclose(sparse.predict(kind(X)), dense.predict(X), **CLOSE)


def test_the_iterative_path_of_large_sparse_problems():
    X, y, weight = data(300, 8, 2)
    iterative = _iterative(sp.csr_array(X), y, weight, True, 1e-12)
    direct = least_squares(X, y, weight)
    # LSQR stops at a relative gradient of 1e-12; the condition number is about 10
    np.testing.assert_allclose(iterative.coef, direct.coef, rtol=1e-8)
    assert iterative.optimality < 1e-8


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_positive_equals_nnls(seed, fit_intercept):
    X, y, _ = data(30, 12, seed=seed)
    if seed % 2:
        X[:, -1] = X[:, 0]  # duplicated columns: the minimum is attained at many points
    ours = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y)
    Xc, yc = (X - X.mean(0), y - y.mean()) if fit_intercept else (X, y)
    _, norm = nnls(Xc, yc)
    assert (ours.coef_ >= 0).all() and ours.certificate_.holds
    assert np.linalg.norm(yc - Xc @ ours.coef_) <= norm * (1 + 1e-9)


def test_float32_stays_float32():
    X, y, _ = data(100, 4)
    model = LinearRegression().fit(X.astype(np.float32), y.astype(np.float32))
    assert model.coef_.dtype == np.float32 and model.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, Reference().fit(X, y).coef_, rtol=1e-5)


def test_threads_and_order_and_pickle():
    X, y, _ = data(30000, 5)
    with thread_limit(1):
        one = LinearRegression(n_jobs=1).fit(X, y)
    many = LinearRegression(n_jobs=4).fit(X, y)
    np.testing.assert_array_equal(one.coef_, many.coef_)
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(LinearRegression(copy_X=False).fit(frozen, y).coef_, one.coef_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.singular_, one.singular_)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(20, 3), (3, 20)])
def test_bad_values_are_located(bad, shape):
    X, y, _ = data(*shape)
    X[2, 1] = bad
    with pytest.raises(ValueError, match="row 2, column 1"):
        LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="row 2, column 1"):
        LinearRegression(positive=True).fit(X, y)


def test_degenerate_data():
    assert LinearRegression().fit([[1.0]], [2.0]).predict([[5.0]]) == 2.0
    flat = LinearRegression().fit(np.ones((5, 2)), np.arange(5.0))
    assert not flat.coef_.any() and flat.intercept_ == 2.0 and flat.rank_ == 0
    assert LinearRegression().fit(np.arange(4.0)[:, None], np.ones(4)).coef_ == pytest.approx(0, abs=1e-15)
    weight = np.array([0, 0, 1.0, 1.0, 1.0])
    some = LinearRegression().fit(np.arange(5.0)[:, None], [9.0, -9.0, 1, 2, 3], weight)
    np.testing.assert_allclose(some.coef_, [1.0])
