"""The estimators of the competition, which learn from tables of all kinds of columns, come back to the bit."""

import inspect

import numpy as np
import pytest
from persistence_common import difference, round_trip

import hyperplan
from hyperplan import compete
from hyperplan.compete import TableBlend, TableModel, TablePipeline, TablePreparation, guess_columns
from hyperplan.ensemble import HistGradientBoostingClassifier, VotingRegressor
from hyperplan.linear_model import LogisticRegression, Ridge
from hyperplan.persistence import describe
from hyperplan.tree import DecisionTreeClassifier

pandas = pytest.importorskip("pandas")
N = 90
PLAIN = ("ConstantClassifier", "ConstantRegressor", "SelfTrainingClassifier")
OF_TABLES = ("TablePreparation", "TablePipeline", "TableBlend", "TableModel")


@pytest.fixture(scope="module")
def table():
    """Numbers, categories, dates, texts, and a missing value in each kind."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=N),
            "colour": rng.choice(["red", "green", "blue"], N),
            "day": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 900, N), unit="D"),
            "note": [f"word{i % 7} again{i % 5} more {i} words in this note" for i in range(N)],
        }
    )
    frame.loc[3, "size"], frame.loc[4, "colour"], frame.loc[5, "day"] = np.nan, None, pandas.NaT
    return frame


def codes(table):
    return (table["size"].fillna(0) + (table["colour"] == "red") > 0.3).to_numpy().astype(int)


def test_every_estimator_of_the_competition_is_tried_here():
    found = {name for name in compete.__all__ if inspect.isclass(thing := getattr(compete, name)) and _is_fitted(thing)}
    assert found == {*PLAIN, *OF_TABLES}


def _is_fitted(cls):
    return hasattr(cls, "fit") and hasattr(cls, "get_params")


@pytest.mark.parametrize("name", PLAIN)
def test_plain_estimators(name, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] > 0).astype(int)
    if name.startswith("SelfTraining"):
        y[::3] = -1
    model = getattr(compete, name)().fit(X, y)
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    assert getattr(again, method)(X).tobytes() == getattr(model, method)(X).tobytes()


@pytest.mark.parametrize("mode", ["linear", "trees", "native"])
def test_preparation(mode, table, tmp_path):
    columns = guess_columns(table)
    assert {column.kind for column in columns} >= {"number", "category", "date", "text"}
    prepare = TablePreparation(columns, mode).fit(table)
    again = round_trip(prepare, tmp_path)
    assert difference(prepare, again) is None
    assert again.transform(table[::-1]).tobytes() == prepare.transform(table[::-1]).tobytes()


@pytest.mark.parametrize(
    ("mode", "model"),
    [("linear", LogisticRegression()), ("trees", DecisionTreeClassifier(max_depth=3)), ("native", None)],
    ids=["linear", "trees", "native"],
)
def test_model_of_classes(mode, model, table, tmp_path):
    model = model or HistGradientBoostingClassifier(max_iter=4, categorical_features=[1])
    pipeline = TablePipeline(TablePreparation(guess_columns(table), mode), model).fit(table, codes(table))
    whole = TableModel(pipeline, target="bought", classes=("no", "yes"))
    again = round_trip(whole, tmp_path)
    assert difference(whole, again) is None
    assert again.predict_proba(table).tobytes() == whole.predict_proba(table).tobytes()
    assert again.pipeline.predict(table).tobytes() == pipeline.predict(table).tobytes()
    assert list(again.predict(table)) == list(whole.predict(table))
    about = describe(tmp_path / "thing.zip")
    assert about["class"] == "hyperplan.compete.TableModel"


def test_mixture(table, tmp_path):
    columns, y = guess_columns(table), codes(table)
    members = [
        TablePipeline(TablePreparation(columns, "linear"), LogisticRegression()),
        TablePipeline(TablePreparation(columns, "trees"), DecisionTreeClassifier(max_depth=3)),
    ]
    whole = TableModel(TableBlend(members).fit(table, y), target="bought", classes=("no", "yes"))
    again = round_trip(whole, tmp_path)
    assert difference(whole, again) is None
    assert again.predict_proba(table).tobytes() == whole.predict_proba(table).tobytes()


def test_model_of_a_number(table, tmp_path):
    vote = VotingRegressor([("a", Ridge()), ("b", Ridge(10.0))])
    y = table["size"].fillna(0).to_numpy() * 2
    pipeline = TablePipeline(TablePreparation(guess_columns(table), "linear"), vote).fit(table, y)
    whole = TableModel(pipeline, target="price", residuals=np.array([-0.5, 0.7]))
    again = round_trip(whole, tmp_path)
    assert difference(whole, again) is None
    for one, other in zip(whole.predict_interval(table), again.predict_interval(table)):
        assert one.tobytes() == other.tobytes()


def test_a_folder_as_the_competition_writes_it(table, tmp_path):
    """The model stands in `model.zip` of a folder, which can be given to `load` as it is."""
    pipeline = TablePipeline(TablePreparation(guess_columns(table)), LogisticRegression()).fit(table, codes(table))
    folder = tmp_path / "model"
    folder.mkdir()
    hyperplan.save(TableModel(pipeline, "bought", ("no", "yes")), folder)
    assert [path.name for path in folder.iterdir()] == ["model.zip"]
    assert list(hyperplan.load(folder).predict(table)) == list(hyperplan.load(folder / "model.zip").predict(table))
