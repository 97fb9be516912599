"""Section 1.A of the course, the problem itself: costs, threshold rules, reductions, weights, regret, dimension."""

import numpy as np
import pytest

from hyperplan.linear_model import LinearRegression, LogisticRegression
from hyperplan.metrics import log_loss, pairwise_distances, zero_one_loss
from hyperplan.preprocessing import PolynomialFeatures
from hyperplan.svm import LinearSVC
from hyperplan.tree import DecisionTreeClassifier


def test_A2_the_cost_is_a_sum_or_a_mean():
    y, guess, chance = [0, 1, 1, 0], [0, 1, 0, 1], [0.2, 0.9, 0.4, 0.6]
    assert zero_one_loss(y, guess, normalize=False) == 2 == 4 * zero_one_loss(y, guess)
    assert log_loss(y, chance, normalize=False) == pytest.approx(4 * log_loss(y, chance), rel=1e-12)


def test_A3_a_stump_finds_the_best_threshold():
    """Rules 1{x <= theta}, all thresholds tried: 2 is best, and the stump cuts between 2 and the next point."""
    x = np.array([0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
    y = np.array([1, 0, 1, 1, 1, 0, 0, 0, 0])
    errors = [zero_one_loss(y, (x <= theta).astype(int), normalize=False) for theta in x]
    stump = DecisionTreeClassifier(max_depth=1).fit(x[:, None], y)
    assert x[np.argmin(errors)] == 2.0 and 2.0 <= stump.tree_.threshold[0] < 2.5
    assert zero_one_loss(y, stump.predict(x[:, None]), normalize=False) == min(errors) == 1


def test_A15_E57_polynomials_approach_a_continuous_function_and_no_jump():
    """Largest error on [-1, 1]: falls with the degree for |x|, stays above half the jump for the sign."""
    x = np.cos(np.linspace(0, np.pi, 400))[:, None]  # dense at the ends, where polynomials swing

    def largest_error(target, degree):
        powers = PolynomialFeatures(degree, include_bias=False).fit_transform(x)
        return np.abs(LinearRegression().fit(powers, target).predict(powers) - target).max()

    bends = [largest_error(np.abs(x[:, 0]), degree) for degree in (2, 4, 8, 16)]
    assert (np.diff(bends) < 0).all() and bends[-1] < 0.3 * bends[0]
    assert all(largest_error(np.sign(x[:, 0]), degree) > 0.9 for degree in (3, 7, 15))  # half the jump is 1


def test_A17_several_classes_from_two():
    """One machine per class against the rest; the largest score wins."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 2)) + 3 * np.eye(3)[y][:, :2]
    all_at_once = LinearSVC(tol=1e-8, max_iter=100_000).fit(X, y)
    for k in range(3):
        alone = LinearSVC(tol=1e-8, max_iter=100_000).fit(X, y == k)
        np.testing.assert_allclose(all_at_once.decision_function(X)[:, k], alone.decision_function(X), atol=1e-5)
    assert (all_at_once.predict(X) == all_at_once.decision_function(X).argmax(axis=1)).all()


def test_A18_weights_are_copies_and_resampling_approaches_them():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    weight = rng.integers(0, 5, 200)
    weighted = LogisticRegression(C=1e6, tol=1e-10).fit(X, y, sample_weight=weight)
    copied = LogisticRegression(C=1e6, tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)  # the same optimum, at tol
    drawn = rng.choice(200, size=200_000, p=weight / weight.sum())
    resampled = LogisticRegression(C=1e6, tol=1e-10).fit(X[drawn], y[drawn])
    np.testing.assert_allclose(resampled.coef_, weighted.coef_, atol=0.03)  # four errors of 200 000 draws


def test_A21_regret_is_estimation_and_approximation_error_and_the_middle_term_is_not_positive():
    """Thresholds on a grid, P(y = 1 | x) = 0.9 on [0.25, 0.75] and 0.1 elsewhere, x uniform: risks by integration."""
    x = (np.arange(20_000) + 0.5) / 20_000
    eta = np.where((x >= 0.25) & (x <= 0.75), 0.9, 0.1)
    family = [(x > theta) for theta in np.linspace(0, 1, 21)]
    risks = np.array([np.where(rule, 1 - eta, eta).mean() for rule in family])
    bayes = np.minimum(eta, 1 - eta).mean()
    rng = np.random.default_rng(2)
    for _ in range(20):
        rows = rng.integers(0, 20_000, 60)
        y = (rng.random(60) < eta[rows]).astype(int)
        empirical = np.array([zero_one_loss(y, rule[rows].astype(int)) for rule in family])
        h, best = empirical.argmin(), risks.argmin()
        middle = empirical[h] - empirical[best]
        parts = (risks[h] - empirical[h]) + middle + (empirical[best] - risks[best])
        assert middle <= 0 and risks[h] >= risks[best] > bayes
        assert risks[h] - bayes == pytest.approx(parts + (risks[best] - bayes), rel=1e-12)


def test_A23_in_many_dimensions_the_nearest_is_nearly_as_far_as_the_farthest():
    rng = np.random.default_rng(3)
    contrast = []
    for d in (1, 10, 100, 1000):
        distances = pairwise_distances(rng.random((1, d)), rng.random((500, d)))[0]
        contrast.append(distances.max() / distances.min())
    assert (np.diff(contrast) < 0).all() and contrast[0] > 50 and contrast[-1] < 1.2
