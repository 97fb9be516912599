"""What the training rows looked like, kept with the model: enough to tell when new rows are of another kind.

Numbers and dates are some of their values in order (the first is the smallest, the last the largest), categories are
their levels and how often the most frequent ones came.  No row can be put together again from that.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.compete._audit_drift import column_drifts
from hyperplan.compete._audit_sample import (
    MOST_LEVELS,
    USED,
    Sample,
    as_floats,
    draw_rows,
    draw_sample,
    sample_size,
)

CELLS, MOST_VALUES, FEWEST_VALUES = 200_000, 2000, 100  # values that are kept, in all and of one column
KNOWN_LEVELS = 20_000  # of one column; of more, nobody says that one is new
FEWEST_ROWS = 30  # in which a drift is looked for: of fewer, each is named if it is odd
OTHERS = "\0"  # stands for all levels that are not among the most frequent: no word of a table begins with it


class Training(NamedTuple):
    """A summary of the rows that a model was trained on.

    Attributes
    ----------
    rows : int
        Their number.
    ids : tuple of str
        Columns that identify rows; no model learns from them.
    columns : dict
        For each column of numbers or dates its ``values`` (in order, dates as nanoseconds) and the share that is
        ``missing``; for each column of categories its ``levels`` (the most frequent first), ``counts`` and ``missing``.
    """

    rows: int
    ids: tuple[str, ...]
    columns: dict


def summarise(columns, typed: dict, ids=()) -> Training:
    """The summary of typed columns (see `typed_values`)."""
    used = [column for column in columns if column.kind in USED]
    most = int(np.clip(CELLS // max(len(used), 1), FEWEST_VALUES, MOST_VALUES))
    rows = len(typed[used[0].name]) if used else 0
    found = {}
    for column in used:
        values = typed[column.name]
        found[column.name] = _levels_of(values) if column.kind == "category" else _values_of(values, most)
    return Training(rows, tuple(ids), found)


def _values_of(values: np.ndarray, most: int) -> dict:
    known = np.sort(values[np.isfinite(as_floats(values))])
    places = np.linspace(0, max(len(known) - 1, 0), min(most, len(known))).round().astype(np.intp)
    missing = 1 - len(known) / len(values) if len(values) else 0.0
    kept = known[places]
    return {"values": kept.astype(np.int64) if kept.dtype.kind == "M" else kept, "missing": missing}


def _levels_of(words: np.ndarray) -> dict:
    import pandas

    codes, levels = pandas.factorize(words)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    order = np.argsort(-counts, kind="stable")
    missing = float((codes < 0).mean()) if len(words) else 0.0
    kept = [str(levels[k]) for k in order[: KNOWN_LEVELS + 1]]
    return {"levels": kept, "counts": counts[order][:MOST_LEVELS].astype(np.int64), "missing": missing}


def known_levels(seen: dict) -> set | None:
    """The categories that a column had in training; None if they were too many to keep."""
    return set(seen["levels"]) if len(seen["levels"]) <= KNOWN_LEVELS else None


def training_range(seen: dict, kind: str) -> tuple[float, float] | None:
    """The smallest and the largest number (of dates: days) of a column in training; None without any."""
    ends = seen["values"][[0, -1]] if len(seen["values"]) else None
    if ends is None:
        return None
    low, high = as_floats(ends.astype("datetime64[ns]") if kind == "date" else ends)
    return float(low), float(high)


def drifted_columns(training: Training, columns, frame) -> list[str]:
    """Columns whose distribution is surely and noticeably another one than in training, the farthest first.

    Few rows prove nothing: below `FEWEST_ROWS` there is no answer.
    """
    if len(frame) < FEWEST_ROWS:
        return []
    known = [column for column in columns if column.name in training.columns]
    new = draw_sample(frame, known, draw_rows(len(frame), sample_size(len(known)), 0))
    old = Sample(np.arange(training.rows), new.columns, {})
    for column in new.columns:
        seen = training.columns[column.name]
        if column.kind != "category":
            old.values[column.name] = _drawn_values(seen, column.kind, training.rows)
            continue
        frequent = set(seen["levels"][: len(seen["counts"])])
        words = new.values[column.name]
        new.values[column.name] = np.array([w if w is None or w in frequent else OTHERS for w in words], dtype=object)
        old.values[column.name] = _drawn_words(seen, training.rows)
    drifts = {name: drift for name, drift in column_drifts(old, new).items() if drift[2]}
    return sorted(drifts, key=lambda name: -drifts[name][0])


def _drawn_values(seen: dict, kind: str, rows: int) -> np.ndarray:
    """A column as it may have been: the values that were kept, and missing ones in the right share."""
    values, missing = seen["values"], seen["missing"]
    holes = round(len(values) * missing / (1 - missing)) if len(values) else min(rows, FEWEST_VALUES)
    if kind == "date":
        return np.append(values.astype("datetime64[ns]"), np.full(holes, "NaT", dtype="datetime64[ns]"))
    return np.append(values, np.full(holes, np.nan))


def _drawn_words(seen: dict, rows: int) -> np.ndarray:
    """A column of categories with about the frequencies of training, in not too many rows."""
    share = min(1.0, MOST_VALUES / max(rows, 1))
    holes = rows * seen["missing"]
    rest = max(rows - holes - seen["counts"].sum(), 0)
    counts = np.rint(share * np.array([*seen["counts"], rest, holes])).astype(np.intp)
    words = np.array([*seen["levels"][: len(seen["counts"])], OTHERS, None], dtype=object)
    return np.repeat(words, counts)
