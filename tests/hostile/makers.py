"""Files of hostile cases that are too large or too odd to be written down."""

import gzip
import json
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


def clear_rows(path: Path, n: int = 60, seed: int = 0, classes: int = 2) -> None:
    """Rows whose target ``y`` follows from their ``size``, with identifiers, a date and a name that has a comma."""
    import pandas

    rng = np.random.default_rng(seed)
    size = rng.normal(size=n).round(3)
    frame = pandas.DataFrame(
        {
            "row_id": [f"r{seed}{k:04d}" for k in range(n)],
            "size": size,
            "weight": rng.exponential(size=n).round(3),
            "colour": rng.choice(["red", "blue"], n),
            "shape, form": rng.choice(["round", "long", "flat"], n),
            "day": pandas.date_range("2024-01-01", periods=n, freq="D").strftime("%Y-%m-%d"),
            "y": np.where(size > 0, "=big", "small") if classes else 3 * size + rng.normal(size=n).round(3),
        }
    )
    frame.to_csv(path, index=False)


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


def document(path: Path, of: str, changes: dict | None = None, classes: int = 0, columns: int = 0, models: int = 0,
             name: str = "thing {k}") -> None:  # fmt: skip
    """The ``report.json`` of a report with other values at dotted places, so many classes, columns or models."""
    found = json.loads((path.parent / of / "report.json").read_text(encoding="utf-8"))
    if classes:
        names, part = [name.format(k=k) for k in range(classes)], found["classification"]
        matrix = [[7 * (j == k) + 2 * (j == (k + 1) % classes) for j in range(classes)] for k in range(classes)]
        part |= {"classes": names, "confusion": matrix, "positive": None, "thresholds": None}
        found["data"]["target"] |= {"classes": names, "counts": list(range(classes))}
        for kind in ("roc", "pr", "pr_gain"):
            part[kind] = [part[kind][0] | {"class": name} for name in names[:30]]
    if columns:
        column = found["data"]["columns"][0]
        found["data"]["columns"] = [column | {"name": name.format(k=k)} for k in range(columns)]
        found["importances"] = {"columns": [{"name": name.format(k=k), "mean": k / 100} for k in range(columns)]}
    if models:
        row = next(row for row in found["leaderboard"] if not row["is_baseline"])
        copies = [row | {"label": name.format(k=k), "is_chosen": k == 0, "is_best": k == 0} for k in range(models)]
        found["leaderboard"] = copies + [row for row in found["leaderboard"] if row["is_baseline"]]
    for place, value in (changes or {}).items():
        *steps, last = (int(step) if step.isdigit() else step for step in place.split("."))
        part = found
        for step in steps:
            part = part[step]
        part[last] = value
    path.write_text(json.dumps(found), encoding="utf-8")


def many_classes(path: Path, classes: int, rows: int = 8, name: str = "sort {k}", first: str = "") -> None:
    """A table with so many classes; the first may have a name of its own."""
    import pandas

    rng = np.random.default_rng(0)
    codes = np.tile(np.arange(classes), rows)
    names = [first or name.format(k=0), *(name.format(k=k) for k in range(1, classes))]
    table = {"size": (codes + rng.normal(0, 0.6, len(codes))).round(3), "y": [names[k] for k in codes]}
    pandas.DataFrame(table).to_csv(path, index=False)


def long_cells(path: Path, cell: str, characters: int, rows: int, tail: str = "", name_length: int = 0) -> None:
    """A table whose column ``long`` repeats a text up to a length; ``{k}`` is the row, ``{half}`` its half."""
    import pandas

    words = [cell.format(k=k) for k in range(rows)]
    cells = [(word * (characters // len(word) + 1))[:characters] for word in words]
    cells = [text + tail.format(k=k, half=k % 2) for k, text in enumerate(cells)]
    table = {"long" + "g" * name_length: cells, "size": np.arange(rows) ** 2 % 7, "y": ["a", "b"] * (rows // 2)}
    pandas.DataFrame(table).to_csv(path, index=False)


def wide(path: Path, columns: int, rows: int, value: str) -> None:
    """Columns ``x0``, ``x1``... of one form; ``{j}`` is the column, ``{k}`` the row."""
    import pandas

    table = {f"x{j}": [value.format(j=j % 9 + 1, k=k % 900 + 1) for k in range(rows)] for j in range(columns)}
    pandas.DataFrame(table | {"y": ["a", "b"] * (rows // 2)}).to_csv(path, index=False)


def cells(path: Path, n: int = 40, first: dict | None = None, **columns) -> None:
    """A number ``size`` and columns whose cells are repeated in turn; ``first`` holds what stands in the first rows."""
    import csv

    first = first or {}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", *columns])
        for row in range(n):
            begun = [first.get(name, [])[row : row + 1] or [given[row % len(given)]] for name, given in columns.items()]
            writer.writerow([round(0.37 * row + (row * 7 % 11), 3), *(cell for (cell,) in begun)])
