"""The folder of results, written beside and renamed: there is the old one, or the new one, never half.

What is replaced is ours to the last file (`_ownership`); settings that somebody edited are kept.
"""

import contextlib
import errno
import json
import os
import secrets
import warnings
from pathlib import Path

from hyperplan._core.safe_files import PlaceTakenError, check_place, write_file
from hyperplan._core.scratch import ScratchFolder, sweep
from hyperplan._texts import text
from hyperplan.compete._errors import CompetitionError, SettingsError, reason_of
from hyperplan.compete._ownership import (
    MARK,
    NOBODYS,
    SETTINGS,
    Contents,
    all_digests,
    discard,
    file_digest,
    look,
    own_contents,
)
from hyperplan.compete._places import settled, whole_table
from hyperplan.compete._receipt import make_receipt
from hyperplan.compete._settings import Settings, read_settings, write_settings
from hyperplan.compete._table_output import write_table

RESULTS = "results"  # name of the new folder while it is filled
EMPTY = Contents({}, {}, [], [], [])


def check_folder(folder, inputs=()) -> Path:
    """The folder, if results may be written there: it does not exist, is empty, or holds earlier results only.

    What can be known before the work is known before it: a folder that cannot be made or replaced, that holds what
    somebody else put there, or one of the files that are read (`inputs`).
    """
    folder = Path(folder)
    _contents(folder, inputs)
    return folder


def _contents(folder: Path, inputs=()) -> Contents:
    """What is in a folder, all of which may be replaced."""
    whole = Path(os.path.realpath(folder))
    try:
        _check_place(folder, whole)
        sweep(whole.parent)
        sweep(whole)
        names = set(os.listdir(whole)) if whole.is_dir() else set()
        if names <= NOBODYS:
            return EMPTY._replace(litter=sorted(names))
        if inside := [name for name in inputs if _is_in(name, whole)]:
            raise CompetitionError("out_input", folder=folder, name=inside[0])
        return own_contents(folder)
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=folder, reason=reason_of(error)) from None


def _check_place(folder: Path, whole: Path) -> None:
    """Raise if a new folder cannot be put there."""
    if os.path.lexists(whole) and not whole.is_dir():
        raise CompetitionError("out_exists", folder=folder)
    if whole in Path.cwd().parents:
        raise CompetitionError("out_fixed", folder=folder)
    above = next(parent for parent in whole.parents if os.path.lexists(parent))
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not _is_writable(whole if whole.exists() and _is_fixed(whole) else above):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _is_fixed(whole: Path) -> bool:
    """Whether a folder stays where it is, and only what is in it is replaced."""
    return whole == Path.cwd() or whole.is_mount() or not _is_writable(whole.parent)


def _is_in(name, whole: Path) -> bool:
    """Whether a file is in a folder, however deep."""
    return any(parent.exists() and parent.samefile(whole) for parent in Path(os.path.realpath(name)).parents)


def write_results(competition, folder, table: str | None = None, tell=None) -> Path:
    """Write report, predictions, model, receipt and settings; `tell` gets notes for people, else they are warnings."""
    settings = competition.question.settings
    settings = settings.changed(out=os.path.abspath(folder), table=None if table is None else whole_table(table))
    return write_folder(folder, lambda beside: _fill(competition, beside, settings), settings, tell)


def write_folder(folder, fill, settings=None, tell=None) -> Path:
    """Have a new folder filled beside its place and put there; `fill` gets its path and returns the receipt."""
    folder = Path(folder)
    settings = settings or Settings()
    contents = _contents(folder)
    whole = Path(os.path.realpath(folder))  # the place of a link is where it leads
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        is_fixed = whole.exists() and _is_fixed(whole)
        with ScratchFolder(whole if is_fixed else whole.parent, [RESULTS]) as scratch:
            beside = scratch.place(RESULTS)
            beside.mkdir()
            receipt = fill(beside)
            carried = _carry(contents, whole, beside, type(settings))
            receipt = {**receipt, "files": all_digests(beside)}
            with (beside / MARK).open("w", encoding="utf-8") as file:
                json.dump(receipt, file, ensure_ascii=False, allow_nan=False, indent=1)
            old = (_swap_inside if is_fixed else _swap)(beside, whole, contents)
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=folder, reason=reason_of(error)) from None
    notes = [("out_edited", {"name": name}) for name in carried]
    notes += [("out_left", {"folder": old})] if old is not None else []
    for key, values in notes:
        note = text(f"compete.notes.{key}", settings.lang, **values)
        warnings.warn(note, stacklevel=3) if tell is None else tell(note)
    return folder


def _carry(contents: Contents, whole: Path, beside: Path, kind: type) -> list[str]:
    """Copy what people wrote into the new folder; returns the names it has there if they are new."""
    carried = []
    for name, digest in sorted(contents.words.items(), key=lambda word: word[0] == SETTINGS):
        words = (whole / name).read_bytes()
        target = name
        if name == SETTINGS and not _mean_the_same(whole / name, beside / name, kind):
            target, digests = _free_name(beside, digest)
            carried += [target] if digests else []
        (beside / target).write_bytes(words)
    return carried


def _mean_the_same(edited: Path, written: Path, kind: type) -> bool:
    """Whether settings that somebody edited are those of this run: then his words stay as they are."""
    try:
        return settled(read_settings(edited, kind), edited) == read_settings(written, kind)
    except SettingsError:
        return False


def _free_name(beside: Path, digest: str) -> tuple[str, bool]:
    """A name for edited settings, and whether it is a new one: the same words are kept once."""
    names = ["settings.edited.toml", *(f"settings.edited.{k}.toml" for k in range(2, 10_000))]
    for name in names:
        if not (beside / name).exists():
            return name, True
        if file_digest(beside / name) == digest:
            return name, False
    raise CompetitionError("out_mixed", folder=beside, names=names[-1])


def _swap(beside: Path, whole: Path, contents: Contents) -> Path | None:
    """Put the new folder in the place of the old one, which comes back if that fails; what could not be removed."""
    if not os.path.lexists(whole):
        beside.rename(whole)
        return None
    aside = whole.with_name(f"{whole.name}-old-{secrets.token_hex(4)}")
    whole.rename(aside)
    try:
        _check_same(aside, contents, whole)
        beside.rename(whole)
    except BaseException:
        if not os.path.lexists(whole):
            aside.rename(whole)
        raise
    return None if discard(aside, contents) else aside


def _swap_inside(beside: Path, whole: Path, contents: Contents) -> Path | None:
    """The same for a folder that must stay where it is: its entries change places one after the other."""
    aside = whole / f"old-{secrets.token_hex(4)}"
    aside.mkdir()
    moved = []

    def move(source: Path, target: Path) -> None:
        if os.path.lexists(target):
            raise CompetitionError("out_mixed", folder=whole, names=target.name)
        source.rename(target)
        moved.append((source, target))

    try:
        for name in sorted(os.listdir(whole)):
            if name not in (aside.name, beside.parent.name):
                move(whole / name, aside / name)
        _check_same(aside, contents, whole)
        for name in sorted(os.listdir(beside), key=lambda name: name == MARK):  # the receipt last
            move(beside / name, whole / name)
    except BaseException:
        for source, target in reversed(moved):
            with contextlib.suppress(OSError):
                target.rename(source)
        with contextlib.suppress(OSError):
            aside.rmdir()
        raise
    return None if discard(aside, contents) else aside


def _check_same(aside: Path, contents: Contents, whole: Path) -> None:
    """Raise if something came in while the new results were written."""
    names = set(os.listdir(aside))
    now = EMPTY._replace(litter=sorted(names)) if names <= NOBODYS else look(aside)
    known = {*contents.files, *contents.edited, *contents.litter}
    others = [*now.foreign, *now.changed, *({*now.files, *now.edited, *now.litter} - known)]
    others += [name for name in now.words if now.words[name] != contents.words.get(name)]
    if others:
        raise CompetitionError("out_mixed", folder=whole, names=", ".join(sorted(set(others))[:5]))


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


def _fill(competition, folder: Path, settings: Settings) -> dict:
    import pandas

    from hyperplan.persistence import save
    from hyperplan.report import write_report

    document = competition.document
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
    write_settings(settings, folder / SETTINGS, columns, reading)
    return make_receipt(competition, settings.table)


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
