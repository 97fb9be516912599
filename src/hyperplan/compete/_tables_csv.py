"""Delimited text to a data frame: by pyarrow where it can (fast, in threads), by pandas for the rest."""

import csv
import io

from hyperplan.compete._errors import TableError
from hyperplan.compete._names import unique_names
from hyperplan.compete._tables_bytes import decoded
from hyperplan.compete._tables_dialect import BLANKS, MISSING, NONE, Dialect, cut_at_blanks, sniff

PEEK = 2**20
SMALL_BLOCK, LARGE_BLOCK, BLOCK_PER_COLUMN = 2**23, 2**28, 2**16  # bytes: few cells of a column per block are slow
LONGEST_CELL = 50  # lines; a quoted cell that is longer was never closed


def read_text(data: bytes, name: str) -> tuple:
    """``(frame, notes)`` of delimited text in any encoding."""
    text, note = decoded(data, name)
    notes = [note] if note else []
    if not text.strip("\ufeff \t\r\n,;"):
        raise TableError("empty", name=name)
    text = _plain_lines(text)
    dialect = sniff(text)
    text, dialect = _single_separator(text, dialect)
    if not dialect.width or not text[_offset(text, dialect.skipped) :].strip():
        raise TableError("header_only", name=name, columns=len(dialect.names))
    names, said = _column_names(dialect)
    notes += said + _dialect_notes(dialect)
    start = _offset(text, dialect.skipped)
    frame = _by_pyarrow(text, start, dialect, names, name)
    if frame is None:
        frame = _by_pandas(text, start, dialect, names, name)
    return _without_trailing_column(frame, dialect, notes)


def _plain_lines(text: str) -> str:
    text = text.removeprefix("\ufeff")
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
    return text.replace("\x00", "") if "\x00" in text else text


def _single_separator(text: str, dialect: Dialect) -> tuple[str, Dialect]:
    """A doubled separator (``::``, ``||``) as one character that no cell contains."""
    one = dialect.separator
    if len(one) != 1 or one == "\t" or not dialect.names:
        return text, dialect
    header = text[: _offset(text, dialect.skipped)]
    if one * 2 not in header or header.count(one) != 2 * header.count(one * 2):
        return text, dialect
    text = text.replace(one * 2, NONE)
    return text, sniff(text)


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


def _dialect_notes(dialect: Dialect) -> list[dict]:
    notes = [{"key": "decimal_comma"}] if dialect.decimal == "," else []
    if dialect.separator not in (",", ""):
        shown = {"\t": "tab", BLANKS: "blanks", NONE: "a doubled character"}.get(dialect.separator, dialect.separator)
        notes.append({"key": "separator", "separator": shown})
    return notes


def _offset(text: str, lines: int) -> int:
    """Where the line after so many lines begins."""
    position = 0
    for _ in range(lines):
        found = text.find("\n", position)
        if found < 0:
            return len(text)
        position = found + 1
    return position


def _by_pyarrow(text: str, start: int, dialect: Dialect, names: list[str], name: str):
    """The frame, or None if pyarrow is not there or the text is not for it."""
    if dialect.separator == BLANKS or dialect.blank_after_separator:
        return None
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    markers = list(MISSING)
    if f"{dialect.separator} " in text[:PEEK]:  # twice the markers cost a third of the time: only where blanks are seen
        markers += [f" {marker}" for marker in MISSING]
    data = (text[start:] if start else text).encode("utf-8", errors="replace")
    if data.count(dialect.quote.encode()) % 2:
        _raise_ragged(text, start, dialect, len(names), name)
    block = max(SMALL_BLOCK, min(len(names) * BLOCK_PER_COLUMN, LARGE_BLOCK))
    try:
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(data),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=block),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.separator or NONE,
                quote_char=dialect.quote,
                escape_char=dialect.escape or False,
                newlines_in_values=dialect.quote.encode() in data,
            ),
            convert_options=arrow_csv.ConvertOptions(
                null_values=markers,
                strings_can_be_null=True,
                decimal_point=dialect.decimal,
                column_types={names[j]: pyarrow.string() for j in dialect.as_text if j < len(names)},
            ),
        )
    except pyarrow.ArrowInvalid as error:
        _raise_ragged(text, start, dialect, len(names), name)
        raise TableError("text", name=name, reason=str(error).splitlines()[0][:200]) from None
    return frame_of_arrow(table)


def frame_of_arrow(table):
    """A pandas frame: times without zone, text trimmed, truth values with gaps as words, decimals as floats."""
    import pandas
    import pyarrow
    from pyarrow import compute

    columns, types = [], pyarrow.types
    for column in table.columns:
        kind = column.type
        if types.is_string(kind) or types.is_large_string(kind):
            column = _trimmed(column)
        elif types.is_boolean(kind) and column.null_count:
            column = compute.if_else(column, "True", "False")
        elif types.is_timestamp(kind) and kind.tz:
            column = column.cast(pyarrow.timestamp(kind.unit))
        elif types.is_time(kind) or types.is_binary(kind) or types.is_large_binary(kind):
            column = column.cast(pyarrow.string(), safe=False)
        elif types.is_decimal(kind) or types.is_null(kind):
            column = column.cast(pyarrow.float64())
        elif types.is_nested(kind) and not types.is_dictionary(kind):
            column = pyarrow.chunked_array([[None if v is None else str(v) for v in column.to_pylist()]])
        columns.append(column)
    positions = [str(j) for j in range(len(columns))]
    frame = pyarrow.table(columns, names=positions).to_pandas(date_as_object=False)
    frame.columns = pandas.Index(table.column_names, dtype=object)
    return frame


def _trimmed(column):
    from pyarrow import array, compute

    trimmed = compute.utf8_trim_whitespace(column)
    if trimmed.equals(column):
        return column
    is_missing = compute.is_in(trimmed, value_set=array(MISSING, type=trimmed.type))
    return compute.if_else(is_missing, None, trimmed)


def _by_pandas(text: str, start: int, dialect: Dialect, names: list[str], name: str):
    import pandas

    _raise_ragged(text, start, dialect, len(names), name)
    try:
        return pandas.read_csv(
            io.StringIO(text[start:]),
            sep=dialect.separator or NONE,
            names=names,
            header=None,
            index_col=False,
            quotechar=dialect.quote,
            escapechar=dialect.escape,
            decimal=dialect.decimal,
            skipinitialspace=True,
            na_values=list(MISSING),
            keep_default_na=False,
            dtype={names[j]: "str" for j in dialect.as_text if j < len(names)},
            low_memory=False,
        )
    except (ValueError, OverflowError) as error:  # ParserError is a ValueError
        raise TableError("text", name=name, reason=str(error).splitlines()[0][:200]) from None


def _raise_ragged(text: str, start: int, dialect: Dialect, width: int, name: str) -> None:
    """Raise for the first row that has not `width` cells, or for a quote that is never closed."""
    rows = io.StringIO(text[start:], newline="")
    if dialect.separator == BLANKS:
        found = ((number, cut_at_blanks(line, dialect.quote)) for number, line in enumerate(rows, start=1))
    else:
        reader = csv.reader(
            rows,
            delimiter=dialect.separator or NONE,
            quotechar=dialect.quote,
            escapechar=dialect.escape,
            skipinitialspace=dialect.blank_after_separator,
        )
        csv.field_size_limit(2**31 - 1)
        found = ((reader.line_num, cells) for cells in reader)
    previous = 0
    for last, cells in found:
        line, previous = dialect.skipped + previous + 1, last
        if dialect.skipped + last - line > LONGEST_CELL:
            raise TableError("open_quote", name=name, line=line, quote=dialect.quote, count=LONGEST_CELL)
        if not cells or len(cells) == width or (len(cells) == 1 and not cells[0].strip() and width > 1):
            continue
        shown = (dialect.separator if len(dialect.separator) == 1 else " ").join(cells)[:80]
        key = "too_many_cells" if len(cells) > width else "too_few_cells"
        raise TableError(key, name=name, line=line, found=len(cells), expected=width, shown=shown)


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
