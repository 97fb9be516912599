"""Worked numbers and errata about logistic regression."""

import numpy as np
import pytest
import scipy.optimize

from hyperplan._base import ConvergenceWarning
from hyperplan._solvers._logistic_kernels import logistic_terms
from hyperplan._solvers.logistic import solve_binary
from hyperplan._solvers.logistic_rows import Penalty, Rows
from hyperplan._solvers.softmax_rows import SoftmaxRows
from hyperplan.linear_model import LogisticRegression
from hyperplan.optimize import get_loss


def test_T12_odds_ratio_and_loss_at_zero():
    assert np.exp(0.7) == pytest.approx(2.01375, abs=5e-6)
    assert logistic_terms(0.0, 1.0, 1.0)[0] == pytest.approx(0.693147, abs=5e-7)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.summary().odds_ratio[:2], np.exp(model.coef_[0]))


def test_E09_separable_data_have_no_maximum_likelihood_estimate():
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    with pytest.warns(ConvergenceWarning, match="separates the classes"):
        model = LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y)
    assert model.is_separable_
    rows = Rows(X, y.astype(float), np.ones(2))
    losses = [rows.evaluate(np.array([w, 0.0])).loss for w in (1.0, 10.0, 100.0)]
    assert losses[0] > losses[1] > losses[2] and losses[2] < 1e-40


def test_E09_collinear_features_have_many_solutions_of_equal_objective():
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    y = (x + rng.logistic(size=100) > 0).astype(int)
    single = LogisticRegression(C=np.inf, tol=1e-9).fit(x[:, None], y)
    double = LogisticRegression(C=np.inf, tol=1e-9).fit(np.column_stack([x, x]), y)
    # the step of minimum norm splits the weight evenly
    np.testing.assert_allclose(double.coef_[0], [single.coef_[0, 0] / 2] * 2, rtol=1e-6)


def test_E10_a_unit_of_a_feature_multiplies_the_odds():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3))
    y = (X @ [1.0, -0.5, 0.0] + rng.logistic(size=100) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    point = np.array([[0.3, -0.2, 1.0]])
    odds = [p[1] / p[0] for p in (model.predict_proba(point)[0], model.predict_proba(point + [1.0, 0.0, 0.0])[0])]
    assert odds[1] / odds[0] == pytest.approx(np.exp(model.coef_[0, 0]), rel=1e-12)


def test_T58_the_curvature_is_at_most_a_quarter_and_that_at_zero():
    rng = np.random.default_rng(58)
    X, y, loss = rng.normal(size=(80, 4)), rng.choice([-1, 1], 80), get_loss("logistic")
    bound = np.linalg.eigvalsh(X.T @ X)[-1] / (4 * 80)

    def largest(w):
        return np.linalg.eigvalsh(X.T @ (loss.curvature(y, X @ w)[:, None] * X) / 80)[-1]

    assert loss.smoothness == 0.25 and largest(np.zeros(4)) == pytest.approx(bound, rel=1e-12)
    assert all(largest(w) < bound for w in rng.normal(size=(50, 4)))


def test_E70_exponents_of_the_likelihood():
    score = np.log(0.8 / 0.2)  # sigma = 0.8
    assert np.exp(-logistic_terms(score, 1.0, 1.0)[0]) == pytest.approx(0.8)
    assert np.exp(-logistic_terms(score, 0.0, 1.0)[0]) == pytest.approx(0.2)


def test_E71_the_mean_loss_is_divided_by_n():
    X, y = np.zeros((4, 1)), np.array([0.0, 1.0, 0.0, 1.0])
    assert Rows(X, y, np.ones(4)).evaluate(np.zeros(2)).loss == pytest.approx(np.log(2))


def test_E72_softmax_normalises_over_all_classes():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
    rows = SoftmaxRows(X, y, np.ones(60), 3)
    theta = rng.normal(size=9)
    error = scipy.optimize.check_grad(
        lambda t: rows.evaluate(t.reshape(3, 3)).loss, lambda t: rows.evaluate(t.reshape(3, 3)).gradient.ravel(), theta
    )
    assert error < 1e-6  # forward differences


def test_E73_the_mixing_parameter_lies_between_0_and_1():
    with pytest.raises(ValueError, match="l1_ratio"):
        LogisticRegression(solver="saga", l1_ratio=2.0).fit([[0.0], [1.0]], [0, 1])


def test_E77_the_log_loss_is_below_one_at_margin_zero():
    assert logistic_terms(0.0, 1.0, 1.0)[0] < 1.0  # so it is no upper bound of the 0/1 loss without rescaling


def test_V3_newton_converges_quadratically():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(float)
    residuals = []
    penalty = Penalty(0.0, 1e-3, 0.0, 0.0, True)
    solve_binary(
        X, y, np.ones(300), penalty, tol=1e-13, max_iter=30, observe=lambda i, t, f, r: residuals.append(r) and False
    )
    assert len(residuals) <= 8
    assert residuals[-1] < 1e-12
