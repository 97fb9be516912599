"""Section 1.A of the course: risk, resampling, selection; and bias, variance and noise."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from hyperplan.evaluation import (
    bias_variance,
    binomial_interval,
    bootstrap_bias_corrected,
    nested_cross_validation,
    one_standard_error,
    score_models,
    validation_curve,
)
from hyperplan.evaluation._splits import make_splits, repeated_folds
from hyperplan.linear_model import LinearRegression, LogisticRegression, Ridge
from hyperplan.metrics import accuracy_score, balanced_accuracy_score, mean_squared_error, zero_one_loss
from hyperplan.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    TimeSeriesSplit,
    cross_val_score,
    train_test_split,
)
from hyperplan.tree import DecisionTreeClassifier


def coin_flips(rng, n):
    """Labels that have nothing to do with the features: every rule has a risk of 1/2."""
    return rng.normal(size=(n, 2)), rng.integers(0, 2, size=n)


def test_A4_E100_the_empirical_risk_converges_for_a_fixed_rule_only():
    """The law of large numbers needs a rule chosen before the data; a tree that has seen them has no training error."""
    rng = np.random.default_rng(0)
    X, y = coin_flips(rng, 20_000)
    fixed = (X[:, 0] > 0).astype(int)
    assert zero_one_loss(y, fixed) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(20_000))
    trained = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert zero_one_loss(y, trained.predict(X)) == 0
    X_new, y_new = coin_flips(rng, 20_000)
    errors = int((trained.predict(X_new) != y_new).sum())
    assert 0.5 in binomial_interval(errors, 20_000, level=0.9999)


def test_A5_best_answers_for_each_loss():
    """The mean minimises the squared risk, the most probable label the 0/1 risk."""
    rng = np.random.default_rng(1)
    y = rng.exponential(size=400)
    risks = [mean_squared_error(y, np.full(400, c)) for c in np.linspace(0, 3, 301)]
    assert np.linspace(0, 3, 301)[np.argmin(risks)] == pytest.approx(y.mean(), abs=0.005)  # half a step of the grid
    labels = rng.choice(["a", "b", "c"], p=[0.2, 0.5, 0.3], size=300)
    assert min("abc", key=lambda label: zero_one_loss(labels, np.full(300, label))) == "b"


def eta(X):
    """P(y = 1 | x)."""
    return 1 / (1 + np.exp(-3 * X[:, 0]))


def test_A6_nobody_beats_the_bayes_classifier():
    """L* = E min(eta, 1 - eta) is the noise of the decomposition, and what the best rule achieves."""

    def draw(rng):
        X = rng.normal(size=(4000, 1))
        return X, (rng.random(4000) < eta(X)).astype(int)

    def truth(X):
        return np.column_stack([1 - eta(X), eta(X)])

    test = draw(np.random.default_rng(7))
    found = bias_variance(LogisticRegression(), draw, truth=truth, test=test, n_rounds=5)
    least = np.minimum(eta(test[0]), 1 - eta(test[0])).mean()
    assert found.noise == pytest.approx(least, rel=1e-12)
    assert least <= found.error < least + 0.005  # the right family, 4000 rows: nearly the Bayes rule


def test_A7_hold_out_gives_a_point_and_an_interval():
    """The mean over the m held-out rows, each counted once; with an interval, which a point alone lacks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=100, random_state=0)
    right = LogisticRegression().fit(X_train, y_train).predict(X_test) == y_test
    interval = binomial_interval(int(right.sum()), 100)
    assert interval.value == right.mean() and interval.low < interval.value < interval.high


def test_A7_rows_in_time_are_trained_on_the_past():
    for train, test in TimeSeriesSplit(4).split(np.zeros((50, 1))):
        assert train.max() < test.min()


def test_A8_E101_folds_are_shuffled_and_of_nearly_equal_size():
    """Sorted classes in consecutive blocks: training never sees the class it is tested on."""
    y = np.repeat([0, 1, 2], 20)
    X = np.random.default_rng(0).normal(size=(60, 2)) + y[:, None]
    blocks = cross_val_score(LogisticRegression(), X, y, cv=KFold(3))
    assert blocks.max() == 0
    shuffled = score_models({"model": LogisticRegression()}, X, y, cv=3).table["model"]
    assert shuffled.min() > 0.5
    for n, k in ((10, 3), (333, 5), (17, 4)):
        sizes = [test.size for test in repeated_folds(np.zeros(n, dtype=int), k, 1)]
        assert sum(sizes) == n and set(sizes) <= {n // k, -(-n // k)}
        assert sorted(np.concatenate(repeated_folds(np.zeros(n, dtype=int), k, 1))) == list(range(n))


def test_E101_unequal_folds_need_weights_for_the_mean_over_rows():
    X = np.random.default_rng(0).normal(size=(10, 1))
    y = X[:, 0] ** 2
    splits = make_splits(LinearRegression(), X, y, 3)
    losses, means, sizes = [], [], []
    for train, test in splits:
        loss = (LinearRegression().fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2
        losses.extend(loss)
        means.append(loss.mean())
        sizes.append(test.size)
    assert sorted(sizes) == [3, 3, 4]
    assert np.average(means, weights=sizes) == pytest.approx(np.mean(losses), rel=1e-12)
    assert np.mean(means) != pytest.approx(np.mean(losses), rel=1e-6)


def test_A9_leave_one_out_is_n_folds_and_its_folds_say_right_or_wrong():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    scores = cross_val_score(LogisticRegression(), X, y, cv=LeaveOneOut())
    assert scores.size == 30 and set(scores) == {0.0, 1.0}
    m = scores.mean()
    assert scores.var() == pytest.approx(m * (1 - m), rel=1e-12)  # of the mean alone: the spread adds nothing


@pytest.mark.parametrize("k", [2, 5, 10])
def test_A10_E56_TH17_the_naive_variance_is_biased_by_the_covariance_of_the_folds(k):
    """E[s^2 / K] = Var(mean) - cov(two folds), for any K; the covariance is unknown, and it is not zero.

    The learner is the mean of n normal numbers, the loss the square; the folds share training rows.  In a sample of
    20 000 tables the identity holds but for the spread of the folds' means, a thousandth of it.  It favours no K.
    """
    rng = np.random.default_rng(0)
    n, trials = 20, 20_000
    tables = rng.normal(size=(trials, k, n // k))
    training_mean = (tables.sum(axis=(1, 2))[:, None] - tables.sum(axis=2)) / (n - n // k)
    losses = ((tables - training_mean[:, :, None]) ** 2).mean(axis=2)
    moments = np.cov(losses.T)
    between = (moments.sum() - np.trace(moments)) / (k * (k - 1))
    naive, true = losses.var(axis=1, ddof=1).mean() / k, losses.mean(axis=1).var(ddof=1)
    assert naive == pytest.approx(true - between, rel=1e-3)
    assert between > 0 and naive < 0.99 * true


def test_A11_grid_search_takes_the_least_summed_loss_of_the_test_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + rng.normal(size=60)
    grid, folds = [0.1, 10.0, 100.0, 1000.0], list(KFold(6, shuffle=True, random_state=0).split(X))
    search = GridSearchCV(Ridge(), {"alpha": grid}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    sums, training = [], []
    for alpha in grid:
        fits = [Ridge(alpha=alpha).fit(X[train], y[train]) for train, _ in folds]
        sums.append(sum(((m.predict(X[test]) - y[test]) ** 2).sum() for m, (_, test) in zip(fits, folds)))
        training.append(sum(((m.predict(X[train]) - y[train]) ** 2).sum() for m, (train, _) in zip(fits, folds)))
    assert search.best_params_["alpha"] == grid[int(np.argmin(sums))]
    curve = validation_curve(Ridge(), X, y, "alpha", grid, cv=folds, scoring="neg_mean_squared_error")
    assert curve.best == search.best_params_["alpha"]
    assert -curve.validation == pytest.approx(np.array(sums) / 60, rel=1e-9)
    assert -curve.train == pytest.approx(np.array(training) / (60 * 5), rel=1e-9)  # each row counts V - 1 = 5 times


POWERS = np.linspace(-1, 1, 25)[:, None] ** np.arange(1, 8)


def draw_wave(rng):
    return POWERS, wave(POWERS) + rng.normal(scale=0.3, size=25)


def wave(powers):
    return np.sin(3 * powers[:, 0])


def test_A12_a_larger_penalty_means_more_bias_and_less_variance():
    parts = [bias_variance(Ridge(alpha=alpha), draw_wave, truth=wave) for alpha in (1e-3, 1.0, 100.0)]
    assert parts[0].bias < parts[1].bias < parts[2].bias
    assert parts[0].variance > parts[1].variance > parts[2].variance


def test_A13_of_equally_good_models_the_simpler_one():
    equal = {"degree 9": [0.8, 0.7, 0.9], "degree 2": [0.8, 0.7, 0.9]}
    assert one_standard_error(equal, {"degree 9": 9, "degree 2": 2}, 0.5).model == "degree 2"
    clear = {"degree 9": [0.81, 0.80, 0.82], "degree 2": [0.5, 0.49, 0.51]}
    assert one_standard_error(clear, {"degree 9": 9, "degree 2": 2}, 0.5).model == "degree 9"


def test_A16_accuracy_of_a_constant_answer_to_rare_events():
    y = np.r_[np.zeros(990, dtype=int), np.ones(10, dtype=int)]
    constant = np.zeros(1000, dtype=int)
    assert accuracy_score(y, constant) == 0.99 and balanced_accuracy_score(y, constant) == 0.5


class SignOfColumn(ClassifierMixin, BaseEstimator):
    """A rule without a fit: is this column positive?"""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, self.column] > 0).astype(int)


def test_A22_tuning_and_judging_on_the_same_folds_is_optimistic():
    """Labels without information, 20 candidates: the search reports more than 1/2, the nested score does not."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(8):
        X, y = rng.normal(size=(60, 20)), rng.permutation(np.tile([0, 1], 30))
        search = GridSearchCV(SignOfColumn(), {"column": range(20)}, cv=KFold(2), scoring="accuracy", refit=True)
        found.append(nested_cross_validation(search, X, y, cv=3))
    assert np.mean([one.optimism for one in found]) > 0.06  # best of 20 on 40 rows: about 0.14, error below 0.03
    assert np.mean([one.score.value for one in found]) == pytest.approx(
        0.5, abs=0.07
    )  # three errors of 0.065 / sqrt(8)


def test_A22_the_selected_models_score_is_corrected_without_new_fits():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 50)
    candidates = {f"guess {i}": rng.integers(0, 2, size=100) for i in range(30)}
    found = bootstrap_bias_corrected(candidates, y, accuracy_score)
    assert found.naive > 0.57 and found.low < 0.5 < found.high and found.optimism > 0.05


def test_TH1_bias_variance_and_noise_at_fixed_points():
    """E(y - h)^2 = (E h - f)^2 + Var h + sigma^2 at each x, over samples and noise, against the formulas of ridge."""
    gram = POWERS - POWERS.mean(axis=0)
    hat = np.linalg.solve(gram.T @ gram + 0.1 * np.eye(7), gram.T)
    for x in (-0.8, 0.6):
        point = np.array([[x]]) ** np.arange(1, 8)
        y = wave(point) + np.random.default_rng(5).normal(scale=0.3, size=4000)
        test = (np.repeat(point, 4000, axis=0), y)
        part = bias_variance(Ridge(alpha=0.1), draw_wave, truth=wave, test=test, n_rounds=500)
        weights = 1 / 25 + (point - POWERS.mean(axis=0)) @ hat  # of the answers in the prediction
        expected_bias = (weights @ wave(POWERS) - wave(point)).item() ** 2
        assert part.variance == pytest.approx(0.09 * (weights**2).sum(), rel=0.2)  # three errors of 500 squares
        assert part.bias == pytest.approx(expected_bias, abs=6 * np.sqrt(expected_bias * part.variance / 500) + 1e-3)
        assert part.noise == pytest.approx(0.09, rel=0.08)  # three errors of 4000 squares
        assert part.error == pytest.approx(part.bias + part.variance + part.noise, rel=1e-12)
