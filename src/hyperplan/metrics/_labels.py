"""Labels of any kind (numbers, strings, truth values), read once: their type, their distinct values, their codes.

Columns of integers are never copied: what is found about them is their range and which values occur.  Strings are
told apart by hashing, so that nothing is sorted but the few distinct ones.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base.targets import column_or_1d, type_of_target
from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._labels_kernels import code_rows, look_up, mark_seen

CHUNK = 1 << 18  # rows per task
WIDEST = 1 << 20  # integers that span more than this are sorted, not marked in a table
MOST_STRINGS = 1 << 12  # more distinct strings than this are sorted
COUNTED = (np.int64, np.int32, np.uint8)  # integers that kernels take as they are: few types, few compilations
SINGLE = ("binary", "multiclass")


class Column(NamedTuple):
    """One label per row.

    `distinct` is sorted.  Either `codes` (positions in `distinct`) is known, or the labels are the integers
    `integers`, which start at `low` and take the values marked in `seen`.
    """

    kind: str
    values: np.ndarray
    distinct: np.ndarray
    codes: np.ndarray | None = None
    integers: np.ndarray | None = None
    low: int = 0
    seen: np.ndarray | None = None


def read_labels(y, name="y"):
    """A `Column`, or the kind of target (a str of scikit-learn's `type_of_target`) when it has no single label."""
    values = _plain(y)
    if values is not None:
        reader = {"b": _read_integers, "i": _read_integers, "u": _read_integers, "f": _read_floats, "U": _read_strings}
        column = reader.get(values.dtype.kind, _read_objects)(values)
        if column is not None:
            return column
    with np.errstate(invalid="ignore"):  # casting a NaN warns, and then it is refused with a sentence
        kind = type_of_target(y, input_name=name)
    if kind not in SINGLE:
        return kind
    values = column_or_1d(y)
    column = _read_integers(values) if values.dtype.kind in "biu" and values.size else None
    return column or _sorted_column(values)


def _plain(y):
    """`y` as a one-dimensional, non-empty array if it is one, or a column of a table; else None."""
    if type(y) is not np.ndarray:
        dtype = getattr(y, "dtype", None)
        is_text = str(dtype) in ("object", "str", "string", "category", "String", "Enum", "Categorical")
        if dtype is None or not (isinstance(dtype, np.dtype) or is_text) or getattr(y, "ndim", 1) != 1:
            return None
        y = np.asarray(y)
        if is_text and y.dtype.kind not in "UO":
            return None
    return y if y.ndim == 1 and y.size and y.dtype.kind in "biufUO" and y.dtype.isnative else None


def _column(values, distinct, **parts):
    return Column("binary" if distinct.shape[0] <= 2 else "multiclass", values, distinct, **parts)


def _sorted_column(values):
    distinct, codes = np.unique(values, return_inverse=True)
    return _column(values, distinct, codes=codes.astype(np.int64, copy=False))


def _read_integers(values):
    integers = np.ascontiguousarray(kernel_view(values.view(np.uint8) if values.dtype.kind == "b" else values))
    ends = split_map(lambda span: (integers[span].min(), integers[span].max()), spans(integers.size, CHUNK))
    low, high = min(int(end[0]) for end in ends), max(int(end[1]) for end in ends)
    if high - low >= WIDEST or high > np.iinfo(np.int64).max:
        return _sorted_column(values)
    if integers.dtype not in COUNTED:
        integers = integers.astype(np.int64)
    seen = np.zeros(high - low + 1, np.uint8)
    split_map(lambda span: mark_seen(integers[span], low, seen), spans(integers.size, CHUNK))
    distinct = (np.flatnonzero(seen) + low).astype(values.dtype)
    return _column(values, distinct, integers=integers, low=low, seen=seen)


def _read_floats(values):
    """Floats are labels if they are whole numbers; None if some are not (or not finite)."""
    values = kernel_view(values)
    with np.errstate(invalid="ignore"):
        whole = split_map(lambda span: bool(np.all(np.abs(values[span]) < 2**53)), spans(values.size, CHUNK))
        if not all(whole):
            return None
        integers = values.astype(np.int64)
    if not all(split_map(lambda span: bool(np.all(integers[span] == values[span])), spans(values.size, CHUNK))):
        return None
    column = _read_integers(integers)
    return column._replace(values=values, distinct=column.distinct.astype(values.dtype))


def _read_strings(values):
    """Chunks are coded apart, each in its own order of appearance, then translated to the sorted labels of all."""
    width = values.dtype.itemsize // 4
    if width == 0:
        return _sorted_column(values)
    rows = np.ascontiguousarray(values).view(np.uint32).reshape(-1, width)
    codes = np.empty(values.size, np.int64)

    def run(span):
        firsts = np.empty(MOST_STRINGS, np.int64)
        found = code_rows(rows[span], np.full(4 * MOST_STRINGS, -1, np.int64), firsts, codes[span])
        return None if found < 0 else values[span][firsts[:found]]

    pieces = spans(values.size, CHUNK)
    names = split_map(run, pieces)
    if any(part is None for part in names):
        return _sorted_column(values)
    distinct = np.unique(np.concatenate(names))
    for span, part in zip(pieces, names):
        codes[span] = np.searchsorted(distinct, part)[codes[span]]
    return _column(values, distinct, codes=codes)


def _read_objects(values):
    """Python strings, coded by a dictionary; None when there is anything else among them."""
    listed = values.tolist()
    if set(map(type, listed)) != {str}:
        return None
    names = sorted(dict.fromkeys(listed))
    places = {name: place for place, name in enumerate(names)}
    codes = np.fromiter(map(places.__getitem__, listed), np.int64, len(listed))
    distinct = np.empty(len(names), object)
    distinct[:] = names
    return _column(values, distinct, codes=codes)


def codes_among(column, labels):
    """Position of each row's label in `labels` (which may be in any order, and need not hold all), -1 if absent."""
    place = {label: i for i, label in enumerate(np.asarray(labels).tolist())}
    positions = np.array([place.get(label, -1) for label in column.distinct.tolist()], np.int64)
    if column.codes is not None:
        is_same = np.array_equal(positions, np.arange(positions.size))
        return column.codes if is_same else positions[column.codes]
    table = np.full(column.seen.size, -1, np.int64)
    table[np.flatnonzero(column.seen)] = positions
    codes = np.empty(column.integers.size, np.int64)
    split_map(lambda span: look_up(column.integers[span], column.low, table, codes[span]), spans(codes.size, CHUNK))
    return codes


def union_of_labels(first, second):
    """Sorted labels of two columns; strings and numbers together are an error."""
    texts = [column.distinct.dtype.kind in "UO" for column in (first, second)]
    if texts[0] != texts[1]:
        raise ValueError(f"Mix of label input types (string and number); Got {first.distinct} and {second.distinct}.")
    if np.array_equal(first.distinct, second.distinct):
        return first.distinct
    return np.unique(np.concatenate([first.distinct, second.distinct]))
