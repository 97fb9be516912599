"""Whose a folder is: ours if its receipt is valid and lists every file in it with the digest that the file has."""

import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from hyperplan.compete._errors import CompetitionError

MARK = "receipt.json"
# What a receipt of each kind cannot do without.
SCHEMAS = {
    "hyperplan/receipt/1": {"created", "settings", "trials", "data_sha256", "versions", "files"},
    "hyperplan/explore-receipt/1": {"created", "settings", "labels_sha256", "data_sha256", "versions", "files"},
}
SETTINGS = "settings.toml"  # people are invited to change it
WORDS = re.compile(r"settings(\.edited(\.[0-9]+)?)?\.toml")  # what people wrote, kept when results are replaced
NOBODYS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # what file browsers leave behind
LARGEST = 2**28  # bytes of a receipt
SHOWN = 5  # names in a message


class Contents(NamedTuple):
    """What a folder of results holds, each by its path below it: all of `files` is there and as it was written.

    `edited` are settings with other words than were written, `litter` is what file browsers leave; `foreign` was not
    written by us (or is a link, or nothing that can be read), `changed` was, but is not what it was.
    """

    files: dict[str, str]
    edited: dict[str, str]
    litter: list[str]
    foreign: list[str]
    changed: list[str]

    @property
    def words(self) -> dict[str, str]:
        """Paths and digests of what people wrote, and want to keep."""
        return self.edited | {name: found for name, found in self.files.items() if _is_kept(name)}


def _is_kept(name: str) -> bool:
    return bool(WORDS.fullmatch(name)) and name != SETTINGS


def own_contents(folder: Path) -> Contents:
    """What a folder of earlier results holds; raises unless all of it is ours, or nobody's."""
    contents = look(folder)
    if contents.foreign:
        raise CompetitionError("out_mixed", folder=folder, names=_some(contents.foreign))
    if contents.changed:
        raise CompetitionError("out_changed", folder=folder, names=_some(contents.changed))
    return contents


def _some(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:SHOWN])
    return shown + (", ..." if len(names) > SHOWN else "")


def look(folder: Path) -> Contents:
    """What a folder holds, held against its receipt; raises if it has none of ours."""
    listed = _listed(folder)
    parents = {str(parent) for name in listed for parent in Path(name).parents}
    contents = Contents({}, {}, [], [], [])
    for name, mode in _entries(folder, parents):
        if name == MARK:
            continue
        if not stat.S_ISREG(mode):
            contents.foreign.append(name + "/" * stat.S_ISDIR(mode))
        elif name not in listed:
            (contents.litter if Path(name).name in NOBODYS else contents.foreign).append(name)
        elif (found := file_digest(folder / name)) == listed[name]:
            contents.files[name] = found
        elif WORDS.fullmatch(name):
            contents.edited[name] = found
        else:
            contents.changed.append(name)
    return contents


def _listed(folder: Path) -> dict[str, str]:
    """The list of a folder's receipt."""
    try:
        with os.fdopen(os.open(folder / MARK, _PLAIN), "rb") as file:
            found = os.fstat(file.fileno())
            content = file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST else b""
        receipt = json.loads(content)
    except (OSError, ValueError, RecursionError):
        raise CompetitionError("out_exists", folder=folder) from None
    schema = receipt.get("schema") if isinstance(receipt, dict) else None
    if not isinstance(schema, str) or schema not in SCHEMAS:
        raise CompetitionError("out_exists", folder=folder)
    if "files" not in receipt:
        raise CompetitionError("out_unlisted", folder=folder)
    files = receipt["files"]
    if not SCHEMAS[schema] <= receipt.keys() or not isinstance(files, dict):
        raise CompetitionError("out_exists", folder=folder)
    return files


_PLAIN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def _entries(folder: Path, parents: set[str], above: str = ""):
    """``(path below the folder, mode)`` of what is in it; folders that hold nothing of ours are not looked into."""
    with os.scandir(folder / above) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = f"{above}{entry.name}"
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode) and name in parents:
            yield from _entries(folder, parents, f"{name}/")
        else:
            yield name, mode


def file_digest(path: Path) -> str:
    """SHA-256 of a file, which must be one and no link."""
    with os.fdopen(os.open(path, _PLAIN), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def all_digests(folder: Path) -> dict[str, str]:
    """Digests of all files of a folder but its receipt, by their paths below it."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: file_digest(folder / name) for name in names if name != MARK}


def discard(folder: Path, contents: Contents) -> bool:
    """Remove what was found in a folder, and the folder if nothing else is in it; whether it is gone."""
    names = [*contents.files, *contents.edited, *contents.litter, MARK]
    for name in names:
        (folder / name).unlink(missing_ok=True)
    parents = {parent for name in names for parent in (folder / name).parents if folder in (parent, *parent.parents)}
    try:
        for parent in sorted(parents, key=lambda path: len(path.parts), reverse=True):
            parent.rmdir()
    except OSError:  # something came in
        return False
    return True
