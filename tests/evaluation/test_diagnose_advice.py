"""Advice moves the right parameters the right way: the tables of the course (J9, L13, Q13), for every family."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from hyperplan.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
)
from hyperplan.evaluation import advice
from hyperplan.evaluation._advice import trials
from hyperplan.evaluation._advice_tables import FAMILIES, PROBLEMS
from hyperplan.linear_model import (
    BestSubset,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    SGDRegressor,
)
from hyperplan.preprocessing import PolynomialFeatures, StandardScaler
from hyperplan.svm import LinearSVC
from hyperplan.testing import all_estimators, construct
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor, MultiwayTreeClassifier

LEARNERS = [name for kind in ("classifier", "regressor", "ranker") for name, _ in all_estimators(kind, composite=True)]
CLASSES = dict(all_estimators(composite=True))


class UMAP(BaseEstimator):
    """Stands for embeddings of other libraries: what counts is the name of the class and its parameters."""

    def __init__(self, n_neighbors=15, min_dist=0.1, n_epochs=200, set_op_mix_ratio=1.0):
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.n_epochs = n_epochs
        self.set_op_mix_ratio = set_op_mix_ratio


@pytest.mark.parametrize("problem", ["underfit", "overfit", "unstable"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_gets_advice_that_it_can_take(name, problem):
    model = construct(CLASSES[name])
    said = advice(model, problem)
    assert said and all(re.fullmatch(r"[↑↓] \w+ \(.+\)|→ \w+", line) for line in said)
    parameters = [line.split()[1] for line in said if line[0] in "↑↓"]
    assert set(parameters) <= set(model.get_params(deep=True))
    for copy in trials(model, problem).values():
        if type(copy) is type(model):
            before, after = (thing.get_params(deep=True) for thing in (model, copy))
            assert any(after[name] != before[name] for name in parameters)


@pytest.mark.parametrize(
    ("model", "flexible", "simple"),
    [
        (DecisionTreeClassifier(max_depth=4), {"max_depth": 8}, {"max_depth": 2, "min_samples_leaf": 3}),
        (DecisionTreeRegressor(), {}, {"max_depth": 8, "min_samples_leaf": 3}),
        (MultiwayTreeClassifier(max_depth=4), {"max_depth": 8}, {"max_depth": 2, "pruning": "error"}),
        (
            RandomForestClassifier(max_depth=4),
            {"max_depth": 8, "max_features": 1.0},
            {"max_depth": 2, "max_features": "log2"},
        ),
        (BaggingClassifier(max_samples=0.5, max_features=0.5), {"max_samples": 0.75}, {"max_samples": 0.5 / 1.5}),
        (
            GradientBoostingRegressor(),
            {"n_estimators": 200, "learning_rate": 0.2, "max_depth": 6},
            {"n_estimators": 50, "max_depth": 2},
        ),
        (
            HistGradientBoostingClassifier(),
            {"max_iter": 200, "max_leaf_nodes": 62, "min_samples_leaf": 7},
            {"max_iter": 50, "max_leaf_nodes": 16, "min_samples_leaf": 60, "l2_regularization": 1.0},
        ),
        (AdaBoostRegressor(), {"n_estimators": 100}, {"n_estimators": 25}),
        (Ridge(), {"alpha": 0.1}, {"alpha": 10.0}),
        (Lasso(alpha=0.5), {"alpha": 0.05}, {"alpha": 5.0}),
        (SGDRegressor(), {"alpha": 1e-5}, {"alpha": 1e-3}),
        (Perceptron(), {}, {"penalty": "l2"}),
        (LogisticRegression(), {"C": 10.0}, {"C": 0.1}),
        (LogisticRegression(C=np.inf), {}, {"C": 1.0}),
        (LinearSVC(), {"C": 10.0}, {"C": 0.1}),
        (BestSubset(n_features_to_select=4), {"n_features_to_select": 8}, {"n_features_to_select": 2}),
        (SVC(C=1.0, gamma=0.3), {"C": 10.0, "gamma": 0.9}, {"C": 0.1, "gamma": 0.1}),
        (SVC(kernel="linear", gamma=0.3), {"C": 10.0, "gamma": 0.3}, {"C": 0.1, "gamma": 0.3}),
        (SVC(kernel="poly", gamma=0.3), {"degree": 4}, {"degree": 2}),
        (KNeighborsClassifier(8), {"n_neighbors": 4}, {"n_neighbors": 16}),
        (
            make_pipeline(PolynomialFeatures(4), Ridge()),
            {"polynomialfeatures__degree": 6, "ridge__alpha": 0.1},
            {"polynomialfeatures__degree": 3, "ridge__alpha": 10.0},
        ),
        (
            make_pipeline(ColumnTransformer([("p", PCA(4), [0])]), Ridge()),
            {"columntransformer__p__n_components": 6},
            {"columntransformer__p__n_components": 3},
        ),
        (
            VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=4))]),
            {"a__C": 10.0, "b__max_depth": 8},
            {"a__C": 0.1, "b__max_depth": 2},
        ),
        (
            StackingRegressor([("a", Ridge())], final_estimator=Lasso()),
            {"a__alpha": 0.1, "final_estimator__alpha": 0.1},
            {"a__alpha": 10.0, "final_estimator__alpha": 10.0},
        ),
        (BaggingClassifier(DecisionTreeClassifier(max_depth=4)), {"estimator__max_depth": 8}, {}),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_moderate_moves(model, flexible, simple):
    for problem, expected in (("underfit", flexible), ("overfit", simple)):
        first = next(iter(trials(model, problem).values()), model)
        found = first.get_params(deep=True)
        assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_strong_moves_go_further_the_same_way():
    moderate, strong = trials(DecisionTreeRegressor(), "overfit").values()
    assert (moderate.max_depth, strong.max_depth) == (8, 2)
    assert (moderate.min_samples_leaf, strong.min_samples_leaf) == (3, 27)
    assert [copy.learning_rate for copy in trials(GradientBoostingRegressor(), "underfit").values()] == [0.2, 0.4]


def test_values_at_their_end_are_not_moved_further():
    assert advice(RandomForestRegressor(), "underfit") == ["→ HistGradientBoostingRegressor"]
    assert advice(KNeighborsClassifier(1), "underfit") == ["→ HistGradientBoostingClassifier"]
    assert advice(LogisticRegression(penalty=None), "overfit") == ["↑ penalty (None)"]
    assert "↑ learning_rate (2)" not in advice(GradientBoostingRegressor(learning_rate=2.0), "underfit")


def test_unstable_forests():
    """J9: fewer features, smaller samples, Extra-Trees; these draw no samples that could be smaller."""
    assert advice(RandomForestClassifier(), "unstable") == [
        "↓ max_features (sqrt)",
        "↓ max_samples (None)",
        "↑ n_estimators (100)",
        "→ ExtraTreesClassifier",
    ]
    assert advice(ExtraTreesClassifier(), "unstable") == ["↓ max_features (sqrt)", "↑ n_estimators (100)"]


def test_support_vectors():
    """L13: large C and gamma for precision, small ones for simplicity; words are said, but nobody can double them."""
    assert advice(SVC(), "underfit") == ["↑ C (1)", "↑ gamma (scale)"]
    assert advice(SVC(), "overfit") == ["↓ C (1)", "↓ gamma (scale)"]
    assert all(copy.gamma == "scale" for copy in trials(SVC(), "overfit").values())


def test_embeddings():
    """Q13."""
    assert advice(UMAP(), "local_detail") == ["↓ n_neighbors (15)"]
    assert advice(UMAP(), "global_view") == ["↑ n_neighbors (15)"]
    assert advice(UMAP(), "outliers") == ["↓ set_op_mix_ratio (1)"]
    assert advice(UMAP(), "separate_groups") == ["↓ min_dist (0.1)", "↑ n_epochs (200)"]


def test_searches_are_named_but_not_tried():
    search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 2.0]})
    assert advice(search, "overfit") == ["↑ estimator__ridge__alpha (1)"]
    assert trials(search, "overfit") == {}


def test_least_squares_are_replaced():
    (copy,) = trials(make_pipeline(StandardScaler(), LinearRegression()), "overfit").values()
    assert type(copy.steps[-1][1]).__name__ == "RidgeCV"
    assert advice(LinearRegression(), "overfit") == ["→ Ridge", "→ Lasso"]


def test_unknown_classes_get_another_class():
    class Mine(DecisionTreeClassifier):
        pass

    assert advice(Mine(max_depth=2), "overfit")[0] == "↓ max_depth (2)"  # tuned as its base class
    assert advice(KMeans(), "unstable") == ["→ BaggingRegressor"]


def test_bad_problems():
    with pytest.raises(ValueError, match=r"problem must be one of 'underfit', .* got 'slow'"):
        advice(Ridge(), "slow")


def test_tables_name_known_problems_and_no_class_twice():
    names = [name for family in FAMILIES for name in family.names]
    assert len(names) == len(set(names))
    assert {problem for family in FAMILIES for problem in (*family.moves, *family.instead)} == set(PROBLEMS)
