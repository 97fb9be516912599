"""What columns are taken for, and why; what the target asks."""

import uuid

import numpy as np
import pytest

from hyperplan._texts import LANGUAGES, area_texts, text
from hyperplan.compete import (
    Column,
    SettingsError,
    TableError,
    guess_columns,
    guess_metric,
    guess_task,
    read_table,
    typed_frame,
    typed_target,
    typed_values,
    with_kinds,
)
from hyperplan.compete._columns import guess_column, is_id_name, name_parts
from hyperplan.compete._columns_values import as_words, date_format, number_format
from hyperplan.datasets import table_path

pandas = pytest.importorskip("pandas")
ROWS = 60
RNG = np.random.default_rng(0)


def cycle(values, rows=ROWS):
    return [values[k % len(values)] for k in range(rows)]


CASES = {
    "nothing": ([None] * ROWS, "empty", "all_missing"),
    "same": ([3] * ROWS, "constant", "one_value"),
    "flag": (cycle(["x", None]), "category", "one_value_or_missing"),
    "is_member": (cycle([True, False]), "category", "boolean"),
    "answer": (cycle(["Yes", "no"][:1] + ["No"]), "category", "boolean"),
    "reponse": (cycle(["oui", "non", None]), "category", "boolean"),
    "weight": (RNG.normal(size=ROWS), "number", "number"),
    "sex_code": (cycle([1, 2]), "number", "two_values"),
    "amount": (RNG.integers(0, 30, ROWS), "number", "whole_numbers"),
    "pclass": (cycle([1, 2, 3]), "number", "few_whole_numbers"),
    "answer_to": (cycle([10, 15, 77], 600), "category", "few_codes"),
    "rounded": (cycle([10, 20, 30], 600), "number", "few_whole_numbers"),
    "product_type": (cycle([1, 2, 3, 4]), "category", "code_name"),
    "thing": (cycle((RNG.permutation(20) * 4321 + 117_903).tolist(), 200), "category", "large_codes"),
    "salary": (cycle((np.arange(20) * 1000 + 20_000).tolist(), 200), "number", "whole_numbers"),
    "PassengerId": (RNG.permutation(1000)[:ROWS], "id", "id_name"),
    "customer_id": (cycle([5, 7, 9, 13]), "category", "id_repeated"),
    "anything": (np.arange(ROWS) + 17, "id", "consecutive"),
    "shuffled": (RNG.permutation(ROWS), "id", "consecutive"),
    "sparse": (np.cumsum(RNG.integers(1, 3, ROWS)), "id", "increasing"),
    "year": (np.arange(1950, 1950 + ROWS), "number", "whole_numbers"),
    "token": ([str(uuid.UUID(int=k, version=4)) for k in range(ROWS)], "id", "uuid"),
    "ticket": ([f"A{k:03}" for k in range(ROWS)], "id", "unique_words"),
    "when": (pandas.date_range("2020-01-01", periods=ROWS), "date", "date_type"),
    "order_date": ([int(f"2020{m:02}{d:02}") for m in range(1, 7) for d in range(1, 11)], "date", "date_number"),
    "stored": (pandas.Categorical(cycle(["a", "b"])), "category", "category_type"),
    "price": (cycle(["1,234", "12,345.50", "7"]), "number", "number_text"),
    "prix": (cycle(["1.234,5", "7,25", "12.345.678"]), "number", "number_text"),
    "cost": (cycle(["$5.20", "$ 7.00", "12 %"]), "number", "number_text"),
    "zip": (cycle(["01234", "99999", "10000"]), "category", "few_words"),
    "mostly": ([str(k * 1.5) for k in range(59)] + ["broken"], "number", "mostly_numbers"),
    "remark": ([f"the {k}th letter came late in spring" for k in range(ROWS)], "text", "sentences"),
    "full_name": ([f"Smith, Mr. John {k}" for k in range(ROWS)], "text", "sentences"),
    "colour": (cycle(["red", "green", "blue"]), "category", "few_words"),
    "town": (cycle([f"town {k}" for k in range(55)], 120), "category", "many_words"),
    "mixed": (cycle([1, "a", 2.5, True]), "category", "few_words"),
    "holes": (cycle([1.0, np.inf, np.nan]), "number", "number"),
}


@pytest.mark.parametrize("name", CASES)
def test_kind_and_reason(name):
    values, kind, why = CASES[name]
    column = guess_columns(pandas.DataFrame({name: values}))[0]
    assert (column.kind, column.why) == (kind, why)


def test_every_reason_has_its_words_and_every_word_a_reason():
    import inspect

    from hyperplan.compete import _columns, _columns_task, _question

    source = "".join(map(inspect.getsource, (_columns, _columns_task, _question)))
    for language in LANGUAGES:
        words = area_texts("columns", language)
        for table in ("why", "guess"):
            assert all(f'"{key}"' in source for key in words[table])
    assert {why for _, _, why in CASES.values()} <= set(area_texts("columns")["why"])


DATES = {
    "2020-01-31": "%Y-%m-%d",
    "2020/01/31": "%Y/%m/%d",
    "31/01/2020": "%d/%m/%Y",
    "01/31/2020": "%m/%d/%Y",
    "31.01.2020": "%d.%m.%Y",
    "31-Jan-2020": "%d-%b-%Y",
    "31 Jan 2020": "%d %b %Y",
    "31 January 2020": "%d %B %Y",
    "Jan 31, 2020": "%b %d, %Y",
    "31/01/20": "%d/%m/%y",
    "2020-01-31 10:30": "%Y-%m-%d %H:%M",
    "2020-01-31T10:30:05Z": "%Y-%m-%d %H:%M:%S",
    "2020-01-31T10:30:05+01:00": "%Y-%m-%d %H:%M:%S",
    "01/31/2020 3:30 PM": "%m/%d/%Y %I:%M %p",
    "01/31/2020 3:30PM": "%m/%d/%Y %I:%M %p",
}


@pytest.mark.parametrize("text", DATES)
def test_dates_in_several_formats(text):
    form, is_ambiguous = date_format([text])
    assert form == DATES[text] and not is_ambiguous
    column = guess_column(pandas.Series([text, None] * 20 + [text.replace("31", "28")] * 20), "d")
    assert column.kind == "date" and column.format == DATES[text]
    found = typed_values(pandas.Series([text, None]), column)
    assert found[0].astype("datetime64[D]") == np.datetime64("2020-01-31") and np.isnat(found[1])


def test_days_and_months_that_could_be_exchanged_are_said():
    days = pandas.date_range("2021-01-01", "2021-12-12", freq="W")
    words = [day.strftime("%m/%d/%Y") for day in days if day.day <= 12]
    column = guess_column(pandas.Series(words), "d")
    assert column.why == "date_ambiguous" and column.format == "%m/%d/%Y"  # in this reading the rows are in order


def test_a_new_table_is_read_as_the_first_was():
    column = guess_column(pandas.Series(["25/12/2020", "01/02/2021"] * 20), "d")
    day = typed_values(pandas.Series(["03/04/2021"]), column)[0]
    assert day.astype("datetime64[D]") == np.datetime64("2021-04-03")
    column = guess_column(pandas.Series(["1.234,5", "7,25"] * 20), "x")
    np.testing.assert_array_equal(
        typed_values(pandas.Series(["1.000", "2", None, "x"]), column), [1000, 2, np.nan, np.nan]
    )


@pytest.mark.parametrize(
    "words,form",
    [
        (["1", "2.5", "-3e5", "inf"], "1234.5"),
        (["1,234", "5"], "1,234.5"),
        (["1,5", "2,25"], "1.234,5"),
        (["1 234", "2 000 000"], "1234.5"),
        (["1,2,3"], None),
        (["0123", "4567"], None),
        (["2020-01-01"], None),
    ],
)
def test_formats_of_numbers(words, form):
    found, share = number_format(words)
    assert (share == 1.0) == (form is not None) and (form is None or found == form)


def test_words_of_categories_do_not_depend_on_the_type():
    assert as_words(pandas.Series([3, 4])).tolist() == ["3", "4"]
    assert as_words(pandas.Series([3.0, np.nan])).tolist() == ["3", None]
    assert as_words(pandas.Series([True, False])).tolist() == as_words(pandas.Series(["True", "False "])).tolist()
    assert as_words(pandas.Series([3, "b", None], dtype=object)).tolist() == ["3", "b", None]
    assert as_words(pandas.Series([1.5])).tolist() == ["1.5"]


def test_typed_frame_leaves_out_what_is_not_learnt_from():
    frame = pandas.DataFrame({name: CASES[name][0] for name in ("PassengerId", "same", "price", "colour", "when")})
    typed = typed_frame(frame, guess_columns(frame))
    assert list(typed.columns) == ["price", "colour", "when"]
    assert typed["price"].dtype == float and typed["price"][1] == 12345.5 and typed["colour"].dtype == object


def test_shares_counts_and_examples():
    frame = pandas.DataFrame({"a": ["x", None, "y", "x"], "y": 1})
    (column,) = guess_columns(frame, "y")
    assert column == Column("a", "category", "few_words", str(frame["a"].dtype), 0.25, 2, ("x", "y"), "")


def test_distinct_values_of_a_long_table_are_counted_on_its_beginning(monkeypatch):
    monkeypatch.setattr("hyperplan.compete._columns.EXACT_ROWS", 50)
    column = guess_columns(pandas.DataFrame({"a": [1.5] * 50 + [np.nan] * 50}))[0]
    assert column.distinct == 1 and column.missing == 0.5


def test_names():
    assert name_parts("PassengerId") == ["passenger", "id"] == name_parts("passenger_id")
    assert all(map(is_id_name, ["ID", "userId", "USER_ID", "row index", "Unnamed: 0", "id_client"]))
    assert not any(map(is_id_name, ["idea", "paid", "width", "identity_theft", "solid"]))


def test_penguins():
    kinds = {column.name: column.kind for column in guess_columns(read_table(table_path("penguins")), "species")}
    assert kinds["island"] == kinds["sex"] == "category"
    assert {kinds[name] for name in ("bill_length_mm", "body_mass_g", "year")} == {"number"} and len(kinds) == 7


# The target


@pytest.mark.parametrize(
    "values,task,why",
    [
        (cycle(["a", "b", "c"]), "classification", "task_words"),
        (cycle([True, False]), "classification", "task_two_values"),
        (cycle([2, 4]), "classification", "task_two_values"),
        (cycle([0.5, 1.5]), "classification", "task_two_values"),
        (RNG.normal(size=ROWS), "regression", "task_fractions"),
        (cycle([0, 1, 2, 3, np.nan]), "classification", "task_few_whole_numbers"),
        (cycle([1, 2, 3, 5, 6, 7]), "classification", "task_few_whole_numbers"),
        (cycle([-1, 0, 1]), "classification", "task_few_whole_numbers"),
        (cycle([3, 4, 5, 6, 7]), "regression", "task_whole_numbers"),
        (RNG.poisson(3, 400), "regression", "task_whole_numbers"),
        (RNG.integers(0, 10_000, ROWS), "regression", "task_whole_numbers"),
        ([f"{k},{k:03}" for k in range(1, ROWS)], "regression", "task_whole_numbers"),
        (cycle(["2020-01-01", "2020-01-02", "2020-01-03"]), "classification", "task_words"),
    ],
)
def test_task(values, task, why):
    guess = guess_task(pandas.Series(values, name="y"))
    assert (guess.value, guess.why) == (task, why) and guess.why in area_texts("columns")["guess"]


@pytest.mark.parametrize(
    "task,y,metric",
    [
        ("classification", cycle([0, 1]), "roc_auc"),
        ("classification", cycle(["a", "b", "c", None]), "neg_log_loss"),
        ("classification", ["a"] * 100 + ["b"] * 50 + ["c"] * 5, "balanced_accuracy"),
        ("regression", RNG.normal(size=100), "r2"),
        ("regression", RNG.normal(size=30), "neg_root_mean_squared_error"),
    ],
)
def test_metric(task, y, metric):
    guess = guess_metric(task, y)
    assert guess.value == metric
    assert text(f"columns.guess.{guess.why}", **guess.values)


def test_typed_target():
    assert typed_target(pandas.Series([1, 2, None]), "classification").tolist() == ["1", "2", None]
    np.testing.assert_array_equal(typed_target(pandas.Series(["1,000", None, "2"]), "regression"), [1000, np.nan, 2])
    with pytest.raises(TableError, match=r"'y' is to be a number, but row 2 holds 'cheap' \(1 such row\)"):
        typed_target(pandas.Series(["1.5", "cheap", "2"], name="y"), "regression")


def test_tasks_of_many_real_tables():
    import csv
    import os
    import pathlib

    folder = pathlib.Path(os.environ.get("HYPERPLAN_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))
    index = folder / "pmlb" / "PMLB_INDEX.csv"
    if not index.exists():
        pytest.skip("the PMLB tables are not here")
    with index.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if (index.parent / f"{row['name']}.csv.gz").exists()]
    tasks = [(guess_task(read_table(index.parent / f"{row['name']}.csv.gz")["target"]).value, row) for row in rows[::3]]
    wrong = [row["name"] for task, row in tasks if task != row["task"]]
    assert len(wrong) <= 0.1 * len(tasks), wrong  # a few targets can be read both ways: a count of rings, a grade


def test_times_beyond_what_nanoseconds_count_stay_first_and_last():
    words = ["9999-12-31", "2020-01-05", "0001-01-01", None] * 10
    for series in (pandas.Series(words), pandas.Series(words).astype("datetime64[s]")):
        column = guess_column(series, "until")
        found = typed_values(series, column)[:4]
        assert column.kind == "date" and found[0] > found[1] > found[2] and np.isnat(found[3])
        assert found[1].astype("datetime64[D]") == np.datetime64("2020-01-05")


@pytest.mark.parametrize(
    "values,kind,shown",
    [
        ([0.126, -1.5, 3.25], "date", "'0.126'"),
        ([1577836800, 1577836801], "date", "'1577836800'"),
        (["red", "blue", "7"], "number", "'red'"),
        (["red", "2020-01-01", "blue"], "date", "'red'"),
    ],
)
def test_a_kind_that_would_lose_the_values_is_refused(values, kind, shown):
    frame = pandas.DataFrame({"x": values * 10})
    with pytest.raises(SettingsError, match=rf"columns\.x.* {kind}, .*for example {shown}"):
        with_kinds(frame, guess_columns(frame), {"x": kind})


@pytest.mark.parametrize("values", [[1999, 2020], [20200131, 19990102], ["2020", "1999"], ["2020-01-31", "1999-05-06"]])
def test_years_and_days_may_be_dates(values):
    frame = pandas.DataFrame({"x": values * 10})
    (column,) = with_kinds(frame, guess_columns(frame), {"x": "date"})
    assert not np.isnat(typed_values(frame["x"], column)).any()


TARGETS = {
    "two classes": ("classification", list("ab") * 20),
    "three or more classes": ("classification", list("abc") * 20),
    "three or more classes, the largest at least 10 times the smallest": ("classification", list("aaaaaaaaaabc") * 5),
    "a number, 60 rows or more": ("regression", [float(k) for k in range(60)]),
    "a number, fewer than 60 rows": ("regression", [float(k) for k in range(59)]),
}


def test_the_table_of_the_guide_is_what_is_guessed(root):
    guide = (root / "docs" / "guide" / "competition.md").read_text(encoding="utf-8")
    table = guide.partition("| target | metric |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ")[:2] for line in table.splitlines()[2:]]
    assert [name for name, _ in rows] == list(TARGETS)
    assert {name: metric.strip("`") for name, metric in rows} == {
        name: guess_metric(*target).value for name, target in TARGETS.items()
    }
