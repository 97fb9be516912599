"""From a table and settings to a problem that workers can solve: what is asked, of which rows, by which columns."""

from typing import Any, NamedTuple

import numpy as np

from hyperplan.compete._classes import RareClasses, settle_rare
from hyperplan.compete._columns import Column, guess_column
from hyperplan.compete._columns_order import group_codes, time_codes
from hyperplan.compete._columns_task import Guess, guess_metric, guess_task, read_target, typed_target
from hyperplan.compete._columns_told import read_columns, told_values, with_format
from hyperplan.compete._columns_values import as_word, as_words, typed_columns
from hyperplan.compete._errors import CompetitionError, KindsOfColumns, Option
from hyperplan.compete._folds import make_splits, split_kind
from hyperplan.compete._measures import NEEDS_BOTH, find_measure
from hyperplan.compete._names import nearest_names
from hyperplan.compete._preparation import USED, native_order
from hyperplan.compete._problem import Problem
from hyperplan.compete._settings import Settings, check_names

FEWEST_ROWS = 10
FOLDS = 5
ONE_CLASS_METRIC = "neg_log_loss"  # defined also where all test rows are of one class
MOST_UNLABELLED = 5  # rows without a target for each row with one
FARTHEST, NEAREST = 1e100, 1e-100  # largest value and smallest spread of a number to predict
REPEATS = ((500, 4), (5000, 2))  # (rows below which, repetitions)


class Question(NamedTuple):
    """A table with its question.

    Attributes
    ----------
    settings : Settings
        What was asked for.
    frame, test : DataFrame, DataFrame or None
        The table, and the rows to predict.
    columns : tuple of Column
        Every column but the target, with the kind that is used.
    task, metric : Guess
        What was asked or guessed, and why.
    is_labelled : ndarray of bool
        Rows that have a value of the target that is learnt.
    problem : Problem
        What workers get.
    kind : str
        How rows are dealt over splits.
    target : Column
        How the values of the target are read.
    rare : RareClasses
        What became of classes with too few rows.
    labels : ndarray or None
        Values of the target behind the codes of the classes, in the type they had; None for numbers.
    """

    settings: Settings
    frame: Any
    test: Any
    columns: tuple[Column, ...]
    task: Guess
    metric: Guess
    is_labelled: np.ndarray
    problem: Problem
    kind: str
    target: Column
    rare: RareClasses
    labels: np.ndarray | None = None

    @property
    def is_unlabelled(self) -> np.ndarray:
        """Rows to predict: they have no value of the target, rather than one that was set aside."""
        return ~self.is_labelled & ~self.rare.is_aside

    def without_copies(self) -> "Question":
        """The same without the typed values, which are a second form of the table."""
        return self._replace(problem=self.problem._replace(typed={}, unlabelled=None))

    def with_copies(self) -> "Question":
        """The same with the typed values, made from the table again."""
        typed, unlabelled = _typed_parts(
            self.frame, self.is_labelled, self.is_unlabelled, self.problem.columns, self.problem.classes
        )
        return self._replace(problem=self.problem._replace(typed=typed, unlabelled=unlabelled))

    def typed(self, frame) -> dict:
        """Typed values of the columns that are learnt from, for any table that has them."""
        return _typed(frame, self.problem.columns)


def make_question(frame, settings: Settings, test=None, columns=None) -> Question:
    """Find out what is asked.

    Parameters
    ----------
    frame : DataFrame
        The table, its rows in the order of the file.
    settings : Settings
        What is known; the rest is guessed.
    test : DataFrame, default=None
        Rows to predict.
    columns : sequence of Column, default=None
        Columns if they are known already.
    """
    name = target_name(frame, settings)
    check_names(settings, [str(column) for column in frame.columns])
    _check_parts(settings, name)
    columns = tuple(columns or read_columns(frame, settings, name))
    told = told_values(settings).get(name)
    guess = guess_column(frame[name], name, told)
    task = guess_task(frame[name], guess) if settings.task == "auto" else Guess(settings.task, "asked")
    target = read_target(frame[name], task.value, told, guess)
    if settings.formats.get(name, target.format) != target.format:
        target = with_format(frame[name], target, settings.formats[name])
    values, rare = read_classes(frame[name], task.value, target, settings)
    is_labelled = _labelled(values, task.value) & ~rare.is_aside
    y, classes = _coded(values[is_labelled], task.value, name, _positive(settings.positive, target))
    metric = guess_metric(task.value, y) if settings.metric is None else Guess(settings.metric, "asked")
    find_measure(metric.value, task.value, len(classes))
    used = _used(columns, settings)
    groups = _codes_of(frame, settings.group, columns, is_labelled, group_codes)
    order = _codes_of(frame, settings.time_column, columns, is_labelled, time_codes)
    kind = split_kind(task.value, groups, order)
    n_folds, n_repeats = _sizes(y, classes, groups, settings, kind)
    splits = make_splits(y, kind, n_folds, n_repeats, settings.seed, groups, order)
    if kind == "time":  # rows of one class teach nothing, and time is dealt once
        splits = tuple(split for split in splits if not classes or np.ptp(y[split.train]))
        n_folds = len(splits)
    if not splits:
        raise CompetitionError("no_split", name=settings.time_column or settings.group or name)
    metric = _defined(metric, splits, y, classes)
    is_unlabelled = ~is_labelled & ~rare.is_aside
    typed, unlabelled = _typed_parts(frame, is_labelled, is_unlabelled, used, classes)
    problem = Problem(
        task.value, used, typed, y, classes, metric.value, splits, n_folds, groups, order, settings.seed, unlabelled
    )
    return Question(settings, frame, test, columns, task, metric, is_labelled, problem, kind, target, rare)


def read_classes(series, task: str, target: Column, settings: Settings) -> tuple[np.ndarray, RareClasses]:
    """The values of the target, and what became of rare classes; numbers have none."""
    values = typed_target(series, task, target)
    if task == "classification":
        return settle_rare(values, settings)
    return values, RareClasses(np.zeros(len(values), dtype=bool), {})


def _positive(asked, target: Column):
    """The positive class as it is spelt among the classes."""
    spelling = {other: value for value, others in target.merged for other in others}
    return asked if asked is None else spelling.get(as_word(asked), asked)


def _defined(metric: Guess, splits, y, classes) -> Guess:
    """A metric that every split can be judged by, also one whose test rows are all of one class."""
    has_both = all(np.ptp(y[split.test]) for split in splits)
    if len(classes) != 2 or metric.value not in NEEDS_BOTH or has_both:
        return metric
    if metric.why == "asked":
        raise CompetitionError("metric_one_class", name=metric.value, instead=ONE_CLASS_METRIC)
    return Guess(ONE_CLASS_METRIC, "metric_one_class")


def _typed(frame, columns) -> dict:
    return typed_columns(frame, columns)


def _typed_parts(frame, is_labelled, is_unlabelled, columns, classes):
    """Typed values of the labelled rows, and for classes of the rows to predict if there are any (else None)."""
    typed = _typed(frame if is_labelled.all() else frame[is_labelled], columns)
    if not classes or not is_unlabelled.any():
        return typed, None
    others = some_rows(np.flatnonzero(is_unlabelled), int(is_labelled.sum()))
    return typed, _typed(frame.iloc[others], columns)


def some_rows(rows: np.ndarray, n_labelled: int) -> np.ndarray:
    """Rows without a target that models may use: all, or evenly spaced ones where they would outweigh the others."""
    most = MOST_UNLABELLED * n_labelled
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(int)]


def target_name(frame, settings) -> str:
    """The column to predict; an error names the nearest when there is no such column."""
    names = [str(name) for name in frame.columns]
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    if settings.target is None:
        raise CompetitionError("no_target", columns=shown)
    if settings.target in names:
        return settings.target
    if near := nearest_names(settings.target, names):
        raise CompetitionError("target_absent", name=settings.target, near=", ".join(near))
    raise CompetitionError("target_absent_far", name=settings.target, columns=shown)


def _labelled(values, task):
    if task == "regression":
        return np.isfinite(values)
    return np.fromiter((value is not None for value in values), dtype=bool, count=len(values))


def _coded(values, task, name, positive):
    """``(y, classes)``: codes of classes with the positive one of two as 1, or numbers and ()."""
    if not len(values):
        raise CompetitionError("target_empty", name=name)
    if len(values) < FEWEST_ROWS:
        raise CompetitionError("too_few_rows", name=name, count=len(values), needed=FEWEST_ROWS)
    if task == "regression":
        if values.min() == values.max():
            raise CompetitionError("target_constant", name=name, value=float(values[0]))
        _check_reach(values, name)
        return values.astype(np.float64), ()
    classes, y = np.unique(values.astype(str), return_inverse=True)
    if len(classes) == 1:
        raise CompetitionError("target_constant", name=name, value=str(classes[0]))
    names = by_number([str(value) for value in classes])
    if positive is not None:
        wanted = _positive_name(positive, names)
        if wanted is None:
            raise CompetitionError("positive", value=str(positive), known=", ".join(names[:20]))
        names = [*(value for value in names if value != wanted), wanted] if len(names) == 2 else names
    codes = {value: code for code, value in enumerate(names)}
    lookup = np.array([codes[str(value)] for value in classes], dtype=np.intp)
    return lookup[y], tuple(names)


def _positive_name(positive, names) -> str | None:
    """The class that a value means: 1 is also 1.0 and True, as for Python; None for no class."""
    import pandas

    found = [str(word) for word in as_words(pandas.Series([positive]))]
    if not isinstance(positive, str) and positive in (0, 1):
        found += [str(int(positive)), str(bool(positive))]
    return next((name for name in found if name in names), None)


def _check_reach(values, name) -> None:
    """Errors are squared and summed: that has no meaning where squares overflow or vanish."""
    far, spread = float(np.abs(values).max()), float(values.max() / 2 - values.min() / 2)
    if far > FARTHEST or spread < NEAREST:
        key, value = ("target_huge", far) if far > FARTHEST else ("target_tiny", 2 * spread)
        raise CompetitionError(key, name=name, value=f"{value:.2g}")


def by_number(names):
    """Classes that are numbers in the order of the numbers, others by name."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)


def _used(columns, settings):
    """Columns to learn from: groups would not be seen again, and what the settings drop is not wanted."""
    left_out = {*settings.drop, settings.group}
    used = native_order(column for column in columns if column.kind in USED and column.name not in left_out)
    if not columns:
        raise CompetitionError("target_alone", name=settings.target)
    if not used:
        raise CompetitionError("no_columns", columns=KindsOfColumns((c.name, c.kind) for c in columns[:20]))
    return used


def _codes_of(frame, name, columns, rows, coded):
    """Codes of the column that tells groups or time; None without one."""
    if name is None:
        return None
    column = next(column for column in columns if column.name == name)
    return coded(frame[name][rows], column)


def _check_parts(settings: Settings, target: str) -> None:
    """Groups and time are columns of their own, and only one of them divides the rows."""
    dropped = target if target in settings.drop else None
    parts = (("group", settings.group), ("time-column", settings.time_column), ("drop", dropped))
    for option, name in parts:
        if name == target:
            raise CompetitionError("target_divides", name=name, option=Option(option))
    if settings.group is not None and settings.time_column is not None:
        raise CompetitionError("group_and_time", group=settings.group, time=settings.time_column)


def _sizes(y, classes, groups, settings, kind):
    """Number of folds and of repetitions."""
    n_folds = settings.folds or FOLDS
    if groups is not None:
        count = len(np.unique(groups))
        if count < 2:
            raise CompetitionError("one_group", name=settings.group, count=count, needed=2)
        n_folds = min(n_folds, count)
    if len(classes) == 2 and kind == "stratified":
        n_folds = max(2, min(n_folds, int(np.bincount(y).min())))
    n_folds = min(n_folds, len(y) // 2)
    repeats = next((count for rows, count in REPEATS if len(y) < rows), 1)
    return n_folds, 1 if kind == "time" else repeats
