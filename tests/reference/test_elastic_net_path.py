"""Regularisation paths against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as reference
from sklearn.datasets import make_regression

from hyperplan.linear_model import enet_path, lasso_path


def problem(n, d):
    X, y = make_regression(n, d, n_informative=8, noise=5.0, random_state=0)
    return X - X.mean(axis=0), y - y.mean()


@pytest.mark.parametrize(("n", "d"), [(200, 20), (30, 80), (100, 1500)])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
@pytest.mark.parametrize("positive", [False, True])
def test_same_path(n, d, l1_ratio, positive):
    X, y = problem(n, d)
    options = {"l1_ratio": l1_ratio, "alphas": 15, "eps": 0.05, "positive": positive, "tol": 1e-9}
    alphas, coefs, gaps, n_iters = enet_path(X, y, return_n_iter=True, **options)
    theirs = reference.enet_path(X, y, max_iter=100_000, **options)
    np.testing.assert_allclose(alphas, theirs[0], rtol=1e-12)
    # a relative gap of 1e-9 leaves about its root in the coefficients
    np.testing.assert_allclose(coefs, theirs[1], rtol=1e-3, atol=1e-3)
    assert coefs.shape == (d, 15) and len(n_iters) == 15
    assert (gaps <= 1e-9 * (y @ y) / n).all()


def test_wide_path_through_many_penalties():
    # more than the snapshots of the residual that are kept: columns must be looked at again
    X, y = problem(60, 3000)
    alphas, coefs, _ = lasso_path(X, y, alphas=60, eps=1e-2, tol=1e-8)
    for k in (0, 20, 40, 59):
        r = y - X @ coefs[:, k]
        correlation = np.abs(X.T @ r) / len(y)
        assert correlation.max() <= alphas[k] * (1 + 1e-3)  # optimality, to the root of the tolerance
        np.testing.assert_allclose(correlation[coefs[:, k] != 0], alphas[k], rtol=1e-3)


@pytest.mark.parametrize("d", [20, 700])
def test_sparse_gram_and_given_products_agree(d):
    X, y = problem(150, d)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    options = {"alphas": [5.0, 1.0], "tol": 1e-10}
    _, plain, _ = lasso_path(X, y, precompute=False, **options)
    for other in (
        lasso_path(sp.csc_array(X), y, **options),
        lasso_path(X, y, precompute=True, **options),
        lasso_path(X, y, precompute=X.T @ X, Xy=X.T @ y, **options),
        lasso_path(np.asfortranarray(X), y, check_input=False, **options),
    ):
        np.testing.assert_allclose(other[1], plain, rtol=1e-5, atol=1e-5)


def test_start_and_order_of_alphas():
    X, y = problem(100, 10)
    alphas, coefs, _ = lasso_path(X, y, alphas=[0.1, 10.0], coef_init=np.ones(10), tol=1e-10)
    np.testing.assert_array_equal(alphas, [10.0, 0.1])
    np.testing.assert_allclose(coefs, lasso_path(X, y, alphas=[10.0, 0.1], tol=1e-10)[1], rtol=1e-5, atol=1e-6)


def test_several_targets_share_their_support():
    X, y = problem(80, 30)
    Y = np.column_stack([y, X[:, 0] * 20])
    options = {"alphas": [10.0, 2.0], "tol": 1e-10}
    _, ours, _ = lasso_path(X, Y, **options)
    _, theirs, _ = reference.lasso_path(X, Y, max_iter=50_000, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    assert ((ours[0] != 0) == (ours[1] != 0)).all()


@pytest.mark.parametrize("bad", [{"l1_ratio": 2}, {"eps": 0}, {"alphas": 0}, {"n_alphas": 0}, {"positive": "yes"}])
def test_arguments_outside_their_range(bad):
    X, y = problem(20, 3)
    with pytest.raises(ValueError, match=next(iter(bad))):
        enet_path(X, y, **bad)


@pytest.mark.parametrize("shape", [(50, 5), (60, 300), (20_000, 40), (2000, 400)])
@pytest.mark.parametrize("alphas", [4, [5.0], [5.0, 1.0]])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused_by_every_engine(shape, alphas, bad):
    X, y = problem(*shape)
    X = np.asfortranarray(X)
    X[shape[0] // 2, shape[1] // 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        lasso_path(X, y, alphas=alphas)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        lasso_path(X, y, alphas=alphas, precompute=np.eye(shape[1]))
