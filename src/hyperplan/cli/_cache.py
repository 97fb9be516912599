"""``hyperplan cache``: how large the kernel cache is, and emptying it."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from hyperplan._core.jit import cache_home
from hyperplan._core.memory import human_bytes

STAMP_NAME = "warm.json"
_DIGEST = re.compile(r"[0-9a-f]{16}")  # what `source_digest` produces: nothing else in the folder is ours


class CacheSize(NamedTuple):
    """What lies in the cache: one folder per digest, one entry per compiled signature."""

    folders: list[Path]
    entries: int
    size: int


def measure(home: Path) -> CacheSize:
    """Look at the digest folders only."""
    folders = sorted(p for p in home.iterdir() if p.is_dir() and _DIGEST.fullmatch(p.name)) if home.is_dir() else []
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    entries = sum(path.suffix == ".nbc" for path in files)
    return CacheSize(folders, entries, sum(path.stat().st_size for path in files))


def run(clear: bool) -> int:
    """Print the size of the cache, after emptying it if asked."""
    home = cache_home()
    before = measure(home)
    if not clear:
        print(f"{home}: {before.entries} compiled kernels, {human_bytes(before.size)}")
        return 0
    for folder in before.folders:
        shutil.rmtree(folder, ignore_errors=True)
    (home / STAMP_NAME).unlink(missing_ok=True)
    left = measure(home)
    removed, freed = before.entries - left.entries, human_bytes(before.size - left.size)
    print(f"{home}: removed {removed} compiled kernels, freed {freed}")
    if left.folders:
        print(f"{len(left.folders)} folders could not be removed (in use, or not yours)")
    return 1 if left.folders else 0
