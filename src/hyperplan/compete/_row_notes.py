"""New rows that a model answers without knowing much about them: named, so that nobody takes the answer at its word."""

import numpy as np

from hyperplan.compete._audit_sample import as_floats
from hyperplan.compete._columns_gaps import says_missing
from hyperplan.compete._columns_values import as_words, typed_values
from hyperplan.compete._preparation import USED
from hyperplan.compete._training import known_levels, training_range

CODES = (
    "empty",
    "unknown",
    "unseen",
    "infinite",
    "far",
    "unreadable",
)  # as in the texts; "empty" and "unknown" of rows
FAR = 1.0  # how many times the training range a value must lie outside it

Notes = dict[str, dict[str, np.ndarray]]  # code -> column ("" for the whole row) -> numbers of rows, from 0


def row_notes(frame, columns, training) -> Notes:
    """What is odd about which rows.

    - empty: no value in any column that the model uses
    - unknown: no category that training rows had, though there are some; unseen: one of several is new
    - infinite: a number that is not finite, which counts as missing
    - far: a number or date farther outside the training range than that is wide
    - unreadable: no number or date where one should be, which counts as missing
    """
    used = [column for column in columns if column.kind in USED]
    if not used or not len(frame):
        return {}
    found: Notes = {code: {} for code in CODES}
    is_empty = np.ones(len(frame), dtype=bool)
    n_words, n_new = np.zeros(len(frame), dtype=np.intp), np.zeros(len(frame), dtype=np.intp)
    for column in used:
        series, seen = frame[column.name], training.columns.get(column.name) if training else None
        values = typed_values(series, column)
        is_missing = _missing(values)
        is_empty &= is_missing
        if column.kind == "category" and seen is not None:
            is_new = _new_words(values, seen)
            n_words, n_new = n_words + ~is_missing, n_new + is_new
            found["unseen"][column.name] = is_new
        elif column.kind in ("number", "date"):
            found["infinite"][column.name] = np.isinf(as_floats(values))
            found["unreadable"][column.name] = _unreadable(series, is_missing, column)
            if seen is not None:
                found["far"][column.name] = _far(as_floats(values), training_range(seen, column.kind))
    is_unknown = (n_words > 0) & (n_words == n_new)
    found["empty"][""], found["unknown"][""] = is_empty, is_unknown
    found["unseen"] = {name: is_new & ~is_unknown for name, is_new in found["unseen"].items()}
    rows = {code: {name: np.flatnonzero(mask) for name, mask in masks.items()} for code, masks in found.items()}
    return without_empty(rows)


def without_empty(notes: Notes) -> Notes:
    """Only what there is."""
    kept = {code: {name: rows for name, rows in parts.items() if len(rows)} for code, parts in notes.items()}
    return {code: parts for code, parts in kept.items() if parts}


def joined(parts: list[tuple[int, Notes]]) -> Notes:
    """The notes of a whole table from those of its parts, each with the number of its first row."""
    found: dict[str, dict[str, list]] = {code: {} for code in CODES}
    for first, notes in parts:
        for code, columns in notes.items():
            for name, rows in columns.items():
                found[code].setdefault(name, []).append(rows + first)
    return without_empty({code: {name: np.concatenate(r) for name, r in c.items()} for code, c in found.items()})


def noted_rows(parts: dict[str, np.ndarray]) -> np.ndarray:
    """Rows of one code, in order."""
    return np.unique(np.concatenate(list(parts.values())))


def _missing(values) -> np.ndarray:
    if values.dtype.kind == "M":
        return np.isnat(values)
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.fromiter((value is None or value == "" for value in values), dtype=bool, count=len(values))


def _new_words(words, seen: dict) -> np.ndarray:
    known = known_levels(seen)
    if known is None:
        return np.zeros(len(words), dtype=bool)
    return np.fromiter((w is not None and w != "" and w not in known for w in words), dtype=bool, count=len(words))


def _unreadable(series, is_missing, column) -> np.ndarray:
    if series.dtype.kind in ("biuf" if column.kind == "number" else "M"):
        return np.zeros(len(series), dtype=bool)
    return is_missing & ~says_missing(as_words(series), column.gaps)


def _far(numbers, ends) -> np.ndarray:
    if ends is None:
        return np.zeros(len(numbers), dtype=bool)
    low, high = ends
    span = (high / 2 - low / 2) * 2 if high > low else max(abs(low), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.isfinite(numbers) & ((numbers < low - FAR * span) | (numbers > high + FAR * span))
