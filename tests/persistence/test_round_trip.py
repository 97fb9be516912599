"""Every estimator comes back from a file as it was: parameters, attributes, and predictions to the bit."""

import hashlib
import pathlib

import numpy as np
import pytest
import scipy.sparse as sp
from contract_common import ESTIMATORS, FAST, build, data, fit, output
from persistence_common import difference, round_trip

import hyperplan
from hyperplan._base import is_classifier
from hyperplan.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hyperplan.linear_model import LinearRegression, LogisticRegression, Ridge
from hyperplan.naive_bayes import MixedNB
from hyperplan.persistence import describe
from hyperplan.tree import DecisionTreeClassifier, MultiwayTreeClassifier


def tags(name):
    return build(name).__sklearn_tags__()


each = pytest.mark.parametrize("name", ESTIMATORS)
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "apply", "score_samples", "kneighbors")


def answers(model, X):
    """All that a model says about rows."""
    found = {}
    for method in ANSWERS:
        if hasattr(model, method):
            values = getattr(model, method)(X)
            values = values.toarray() if sp.issparse(values) else values
            found[method] = [np.asarray(value) for value in (values if isinstance(values, list) else [values])]
    return found


def check_same_answers(one, other, X):
    expected, found = answers(one, X), answers(other, X)
    assert expected and found.keys() == expected.keys()
    for method, parts in expected.items():
        for a, b in zip(parts, found[method]):
            assert a.dtype == b.dtype, method
            assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes(), method


def check_round_trip(model, X, folder):
    again = round_trip(model, folder)
    assert difference(model, again) is None
    assert difference(model.get_params(), again.get_params()) is None
    check_same_answers(model, again, X)
    return again


@each
def test_dense(name, tmp_path):
    X, y = data(name)
    model = fit(build(name, **FAST), X, y)
    check_round_trip(model, X, tmp_path)
    about = describe(tmp_path / "thing.zip")
    assert about["class"].endswith(f".{name}") and about["n_features"] == X.shape[1]


@each
def test_not_fitted(name, tmp_path):
    model = build(name, **FAST)
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    X, y = data(name)
    assert output(fit(again, X, y), X).tobytes() == output(fit(model, X, y), X).tobytes()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if tags(name).input_tags.sparse])
def test_sparse(name, tmp_path):
    X, y = data(name)
    S = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    check_round_trip(fit(build(name, **FAST, with_mean=False), S, y), S, tmp_path)


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if is_classifier(build(name)) and tags(name).classifier_tags.multi_class]
)
def test_several_classes_with_names(name, tmp_path):
    X, _ = data(name)
    score = X[:, 0] + 0.3 * X[:, 1]
    y = np.array(["red", "green", "blue"], dtype=object)[np.digitize(score, np.quantile(score, [0.35, 0.65]))]
    again = check_round_trip(fit(build(name, **FAST), X, y), X, tmp_path)
    assert list(again.classes_) == ["blue", "green", "red"]


@each
def test_same_model_same_bytes(name, tmp_path):
    X, y = data(name)
    first, second = (fit(build(name, **FAST), X, y) for _ in range(2))
    for model, file in ((first, "a.zip"), (second, "b.zip"), (round_trip(first, tmp_path), "c.zip")):
        hyperplan.save(model, tmp_path / file)
    written = [(tmp_path / file).read_bytes() for file in ("a.zip", "b.zip", "c.zip")]
    assert written[0] == written[1] == written[2]


def test_fresh_process_predicts_the_same(tmp_path, run_python):
    """All estimators at once: one process that has seen none of them fitted."""
    expected = {}
    for name in ESTIMATORS:
        X, y = data(name)
        model = fit(build(name, **FAST), X, y)
        hyperplan.save(model, tmp_path / f"{name}.zip")
        np.save(tmp_path / f"{name}.npy", X)
        expected[name] = hashlib.sha256(output(model, X).tobytes()).hexdigest()
    code = (
        "import hashlib, pathlib, sys\n"
        "sys.path[:0] = sys.argv[2:]\n"
        "import numpy as np\nimport hyperplan\nfrom contract_common import output\n"
        "for file in sorted(pathlib.Path(sys.argv[1]).glob('*.zip')):\n"
        "    values = output(hyperplan.load(file), np.load(file.with_suffix('.npy')))\n"
        "    print(file.stem, hashlib.sha256(values.tobytes()).hexdigest())\n"
    )
    contract = pathlib.Path(__file__).parents[1] / "contract"
    lines = run_python(code, tmp_path, contract, timeout=600).stdout.splitlines()
    assert dict(line.split() for line in lines) == expected


def frame(n=150, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    table = pandas.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pandas.Categorical(rng.choice(["red", "green", "blue"], n)),
            "weight": rng.normal(size=n),
        }
    )
    table.loc[3, "size"] = np.nan
    table.loc[5, "colour"] = None
    return table, (table["weight"] + (table["colour"] == "red") > 0.3).to_numpy()


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=5),
        HistGradientBoostingClassifier(max_iter=5, categorical_encoding="ordered"),
        HistGradientBoostingRegressor(max_iter=5, categorical_features=["colour"], unseen_category="missing"),
        DecisionTreeClassifier(categorical_features="from_dtype", max_depth=4),
        MultiwayTreeClassifier(),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'categorical_encoding', '')}",
)
def test_categories(model, tmp_path):
    table, y = frame()
    check_round_trip(fit(model, table, y), table, tmp_path)
    assert describe(tmp_path / "thing.zip")["columns"] == ["size", "colour", "weight"]


def test_surrogates_and_missing_values(tmp_path):
    X, y = data("DecisionTreeClassifier")
    X[::7, 2] = np.nan
    check_round_trip(DecisionTreeClassifier(max_depth=4, surrogates=2).fit(X, y), X, tmp_path)


@pytest.mark.parametrize(
    "member", [LogisticRegression(), DecisionTreeClassifier(max_depth=2), RandomForestClassifier(3, random_state=0)]
)
@pytest.mark.parametrize("ensemble", [AdaBoostClassifier, BaggingClassifier])
def test_ensembles_of_other_members(ensemble, member, tmp_path):
    X, y = data("LogisticRegression")
    check_round_trip(fit(ensemble(member, n_estimators=4, random_state=0), X, y), X, tmp_path)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(4, random_state=0, warm_start=True),
        GradientBoostingRegressor(n_estimators=4, subsample=0.7, random_state=0, warm_start=True),
        HistGradientBoostingRegressor(max_iter=4, random_state=0, warm_start=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_loaded_model_goes_on_learning_as_the_saved_one(model, tmp_path):
    X, y = data("Ridge")
    y = y if y.ndim == 1 else y[:, 0]
    fit(model, X, y)
    again = round_trip(model, tmp_path)
    more = "max_iter" if hasattr(model, "max_iter") else "n_estimators"
    for each_model in (model, again):
        fit(each_model.set_params(**{more: 9}), X, y)
    assert output(model, X).tobytes() == output(again, X).tobytes()


def test_a_loaded_naive_bayes_goes_on_with_further_rows(tmp_path):
    table, y = frame()
    model = MixedNB(handle_unknown="smooth").partial_fit(table[:70], y[:70], [False, True])
    again = round_trip(model, tmp_path)
    later = table[70:].assign(colour=table["colour"][70:].astype(object).replace("red", "mauve"))
    for each_model in (model, again):
        each_model.partial_fit(later, y[70:])
    assert "mauve" in again.categories_[0]
    check_same_answers(model, again, table)


def test_methods_that_need_more_than_coefficients(tmp_path):
    X, y = data("LinearRegression")
    y = y if y.ndim == 1 else y[:, 0]
    linear = LinearRegression().fit(X, y)
    assert str(round_trip(linear, tmp_path).summary()) == str(linear.summary())
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    again = round_trip(forest, tmp_path)
    assert again.predict_quantiles(X, [0.1, 0.9]).tobytes() == forest.predict_quantiles(X, [0.1, 0.9]).tobytes()
    assert again.feature_importances_.tobytes() == forest.feature_importances_.tobytes()
    assert again.estimators_[2].predict(X).tobytes() == forest.estimators_[2].predict(X).tobytes()


def test_certificates_come_back(tmp_path):
    X, y = data("Ridge")
    model = Ridge().fit(X, y)
    again = round_trip(model, tmp_path)
    assert again.certificate_ == model.certificate_ and again.certificate_.holds == model.certificate_.holds


def test_loading_does_not_tie_models_to_the_file(tmp_path):
    X, y = data("Ridge")
    model = round_trip(Ridge().fit(X, y), tmp_path)
    (tmp_path / "thing.zip").unlink()
    assert model.coef_.flags.writeable and model.coef_.flags.owndata
    assert np.isfinite(model.predict(X)).all()
