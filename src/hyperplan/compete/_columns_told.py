"""What somebody decided about columns, in the settings: kinds, formats, missing values, spellings."""

import re

import numpy as np

from hyperplan.compete._columns import Column, Told, guess_column, guess_columns
from hyperplan.compete._columns_gaps import found_words
from hyperplan.compete._columns_values import (
    LOOKED_AT,
    NUMBERS,
    as_word,
    as_words,
    date_format,
    number_format,
    typed_values,
)
from hyperplan.compete._errors import SettingsError

YEAR = re.compile(r"[12]\d{3}")


def read_columns(frame, settings, target: str | None = None) -> tuple[Column, ...]:
    """Every column but the target, guessed but for what settings (of a competition or an exploration) say."""
    told = told_values(settings)
    columns = guess_columns(frame, target, told)
    return tuple(with_kinds(frame, columns, settings.columns, settings.formats, told))


def told_values(settings) -> dict[str, Told]:
    """What settings say about the values of columns, by the name of the column."""
    missing = {name: tuple(map(as_word, values)) for name, values in settings.missing.items()}
    merged = {
        name: tuple((as_word(value), tuple(map(as_word, others))) for value, others in read.items())
        for name, read in settings.spellings.items()
    }
    return {name: Told(missing.get(name), merged.get(name)) for name in missing.keys() | merged.keys()}


def with_kinds(frame, columns, kinds, formats=None, told=None) -> list[Column]:
    """Columns with the kinds and formats that somebody decided instead of the guessed ones.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : sequence of Column
        What was guessed.
    kinds, formats : dict of str
        Kinds and formats by the name of the column; a format that is not given is looked up.
    told : dict of Told, default=None
        What was known about the values of columns when they were guessed.

    Examples
    --------
    >>> import pandas
    >>> from hyperplan.compete import guess_columns, with_kinds
    >>> frame = pandas.DataFrame({"postcode": ["1,000", "2,000", "3,000"]})
    >>> [(column.kind, column.why) for column in with_kinds(frame, guess_columns(frame), {"postcode": "category"})]
    [('category', 'asked')]
    """
    formats, told, found = formats or {}, told or {}, []
    for column in columns:
        kind, form = kinds.get(column.name, column.kind), formats.get(column.name)
        if kind != column.kind:
            column = _of_kind(frame[column.name], column, kind, form, told.get(column.name, Told()))
        elif form not in (None, column.format):
            column = with_format(frame[column.name], column, form)
        found.append(column)
    return found


def _of_kind(series, column: Column, kind: str, form: str | None, told: Told) -> Column:
    """A column of the kind that somebody asked for.

    Raises
    ------
    SettingsError
        Most values are no numbers, or no dates: as such they would all be missing.
    """
    is_number, gaps, merged = series.dtype.kind in "biuf", column.gaps, column.merged
    if told.gaps is None and kind in ("number", "date") and not is_number:
        gaps = (*gaps, *(word for word in found_words(_some_words(series)) if word not in gaps))
    if form is None and ((kind == "number" and not is_number) or (kind == "date" and series.dtype.kind != "M")):
        words = [word for word in _some_words(series) if word not in gaps]
        form = number_format(words)[0] if kind == "number" else date_format(words)[0]
        is_lost = _is_lost(words, column._replace(kind=kind, format=form, gaps=()))
        if is_number and not form:
            is_lost |= [YEAR.fullmatch(word) is None for word in words]
        if 2 * is_lost.sum() > len(words):
            value = words[is_lost.argmax()][:40]
            raise SettingsError("misfit", setting=f"columns.{column.name}", kind=kind, value=value)
    if told.merged is None:
        merged = guess_column(series, column.name, Told(gaps)).merged if kind == "category" else ()
    changed = column._replace(kind=kind, why="asked", format="", gaps=gaps, merged=merged)
    return with_format(series, changed, form) if form else changed


def with_format(series, column: Column, form: str) -> Column:
    """A column whose numbers or dates are written in the format that somebody asked for."""
    setting = f"formats.{column.name}"
    if column.kind not in ("number", "date") or series.dtype.kind in ("biuf" if column.kind == "number" else "M"):
        raise SettingsError("format_unused", setting=setting, kind=column.kind)
    if column.kind == "number" and form not in NUMBERS:
        raise SettingsError("format_number", setting=setting, choices=", ".join(NUMBERS), found=repr(form)[:80])
    changed = column._replace(format=form)
    words = [word for word in _some_words(series) if word not in column.gaps]
    is_lost = _is_lost(words, changed)
    if column.kind == "date" and 2 * is_lost.sum() > len(words):
        raise SettingsError("format_date", setting=setting, value=words[is_lost.argmax()][:40])
    return changed


def _some_words(series) -> list[str]:
    import pandas

    return [word for word in as_words(pandas.Series(pandas.unique(series.dropna())[:LOOKED_AT])) if word]


def _is_lost(words, column: Column) -> np.ndarray:
    """Whether each word cannot be read as a value of a column."""
    import pandas

    return pandas.isna(typed_values(pandas.Series(words, dtype="str"), column))
