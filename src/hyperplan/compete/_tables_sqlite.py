"""A table of an SQLite file, read where it is and never written to."""

import contextlib
import os
import sqlite3
import urllib.parse

from hyperplan.compete._errors import TableError
from hyperplan.compete._names import nearest_names
from hyperplan.compete._tables_arrow import let_go
from hyperplan.compete._tables_bytes import Source, first_line, listed
from hyperplan.compete._tables_room import Room

NAMES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
ROWS_AT_ONCE = 1000
LOCK_WAIT = 5.0  # seconds that another program may keep a lock
JOURNAL_MODE = slice(18, 20)  # bytes of the head that tell whether changes stand in a file of their own


def read_sqlite(source: Source, sql: str | None = None) -> tuple:
    """``(frame, notes)`` of a table of an SQLite file (after ``::``, or the only one), or of a query on it."""
    import pandas

    try:
        with contextlib.closing(_connected(source)) as connection:
            connection.text_factory = lambda letters: letters.decode("utf-8", errors="replace")
            tables = [name for (name,) in connection.execute(NAMES)]
            if not sql:
                sql = "SELECT * FROM " + _quoted(_chosen_table(source, tables))
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise TableError("sql", name=source.name, reason="no columns")
            names = [column[0] for column in cursor.description]
            rows = _fetched(cursor, source.room)
    except sqlite3.Error as error:
        raise _spoken(error, source) from None
    return pandas.DataFrame.from_records(rows, columns=names, coerce_float=True), []


def _connected(source: Source) -> sqlite3.Connection:
    """The database: the file itself, or the bytes that were packed."""
    if not source.path:
        connection = sqlite3.connect(":memory:")
        source.room.require(len(source.data))
        if source.data[JOURNAL_MODE] == b"\x02\x02":
            source.data[JOURNAL_MODE] = b"\x01\x01"  # there is no second file of changes in here
        connection.deserialize(source.data)
        let_go(source.data)
        return connection
    with open(source.path, "rb") as file:
        has_journal = file.read(20)[JOURNAL_MODE] == b"\x02\x02"
    journal = source.path + "-wal"
    is_settled = has_journal and not (os.path.exists(journal) and os.path.getsize(journal))
    mode = "immutable=1" if is_settled else "mode=ro"  # else SQLite would put helper files beside it
    address = f"file:{urllib.parse.quote(os.path.abspath(source.path))}?{mode}"
    return sqlite3.connect(address, uri=True, timeout=LOCK_WAIT)


def _fetched(cursor: sqlite3.Cursor, room: Room) -> list[tuple]:
    rows: list[tuple] = []
    while some := cursor.fetchmany(ROWS_AT_ONCE):
        rows += some
        room.require(16 * len(rows) * len(some[0]))  # for the frame
    return rows


def _spoken(error: sqlite3.Error, source: Source) -> TableError:
    reason = first_line(error)
    if "locked" in reason or "busy" in reason:
        return TableError("locked", name=source.name, seconds=f"{LOCK_WAIT:.0f}")
    if "malformed" in reason or "not a database" in reason or "encrypted" in reason:
        return TableError("damaged", name=source.name, kind="SQLite", reason=reason)
    return TableError("sql", name=source.name, reason=reason)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _chosen_table(source: Source, tables: list[str]) -> str:
    if not tables:
        raise TableError("no_tables", name=source.name)
    if source.part:
        if source.part in tables:
            return source.part
        near = nearest_names(source.part, tables)
        first = near[0] if near else tables[0]
        raise TableError("no_table", name=source.name, part=source.part, tables=listed(tables), first=first)
    if len(tables) > 1:
        raise TableError("many_tables", name=source.name, tables=listed(tables), first=tables[0])
    return tables[0]
