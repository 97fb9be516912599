"""Worked numbers and errata of the course on least squares and ridge."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from hyperplan.linear_model import LinearRegression, Ridge


def monomials(x, degree):
    """Powers 1..degree of one variable."""
    return np.stack([x**p for p in range(1, degree + 1)], axis=1)


def projectile(x, g=9.81, speed=10.0, angle=math.pi / 4, height=2.0):
    return -g / (2 * speed**2 * math.cos(angle) ** 2) * x**2 + x * math.tan(angle) + height


def test_lr1_slope_is_covariance_over_variance():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(size=50)
    model = LinearRegression().fit(x[:, None], y)
    assert model.coef_[0] == pytest.approx(np.cov(x, y)[0, 1] / np.var(x, ddof=1))


def test_e01_intercept_is_mean_minus_slope_times_mean():
    x = np.array([1.0, 2.0, 3.0, 5.0])
    y = np.array([4.0, 4.5, 7.0, 9.0])
    model = LinearRegression().fit(x[:, None], y)
    slope, intercept = np.polyfit(x, y, 1)
    assert model.intercept_ == pytest.approx(intercept) == pytest.approx(y.mean() - slope * x.mean())
    assert model.intercept_ != pytest.approx(y.mean() + slope * x.mean())


@pytest.mark.parametrize(("d", "degree", "columns"), [(2, 1, 3), (2, 2, 6), (2, 3, 10), (5, 3, 56)])
def test_t05_polynomial_fit_has_binomially_many_coefficients(d, degree, columns):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(200, d))
    powers = [c for p in range(1, degree + 1) for c in combinations_with_replacement(range(d), p)]
    design = np.stack([X[:, list(c)].prod(axis=1) for c in powers], axis=1)
    model = LinearRegression().fit(design, rng.normal(size=200))
    assert model.rank_ + 1 == columns == math.comb(d + degree, degree)  # the intercept is the constant column


def test_t06_and_e02_projectile_recovers_the_speed():
    x = np.linspace(0, 9, 30)
    assert projectile(5.0) == pytest.approx(4.5475)
    model = LinearRegression().fit(monomials(x, 2), projectile(x))
    assert model.predict(monomials(np.array([5.0]), 2))[0] == pytest.approx(4.5475)
    assert model.coef_[0] == pytest.approx(math.tan(math.pi / 4))  # not speed * tan(angle)
    assert math.sqrt(-9.81 / (2 * model.coef_[1] * math.cos(math.pi / 4) ** 2)) == pytest.approx(10.0)


def test_t07_and_e04_ridge_gradient_vanishes_with_lambda_not_n_lambda():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40) * 3
    penalty = 3.0

    def gradient(theta):
        return np.abs(-2 * X.T @ (y - X @ theta) + 2 * penalty * theta).max()

    ours = Ridge(alpha=penalty, fit_intercept=False).fit(X, y).coef_
    printed = np.linalg.solve(X.T @ X + 40 * penalty * np.eye(5), X.T @ y)
    assert gradient(ours) < 1e-12  # rounding of sums of 40 products of size 10
    assert gradient(printed) > 1.0
    np.testing.assert_allclose(ours, np.linalg.solve(X.T @ X + penalty * np.eye(5), X.T @ y))


def test_lr3_limits_of_the_penalty():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    np.testing.assert_allclose(Ridge(alpha=1e-10).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)
    assert np.abs(Ridge(alpha=1e12).fit(X, y).coef_).max() < 1e-9


def test_e03_rmse_of_the_mean_is_the_standard_deviation():
    y = np.array([1.0, 2.0, 4.0, 7.0])
    flat = LinearRegression().fit(np.zeros((4, 1)), y)
    rmse = np.sqrt(np.mean((y - flat.predict(np.zeros((4, 1)))) ** 2))
    assert rmse == pytest.approx(y.std())
    assert rmse != pytest.approx(y.var())


def test_e06_shifting_the_targets_only_shifts_the_intercept():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    for model in (
        LinearRegression(),
        Ridge(alpha=50.0),
        Ridge(alpha=50.0, solver="svd"),
        Ridge(alpha=5.0, solver="lsqr"),
    ):
        coef, intercept = model.fit(X, y).coef_.copy(), model.intercept_
        model.fit(X, y + 1000.0)
        # lsqr stops at a relative tolerance of 1e-4
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-3 if model.get_params().get("solver") == "lsqr" else 1e-9)
        assert model.intercept_ == pytest.approx(intercept + 1000.0)


def test_e08_full_rank_needs_independent_columns_not_only_many_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 3))
    dependent = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])  # a combination that is not a sum
    assert LinearRegression().fit(dependent, X[:, 0]).rank_ == 3
    assert LinearRegression().fit(X, X[:, 0]).rank_ == 3


def test_e11_newton_on_the_derivative_reaches_the_least_squares_minimum_in_one_step():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    start = rng.normal(size=3)
    step = np.linalg.solve(2 * X.T @ X, 2 * X.T @ (X @ start - y))
    np.testing.assert_allclose(start - step, LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-10)


def test_e12_half_squares_halve_the_gradient_and_keep_the_minimum():
    X, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
    theta = LinearRegression(fit_intercept=False).fit(X, y).coef_
    away = theta + 1.0
    whole, half = -2 * X.T @ (y - X @ away), -(X.T @ (y - X @ away))
    assert whole == pytest.approx(2 * half)
    assert -(X.T @ (y - X @ theta)) == pytest.approx(0.0, abs=1e-14)
