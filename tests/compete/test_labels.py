"""Labels come back with the type they had: from `predict`, in `classes_`, in frames of predictions and in files."""

import datetime
import decimal
import enum
import json
import pickle

import numpy as np
import pytest

import hyperplan
from hyperplan.compete import Competition, Settings, TableModel, compete, guess_columns
from hyperplan.compete._compete import _asked, _labels, _with_target
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._models import TablePipeline
from hyperplan.compete._preparation import TablePreparation
from hyperplan.compete._table_model import in_label_order
from hyperplan.linear_model import LogisticRegression
from hyperplan.persistence import ModelFileError, register_class

pandas = pytest.importorskip("pandas")
N = 60
GAPS = 5  # rows without a label, where there are some
ONES = np.arange(N) % 3 == 0


class Colour(str, enum.Enum):  # noqa: UP042 - the older way, whose words are "Colour.RED"
    RED = "red"
    BLUE = "blue"


def table():
    rng = np.random.default_rng(0)
    return pandas.DataFrame({"size": ONES + 0.3 * rng.normal(size=N), "kind": rng.choice(list("abc"), N)})


def with_gaps(values, missing=None):
    return [missing if row < GAPS else value for row, value in enumerate(values)]


def of(no, yes):
    return [yes if one else no for one in ONES]


def polars_series():
    return pytest.importorskip("polars").Series("y", of(0, 1))


def arrow_array():
    return pytest.importorskip("pyarrow").array(of(0, 1))


WHOLE, DAYS = np.array(of(0, 1)), [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
TIMES = pandas.to_datetime(of("2020-01-01", "2021-01-01"))
# What is given, and the classes that must come back, in their type.
KINDS = {
    "whole numbers": (lambda: WHOLE, np.array([0, 1])),
    "one byte": (lambda: WHOLE.astype(np.int8), np.array([0, 1], dtype=np.int8)),
    "unsigned": (lambda: WHOLE.astype(np.uint32), np.array([0, 1], dtype=np.uint32)),
    "beyond floats": (lambda: of(2**60, 2**60 + 1), np.array([2**60, 2**60 + 1])),
    "negative": (lambda: of(-1, 1), np.array([-1, 1])),
    "truth values": (lambda: ONES, np.array([False, True])),
    "floats": (lambda: WHOLE + 1.0, np.array([1.0, 2.0])),
    "single floats": (lambda: WHOLE.astype(np.float32), np.array([0, 1], dtype=np.float32)),
    "floats with gaps": (lambda: np.array(with_gaps(of(0.0, 1.0), np.nan)), np.array([0.0, 1.0])),
    "texts in an array": (lambda: np.array(of("no", "yes")), np.array(["no", "yes"])),
    "texts in a list": (lambda: of("no", "yes"), np.array(["no", "yes"], dtype=object)),
    "texts with blanks": (lambda: of(" no", "yes "), np.array([" no", "yes "], dtype=object)),
    "texts that are numbers": (lambda: of("9", "10"), np.array(["10", "9"], dtype=object)),
    "bytes": (lambda: np.array(of(b"no", b"yes")), np.array([b"no", b"yes"])),
    "a list of whole numbers": (lambda: of(0, 1), np.array([0, 1])),
    "a list with gaps": (lambda: with_gaps(of(0, 1)), np.array([0, 1])),
    "a list of truth values with gaps": (lambda: with_gaps(of(False, True)), np.array([False, True])),
    "a tuple": (lambda: tuple(of(0, 1)), np.array([0, 1])),
    "a column of an array": (lambda: WHOLE[:, None], np.array([0, 1])),
    "a column of a list": (lambda: [[value] for value in of("no", "yes")], np.array(["no", "yes"], dtype=object)),
    "masked": (lambda: np.ma.array(WHOLE, mask=np.arange(N) < GAPS), np.array([0, 1])),
    "a series": (lambda: pandas.Series(WHOLE, index=np.arange(N)[::-1], name="y"), np.array([0, 1])),
    "an index": (lambda: pandas.Index(WHOLE), np.array([0, 1])),
    "a frame": (lambda: pandas.DataFrame({"y": WHOLE}), np.array([0, 1])),
    "nullable whole numbers": (lambda: pandas.array(with_gaps(of(0, 1)), dtype="Int8"), np.array([0, 1], np.int8)),
    "nullable truth values": (lambda: pandas.array(with_gaps(of(False, True)), "boolean"), np.array([False, True])),
    "nullable floats": (lambda: pandas.array(with_gaps(of(1.0, 2.0)), dtype="Float64"), np.array([1.0, 2.0])),
    "a category": (lambda: pandas.Categorical(of("low", "high"), ["low", "high"], ordered=True),
                   np.array(["high", "low"], dtype=object)),
    "a category of numbers": (lambda: pandas.Series(with_gaps(of(3, 7))).astype("category"), np.array([3.0, 7.0])),
    "intervals of time": (lambda: pandas.cut(TIMES, 2), np.array(sorted(set(pandas.cut(TIMES, 2))), dtype=object)),
    "intervals": (lambda: pandas.cut(pandas.Series(WHOLE), [-1, 0, 1]),
                  np.array([pandas.Interval(-1, 0), pandas.Interval(0, 1)], dtype=object)),
    "dates": (lambda: of(*DAYS), np.array(DAYS, dtype=object)),
    "times": (lambda: TIMES, np.unique(TIMES.to_numpy())),
    "times of a zone": (lambda: TIMES.tz_localize("Europe/Paris"),
                        np.array(sorted(set(TIMES.tz_localize("Europe/Paris"))), dtype=object)),
    "lengths of time": (lambda: pandas.to_timedelta(WHOLE, unit="D"),
                        np.unique(pandas.to_timedelta(WHOLE, unit="D").to_numpy())),
    "decimals": (lambda: of(decimal.Decimal("0.5"), decimal.Decimal("1.5")),
                 np.array([decimal.Decimal("0.5"), decimal.Decimal("1.5")], dtype=object)),
    "words and numbers": (lambda: of("one", 1), np.array([1, "one"], dtype=object)),
    "polars": (polars_series, np.array([0, 1])),
    "pyarrow": (arrow_array, np.array([0, 1])),
    "pyarrow in pandas": (lambda: pandas.Series(WHOLE, dtype="int16[pyarrow]"), np.array([0, 1], dtype=np.int16)),
    "truth values of pyarrow": (lambda: pandas.Series(of(False, True), dtype="bool[pyarrow]"), np.array([False, True])),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


def asked(X, y=None, **settings):
    """The question of a competition, with the labels of its classes."""
    frame, whole, own = _with_target(X, y, Settings(**settings))
    question, _ = _asked(frame, whole, None)
    return question._replace(labels=_labels(question, own, y))


def model_of(question):
    """What a competition makes of a pipeline, without the competition."""
    problem = question.problem
    pipeline = TablePipeline(TablePreparation(problem.columns), LogisticRegression()).fit(problem.typed, problem.y)
    fitted = in_label_order(pipeline, problem.classes, question.labels)
    return TableModel(pipeline, "y", fitted.names, labels=fitted.labels, codes=fitted.codes)


def same(found, expected):
    assert found.dtype == expected.dtype, found.dtype
    assert [type(value) for value in found] == [type(value) for value in expected]
    assert list(found) == list(expected)


@every_kind
def test_labels_keep_their_type_through_question_model_file_and_refit(kind, tmp_path):
    make, expected = KINDS[kind]
    question = asked(table(), make(), task="classification")
    model = model_of(question)
    same(model.classes_, expected)
    predicted = model.predict(table())
    assert predicted.dtype == expected.dtype and {type(value) for value in predicted} == {type(v) for v in expected}
    assert len(set(predicted.tolist())) == 2
    hyperplan.save(model, tmp_path / "model.zip")
    again = hyperplan.load(tmp_path / "model.zip")
    same(again.classes_, expected)
    assert list(again.predict(table())) == list(predicted)
    assert list(pickle.loads(pickle.dumps(model)).predict(table())) == list(predicted)
    refitted = TableModel(model.pipeline, "y", model.classes, codes=model.codes).fit(table(), make())
    same(refitted.classes_, expected)
    np.testing.assert_array_equal(refitted.predict_proba(table()), model.predict_proba(table()))


@every_kind
def test_labels_of_a_column_keep_their_type(kind):
    make, expected = KINDS[kind]
    y = make()
    y = pandas.Series(y) if isinstance(y, np.ma.MaskedArray) else y  # pandas has no masks: whole numbers become floats
    if (isinstance(y, np.ndarray) and (y.ndim > 1 or y.dtype.kind in "US")) or not hasattr(y, "dtype"):
        y = pandas.Series([value[0] if isinstance(value, list) else value for value in np.asarray(y, object).tolist()])
    y = y.to_pandas() if hasattr(y, "to_pandas") else y
    expected = expected.astype(object) if expected.dtype.kind in "US" else expected
    question = asked(table().assign(answer=y), target="answer", task="classification")
    found = model_of(question).classes_
    assert list(found) == list(expected) and (found.dtype.kind == expected.dtype.kind or y.dtype.kind == "f")


def test_enums_come_back_and_files_ask_for_their_class(tmp_path):
    model = model_of(asked(table(), of(Colour.RED, Colour.BLUE)))
    assert list(model.classes_) == [Colour.BLUE, Colour.RED] and model.classes == ("blue", "red")
    assert type(model.predict(table())[0]) is Colour
    with pytest.raises(ModelFileError, match="register_class"):
        hyperplan.save(model, tmp_path / "model.zip")
    register_class(Colour)
    hyperplan.save(model, tmp_path / "model.zip")
    assert type(hyperplan.load(tmp_path / "model.zip").predict(table())[0]) is Colour


def test_whole_numbers_of_a_file_stay_whole_beside_gaps(tmp_path):
    frame = table().assign(answer=with_gaps(of(0, 1)))
    frame.to_csv(tmp_path / "table.csv", index=False)
    assert "1.0" in (tmp_path / "table.csv").read_text()  # as pandas writes it
    same(model_of(asked(tmp_path / "table.csv", target="answer")).classes_, np.array([0, 1]))


@pytest.mark.parametrize(
    ("y", "positive"),
    [(of(0, 1), 0), (of(0, 1), 0.0), (of(0, 1), False), (of(0, 1), np.int8(0)), (of(False, True), False),
     (of(False, True), 0), (of(1.0, 2.0), 1), (of("no", "yes"), "no"), (of(*DAYS), "2020-01-01")],
)  # fmt: skip
def test_the_positive_class_is_found_by_its_value(y, positive):
    question = asked(table(), y, positive=positive)
    assert question.problem.classes[1] == str(question.labels[1]).removesuffix(".0")
    assert question.labels[1] == y[1] and model_of(question).classes_.tolist() == sorted(set(y))


@pytest.mark.parametrize(
    ("y", "words"),
    [("size", "target='size'"), (np.zeros((N, 2)), r"ndarray \(60, 2\)"), ({1, 2}, "set"), (3, "int"), ([1, 2], "60")],
)
def test_what_is_no_target_is_said(y, words):
    with pytest.raises(CompetitionError, match=words):
        asked(table(), y)


@pytest.fixture(scope="module")
def result() -> Competition:
    """Truth values with gaps, rows to test with their own, and the first class as the positive one."""
    y, test = pandas.array(with_gaps(of(False, True)), dtype="boolean"), table().assign(bought=ONES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", (2,))  # done long before its time is up
        return compete(table(), pandas.Series(y, name="bought"), test=test, time=60, positive=False, n_jobs=1,
                       candidates=["LogisticRegression"])  # fmt: skip


def test_predictions_of_a_competition_have_the_type_of_the_labels(result, tmp_path):
    assert {name: frame["prediction"].dtype for name, frame in result.predictions.items()} == {
        "test": np.dtype(bool), "unlabelled": np.dtype(bool)}  # fmt: skip
    assert result.best.score(table(), ONES) > 0.9 and result.document["chosen"]["holdout"]["value"] > 0.9
    for name, rows in (("test", table()), ("unlabelled", table()[:GAPS])):
        frame = result.predictions[name]
        np.testing.assert_array_equal(frame["prediction"], result.best.predict(rows))
        shares = frame[[f"probability_{value}" for value in result.best.classes_]]
        np.testing.assert_array_equal(shares, result.best.predict_proba(rows))
    folder = result.save(tmp_path / "out")
    assert pandas.read_csv(folder / "predictions.csv")["prediction"].dtype == bool
    assert hyperplan.load(folder / "model" / "model.hyperplan").predict(table()).dtype == bool
    assert json.loads((folder / "report.json").read_text())["data"]["target"]["classes"] == ["True", "False"]


def test_models_written_before_labels_answer_with_names(tmp_path):
    question = asked(table(), of("no", "yes"))
    pipeline = TablePipeline(TablePreparation(guess_columns(table())), LogisticRegression())
    old = TableModel(pipeline.fit(question.problem.typed, question.problem.y), "y", ("no", "yes"))
    del old.labels, old.codes
    hyperplan.save(old, tmp_path / "model.zip")
    assert set(hyperplan.load(tmp_path / "model.zip").predict(table())) == {"no", "yes"}
