"""Tables from files: one function for every format, one error that says what is wrong, where, and what to do."""

import hashlib
import os
import re

import numpy as np

from hyperplan._texts import text
from hyperplan._texts.extras import required
from hyperplan.compete._columns_blocks import float_views, without_notes
from hyperplan.compete._errors import TableError
from hyperplan.compete._names import unique_names
from hyperplan.compete._tables_bytes import open_source
from hyperplan.compete._tables_columns import read_columns, read_query
from hyperplan.compete._tables_csv import read_text
from hyperplan.compete._tables_dialect import Given
from hyperplan.compete._tables_excel import read_excel
from hyperplan.compete._tables_json import read_json
from hyperplan.compete._tables_sqlite import read_sqlite

QUERY = re.compile(r"\s*(select|with|from)\s.*\S", re.IGNORECASE | re.DOTALL)
READERS = {"parquet": read_columns, "feather": read_columns, "excel": read_excel, "json": read_json,
           "sqlite": read_sqlite}  # fmt: skip
EXACT = 2**53  # whole numbers up to here are exact as floats


def read_table(
    path,
    *,
    sql: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    as_text: bool = False,
):
    """Read a table from a file, a query or a frame.

    Parameters
    ----------
    path : str, path or pandas.DataFrame
        CSV or any other delimited text (separator, quotes, decimal mark, encoding and header are detected), also
        compressed (gz, bz2, xz, zst, zip); Parquet, Feather, Excel, JSON lines, SQLite.  ``file.db::table``,
        ``file.xlsx::sheet`` and ``file.zip::member`` name a part.  With duckdb installed also an SQL query over files
        (``"SELECT ... FROM 'a.parquet'"``).
    sql : str, default=None
        A query on the table: it is called ``data`` there (needs duckdb; in an SQLite file the query runs as it is).
    separator, quote, escape, decimal : str, default=None
        How a delimited text is written: what stands between cells ("" for one column), around a cell ("" for nothing),
        before a quote that is meant as such ("" for nothing, where it is doubled), before the decimals ("." or ",").
        None is guessed.
    header : bool, default=None
        Whether the first line of a text holds the names of the columns.  None is guessed.
    encoding : str, default=None
        Of a text, such as "utf-8" or "cp1252".  None is guessed.
    as_text : bool, default=False
        Whether the cells of a text come back as they stand there, all of them text: nothing trimmed, nothing missing.

    Returns
    -------
    frame : pandas.DataFrame
        Numbers, truth values and times as such where the file tells them, everything else as text; unique names;
        ``frame.attrs["notes"]`` lists what was guessed or changed (`table_notes` puts it into words), and
        ``frame.attrs["reading"]`` how a delimited text is written.

    Raises
    ------
    TableError
        The table cannot be read; the message names the file, the line where there is one, and the remedy.

    Examples
    --------
    >>> from hyperplan.compete import read_table
    >>> from hyperplan.datasets import table_path
    >>> read_table(table_path("penguins")).shape
    (344, 8)
    """
    given = checked_reading(separator, quote, escape, decimal, header, encoding)
    pandas = required("pandas")
    reading: dict = {}
    if isinstance(path, pandas.DataFrame):
        reading = path.attrs.get("reading", {})
        frame, notes = named_frame(path), []
    elif is_query(path):
        frame, notes = read_query(path)
        path = "SQL"
    else:
        source = open_source(path)
        if source.kind == "sqlite" and sql:
            (frame, notes), sql = read_sqlite(source, sql), None
        elif source.kind == "text":
            frame, notes, reading = read_text(source.data, source.room, given, as_text)
        else:
            frame, notes = READERS[source.kind](source)
    if sql:
        frame, more = read_query(sql, frame)
        notes = notes + more
    frame = _finished(frame, notes, path)
    frame.attrs["reading"] = reading
    return frame


def checked_reading(separator=None, quote=None, escape=None, decimal=None, header=None, encoding=None) -> Given:
    """What was said about the writing of a text, if it makes sense."""
    for name, value, most in (("separator", separator, 8), ("quote", quote, 1), ("escape", escape, 1)):
        if value is not None and (not isinstance(value, str) or len(value) > most or set(value) & {"\r", "\n", "\0"}):
            raise TableError("reading_letter", setting=name, found=repr(value)[:40])
    if decimal not in (None, ".", ","):
        raise TableError("reading_decimal", found=repr(decimal)[:40])
    letters = [value for value in (separator, quote, escape) if value]
    if len(set(letters)) < len(letters) or (decimal and decimal == separator == "."):
        raise TableError("reading_same", letters=" ".join(map(repr, letters)))
    if header is not None and not isinstance(header, bool):
        raise TableError("reading_header", found=repr(header)[:40])
    if encoding is not None and not isinstance(encoding, str):
        raise TableError("encoding_unknown", encoding=repr(encoding)[:40])
    return Given(separator, quote, escape, decimal, header, encoding)


def is_query(path) -> bool:
    """Whether it is an SQL query and not the name of a file."""
    return isinstance(path, str) and bool(QUERY.match(path)) and not os.path.exists(path)


def named_frame(frame):
    """A frame somebody made: its index is no column, its names become text."""
    names, _ = unique_names(["_".join(map(str, n)) if isinstance(n, tuple) else n for n in frame.columns])
    return frame.set_axis(names, axis=1).reset_index(drop=True)


def _finished(frame, notes: list[dict], path):
    is_frame = not isinstance(path, str) and hasattr(path, "columns")
    name = "frame" if is_frame else str(path)
    if not len(frame.columns):
        raise TableError("empty", name=name)
    if not len(frame):
        raise TableError("header_only", name=name, columns=len(frame.columns))
    names, repeated = unique_names(frame.columns)
    if repeated:
        notes = [*notes, {"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)}]
    if list(frame.columns) != names:
        frame = frame.set_axis(names, axis=1)
    frame = plain_types(frame)
    frame.attrs["notes"] = notes
    frame.attrs.setdefault("is_file", not is_frame)  # a file has no types: numbers beside gaps are what they look like
    return frame


def plain_types(frame):
    """Nullable numbers as floats if there are gaps, lengths of time as days; categories and objects as they are."""
    import pandas

    changed = {}
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, np.dtype) and dtype.kind in "biufMO":
            continue
        if isinstance(dtype, pandas.DatetimeTZDtype):
            changed[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
        elif dtype.kind == "m":
            changed[name] = frame[name] / pandas.Timedelta(days=1)
        elif isinstance(dtype, pandas.BooleanDtype) or getattr(dtype, "name", "") == "bool[pyarrow]":
            has_gaps = frame[name].isna().any()
            changed[name] = (
                frame[name].astype("str").where(frame[name].notna()) if has_gaps else frame[name].astype(bool)
            )
        elif pandas.api.types.is_extension_array_dtype(dtype) and pandas.api.types.is_numeric_dtype(dtype):
            plain = getattr(dtype, "numpy_dtype", np.dtype(float))
            is_exact = plain.kind in "iu" and not frame[name].isna().any()  # beyond 2**53 only as whole numbers
            changed[name] = frame[name].astype(plain if is_exact else np.float64)
        elif dtype.kind == "c":
            raise TableError("complex", column=name)
    return frame.assign(**changed) if changed else frame.copy(deep=False)


def table_notes(frame, language: str = "en") -> list[str]:
    """What `read_table` guessed or changed, in words."""
    return [
        text(f"tables.notes.{note['key']}", language, **{key: value for key, value in note.items() if key != "key"})
        for note in frame.attrs.get("notes", ())
    ]


def table_hash(frame) -> str:
    """SHA-256 of a table's content: names and values in order, whatever the file format.

    Whole numbers and floats of equal value hash alike, so that a column is the same with and without missing values.

    Examples
    --------
    >>> import pandas
    >>> from hyperplan.compete import table_hash
    >>> table_hash(pandas.DataFrame({"a": [1, 2]})) == table_hash(pandas.DataFrame({"a": [1.0, 2.0]}))
    True
    """
    digest = hashlib.sha256(f"{len(frame)} rows".encode())
    frame = without_notes(frame)
    floats = float_views(frame)
    for position, name in enumerate(frame.columns):
        encoded = str(name).encode()
        digest.update(b"%d:%b" % (len(encoded), encoded))
        is_float = position in floats
        for part in _float_bytes(floats[position]) if is_float else _column_bytes(frame.iloc[:, position]):
            digest.update(part)
    return digest.hexdigest()


def _column_bytes(series):
    """A column as bytes that depend on its values only."""
    import pandas

    kind = series.dtype.kind
    if kind in "bui" and (
        kind == "b" or not len(series) or max(abs(int(series.min())), abs(int(series.max()))) < EXACT
    ):
        kind, series = ("b" if kind == "b" else "f"), series.astype(np.float64)
    if kind in "bf":
        return _float_bytes(series.to_numpy(np.float64), kind.encode())
    if kind in "ui":
        return [b"i", series.to_numpy().astype("<i8").tobytes()]
    if kind == "M" and not _is_beyond_nanoseconds(series):
        return [b"t", series.to_numpy("datetime64[ns]").astype("<i8").tobytes()]
    codes, values = pandas.factorize(series)
    words = [str(value).encode("utf-8", errors="replace") for value in values.to_numpy(dtype=object)]
    lengths = np.array([len(word) for word in words], dtype="<i8")
    return [b"s", codes.astype("<i8").tobytes(), lengths.tobytes(), b"".join(words)]


def _float_bytes(values: np.ndarray, kind: bytes = b"f") -> list[bytes]:
    values = values + 0.0  # no negative zeros
    values[np.isnan(values)] = np.nan  # one of the many
    return [kind, values.astype("<f8", copy=False).tobytes()]


def _is_beyond_nanoseconds(times) -> bool:
    """Whether a time is outside of 1678 to 2261: such a column is compared by its words."""
    years = times.dt.year
    return bool(((years < 1678) | (years > 2261)).any())
