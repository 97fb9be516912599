"""scikit-learn's pipelines, encoders and searches around our models come back from a file."""

import numpy as np
import pytest
import sklearn.linear_model
from persistence_common import difference, forge, round_trip
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedKFold, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    KernelCenterer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    MultiLabelBinarizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import hyperplan
from hyperplan._base.plumbing import PLUMBING
from hyperplan.calibration import CalibratedClassifierCV
from hyperplan.ensemble import RandomForestClassifier, RandomForestRegressor
from hyperplan.linear_model import Lasso, LogisticRegression, LogisticRegressionCV, Ridge
from hyperplan.persistence import ModelFileError, describe

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=60)
LABELS = np.digitize(Y, [-0.5, 0.5])
COLUMN_WISE = [
    Binarizer(),
    FunctionTransformer(),
    FunctionTransformer(np.arcsinh, inverse_func=np.sinh),
    KBinsDiscretizer(n_bins=3, quantile_method="averaged_inverted_cdf"),
    KernelCenterer(),
    KNNImputer(n_neighbors=2),
    MaxAbsScaler(),
    MinMaxScaler(clip=True),
    MissingIndicator(features="all"),
    Normalizer(),
    OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3),
    OrdinalEncoder(dtype=np.float32),
    PolynomialFeatures(2, interaction_only=True),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=11, random_state=0),
    RobustScaler(quantile_range=(10.0, 90.0)),
    SelectFromModel(Lasso(alpha=0.01)),
    SelectKBest(f_regression, k=2),
    SimpleImputer(strategy="median", add_indicator=True),
    SplineTransformer(n_knots=4),
    StandardScaler(),
    TargetEncoder(random_state=0),
    VarianceThreshold(),
]
MODELS = [
    TransformedTargetRegressor(Ridge(), func=np.sinh, inverse_func=np.arcsinh),
    TransformedTargetRegressor(Ridge(), transformer=PowerTransformer()),
    make_pipeline(FeatureUnion([("scaled", StandardScaler()), ("bins", SplineTransformer())]), Ridge()),
    make_pipeline(SimpleImputer(), SelectKBest(f_regression, k=3), RandomForestRegressor(4, random_state=0)),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, scoring="r2", cv=KFold(3, shuffle=True, random_state=1)),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)),
    GridSearchCV(Ridge(), {"solver": ["svd", "lsqr"]}, scoring=["r2", "neg_mean_squared_error"], refit="r2", cv=3),
    RandomizedSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1, 2, 3]}, n_iter=2, random_state=0),
    MultiOutputRegressor(Ridge()),
]
CLASSIFIERS = [
    OneVsRestClassifier(LogisticRegression()),
    OneVsOneClassifier(LogisticRegression()),
    LogisticRegressionCV(
        cv=StratifiedKFold(3), Cs=3, l1_ratios=(0.0,), use_legacy_attributes=False, scoring="accuracy"
    ),
    DummyClassifier(),
]


def by_name(model):
    return type(model).__name__


def numbers(values):
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


@pytest.mark.parametrize("transformer", COLUMN_WISE, ids=by_name)
def test_transformers(transformer, tmp_path):
    rows = np.abs(X.round()) if isinstance(transformer, OneHotEncoder | OrdinalEncoder | TargetEncoder) else X
    rows = rows @ rows.T if isinstance(transformer, KernelCenterer) else rows
    transformer.fit(rows, Y)
    again = round_trip(transformer, tmp_path)
    assert difference(transformer, again) is None
    assert numbers(again.transform(rows)).tobytes() == numbers(transformer.transform(rows)).tobytes()


@pytest.mark.parametrize("encoder", [LabelEncoder(), LabelBinarizer(), MultiLabelBinarizer()], ids=by_name)
def test_encoders_of_targets(encoder, tmp_path):
    labels = [("a",), ("b", "c"), ("a", "c")] if isinstance(encoder, MultiLabelBinarizer) else ["b", "a", "c", "b"]
    expected = encoder.fit_transform(labels)
    assert np.array_equal(round_trip(encoder, tmp_path).transform(labels), expected)


@pytest.mark.parametrize("model", MODELS, ids=by_name)
def test_regressors(model, tmp_path):
    model.fit(X, np.column_stack([Y, -Y]) if isinstance(model, MultiOutputRegressor) else Y)
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    if hasattr(model, "cv_results_"):
        assert again.score(X, Y) == model.score(X, Y)
        assert describe(tmp_path / "thing.zip")["n_features"] == 4


@pytest.mark.parametrize("model", CLASSIFIERS, ids=by_name)
def test_classifiers(model, tmp_path):
    model.fit(X, LABELS)
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    assert describe(tmp_path / "thing.zip")["classes"] == [0, 1, 2]


FROZEN = [
    LogisticRegression(),
    RandomForestClassifier(4, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    FrozenEstimator(LogisticRegression().fit(X, LABELS)),
]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("inner", FROZEN, ids=by_name)
def test_calibrated_from_a_frozen_classifier(inner, method, tmp_path):
    frozen = FrozenEstimator(inner.fit(X[:40], LABELS[:40]))
    model = CalibratedClassifierCV(frozen, method=method).fit(X[40:], LABELS[40:])
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    assert type(again.estimator) is FrozenEstimator and again.calibrated_classifiers_[0].estimator is again.estimator
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    about = describe(tmp_path / "thing.zip")
    assert about["classes"] == [0, 1, 2] and about["n_features"] == 4
    alone = round_trip(frozen, tmp_path)
    assert alone.fit(X, LABELS) is alone and alone.predict(X).tobytes() == frozen.predict(X).tobytes()
    assert describe(tmp_path / "thing.zip")["n_features"] == 4


def test_frozen_estimators_hold_one_model_and_nothing_else(tmp_path):
    """They pass unknown names on, so that any other attribute would take the place of one of the model's methods."""
    frozen = FrozenEstimator(LogisticRegression().fit(X, LABELS))
    hyperplan.save(frozen, tmp_path / "good.zip")

    def state(document):
        return next(
            content[1] for kind, content in document["objects"] if kind == "object" and set(content[1]) == {"estimator"}
        )

    def forged(edit):
        with pytest.raises(ModelFileError) as caught:
            hyperplan.load(forge(tmp_path / "good.zip", edit, tmp_path / "bad.zip"))
        return str(caught.value)

    assert "no attribute 'predict'" in forged(lambda document: state(document).update(predict=1))
    assert "lacks its parameter" in forged(lambda document: state(document).clear())
    assert "no estimator that is frozen" in forged(lambda document: state(document).update(estimator=document["root"]))
    frozen.predict_proba = None
    with pytest.raises(ModelFileError, match="'predict_proba' hides a method"):
        round_trip(frozen, tmp_path)
    with pytest.raises(ModelFileError, match=r"FrozenEstimator\.estimator is of type sklearn.*take hyperplan's own"):
        round_trip(FrozenEstimator(sklearn.linear_model.Ridge()), tmp_path)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_tables_with_columns_of_all_kinds(output, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "b": RNG.choice(["x", "y", "z"], 60), "c": X[:, 1], "d": X[:, 2]})
    table["b"] = table["b"].astype(object)
    table.loc[3, "a"] = np.nan
    table.loc[4, "b"] = None
    words = make_column_selector(dtype_include=object)
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), RobustScaler()), ["a", "c"]),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
            ("none", "drop", ["d"]),
        ],
        remainder="passthrough",
    ).set_output(transform=output)
    model = Pipeline([("columns", columns), ("ridge", Ridge())], memory=None).fit(table, Y)
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    assert again.predict(table).tobytes() == model.predict(table).tobytes()
    assert list(again[:-1].get_feature_names_out()) == list(model[:-1].get_feature_names_out())
    about = describe(tmp_path / "thing.zip")
    assert about["columns"] == ["a", "b", "c", "d"]
    ridge = {"class": "hyperplan.linear_model.Ridge", "parameters": Ridge().get_params()}
    assert about["parameters"]["steps"][1] == ["ridge", ridge]


def test_every_class_of_the_table_exists():
    import importlib

    for module, names in PLUMBING.items():
        assert all(isinstance(getattr(importlib.import_module(module), name), type) for name in names)


def test_foreign_models_and_functions_are_refused_with_their_place(tmp_path):
    with pytest.raises(ModelFileError, match=r"Pipeline\.steps\[1\]\[1\] is of type sklearn.*take hyperplan's own"):
        round_trip(make_pipeline(StandardScaler(), sklearn.linear_model.Ridge()), tmp_path)
    with pytest.raises(ModelFileError, match=r"FunctionTransformer\.func is of type function.*Functions are code"):
        round_trip(FunctionTransformer(lambda rows: rows), tmp_path)
    with pytest.raises(ModelFileError, match=r"\.scoring is of type function"):
        round_trip(GridSearchCV(Ridge(), {"alpha": [1]}, scoring=lambda model, rows, y: 0.0), tmp_path)
