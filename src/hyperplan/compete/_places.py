"""Where the files of a run are, said so that they are found from any folder."""

import glob
import os
import re
from pathlib import Path

from hyperplan.compete._tables import is_query

QUOTED = re.compile(r"'(?:[^']|'')+'|\"[^\"]+\"")
# A file in a query: after FROM or JOIN, or as the first argument of a function that reads one.
QUERIED = re.compile(
    r"(\b(?:from|join)\s+|\b(?:read_\w+|\w+_scan)\s*\(\s*\[?\s*)('(?:[^']|'')+'|\"[^\"]+\")", re.IGNORECASE
)
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def source_files(table) -> list[Path]:
    """The files that a table is read from: its name without a part, or whatever a query has in quotes."""
    if not isinstance(table, str | os.PathLike):
        return []
    if not is_query(table):
        return [Path(str(table)), Path(str(table).partition("::")[0])]
    return [Path(path) for quoted in QUOTED.findall(table) for path in (glob.glob(_bare(quoted)) or [_bare(quoted)])]


def whole_table(table, folder=".") -> str:
    """A table with its path from the root of the file system; relative ones are below `folder`."""
    if is_query(table):
        return QUERIED.sub(lambda found: found[1] + _quoted(found[2], folder), table)
    name, mark, part = str(table).partition("::")
    return table if ADDRESS.match(name) else f"{_whole(name, folder)}{mark}{part}"


def _whole(name: str, folder) -> str:
    return os.path.abspath(os.path.join(folder, os.path.expanduser(name)))


def _bare(quoted: str) -> str:
    return quoted[1:-1].replace("''", "'") if quoted[0] == "'" else quoted[1:-1]


def _quoted(quoted: str, folder) -> str:
    """A file of a query with its whole path; what is no file, such as the name of a table, stays as it is."""
    name = _bare(quoted)
    if ADDRESS.match(name) or not glob.glob(os.path.join(folder, name)):
        return quoted
    return "'" + _whole(name, folder).replace("'", "''") + "'"


def settled(settings, path, tell=None):
    """Settings of a file with whole paths: relative ones are beside the file, or else in the current folder.

    Parameters
    ----------
    settings : Settings or ExploreSettings
    path : path
        The file they were read from.
    tell : callable, default=None
        Told of a file that is in both folders: ``tell(setting=, taken=, other=)``.
    """
    folder = Path(path).parent
    changes = {}
    for key in ("table", "test", "out"):
        value = getattr(settings, key, None)
        if value is None or (key == "out" and value == type(settings).out and not (folder / value).exists()):
            continue  # nobody said where: it goes to the current folder
        places = [whole_table(value, place) if key != "out" else _whole(value, place) for place in (folder, ".")]
        beside, here = ([name for name in source_files(place) if name.exists()] for place in places)
        changes[key] = places[1] if here and not beside else places[0]
        if beside and here and places[0] != places[1]:
            (tell or dict)(setting=key, taken=places[0], other=places[1])
    return settings.changed(**changes)
