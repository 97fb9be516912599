"""Classes with too few rows to learn from and be judged on: set aside, or merged into one.

A row of its class alone is either in the training part or in the test part of a split, never in both: it cannot be
learnt and tested.  Two rows can, as rows of a class are dealt to different parts.  With groups or time no number of
rows promises that, so that the limit is the same there.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from hyperplan.compete._columns_spelling import new_spellings
from hyperplan.compete._errors import CompetitionError

MOST = 0.5  # share of the rows; where more have a value that hardly repeats, the values are no classes


class RareClasses(NamedTuple):
    """What became of rare classes.

    Attributes
    ----------
    is_aside : ndarray of bool
        Rows that are neither learnt from nor predicted.
    counts : dict of int
        Rows by name of the classes that were rare.
    into : str
        The class that they were merged into; "" if they were set aside.
    needed : int
        Rows that a class needs.
    """

    is_aside: np.ndarray
    counts: dict[str, int]
    into: str = ""
    needed: int = 2


def settle_rare(values: np.ndarray, settings) -> tuple[np.ndarray, RareClasses]:
    """Classes as they are learnt, and what became of rare ones, as the settings say.

    Parameters
    ----------
    values : ndarray of object
        The class of each row; None where it is missing.
    settings : Settings

    Raises
    ------
    CompetitionError
        Fewer than two classes are left, or most rows are of rare classes.
    """
    import pandas

    codes, names = pandas.factorize(values)
    counts, needed = np.bincount(codes[codes >= 0], minlength=len(names)), settings.rare_rows
    is_rare = counts < needed
    nobody = np.zeros(len(values), dtype=bool)
    if not is_rare.any() or len(names) < 2:
        return values, RareClasses(nobody, {}, needed=needed)
    found = {str(name): int(count) for name, count in zip(names[is_rare], counts[is_rare])}
    is_of_rare = np.append(is_rare, False)[codes]
    if settings.rare_classes == "merge":
        name = settings.rare_name
        together = np.where(is_of_rare, name, values).astype(object)
        if (together == name).sum() >= needed and len(set(names[~is_rare]) - {name}):
            return together, RareClasses(nobody, found, name, needed)
    _check_left(names, counts, is_rare, settings)
    return values, RareClasses(is_of_rare, dict(sorted(found.items())), needed=needed)


def _check_left(names, counts, is_rare, settings) -> None:
    """Two classes and half of the rows must be left."""
    if counts[is_rare].sum() > MOST * counts.sum():
        raise CompetitionError(
            "mostly_rare",
            name=settings.target,
            count=int(counts[is_rare].sum()),
            rows=int(counts.sum()),
            needed=settings.rare_rows,
        )
    if (~is_rare).sum() < 2:
        rare = int(np.flatnonzero(is_rare)[np.argmax(counts[is_rare])])
        raise CompetitionError(
            "rare_class",
            name=settings.target,
            value=str(names[rare]),
            count=int(counts[rare]),
            needed=settings.rare_rows,
        )


def spelt_classes(values, classes) -> dict[str, str]:
    """Which values of a test file are other spellings of a class, and of which."""
    return new_spellings(sorted({value for value in values if value is not None} - set(classes)), classes)


def unknown_classes(values, classes) -> dict[str, int]:
    """Rows of a test file by their class, for classes that were not learnt."""
    known = {*classes, *spelt_classes(values, classes)}
    return dict(Counter(value for value in values if value is not None and value not in known).most_common())
