"""Boosting: worked numbers, errata and the small experiments of the course."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from hyperplan.ensemble import AdaBoostClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from hyperplan.tree import DecisionTreeClassifier

X21 = np.arange(10.0)[:, None]
Y21 = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])


def course(**options):
    return AdaBoostClassifier(variant="discrete", random_state=0, **options)


class Oracle(DecisionTreeClassifier):
    """A weak learner that is wrong on the rows whose first column is 1."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_classes_ = np.array([-1, 1]), 2
        return self

    def predict(self, X):
        return np.where(X[:, 0] == 1, -1, 1) * X[:, 1].astype(int)


@pytest.mark.parametrize(
    ("error", "alpha", "Z"),
    [(0.1, 1.098612, 0.6), (0.2, 0.693147, 0.8), (0.3, 0.423649, 0.916515), (0.4, 0.202733, 0.979796)],
)
def test_T20_weights_and_factors_of_a_round(error, alpha, Z):
    y = np.tile([-1, 1], 50)
    X = np.column_stack([np.arange(100) < 100 * error, y]).astype(float)
    model = course(estimator=Oracle(), n_estimators=1).fit(X, y)
    assert model.estimator_errors_[0] == pytest.approx(error, abs=1e-12)
    assert model.estimator_weights_[0] == pytest.approx(alpha, abs=1e-6)  # printed with six decimals
    assert model.certificate_.details["factors"][0] == pytest.approx(Z, abs=1e-6)


def test_T20_missed_rows_carry_half_of_the_weight():
    """After the round weights are multiplied by 1 / (2 e) where missed and 1 / (2 (1 - e)) where not."""
    seen = []

    class Recorder(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight.copy())
            return super().fit(X, y, sample_weight=sample_weight)

    course(estimator=Recorder(max_depth=1), n_estimators=2).fit(X21, Y21)
    missed = np.array([6, 7, 8])
    assert seen[1][missed] == pytest.approx(0.1 / (2 * 0.3)) and seen[1][0] == pytest.approx(0.1 / (2 * 0.7))
    assert seen[1][missed].sum() == pytest.approx(0.5) and seen[1].sum() == pytest.approx(1.0)


def test_T20_rounds_that_guarantee_no_training_error():
    gamma, m = 0.1, 1000
    rounds = math.ceil(math.log(m) / (2 * gamma**2))
    assert rounds == 346 and math.exp(-2 * gamma**2 * rounds) < 1 / m
    X, y = spheres(300, 5)
    model = course(estimator=DecisionTreeClassifier(max_depth=3), n_estimators=200).fit(X, y)
    edges = 0.5 - model.estimator_errors_
    first = int(np.argmax(np.exp(-2 * np.cumsum(edges**2)) < 1 / 300))
    assert first > 0 and np.mean(list(model.staged_predict(X))[first] != y) == 0.0


@pytest.mark.parametrize("error", [0.5, 0.6, 0.9])
def test_T20_a_learner_no_better_than_chance_is_refused(error):
    """At a half the weight would be 0, beyond it negative: such a round is not taken."""
    alpha, Z = 0.5 * math.log((1 - error) / error), 2 * math.sqrt(error * (1 - error))
    assert (alpha, Z) == pytest.approx(
        {0.5: (0, 1), 0.6: (-0.202733, 0.979796), 0.9: (-1.098612, 0.6)}[error], abs=1e-6
    )
    X = np.column_stack([np.arange(128) < 128 * error, np.tile([-1, 1], 64)]).astype(float)  # weights add up exactly
    with pytest.raises(ValueError, match="worse than random"):
        course(estimator=Oracle(), n_estimators=1).fit(X, X[:, 1].astype(int))


def test_T21_three_rounds_in_one_dimension():
    model = course(n_estimators=3).fit(X21, Y21)
    assert [tree.tree_.threshold[0] for tree in model.estimators_] == [2.5, 8.5, 5.5]
    assert model.estimator_errors_ == pytest.approx([0.3, 3 / 14, 2 / 11], abs=1e-12)
    assert model.estimator_weights_ == pytest.approx([0.4236489, 0.6496415, 0.7520387], abs=1e-7)
    assert [float(np.mean(stage != Y21)) for stage in model.staged_predict(X21)] == pytest.approx([0.3, 0.3, 0.0])
    details = model.certificate_.details
    assert details["product"] == pytest.approx(0.5801925, abs=1e-7)
    assert details["edge bound"] == pytest.approx(0.6403473, abs=1e-7)
    assert model.certificate_.value == 0.0 and model.certificate_.holds


def test_T24_squared_error_boosting():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 2.0, 3.0, 10.0])
    model = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=1.0).fit(X, y)
    assert model.init_.predict(X[:1])[0] == 4.0
    tree = model.estimators_[0, 0].tree_
    assert sorted(tree.value[1:, 0, 0]) == [-2.0, 6.0]
    assert ((y - model.predict(X)) ** 2).sum() == pytest.approx(2.0)


def test_E21_labels_zero_and_one_are_coded_as_signs():
    """The update with h (2y - 1) and the error with 1{y != h} agree for any two labels."""
    signs = course(n_estimators=3).fit(X21, Y21)
    numbers = course(n_estimators=3).fit(X21, (Y21 + 1) // 2)
    assert np.array_equal(signs.estimator_weights_, numbers.estimator_weights_)
    assert np.array_equal(signs.decision_function(X21), numbers.decision_function(X21))


def test_E22_a_perfect_learner_stands_alone():
    y = np.where(X21[:, 0] < 4.5, "a", "b")
    model = course(n_estimators=10).fit(X21, y)
    assert len(model) == 1 and model.estimator_weights_[0] == 1.0 and model.estimator_errors_[0] == 0.0
    assert model.score(X21, y) == 1.0 and model.certificate_.holds


def test_E23_E25_trees_are_fitted_to_minus_the_slope():
    """Only for half the squared error is that y - f: the first tree of log-loss predicts y - p."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=1, max_depth=1, learning_rate=1.0).fit(X, y)
    tree, p = model.estimators_[0, 0].tree_, y.mean()
    left = X[:, 0].astype(np.float32) <= tree.threshold[0]
    for side, leaf in ((left, 1), (~left, 2)):
        newton = (y[side] - p).sum() / (side.sum() * p * (1 - p))
        assert tree.value[leaf, 0, 0] == pytest.approx(newton, rel=1e-12)


def test_E24_the_sum_keeps_the_learning_rate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = GradientBoostingRegressor(n_estimators=5, learning_rate=0.3, random_state=0).fit(X, y)
    trees = sum(tree.predict(X) for tree in model.estimators_[:, 0])
    assert model.predict(X) == pytest.approx(y.mean() + 0.3 * trees, rel=1e-12)
    assert model.train_score_[-1] == pytest.approx(((y - model.predict(X)) ** 2).mean(), rel=1e-12)


def test_E63_the_sum_starts_with_the_first_learner():
    model = course(n_estimators=3).fit(X21, Y21)
    total = sum(a * h.predict(X21) for a, h in zip(model.estimator_weights_, model.estimators_))
    assert model.decision_function(X21) == pytest.approx(total, rel=1e-12)


def test_E66_mean_exponential_loss_is_the_product_only_with_labels():
    model = course(n_estimators=3).fit(X21, Y21)
    scores, product = model.decision_function(X21), model.certificate_.details["product"]
    assert np.exp(-Y21 * scores).mean() == pytest.approx(product, rel=1e-9)
    assert model.certificate_.details["loss"] == pytest.approx(product, rel=1e-9)
    assert abs(np.exp(-scores).mean() - product) > 0.01


def test_E67_regression_answers_with_numbers_and_the_loss_falls():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = 3 * X[:, 0] + rng.normal(size=80)
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    assert (np.diff(model.train_score_) <= 0).all() and len(np.unique(model.predict(X))) > 10
    assert model.certificate_.holds and model.certificate_.details["stages that raised it"] == 0


def test_T45_no_sum_over_the_columns_has_the_signs_of_xor():
    """Unknowns: the two values of a function of x1 and of one of x2; four margins of at least one."""
    sums = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]], dtype=float)
    signs = np.array([-1, 1, 1, -1])[:, None]
    free = [(None, None)] * 4
    assert linprog(np.zeros(4), -signs * sums, -np.ones(4), bounds=free).status == 2  # infeasible
    either = np.array([-1, 1, 1, 1])[:, None]
    assert linprog(np.zeros(4), -either * sums, -np.ones(4), bounds=free).status == 0  # or is a sum


def test_E95_stumps_cannot_represent_xor():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=float)
    X += 0.01 * np.random.default_rng(0).normal(size=X.shape)
    y = np.tile([0, 1, 1, 0], 10)
    stumps = GradientBoostingClassifier(max_depth=1, n_estimators=200, random_state=0).fit(X, y)
    trees = GradientBoostingClassifier(max_depth=2, n_estimators=200, random_state=0).fit(X, y)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    a, b, c, d = stumps.decision_function(corners)
    assert a + d == pytest.approx(b + c, abs=1e-9)  # a sum over the columns: never +, -, -, +
    assert trees.score(X, y) == 1.0


def test_E96_rounds_are_chosen_on_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=500, n_iter_no_change=5, random_state=0).fit(X, y)
    assert 1 <= model.n_estimators_ < 200
    assert (np.diff(model.train_score_) < 0).all()  # the training rows would have gone on


def spheres(n, seed):
    """Nested spheres in ten dimensions: +1 outside the median of chi squared."""
    X = np.random.default_rng(seed).normal(size=(n, 10))
    return X, np.where((X**2).sum(axis=1) > 9.34, 1, -1)


def test_X9_test_error_falls_after_the_training_error_is_zero():
    X, y = spheres(400, 0)
    X_test, y_test = spheres(2000, 1)
    model = course(estimator=DecisionTreeClassifier(max_depth=4), n_estimators=100).fit(X, y)
    train = np.array([np.mean(stage != y) for stage in model.staged_predict(X)])
    test = np.array([np.mean(stage != y_test) for stage in model.staged_predict(X_test)])
    first = int(np.argmax(train == 0.0))
    assert 0 < first < 40 and train[-1] == 0.0
    assert test[-1] < test[first] - 0.01  # two standard errors of a difference of paired errors on 2000 rows


def test_X11_boosting_beats_a_tree_on_nested_spheres():
    X, y = spheres(200, 0)
    X_test, y_test = spheres(4000, 1)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    boosted = course(n_estimators=300).fit(X, y)
    tree_error, boosted_error = (np.mean(m.predict(X_test) != y_test) for m in (tree, boosted))
    assert 0.3 < tree_error < 0.5  # the course quotes about 40 %
    assert boosted_error < 0.7 * tree_error


def test_X12_test_error_of_stumps_decreases_then_is_stable():
    X, y = spheres(1000, 2)
    X_test, y_test = spheres(4000, 3)
    model = course(n_estimators=300).fit(X, y)
    test = np.array([np.mean(stage != y_test) for stage in model.staged_predict(X_test)])
    assert test[0] > 0.4 and test[100] < 0.25 and abs(test[299] - test[200]) < 0.03
