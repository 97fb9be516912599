"""Which group a row belongs to and when it was, from the column that tells, whatever the kind of that column."""

import re

import numpy as np

from hyperplan.compete._columns_values import (
    as_words,
    date_format,
    number_format,
    parse_dates,
    parse_numbers,
    typed_values,
)
from hyperplan.compete._errors import CompetitionError

YEAR_FIRST = re.compile(r"\d{4}\D.*")  # 2020-Q1, 2020-W05, 2020-01: in order as text if equally long


def group_codes(series, column) -> np.ndarray:
    """A number for each group; rows without a value are one group of their own."""
    values = typed_values(series, column)
    values = values.astype(str) if values.dtype.kind == "O" else values
    return np.unique(values, return_inverse=True)[1]


def time_codes(series, column) -> np.ndarray:
    """Ranks of the times, the earliest 0; equal times have the same.

    Identifiers and categories may count time as well as numbers and dates do: what their texts say is ordered, not the
    texts, in which 10 comes before 9.

    Raises
    ------
    CompetitionError
        Values are missing, or are neither numbers nor dates.
    """
    times = _times(series, column)
    is_missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
    if is_missing.any():
        words = as_words(series)
        first = int(np.flatnonzero(is_missing)[0])
        shown = "" if words[first] is None else words[first][:40]
        raise CompetitionError(
            "time_missing", name=column.name, count=int(is_missing.sum()), row=int(series.index[first]) + 1, value=shown
        )
    return np.unique(times, return_inverse=True)[1]


def _times(series, column) -> np.ndarray:
    """Floats or times."""
    if column.kind in ("number", "date"):
        return typed_values(series, column)
    if series.dtype.kind in "biuf":
        return series.to_numpy(np.float64)
    words = as_words(series)
    known = list(dict.fromkeys(word for word in words if word))
    form, share = number_format(known)
    if share == 1.0:
        return parse_numbers(series, form)
    form, _ = date_format(known)
    if form:
        return parse_dates(series, form).to_numpy("datetime64[ns]")
    if known and len({len(word) for word in known}) == 1 and all(YEAR_FIRST.fullmatch(word) for word in known):
        ranks = {word: float(rank) for rank, word in enumerate(sorted(known))}
        return np.array([ranks.get(word, np.nan) for word in words])
    raise CompetitionError("time_words", name=column.name, value=known[0][:40] if known else "")
