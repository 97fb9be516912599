"""What the course says about linear support vector machines, with its errata applied."""

import numpy as np
import pytest

from hyperplan._solvers.linear_svm import classification_band, fit_band
from hyperplan.svm import LinearSVC, LinearSVR


def machine(X, y, C, **options):
    """Hinge machine with its multipliers (signed: multiplier times label)."""
    low, high = classification_band(y)
    return fit_band(X, low, high, np.full(len(y), C), power=1, tol=1e-10, **options)


def overlapping(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, 2)) + 0.8 * y[:, None], y


def test_l1_e28_hard_margin():
    """Closest points satisfy y f = 1 exactly, the others y f >= 1; the margin is 2 / |w| wide."""
    X = np.array([[-3.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [4.0, -2.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    found = machine(X, y, 1e3)
    np.testing.assert_allclose(found.weights, [1.0, 0.0], atol=1e-6)
    assert 2 / np.linalg.norm(found.weights) == pytest.approx(2.0, abs=1e-6)
    margins = y * (X @ found.weights)
    np.testing.assert_allclose(margins[[1, 2]], 1.0, atol=1e-6)
    assert (margins >= 1 - 1e-6).all()


def test_l3_l4_dual_and_recovery():
    """w = sum of multipliers * labels * rows, and primal equals dual at the optimum."""
    X, y = overlapping()
    found = machine(X, y, 0.7)
    multipliers = found.pull * y
    assert (multipliers >= 0).all() and (multipliers <= 0.7).all()
    np.testing.assert_allclose(X.T @ found.pull, found.weights, atol=1e-7)
    dual = multipliers.sum() - 0.5 * found.weights @ found.weights
    assert found.primal == pytest.approx(dual, rel=1e-8)


def test_l5_e30_point_status():
    """Multiplier 0: y f >= 1 (weakly); inside: y f = 1; at C: y f <= 1, an error only beyond slack 1."""
    C = 0.7
    X, y = overlapping()
    found = machine(X, y, C)
    multipliers, margins = found.pull * y, y * (X @ found.weights)
    small = 1e-6
    assert (margins[multipliers <= 0.0] >= 1 - small).all()
    inside = (multipliers > small) & (multipliers < C - small)
    np.testing.assert_allclose(margins[inside], 1.0, atol=small)
    bounded = multipliers >= C
    assert (margins[bounded] <= 1 + small).all()
    assert (bounded & (margins > 0)).any()  # bounded support vectors that are classified correctly: not errors


def test_e31_bounded_support_vectors_do_not_give_the_intercept():
    """Only rows with 0 < multiplier < C have f = label; f includes the intercept."""
    X, y = overlapping(seed=3)
    found = machine(X + 1.0, y, 0.7, scale=10.0)
    scores = (X + 1.0) @ found.weights[:-1] + 10.0 * found.weights[-1]
    multipliers = found.pull * y
    inside = (multipliers > 1e-6) & (multipliers < 0.7 - 1e-6)
    assert inside.any()
    np.testing.assert_allclose(scores[inside], y[inside], atol=1e-5)
    assert np.abs(scores - y)[multipliers >= 0.7].max() > 0.1


def test_l6_regularisation_form():
    """sum hinge + lambda/2 |w|^2 has the minimiser of 1/2 |w|^2 + C sum hinge, C = 1/lambda; the course's nu is C."""
    X, y = overlapping()
    lam = 2.5
    w = LinearSVC(loss="hinge", C=1 / lam, fit_intercept=False, tol=1e-10).fit(X, y).coef_[0]

    def value(v):
        return np.maximum(1 - y * (X @ v), 0).sum() + lam / 2 * v @ v

    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):  # convex: no better point nearby means no better point
        for _ in range(50):
            assert value(w) <= value(w + size * rng.standard_normal(2)) + 1e-9


def test_c4_e77_quadratic_hinge_is_twice_the_halved_one():
    """The squared hinge is (1 - m)_+^2, 1 at m = 0; the course's half of it is 1/2 there, below the 0/1 loss."""
    X = np.array([[1.0], [-1.0]])
    y = np.array([1.0, -1.0])
    low, high = classification_band(y)
    at_zero = fit_band(X, low, high, np.full(2, 1e-12), power=2)
    assert at_zero.primal / 1e-12 == pytest.approx(2.0, rel=1e-6)  # two rows of loss 1
    # minimiser of 1/2 w^2 + 2 C (1 - w)^2: w = 4C / (1 + 4C)
    C = 0.75
    assert LinearSVC(C=C, fit_intercept=False).fit(X, y).coef_[0, 0] == pytest.approx(4 * C / (1 + 4 * C), rel=1e-12)


def test_c7_epsilon_insensitive():
    """Inside the tube there is no loss: the flattest line that stays within epsilon."""
    X = np.array([[-1.0], [1.0]])
    y = np.array([-2.0, 2.0])
    model = LinearSVR(epsilon=0.5, C=100.0, fit_intercept=False).fit(X, y)
    assert model.coef_[0] == pytest.approx(1.5, rel=1e-6)
    assert LinearSVR(epsilon=2.0, C=100.0).fit(X, y).coef_[0] == pytest.approx(0.0, abs=1e-6)


def test_d14_e29_slater_holds_for_the_machine():
    """Affine constraints: the gap closes whatever the data, also for duplicated and constant rows."""
    X = np.repeat([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], 4, axis=0)
    y = np.array([1.0, -1.0] * 6)
    found = machine(X, y, 1.0, scale=1.0)
    assert found.gap <= 1e-9 * found.primal
