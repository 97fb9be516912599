"""Which classes were taken for which: counts of the pairs that occur, for the report and for ``confusion.csv``."""

from pathlib import Path

import numpy as np

from hyperplan.compete._table_output import write_table
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
    import pandas

    true, predicted, count = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    totals = np.bincount(true, weights=count, minlength=len(classes))
    names = np.array(classes, dtype=object)
    table = {"true": names[true], "predicted": names[predicted], "count": count, "share_of_true": count / totals[true]}
    write_table(pandas.DataFrame(table), path, float_format="%.6g")
