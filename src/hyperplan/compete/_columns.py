"""What each column is: a number, a category, a date, text, an identifier, or nothing of use; and why.

Only the values of the column itself and its name decide, never the target, so that no guess can leak it.
"""

import re
from typing import NamedTuple

import numpy as np

from hyperplan.compete._columns_blocks import plain_floats, without_notes
from hyperplan.compete._columns_gaps import found_nulls, found_words, gap_numbers, number_gaps, number_word
from hyperplan.compete._columns_spelling import TRUTHS, guess_spellings
from hyperplan.compete._columns_values import (
    DECIDED,
    LOOKED_AT,
    as_words,
    beginnings,
    date_format,
    number_format,
    parse_numbers,
    typed_values,
)

EXACT_ROWS = 200_000  # beyond, distinct values are counted on so many rows
FEW_ROWS = 10  # with fewer, distinct values say nothing
FEW_CODES = 12  # whole numbers with at most so many values and gaps between them are codes of categories
MANY_CODES = 2000
ID_SHARE = 0.98  # share of distinct values of an identifier
NAMED_ID_SHARE = 0.5  # the same under a name that says so
ID_NAMES = {"id", "ids", "uuid", "guid", "key", "pk", "index", "idx", "rowid", "rownum", "serial", "hash", "identifier",
            "identifiant", "ref", "reference", "unnamed", "instant", "rownames"}  # fmt: skip
CODE_NAMES = {"code", "zip", "zipcode", "postcode", "postal", "type", "category", "categorie", "kind", "cat", "region",
              "district", "department", "departement", "sector", "class", "classe", "cluster", "group"}  # fmt: skip
TIME_NAMES = {"year", "annee", "an", "month", "mois", "day", "jour", "hour", "heure", "week", "date", "time", "age",
              "timestamp", "ts", "epoch", "yr"}  # fmt: skip
UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


class Column(NamedTuple):
    """A column and what it was taken for.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "text", "id", "constant", "empty"}
        Identifiers, constants and empty columns are not learnt from.
    why : str
        Key of the reason; ``_texts/<language>/columns.toml`` has the words under ``why``.
    dtype : str
        Type of the values as they were read.
    missing : float
        Share of missing values.
    distinct : int
        Number of distinct values (on the first 200 000 rows of a larger table).
    examples : tuple of str
        A few values.
    format : str
        How numbers or dates are written, if they are text.
    gaps : tuple of str
        Values that stand for a missing one, such as "-999" or "unknown".
    merged : tuple of (str, tuple of str)
        Values and the other spellings that are read as them.
    """

    name: str
    kind: str
    why: str
    dtype: str
    missing: float
    distinct: int
    examples: tuple[str, ...] = ()
    format: str = ""
    gaps: tuple[str, ...] = ()
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()


class _Seen(NamedTuple):
    """What the rules look at."""

    name: str
    series: object
    rows: int
    known: int
    distinct: int
    values: object  # distinct values, at most LOOKED_AT, in order of appearance


class Told(NamedTuple):
    """What somebody decided about a column before anything is guessed; None: nothing."""

    gaps: tuple[str, ...] | None = None
    merged: tuple[tuple[str, tuple[str, ...]], ...] | None = None


def guess_columns(frame, target: str | None = None, told: dict | None = None) -> list[Column]:
    """Guess the kind of every column but the target.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str, default=None
        The column to leave out.
    told : dict of Told, default=None
        What is known about the values of columns.

    Returns
    -------
    columns : list of Column
        In the order of the table.

    Examples
    --------
    >>> from hyperplan.compete import guess_columns, read_table
    >>> from hyperplan.datasets import table_path
    >>> columns = guess_columns(read_table(table_path("penguins")), "species")
    >>> [(column.name, column.kind) for column in columns[:3]]
    [('island', 'category'), ('bill_length_mm', 'number'), ('bill_depth_mm', 'number')]
    """
    import pandas

    head, told = frame.iloc[:EXACT_ROWS] if len(frame) > EXACT_ROWS else frame, told or {}
    head, is_large, columns = without_notes(head), head is not frame, []
    plain, types = plain_floats(head), list(head.dtypes)
    for position, name in enumerate(head.columns):
        if name == target:
            continue
        if position in plain and told.get(str(name)) is None:
            columns.append(Column(str(name), "number", "number", str(types[position]), *plain[position]))
        else:
            columns.append(guess_column(head.iloc[:, position], str(name), told.get(str(name))))
    if not is_large:
        return columns
    frame = without_notes(frame)
    is_missing = {
        column.name: typed_values(frame[column.name], column) if column.gaps else frame[column.name]
        for column in columns
    }
    return [column._replace(missing=float(pandas.isna(is_missing[column.name]).mean())) for column in columns]


def guess_column(series, name: str, told: Told | None = None) -> Column:
    """Guess the kind of one column, and what its values stand for."""
    import pandas

    told = told or Told()
    codes, values = pandas.factorize(series.to_numpy() if series.dtype.kind in "iuf" else series)
    counts, n_rows, dtype = np.bincount(codes[codes >= 0], minlength=len(values)), len(series), series.dtype
    gaps, is_gap = _gaps(dtype.kind, values, counts, told.gaps)
    if is_gap.any():
        series = series.where(np.append(~is_gap, False)[codes])
        values, counts = values[~is_gap], counts[~is_gap]
    known = int(counts.sum())
    seen = _Seen(name, series, n_rows, known, len(values), values[:LOOKED_AT])
    kind, why, form = _decision(seen)
    share = 1 - known / n_rows if n_rows else 0.0
    examples = tuple(str(value)[:40] for value in list(values[:3]))
    merged = _merged(kind, values, counts) if told.merged is None else told.merged
    distinct = max(len(values) - sum(len(others) for _, others in merged), min(len(values), 1))
    return Column(name, kind, why, str(dtype), share, distinct, examples, form, gaps, merged)


def _gaps(kind: str, values, counts, told) -> tuple[tuple[str, ...], np.ndarray]:
    """Which values stand for a missing one, as words, and whether each of the distinct values is one."""
    import pandas

    if kind in "iuf":
        numbers = np.asarray(values, dtype=np.float64)
        gaps = tuple(map(number_word, number_gaps(numbers, counts))) if told is None else told
        return gaps, np.isin(numbers, gap_numbers(gaps))
    if kind in "bM" and told is None:
        return (), np.zeros(len(values), dtype=bool)
    words = as_words(beginnings(pandas.Series(values)))
    listed = [word for word in words if word]
    said = found_words(listed) if told is None else told
    rest = [word for word in listed if word not in set(said)]
    form, share = number_format(rest)
    is_number = share == 1.0 or (share >= DECIDED and len(rest) > 20)
    if told is None and not (is_number or date_format(rest)[0]):
        said = found_nulls(listed)
    is_gap = np.isin(words, ["", *said])
    if not is_number:
        return tuple(said), is_gap
    numbers = parse_numbers(pandas.Series(words), form)
    far = number_gaps(numbers[~is_gap], counts[~is_gap]) if told is None else gap_numbers(said)
    gaps = tuple(said) if told is not None else (*map(number_word, far), *said)
    return gaps, is_gap | np.isin(numbers, far)


def _merged(kind: str, values, counts) -> tuple:
    """Spellings of one value, among the categories of a column."""
    import pandas

    if kind != "category" or getattr(values, "dtype", np.dtype(object)).kind in "biufM":
        return ()
    words = as_words(pandas.Series(values))
    return guess_spellings(words, counts)


def _decision(seen: _Seen) -> tuple[str, str, str]:
    """``(kind, why, format)``: the first rule that applies."""
    import pandas

    dtype = seen.series.dtype
    if not seen.known:
        return "empty", "all_missing", ""
    if seen.distinct == 1:
        return ("constant", "one_value", "") if seen.known == seen.rows else ("category", "one_value_or_missing", "")
    if dtype.kind == "b":
        return "category", "boolean", ""
    if dtype.kind == "M":
        return "date", "date_type", ""
    if isinstance(dtype, pandas.CategoricalDtype):
        return "category", "category_type", ""
    if dtype.kind in "iuf":
        return _number(seen)
    return _words(seen)


def name_parts(name: str) -> list[str]:
    """Words of a name: ``PassengerId`` and ``passenger_id`` have the same."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [part for part in re.split(r"[\W_]+|(?<=\D)(?=\d)", spaced.lower()) if part]


def is_id_name(name: str) -> bool:
    """Whether a name says that a column identifies rows or entities."""
    parts = name_parts(name)
    return bool(parts) and (parts[-1] in ID_NAMES or parts[0] in ("id", "unnamed", "index"))


def _is_named_id(seen: _Seen) -> bool:
    return seen.known >= FEW_ROWS and seen.distinct >= NAMED_ID_SHARE * seen.known and is_id_name(seen.name)


def _has_name(name: str, words: set[str]) -> bool:
    return any(part in words for part in name_parts(name))


def _number(seen: _Seen) -> tuple[str, str, str]:
    values = seen.series.to_numpy()
    if seen.series.dtype.kind == "f":
        values = values[np.isfinite(values)]
        if len(values) < seen.known or not (values == np.round(values)).all():
            return "number", "number", ""
    low, high = float(values.min()), float(values.max())
    is_unique = seen.distinct >= ID_SHARE * seen.known and seen.known >= FEW_ROWS
    is_time = _has_name(seen.name, TIME_NAMES)
    if _is_named_id(seen):
        return "id", "id_name", ""
    if is_unique and seen.distinct == seen.known == seen.rows and not is_time:
        if high - low == seen.rows - 1:
            return "id", "consecutive", ""
        if high - low < 3 * seen.rows and (np.diff(values) > 0).all():
            return "id", "increasing", ""
    if _has_name(seen.name, {"date"}) and low >= 19000101 and high <= 21001231:
        form, _ = date_format([str(int(value)) for value in seen.values])
        if form:
            return "date", "date_number", form
    if seen.distinct == 2:
        return "number", "two_values", ""
    return _codes_or_number(seen, low, high, is_time)


def _codes_or_number(seen: _Seen, low: float, high: float, is_time: bool) -> tuple[str, str, str]:
    """Whole numbers: codes of categories if the name says so, or if they are few with gaps; else they are counted.

    Values that follow one another (1, 2, 3; 0 to 8) have an order that a number keeps and a category would lose.
    """
    if is_time:
        return "number", "whole_numbers", ""
    if is_id_name(seen.name) and seen.distinct < seen.known:
        return "category", "id_repeated", ""
    if _has_name(seen.name, CODE_NAMES) and seen.distinct <= MANY_CODES and seen.distinct <= 0.5 * seen.known:
        return "category", "code_name", ""
    has_gaps = high - low + 1 > 1.5 * seen.distinct
    steps = np.diff(np.sort(np.asarray(seen.values, dtype=np.float64)))
    is_even = len(steps) > 0 and (steps == steps[0]).all()
    if seen.distinct <= FEW_CODES and has_gaps and not is_even and seen.distinct <= 0.05 * seen.known and low >= 0:
        return "category", "few_codes", ""
    if _are_large_codes(seen, high):
        return "category", "large_codes", ""
    return "number", "few_whole_numbers" if seen.distinct <= FEW_CODES else "whole_numbers", ""


def _are_large_codes(seen: _Seen, high: float) -> bool:
    """Large whole numbers that repeat, lie far apart and are no round amounts: numbers given to things."""
    if high < 10_000 or seen.distinct * 4 > seen.known or seen.distinct < FEW_CODES:
        return False
    values = np.asarray(seen.values, dtype=np.float64)
    low = np.quantile(seen.series.to_numpy(np.float64), 0.05)
    return bool(low >= 1000 and (high - low) / seen.distinct >= 20 and (values % 10 == 0).mean() < 0.25)


def _words(seen: _Seen) -> tuple[str, str, str]:
    import pandas

    words = [word for word in as_words(beginnings(pandas.Series(seen.values))) if word]
    if not words:
        return "empty", "all_missing", ""
    if len(words) == 2 and any({word.lower() for word in words} == pair for pair in TRUTHS):
        return "category", "boolean", ""
    form, share = number_format(words)
    if share == 1.0:
        return _text_numbers(seen, form)
    if (is_date := date_format(words))[0]:
        return "date", "date_ambiguous" if is_date[1] else "date_text", is_date[0]
    if share >= DECIDED and len(words) > 20:
        return "number", "mostly_numbers", form
    return _text_or_category(seen, words)


def _text_numbers(seen: _Seen, form: str) -> tuple[str, str, str]:
    """Numbers written as text: identifiers and codes are recognised as among numbers."""
    import pandas

    numbers = pandas.Series(parse_numbers(seen.series, form))
    kind, why, _ = _number(seen._replace(series=numbers, values=pandas.unique(numbers.dropna())[:LOOKED_AT]))
    return (kind, why, "") if kind in ("id", "category") else ("number", "number_text", form)


def _text_or_category(seen: _Seen, words: list[str]) -> tuple[str, str, str]:
    share = seen.distinct / seen.known
    counts = np.array([len(word.split()) for word in words])
    lengths = np.array([len(word) for word in words])
    if all(UUID.fullmatch(word) for word in words[:50]):
        return ("id", "uuid", "") if share >= ID_SHARE else ("category", "id_repeated", "")
    is_unique = share >= ID_SHARE and seen.known >= FEW_ROWS
    if _is_named_id(seen):
        return "id", "id_name", ""
    is_long = counts.mean() >= 5 or (lengths.mean() >= 50 and counts.mean() >= 3)
    if (is_long and share > 0.2) or (is_unique and counts.mean() >= 3):
        return "text", "sentences", ""
    if is_unique:
        return "id", "unique_words", ""
    if is_id_name(seen.name):
        return "category", "id_repeated", ""
    return "category", "many_words" if seen.distinct > 50 else "few_words", ""
