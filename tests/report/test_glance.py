"""Columns at a glance and typical errors: bars and numbers that say what is there."""

import numpy as np
import pandas as pd
import pytest

from hyperplan.compete._columns import guess_columns
from hyperplan.compete._document import _histogram, column_glance
from hyperplan.compete._explain import _grid, _plain
from hyperplan.report._names import readable
from hyperplan.report._views_data import column_card
from hyperplan.report._views_quality import classification_view, regression_view
from hyperplan.report._wording import Wording

ENGLISH, FRENCH = Wording("en"), Wording("fr")


def card(values, kind="number", wording=ENGLISH):
    column = {"name": "x", "kind": kind, "why": "", "used": True, "missing": 0.0, "distinct": len(set(values))}
    return column_card(column | {"top": None} | _histogram(np.asarray(values, dtype=float)), wording, len(values))


def test_few_whole_numbers_have_a_bar_each():
    found = _histogram(np.repeat(np.arange(1.0, 8.0), 3))
    assert found["counts"] == [3] * 7
    shown = card([1, 2, 2, 3, 7])
    assert shown["range"] == ["1", "median 2", "7"]
    assert "<title>2: 2</title>" in shown["svg"] and "<title>5: 0</title>" in shown["svg"]


def test_values_far_away_are_counted_and_said_to_be_beyond_the_ends():
    values = [*np.linspace(0.05, 9.95, 998), 500.5, -80.5]
    found = _histogram(np.asarray(values))
    assert sum(found["counts"]) == 1000 and (found["low"], found["high"]) == (-80.5, 500.5)
    low, median, high = card(values)["range"]
    assert low.startswith("≤\u00a0") and high.startswith("≥\u00a0") and median == "median 5.00"
    assert card(np.linspace(0.25, 0.75, 999), wording=FRENCH)["range"][1] == "médiane 0,500"


@pytest.mark.parametrize("values", [[0.0], [1e-7, 2e-7, 5e-7], [-1e12, 1e12]])
def test_any_numbers_have_ends_that_differ_if_they_do(values):
    ends = card(values)["range"]
    assert (ends[0] == ends[-1]) == (len(set(values)) == 1)


def test_dates_are_drawn_between_dates():
    frame = pd.DataFrame({"day": pd.date_range("2011-01-01", periods=100).astype(str), "y": range(100)})
    column = next(column for column in guess_columns(frame) if column.name == "day")
    found = column_glance(frame, column, 0)
    assert column.kind == "date" and sum(found["counts"]) == 100
    shown = column_card(found | {"used": True}, ENGLISH, 100)
    assert shown["range"] == ["2011-01-01", "2011-04-10"] and shown["svg"]


def test_typical_errors_are_said_in_the_unit_of_the_target(build):
    document = build("regression")
    found = document["regression"]
    found["predicted"] = [true + 10.0 * (k % 10) for k, true in enumerate(found["true"])]
    words = regression_view(readable(document, ENGLISH), ENGLISH)["spread"]
    assert "off by less than 50" in words and "nine in ten by less than 90" in words


def test_of_many_classes_the_calibration_is_that_of_the_predicted_one(build):
    parts = {"predicted": [0.5, 0.9], "observed": [0.4, 1.0], "counts": [10, 30], "low": [0.1, 0.9], "high": [0.7, 1.0]}
    for name, wanted in (("binary", "Brier"), ("multiclass", "has a probability of 80% and is right in 85%")):
        document = build(name)
        document["classification"]["calibration"] = parts | {"brier": 0.1}
        shown = classification_view(readable(document, ENGLISH), ENGLISH)["calibration"]
        assert wanted in shown["note"] and ("class it predicts" in shown["read"]) == (name == "multiclass")


def test_a_matrix_with_long_names_or_many_classes_has_room(build):
    document = build("binary")
    for classes, broad, short in (
        (["a", "b"], False, True),
        (list("abcdefg"), True, True),
        (["x" * 9] * 5, True, False),
    ):
        size = len(classes)
        document["classification"] |= {"classes": classes, "confusion": [[1] * size] * size}
        shown = classification_view(readable(document, ENGLISH), ENGLISH)["confusion"]
        assert (shown["broad"], shown["short"]) == (broad, short)


def test_classes_without_a_curve_are_not_called_all(build):
    document = build("binary")
    found = document["classification"]
    curve = found["roc"][0]
    found |= {"classes": [str(k) for k in range(40)], "confusion": None, "positive": None}
    found["roc"] = [curve | {"class": str(k)} for k in range(30)]
    view = classification_view(readable(document, ENGLISH), ENGLISH)
    assert view["curves"][0]["all"] == "The 30 most frequent classes"


def test_times_below_what_is_shown_are_not_zero():
    assert ENGLISH.seconds(1e-5) == "<\u00a00.1\u00a0ms" and ENGLISH.seconds(0.0001) == "0.1\u00a0ms"


def test_a_grid_of_dates_keeps_their_kind_and_counts_rows_per_time():
    days = np.arange("2011-01-01", "2011-12-31", dtype="datetime64[D]").astype("datetime64[ns]")
    kind, grid, density = _grid(np.append(days, np.datetime64("NaT")))
    assert kind == "date" and grid.dtype == days.dtype and _plain(grid[0]) == "2011-01-08"
    assert (np.diff(grid) > np.timedelta64(0)).all()
    np.testing.assert_allclose(density[1:-1], np.mean(density[1:-1]), rtol=0.1)  # as many rows on each day
