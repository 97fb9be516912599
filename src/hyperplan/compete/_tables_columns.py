"""Files that know their columns, Parquet and Feather, and SQL over files."""

import re

from hyperplan._texts.extras import required
from hyperplan.compete._errors import TableError
from hyperplan.compete._names import unique_names
from hyperplan.compete._tables_arrow import frame_of_arrow, let_go
from hyperplan.compete._tables_bytes import Source, first_line
from hyperplan.compete._tables_room import Room

VALUE_BYTES = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4}  # beside the letters; others have 8
PACKED_BUFFER = re.compile(rb"\x04\x22\x4d\x18|\x28\xb5\x2f\xfd")  # how LZ4 and Zstandard begin
QUERY_SHARE = 0.5  # of the room for a query's own work; its answer needs the rest


def read_columns(source: Source) -> tuple:
    """``(frame, notes)`` of a Parquet or Feather file."""
    pyarrow = required("pyarrow")
    reader = _parquet if source.kind == "parquet" else _feather
    try:
        table = reader(source)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError("damaged", name=source.name, kind=source.kind, reason=first_line(error)) from None
    let_go(source.data)
    return of_arrow(flattened(table), source.room)


def _parquet(source: Source):
    """The table: its values are counted before they are unpacked, texts of few kinds before they are repeated."""
    import pyarrow
    from pyarrow import compute, parquet

    buffer = pyarrow.py_buffer(source.data)
    metadata = parquet.ParquetFile(pyarrow.BufferReader(buffer)).metadata
    parts = [
        metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)
    ]
    needed = sum(part.num_values * VALUE_BYTES.get(part.physical_type, 8) for part in parts)
    source.room.require(needed + sum(part.total_uncompressed_size for part in parts))
    repeated = sorted({part.path_in_schema for part in parts if _may_repeat(part, source.room)})
    file = parquet.ParquetFile(pyarrow.BufferReader(buffer), read_dictionary=repeated)
    table = file.read()
    for position, column in enumerate(table.columns):
        if not pyarrow.types.is_dictionary(column.type) or table.field(position).name not in repeated:
            continue
        letters = 0
        for chunk in column.chunks:
            lengths = compute.binary_length(chunk.dictionary).cast(pyarrow.int64())
            letters += compute.sum(lengths.take(chunk.indices)).as_py() or 0
        source.room.require(letters + 8 * len(column))
        kind = pyarrow.large_string() if letters > 2**31 - 1 else pyarrow.string()
        table = table.set_column(position, table.field(position).name, column.cast(kind))
    return table


def _may_repeat(part, room: Room) -> bool:
    """Whether a column of texts could unpack to more than there is room for: each text stands there once only."""
    if part.physical_type != "BYTE_ARRAY" or not part.has_dictionary_page or "." in part.path_in_schema:
        return False
    return part.num_values * part.total_uncompressed_size > room.left()


def _feather(source: Source):
    """The table: each packed buffer says its size before itself, and that is what would be taken."""
    import pyarrow
    from pyarrow import feather

    data, needed = source.data, len(source.data)
    for found in PACKED_BUFFER.finditer(data):
        start = found.start()
        size = int.from_bytes(data[start - 8 : start], "little", signed=True) if start >= 8 and not start % 8 else 0
        needed += max(0, size)
    source.room.require(needed)
    return feather.read_table(pyarrow.BufferReader(pyarrow.py_buffer(data)))


def flattened(table):
    """Records inside columns as columns of their own (``address.town``), as deep as they go."""
    import pyarrow

    for _ in range(10):
        if not any(pyarrow.types.is_struct(field.type) for field in table.schema):
            break
        table = table.flatten()
    return table


def of_arrow(table, room: Room) -> tuple:
    """``(frame, notes)`` of a table of pyarrow."""
    names, repeated = unique_names(table.column_names)
    notes = [{"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)}] if repeated else []
    return frame_of_arrow(table.rename_columns(names), room), notes


def read_query(sql: str, frame=None) -> tuple:
    """``(frame, notes)`` of an SQL query over files, by duckdb; a frame given is there as the table ``data``."""
    duckdb, pyarrow = required("duckdb"), required("pyarrow")
    room = Room("SQL")
    with duckdb.connect() as connection:
        try:
            connection.execute("SET temp_directory = ''")  # nothing is written beside the files of the user
            connection.execute(f"SET memory_limit = '{max(1, int(QUERY_SHARE * room.left() / 2**20))}MiB'")
            if frame is not None:
                connection.register("data", frame)
            kinds = [statement.type for statement in connection.extract_statements(sql)]
            if kinds != [duckdb.StatementType.SELECT]:  # others write files
                raise TableError("sql_many")
            answer = connection.sql(sql)
            if answer is None:
                raise TableError("sql", name="SQL", reason="no columns")
            table = _fetched(answer, room)
        except duckdb.OutOfMemoryException:
            raise TableError("memory_query", free=f"{room.left() / 1e6:.0f} MB") from None
        except (duckdb.Error, RuntimeError, pyarrow.ArrowException) as error:
            raise TableError("sql", name="SQL", reason=first_line(error)) from None
    return of_arrow(flattened(table), room)


def _fetched(answer, room: Room):
    """The rows of an answer, a batch at a time."""
    import pyarrow

    reader = answer.to_arrow_reader(2**16) if hasattr(answer, "to_arrow_reader") else answer.fetch_arrow_reader(2**16)
    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        room.require(size)  # once more, as a frame
    return pyarrow.Table.from_batches(batches, schema=reader.schema)
