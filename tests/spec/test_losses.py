"""Worked numbers and traps of the losses and links."""

import math

import numpy as np
import pytest

from hyperplan.linear_model import LinearRegression
from hyperplan.optimize import (
    LOSSES,
    fit_penalized_linear,
    get_loss,
    gradient_descent,
    half_slope_sigmoid,
    odds,
    odds_ratio,
    sigmoid,
    softmax,
)


def test_T12_odds_ratio_and_logistic_loss_at_zero():
    assert odds_ratio(0.7) == pytest.approx(2.01375, abs=5e-6)
    assert get_loss("logistic").value(1, 0.0) == pytest.approx(0.693147, abs=5e-7)
    f = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(odds(sigmoid(f + 0.7)) / odds(sigmoid(f)), odds_ratio(0.7), rtol=1e-12)


def test_T13_gaussian_likelihood_is_least_squares():
    rng = np.random.default_rng(0)
    X, sigma = rng.normal(size=(50, 2)), 0.7
    y = X @ [1.0, -1.0] + 0.5 + sigma * rng.normal(size=50)
    model = LinearRegression().fit(X, y)
    loss, residual = get_loss("gaussian", sigma), y - model.predict(X)
    by_hand = 0.5 * math.log(2 * math.pi * sigma**2) + (residual**2).sum() / (2 * sigma**2 * 50)
    assert loss.mean(y, model.predict(X)) == pytest.approx(by_hand, rel=1e-13)
    fit = fit_penalized_linear(X, y, loss=loss, penalty="none", tol=1e-12, max_iter=10000)
    np.testing.assert_allclose(fit.coef, model.coef_, atol=1e-9)  # gradient 1e-12 over a curvature of about 1


def test_C1_a_margin_of_zero_is_an_error():
    assert get_loss("zero_one").value(1, [-1.0, 0.0, 1e-300]).tolist() == [1.0, 1.0, 0.0]


def test_C5_modified_huber_is_continuously_differentiable_at_minus_one():
    loss, h = get_loss("modified_huber"), 1e-9
    assert loss.value(1, -1.0) == 4.0 and loss.gradient(1, -1.0) == -4.0
    assert loss.gradient(1, -1.0 - h) == pytest.approx(loss.gradient(1, -1.0 + h), abs=1e-8)
    assert loss.value(1, -10.0) == 40.0


@pytest.mark.parametrize("eta", [0.1, 0.5, 0.8])
def test_C6_population_minimisers(eta):
    grid = np.linspace(-3, 3, 60001)
    for name, expected in (("exponential", 0.5), ("logistic", 1.0)):
        loss = get_loss(name)
        risk = eta * loss.value(1, grid) + (1 - eta) * loss.value(-1, grid)
        assert grid[np.argmin(risk)] == pytest.approx(expected * math.log(eta / (1 - eta)), abs=1e-4)
        assert loss.link.mean(expected * math.log(eta / (1 - eta))) == pytest.approx(eta)


def test_C8_E45_zero_is_a_trivial_minimiser_of_the_perceptron_loss():
    loss = get_loss("perceptron")
    assert loss.mean([-1, 1, 1], np.zeros(3)) == 0.0
    assert loss.gradient(1, 0.0) == -1.0  # a margin of 0 is a mistake


def test_C13_T49_E90_half_slope_sigmoid():
    g, h = float(half_slope_sigmoid(1.0)), 1e-5
    assert g == pytest.approx(0.622459, abs=5e-7)
    slope = float(half_slope_sigmoid(1.0 + h) - half_slope_sigmoid(1.0 - h)) / (2 * h)
    assert slope == pytest.approx(0.117502, abs=5e-7)
    assert slope == pytest.approx(0.5 * g * (1 - g), abs=1e-9)
    a = np.linspace(-8, 8, 33)
    g, h = half_slope_sigmoid(a), 1e-6
    np.testing.assert_allclose(g, 0.5 * (1 + np.tanh(a / 4)), rtol=1e-12)
    slope = (half_slope_sigmoid(a + h) - half_slope_sigmoid(a - h)) / (2 * h)
    np.testing.assert_allclose(slope, 0.5 * g * (1 - g), atol=1e-9)
    assert half_slope_sigmoid(2.0) != pytest.approx(sigmoid(2.0))


def test_E09_no_minimiser_on_separable_data_and_many_on_collinear_features():
    loss, x = get_loss("logistic"), np.array([-1.0, 1.0])
    values = [loss.mean(np.sign(x), theta * x) for theta in (0.0, 1.0, 10.0, 100.0)]
    assert (np.diff(values) < 0).all() and values[-1] < 1e-40
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [1.5, 1.5]]), np.array([1, 1, -1, -1])
    assert loss.mean(y, X @ [1.0, 0.0]) == loss.mean(y, X @ [0.25, 0.75])


def test_E12_linear_and_logistic_updates_share_their_form():
    y, f = 0.3, 1.2
    assert get_loss("squared").gradient(y, f) == f - y
    assert get_loss("squared_full").gradient(y, f) == 2 * (f - y)
    assert get_loss("log_loss").gradient(1.0, f) == pytest.approx(sigmoid(f) - 1.0)


def test_E70_likelihood_of_signed_labels():
    p, loss = 0.8, get_loss("logistic")
    f = math.log(p / (1 - p))
    for y, expected in ((1, 0.8), (-1, 0.2)):
        assert p ** ((1 + y) / 2) * (1 - p) ** ((1 - y) / 2) == pytest.approx(expected)
        assert math.exp(-loss.value(y, f)) == pytest.approx(expected)


def test_E71_mean_loss_is_divided_by_n():
    y, f = np.array([1, -1, 1]), np.array([0.3, -0.2, 1.0])
    assert get_loss("logistic").mean(y, f) == pytest.approx(np.log1p(np.exp(-y * f)).sum() / 3)


def test_E72_softmax_sums_over_all_classes_and_slopes_are_in_the_score():
    z = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(softmax(z), np.exp(z) / np.exp(z).sum())
    assert softmax(z).sum() == pytest.approx(1.0)


def test_E75_a_sum_may_be_convex_though_a_term_is_not():
    z = np.linspace(-1, 1, 101)
    total = 2 * z**2 - z**2
    assert (np.diff(total, 2) > 0).all() and (np.diff(-(z**2), 2) < 0).all()
    # the other direction is what the library relies on: convex losses make a convex objective
    assert all(LOSSES[name].convex for name in ("squared", "logistic", "hinge", "huber", "poisson"))
    assert not get_loss("tweedie", 3.0).convex and not LOSSES["zero_one"].convex


@pytest.mark.parametrize("name", [n for n, loss in LOSSES.items() if loss.target == "sign"])
def test_E77_which_losses_bound_the_zero_one_loss(name):
    m = np.linspace(-5, 5, 2001)
    above = (LOSSES[name].value(1, m) >= get_loss("zero_one").value(1, m)).all()
    assert above == LOSSES[name].bounds_zero_one
    expected = {"logistic": math.log(2), "half_squared_hinge": 0.5, "perceptron": 0.0}
    assert LOSSES[name].value(1, 0.0) == pytest.approx(expected.get(name, 1.0))


def test_E77_modified_huber_is_not_the_regression_huber():
    assert get_loss("huber").target == "real" and get_loss("modified_huber").target == "sign"


def test_T30_E55_flooding():
    from hyperplan.optimize import flooding

    f, grad = flooding(lambda t: (t - 1) ** 2, lambda t: 2 * (t - 1), 0.25)
    grid = np.linspace(0, 2, 2001)
    values = np.array([f(t) for t in grid])
    assert values.min() == pytest.approx(0.25)
    minimisers = grid[values <= values.min() + 1e-9]
    assert minimisers.min() == pytest.approx(0.5) and minimisers.max() == pytest.approx(1.5)
    assert set(np.round(minimisers, 6)) == {0.5, 1.5}  # all points with L = b, not one
    path: list = []
    gradient_descent(f, grad, 3.0, step=0.1, max_iter=200, callback=lambda x, step: path.append(float(x)))
    tail = np.array(path[-20:])
    assert np.abs(tail - 1.5).max() < 0.1 and tail.min() < 1.5 < tail.max()
    assert grad(1.5) == 0.0 and np.sign(grad(1.4)) == -np.sign(grad(1.6))
