"""The folder of results, written beside and renamed: there is the old one, or the new one, never half."""

import contextlib
import errno
import json
import os
import shutil
import tempfile
from pathlib import Path

from hyperplan._core.safe_files import PlaceTakenError, check_place, write_file
from hyperplan.compete._errors import CompetitionError, reason_of
from hyperplan.compete._receipt import make_receipt
from hyperplan.compete._settings import write_settings
from hyperplan.compete._table_output import write_table

MARK = "receipt.json"  # a folder that has it was written by a competition and may be replaced
OURS = {MARK, "report.html", "report.json", "settings.toml", "model", "predictions.csv", "predictions_unlabelled.csv",
        "confusion.csv", "clusters.csv", "coordinates.csv"}  # fmt: skip
NOBODYS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # what file browsers leave behind


def check_folder(folder) -> Path:
    """The folder, if results may be written there: it does not exist, is empty, or holds earlier results only.

    What can be known before the work is known before it: a folder that cannot be made or replaced, or that holds what
    somebody else put there.
    """
    folder = Path(folder)
    try:
        _check_place(folder)
        inside = {path.name for path in folder.iterdir()} - NOBODYS if folder.exists() else set()
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=folder, reason=reason_of(error)) from None
    if inside and MARK not in inside:
        raise CompetitionError("out_exists", folder=folder)
    if others := sorted(inside - OURS):
        raise CompetitionError("out_mixed", folder=folder, names=", ".join(others[:5]))
    return folder


def _check_place(folder: Path) -> None:
    """Raise if a new folder cannot be put there."""
    if folder.exists() and not folder.is_dir():
        raise CompetitionError("out_exists", folder=folder)
    whole, here = folder.resolve(), Path.cwd()
    if whole == here or whole in here.parents or (whole.exists() and whole.is_mount()):
        raise CompetitionError("out_fixed", folder=folder)
    above = next(parent for parent in whole.parents if parent.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write_results(competition, folder, table: str | None = None) -> Path:
    """Write report, predictions, model, receipt and settings."""
    return write_folder(folder, lambda beside: _fill(competition, beside, table))


def write_folder(folder, fill) -> Path:
    """Have a new folder filled beside its place and put there; `fill` gets its path and writes a file `MARK`, too."""
    folder = check_folder(folder)
    whole = folder.resolve()  # the place of a link is where it leads
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{whole.name}-", dir=whole.parent))
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=folder, reason=reason_of(error)) from None
    try:
        fill(beside)
        os.chmod(beside, 0o755)  # temporary folders are for their owner only
        _swap(beside, whole)
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=folder, reason=reason_of(error)) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def check_one(path, *, force: bool = False, never=()) -> None:
    """Raise what `write_one` would raise, as far as that is known before the work."""
    try:
        check_place(path, force=force, never=never)
        if not Path(path).resolve().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except PlaceTakenError as error:
        raise CompetitionError(f"file_{error.why}", path=path) from None
    except OSError as error:
        raise CompetitionError("file_unwritable", path=path, reason=reason_of(error)) from None


def write_one(path, write, *, force: bool = False, never=()) -> Path:
    """Have one file written (`write_file`); what is in the way, or why it cannot be written, is a sentence."""
    try:
        return write_file(path, write, force=force, never=never)
    except PlaceTakenError as error:
        raise CompetitionError(f"file_{error.why}", path=path) from None
    except OSError as error:
        raise CompetitionError("file_unwritable", path=path, reason=reason_of(error)) from None


def _fill(competition, folder: Path, table) -> None:
    import pandas

    from hyperplan.persistence import save
    from hyperplan.report import write_report

    document, settings = competition.document, competition.question.settings
    (folder / "report.json").write_text(json.dumps(document, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    matrix = _write_confusion(competition, folder)
    write_report(document, folder / "report.html", settings.lang, matrix)
    first = "test" if "test" in competition.predictions else "unlabelled"
    for name, frame in competition.predictions.items():
        suffix = "" if name == first else f"_{name}"
        write_table(frame, folder / f"predictions{suffix}.csv")
    if not competition.predictions:
        empty = competition.best_frame_columns()
        write_table(pandas.DataFrame(columns=empty), folder / "predictions.csv")
    (folder / "model").mkdir()
    save(competition.best, folder / "model" / "model.hyperplan")
    question = competition.question
    reading, columns = question.frame.attrs.get("reading"), (*question.columns, question.target)
    write_settings(settings, folder / "settings.toml", columns, reading)
    receipt = make_receipt(competition, table)
    (folder / MARK).write_text(json.dumps(receipt, ensure_ascii=False, allow_nan=False, indent=1), encoding="utf-8")


def _write_confusion(competition, folder: Path) -> str | None:
    """The whole confusion matrix of a classifier; the name of its file."""
    from hyperplan.compete._confusion import FILE, write_confusion
    from hyperplan.compete._quality import confusion_cells

    problem = competition.question.problem
    if not problem.classes:
        return None
    cells = confusion_cells(problem, competition.standings.chosen)
    write_confusion(cells, list(problem.classes), folder / FILE)
    return FILE


def _swap(beside: Path, folder: Path) -> None:
    """Put the new folder in the place of the old one; if that fails the old one comes back."""
    if not folder.exists():
        beside.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    folder.rename(old / "results")
    try:
        beside.rename(folder)
    except OSError:
        with contextlib.suppress(OSError):
            (old / "results").rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=folder.exists())
