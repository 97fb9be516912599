"""``hyperplan cache``: how large the kernel cache is, how much of it is left over, and emptying it."""

import contextlib
import shutil
from pathlib import Path
from typing import NamedTuple

from hyperplan._core.cache_folder import PRUNE_STAMP, UNUSED_DAYS, cache_home, cache_place, digest_folders
from hyperplan._core.jit import current_digests
from hyperplan._core.memory import human_bytes

STAMP_NAME = "warm.json"


class Part(NamedTuple):
    """Some of the cache: one folder per digest, one entry per compiled signature."""

    folders: list[Path]
    entries: int
    size: int


class CacheSize(NamedTuple):
    """What lies in the cache: kernels of these sources, and those of other versions of them."""

    current: Part
    stale: Part


def measure(home: Path) -> CacheSize:
    """Look at the digest folders only."""
    folders, digests = digest_folders(home), current_digests()
    return CacheSize(
        _weigh([folder for folder in folders if folder.name in digests]),
        _weigh([folder for folder in folders if folder.name not in digests]),
    )


def _weigh(folders: list[Path]) -> Part:
    entries = size = 0
    for folder in folders:
        for path in folder.rglob("*"):
            with contextlib.suppress(OSError):  # another process may be removing it
                size += path.stat().st_size if path.is_file() else 0
                entries += path.suffix == ".nbc"
    return Part(folders, entries, size)


def run(clear: bool, prune: bool) -> int:
    """Print the size of the cache, after emptying it (or its stale part) if asked."""
    home = cache_place().home or cache_home()
    current, stale = measure(home)
    if not clear and not prune:
        entries, size = current.entries + stale.entries, current.size + stale.size
        print(f"{home}: {entries} compiled kernels, {human_bytes(size)}")
        if stale.folders:
            print(
                f"stale: {stale.entries} of them, {human_bytes(stale.size)}, belong to other versions of the sources; "
                f"they go after {UNUSED_DAYS} days without use, or now with --prune"
            )
        return 0
    doomed = [*stale.folders, *(current.folders if clear else [])]
    for folder in doomed:
        shutil.rmtree(folder, ignore_errors=True)
    if clear:
        (home / STAMP_NAME).unlink(missing_ok=True)
        (home / PRUNE_STAMP).unlink(missing_ok=True)
    left = measure(home)
    removed = current.entries + stale.entries - left.current.entries - left.stale.entries
    freed = current.size + stale.size - left.current.size - left.stale.size
    print(f"{home}: removed {removed} compiled kernels, freed {human_bytes(freed)}")
    remaining = [folder for folder in doomed if folder.exists()]
    if remaining:
        print(f"{len(remaining)} folders could not be removed (in use, or not yours)")
    return 1 if remaining else 0
