"""Files of hostile cases that are too large or too odd to be written down."""

import gzip
import zipfile
from pathlib import Path

import numpy as np


def rows_of(path: Path, n: int = 40, seed: int = 0, classes: int = 2, **columns) -> None:
    """A small table: two numbers, a category, and the target ``y``; further columns hold one value each."""
    import pandas

    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "weight": rng.normal(size=n).round(3),
            "colour": rng.choice(["red", "blue"], n),
            "y": [f"class {k % classes}" for k in range(n)] if classes else rng.normal(size=n).round(3),
        }
    )
    frame.assign(**columns).to_csv(path, index=False)


def bomb(path: Path, megabytes: int, head: str = "a,b,y\n", line: str = "0,0,0\n") -> None:
    """A gzip file that unpacks to so many megabytes of one line: members of 16 MB, each the same bytes."""
    block = (line * (2**24 // len(line) + 1)).encode()[: 2**24 // len(line) * len(line)]
    member = gzip.compress(block, compresslevel=9)
    with path.open("wb") as file:
        file.write(gzip.compress(head.encode()))
        for _ in range(max(1, megabytes // 16)):
            file.write(member)


def zip_bomb(path: Path, megabytes: int, member: str = "table.csv") -> None:
    """A zip archive whose one member unpacks to so many megabytes of zeros after a header."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(member, "w", force_zip64=True) as out,
    ):
        out.write(b"a,b,y\n")
        for _ in range(megabytes // 16):
            out.write(b"0,0,0\n" * (2**24 // 6))


def sparse_file(path: Path, gigabytes: int) -> None:
    """A file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(gigabytes * 2**30)


def repeated(path: Path, text: str, times: int, head: str = "", tail: str = "") -> None:
    """A text many times over."""
    path.write_text(head + text * times + tail, encoding="utf-8", newline="")


def cut_off(path: Path, of: str, share: float) -> None:
    """The first part of another file."""
    whole = (path.parent / of).read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])


def replaced(path: Path, of: str, old: str, new: str) -> None:
    """Another file with one text replaced wherever it stands."""
    whole = (path.parent / of).read_text(encoding="utf-8")
    if old not in whole:
        raise ValueError(f"{old!r} is not in {of}: the case would test nothing")
    path.write_text(whole.replace(old, new), encoding="utf-8")
