"""The question in the form that workers get it: typed columns, coded target, the same splits for everybody."""

from typing import NamedTuple

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan.compete._measures import MEASURES, Measure

ALL_ROWS = -1  # instead of the number of a split: learn from every labelled row


class Split(NamedTuple):
    """Rows to learn from and rows to be judged by."""

    train: np.ndarray
    test: np.ndarray


class Problem(NamedTuple):
    """Everything a worker needs.

    Attributes
    ----------
    task : {"classification", "regression"}
        What is asked.
    columns : tuple of Column
        Columns to learn from, texts last.
    typed : dict
        Column name -> typed values of the labelled rows.
    y : ndarray
        Codes of classes, or numbers.
    classes : tuple of str
        Names of the classes; () for regression.
    metric : str
        Name of the measure.
    splits : tuple of Split
        The outer splits, repetition after repetition.
    n_folds : int
        Splits of one repetition.
    groups : ndarray or None
        Rows of one group stay together, in inner splits too.
    order : ndarray or None
        Time of each row; inner splits judge later rows.
    seed : int
        Of everything random.
    unlabelled : dict or None
        Typed values of rows without a target, for candidates that use them; None without such rows.
    """

    task: str
    columns: tuple
    typed: dict
    y: np.ndarray
    classes: tuple[str, ...]
    metric: str
    splits: tuple[Split, ...]
    n_folds: int
    groups: np.ndarray | None
    order: np.ndarray | None
    seed: int
    unlabelled: dict | None = None

    @property
    def n_rows(self) -> int:
        """Labelled rows."""
        return len(self.y)

    @property
    def measure(self) -> Measure:
        """What models are judged by."""
        return MEASURES[self.metric]

    def rows(self, typed: dict, chosen) -> dict:
        """Some rows of typed columns."""
        return {name: values[chosen] for name, values in typed.items()}

    def train_rows(self, split: int) -> np.ndarray:
        """Rows to learn from in a split, or all."""
        return np.arange(self.n_rows) if split == ALL_ROWS else self.splits[split].train

    def mean_test_share(self) -> float:
        """n_test / n_train, which corrected intervals need."""
        return float(np.mean([len(split.test) / len(split.train) for split in self.splits]))


def task_seed(problem: Problem, candidate: Candidate, split: int) -> list[int]:
    """Seed of one trial: by the problem, the candidate's name and the split, not by when or where it runs."""
    return [problem.seed, split + 1, *candidate.name.encode()]


def some_rows(problem: Problem, count: int) -> np.ndarray:
    """About so many of the rows, the same for the same seed: the latest where there is time, every class among them."""
    if count >= problem.n_rows:
        return np.arange(problem.n_rows)
    if problem.order is not None:
        mixed = np.argsort(problem.order, kind="stable")[::-1]
    else:
        mixed = np.random.default_rng(problem.seed).permutation(problem.n_rows)
    if not problem.classes:
        return np.sort(mixed[:count])
    y = problem.y[mixed]
    place = np.empty(len(y), np.intp)  # of each row among those of its class
    by_class = np.argsort(y, kind="stable")
    sizes = np.bincount(y, minlength=len(problem.classes))
    place[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(mixed[place < np.ceil(sizes[y] * count / len(y))])
