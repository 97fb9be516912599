"""Worked numbers and errata about the lasso and the elastic net.

The course writes ``|y - Xw|^2 + lambda |w|_1``; here that is ``alpha = lambda / (2 n)``.
"""

import numpy as np
import pytest

from hyperplan._base import InvalidParameterError
from hyperplan._solvers._coordinate_kernels import new_coefficient
from hyperplan._solvers.coordinate import Penalty
from hyperplan._solvers.sven import constrained_elastic_net, constrained_lasso
from hyperplan.linear_model import ElasticNet, Lasso

OLS = np.array([3.0, -1.0, 0.4, 0.2])


def orthonormal(n=8, d=4):
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(n, d)))
    return Q


def soft(z, t):
    return np.sign(z) * np.maximum(np.abs(z) - t, 0)


def proximal_gradient(X, y, l1, l2, *, accelerated, n_iter):
    """ISTA or FISTA for 1/2 |y - Xw|^2 + l1 |w|_1 + l2/2 |w|^2."""
    L = np.linalg.eigvalsh(X.T @ X)[-1]
    w = v = np.zeros(X.shape[1])
    t = 1.0
    for _ in range(n_iter):
        new = soft(v - X.T @ (X @ v - y) / L, l1 / L) / (1 + l2 / L)
        t, before = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
        v = new + (before - 1) / t * (new - w) if accelerated else new
        w = new
    return w


def test_T08_orthonormal_lasso():
    X = orthonormal()
    y = X @ OLS
    n, lam = len(y), 1.0
    w = Lasso(alpha=lam / (2 * n), fit_intercept=False, tol=1e-14).fit(X, y).coef_
    np.testing.assert_allclose(w, [2.5, -0.5, 0, 0], atol=1e-7)  # the root of the tolerance
    objective = np.sum((y - X @ w) ** 2) + lam * np.abs(w).sum()
    assert objective == pytest.approx(3.7)


def test_E05_threshold_is_half_lambda_not_n_lambda():
    X = orthonormal()
    y, n, lam = X @ OLS, 8, 1.0
    right = OLS * np.maximum(0, 1 - lam / (2 * np.abs(OLS)))
    printed = OLS * np.maximum(0, 1 - n * lam / np.abs(OLS))
    w = Lasso(alpha=lam / (2 * n), fit_intercept=False, tol=1e-14).fit(X, y).coef_
    np.testing.assert_allclose(w, right, atol=1e-7)
    assert np.sum((y - X @ printed) ** 2) + lam * np.abs(printed).sum() == pytest.approx(10.2)
    # n * lambda belongs to (1/2n)|.|^2 + lambda |.|_1 with X'X = I
    w = Lasso(alpha=0.05, fit_intercept=False, tol=1e-14).fit(X, y).coef_
    np.testing.assert_allclose(w, soft(OLS, n * 0.05), atol=1e-7)


def test_E06_shifting_the_target_shifts_the_intercept_alone():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)) + 3, rng.normal(size=40)
    a, b = ElasticNet(alpha=0.05, tol=1e-12).fit(X, y), ElasticNet(alpha=0.05, tol=1e-12).fit(X, y + 1000)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-8)  # y + 1000 is rounded
    assert b.intercept_ - a.intercept_ == pytest.approx(1000)


def test_E07_ridge_shrinks_a_large_coefficient_more():
    X = orthonormal(4, 1)
    y = X[:, 0] * 10
    n = len(y)
    lasso = Lasso(alpha=1 / (2 * n), fit_intercept=False, tol=1e-14).fit(X, y).coef_[0]
    ridge = ElasticNet(alpha=1 / n, l1_ratio=0, fit_intercept=False, tol=1e-14).fit(X, y).coef_[0]
    assert (lasso, ridge) == (pytest.approx(9.5), pytest.approx(5.0))


def test_E73_mixing_is_between_0_and_1():
    with pytest.raises(InvalidParameterError, match="l1_ratio"):
        ElasticNet(l1_ratio=2.0).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.parametrize(("z", "expected"), [(-3, -2), (1, 0), (-1, 0), (0.5, 0), (-0.5, 0), (2.5, 1.5)])
def test_T10_soft_threshold(z, expected):
    assert new_coefficient(float(z), 1.0, Penalty(1.0, 0.0, False)) == expected


def test_T11_proximal_operators():
    for l1, l2, expected in [(0.0, 0.7, 2 / 1.7), (0.7, 0.0, 1.3), (0.7 * 0.3, 0.7 * 0.7, 1.79 / 1.49)]:
        assert new_coefficient(2.0, 1.0, Penalty(l1, l2, False)) == pytest.approx(expected, abs=1e-12)


def test_T38_elastic_net_is_a_support_vector_machine():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
    n, l1, l2 = 20, 1.5, 0.8
    alpha, ratio = (l1 + l2) / n, l1 / (l1 + l2)
    options = {"alpha": alpha, "l1_ratio": ratio, "fit_intercept": False, "tol": 1e-15}
    descent = ElasticNet(**options).fit(X, y).coef_
    assert 0 < np.count_nonzero(descent) < 5
    # given the norm, the machine alone reproduces the coefficients to rounding
    machine = constrained_elastic_net(X, y, np.abs(descent).sum(), l2)
    np.testing.assert_allclose(machine, descent, atol=1e-12)
    # the penalised form finds the norm by itself
    sven = ElasticNet(solver="sven", **{**options, "tol": 1e-10}).fit(X, y)
    np.testing.assert_allclose(sven.coef_, descent, atol=1e-8)
    assert sven.certificate_.holds
    for accelerated, n_iter in ((False, 2000), (True, 2000)):
        w = proximal_gradient(X, y, l1, l2, accelerated=accelerated, n_iter=n_iter)
        np.testing.assert_allclose(w, descent, atol=1e-10)


@pytest.mark.parametrize("ratio", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("shape", [(30, 6), (10, 25)])
def test_LR9_solver_sven_equals_coordinate_descent(ratio, shape):
    rng = np.random.default_rng(3)
    X, y, weight = rng.normal(size=shape), rng.normal(size=shape[0]), rng.uniform(0.5, 2, shape[0])
    a = ElasticNet(alpha=0.1, l1_ratio=ratio, solver="sven", tol=1e-8).fit(X, y, weight)
    b = ElasticNet(alpha=0.1, l1_ratio=ratio, tol=1e-12).fit(X, y, weight)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)  # the root of the machine's gap
    assert a.certificate_.holds


def test_LR8_lasso_is_least_norm_over_a_simplex():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(25, 8)), rng.normal(size=25)
    w = Lasso(alpha=0.1, fit_intercept=False, tol=1e-15).fit(X, y).coef_
    np.testing.assert_allclose(constrained_lasso(X, y, np.abs(w).sum()), w, atol=1e-9)


def test_D16_descent_equals_proximal_gradient():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    w = Lasso(alpha=0.1, fit_intercept=False, tol=1e-14).fit(X, y).coef_
    np.testing.assert_allclose(
        proximal_gradient(X, y, 0.1 * 40, 0.0, accelerated=True, n_iter=5000), w, atol=1e-6
    )  # both at the root of their gaps
