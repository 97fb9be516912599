"""Values behind their spelling: what stands for a missing one, spellings of one value, signs, rare classes."""

import json
import tomllib

import numpy as np
import pandas
import pytest

from hyperplan.compete import (
    Column,
    CompetitionError,
    Settings,
    SettingsError,
    audit,
    compete,
    guess_columns,
    guess_task,
    read_table,
    typed_target,
    typed_values,
)
from hyperplan.compete._audit_values import value_findings
from hyperplan.compete._columns import Told, guess_column
from hyperplan.compete._columns_gaps import number_gaps
from hyperplan.compete._columns_spelling import guess_spellings, new_spellings
from hyperplan.compete._columns_told import read_columns
from hyperplan.compete._columns_values import bare_number
from hyperplan.compete._question import make_question

ONE = ["LogisticRegression"]


def column_of(values, name="x", **told):
    return guess_column(pandas.Series(values), name, Told(**told))


def gaps_of(values):
    values, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    return number_gaps(values, counts)


@pytest.mark.parametrize(
    "values,gaps",
    [
        ([20, 35, 61, 44, -999, -999], [-999]),  # ages
        ([20, 35, 61, 44, -999], [-999]),  # once, but farther than anything else
        ([0.0, 25_000, 180_000, 64_000, -999, -999], [-999]),  # incomes: near, but nothing else is negative
        ([1, 2, 3, 4, 5, 2, 99, 99], [99]),  # a survey
        ([1, 2, 3, 4, 5, 2, 99, 98, 98, 99, 97, 97], [97, 98, 99]),  # with its other answers that are none
        ([0, 1, 1, 0, -999, -999], [-999]),
        ([3.5, 7.25, 9.1, 9999, 9999, -9999, -9999], [-9999, 9999]),
        ([12.1, 15.3, -3.2, -99.9, -99.9], [-99.9]),  # temperatures with negative ones
        ([1990, 2004, 2021, 9999, 9999], [9999]),  # valid until
        ([1, 2, 1, 2, -9, -9], [-9]),  # phenotypes
        ([5, 7, 9, 2147483647, 2147483647], [2147483647]),
        ([0.5, 0.7, 9.96921e36, 9.96921e36], [9.96921e36]),
        ([*range(30), *range(30), *[-1] * 40], [-1]),  # days since the last call, -1 for never
    ],
)
def test_numbers_that_stand_for_a_missing_value(values, gaps):
    assert gaps_of(values) == gaps


@pytest.mark.parametrize(
    "values",
    [
        [18, 25, 67, 88, 99, 99, 91],  # ages
        [-1, 0, 1, 0, 1, -1],  # levels
        [*range(-1, 30), -1, -1],  # floors, with a basement
        [549, 999, 999, 1299, 1499, 899],  # prices
        [0, 12, 870, 4051, 9990, 9999, 9999],  # counts that end at 9999
        [0, 2174, 14_084, 41_310, 99_999, 99_999],  # incomes that end at 99999
        [-12.5, -3, 4, 11, -9, -9],  # temperatures
        [-500, -99, -99, 250, 800],  # balances
        [-999, -999],  # nothing else
        [999, 999, 5, 5],  # one other value: nothing tells which of the two is none
        [95, 97, 98, 99, 99, 99.5],  # purity in percent
        [0, 255, 255, 128],
        [1, 5, 30, 250, 999, 4000, 77777],  # a long tail
        [],
        [np.nan, np.inf, 1.0, 2.0],
    ],
)
def test_honest_numbers_stay(values):
    assert gaps_of(values) == []


@pytest.mark.parametrize(
    "values,kind,gaps",
    [
        (["1", "2", "unknown", "3", "2"], "number", ("unknown",)),  # however few values
        (["1.5", "?", "N/A", "2.5", "n.a.", "3"], "number", ("?", "N/A", "n.a.")),
        (["10", "20", "Inconnu", "30", "-"], "number", ("Inconnu", "-")),
        (["2020-01-05", "unknown", "2021-02-01", "2020-07-08"], "date", ("unknown",)),
        (["-999", "unknown", "12", "15", "11", "-999"], "number", ("-999", "unknown")),
        (["-999,00", "12,5", "15,25", "11,0", "-999,00"], "number", ("-999",)),
        (["red", "unknown", "blue", "red"], "category", ()),  # a category as good as any
        (["red", "?", "blue", "red", "N/A"], "category", ("?", "N/A")),
        (["low", "high", "5", "low", "unknown"], "category", ()),  # words with a number among them
        (["+", "-", "+", "-"], "category", ()),  # an answer
        (["Na", "K", "Ca", "Na"], "category", ()),  # sodium
        (["1", "2", "5+", "2"], "category", ()),
        (["<5", "7", "9", "12"], "category", ()),
        (["5 kg", "7 kg", "9 kg", "5 kg"], "category", ()),
        (["1 2 3", "4 5 6", "7 8 9", "1 2 3"], "category", ()),  # not 123
        (["?", "?", "?"], "empty", ("?",)),
        (["3", "?", "3"], "category", ("?",)),
    ],
)
def test_words_that_stand_for_a_missing_value(values, kind, gaps):
    column = column_of(values)
    assert (column.kind, column.gaps) == (kind, gaps)
    assert column.missing == pytest.approx(np.mean([value in gaps or value == "-999,00" for value in values]))


def test_gaps_are_missing_in_new_rows_too():
    column = column_of([20.0, 35, 61, 44, -999, -999])
    assert np.isnan(typed_values(pandas.Series([-999, 30, -999.0]), column)).tolist() == [True, False, True]
    assert np.isnan(typed_values(pandas.Series(["-999", "30", "other"]), column)).tolist() == [True, False, True]
    words = column_of(["red", "?", "blue"])
    assert typed_values(pandas.Series(["?", "red", " ", None]), words).tolist() == [None, "red", None, None]
    dates = column_of(["2020-01-01", "2020-05-01", "2021-01-01"], gaps=("2020-01-01",))
    assert np.isnat(typed_values(pandas.Series(["2020-01-01", "2020-01-02"]), dates)).tolist() == [True, False]


def test_a_large_table_counts_the_gaps_of_all_rows(monkeypatch):
    monkeypatch.setattr("hyperplan.compete._columns.EXACT_ROWS", 10)
    frame = pandas.DataFrame({"x": [1.0, 2, 3, 4, 5, 6, 7, 8, -999, -999, *[-999] * 10]})
    assert guess_columns(frame)[0].missing == 0.6


@pytest.mark.parametrize(
    "words,merged",
    [
        (["yes", "YES", "no", "yes"], (("yes", ("YES",)),)),
        (["Y", "n", "y", "N", "y"], (("n", ("N",)), ("y", ("Y",)))),
        (["New York", "new  york", "NEW YORK", "Paris", "New York"], (("New York", ("new  york", "NEW YORK")),)),
        (["café", "cafe\u0301", "café"], (("café", ("cafe\u0301",)),)),
        (["a\u200bb", "ab", "ab"], (("ab", ("a\u200bb",)),)),
        (["iPhone", "iphone", "iPhone", "IPHONE"], (("iPhone", ("iphone", "IPHONE")),)),
        (["AA", "Aa", "aa"], ()),  # genotypes
        (["AABB", "AaBb", "aabb"], ()),
        (["a", "A", "b"], ()),
        (["a", "A", "red", "RED"], ()),  # case tells codes apart here
        (["x1", "X1", "X2"], ()),
        (["aBc", "AbC", "abc"], ()),
        (["a  b", "a b", "A B"], (("a  b", ("a b",)),)),  # blanks are never meant, case may be
        (["red", "blue"], ()),
        (["straße", "STRASSE", "straße"], (("straße", ("STRASSE",)),)),
    ],
)
def test_spellings_of_one_value(words, merged):
    found, counts = np.unique(np.array(words, dtype=object), return_counts=True)
    assert tuple(sorted(guess_spellings(list(found), counts))) == tuple(sorted(merged))


def test_new_spellings_are_known_values():
    assert new_spellings(["YES", " no", "A", "maybe"], ["yes", "no", "a"]) == {"YES": "yes", " no": "no"}
    assert new_spellings(["Red"], ["red", "RED"]) == {}  # kept apart: nobody knows which


def test_categories_are_read_with_one_spelling():
    column = column_of(["red", "RED", "blue", "red", "Blue", "blue"])
    assert column.distinct == 2 and column.merged == (("red", ("RED",)), ("blue", ("Blue",)))
    assert typed_values(pandas.Series(["RED", "Blue", "green"]), column).tolist() == ["red", "blue", "green"]


@pytest.mark.parametrize(
    "word,bare",
    [
        ("5", ("5", "")),
        ("-5%", ("-5", "%")),
        ("5 %", ("5", "%")),
        ("$-5", ("-5", "$")),
        ("-$5", ("-5", "$")),
        ("USD 5", ("5", "USD")),
        ("5 eur", ("5", "EUR")),
        ("($5)", ("-5", "$")),
        ("(1,234.50)", ("-1,234.50", "()")),
        ("1 234,50 €", ("1234,50", "€")),
        ("1\u202f234", ("1234", "")),
        ("1'234.5", ("1234.5", "")),
        ("\u22125", ("-5", "")),
        ("5 k", ("5 k", "")),
        ("(5", ("(5", "")),
        ("-(5)", ("-(5)", "")),
        ("5%5", ("5%5", "")),
        ("12 34", ("12 34", "")),
        ("$", ("$", "")),
        ("9" * 500, ("9" * 500, "")),
    ],
)
def test_signs_are_no_part_of_a_number(word, bare):
    assert bare_number(word) == bare


def test_amounts_are_read_as_numbers():
    column = column_of(["$1,234.50", "(200.00)", "$3", "1,000", "$1,23,456"])
    assert (column.kind, column.format) == ("number", "1,234.5")
    values = typed_values(pandas.Series(["$1,234.50", "(200.00)", "€5", "1,23,456"]), column)
    assert values.tolist() == [1234.5, -200.0, 5.0, 123456.0]
    column = column_of(["1 234,50 €", "12,30 €", "7,00 €"])
    assert typed_values(pandas.Series(["1 234,50 €", "-0,5 €"]), column).tolist() == [1234.5, -0.5]


def test_what_was_read_is_said_with_counts():
    frame = pandas.DataFrame(
        {
            "age": [20.0, 35, -999, 44, -999, 61],
            "dose": ["1", "2", "unknown", "3", "?", "4"],
            "colour": ["red", "RED", "blue", "red", "blue", "blue"],
            "price": ["$5", "€7", "$9", "$3", "8", "$4"],
            "rate": ["5%", "0.07", "9%", "3%", "(2%)", "4%"],
        }
    )
    found = {finding.code: finding for finding in value_findings(frame, guess_columns(frame))}
    assert (
        found["A31"].values["shown"] == "age: -999 (2); dose: unknown (1), ? (1)" and found["A31"].severity == "warning"
    )
    assert found["A32"].values["shown"] == "colour: red = RED (1)"
    assert found["A34"].values["shown"] == "price: $ (4), € (1); rate: % (5)"
    assert found["A35"].columns == ("price", "rate") and "rate: % (5), - (1)" in found["A35"].values["shown"]
    plain = pandas.DataFrame({"x": [1.0, 2], "z": ["a", "b"]})
    assert value_findings(plain, guess_columns(plain)) == []


def test_the_settings_say_otherwise():
    frame = pandas.DataFrame(
        {
            "age": [20.0, 35, -999, 44, -999, 61] * 4,
            "colour": ["red", "RED", "blue", "red", "Aa", "aa"] * 4,
            "amount": ["1.234", "5.678", "9.012", "3.456", "1.111", "2.222"] * 4,
            "day": [f"{d:02d}/0{m}/2020" for d in (1, 2, 3, 4, 5, 6, 7, 8) for m in (1, 2, 3)],
            "dose": ["1", "2", "lost", "3", "lost", "4"] * 4,
            "y": [0, 1] * 12,
        }
    )
    settings = Settings(
        target="y",
        missing={"age": [], "colour": ["blue"], "dose": ["lost"]},
        spellings={"colour": {"aa": ["Aa"]}},
        formats={"amount": "1.234,5", "day": "%m/%d/%Y"},
    )
    columns = {column.name: column for column in read_columns(frame, settings, "y")}
    assert columns["age"].gaps == () and typed_values(frame["age"], columns["age"]).min() == -999
    assert set(typed_values(frame["colour"], columns["colour"])) == {"red", "RED", "aa", None}
    assert typed_values(frame["amount"], columns["amount"])[0] == 1234
    assert typed_values(frame["day"], columns["day"])[1] == np.datetime64("2020-01-02")
    assert columns["dose"].kind == "number"  # what stands for a missing value decides about the kind
    with pytest.raises(SettingsError, match=r'"formats.amount" must be one of 1234.5, 1,234.5, 1.234,5'):
        read_columns(frame, Settings(formats={"amount": "1 234"}))
    with pytest.raises(SettingsError, match=r'"formats.day" reads few values as dates, for example not \'01/01/2020\''):
        read_columns(frame, Settings(formats={"day": "%Y-%m-%d"}))
    with pytest.raises(SettingsError, match=r'"formats.age" gives a format, but the column is of the kind number'):
        read_columns(frame, Settings(formats={"age": "1,234.5"}))
    with pytest.raises(SettingsError, match=r'"missing.agee" names the column \'agee\'.*did you mean age'):
        make_question(frame, Settings(target="y", missing={"agee": []}))


def test_a_kind_that_is_asked_for_counts_the_words_that_say_nothing():
    frame = pandas.DataFrame(
        {"x": ["a1", "b2", "unknown", "unknown", "unknown"], "z": ["5", "x1", "6", "unknown", "7"]}
    )
    columns = read_columns(frame, Settings(columns={"z": "number"}))
    assert columns[1].gaps == ("unknown",) and np.isnan(typed_values(frame["z"], columns[1])).sum() == 2
    with pytest.raises(SettingsError, match="most values are not of it, for example 'a1'"):
        read_columns(frame, Settings(columns={"x": "number"}))


def test_targets_with_gaps():
    numbers = pandas.Series([1.5, 2.5, -999, 3.25, -999], name="y")
    assert guess_task(numbers).value == "regression" and np.isnan(typed_target(numbers, "regression")).sum() == 2
    words = pandas.Series(["1.5", "unknown", "2.5", "4"], name="y")
    assert guess_task(words).value == "regression" and np.isnan(typed_target(words, "regression")).sum() == 1
    codes = pandas.Series([0, 1, 1, 0, -999], name="y")
    assert typed_target(codes, "classification").tolist() == ["0", "1", "1", "0", None]
    classes = pandas.Series([1, 2, 2, 1, 99, 99], name="y")  # a class may be called 99
    assert typed_target(classes, "classification").tolist()[-1] == "99"
    answers = pandas.Series(["yes", "no", "?", "YES", "unknown", "yes"], name="y")
    assert typed_target(answers, "classification").tolist() == ["yes", "no", None, "yes", "unknown", "yes"]


def table_with(target, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.resize(np.array(target, dtype=object), rows)
    return pandas.DataFrame({"a": rng.normal(size=rows) + (y == target[0]), "b": rng.normal(size=rows), "y": y})


def asked(frame, **settings):
    return make_question(frame, Settings(target="y", **settings))


def test_a_class_with_one_row_is_set_aside():
    frame = table_with(["cat", "dog"])
    frame.loc[[3, 4], "y"] = ["zebra", None]
    question = asked(frame)
    assert question.problem.classes == ("cat", "dog") and question.problem.n_rows == 58
    assert np.flatnonzero(question.rare.is_aside).tolist() == [3] and question.rare.counts == {"zebra": 1}
    assert np.flatnonzero(question.is_unlabelled).tolist() == [4]
    found = {f.code: f for f in audit(frame, question.columns, "y", "classification", rare=question.rare)}
    assert found["A33"].values["shown"] == "zebra (1)" and found["A10"].values["rows"] == 1 and "A09" not in found
    assert asked(frame, rare_rows=1).problem.classes == ("cat", "dog", "zebra")


def test_rare_classes_are_merged_if_that_is_asked():
    frame = table_with(["cat", "dog"])
    frame.loc[[3, 4, 5], "y"] = ["zebra", "yak", "gnu"]
    question = asked(frame, rare_classes="merge", rare_name="others")
    assert question.problem.classes == ("cat", "dog", "others") and question.rare.into == "others"
    assert not question.rare.is_aside.any() and np.bincount(question.problem.y)[2] == 3
    frame.loc[[3, 4], "y"] = "cat"  # one is left, which is no class
    question = asked(frame, rare_classes="merge", rare_name="others")
    assert question.problem.classes == ("cat", "dog") and question.rare.counts == {"gnu": 1}
    assert asked(frame, rare_classes="merge", rare_name="dog").problem.n_rows == 60  # into one that is there


def test_too_little_is_left_without_rare_classes():
    frame = table_with(["cat"])
    frame.loc[3, "y"] = "zebra"
    with pytest.raises(CompetitionError, match="the class 'zebra' of 'y' has only 1 row"):
        asked(frame)
    with pytest.raises(CompetitionError, match="in 31 of 60 rows 'y' has a value that occurs fewer than 2 times"):
        asked(table_with(["cat", "dog"]).assign(y=["cat", "dog"] * 14 + ["cat"] + [f"n{i}" for i in range(31)]))


@pytest.mark.parametrize("parts", [{"group": "g"}, {"time_column": "t"}], ids=["groups", "time"])
def test_rare_classes_are_set_aside_with_groups_and_time(parts):
    frame = table_with(["cat", "dog", "cow"]).assign(g=np.arange(60) // 6, t=np.arange(60) * 2.5)
    frame.loc[59, "y"] = "zebra"
    question = asked(frame, **parts)
    assert "zebra" not in question.problem.classes and question.problem.n_rows == 59
    codes = question.problem.groups if "group" in parts else question.problem.order
    assert len(codes) == 59


def test_the_positive_class_may_be_spelt_otherwise():
    frame = table_with(["yes", "no", "yes", "no", "YES"])
    assert asked(frame, positive="YES").problem.classes == ("no", "yes")
    assert asked(frame, spellings={"y": {}}).problem.classes == ("YES", "no", "yes")


def test_a_run_says_it_writes_it_and_reads_new_rows_alike(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(rng.normal(size=90) > 0, "yes", "no").astype(object)
    frame = pandas.DataFrame({"age": np.where(np.arange(90) % 9 == 0, -999, rng.integers(20, 70, 90)), "y": y})
    frame["dose"] = np.where(np.arange(90) % 10 == 0, "unknown", rng.integers(1, 6, 90).astype(str))
    frame["colour"] = np.where(y == "yes", "red", "blue")
    frame.loc[[0, 1], "colour"] = ["RED", "Blue"]
    frame.loc[[2, 3, 4], "y"] = ["YES", "zebra", "No"]
    test = frame.head(8).assign(y=["yes", "no", "YES", "zebra", "gnu", "no", "yes", "NO"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = compete(tmp_path / "t.csv", target="y", test=test, time=3, candidates=ONE, n_jobs=1)
    found = {finding["code"]: finding["values"] for finding in result.document["audit"]}
    assert found["A31"]["shown"] == "age: -999 (10); dose: unknown (9)" and found["A33"]["rows"] == 1
    assert result.document["data"]["set_aside"] == 1 and result.document["data"]["unlabelled"] == 0
    assert result.document["chosen"]["holdout"]["rows"] == 6 and found["A37"]["shown"] == "zebra (1), gnu (1)"
    folder = result.save(tmp_path / "out", str(tmp_path / "t.csv"))
    written = tomllib.loads((folder / "settings.toml").read_text(encoding="utf-8"))
    assert written["missing"] == {"age": [-999], "dose": ["unknown"]}
    assert written["spellings"]["colour"] == {"red": ["RED"], "blue": ["Blue"]} and "y" not in written["columns"]
    asked_again = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))["settings"]
    again = make_question(
        read_table(tmp_path / "t.csv"), Settings(**{k: v for k, v in asked_again.items() if v is not None})
    )
    assert [column.gaps for column in again.columns] == [column.gaps for column in result.question.columns]
    new = pandas.DataFrame(
        {"age": [-999, -999, -999], "dose": ["unknown", "?", "nan"], "colour": ["RED", "red", "RED"]}
    )
    shares = result.best.predict_proba(new)
    assert (shares == shares[0]).all()


def test_columns_of_earlier_model_files_have_no_gaps():
    old = Column("a", "number", "number", "float64", 0.0, 3)
    assert old.gaps == () and typed_values(pandas.Series([-999.0]), old).tolist() == [-999.0]
