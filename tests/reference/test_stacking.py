"""Stacking against scikit-learn's classes, with the same members on both sides; what the members see."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble as reference
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.preprocessing import scale

from hyperplan.ensemble import (
    BlendingClassifier,
    BlendingRegressor,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
)
from hyperplan.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFIERS = [
    ("linear", LogisticRegression()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("scores", RidgeClassifier()),
]
REGRESSORS = [("linear", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]


def rows(name):
    X, y = {"iris": load_iris, "cancer": load_breast_cancer, "diabetes": load_diabetes}[name](return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("name", ["iris", "cancer"])
@pytest.mark.parametrize("method", ["auto", "predict", "decision_function", "predict_proba"])
@pytest.mark.parametrize("passthrough", [False, True])
def test_classifier(name, method, passthrough):
    X, y = rows(name)
    able = {"decision_function": ["linear", "scores"], "predict_proba": ["linear", "tree"]}
    members = [(n, m) for n, m in CLASSIFIERS if n in able.get(method, [n])]
    final = LogisticRegression(tol=1e-8)
    pair = [
        cls(members, final, cv=StratifiedKFold(4, shuffle=True, random_state=1), stack_method=method)
        .set_params(passthrough=passthrough)
        .fit(X, np.array(["p", "q", "r"])[y], sample_weight=np.linspace(1.0, 2.0, len(y)))
        for cls in (StackingClassifier, reference.StackingClassifier)
    ]
    ours, theirs = pair
    assert ours.stack_method_ == theirs.stack_method_
    # the members are the same objects fitted to the same rows: their answers agree to rounding
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("passthrough", [False, True])
def test_regressor(cv, passthrough):
    X, y = rows("diabetes")
    ours, theirs = (
        cls(REGRESSORS, LinearRegression(), cv=cv, passthrough=passthrough).fit(X, y)
        for cls in (StackingRegressor, reference.StackingRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)  # the same members: rounding only
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-10)


def test_default_final_estimators():
    X, y = rows("iris")
    assert isinstance(StackingClassifier(CLASSIFIERS).fit(X, y).final_estimator_, LogisticRegression)
    X, y = rows("diabetes")
    model = StackingRegressor(REGRESSORS).fit(X, y)
    assert isinstance(model.final_estimator_, RidgeCV) and model.certificate_.holds
    # both final models are ridge regressions that choose among 0.1, 1 and 10 by leaving rows out
    expected = reference.StackingRegressor(REGRESSORS).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_stay_sparse_when_passed_through(form):
    X, y = rows("diabetes")
    sparse = sp.coo_array(X).asformat(form)
    members = [("one", Ridge()), ("two", Ridge(10.0))]
    model = StackingRegressor(members, LinearRegression(), passthrough=True).fit(sparse, y)
    table = model.transform(sparse)
    assert sp.issparse(table) and table.format == form and table.shape == (442, 12)
    dense = StackingRegressor(members, LinearRegression(), passthrough=True).fit(X, y)
    np.testing.assert_allclose(model.predict(sparse), dense.predict(X), rtol=1e-5)  # two solvers of one problem


def test_prefit_members_are_used_as_they_are():
    X, y = rows("diabetes")
    members = [("linear", Ridge().fit(X[:200], y[:200])), ("other", Ridge(9.0).fit(X[:200], y[:200]))]
    model = StackingRegressor(members, LinearRegression(), cv="prefit").fit(X[200:], y[200:])
    assert model.estimators_ == [member for _, member in members]
    theirs = reference.StackingRegressor(members, LinearRegression(), cv="prefit").fit(X[200:], y[200:])
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-10)
    with pytest.raises(NotFittedError):
        StackingRegressor(REGRESSORS, cv="prefit").fit(X, y)


class Memory(BaseEstimator):
    """Answers 1 for rows it was fitted to and 0 for others: it tells whether an answer is out of fold."""

    def fit(self, X, y):
        self.seen_ = set(X[:, 0].tolist())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([float(value in self.seen_) for value in X[:, 0]])


class RegressorMemory(RegressorMixin, Memory):
    """As a regressor."""


class ClassifierMemory(ClassifierMixin, Memory):
    """As a classifier."""

    def predict_proba(self, X):
        known = self.predict(X)
        return np.column_stack([1.0 - 0.9 * known, 0.9 * known])


class Recorder(BaseEstimator):
    """Keeps the table it is fitted to."""

    def fit(self, X, y):
        self.table_, self.target_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(X.shape[0], dtype=int)


class RegressorRecorder(RegressorMixin, Recorder):
    """As a regressor."""


class ClassifierRecorder(ClassifierMixin, Recorder):
    """As a classifier."""


NUMBERED = np.column_stack([np.arange(60.0), np.zeros(60)])
HALVES = (np.arange(60) % 2).astype(int)


@pytest.mark.parametrize("cls", [StackingRegressor, BlendingRegressor, StackingClassifier, BlendingClassifier])
@pytest.mark.parametrize("refit", [False, True])
def test_no_row_is_judged_by_a_model_that_saw_it(cls, refit):
    classify = cls in (StackingClassifier, BlendingClassifier)
    member, final = (ClassifierMemory, ClassifierRecorder) if classify else (RegressorMemory, RegressorRecorder)
    options = {"refit": refit, "random_state": 0} if "Blending" in cls.__name__ else {}
    model = cls([("memory", member())], final(), **options).fit(NUMBERED, HALVES)
    assert model.final_estimator_.table_.shape[1] == 1
    assert (model.final_estimator_.table_ == 0).all()
    assert len(model.estimators_[0].seen_) == (60 if refit or not options else 42)
    if options:
        assert set(model.blend_rows_.tolist()).isdisjoint(model.estimators_[0].seen_) == (not refit)
        assert (model.final_estimator_.target_ == HALVES[model.blend_rows_]).all()


@pytest.mark.parametrize("cls", [SuperLearnerRegressor, SuperLearnerClassifier])
def test_a_model_that_remembers_gets_no_credit(cls):
    """Memory is perfect about rows it knows and has nothing to say about others."""
    if cls is SuperLearnerRegressor:
        model = cls([("memory", RegressorMemory()), ("mean", Ridge(1e9))], cv=6).fit(NUMBERED, np.ones(60))
        assert model.cv_risk_[0] == pytest.approx(1.0) and model.weights_[1] == pytest.approx(1.0, abs=1e-6)
    else:
        model = cls([("memory", ClassifierMemory())], cv=6).fit(NUMBERED, HALVES)
        # every row counts as the first class with certainty: half of the rows have probability "zero"
        assert model.cv_risk_[0] == pytest.approx(-0.5 * np.log(np.finfo(float).eps))


def test_every_row_must_be_left_out_once():
    with pytest.raises(ValueError, match="partitions"):
        StackingRegressor(REGRESSORS, cv=TimeSeriesSplit(3)).fit(NUMBERED, NUMBERED[:, 0])


@pytest.mark.filterwarnings("ignore:Number of classes in training fold")
def test_classes_that_a_fold_lacks_have_probability_zero():
    """Rows sorted by class and contiguous folds: scikit-learn's answer is the same."""
    X, y = rows("iris")
    pair = [cls(CLASSIFIERS[1:2], cv=KFold(3)).fit(X, y) for cls in (StackingClassifier, reference.StackingClassifier)]
    np.testing.assert_allclose(pair[0].predict_proba(X), pair[1].predict_proba(X), atol=1e-3)  # two logistic solvers
    with pytest.raises(ValueError, match="Only 2 class/es in training fold"):
        StackingClassifier([("scores", RidgeClassifier())], cv=KFold(3)).fit(X, y)


def test_multilabel_targets():
    X, y = rows("iris")
    Y = np.column_stack([y == 0, X[:, 0] > 0]).astype(int)
    members = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    final = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours, theirs = (
        cls(members, final, cv=KFold(3, shuffle=True, random_state=0)).fit(X, Y)
        for cls in (StackingClassifier, reference.StackingClassifier)
    )
    assert ours.transform(X).shape == (150, 2) and (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_frames_are_wrapped_and_named():
    pandas = pytest.importorskip("pandas")
    X, y = rows("iris")
    frame = pandas.DataFrame(X, columns=list("pqrs"))
    model = StackingClassifier(CLASSIFIERS, passthrough=True).set_output(transform="pandas").fit(frame, y)
    table = model.transform(frame)
    assert list(table.columns) == list(model.get_feature_names_out()) and list(table.columns[-4:]) == list("pqrs")
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(list("abcd"))
    assert "StackingClassifier" in model._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"final_estimator": Ridge()}, ValueError, "should be a classifier"),
        ({"stack_method": "predict_proba"}, ValueError, "scores does not implement the method predict_proba"),
        ({"cv": "none"}, ValueError, "'cv' parameter"),
        ({"estimators": [("memory", ClassifierMemory())]}, TypeError, "does not support sample weights"),
        ({"final_estimator": ClassifierMemory()}, TypeError, "does not support sample weights"),
    ],
)
def test_wrong_settings_are_refused(options, error, problem):
    X, y = rows("iris")
    with pytest.raises(error, match=problem):
        StackingClassifier(**{"estimators": CLASSIFIERS, **options}).fit(X, y, sample_weight=np.ones(150))


def test_blending_refuses_parts_without_rows_or_classes():
    X, y = rows("iris")
    with pytest.raises(ValueError, match="n_samples=150 with blend_size=150"):
        BlendingClassifier(CLASSIFIERS, blend_size=150).fit(X, y)
    with pytest.raises(ValueError, match=r"lack the class .*2"):
        BlendingClassifier(CLASSIFIERS, blend_size=50, shuffle=False).fit(X, y)
    model = BlendingRegressor(REGRESSORS, blend_size=50, shuffle=False).fit(X, y.astype(float))
    assert model.blend_rows_.tolist() == list(range(100, 150))


def test_weights_reach_the_parts_of_a_blend():
    """Zero weights on a third of the rows: neither members nor final model may follow them."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 3)), np.repeat([1.0, 1.0, 0.0], 100)
    y = X @ [1.0, 2.0, 3.0] + np.where(weight == 0, 1000.0, 0.0)
    model = BlendingRegressor([("linear", LinearRegression())], LinearRegression(), random_state=0)
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), X @ [1.0, 2.0, 3.0], atol=1e-8)  # an exact fit, but for rounding


@pytest.mark.parametrize("cls", [SuperLearnerClassifier, BlendingClassifier, SuperLearnerRegressor, BlendingRegressor])
def test_default_members_and_seeds(cls):
    X, y = rows("cancer")
    first, again, other = (cls(random_state=seed).fit(X[:200], y[:200]).predict(X) for seed in (0, 0, 1))
    assert (first == again).all()
    assert np.mean((first > 0.5) == y) > 0.9 and (
        cls in (SuperLearnerClassifier, BlendingClassifier) or (first != other).any()
    )


def test_verbose_says_who_is_being_fitted(capsys):
    X, y = rows("diabetes")
    SuperLearnerRegressor(REGRESSORS, verbose=1, n_jobs=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "(2 of 2) Processing tree, total=" in lines[1]


def test_a_forest_on_top():
    X, y = rows("diabetes")
    ours = StackingRegressor(REGRESSORS, RandomForestRegressor(n_estimators=20, random_state=0), passthrough=True)
    assert ours.fit(X, y).score(X, y) > 0.7
