"""Worked numbers and errata about naive Bayes and conditional probabilities."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from hyperplan.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB


def test_F10_the_class_of_the_largest_product_in_log_space():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) + y[:, None]
    model = GaussianNB(var_smoothing=0).fit(X, y)
    products = np.empty((60, 3))
    for k in range(3):
        rows = X[y == k]
        products[:, k] = (y == k).mean() * norm(rows.mean(axis=0), rows.std(axis=0)).pdf(X).prod(axis=1)
    np.testing.assert_array_equal(model.predict(X), products.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X), products / products.sum(axis=1, keepdims=True), rtol=1e-9)
    # two thousand columns: the product underflows to 0 for every class, its logarithm does not
    wide = np.tile(X, 500)
    tall = GaussianNB().fit(wide, y)
    assert np.isfinite(tall.predict_joint_log_proba(wide)).all() and tall.predict_joint_log_proba(wide).max() < -745


def test_V4_the_floor_of_variances_is_a_billionth_of_the_largest():
    X = np.array([[0.0, 7.0], [10.0, 7.0], [3.0, 7.0], [5.0, 7.0]])
    model = GaussianNB().fit(X, [0, 0, 1, 1])
    assert model.epsilon_ == pytest.approx(1e-9 * X.var(axis=0).max(), rel=1e-12)
    np.testing.assert_allclose(model.var_[:, 1], model.epsilon_)
    assert np.isfinite(model.predict_proba([[1.0, 7.0], [1.0, 8.0]])).all()


def test_F11_T57_a_die_and_Bayes_theorem():
    faces = np.arange(6)[:, None]  # face f is written f - 1
    even = (faces[:, 0] + 1) % 2 == 0
    model = CategoricalNB(alpha=0).fit(faces, even)
    prior, given = np.exp(model.class_log_prior_), np.exp(model.feature_log_prob_[0])
    assert prior[1] == pytest.approx(1 / 2)  # P(even)
    assert given[1, 1] == pytest.approx(1 / 3)  # P(2 | even)
    assert (prior @ given)[1] == pytest.approx(1 / 6)  # P(2), by the law of total probability
    assert model.predict_proba([[1]])[0, 1] == pytest.approx(1.0)  # P(even | 2) = P(2 | even) P(even) / P(2)


def test_E50_pairwise_independence_is_not_enough():
    """Two fair coins and whether they differ: any two are independent, all three are not."""
    pairs = np.array(list(itertools.product([0, 1], repeat=2)))
    X = np.column_stack([pairs, pairs[:, 0] ^ pairs[:, 1]])
    for i, j in itertools.combinations(range(3), 2):
        assert np.mean(X[:, i] & X[:, j]) == X[:, i].mean() * X[:, j].mean()
    model = BernoulliNB(alpha=0).fit(X, np.zeros(4))
    claimed = np.exp(model.predict_joint_log_proba([[1, 1, 1]])[0, 0])
    assert claimed == pytest.approx(1 / 8)
    assert np.mean((X == 1).all(axis=1)) == 0.0


def test_E50_discrete_columns_are_coins_and_dice_not_binomials():
    X, y = np.array([[0], [0], [2], [2]]), np.zeros(4)
    die = CategoricalNB(alpha=0).fit(X, y)
    np.testing.assert_allclose(np.exp(die.feature_log_prob_[0][0]), [0.5, 0.0, 0.5])  # a binomial has its mode at 1
