"""Tables that people open elsewhere: formats by the ending of a name, and text that a spreadsheet will not run.

A cell that begins with ``=`` or ``@``, or with ``+`` or ``-`` before something that is no number, is a formula to a
spreadsheet, whoever wrote it into the table.  An apostrophe before it makes it text.
"""

import re
from pathlib import Path

import numpy as np

from hyperplan.compete._columns_values import NUMBERS, bare_number
from hyperplan.compete._errors import CompetitionError

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".feather")
WIDE = str.maketrans("＝＋－＠", "=+-@")  # wide letters that some spreadsheets take for the plain ones
NUMBER = re.compile("|".join(f"(?:{pattern})" for pattern, _, _ in NUMBERS.values()))


def check_ending(path) -> str:
    """The ending of a name, if tables can be written that way."""
    name = Path(path).name.lower()
    found = [ending for ending in ENDINGS if name.endswith(ending) and name != ending]
    if not found:
        raise CompetitionError("out_ending", path=path, known=", ".join(ENDINGS))
    return max(found, key=len)


def write_table(frame, path, *, escape: bool = True, ending: str | None = None, float_format=None) -> None:
    """Write a frame without its index.

    Parameters
    ----------
    frame : DataFrame
    path : str or path
    escape : bool, default=True
        Put an apostrophe before cells and names that a spreadsheet would run, in formats that spreadsheets open.
    ending : str, default=None
        Of `ENDINGS`; None means that of the path.
    float_format : str, default=None
        Of numbers in text formats; None means all digits.
    """
    ending = ending or check_ending(path)
    if ending in (".parquet", ".feather"):
        plain = _arrow_frame(frame)
        (plain.to_parquet if ending == ".parquet" else plain.to_feather)(path)
        return
    frame = without_formulas(frame) if escape else frame
    packing = {"method": "gzip", "mtime": 0} if ending.endswith(".gz") else None  # same content, same bytes
    separator = "\t" if ending == ".tsv" else ","
    frame.to_csv(path, index=False, sep=separator, float_format=float_format, compression=packing, encoding="utf-8")


def write_numbers(frame, path) -> None:
    """Write a frame of numbers as CSV with six digits each: ten times as fast as `write_table` on a million rows."""
    import pyarrow
    from pyarrow import csv

    arrays = [frame.iloc[:, place].to_numpy() for place in range(frame.shape[1])]
    rounded = [six_digits(array) if array.dtype.kind == "f" else array for array in arrays]
    names = [str(name) for name in frame.columns]
    with open(path, "wb") as file:
        file.write((",".join(names) + "\n").encode())
        table = pyarrow.table([pyarrow.array(array, from_pandas=True) for array in rounded], names)
        csv.write_csv(table, file, csv.WriteOptions(include_header=False))


def six_digits(values: np.ndarray) -> np.ndarray:
    """Floats rounded to six decimal digits: the nearest float to such a decimal, so that it is written with no more.

    >>> import numpy as np
    >>> from hyperplan.compete._table_output import six_digits
    >>> six_digits(np.array([1.23456789, 2.0 / 3.0e7, 123456789.0, 0.0])).tolist()
    [1.23457, 6.66667e-08, 123457000.0, 0.0]
    """
    with np.errstate(all="ignore"):
        places = 5.0 - np.floor(np.log10(np.abs(values)))
        is_exact = np.isfinite(places) & (np.abs(places) <= 22)  # 10^22 is the last exact power of ten
        places = np.where(is_exact, places, 0.0)
        up, down = 10.0 ** np.maximum(places, 0.0), 10.0 ** np.maximum(-places, 0.0)
        return np.where(is_exact, np.round(values * up / down) / up * down, values)


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may take a text for a formula.

    >>> from hyperplan.compete._table_output import is_formula
    >>> [is_formula(cell) for cell in ("=1+1", "@x", "-5", "+3.2e5", "-2+3", "-", "a=b")]
    [True, True, False, False, True, False, False]
    """
    if cell[:1] in ("\t", "\r", "\n"):
        return True
    plain = cell.strip().translate(WIDE)
    if plain[:1] in ("=", "@"):
        return True
    return plain[:1] in ("+", "-") and len(plain) > 1 and not NUMBER.fullmatch(bare_number(plain)[0])


def without_formulas(frame):
    """The same frame with an apostrophe before every text that a spreadsheet would run, in cells and names."""
    changed = frame.rename(columns={name: _safe(name) for name in frame.columns})
    for place, name in enumerate(changed.columns):
        series = frame.iloc[:, place]
        if series.dtype.kind in "biufcmM":
            continue
        found = {value: _safe(value) for value in series.unique() if isinstance(value, str) and is_formula(value)}
        if found:
            changed = changed.assign(**{name: series.astype(object).map(lambda value, to=found: _swapped(value, to))})
    return changed


def _safe(value):
    return f"'{value}" if isinstance(value, str) and is_formula(value) else value


def _swapped(value, to: dict):
    return to.get(value, value) if isinstance(value, str) else value


def _arrow_frame(frame):
    """A frame that Arrow takes: a column of several types is written as text."""
    import pandas

    mixed = [
        name
        for name in frame.columns
        if frame[name].dtype == object and pandas.api.types.infer_dtype(frame[name], skipna=True).startswith("mixed")
    ]
    as_text = {name: frame[name].map(str, na_action="ignore") for name in mixed}
    return frame.assign(**as_text).reset_index(drop=True)
