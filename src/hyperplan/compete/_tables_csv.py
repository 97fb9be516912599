"""Delimited text to a data frame: by pyarrow where it can (fast, in threads), by pandas for the rest.

Both read what RFC 4180 describes, with any letters for separator and quote; a text written otherwise is put down again
in that form first.  When a reader fails or the quotes are odd in number, the csv module reads the whole text as
well: what both agree on is taken and the doubt is said, and what none can read is refused with its line.
"""

import codecs
import csv
import re

from hyperplan.compete._errors import TableError
from hyperplan.compete._names import unique_names
from hyperplan.compete._tables_arrow import frame_of_arrow, let_go
from hyperplan.compete._tables_bytes import bytes_file
from hyperplan.compete._tables_dialect import GUESSED, MISSING, Dialect, Given, shown, sniff
from hyperplan.compete._tables_encoding import as_utf8
from hyperplan.compete._tables_records import (
    Cutting,
    OpenQuoteError,
    checked_rows,
    is_blank,
    plain_text,
    records,
    spare_letter,
)
from hyperplan.compete._tables_room import Room

PEEK = 2**20
SMALL_BLOCK, LARGE_BLOCK, BLOCK_PER_COLUMN = 2**23, 2**28, 2**16  # bytes: few cells of a column per block are slow
LARGEST_BLOCK = 2**31 - 2**16  # bytes that pyarrow cuts at once; a longer row is left to pandas
CELL_BYTES, TEXT_CELL_BYTES, SEEN_CELL_BYTES = 8, 4, 4  # of a number, beside the letters of a text, and while parsing


def read_text(data: bytearray, room: Room, given: Given = GUESSED, as_text: bool = False) -> tuple:
    """``(frame, notes, reading)`` of delimited text: the last is what was found out about its writing.

    The bytes are emptied as soon as they are not needed any more.
    """
    data, note = as_utf8(data, room, given.encoding)
    notes = [note] if note else []
    if not data or not (as_text or re.search(rb"[^ \t\r\n,;]", data)):
        raise TableError("empty", name=room.name)
    if not as_text and 0 in data:
        room.require(len(data))
        notes.append({"key": "zero_bytes", "count": data.count(0)})
        data = data.replace(b"\0", b"")
    dialect = _complete(data, sniff(data, room, given), room)
    names, said = _column_names(dialect)
    notes += said + _dialect_notes(dialect, given) + list(dialect.notes)
    reading = _reading(dialect, given.encoding or (note or {}).get("codec", "utf-8"))
    frame, doubts = _frame(data, dialect, names, room, given, as_text)
    frame, notes = (frame, notes) if as_text else _without_trailing_column(frame, dialect, notes)
    return frame, notes + doubts, reading


def _complete(data: bytearray, dialect: Dialect, room: Room) -> Dialect:
    """The dialect, if there is a row of data."""
    if dialect.width and data[dialect.start : dialect.start + 2**16].strip():
        return dialect
    rows = checked_rows(data, dialect.cutting, room, dialect.start, dialect.skipped + 1, dialect.width)
    if next(rows, None) is None:  # an open quote is named
        raise TableError("header_only", name=room.name, columns=len(dialect.names))
    return dialect


def _column_names(dialect: Dialect) -> tuple[list[str], list[dict]]:
    """Unique names for each cell of a row, and what to say about them."""
    names, notes = list(dialect.names), []
    if not names:
        names = [f"column_{j + 1}" for j in range(dialect.width)]
        notes.append({"key": "no_header", "first": names[0], "last": names[-1]})
    elif len(names) == dialect.width - 1:
        names = ["row_name", *names]
        notes.append({"key": "row_names", "column": "row_name"})
    names, repeated = unique_names(names)
    if repeated:
        notes.append({"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)})
    return names, notes


def _dialect_notes(dialect: Dialect, given: Given) -> list[dict]:
    notes, separator = [], dialect.cutting.separator
    if dialect.decimal == "," and given.decimal is None:
        notes.append({"key": "decimal_comma"})
    if separator not in (",", "") and given.separator is None:
        notes.append({"key": "separator", "separator": shown(separator)})
    return notes


def _reading(dialect: Dialect, encoding: str) -> dict:
    """What was found out, in the words of the settings."""
    cutting = dialect.cutting
    return {
        "separator": cutting.separator,
        "quote": cutting.quote,
        "escape": cutting.escape,
        "decimal": dialect.decimal,
        "header": bool(dialect.names),
        "encoding": encoding,
    }


def _frame(data: bytearray, dialect: Dialect, names: list[str], room: Room, given: Given, as_text: bool) -> tuple:
    """``(frame, doubts)`` by the reader that suits the text."""
    if not dialect.cutting.is_plain:
        return _rewritten(data, dialect, names, room, as_text), []
    if given.escape is None and _has_escapes(data, dialect, room, len(names)):
        changed = dialect._replace(cutting=dialect.cutting._replace(escape="\\"))
        return _rewritten(data, changed, names, room, as_text), [{"key": "escape", "escape": "\\"}]
    quotes = data.count(dialect.cutting.quote.encode()) if dialect.cutting.quote else 0
    if quotes % 2 and not _is_even(data, dialect, room, len(names)):
        return _otherwise(data, dialect, names, room, as_text)
    doubts = [{"key": "stray_quotes", "quote": dialect.cutting.quote}] if quotes % 2 else []
    try:
        frame = _by_pyarrow(data, dialect, names, room, as_text, quotes > 0)
        if frame is None:
            frame = _by_pandas(data, dialect, names, room, as_text)
    except _UnevenError:
        return _otherwise(data, dialect, names, room, as_text)
    return frame, doubts


class _UnevenError(Exception):
    """The fast reader found a row of another width, or something else that it cannot read."""


def _is_even(data: bytearray, dialect: Dialect, room: Room, width: int, strict: bool = False) -> bool:
    """Whether the csv module, too, finds rows of one width and no open quote (and, if strict, nothing after quotes)."""
    try:
        found = records(data, dialect.cutting, room, dialect.start, strict=strict)
        return all(len(cells) == width or is_blank(cells) for _, _, _, cells in found)
    except (OpenQuoteError, csv.Error):
        return False


def _has_escapes(data: bytearray, dialect: Dialect, room: Room, width: int) -> bool:
    """Whether the text is regular only if backslashes mark the quotes inside cells."""
    cutting = dialect.cutting
    if not cutting.quote or f"\\{cutting.quote}".encode() not in data or _is_even(data, dialect, room, width, True):
        return False
    return _is_even(data, dialect._replace(cutting=cutting._replace(escape="\\")), room, width, True)


def _otherwise(data: bytearray, dialect: Dialect, names: list[str], room: Room, as_text: bool) -> tuple:
    """What the fast reader could not read, by the csv module; else an error that names the line."""
    for _ in checked_rows(data, dialect.cutting, room, dialect.start, dialect.skipped + 1, len(names)):
        pass  # raises for the first row that does not fit
    return _rewritten(data, dialect, names, room, as_text), [{"key": "second_reader"}]


def _rewritten(data: bytearray, dialect: Dialect, names: list[str], room: Room, as_text: bool):
    """The frame of a text that is put down again in the plain form."""
    plain = plain_text(data, dialect.cutting, room, dialect.start, dialect.skipped + 1, len(names))
    let_go(data)
    changed = dialect._replace(cutting=Cutting(","), start=0, skipped=0)
    try:
        frame = _by_pyarrow(plain, changed, names, room, as_text, True)
        return _by_pandas(plain, changed, names, room, as_text) if frame is None else frame
    except _UnevenError as error:
        raise TableError("text", name=room.name, reason=error.args[0]) from None


def _by_pyarrow(data: bytearray, dialect: Dialect, names: list[str], room: Room, as_text: bool, has_quotes: bool):
    """The frame, or None if pyarrow is not there or a row is too long for it."""
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    separator = dialect.cutting.separator or spare_letter(data)
    size, cells = len(data) - dialect.start, data.count(separator.encode()) + data.count(b"\n") + 1
    room.require(size + SEEN_CELL_BYTES * cells + max(CELL_BYTES * cells, TEXT_CELL_BYTES * cells + size))
    if data.startswith(codecs.BOM_UTF8, dialect.start):  # as the first letter of a cell; pyarrow would drop it
        data[dialect.start : dialect.start] = codecs.BOM_UTF8
    block = max(SMALL_BLOCK, min(len(names) * BLOCK_PER_COLUMN, LARGE_BLOCK))
    while True:
        try:
            table = arrow_csv.read_csv(
                pyarrow.BufferReader(pyarrow.py_buffer(data).slice(dialect.start)),
                read_options=arrow_csv.ReadOptions(column_names=names, block_size=block),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=separator,
                    quote_char=dialect.cutting.quote or False,
                    newlines_in_values=has_quotes,
                ),
                convert_options=_conversion(data, separator, dialect, names, as_text),
            )
            break
        except pyarrow.ArrowInvalid as error:
            if "block size" in str(error) and block < min(len(data), LARGEST_BLOCK):  # a row is longer than a block
                block = min(8 * block, LARGEST_BLOCK)
            elif "block size" in str(error):
                return None
            else:
                raise _UnevenError(str(error).splitlines()[0][:200]) from None
    let_go(data)
    return frame_of_arrow(table, room, as_text)


def _conversion(data: bytearray, separator: str, dialect: Dialect, names: list[str], as_text: bool):
    """What the cells of each column may be."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    if as_text:
        return arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string()), null_values=[])
    markers = list(MISSING)
    if (
        f"{separator} ".encode() in data[:PEEK]
    ):  # twice the markers cost a third of the time: only where blanks are seen
        markers += [f" {marker}" for marker in MISSING]
    return arrow_csv.ConvertOptions(
        null_values=markers,
        strings_can_be_null=True,
        decimal_point=dialect.decimal,
        column_types={names[j]: pyarrow.string() for j in dialect.as_text if j < len(names)},
    )


def _by_pandas(data: bytearray, dialect: Dialect, names: list[str], room: Room, as_text: bool):
    import pandas

    for _ in checked_rows(data, dialect.cutting, room, dialect.start, dialect.skipped + 1, len(names)):
        pass  # pandas fills up short rows in silence
    room.require(4 * (len(data) - dialect.start))
    kinds = "str" if as_text else {names[j]: "str" for j in dialect.as_text if j < len(names)}
    quoting = {"quotechar": dialect.cutting.quote} if dialect.cutting.quote else {"quoting": csv.QUOTE_NONE}
    try:
        with bytes_file(data, dialect.start) as file:
            return pandas.read_csv(
                file,
                sep=dialect.cutting.separator or spare_letter(data),
                names=names,
                header=None,
                index_col=False,
                decimal=dialect.decimal,
                na_values=[] if as_text else list(MISSING),
                keep_default_na=False,
                na_filter=not as_text,
                skipinitialspace=not as_text,
                dtype=kinds,
                low_memory=False,
                **quoting,
            )
    except (ValueError, OverflowError) as error:  # ParserError is a ValueError
        raise TableError("text", name=room.name, reason=str(error).splitlines()[0][:200]) from None


def _without_trailing_column(frame, dialect: Dialect, notes: list[dict]) -> tuple:
    """Lines that end in a separator make a last column without name and values: it is no column."""
    last = frame.columns[-1]
    is_unnamed = bool(dialect.names) and (len(dialect.names) < dialect.width or not dialect.names[-1].strip())
    if len(frame.columns) < 2 or not is_unnamed or not frame[last].isna().all():
        return frame, notes
    if len(dialect.names) < dialect.width:  # the names belong to the first cells after all
        names = frame.columns[1:]
        frame = frame.iloc[:, :-1].set_axis(names, axis=1)
        return frame, [note for note in notes if note["key"] != "row_names"]
    return frame.iloc[:, :-1], notes
