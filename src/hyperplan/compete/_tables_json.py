"""JSON: one object per line, a list of objects, or an object of columns."""

import json
import re

from hyperplan.compete._errors import TableError
from hyperplan.compete._tables_arrow import let_go
from hyperplan.compete._tables_bytes import Source
from hyperplan.compete._tables_columns import flattened, of_arrow
from hyperplan.compete._tables_encoding import as_utf8
from hyperplan.compete._tables_records import text_lines
from hyperplan.compete._tables_room import Room

ARROW_GROWTH = 3  # memory for a byte of JSON lines that pyarrow reads, beside the bytes
OBJECT_BYTES, VALUE_BYTES = 300, 120  # of Python objects: an empty object in a list, a value with its key
LINES_AT_ONCE = 1000


def read_json(source: Source) -> tuple:
    """``(frame, notes)`` of JSON: one object per line, a list of objects, or an object of columns."""
    data, note = as_utf8(source.data, source.room)
    notes = [note] if note else []
    start = re.search(rb"\S", data)
    if not start:
        raise TableError("empty", name=source.name)
    is_lines = start[0] == b"{" and b"\n" in data
    if is_lines and (table := _lines_by_pyarrow(data, source.room)) is not None:
        let_go(data)
        frame, said = of_arrow(flattened(table), source.room)
        return frame, notes + said
    records = (_records_of_lines(data, source) if is_lines else None) or _records_of_whole(data, source)
    if not records:
        raise TableError("no_rows", name=source.name)
    let_go(data)
    return _frame_of_records(records, source.room), notes


def _lines_by_pyarrow(data: bytearray, room: Room):
    try:
        import pyarrow
        from pyarrow import json as arrow_json
    except ImportError:
        return None
    room.require(ARROW_GROWTH * len(data))
    try:
        options = arrow_json.ReadOptions(block_size=2**26)
        table = arrow_json.read_json(pyarrow.BufferReader(pyarrow.py_buffer(data)), read_options=options)
    except (pyarrow.ArrowException, OSError):
        return None  # values of several types in a column, objects over several lines, or broken: read one by one
    return table if table.num_columns and not any(pyarrow.types.is_list(f.type) for f in table.schema) else None


def _records_of_lines(data: bytearray, source: Source) -> list[dict] | None:
    """An object for each line; None if the lines together are one value."""
    records: list[dict] = []
    with text_lines(data) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.rstrip("\r\n"))
            except (ValueError, RecursionError) as error:
                if len(records) < 2 and _is_one_value(data, source):  # one object over several lines
                    return None
                column, reason = getattr(error, "colno", 1), getattr(error, "msg", str(error))
                raise TableError("json", name=source.name, line=number, column=column, reason=reason) from None
            records.append(_json_object(value, number, source.name))
            if len(records) % LINES_AT_ONCE == 0:
                source.room.require(16 * len(value) * len(records))
    return records


def _is_one_value(data: bytearray, source: Source) -> bool:
    try:
        _loaded(data, source)
    except (ValueError, RecursionError) as error:
        if isinstance(error, TableError):
            raise
        return False
    return True


def _loaded(data: bytearray, source: Source):
    """The one value of a text; its objects are counted first."""
    values = data.count(b",") + data.count(b":")
    source.room.require(4 * len(data) + OBJECT_BYTES * data.count(b"{") + VALUE_BYTES * values)
    return json.loads(data)


def _records_of_whole(data: bytearray, source: Source) -> list[dict]:
    name = source.name
    try:
        whole = _loaded(data, source)
    except json.JSONDecodeError as error:
        raise TableError("json", name=name, line=error.lineno, column=error.colno, reason=error.msg) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError("json", name=name, line=1, column=1, reason=str(error)[:200]) from None
    if isinstance(whole, dict):
        return _json_columns(whole, name)
    if not isinstance(whole, list):
        raise TableError("json_shape", name=name)
    return [_json_object(record, number, name) for number, record in enumerate(whole, start=1)]


def _json_object(value, number: int, name: str) -> dict:
    if not isinstance(value, dict):
        raise TableError("json_record", name=name, line=number, found=type(value).__name__)
    return value


def _json_columns(whole: dict, name: str) -> list[dict]:
    columns = list(whole.values())
    if columns and all(isinstance(v, list) for v in columns):
        if len({len(v) for v in columns}) > 1:
            raise TableError("json_shape", name=name)
        return [dict(zip(whole, row)) for row in zip(*columns)]
    if columns and all(isinstance(v, dict) for v in columns):  # as pandas writes it: {column: {row: value}}
        rows = list(dict.fromkeys(row for column in columns for row in column))
        return [{key: column.get(row) for key, column in whole.items()} for row in rows]
    return [whole]


def _frame_of_records(records: list[dict], room: Room):
    import pandas

    room.require(OBJECT_BYTES * len(records) + VALUE_BYTES // 2 * sum(map(len, records)))
    flat = [_flat(record) for record in records]
    names = list(dict.fromkeys(key for record in flat for key in record))
    columns = {key: _series([record.get(key) for record in flat]) for key in names}
    return pandas.DataFrame(columns)


def _flat(record: dict, prefix: str = "") -> dict:
    found = {}
    for key, value in record.items():
        if isinstance(value, dict):
            found.update(_flat(value, f"{prefix}{key}."))
        else:
            found[f"{prefix}{key}"] = json.dumps(value) if isinstance(value, list) else value
    return found


def _series(values: list):
    """Values of one type as that type; of several types as text, which the audit then reports."""
    import pandas

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return pandas.Series(values).infer_objects()
    return pandas.Series([None if value is None else str(value) for value in values], dtype="str")
