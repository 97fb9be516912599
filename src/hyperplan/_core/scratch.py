"""Temporary folders that outlive no run: a held lock tells the living from the dead, whatever killed them.

A process number means nothing in another container and may be somebody else's tomorrow.  The kernel lets go of a lock
when its process ends, in whatever way: a folder whose lock can be taken has no owner any more.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import stat
from pathlib import Path

from hyperplan._core.endings import EndSignals

try:
    import fcntl
except ImportError:  # no such locks on this system: nothing is ever swept
    fcntl = None  # type: ignore[assignment]

PREFIX = ".hyperplan-scratch-"
NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{16}")
LOCK = ".hyperplan-lock"
MAGIC = "hyperplan/scratch/1"
LONGEST = 10_000  # bytes of a lock file that are looked at


class ScratchFolder:
    """A folder for the length of a ``with`` block, readable by its owner only; those of dead runs are swept first.

    Signals that end the process wait until it is removed.

    Parameters
    ----------
    parent : path
        The folder to make it in.
    names : sequence of str
        What will be put into it: these files, and these folders with all that is in them, are removed in the end.

    Examples
    --------
    >>> import tempfile
    >>> from hyperplan._core.scratch import ScratchFolder
    >>> with tempfile.TemporaryDirectory() as parent, ScratchFolder(parent, ["table.pickle"]) as scratch:
    ...     _ = scratch.place("table.pickle").write_bytes(b"...")
    """

    def __init__(self, parent, names):
        self.parent, self.names = Path(parent), tuple(names)
        self._lock, self._ends = None, EndSignals()

    def __enter__(self):
        sweep(self.parent)
        self.path = self.parent / f"{PREFIX}{secrets.token_hex(8)}"
        self._ends.__enter__()
        try:
            os.mkdir(self.path, 0o700)
            self._lock = _locked(self.path, self.names)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._remove()
        except BaseException:  # a signal that came just now
            self._remove()
            raise
        finally:
            self._ends.__exit__()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):  # what cannot be removed now is swept later
            _empty(self.path, self.names)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def place(self, name: str) -> Path:
        """Where a thing of that name goes."""
        if name not in self.names:
            raise ValueError(f"{name!r} is not among the names of this folder: nobody would remove it")
        return self.path / name


def _locked(folder: Path, names) -> int:
    """A new lock file, held; what makes the folder one to be swept is written only when it is."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(handle, json.dumps(_marks(os.stat(folder), names)).encode())
    except BaseException:
        os.close(handle)
        raise
    return handle


def _marks(folder: os.stat_result, names) -> dict:
    """What a lock file says: it belongs to this very folder, not to a copy of it."""
    return {"magic": MAGIC, "inode": folder.st_ino, "names": list(names)}


def sweep(parent) -> None:
    """Remove from a folder the scratch folders whose owners are dead: ours, of this user, with a lock that is free."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if NAME.fullmatch(entry.name):
                with contextlib.suppress(OSError, ValueError):
                    _sweep_one(Path(entry.path))


def _sweep_one(folder: Path) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o777 != 0o700:
        return
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        marks = json.loads(os.read(handle, LONGEST))
        names = marks["names"] if isinstance(marks, dict) and isinstance(marks.get("names"), list) else []
        if marks != _marks(found, names) or not all(_is_plain(name) for name in names):
            return
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.lstat(folder / LOCK), os.fstat(handle)):  # nobody swept it in the meantime
            _empty(folder, names)
    finally:
        os.close(handle)


def _is_plain(name) -> bool:
    """Whether it names something in the folder itself."""
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}


def _empty(folder: Path, names) -> None:
    """Remove what has these names, links not followed; the folder and its lock too if nothing else is in it."""
    for name in names:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if not set(os.listdir(folder)) - {LOCK}:
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
