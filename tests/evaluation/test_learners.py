"""What is learned by fitting many times: curves, nested cross-validation, bias and variance, .632+."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.neighbors import KNeighborsClassifier

from hyperplan.evaluation import (
    bias_variance,
    bootstrap_632,
    corrected_t_interval,
    learning_curve,
    nested_cross_validation,
    score_models,
    validation_curve,
)
from hyperplan.evaluation._bootstrap_632 import _combine
from hyperplan.evaluation._splits import make_splits
from hyperplan.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge
from hyperplan.model_selection import GridSearchCV, KFold, cross_val_score
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor


def noisy_line(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X @ [3.0, 1.0, 0.0, 0.0, 0.0] + rng.normal(size=n)


# ---- splits and scores


def test_splits_are_shuffled_stratified_and_grouped():
    X, y = np.zeros((90, 1)), np.repeat(["a", "b", "c"], 30)
    splits = make_splits(LogisticRegression(), X, y, 5, 2)
    assert len(splits) == 10
    for train, test in splits:
        assert np.unique(y[test], return_counts=True)[1].tolist() == [6, 6, 6] and not set(train) & set(test)
    groups = np.arange(90) // 9
    for train, test in make_splits(LogisticRegression(), X, y, 5, 1, groups):
        assert not set(groups[train]) & set(groups[test])
    fixed = KFold(3)
    assert [list(test) for _, test in make_splits(Ridge(), X, y, fixed)] == [list(test) for _, test in fixed.split(X)]
    with pytest.raises(ValueError, match="between 2 and 90"):
        make_splits(Ridge(), X, y, 91)


def test_scores_equal_cross_val_score_on_the_same_splits():
    X, y = noisy_line()
    scores = score_models({"ols": LinearRegression(), "ridge": Ridge()}, X, y, cv=4, n_repeats=2, scoring="r2")
    assert scores.test_share == pytest.approx(1 / 3)
    assert scores.table["ridge"] == pytest.approx(cross_val_score(Ridge(), X, y, cv=scores.splits), rel=1e-9)
    assert scores.frame().shape == (8, 2) and "ridge: " in str(scores)
    assert scores.intervals()["ols"] == corrected_t_interval(scores.table["ols"], scores.test_share)
    frame = score_models({"ols": LinearRegression()}, pd.DataFrame(X), pd.Series(y), cv=4, n_repeats=2)
    assert frame.table["ols"] == pytest.approx(
        scores.table["ols"], rel=1e-12
    )  # a frame's columns: sums in another order
    with pytest.raises(ValueError, match="models is empty"):
        score_models({}, X, y)


# ---- curves


def test_learning_curve_is_nested_and_ends_with_cross_validation():
    X, y = noisy_line()
    curve = learning_curve(LinearRegression(), X, y, sizes=[0.1, 0.5, 1.0], scoring="r2")
    assert curve.x == [9, 48, 96]
    whole = score_models({"ols": LinearRegression()}, X, y, scoring="r2")
    assert curve.validation_scores[-1] == pytest.approx(whole.table["ols"], rel=1e-9)  # the order of the rows differs
    last = corrected_t_interval(curve.validation_scores[-1], 0.25)
    assert (curve.validation[-1], curve.validation_low[-1], curve.validation_high[-1]) == pytest.approx(last[:3])
    assert curve.train[0] > curve.train[-1] > curve.validation[-1] > curve.validation[0]


def test_learning_curve_keeps_rare_classes_and_does_not_depend_on_threads():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [180, 20])
    X = rng.normal(size=(200, 2)) + y[:, None]
    curve = learning_curve(LogisticRegression(), X, y, sizes=[20, 80], n_jobs=1)  # one class alone would raise
    again = learning_curve(LogisticRegression(), X, y, sizes=[20, 80], n_jobs=2)
    assert np.array_equal(curve.validation_scores, again.validation_scores)
    for bad in ([0.0], [200], []):
        with pytest.raises(ValueError, match="sizes must be"):
            learning_curve(LogisticRegression(), X, y, sizes=bad)


def test_validation_curve_frame_and_picture():
    X, y = noisy_line()
    curve = validation_curve(Ridge(), X, y, "alpha", [0.01, 1.0, 100.0, 10_000.0])
    direct = cross_val_score(Ridge(alpha=100.0), X, y, cv=make_splits(Ridge(), X, y))
    assert curve.validation_scores[2] == pytest.approx(direct, rel=1e-9)
    assert curve.best in (0.01, 1.0) and curve.train[0] > curve.train[-1]
    frame = curve.frame()
    assert list(frame.columns)[:2] == ["alpha", "train"] and len(frame) == 4
    axes = curve.plot()
    assert axes.get_xscale() == "log" and axes.get_xlabel() == "alpha" and len(axes.lines) == 2
    words = validation_curve(Ridge(), X, y, "fit_intercept", [True, False]).plot()
    assert [tick.get_text() for tick in words.get_xticklabels()] == ["True", "False"]
    assert "alpha 0.01: training" in str(curve)
    with pytest.raises(ValueError, match="values is empty"):
        validation_curve(Ridge(), X, y, "alpha", [])


# ---- nested cross-validation


def test_nested_scores_equal_the_loop_by_hand():
    X, y = noisy_line(60)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=KFold(3), scoring="neg_mean_squared_error")
    found = nested_cross_validation(search, X, y, cv=4)
    for (train, test), score, inner, setting in zip(
        make_splits(search, X, y, 4), found.scores, found.inner_scores, found.settings
    ):
        search.fit(X[train], y[train])
        assert (search.best_score_, search.best_params_) == (inner, setting)
        assert -np.mean((search.predict(X[test]) - y[test]) ** 2) == pytest.approx(score, rel=1e-9)
    assert found.score == corrected_t_interval(found.scores, 1 / 3)
    assert found.optimism == pytest.approx(found.inner_scores.mean() - found.scores.mean())


def test_searches_along_a_path_report_what_they_chose():
    X, y = noisy_line(80)
    found = nested_cross_validation(LassoCV(cv=3), X, y, cv=3)
    assert all(setting["alpha"] > 0 for setting in found.settings) and np.isnan(found.optimism)
    assert "reported" not in str(found)


# ---- bias and variance


def draw_line(rng, n=30):
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, 1 + X @ [1.0, -2.0] + rng.normal(scale=0.5, size=n)


def line(X):
    return 1 + X @ [1.0, -2.0]


def test_least_squares_on_a_line_has_no_bias_and_the_textbook_variance():
    """Variance at x: sigma^2 (1, x)' E[(Z'Z)^-1] (1, x), by simulation of the designs; 1500 fits give 2 %."""
    rng = np.random.default_rng(5)
    X_test = rng.uniform(-1, 1, size=(50, 2))
    found = bias_variance(LinearRegression(), draw_line, truth=line, test=(X_test, line(X_test)), n_rounds=1500)
    designs = [np.column_stack([np.ones(30), draw_line(rng)[0]]) for _ in range(2000)]
    inverse = np.mean([np.linalg.inv(Z.T @ Z) for Z in designs], axis=0)
    points = np.column_stack([np.ones(50), X_test])
    expected = 0.25 * np.einsum("ij,jk,ik->i", points, inverse, points).mean()
    assert found.variance == pytest.approx(expected, rel=0.05)
    assert abs(found.bias) < 0.05 * found.variance and found.noise == 0  # y of the test set was given without noise


def test_parts_add_up_to_the_measured_error():
    """Simulation with noise: the error measured on fresh answers agrees with the sum to 3 standard errors."""
    found = bias_variance(DecisionTreeRegressor(max_depth=2), draw_line, truth=line, n_rounds=200, random_state=3)
    assert found.error == pytest.approx(found.bias + found.variance + found.noise, rel=1e-12)
    rng = np.random.default_rng(11)
    measured = []
    for _ in range(300):
        X_new, y_new = draw_line(rng)
        measured.append(np.mean((DecisionTreeRegressor(max_depth=2).fit(*draw_line(rng)).predict(X_new) - y_new) ** 2))
    error = np.std(measured) * np.sqrt(1 / 300 + 1 / 10)  # of their mean, and of one test sample of 30 rows in ten
    assert abs(found.error - np.mean(measured)) < 3 * error


def test_deeper_trees_trade_bias_for_variance():
    shallow, deep = (
        bias_variance(DecisionTreeRegressor(max_depth=depth), draw_line, truth=line, n_rounds=100) for depth in (1, 8)
    )
    assert shallow.bias > 2 * deep.bias and deep.variance > 1.3 * shallow.variance


def draw_classes(rng, n=40):
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, (rng.random(n) < class_probabilities(X)[:, 1]).astype(int)


def class_probabilities(X):
    positive = np.where(X[:, 0] > 0, 0.8, 0.3)
    return np.column_stack([1 - positive, positive])


def test_zero_one_loss_after_domingos():
    """Two classes: E loss = c1 noise + bias + c2 variance at every point, c1 = 2 P(h = y*) - 1, c2 = 1 or -1."""
    X_test = np.array([[-0.9], [-0.2], [-0.01], [0.01], [0.3], [0.9]])
    parts = [
        bias_variance(
            DecisionTreeClassifier(max_depth=3), draw_classes, truth=class_probabilities, test=(X_test[[i]], [0])
        )
        for i in range(6)
    ]
    for part, x in zip(parts, X_test):
        best = class_probabilities(x[None])[0].argmax()
        noise = 1 - class_probabilities(x[None])[0].max()
        agrees = 1 - part.variance if part.bias == 0 else part.variance  # P(h = y*)
        c1, c2 = 2 * agrees - 1, 1 if part.bias == 0 else -1
        assert part.noise == pytest.approx(noise) and best in (0, 1)
        assert part.error == pytest.approx(c1 * noise + part.bias + c2 * part.variance, rel=1e-12)
        assert part.error == pytest.approx(part.bias + part.net_variance + part.net_noise, rel=1e-12)


def test_labels_as_truth_and_constant_learners():
    def draw(rng):
        X = rng.normal(size=(20, 1))
        return X, np.where(X[:, 0] > 0, "yes", "no")

    found = bias_variance(
        DummyClassifier(strategy="constant", constant="yes"), draw, truth=lambda X: np.where(X[:, 0] > 0, "yes", "no")
    )
    assert found.variance == found.noise == 0 and found.error == found.bias > 0.2


def test_bootstrap_without_a_truth():
    X, y = noisy_line()
    constant = bias_variance(DummyRegressor(strategy="constant", constant=0.0), (X, y), n_rounds=30)
    assert constant.variance == 0 and constant.noise is None
    assert constant.error == constant.bias == pytest.approx(np.mean(y**2), rel=1e-12)
    steady, deep = (bias_variance(m, (X, y), n_rounds=40) for m in (Ridge(), DecisionTreeRegressor()))
    assert deep.variance > 5 * steady.variance and steady.error == pytest.approx(steady.bias + steady.variance)
    assert "bias and noise" in str(steady)
    labels = np.where(y > 0, "up", "down")
    classes = bias_variance(DecisionTreeClassifier(), (X, labels), n_rounds=40, n_jobs=1)
    assert classes == bias_variance(DecisionTreeClassifier(), (X, labels), n_rounds=40, n_jobs=2)
    assert classes.error == pytest.approx(classes.bias + classes.net_variance) and classes.loss == "zero_one"


def test_bad_decompositions():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="truth and test go with a function"):
        bias_variance(Ridge(), (X, y), truth=line)
    with pytest.raises(ValueError, match="at least 2"):
        bias_variance(Ridge(), (X, y), n_rounds=1)
    with pytest.raises(ValueError, match="columns for 2 classes"):
        bias_variance(DecisionTreeClassifier(), draw_classes, truth=lambda X: np.ones((len(X), 3)) / 3, n_rounds=2)


# ---- .632+


def test_published_case_of_pure_noise():
    """Efron and Tibshirani (1997): one neighbour, answers without information: apparent 0, out of bag 1/2, so that
    .632 gives 0.316 and .632+ gives 0.5 (here within the noise of 300 rows)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1], 150)
    found = bootstrap_632(KNeighborsClassifier(1), X, y, n_resamples=30)
    assert found.apparent == 0 and found.no_information == pytest.approx(0.5)
    assert found.plain == pytest.approx(0.632 * 0.5, abs=0.03) and found.plus == pytest.approx(0.5, abs=0.05)
    assert found.overfitting > 0.9


def test_formulas():
    found = _combine(0.1, 0.3, 0.5)
    rate = 0.2 / 0.4
    weight = 0.632 / (1 - 0.368 * rate)
    assert found.plain == pytest.approx(0.368 * 0.1 + 0.632 * 0.3)
    assert found.plus == pytest.approx(
        found.plain + 0.2 * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    )  # their other form
    assert (found.overfitting, found.weight) == pytest.approx((rate, weight))
    assert _combine(0.3, 0.2, 0.5)[5:] == (0.0, 0.632)  # out of bag below apparent: no overfitting
    assert _combine(0.1, 0.9, 0.5).plus == pytest.approx(0.5)  # never beyond no information


def test_no_information_of_squared_loss_and_own_losses():
    """Answers and predictions paired at random: (mean difference)^2 + both variances."""
    X, y = noisy_line()
    found = bootstrap_632(Ridge(), X, y, n_resamples=20)
    p = Ridge().fit(X, y).predict(X)
    assert found.no_information == pytest.approx((y.mean() - p.mean()) ** 2 + y.var() + p.var(), rel=1e-9)
    assert found.apparent < found.plain < found.out_of_bag and found.plus == pytest.approx(
        1.0, rel=0.3
    )  # the noise is 1
    own = bootstrap_632(Ridge(), X, y, n_resamples=20, loss=lambda a, b: (a - b) ** 2, n_jobs=2)
    assert own == pytest.approx(found, rel=1e-12)
    with pytest.raises(ValueError, match="loss must be"):
        bootstrap_632(Ridge(), X, y, loss="hinge")
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_632(Ridge(), X, y, n_resamples=1)
