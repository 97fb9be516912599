"""Which classes were taken for which: counts of the pairs that occur, for the report and for ``confusion.csv``."""

import csv
from pathlib import Path

import numpy as np

from hyperplan.compete._spreadsheet import harmless
from hyperplan.report._confusion import WHOLE, confusion_parts

FILE = "confusion.csv"


def counted(true: np.ndarray, predicted: np.ndarray, n_classes: int) -> list[tuple[int, int, int]]:
    """``(true, predicted, count)`` of the pairs that occur, by class: as many as there are rows at most.

    A square matrix of thousands of classes would not fit into memory, and nearly all of it would be zero.
    """
    pairs, counts = np.unique(true.astype(np.int64) * n_classes + predicted, return_counts=True)
    return [(*divmod(pair, n_classes), count) for pair, count in zip(pairs.tolist(), counts.tolist())]


def confusion_section(cells: list[tuple[int, int, int]], classes: list[str]) -> dict:
    """What the section ``classification`` tells of confusions: the matrix, or of many classes a digest of it."""
    if len(classes) > WHOLE:
        return {"confusion": None, **confusion_parts(cells, classes)}
    matrix = [[0] * len(classes) for _ in classes]
    for true, predicted, count in cells:
        matrix[true][predicted] = count
    return {"confusion": matrix}


def write_confusion(cells: list[tuple[int, int, int]], classes: list[str], path: Path) -> None:
    """The whole matrix, a row for each pair of classes that occurs."""
    totals = dict.fromkeys(range(len(classes)), 0)
    for true, _, count in cells:
        totals[true] += count
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["true", "predicted", "count", "share_of_true"])
        for true, predicted, count in cells:
            names = (harmless(str(classes[k])) for k in (true, predicted))
            out.writerow([*names, count, f"{count / totals[true]:.6g}"])
