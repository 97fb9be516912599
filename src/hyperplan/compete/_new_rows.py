"""New rows for a model: read with the columns in mind that it needs, where the file alone leaves a doubt."""

from pathlib import Path

from hyperplan.compete._errors import SpokenError, TableError
from hyperplan.compete._settings import read_settings
from hyperplan.compete._tables import read_table

UNSURE = ("header_only", "too_many_cells", "too_few_cells")  # errors that another reading of the first line may settle


def reading_of(model) -> dict:
    """How the table of a competition is written, if somebody said so in the settings beside its model."""
    path = Path(model)
    folders = (path, path.parent) if path.is_dir() else (path.parent, path.parent.parent)
    for folder in folders:
        if (folder / "settings.toml").is_file():
            try:
                return read_settings(folder / "settings.toml").reading
            except SpokenError:  # of another program, or of an exploration
                return {}
    return {}


def read_new_rows(path, needed, reading=None):
    """The table; where none of its columns is needed, its first line is tried as names and as data.

    Parameters
    ----------
    path : str or path
    needed : sequence of str
        Names of the columns.
    reading : dict, default=None
        How the file is written (`read_table`), as far as it is known.

    Returns
    -------
    frame : DataFrame
        With columns that are needed if there is a way; else as it was read first.
    """
    reading, wanted, first = dict(reading or {}), set(map(str, needed)), None
    for options in (reading, {**reading, "header": True}, {**reading, "header": False}):
        try:
            frame = read_table(path, **options)
        except TableError as error:
            if first is None and error.key not in UNSURE:
                raise
            first = error if first is None else first
            continue
        if not wanted or wanted & set(frame.columns):
            if first is not None:
                key = "header_needed" if options["header"] else "no_header_needed"
                kept = [note for note in frame.attrs["notes"] if note["key"] != "no_header"]
                frame.attrs["notes"] = [*kept, {"key": key}]
            return frame
        first = frame if first is None else first
        if not frame.attrs["reading"]:  # no delimited text: its names are what they are
            break
    if isinstance(first, TableError):
        raise first
    return first
