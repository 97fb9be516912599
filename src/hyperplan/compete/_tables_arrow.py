"""Columns of pyarrow to a pandas frame, with their memory asked for first."""

import contextlib

from hyperplan.compete._tables_room import Room


def frame_of_arrow(table, room: Room, as_text: bool = False):
    """A pandas frame: times without zone, text trimmed, truth values with gaps as words, decimals as floats.

    With `as_text` the columns are texts already, and stay as they are.
    """
    import pandas
    import pyarrow

    names = list(table.column_names)
    room.require(_frame_bytes(table))
    ready = {pyarrow.float64(), pyarrow.int64()}
    columns = [column if as_text or column.type in ready else _plain(column) for column in table.columns]
    del table
    plain = pyarrow.table(columns, names=[str(j) for j in range(len(columns))])
    del columns
    frame = plain.to_pandas(date_as_object=False)
    frame.columns = pandas.Index(names, dtype=object)
    return frame


def _frame_bytes(table) -> int:
    """What the frame takes: eight bytes for a number and, for a text, its letters once more and where it begins."""
    import pyarrow

    total = 0
    for column in table.columns:
        is_text = pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)
        total += 8 * len(column) + (column.nbytes if is_text else 0)
    return total


def _plain(column):
    import pyarrow
    from pyarrow import compute

    kind, types = column.type, pyarrow.types
    if types.is_string(kind) or types.is_large_string(kind):
        return _trimmed(column)
    if types.is_boolean(kind) and column.null_count:
        return compute.if_else(column, "True", "False")
    if types.is_timestamp(kind) and kind.tz:
        return column.cast(pyarrow.timestamp(kind.unit))
    if types.is_time(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return column.cast(pyarrow.string(), safe=False)
    if types.is_decimal(kind) or types.is_null(kind):
        return column.cast(pyarrow.float64())
    if types.is_nested(kind) and not types.is_dictionary(kind):
        return pyarrow.chunked_array([[None if v is None else str(v) for v in column.to_pylist()]])
    return column


def _trimmed(column):
    from pyarrow import array, compute

    from hyperplan.compete._tables_dialect import MISSING

    trimmed = compute.utf8_trim_whitespace(column)
    if trimmed.equals(column):
        return column
    is_missing = compute.is_in(trimmed, value_set=array(MISSING, type=trimmed.type))
    return compute.if_else(is_missing, None, trimmed)


def let_go(data: bytearray) -> None:
    """Empty bytes that were read, and give back to the system what pyarrow holds in reserve."""
    with contextlib.suppress(BufferError):  # somebody still looks at them
        data.clear()
    with contextlib.suppress(ImportError):
        import pyarrow

        pyarrow.default_memory_pool().release_unused()
