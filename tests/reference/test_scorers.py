"""Scorers: scikit-learn's names, with the metrics of this package inside."""

import pickle

import numpy as np
import pytest
import sklearn.metrics as reference

import hyperplan.metrics as ours
from hyperplan.linear_model import LinearRegression, LogisticRegression

NAMES = reference.get_scorer_names()
REGRESSION = [n for n in NAMES if n in ("r2", "explained_variance", "d2_absolute_error_score") or "neg_m" in n]


def test_names_are_scikit_learns():
    assert ours.get_scorer_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_scorers_call_our_metrics(name):
    found, expected = ours.get_scorer(name), reference.get_scorer(name)
    assert found._score_func.__module__.startswith("hyperplan.metrics")
    assert repr(found) == repr(expected)
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


@pytest.mark.parametrize("name", REGRESSION)
def test_scores_of_a_regressor(name):
    X = np.random.default_rng(0).uniform(1.0, 2.0, size=(40, 2))
    y = X[:, 0] + 0.1 * X[:, 1] ** 2
    model = LinearRegression().fit(X, y)
    found, expected = ours.get_scorer(name)(model, X, y), reference.get_scorer(name)(model, X, y)
    np.testing.assert_allclose(found, expected, rtol=1e-9)  # residuals of 1e-3 inherit the rounding of y


def test_check_scoring_takes_names_dicts_and_lists():
    model = LinearRegression().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    for scoring in (["r2", "neg_mean_squared_error"], {"r2": "r2", "neg_mean_squared_error": "neg_mean_squared_error"}):
        scores = ours.check_scoring(model, scoring)(model, [[0.0], [1.0]], [0.0, 1.0])
        assert scores.keys() == {"r2", "neg_mean_squared_error"}
        assert scores["r2"] == model.score([[0.0], [1.0]], [0.0, 1.0])
    assert repr(ours.check_scoring(model)) == "LinearRegression.score"


def test_what_is_no_scorer_is_refused():
    with pytest.raises(ValueError, match="looks like it is a metric function rather than a scorer"):
        ours.check_scoring(LinearRegression(), ours.r2_score)
    with pytest.raises(ValueError, match="'nonsense' is not a valid scoring value"):
        ours.get_scorer("nonsense")
    with pytest.raises(ValueError, match="Duplicate elements"):
        ours.check_scoring(LogisticRegression(), ["accuracy", "accuracy"])
    with pytest.raises(ValueError, match="The 'scoring' parameter of get_scorer"):
        ours.get_scorer(3)
