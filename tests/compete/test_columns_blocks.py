"""Columns that are looked at together are what each would be alone."""

import numpy as np
import pytest

from hyperplan.compete import guess_columns, table_hash
from hyperplan.compete._columns import guess_column
from hyperplan.compete._columns_blocks import CELLS, float_views, plain_floats
from hyperplan.compete._columns_gaps import AMOUNTS, NULLS, WORDS
from hyperplan.compete._columns_values import _bare_words, bare_number, typed_columns, typed_values

pandas = pytest.importorskip("pandas")


def varied(dtype=np.float64):
    """Columns of floats of every sort, beside some of other types."""
    rng = np.random.default_rng(0)
    floats = rng.normal(size=(40, 16)).round(3)
    floats[::3, 1] = np.nan
    floats[:, 2] = np.nan
    floats[:, 3] = np.round(10 * floats[:, 3])
    floats[:5, 4] = -999
    floats[3, 5] = np.inf
    floats[:, 6] = 2.5
    floats[1:, 7] = np.nan
    floats[:, 8] = np.where(np.arange(40) % 2, 0.0, -0.0)
    floats[:, 9] = np.where(np.arange(40) % 2, 0.5, 0.25)
    floats[:20, 10] = np.nan
    floats[:, 11] = np.abs(floats[:, 11])
    floats[:2, 11] = -99.9
    floats[0, 12], floats[7, 12] = -0.0, 0.0
    floats[:, 13] = 1e20 * floats[:, 13]
    floats[:30, 14] = 1.25
    floats[0, 15] = -np.inf
    frame = pandas.DataFrame(floats.astype(dtype), columns=[f"f{j}" for j in range(16)])
    frame.insert(3, "whole", np.arange(40))
    frame.insert(7, "words", ["a", "b"] * 20)
    frame.insert(9, "dates", pandas.date_range("2020-01-01", periods=40))
    frame.attrs["notes"] = [{"key": "no_header"}]
    return frame


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("cells", [CELLS, 90])
def test_a_look_at_all_columns_finds_what_a_look_at_each_does(dtype, cells, monkeypatch):
    monkeypatch.setattr("hyperplan.compete._columns_blocks.CELLS", cells)
    frame = varied(dtype)
    assert set(frame.columns[list(plain_floats(frame))]) >= {"f0", "f1", "f9", "f10", "f12", "f14"}
    assert guess_columns(frame) == [guess_column(frame[name], name) for name in frame]


def test_a_table_without_rows_or_of_one_row():
    for rows in (0, 1):
        frame = varied().iloc[:rows]
        assert not plain_floats(frame)
        assert guess_columns(frame) == [guess_column(frame[name], name) for name in frame]


@pytest.mark.parametrize("rows", [slice(None), slice(5, 25), slice(None, None, 2)])
def test_typed_values_of_all_columns_are_those_of_each(rows):
    frame = varied().iloc[rows]
    columns = guess_columns(varied())
    typed = typed_columns(frame, columns)
    for column in columns:
        alone = typed_values(frame[column.name], column)
        assert typed[column.name].dtype == alone.dtype
        pandas.testing.assert_series_equal(pandas.Series(typed[column.name]), pandas.Series(alone))


def test_the_digest_does_not_depend_on_how_columns_lie_in_memory():
    frame = varied()
    apart = pandas.DataFrame(index=frame.index)
    for name in frame:
        apart[name] = frame[name].copy()
    assert len(float_views(frame)) == 16
    assert table_hash(frame) == table_hash(apart) == table_hash(frame.astype({"whole": float}))
    assert guess_columns(frame) == guess_columns(apart)


def test_floats_of_extension_types_are_left_to_the_rules_for_one_column():
    frame = varied().assign(nullable=pandas.array([0.5, None] * 20, dtype="Float64"))
    assert not plain_floats(frame)
    assert not float_views(frame)


def test_numbers_are_bared_together_as_each_alone():
    letters = np.random.default_rng(0).choice(list("0123456789.,$€-+( )%'\n"), size=(3000, 5))
    words = np.array([*map("".join, letters), "$5.00", "1,234.5", "$" + "1" * 500, "1" * 500, "-$3"], dtype=object)
    assert _bare_words(words).tolist() == [bare_number(word)[0] for word in words]
    assert _bare_words(np.array([], dtype=object)).tolist() == []


def test_no_word_for_a_gap_begins_as_an_amount():
    assert not any(word[0] in AMOUNTS for word in NULLS | WORDS)
