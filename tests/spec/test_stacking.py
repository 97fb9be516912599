"""Consensus A19, blending J10, stacking J11 and super learner J12 of the specification."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from hyperplan.ensemble import (
    BlendingRegressor,
    StackingRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
    VotingClassifier,
    VotingRegressor,
)
from hyperplan.linear_model import LinearRegression, LogisticRegression, Ridge
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

MEMBERS = [
    ("linear", LinearRegression()),
    ("stump", DecisionTreeRegressor(max_depth=1, random_state=0)),
    ("tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, X[:, 0] + np.sign(X[:, 1]) + 0.5 * rng.normal(size=400)


def out_of_fold(model, X, y, cv):
    answers = np.empty(len(y))
    for train, test in cv.split(X):
        answers[test] = model.fit(X[train], y[train]).predict(X[test])
    return answers


def test_A19_weighted_consensus_is_the_sign_of_the_weighted_sum(rows):
    X, y = rows[0], np.where(rows[1] > 0, 1, -1)
    trees = [DecisionTreeClassifier(max_depth=2, max_features=1, random_state=seed) for seed in range(3)]
    alpha = np.array([0.5, 0.3, 0.2])
    model = VotingClassifier([(f"tree{i}", tree) for i, tree in enumerate(trees)], weights=alpha).fit(X, y)
    votes = np.column_stack([tree.fit(X, y).predict(X) for tree in trees])
    expected = np.sign(
        votes @ alpha
    )  # never 0 up to rounding, but for one against two, which the labels' order decides
    clear = np.abs(votes @ alpha) > 1e-9
    assert clear.mean() > 0.5 and len(np.unique(votes.sum(axis=1))) > 2
    assert (model.predict(X)[clear] == expected[clear]).all()


def test_A19_mean_of_two_models_by_validation_score(rows):
    """The squared error of a mean is at most the mean of the squared errors (Jensen), with equality for twins."""
    X, y = rows
    scores = [max(model.fit(X[:200], y[:200]).score(X[200:300], y[200:300]), 0.0) for _, model in MEMBERS[:2]]
    model = VotingRegressor(MEMBERS[:2], weights=scores).fit(X[:200], y[:200])
    alpha = np.array(scores) / sum(scores)
    errors = ((y[300:, None] - model.transform(X[300:])) ** 2).mean(axis=0)
    mixed = ((y[300:] - model.predict(X[300:])) ** 2).mean()
    assert mixed < alpha @ errors
    np.testing.assert_allclose(model.predict(X), model.transform(X) @ alpha, rtol=1e-12)  # rounding


def test_J10_blending_by_hand(rows):
    X, y = rows
    model = BlendingRegressor(MEMBERS, LinearRegression(), blend_size=0.25, random_state=3).fit(X, y)
    second = model.blend_rows_
    first = np.setdiff1d(np.arange(400), second)
    assert second.size == 100
    members = [member.fit(X[first], y[first]) for _, member in MEMBERS]
    answers = np.column_stack([member.predict(X[second]) for member in members])
    final = LinearRegression().fit(answers, y[second])
    np.testing.assert_allclose(model.final_estimator_.coef_, final.coef_, rtol=1e-8)  # least squares twice: rounding
    again = BlendingRegressor(MEMBERS, LinearRegression(), blend_size=0.25, random_state=3, refit=True).fit(X, y)
    np.testing.assert_allclose(again.final_estimator_.coef_, final.coef_, rtol=1e-8)
    assert (
        again.estimators_[2].predict(X) == DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y).predict(X)
    ).all()


def test_J11_stacking_by_hand(rows):
    X, y = rows
    cv = KFold(4, shuffle=True, random_state=0)
    model = StackingRegressor(MEMBERS, LinearRegression(), cv=cv).fit(X, y)
    answers = np.column_stack([out_of_fold(member, X, y, cv) for _, member in MEMBERS])
    expected = LinearRegression().fit(answers, y)
    np.testing.assert_allclose(model.final_estimator_.coef_, expected.coef_, rtol=1e-8)  # least squares twice: rounding
    whole = [member.fit(X, y) for _, member in MEMBERS]
    np.testing.assert_allclose(model.transform(X), np.column_stack([member.predict(X) for member in whole]))


def test_J11_answers_about_known_rows_would_mislead(rows):
    """A tree grown to the end knows its rows by heart: trusted on them, useless beyond; out of fold it is found out."""
    X, y = rows
    members = [("linear", LinearRegression()), ("parrot", DecisionTreeRegressor(random_state=0))]
    honest = StackingRegressor(members, LinearRegression()).fit(X[:300], y[:300])
    fitted = [(name, member.fit(X[:300], y[:300])) for name, member in members]
    leaking = StackingRegressor(fitted, LinearRegression(), cv="prefit").fit(X[:300], y[:300])
    np.testing.assert_allclose(leaking.final_estimator_.coef_, [0.0, 1.0], atol=1e-8)
    assert honest.final_estimator_.coef_[0] > 0.3
    assert honest.score(X[300:], y[300:]) > leaking.score(X[300:], y[300:]) + 0.05


def test_J12_weights_are_convex_and_the_best_on_a_grid(rows):
    X, y = rows
    cv = KFold(5, shuffle=True, random_state=0)
    model = SuperLearnerRegressor(MEMBERS, cv=cv).fit(X, y)
    answers = np.column_stack([out_of_fold(member, X, y, cv) for _, member in MEMBERS])
    np.testing.assert_allclose(model.cv_risk_, ((y[:, None] - answers) ** 2).mean(axis=0), rtol=1e-10)
    assert model.weights_.min() >= 0 and model.weights_.sum() == pytest.approx(1.0)
    steps = np.linspace(0, 1, 101)
    grid = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1])
    risks = ((y[:, None] - answers @ grid.T) ** 2).mean(axis=0)
    assert model.risk_ <= risks.min() <= model.risk_ * 1.001  # a grid of steps 0.01 misses little of a quadratic
    assert model.certificate_.holds and model.certificate_.details["gap"] <= 1e-8 * risks.max()
    np.testing.assert_allclose(
        model.predict(X), sum(w * m.predict(X) for w, m in zip(model.weights_, model.estimators_))
    )


@pytest.mark.parametrize("loss", ["log_loss", "brier_score"])
def test_J12_mixture_of_probabilities(rows, loss):
    X, y = rows[0], np.digitize(rows[1], [-1.0, 1.0])
    members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    model = SuperLearnerClassifier(members, loss=loss, random_state=0).fit(X, y)
    assert model.risk_ < model.cv_risk_.min() and model.certificate_.holds
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (model.predict(X) == shares.argmax(axis=1)).all() and (model.weights_ > 0.05).all()


def test_J12_risk_is_never_above_that_of_the_best_member():
    """Members are corners of the simplex; also with weights, twins and a member that knows nothing."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        X = rng.normal(size=(80, 2))
        y = X[:, 0] * rng.normal() + rng.normal(size=80)
        members = [("a", LinearRegression()), ("twin", LinearRegression()), ("mean", Ridge(1e12)), MEMBERS[2]]
        model = SuperLearnerRegressor(members, random_state=seed).fit(X, y, sample_weight=rng.uniform(size=80))
        assert model.risk_ <= model.cv_risk_.min() * (1 + 1e-7)


def test_J12_on_new_rows_it_is_as_good_as_the_best_member():
    """The oracle inequality: the price of choosing weights vanishes with n; here 2000 rows, three members."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 3))
    y = X[:, 0] + np.sign(X[:, 1]) + 0.5 * rng.normal(size=6000)
    model = SuperLearnerRegressor(MEMBERS, random_state=0).fit(X[:2000], y[:2000])
    errors = ((y[2000:, None] - np.column_stack([m.predict(X[2000:]) for m in model.estimators_])) ** 2).mean(axis=0)
    mixed = ((y[2000:] - model.predict(X[2000:])) ** 2).mean()
    assert mixed < errors.min()
    assert mixed == pytest.approx(model.risk_, rel=0.1)  # three weights fitted to 2000 rows: little optimism
