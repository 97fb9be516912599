"""What a table needs after it was read: said before it is taken, so that nobody is killed in the middle.

Typed columns hold a Python object for each cell that is no number; workers get a copy of the problem, and prepare and
train on copies of its rows.  The factors were measured on 300 000 rows of ten columns (numbers, then categories) and on
60 000 texts of 120 letters, with one worker that fitted logistic regression and boosted trees: what the competing
process and the worker took beyond what they take on a thousand rows.  What single models need beyond that, such as a
column for each category, is asked for where it is made.
"""

import numpy as np

from hyperplan._core.memory import human_bytes
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._tables_room import Room

NUMBER_COPIES = 2.8  # of 8 bytes for each number, in the competing process and in a worker alike
HERE, WORKER = 155, 90  # bytes for each cell that is no number
LETTER_COPIES = 4  # of the letters themselves


def require_table_memory(frames, n_workers: int = 0) -> None:
    """Raise unless there is room for what a competition makes of some tables.

    Parameters
    ----------
    frames : sequence of DataFrame
        They are held already.
    n_workers : int, default=0
        Processes that get copies; an exploration has none.
    """
    here = sum(_needed(frame, HERE) for frame in frames)
    each = sum(_needed(frame, WORKER) for frame in frames)
    left = Room("").left()
    if here + n_workers * each <= left:
        return
    rows, columns = (sum(len(frame) for frame in frames), max(len(frame.columns) for frame in frames))
    key = "table_memory_workers" if n_workers > 1 and here + each <= left else "table_memory"
    needed = human_bytes(here + n_workers * each)
    raise CompetitionError(
        key, rows=rows, columns=columns, size=needed, free=human_bytes(left), workers=n_workers,
        one=human_bytes(here + each),
    )  # fmt: skip


def _needed(frame, cell_bytes: int) -> float:
    numbers = letters = words = 0.0
    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind in "biufM":
            numbers += 8.0 * len(frame)
        else:
            words += len(frame)
            letters += _letters(frame.iloc[:, position])
    return NUMBER_COPIES * numbers + cell_bytes * words + LETTER_COPIES * letters


def _letters(column) -> float:
    """Bytes of the texts of a column, from a sample of its rows where it is long."""
    some = column.iloc[:: max(1, len(column) // 10_000)]
    lengths = [len(value) for value in some if isinstance(value, str)]
    return float(np.sum(lengths)) * len(column) / max(1, len(some))
