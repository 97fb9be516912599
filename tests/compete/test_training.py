"""What is kept of the training rows, and what it tells of new ones: drift, and rows to be doubted."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from hyperplan.compete import guess_columns  # noqa: E402
from hyperplan.compete._columns_values import typed_values  # noqa: E402
from hyperplan.compete._row_notes import joined, noted_rows, row_notes  # noqa: E402
from hyperplan.compete._training import (  # noqa: E402
    FEWEST_ROWS,
    KNOWN_LEVELS,
    MOST_VALUES,
    drifted_columns,
    known_levels,
    summarise,
    training_range,
)


def table(n, seed=0, shift=0.0, levels=5, holes=0.1):
    draw = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "size": np.where(draw.random(n) < holes, np.nan, draw.normal(shift, 1.0, n)),
            "price": np.exp(draw.normal(0.0, 2.0, n)),
            "whole": draw.poisson(3.0, n) * 1.5,
            "town": draw.choice([f"town {k}" for k in range(levels)], n, p=_falling(levels)),
            "day": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(draw.integers(0, 700, n), "D"),
        }
    )


def _falling(n):
    shares = 1.0 / np.arange(1, n + 1)
    return shares / shares.sum()


KINDS = {"size": "number", "price": "number", "whole": "number", "town": "category", "day": "date"}


def trained(frame):
    columns = [column._replace(kind=KINDS[column.name]) for column in guess_columns(frame)]
    return columns, summarise(columns, {c.name: typed_values(frame[c.name], c) for c in columns}, ["id"])


@pytest.mark.parametrize(("n", "levels"), [(60, 3), (400, 5), (8000, 40), (8000, 900)])
def test_neither_samples_of_the_training_rows_nor_rows_of_the_same_kind_drift(n, levels):
    frame = table(n, levels=levels)
    columns, training = trained(frame)
    assert drifted_columns(training, columns, frame) == []
    alarms = 0
    for seed in range(1, 21):
        part = frame.sample(max(n // 3, FEWEST_ROWS), random_state=seed)
        assert drifted_columns(training, columns, part) == []
        alarms += bool(drifted_columns(training, columns, table(300, seed, levels=levels)))
    assert alarms <= 1  # one table in a hundred by chance


@pytest.mark.parametrize("n", [300, 8000])
def test_columns_that_moved_are_named_the_farthest_first(n):
    columns, training = trained(table(n))
    moved = table(400, 1, shift=0.8, holes=0.1).assign(price=lambda frame: frame["price"] * 50)
    assert drifted_columns(training, columns, moved) == ["price", "size"]
    assert drifted_columns(training, columns, moved.head(FEWEST_ROWS - 1)) == []  # of few rows nobody can tell
    assert drifted_columns(training, columns, table(400, 2, holes=0.6)) == ["size"]
    assert drifted_columns(training, columns, table(400, 2).assign(town="town 4")) == ["town"]
    assert drifted_columns(training, columns, table(400, 2).assign(town="nowhere")) == ["town"]
    later = table(400, 2).assign(day=lambda frame: frame["day"] + pandas.Timedelta(days=500))
    assert drifted_columns(training, columns, later) == ["day"]


def test_a_column_that_was_empty_in_training_drifts_when_it_is_filled():
    frame = table(200).assign(size=np.nan)
    columns, training = trained(frame)
    assert training_range(training.columns["size"], "number") is None
    assert drifted_columns(training, columns, frame) == []
    assert drifted_columns(training, columns, table(200)) == ["size"]


def test_what_is_kept_is_small_whatever_the_table():
    columns, training = trained(table(20_000, levels=900))
    assert len(training.columns["size"]["values"]) == MOST_VALUES and len(training.columns["town"]["counts"]) == 200
    codes = np.array([f"c{k}" for k in range(KNOWN_LEVELS + 5)], dtype=object)
    many = summarise([columns[3]], {"town": codes})
    assert known_levels(many.columns["town"]) is None and len(many.columns["town"]["levels"]) == KNOWN_LEVELS + 1
    frame = table(50).assign(town="somewhere else")
    assert row_notes(frame, [columns[3]], many) == {}  # of too many levels nobody says that one is new


def test_ends_of_the_training_range_are_kept_exactly():
    frame = table(5000)
    _, training = trained(frame)
    assert training_range(training.columns["price"], "number") == (frame["price"].min(), frame["price"].max())
    low, high = training_range(training.columns["day"], "date")
    assert (high - low) == (frame["day"].max() - frame["day"].min()).days


def odd_rows():
    frame = table(8, 3, holes=0.0).astype({"town": object})
    frame.loc[1, ["size", "price", "whole"]] = np.nan
    frame.loc[1, "town"], frame.loc[1, "day"] = None, pandas.NaT
    frame.loc[2, "town"] = "Atlantis"
    frame.loc[3, ["size", "price"]] = [np.inf, -np.inf]
    frame.loc[4, "size"] = 1e300
    frame.loc[5, "day"] = pandas.Timestamp("1890-01-01")
    frame["size"] = frame["size"].astype(object)
    frame.loc[6, "size"] = "n.a. today"
    return frame


def test_each_odd_row_is_noted_with_its_columns():
    columns, training = trained(table(400))
    notes = row_notes(odd_rows(), columns, training)
    found = {code: {name: rows.tolist() for name, rows in parts.items()} for code, parts in notes.items()}
    assert found == {
        "empty": {"": [1]},
        "unknown": {"": [2]},
        "infinite": {"size": [3], "price": [3]},
        "far": {"size": [4], "day": [5]},
        "unreadable": {"size": [6]},
    }
    assert row_notes(table(300, 5).sample(50, random_state=0), columns, training) == {}


def test_what_stood_for_missing_in_training_is_missing_in_new_rows():
    frame = table(200)
    columns, training = trained(frame)
    columns = [c._replace(gaps=("-999", "?")) if c.name == "size" else c for c in columns]
    asked = table(6, 1, holes=0.0).astype({"size": object})
    asked.loc[:2, "size"] = ["-999", "?", "who knows"]
    notes = row_notes(asked, columns, training)
    assert {code: {name: rows.tolist() for name, rows in parts.items()} for code, parts in notes.items()} == {
        "unreadable": {"size": [2]}
    }


def test_of_two_categories_one_may_be_new():
    frame = table(100).assign(colour=lambda frame: np.where(frame["size"] > 0, "red", "blue"))
    columns = [c for c in guess_columns(frame) if c.name in ("town", "colour")]
    training = summarise(columns, {c.name: typed_values(frame[c.name], c) for c in columns})
    asked = pandas.DataFrame(
        {"town": ["town 0", "Atlantis", "Atlantis", None], "colour": ["red", "red", "grey", "grey"]}
    )
    notes = row_notes(asked, columns, training)
    assert notes["unseen"]["town"].tolist() == [1] and notes["unknown"][""].tolist() == [2, 3] and len(notes) == 2


def test_notes_of_parts_are_those_of_the_whole():
    columns, training = trained(table(400))
    frame = pandas.concat([odd_rows()] * 3, ignore_index=True)
    whole = row_notes(frame, columns, training)
    parts = joined([(first, row_notes(frame.iloc[first : first + 5], columns, training)) for first in range(0, 24, 5)])
    assert whole.keys() == parts.keys()
    for code, rows in whole.items():
        np.testing.assert_array_equal(noted_rows(rows), noted_rows(parts[code]))


def test_without_a_summary_only_what_the_row_itself_tells_is_noted():
    columns, _ = trained(table(400))
    assert set(row_notes(odd_rows(), columns, None)) == {"empty", "infinite", "unreadable"}
    assert row_notes(odd_rows(), (), None) == {}  # a baseline looks at no column
