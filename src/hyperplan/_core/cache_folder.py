"""Where compiled kernels are kept, which of them are still in use, and removing the others.

The folder holds one subfolder per digest (see `jit.source_digest`).  A new version of the sources leads to new digests
and leaves the old ones behind; they may still serve another installation, which is why the time of the last use
decides: every process that uses a digest marks it once a day, and what nobody used for 30 days is removed.

Where the folder cannot be written, a folder of this user's in the directory for temporary files takes its place, so
that processes share what one of them compiled.  What lies there is run: it is trusted only if nobody else can have
written it.
"""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from typing import NamedTuple

CACHE_VARIABLE = "HYPERPLAN_CACHE_DIR"
UNUSED_DAYS = 30
PRUNE_STAMP = "pruned"
_DAY = 86400.0
_PROBE = 1 << 20  # bytes that must find room: a disk that is full still lets empty files be made
_DIGEST = re.compile(r"[0-9a-f]{16}")  # what `source_digest` produces: nothing else in the folder is ours


def cache_home() -> pathlib.Path:
    """The folder that shall hold all digests: ``HYPERPLAN_CACHE_DIR``, or the user's cache directory."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return pathlib.Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "hyperplan"


class CachePlace(NamedTuple):
    """Where compiled kernels are kept.

    Attributes
    ----------
    home : Path or None
        The folder that is written; None if there is none.
    readable : Path or None
        A folder that cannot be written, but may hold kernels: `cache_home()` where another one takes its place.
    trouble : str
        Why it is not `cache_home()`; "" if it is.
    """

    home: pathlib.Path | None
    readable: pathlib.Path | None
    trouble: str


def cache_place() -> CachePlace:
    """`cache_home()` if files can be written there, else the folder for temporary files, else nowhere."""
    return _place_for(cache_home())


@functools.cache
def _place_for(home: pathlib.Path) -> CachePlace:
    if not (trouble := _trouble_writing(home)):
        return CachePlace(home, None, "")
    readable = home if digest_folders(home) else None
    with contextlib.suppress(OSError):
        fallback = temporary_home()
        if is_private(fallback):
            if not _trouble_writing(fallback):
                return CachePlace(fallback, readable, trouble)
            fallback.rmdir()  # made in vain; one that holds something stays
    return CachePlace(None, readable, trouble)


def _trouble_writing(home: pathlib.Path) -> str:
    """Why files cannot be written to a folder, which is made if need be; "" if they can."""
    try:
        if not home.is_absolute():  # nobody knows where this user's home is: not in the folder where we happen to be
            return "there is no home directory"
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def temporary_home() -> pathlib.Path:
    """The folder for kernels among temporary files, one for each user, made if it is not there."""
    user = os.geteuid() if hasattr(os, "geteuid") else ""
    folder = pathlib.Path(tempfile.gettempdir()) / f"hyperplan-cache-{user}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return folder


def is_private(folder: pathlib.Path) -> bool:
    """Whether a folder among temporary files is really one, and nobody but its owner, this user, can write there.

    The directory above counts, too: who may rename in it can put another folder in this one's place.
    """
    here, above = folder.lstat(), folder.parent.stat()
    if not stat.S_ISDIR(here.st_mode):  # a link leads where somebody else wanted it to lead
        return False
    if not hasattr(os, "geteuid"):  # Windows gives each user a directory of his own
        return True
    user = os.geteuid()
    others_rename = above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX
    return here.st_uid == user and not here.st_mode & 0o077 and above.st_uid in (0, user) and not others_rename


@functools.cache
def writable_cache_home() -> pathlib.Path | None:
    """The folder that kernels are written to; None after one warning if there is none."""
    place = cache_place()
    if place.home is None:
        warnings.warn(
            f"hyperplan cannot write its kernel cache to {cache_home()} ({place.trouble}) nor to a folder for "
            f"temporary files; kernels are compiled anew in each process. Set {CACHE_VARIABLE} to a writable folder to "
            "avoid the wait.",
            RuntimeWarning,
            stacklevel=2,
        )
    return place.home


def digest_folders(home: pathlib.Path) -> list[pathlib.Path]:
    """The subfolders that are ours."""
    with contextlib.suppress(OSError):
        return sorted(path for path in home.iterdir() if _DIGEST.fullmatch(path.name) and path.is_dir())
    return []


def mark_used(folder: pathlib.Path) -> None:
    """Remember that a process uses this digest (the folder's time of change says when; a day is exact enough)."""
    with contextlib.suppress(OSError):
        if _age(folder) > _DAY:
            os.utime(folder)


def prune(home: pathlib.Path, keep: set[str]) -> list[pathlib.Path]:
    """Remove digests unused for 30 days, except those in `keep`; at most once a day, and without ever raising.

    A process that still uses a removed digest (because it has been running for longer than that) compiles again.
    """
    removed: list[pathlib.Path] = []
    with contextlib.suppress(OSError):
        stamp = home / PRUNE_STAMP
        if stamp.exists() and 0 <= _age(stamp) < _DAY:
            return removed
        stamp.touch()
        for folder in digest_folders(home):
            if folder.name not in keep and _is_unused(folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    return removed


def _is_unused(folder: pathlib.Path) -> bool:
    with contextlib.suppress(OSError):
        return _age(folder) > UNUSED_DAYS * _DAY
    return False


def _age(path: pathlib.Path) -> float:
    """Seconds since the last change."""
    return time.time() - path.stat().st_mtime
