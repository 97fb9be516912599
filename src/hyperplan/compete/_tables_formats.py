"""Files that know their columns: Parquet, Feather, Excel, JSON, SQLite, and SQL over files."""

import io
import json
import sqlite3

from hyperplan.compete._errors import TableError
from hyperplan.compete._names import nearest_names, unique_names
from hyperplan.compete._tables_bytes import Source, _listed, _reason, decoded
from hyperplan.compete._tables_csv import frame_of_arrow
from hyperplan.compete._tables_dialect import MISSING


def read_columns(source: Source) -> tuple:
    """``(frame, notes)`` of a Parquet or Feather file."""
    try:
        import pyarrow
        from pyarrow import feather, parquet
    except ImportError:
        raise TableError("needs", name=source.name, package="pyarrow") from None
    reader = parquet.read_table if source.kind == "parquet" else feather.read_table
    try:
        table = reader(pyarrow.BufferReader(source.data))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TableError("damaged", name=source.name, kind=source.kind, reason=_reason(error)) from None
    return _of_arrow(_flattened(table))


def _flattened(table):
    """Records inside columns as columns of their own (``address.town``), as deep as they go."""
    import pyarrow

    for _ in range(10):
        if not any(pyarrow.types.is_struct(field.type) for field in table.schema):
            break
        table = table.flatten()
    return table


def _of_arrow(table) -> tuple:
    names, repeated = unique_names(table.column_names)
    notes = [{"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)}] if repeated else []
    return frame_of_arrow(table.rename_columns(names)), notes


def read_excel(source: Source) -> tuple:
    """``(frame, notes)`` of a sheet: the one named after ``::``, or the first."""
    import pandas

    try:
        book = pandas.ExcelFile(io.BytesIO(source.data), engine="openpyxl")
    except ImportError:
        raise TableError("needs", name=source.name, package="openpyxl") from None
    except Exception as error:  # openpyxl raises what XML, zip and its own parsing happen to raise
        raise TableError("damaged", name=source.name, kind="Excel", reason=_reason(error)) from None
    with book:
        sheets = [str(sheet) for sheet in book.sheet_names]
        if source.part and source.part not in sheets:
            raise TableError("no_sheet", name=source.name, part=source.part, sheets=_listed(sheets))
        sheet = source.part or sheets[0]
        cells = pandas.read_excel(
            book, sheet_name=sheet, header=None, dtype=object, keep_default_na=False, na_values=list(MISSING)
        )
    notes = []
    if len(sheets) > 1 and not source.part:
        notes.append({"key": "first_sheet", "sheet": sheet, "sheets": _listed(sheets)})
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if len(cells) < 2:
        raise TableError("empty" if cells.empty else "header_only", name=source.name, columns=cells.shape[1])
    names, repeated = unique_names([None if pandas.isna(cell) else cell for cell in cells.iloc[0]])
    if repeated:
        notes.append({"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)})
    return cells.iloc[1:].set_axis(names, axis=1).reset_index(drop=True).infer_objects(), notes


def read_json(source: Source) -> tuple:
    """``(frame, notes)`` of JSON: one object per line, a list of objects, or an object of columns."""
    text, note = decoded(source.data, source.name)
    text = text.removeprefix("\ufeff").strip()
    notes = [note] if note else []
    if not text:
        raise TableError("empty", name=source.name)
    if text[0] == "{" and "\n" in text and (table := _json_lines_by_pyarrow(text)) is not None:
        frame, said = _of_arrow(_flattened(table))
        return frame, notes + said
    records = _json_records(text, source.name)
    if not records:
        raise TableError("no_rows", name=source.name)
    return _frame_of_records(records), notes


def _json_lines_by_pyarrow(text: str):
    try:
        import pyarrow
        from pyarrow import json as arrow_json

        options = arrow_json.ReadOptions(block_size=2**26)
        table = arrow_json.read_json(pyarrow.BufferReader(text.encode()), read_options=options)
    except (ImportError, pyarrow.ArrowException, OSError):
        return None  # values of several types in a column, objects over several lines, or broken: read one by one
    return table if table.num_columns and not any(pyarrow.types.is_list(f.type) for f in table.schema) else None


def _json_records(text: str, name: str) -> list[dict]:
    if text[0] == "{" and "\n" in text:
        try:
            return [_json_object(json.loads(line), number, name) for number, line in _lines(text)]
        except json.JSONDecodeError as error:
            problem, bad = error, error.doc
        try:  # not lines, then: one object over several lines?
            whole = json.loads(text)
        except json.JSONDecodeError:
            line = next(number for number, found in _lines(text) if found == bad)
            raise TableError("json", name=name, line=line, column=problem.colno, reason=problem.msg) from None
    else:
        try:
            whole = json.loads(text)
        except json.JSONDecodeError as error:
            raise TableError("json", name=name, line=error.lineno, column=error.colno, reason=error.msg) from None
    if isinstance(whole, dict):
        return _json_columns(whole, name)
    if not isinstance(whole, list):
        raise TableError("json_shape", name=name)
    return [_json_object(record, number, name) for number, record in enumerate(whole, start=1)]


def _lines(text: str):
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


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


def _frame_of_records(records: list[dict]):
    import pandas

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


def read_sqlite(source: Source, sql: str | None = None) -> tuple:
    """``(frame, notes)`` of a table of an SQLite file (after ``::``, or the only one), or of a query on it."""
    import pandas

    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(source.data)
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        tables = [name for (name,) in connection.execute(query)]
        if not sql:
            sql = "SELECT * FROM " + _quoted(_chosen_table(source, tables))
        frame = pandas.read_sql_query(sql, connection)
    except (sqlite3.Error, pandas.errors.DatabaseError) as error:
        raise TableError("sql", name=source.name, reason=_reason(error)) from None
    finally:
        connection.close()
    return frame, []


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _chosen_table(source: Source, tables: list[str]) -> str:
    if source.part:
        if source.part in tables:
            return source.part
        near = nearest_names(source.part, tables) or tables
        raise TableError("no_table", name=source.name, part=source.part, tables=_listed(near))
    if len(tables) != 1:
        key = "many_tables" if tables else "no_tables"
        raise TableError(key, name=source.name, tables=_listed(tables), first=tables[0] if tables else "")
    return tables[0]


def read_query(sql: str, frame=None) -> tuple:
    """``(frame, notes)`` of an SQL query over files, by duckdb; a frame given is there as the table ``data``."""
    try:
        import duckdb
    except ImportError:
        raise TableError("needs", name="SQL", package="duckdb") from None
    with duckdb.connect() as connection:
        try:
            if frame is not None:
                connection.register("data", frame)
            answer = connection.sql(sql)
            if answer is None:
                raise TableError("sql", name="SQL", reason="no columns")
            table = answer.to_arrow_table() if hasattr(answer, "to_arrow_table") else answer.fetch_arrow_table()
        except (duckdb.Error, RuntimeError) as error:
            raise TableError("sql", name="SQL", reason=_reason(error)) from None
    return _of_arrow(_flattened(table))
