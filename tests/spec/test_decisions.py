"""F2, F6, F5, LR11: from scores to decisions, and the picture of the penalties' balls."""

import numpy as np

from hyperplan.linear_model import Lasso, LogisticRegression, Ridge, lasso_path
from hyperplan.optimize import sigmoid


def two_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] - X[:, 1] + rng.logistic(size=200) > 0).astype(int)


def test_F2_the_threshold_one_half_is_the_sign_of_the_score():
    X, y = two_groups()
    model = LogisticRegression().fit(X, y)
    assert (model.predict(X) == (model.predict_proba(X)[:, 1] > 0.5)).all()
    assert (model.predict(X) == (model.decision_function(X) > 0)).all()


def test_F2_a_higher_threshold_predicts_fewer_positives():
    X, y = two_groups()
    chance = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    counts = [int((chance >= threshold).sum()) for threshold in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_F6_plug_in_probability_is_the_sigmoid_of_the_score():
    X, y = two_groups()
    model = LogisticRegression().fit(X, y)
    score = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], sigmoid(score), rtol=1e-12)  # the same formula
    np.testing.assert_allclose(sigmoid(score), np.exp(score) / (1 + np.exp(score)), rtol=1e-12)


def test_F5_softmax_scores_are_determined_up_to_a_constant_and_the_penalty_fixes_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=300), [-0.5, 0.5])
    model = LogisticRegression(tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-5)  # the smallest norm among equal fits, at tol
    shifted = model.decision_function(X) + 7.0
    chances = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), chances, rtol=1e-9)  # rounding of exp at larger arguments


def test_LR11_corners_of_the_l1_ball_give_zeros_and_the_round_ball_does_not():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 8))
    y = X @ [3, -2, 0, 0, 0, 0, 0, 0] + rng.normal(size=100)
    assert (Lasso(alpha=0.5).fit(X, y).coef_[2:] == 0).all()
    assert (Ridge(alpha=50.0).fit(X, y).coef_ != 0).all()


def test_LR11_the_path_starts_empty_and_fills():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    y = X @ [4, 3, 2, 0, 0, 0] + rng.normal(size=80)
    alphas, coefs, _ = lasso_path(X - X.mean(axis=0), y - y.mean(), alphas=30)
    active = (coefs != 0).sum(axis=0)
    assert (np.diff(alphas) < 0).all() and active[0] <= 1 and active[-1] >= 3
