"""Where compiled kernels are kept, which of them are still in use, and removing the others.

The folder holds one subfolder per digest (see `jit.source_digest`).  A new version of the sources leads to new digests
and leaves the old ones behind; they may still serve another installation, which is why the time of the last use
decides: every process that uses a digest marks it once a day, and what nobody used for 30 days is removed.
"""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import warnings

CACHE_VARIABLE = "HYPERPLAN_CACHE_DIR"
UNUSED_DAYS = 30
PRUNE_STAMP = "pruned"
_DAY = 86400.0
_DIGEST = re.compile(r"[0-9a-f]{16}")  # what `source_digest` produces: nothing else in the folder is ours


def cache_home() -> pathlib.Path:
    """The folder that holds all digests: ``HYPERPLAN_CACHE_DIR``, or the user's cache directory."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return pathlib.Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "hyperplan"


@functools.cache
def writable_cache_home() -> pathlib.Path | None:
    """`cache_home()` if files can be created there, else None after one warning."""
    home = cache_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=home).close()
    except OSError as error:
        warnings.warn(
            f"hyperplan cannot write its kernel cache to {home} ({error.strerror}); kernels are compiled anew in "
            f"each process. Set {CACHE_VARIABLE} to a writable folder to avoid the wait.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return home


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
