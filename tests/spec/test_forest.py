"""Worked numbers and errata on bootstrap, bagging and forests."""

import math

import numpy as np
import pytest

from hyperplan.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from hyperplan.ensemble._bagging_variance import variance_of_mean


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)


def test_t18_share_of_rows_that_a_bootstrap_sample_misses():
    for m, missed in {2: 0.25, 5: 0.32768, 10: 0.348678, 100: 0.366032, 1000: 0.367695}.items():
        assert (1 - 1 / m) ** m == pytest.approx(missed, abs=5e-7)
    assert [math.comb(2 * m - 1, m) for m in (2, 5, 10)] == [3, 126, 92378]
    X = np.zeros((1000, 1))
    model = RandomForestClassifier(200, random_state=0).fit(X, np.arange(1000) % 2)
    shares = [1 - np.unique(rows).size / 1000 for rows in model.estimators_samples_]
    # 200 independent shares of standard deviation about 0.0098 each: four standard errors of their mean
    assert np.mean(shares) == pytest.approx(0.367695, abs=4 * 0.0098 / math.sqrt(200))


def test_t19_variance_of_an_average_and_votes_of_bad_voters():
    assert [round(variance_of_mean(4.0, rho, 25), 3) for rho in (0.0, 0.3, 1.0)] == [0.16, 1.312, 4.0]
    right = sum(math.comb(101, k) * 0.4**k * 0.6 ** (101 - k) for k in range(51, 102))
    assert right == pytest.approx(0.0209, abs=5e-5)


def test_e20_rho_is_the_correlation_of_the_predictors():
    X, y = noisy()
    model = RandomForestRegressor(30, random_state=0).fit(X, y)
    rows = X[:: max(1, len(X) // 256)][:256]
    answers = np.array([tree.predict(rows) for tree in model.estimators_])
    covariance = np.cov(answers, bias=True)
    sigma2 = np.trace(covariance) / 30
    rho = (covariance.sum() - np.trace(covariance)) / (30 * 29) / sigma2
    details = model.certificate_.details
    assert details["sigma2"] == pytest.approx(sigma2, rel=1e-9) and details["rho"] == pytest.approx(rho, rel=1e-9)
    assert details["variance"] == pytest.approx(rho * sigma2 + (1 - rho) * sigma2 / 30, rel=1e-9)
    assert model.certificate_.holds


def test_e62_a_vote_is_a_label():
    """The mean of votes 0.2 is no answer: `predict` gives the label of the largest mean share."""
    X, y = noisy()
    labels = np.where(y > 0, 1, -1)
    model = RandomForestClassifier(15, random_state=0).fit(X, labels)
    assert set(model.predict(X)) <= {-1, 1}
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()


def test_e63_the_forest_is_the_plain_mean_of_trees_one_to_m():
    X, y = noisy()
    model = RandomForestRegressor(12, random_state=0).fit(X, y)
    # twelve numbers added in the same order, divided at the end
    assert np.allclose(model.predict(X), sum(tree.predict(X) for tree in model.estimators_) / 12, rtol=1e-14)


def test_e64_error_of_the_mean_is_below_the_mean_of_the_errors():
    """(H - y)^2 = mean of (h_t - y)^2 - mean of (h_t - H)^2: Jensen, with 1 / T^2 times the sum if uncorrelated."""
    X, y = noisy()
    model = ExtraTreesRegressor(20, max_depth=4, random_state=0).fit(X, y)
    new, target = noisy(seed=1)
    answers = np.array([tree.predict(new) for tree in model.estimators_])
    mean = answers.mean(axis=0)
    left = ((mean - target) ** 2).mean()
    assert left == pytest.approx(((answers - target) ** 2).mean() - ((answers - mean) ** 2).mean(), rel=1e-10)
    assert left < ((answers - target) ** 2).mean()
    errors = np.random.default_rng(0).normal(size=(50, 200_000))
    # uncorrelated centred errors: the mean square of the average is (1/T) of theirs, up to Monte Carlo noise
    assert (errors.mean(axis=0) ** 2).mean() == pytest.approx((errors**2).mean() / 50, rel=0.02)


def test_e65_out_of_bag_rows_exist_for_samples_as_large_as_the_data():
    X, y = noisy()
    full = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    half = RandomForestRegressor(60, oob_score=True, max_samples=0.5, random_state=0).fit(X, y)
    assert all(np.unique(rows).size < len(X) for rows in full.estimators_samples_)
    assert [len(rows) for rows in half.estimators_samples_] == [200] * 60
    assert full.oob_score_ > 0.3 and half.oob_score_ > 0.3
    assert np.abs(full.oob_prediction_).max() > 0


def test_e86_deep_trees_beat_shallow_ones_in_a_forest():
    """Averaging keeps the bias: shallow trees are for boosting."""
    X, y = noisy(1500)
    new, target = noisy(1500, seed=1)
    errors = {
        depth: (
            (RandomForestRegressor(40, max_depth=depth, random_state=0).fit(X, y).predict(new) - target) ** 2
        ).mean()
        for depth in (2, None)
    }
    assert errors[None] < 0.8 * errors[2]


def test_j8_out_of_bag_error_is_the_error_on_new_rows():
    X, y = noisy(1500)
    new, target = noisy(4000, seed=1)
    model = RandomForestRegressor(100, oob_score=True, random_state=0).fit(X, y)
    fresh = ((model.predict(new) - target) ** 2).mean()
    curve = model.oob_error_curve()
    # errors of 1500 and 4000 rows; their standard errors are about 4 % and 2.5 %
    assert curve[-1] == pytest.approx(fresh, rel=0.2)
    assert curve[-1] < 0.75 * np.nanmean(curve[:3])
