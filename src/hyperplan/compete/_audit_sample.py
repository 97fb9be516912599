"""What the checks look at: a bounded sample of rows, each column by its kind and as a few bins.

The work of an audit does not grow with the table: with many rows a sample is drawn, with many columns a smaller one.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.compiling import working_time
from hyperplan.compete._columns import Column
from hyperplan.compete._columns_values import typed_columns

CELLS = 2e7  # looked at, in all
MOST_ROWS, FEWEST_ROWS = 20_000, 2_000
MOST_BINS, ROWS_PER_BIN = 64, 40
MOST_LEVELS = 200  # of a category; the rest is one level
USED = ("number", "category", "date")


class Sample(NamedTuple):
    """Rows of a table as arrays: `values` by column name, as `typed_values` gives them."""

    rows: np.ndarray
    columns: tuple[Column, ...]
    values: dict


class Patience:
    """How long checks may go on, and which were left out because time was over.

    Parameters
    ----------
    deadline : float or None
        Of `working_time`; None for no end.
    """

    def __init__(self, deadline: float | None = None):
        self._deadline, self.left_out = deadline, []

    @property
    def is_over(self) -> bool:
        """Whether time is over."""
        return self._deadline is not None and working_time() > self._deadline

    def ends(self, *codes: str) -> bool:
        """Whether there is no time for checks of these codes, which is noted."""
        if not self.is_over:
            return False
        self.left_out += [code for code in codes if code not in self.left_out]
        return True


ENDLESS = Patience()


def sample_size(n_columns: int) -> int:
    """Rows that are looked at in a table of so many columns."""
    return int(np.clip(CELLS / max(n_columns, 1), FEWEST_ROWS, MOST_ROWS))


def draw_rows(n_rows: int, size: int, seed: int) -> np.ndarray:
    """Sorted positions of at most `size` of `n_rows` rows, the same for the same seed."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, size, replace=False))


def draw_sample(frame, columns, rows: np.ndarray) -> Sample:
    """The given rows of the columns that models learn from (numbers, categories, dates)."""
    used = tuple(column for column in columns if column.kind in USED and column.name in frame.columns)
    part = frame if len(rows) == len(frame) else frame.iloc[rows]
    return Sample(rows, used, typed_columns(part, used))


def as_floats(values: np.ndarray) -> np.ndarray:
    """Numbers as they are, dates as days; nan where missing."""
    if values.dtype.kind != "M":
        return values
    days = values.astype("datetime64[ns]").astype(np.int64) / 86_400e9
    return np.where(np.isnat(values), np.nan, days)


def bins_of(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    """Each row's bin and their number: bin 0 holds missing values, then levels by frequency or quantiles in order."""
    if column.kind == "category":
        return level_codes(values)
    numbers = as_floats(values)
    known = np.isfinite(numbers)
    if not known.any():
        return np.zeros(len(numbers), np.intp), 1
    wanted = int(np.clip(known.sum() / ROWS_PER_BIN, 4, MOST_BINS))
    ordered = np.sort(numbers[known])
    edges = np.unique(ordered[(np.arange(1, wanted) * len(ordered)) // wanted])
    bins = np.searchsorted(edges, numbers, side="right") + 1
    bins[~known] = 0
    return bins, len(edges) + 2


def level_codes(words: np.ndarray) -> tuple[np.ndarray, int]:
    """Codes of categories: 0 missing, 1 the most frequent; rare ones beyond a limit share the last code."""
    import pandas

    codes, levels = pandas.factorize(words)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    rank = np.empty(len(levels) + 1, np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(1, len(levels) + 1)
    rank[-1] = 0
    return np.minimum(rank[codes], MOST_LEVELS), min(len(levels), MOST_LEVELS) + 1
