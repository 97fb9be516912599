"""Losses C4-C8, schedules D2, SGD D3, early stopping D15 and the errata E91, E92 of the specification."""

import numpy as np
import pytest

from hyperplan._solvers import _sgd_kernels as k
from hyperplan.linear_model import SGDClassifier, SGDRegressor


def loss(code, m, epsilon=0.1):
    return k.loss_and_slope(code, 1.0, m, epsilon)


def test_C4_hinge_and_squared_hinge():
    assert [loss(k.HINGE, m)[0] for m in (-1.0, 0.0, 0.5, 2.0)] == [2.0, 1.0, 0.5, 0.0]
    # without the factor 1/2 of the quadratic hinge of the spec, so that it bounds the 0/1 loss from above
    assert [loss(k.SQUARED_HINGE, m)[0] for m in (-1.0, 0.0, 0.5, 2.0)] == [4.0, 1.0, 0.25, 0.0]


def test_C5_modified_huber_is_smooth_where_its_pieces_meet():
    assert loss(k.MODIFIED_HUBER, -1.0) == (4.0, -4.0)
    below = loss(k.MODIFIED_HUBER, -1.0 - 1e-9)
    assert below == pytest.approx((4.0, -4.0), abs=1e-8)
    assert loss(k.MODIFIED_HUBER, -3.0) == (12.0, -4.0)


def test_C5_modified_huber_is_not_the_regression_huber():
    assert loss(k.MODIFIED_HUBER, -3.0)[0] != k.loss_and_slope(k.HUBER, 1.0, -3.0, 1.0)[0]


def test_C7_epsilon_insensitive():
    assert [k.loss_and_slope(k.INSENSITIVE, 2.0, p, 0.5)[0] for p in (2.0, 2.5, 3.0, 1.0)] == [0.0, 0.0, 0.5, 0.5]


def test_C8_E45_zero_weights_minimise_the_perceptron_loss_but_count_as_mistakes():
    value, slope = loss(k.PERCEPTRON, 0.0)
    assert value == 0.0 and slope == -1.0


def test_D2_E91_robbins_monro_steps_converge_to_the_minimum():
    """eta_t = eta0 / t has a divergent sum and a convergent sum of squares: the mean of y is reached."""
    rng = np.random.default_rng(0)
    y = rng.normal(3.0, 1.0, 400)
    model = SGDRegressor(penalty=None, learning_rate="invscaling", eta0=1.0, power_t=1.0, max_iter=50, tol=None,
                         random_state=0).fit(np.zeros((400, 1)), y)  # fmt: skip
    # with these steps the intercept is exactly the running mean of all targets visited
    assert model.intercept_[0] == pytest.approx(y.mean(), abs=1e-10)


def test_D2_constant_steps_do_not_converge():
    y = np.random.default_rng(0).normal(3.0, 1.0, 400)
    model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.5, max_iter=50, tol=None, random_state=0)
    assert abs(model.fit(np.zeros((400, 1)), y).intercept_[0] - y.mean()) > 1e-3


def test_D3_one_step_by_hand():
    """theta <- theta - eta * gradient for one row: w = 0.1 * 2 * x after one step from zero."""
    model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.1, max_iter=1, tol=None)
    model.fit([[1.0, 3.0]], [2.0])
    np.testing.assert_allclose(model.coef_, [0.2, 0.6], rtol=1e-15)
    np.testing.assert_allclose(model.intercept_, [0.2], rtol=1e-15)


def test_D15_stops_when_the_validation_score_stops_improving():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=500) > 0).astype(int)
    short = SGDClassifier(early_stopping=True, n_iter_no_change=2, random_state=0).fit(X, y)
    long = SGDClassifier(early_stopping=True, n_iter_no_change=20, random_state=0).fit(X, y)
    assert 2 < short.n_iter_ < long.n_iter_ < 1000


def test_E92_stops_although_the_loss_stays_large():
    """The least loss is far above any small number: a rule "while loss > eps" would never end."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    assert model.n_iter_ < 1000
    assert model.certificate_.details["objective"] > 0.5
