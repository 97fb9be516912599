"""`TableModel` among scikit-learn's tools: tags, scorers, clones, cross-validation, searches, pipelines."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, get_scorer, log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hyperplan.compete import (
    CompetitionError,
    ConstantClassifier,
    SelfTrainingClassifier,
    Settings,
    TableBlend,
    TableModel,
    TablePipeline,
    TablePreparation,
)
from hyperplan.compete._committee import fit_committee
from hyperplan.compete._compete import _asked, _labels, _with_target
from hyperplan.compete._registry import candidates
from hyperplan.compete._semi_supervised import with_unlabelled
from hyperplan.compete._table_model import in_label_order
from hyperplan.linear_model import LogisticRegression, Ridge

pandas = pytest.importorskip("pandas")
N = 120


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"size": rng.normal(size=N), "kind": rng.choice(list("abc"), N), "n": rng.integers(0, 9, N)}
    )
    frame.loc[3, "size"], frame.loc[5, "kind"] = np.nan, None
    return frame


def labels(X):
    """Two classes in whole numbers that columns tell about."""
    noise = np.random.default_rng(1).normal(size=N)
    return (X["size"].fillna(0) + (X["kind"] == "a") + 0.5 * noise > 0.4).to_numpy().astype(int)


def asked(X, y, **settings):
    frame, whole, own = _with_target(X, y, Settings(**settings))
    question, _ = _asked(frame, whole, None)
    return question._replace(labels=_labels(question, own, y))


def made(question, pipeline):
    """As a competition makes it of a fitted pipeline."""
    fitted = in_label_order(pipeline, question.problem.classes, question.labels)
    return TableModel(pipeline, "y", fitted.names, labels=fitted.labels, codes=fitted.codes)


def classifier(X, y, model=None, **settings):
    question = asked(X, y, **settings)
    problem = question.problem
    pipeline = TablePipeline(TablePreparation(problem.columns), model or LogisticRegression())
    return made(question, pipeline.fit(problem.typed, problem.y))


def regressor(X, y):
    problem = asked(X, y, task="regression").problem
    pipeline = TablePipeline(TablePreparation(problem.columns), Ridge()).fit(problem.typed, problem.y)
    return TableModel(pipeline, "y", residuals=np.array([-1.0, 1.0]))


def test_tags_say_what_it_is(X):
    one, number = classifier(X, labels(X)), regressor(X, X["n"] + 0.5)
    assert is_classifier(one) and not is_regressor(one) and is_regressor(number) and not is_classifier(number)
    assert get_tags(one).input_tags.allow_nan and get_tags(one).target_tags.required
    assert hasattr(one, "predict_proba") and not hasattr(one, "predict_interval")
    assert (
        hasattr(number, "predict_interval") and not hasattr(number, "predict_proba") and not hasattr(number, "classes_")
    )
    assert list(one.feature_names_in_) == ["size", "kind", "n"] and one.n_features_in_ == 3


@pytest.mark.parametrize("positive", [None, 0, 1])
def test_scorers_agree_with_metrics_whichever_class_is_positive(X, positive):
    y = labels(X)
    model = classifier(X, y, positive=positive)
    share = model.predict_proba(X)[:, 1]
    assert model.score(X, y) == get_scorer("accuracy")(model, X, y) == accuracy_score(y, model.predict(X)) > 0.7
    assert get_scorer("roc_auc")(model, X, y) == roc_auc_score(y, share) > 0.8
    assert get_scorer("neg_log_loss")(model, X, y) == pytest.approx(-log_loss(y, share))
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_scorers_of_several_classes(X):
    y = np.array(["9", "10", "2"], dtype=object)[X["n"].to_numpy() % 3]  # by number 2, 9, 10; in their order 10, 2, 9
    model = classifier(X, y)
    assert list(model.classes_) == ["10", "2", "9"] and model.classes == ("10", "2", "9")
    assert get_scorer("roc_auc_ovr")(model, X, y) == roc_auc_score(y, model.predict_proba(X), multi_class="ovr")
    assert get_scorer("neg_log_loss")(model, X, y) == pytest.approx(-log_loss(y, model.predict_proba(X)))


def test_score_of_a_number(X):
    y = X["n"] * 2.0 + 0.25
    model = regressor(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X)) == get_scorer("r2")(model, X, y) > 0.95
    low, high = model.predict_interval(X)
    np.testing.assert_allclose(high - low, 2.0)


def test_a_clone_is_not_fitted_and_fits_to_the_same_bits(X):
    y = labels(X)
    model = classifier(X, y, positive=0)
    copy = clone(model)
    for ask in (check_is_fitted, lambda m: m.predict(X), lambda m: m.predict_proba(X), lambda m: m.classes_):
        with pytest.raises(NotFittedError):
            ask(copy)
    assert is_classifier(copy) and copy.get_params()["classes"] == model.classes
    np.testing.assert_array_equal(copy.fit(X, y).predict_proba(X), model.predict_proba(X))
    assert copy.fit(X, y) is copy and type(pickle.loads(pickle.dumps(copy)).predict(X)[0]) is np.int64


def test_a_refit_learns_from_the_rows_it_gets_and_leaves_the_given_pipeline_alone(X):
    y = labels(X)
    model = classifier(X, y)
    before = model.predict_proba(X)
    copy = clone(model).fit(X[:60], np.array(["low", "high"])[y[:60]])
    assert list(copy.classes_) == ["high", "low"] and not np.array_equal(copy.predict_proba(X)[:, 1], before[:, 0])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.fit(X, 1 - y)
    assert (model.predict(X) != before.argmax(axis=1)).mean() > 0.5
    again = clone(regressor(X, X["n"] + 0.5)).fit(X, X["n"] * 3.0)
    assert again.score(X, X["n"] * 3.0) > 0.95 and not hasattr(again, "predict_interval")


@pytest.mark.parametrize(
    ("y", "words"),
    [(np.ones(N), "only the class '1'"), (np.ones(3), "X has 120 rows and y has 3"), ("n", "target='n'")],
)
def test_a_refit_says_what_is_wrong(X, y, words):
    with pytest.raises(CompetitionError, match=words):
        clone(classifier(X, labels(X))).fit(X, y)


def test_self_training_refits_with_the_rows_that_have_no_label(X):
    y = pandas.array([None if row < 30 else value for row, value in enumerate(labels(X))], dtype="Int64")
    question = asked(X, y)
    problem = question.problem
    rows = with_unlabelled(problem.typed, problem.y, problem.unlabelled)
    model = made(question, TablePipeline(TablePreparation(problem.columns), SelfTrainingClassifier()).fit(*rows))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), model.predict_proba(X))


def test_a_committee_refits_its_members_on_the_same_parts(X):
    y = labels(X)
    question = asked(X, y)
    boosting = next(c for c in candidates("classification") if c.name == "HistGradientBoostingClassifier")
    few = {"best": {"max_leaf_nodes": 4}, "second": {"learning_rate": 0.3}}
    blend = fit_committee(question.problem, boosting, few, np.arange(N))
    assert isinstance(blend, TableBlend) and blend.deals == 0 and len(blend.members) > 2
    model = made(question, blend)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), model.predict_proba(X))


def test_a_baseline_that_needs_no_column_refits(X):
    y = labels(X)
    question = asked(X, y)
    constant = TablePipeline(TablePreparation(()), ConstantClassifier()).fit({"": np.zeros(N)}, question.problem.y)
    model = clone(made(question, constant)).fit(X, y)
    assert set(model.predict(X)) == {int(np.bincount(y).argmax())} and model.n_features_in_ == 0


def test_cross_validation_searches_pipelines_and_other_tools_take_it(X):
    y = labels(X)
    model = classifier(X, y)
    scores = cross_val_score(model, X, y, cv=3, scoring="roc_auc")
    assert scores.shape == (3,) and (scores > 0.7).all()
    assert cross_val_predict(model, X, y, cv=3).dtype == y.dtype
    search = GridSearchCV(model, {"pipeline__model__C": [1e-4, 1.0]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert (
        search.best_params_ == {"pipeline__model__C": 1.0} and GridSearchCV(model, {}, cv=2).fit(X, y).score(X, y) > 0.7
    )
    pipeline = make_pipeline(FunctionTransformer(), model).fit(X, y)
    assert pipeline.score(X, y) == model.score(X, y) and list(pipeline.classes_) == [0, 1]
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)
    assert calibrated.predict(X).dtype == y.dtype
    drops = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    assert drops.argmax() == 0
    assert (cross_val_score(regressor(X, X["n"] * 2.0), X, X["n"] * 2.0, cv=3) > 0.9).all()


def test_spellings_and_rare_classes_have_values_of_the_table(X):
    y = np.where(labels(X) == 1, "yes", "no").astype(object)
    y[np.flatnonzero(y == "yes")[:5]] = "YES"
    model = classifier(X, y)
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), model.predict_proba(X))
    numbers = labels(X).astype(int)
    numbers[7] = 9
    assert classifier(X, numbers, task="classification").classes_.tolist() == [0, 1]
    numbers[8] = 8
    merged = classifier(X, numbers, task="classification", rare_classes="merge")
    assert merged.classes == ("0", "1", "other") and merged.classes_.tolist() == [0, 1, "other"]
