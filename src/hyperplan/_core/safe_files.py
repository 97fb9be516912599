"""Writing a file without taking one away: beside its place first, then put there, refused if something is there."""

import errno
import os
import stat
from pathlib import Path

from hyperplan._core.scratch import ScratchFolder

# What systems say where a file cannot have a second name.
NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV,
            errno.EINVAL}  # fmt: skip
SENTENCES = {
    "exists": "{path} exists already; choose another name, or pass force=True to replace it",
    "protected": "{path} is what is being read here; it is never overwritten, choose another name",
    "special": "{path} is not an ordinary file and is not replaced; choose another name",
}


class PlaceTakenError(FileExistsError):
    """Something is where a file was to be written; `why` is "exists", "protected" or "special"."""

    def __init__(self, why: str, path):
        super().__init__(errno.EEXIST, SENTENCES[why].format(path=path))
        self.why, self.path = why, Path(path)

    def __str__(self):
        return self.strerror

    def __reduce__(self):
        return type(self), (self.why, self.path)


def write_file(path, write, *, force: bool = False, never=(), is_ours=None) -> Path:
    """Have a file written whole or not at all, and never over something that nobody gave up.

    Parameters
    ----------
    path : str or path
        Where the file goes; what is there already is an error.  A link is followed.
    write : callable
        Gets the path of a file of the same name in a temporary folder, and writes the content there.
    force : bool, default=False
        Replace what is there, if it is an ordinary file.
    never : sequence of paths, default=()
        Files that are not replaced even then, by whatever name or link they are reached.
    is_ours : callable, default=None
        Told the path of an ordinary file that is there; if it returns true that file is replaced unasked.

    Returns
    -------
    path : Path

    Raises
    ------
    PlaceTakenError
        Something is there, and stays.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hyperplan._core.safe_files import PlaceTakenError, write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_file(Path(folder) / "a.txt", lambda beside: beside.write_text("one"))
    ...     try:
    ...         write_file(path, lambda beside: beside.write_text("two"))
    ...     except PlaceTakenError as error:
    ...         print(error.why, path.read_text())
    exists one
    """
    path = Path(path)
    place = Path(os.path.realpath(path))
    check_place(path, force=force, never=never, is_ours=is_ours)  # before the work
    with ScratchFolder(place.parent, [place.name]) as scratch:
        beside = scratch.place(place.name)
        write(beside)
        _synced(beside)
        old = check_place(path, force=force, never=never, is_ours=is_ours)
        if old is None:
            _put(beside, place, path)
        else:
            os.chmod(beside, stat.S_IMODE(old.st_mode))  # what was private stays private
            os.replace(beside, place)
    return path


def check_place(path, *, force: bool = False, never=(), is_ours=None) -> os.stat_result | None:
    """Raise if a file may not be written there; what is there and may be replaced, or None if nothing is."""
    path = Path(path)
    place = Path(os.path.realpath(path))
    for one in never:
        if _are_same(place, one):
            raise PlaceTakenError("protected", path)
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise PlaceTakenError("special", path)
    if not force and not (is_ours is not None and is_ours(place)):
        raise PlaceTakenError("exists", path)
    return found


def _are_same(place: Path, other) -> bool:
    """Whether two names lead to one file, hard links included; of what is not there, to one place."""
    try:
        return os.path.samefile(place, other)
    except (OSError, ValueError):
        return str(place) == os.path.realpath(other)


def _synced(path: Path) -> None:
    """Have the content on the disk before the name is: a crash leaves no empty file in the place of an old one."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put(beside: Path, place: Path, path: Path) -> None:
    """Give the file its name, unless something has that name: decided by the system in one step."""
    try:
        os.link(beside, place)
        return
    except FileExistsError:
        raise PlaceTakenError("exists", path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    try:  # no second names here: take the place with an empty file, then move over it
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise PlaceTakenError("exists", path) from None
    try:
        os.replace(beside, place)
    except BaseException:
        if os.path.getsize(place) == 0:
            place.unlink()
        raise
