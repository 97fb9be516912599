"""Voting against scikit-learn's classes, with the same members on both sides."""

import numpy as np
import pytest
import sklearn.ensemble as reference
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.naive_bayes import GaussianNB

from hyperplan.ensemble import VotingClassifier, VotingRegressor
from hyperplan.linear_model import LogisticRegression, Ridge
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFIERS = [
    ("linear", LogisticRegression()),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("bayes", GaussianNB()),
]
REGRESSORS = [("linear", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("stiff", Ridge(10.0))]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X + np.random.default_rng(0).normal(scale=0.7, size=X.shape), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [3, 1, 2], [0.5, 0, 0.5]])
@pytest.mark.parametrize("dropped", [None, "tree"])
def test_classifier(iris, voting, weights, dropped):
    pair = [
        cls([(name, clone(model)) for name, model in CLASSIFIERS], voting=voting, weights=weights)
        for cls in (VotingClassifier, reference.VotingClassifier)
    ]
    for model in pair:
        if dropped:
            model.set_params(**{dropped: "drop"})
        model.fit(*iris, sample_weight=np.linspace(1.0, 2.0, 150))
    ours, theirs = pair
    assert (ours.predict(iris[0]) == theirs.predict(iris[0])).all()
    np.testing.assert_allclose(ours.transform(iris[0]), theirs.transform(iris[0]), rtol=1e-12)
    assert list(ours.get_feature_names_out()) == [
        name.replace("reference", "") for name in theirs.get_feature_names_out()
    ]
    assert hasattr(ours, "predict_proba") == (voting == "soft")
    if voting == "soft":  # the same members, averaged in the same order: rounding only
        np.testing.assert_allclose(ours.predict_proba(iris[0]), theirs.predict_proba(iris[0]), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, [3, 1, 2]])
def test_regressor(weights):
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (cls(REGRESSORS, weights=weights).fit(X, y) for cls in (VotingRegressor, reference.VotingRegressor))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)  # the same members: rounding only
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)


def test_equal_votes_go_to_the_smaller_label():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["x", "x", "y", "y"])
    yes, no = (DecisionTreeClassifier().fit(X, [label] * 4) for label in (0, 1))
    model = VotingClassifier([("a", DecisionTreeClassifier()), ("b", DecisionTreeClassifier())]).fit(X, y)
    model.estimators_ = [no, yes]
    assert model.predict(X).tolist() == ["x"] * 4
    model.set_params(weights=[2, 1])
    assert model.predict(X).tolist() == ["y"] * 4


def test_frames_are_wrapped(iris):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(iris[0], columns=list("pqrs"))
    model = VotingClassifier(CLASSIFIERS, voting="soft").set_output(transform="pandas").fit(X, iris[1])
    table = model.transform(X)
    assert list(table.columns) == list(model.get_feature_names_out()) and list(model.feature_names_in_) == list("pqrs")
    model.fit(iris[0], iris[1])
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ([], "non-empty list"),
        ([LogisticRegression()], "non-empty list"),
        ([("a", LogisticRegression()), ("a", LogisticRegression())], "not unique"),
        ([("voting", LogisticRegression())], "conflict with constructor"),
        ([("a__b", LogisticRegression())], "must not contain __"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", Ridge())], "Ridge should be a classifier"),
        (None, "must be an instance of 'list'"),
    ],
)
def test_wrong_lists_are_refused(iris, members, problem):
    with pytest.raises(ValueError, match=problem):
        VotingClassifier(members).fit(*iris)


@pytest.mark.parametrize("y", [np.linspace(0, 1, 150), np.ones((150, 2))])
def test_targets_that_are_not_labels_are_refused(iris, y):
    with pytest.raises(ValueError, match=r"Unknown label type|only supports binary or multiclass"):
        VotingClassifier(CLASSIFIERS).fit(iris[0], y)


def test_parameters_of_members(iris):
    model = VotingClassifier(CLASSIFIERS).set_params(linear__C=0.5, tree="drop", voting="soft")
    assert model.get_params()["linear__C"] == 0.5 and model.named_estimators.tree == "drop"
    assert "linear__C" not in model.get_params(deep=False)
    assert model.fit(*iris).named_estimators_.tree == "drop" and len(model.estimators_) == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(forest__depth=3)
