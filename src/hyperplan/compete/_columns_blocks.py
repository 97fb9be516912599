"""Many columns at once: a table of thousands of columns shall not take thousands of steps.

Pandas copies the notes of a frame (its ``attrs``) to every column that is taken out, and each column costs some fifty
microseconds beside.  Columns of floats lie together in memory: what most of them are can be told from all in one look.
"""

import numpy as np

from hyperplan.compete._columns_gaps import may_be_gap

CELLS = 2_000_000  # of one look: 16 MB
EXAMPLES, HEAD = 3, 8  # values that are shown, and rows in which they are looked for first


def without_notes(frame):
    """The same frame without its ``attrs``."""
    bare = frame.copy(deep=False)
    bare.attrs = {}
    return bare


def _float_parts(frame):
    """``(positions, frame of these columns)`` of the plain floats, of one type and not too many at a time."""
    dtypes, bare = list(frame.dtypes), without_notes(frame)
    for dtype in dict.fromkeys(dtype for dtype in dtypes if isinstance(dtype, np.dtype) and dtype.kind == "f"):
        part = bare.select_dtypes(dtype.name)
        positions = [position for position, other in enumerate(dtypes) if other == dtype]
        if part.shape[1] != len(positions):  # types of extensions are there as well
            continue
        step = max(1, CELLS // max(len(frame), 1))
        for first in range(0, len(positions), step):
            yield positions[first : first + step], part.iloc[:, first : first + step]


def float_views(frame) -> dict[int, np.ndarray]:
    """Columns of 64-bit floats by their position, where they can be had without copying them."""
    views = {}
    for positions, part in _float_parts(frame):
        rows = part.to_numpy().T
        if rows.dtype == np.float64 and np.may_share_memory(rows, part.iloc[:, 0].to_numpy()):
            views |= zip(positions, rows)
    return views


def plain_floats(frame) -> dict[int, tuple[float, int, tuple[str, ...]]]:
    """``(share missing, distinct values, examples)`` of the columns that are surely numbers, by their position.

    Such a column has fractions, no infinite value, and neither its smallest nor its largest value may be one that
    stands for a missing one: nothing about it is left to be decided.
    """
    found: dict[int, tuple[float, int, tuple[str, ...]]] = {}
    n_rows = len(frame)
    for positions, part in _float_parts(frame) if n_rows else ():
        rows = part.to_numpy().T
        ordered = np.sort(rows, axis=1)  # missing values last
        known = n_rows - np.isnan(ordered).sum(axis=1)
        distinct = (ordered[:, 1:] > ordered[:, :-1]).sum(axis=1) + (known > 0)
        low, high = ordered[:, 0].astype(np.float64), ordered[np.arange(len(rows)), known - 1].astype(np.float64)
        with np.errstate(invalid="ignore"):
            is_plain = ((ordered != np.round(ordered)) & ~np.isnan(ordered)).any(axis=1)
        is_plain &= (distinct > 1) & np.isfinite(low) & np.isfinite(high)
        for j in np.flatnonzero(is_plain):
            if not (may_be_gap(float(low[j])) or may_be_gap(float(high[j]))):
                share = 1 - int(known[j]) / n_rows
                found[positions[j]] = (share, int(distinct[j]), _examples(rows[j], int(distinct[j])))
    return found


def _examples(values: np.ndarray, distinct: int) -> tuple[str, ...]:
    """The first few distinct values."""
    import pandas

    first = dict.fromkeys(value for value in values[:HEAD] if value == value)
    if len(first) < min(EXAMPLES, distinct):
        first = dict.fromkeys(pandas.unique(values[~np.isnan(values)])[:EXAMPLES])
    return tuple(str(value)[:40] for value in list(first)[:EXAMPLES])
