"""Bagging J1-J5, J8, J13, J14 and V8, worked numbers T18 and T19, errata E20 and E62-E65 of the specification."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from hyperplan.ensemble import BaggingClassifier, BaggingRegressor
from hyperplan.ensemble._bagging_draws import Plan, draw, out_of_bag
from hyperplan.ensemble._bagging_variance import decompose, variance_of_mean
from hyperplan.linear_model import LinearRegression
from hyperplan.tree import DecisionTreeRegressor


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=600)


def bootstrap_plan(m, drawn=None):
    return Plan(m, 1, drawn or m, 1, bootstrap=True, bootstrap_columns=False, weight=None)


class Voter(ClassifierMixin, BaseEstimator):
    """Right with probability `skill`, whatever the sample: the column of X is the true class."""

    def __init__(self, skill=0.4, random_state=None):
        self.skill = skill
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        truth = X[:, 0].astype(int)
        right = np.random.default_rng(self.random_state).random(truth.size) < self.skill
        return np.where(right, truth, 1 - truth)


@pytest.mark.parametrize("m, missed", [(2, 0.25), (5, 0.32768), (10, 0.348678), (100, 0.366032), (1000, 0.367695)])
def test_T18_share_of_rows_that_a_bootstrap_sample_misses(m, missed):
    assert (1.0 - 1.0 / m) ** m == pytest.approx(missed, abs=5e-7)
    samples = 40_000 // m + 200
    found = np.mean([out_of_bag(bootstrap_plan(m), seed).mean() for seed in range(samples)])
    # the share of one sample has a variance below 0.1 / m (0.125 for m = 2): five standard errors of the mean
    assert found == pytest.approx(missed, abs=5 * math.sqrt(0.25 / (m * samples)))


def test_T18_limits_and_number_of_unordered_samples():
    assert math.exp(-1.0) == pytest.approx(0.367879, abs=5e-7)
    assert pytest.approx(math.exp(-1.0), abs=1e-6) == (1.0 - 1.0 / 10**6) ** 10**6
    assert [math.comb(2 * m - 1, m) for m in (2, 5, 10)] == [3, 126, 92378]
    seen = {tuple(np.sort(draw(bootstrap_plan(5), seed)[1])) for seed in range(6000)}
    # the rarest (one row five times) has probability 1/3125; few of the 126 can be missing after 6000 samples
    assert 110 <= len(seen) <= 126


def test_T18_each_draw_takes_every_row_with_probability_one_in_m():
    first = np.array([draw(bootstrap_plan(5), seed)[1][0] for seed in range(5000)])
    counts = np.bincount(first, minlength=5) / 5000
    # five standard errors of a share of 0.2 among 5000
    np.testing.assert_allclose(counts, 0.2, atol=5 * math.sqrt(0.16 / 5000))


def test_T18_distinct_rows_of_a_fitted_ensemble(noisy):
    X, y = noisy
    model = BaggingRegressor(n_estimators=40, random_state=0).fit(X, y)
    shares = [np.unique(rows).size / 600 for rows in model.estimators_samples_]
    # standard deviation of the share is 0.31 / sqrt(600) = 0.013; five standard errors of the mean of 40
    assert np.mean(shares) == pytest.approx(1.0 - (1.0 - 1.0 / 600) ** 600, abs=0.0105)


def test_T19_variance_of_an_average():
    assert [variance_of_mean(4.0, rho, 25) for rho in (0.0, 0.3, 1.0)] == pytest.approx([0.16, 1.312, 4.0], abs=1e-12)


def test_T19_voters_worse_than_chance_become_worse():
    assert binom.sf(50, 101, 0.4) == pytest.approx(0.0209, abs=5e-5)
    X = np.arange(4000.0).reshape(-1, 1) % 2
    model = BaggingClassifier(Voter(), n_estimators=101, random_state=0).fit(X, X[:, 0])
    # five standard errors of a share of 0.0209 among 4000 rows
    assert model.score(X, X[:, 0]) == pytest.approx(0.0209, abs=0.0113)
    better = BaggingClassifier(Voter(skill=0.6), n_estimators=101, random_state=0).fit(X, X[:, 0])
    assert better.score(X, X[:, 0]) == pytest.approx(1.0 - 0.0209, abs=0.0113)


def test_E20_rho_is_the_correlation_of_the_predictors(noisy):
    X, y = noisy
    model = BaggingRegressor(n_estimators=12, random_state=0).fit(X[:400], y[:400])
    answers = np.array([member.predict(X[:400]) for member in model.estimators_])
    covariance = np.cov(answers, bias=True)
    sigma2 = np.trace(covariance) / 12
    rho = (covariance.sum() - np.trace(covariance)) / (12 * 11) / sigma2
    details = model.certificate_.details
    assert details["rows"] == 400
    # the same sums in another order
    assert details["rho"] == pytest.approx(rho, rel=1e-10)
    assert details["sigma2"] == pytest.approx(sigma2, rel=1e-10)
    assert np.var(model.predict(X[:400])) == pytest.approx(variance_of_mean(sigma2, rho, 12), rel=1e-10)
    assert model.certificate_.holds


def test_E20_limits_of_correlation():
    """Independent predictors lose the variance as 1/m, equal ones keep it."""
    rng = np.random.default_rng(0)
    alone = rng.normal(size=(1, 20_000, 1))
    same = decompose(np.repeat(alone, 10, axis=0))
    assert same.rho == pytest.approx(1.0, abs=1e-12) and same.variance == pytest.approx(same.sigma2, rel=1e-12)
    free = decompose(rng.normal(size=(10, 20_000, 1)))
    # a mean of 45 correlations of 20000 pairs: standard error 0.001
    assert free.rho == pytest.approx(0.0, abs=0.006)
    assert free.variance == pytest.approx(free.sigma2 / 10, rel=0.06)


def test_E62_a_vote_is_a_label_not_a_mean():
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 20)
    y = np.array([-1, 1, -1, 1] * 20)
    model = BaggingClassifier(n_estimators=5, max_samples=6, random_state=0).fit(X, y)
    means = np.mean([2.0 * member.predict(X) - 1.0 for member in model.estimators_], axis=0)
    assert not set(means) <= {-1.0, 1.0}
    assert set(model.predict(X)) <= {-1, 1}
    votes = BaggingClassifier(Voter(skill=0.8), n_estimators=5, random_state=0).fit(X % 2, y)
    mean_vote = np.mean([2.0 * member.predict(X % 2) - 1.0 for member in votes.estimators_], axis=0)
    np.testing.assert_array_equal(votes.predict(X % 2), np.sign(mean_vote))


def test_E63_members_are_numbered_1_to_T_and_weigh_one_in_T(noisy):
    X, y = noisy
    model = BaggingRegressor(n_estimators=7, random_state=0).fit(X, y)
    assert len(model.estimators_) == 7
    expected = sum(member.predict(X) for member in model.estimators_) / 7
    # sums of seven numbers in two orders
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12, atol=1e-12)


def test_J4_bagging_identity_holds_for_the_members(noisy):
    """E(Y - f*)^2 = E(Y - f_bag)^2 + E(f_bag - f*)^2 with the expectation over members and rows."""
    X, y = noisy
    model = BaggingRegressor(n_estimators=15, random_state=0).fit(X[:300], y[:300])
    answers = np.array([member.predict(X[300:]) for member in model.estimators_])
    bagged = model.predict(X[300:])
    left = ((y[300:] - answers) ** 2).mean()
    right = ((y[300:] - bagged) ** 2).mean() + ((bagged - answers) ** 2).mean()
    assert left == pytest.approx(right, rel=1e-12)
    assert ((y[300:] - bagged) ** 2).mean() < left
    details = model.certificate_.details
    sides = [details["mean squared error of their average"] + details["spread of members"]]
    assert sides == pytest.approx([details["mean squared error of members"]], rel=1e-12)


def test_J5_jensen_for_each_row_and_class():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = BaggingClassifier(n_estimators=10, random_state=0).fit(X[:200], y[:200])
    shares = np.array([member.predict_proba(X[200:]) for member in model.estimators_])
    truth = np.eye(2)[y[200:]]
    mean_error = ((shares - truth) ** 2).mean(axis=0)
    bagged_error = (model.predict_proba(X[200:]) - truth) ** 2
    assert (bagged_error <= mean_error + 1e-12).all()
    assert bagged_error.mean() < mean_error.mean()


def test_E64_uncorrelated_centred_errors_shrink_as_one_over_T():
    """E(H_T - r)^2 = (1/T^2) sum of E eps_t^2 = (1/T) of the mean of E eps_t^2."""
    errors = np.random.default_rng(0).normal(size=(20, 50_000)) * np.linspace(0.5, 2.0, 20)[:, None]
    squares = (errors**2).mean(axis=1)
    bagged = (errors.mean(axis=0) ** 2).mean()
    assert squares.sum() / 20**2 == pytest.approx(squares.mean() / 20, rel=1e-12)
    # a mean of 50000 squares of Gaussians: standard error sqrt(2 / 50000) = 0.6 %
    assert bagged == pytest.approx(squares.mean() / 20, rel=0.035)
    correlated = errors + np.random.default_rng(1).normal(size=50_000)
    general = (correlated.mean(axis=0) ** 2).mean()
    assert squares.mean() / 20 < general < (correlated**2).mean()


def test_E65_out_of_bag_rows_exist_when_as_many_rows_are_drawn_as_there_are(noisy):
    X, y = noisy
    model = BaggingRegressor(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    assert all(rows.size == 600 and np.unique(rows).size < 600 for rows in model.estimators_samples_)
    assert np.isfinite(model.oob_prediction_).all()
    fewer = BaggingRegressor(n_estimators=5, max_samples=200, random_state=0).fit(X, y)
    assert all(rows.size == 200 for rows in fewer.estimators_samples_)


def test_E65_the_average_is_not_zero(noisy):
    X, y = noisy
    assert np.abs(BaggingRegressor(n_estimators=10, random_state=0).fit(X, y).predict(X)).mean() > 0.1


def test_J1_averaging_gains_nothing_where_every_sample_gives_the_same_model(noisy):
    X, y = noisy
    model = BaggingRegressor(LinearRegression(), n_estimators=5, bootstrap=False, random_state=0).fit(X, y)
    # five times the same convex problem
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-10, atol=1e-10)
    assert model.certificate_.details["rho"] == pytest.approx(1.0, abs=1e-12)


def test_J8_out_of_bag_answers_come_from_members_that_did_not_see_the_row(noisy):
    X, y = noisy
    model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    for row in (0, 17, 599):
        unseen = [m for m, rows in zip(model.estimators_, model.estimators_samples_) if row not in rows]
        assert 0 < len(unseen) < 30
        expected = np.mean([member.predict(X[row : row + 1])[0] for member in unseen])
        assert model.oob_prediction_[row] == pytest.approx(expected, rel=1e-12)


def test_J8_V8_rows_that_all_members_drew_are_skipped(noisy):
    X, y = noisy
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0).fit(X, y)
    known = np.isfinite(model.oob_prediction_)
    drawn = np.zeros(600, dtype=int)
    for rows in model.estimators_samples_:
        drawn[np.unique(rows)] += 1
    np.testing.assert_array_equal(known, drawn < 2)
    residual = ((y - model.oob_prediction_)[known] ** 2).sum()
    total = ((y[known] - y[known].mean()) ** 2).sum()
    assert model.oob_score_ == pytest.approx(1.0 - residual / total, rel=1e-12)


def test_J3_bagged_trees_beat_a_tree_and_out_of_bag_tells_their_error(noisy):
    X, y = noisy
    gains, optimism = [], []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(600)
        train, fresh = order[:400], order[400:]
        model = BaggingRegressor(n_estimators=40, oob_score=True, random_state=seed).fit(X[train], y[train])
        tree = DecisionTreeRegressor(random_state=seed).fit(X[train], y[train])
        gains.append(model.score(X[fresh], y[fresh]) - tree.score(X[fresh], y[fresh]))
        optimism.append(model.oob_score_ - model.score(X[fresh], y[fresh]))
    assert np.mean(gains) > 0.05
    # each difference of two R2 of hundreds of rows has a standard deviation around 0.07: three standard errors
    assert np.mean(optimism) == pytest.approx(0.0, abs=0.1)


def test_J14_members_on_small_samples_average_to_more_than_one_of_them(noisy):
    X, y = noisy
    small = BaggingRegressor(n_estimators=40, max_samples=0.2, random_state=0).fit(X[:400], y[:400])
    assert max(member.tree_.n_node_samples[0] for member in small.estimators_) <= 80
    alone = np.mean([member.score(X[400:], y[400:]) for member in small.estimators_])
    assert small.score(X[400:], y[400:]) > alone + 0.1
