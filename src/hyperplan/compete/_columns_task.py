"""What is asked: classes or a number, and by which metric; with reasons."""

from typing import NamedTuple

import numpy as np

from hyperplan.compete._columns import Column, Told, guess_column
from hyperplan.compete._columns_gaps import found_words, gap_numbers, number_word, without_gaps
from hyperplan.compete._columns_spelling import guess_spellings
from hyperplan.compete._columns_values import as_words, number_format, parse_numbers, read_words
from hyperplan.compete._errors import TableError

MOST_CLASSES = 30  # of whole numbers; more are amounts
RARE = 5  # rows: counts have such tails, classes seldom
UNEVEN = 10.0  # ratio of the largest to the smallest class from which each class counts alike
FEW_ROWS = 60  # a coefficient of determination on a fold of so few rows is unstable


class Guess(NamedTuple):
    """A guess, the key of its reason (words in ``_texts/<language>/columns.toml``), and the numbers behind it."""

    value: str
    why: str
    values: dict = {}


def guess_task(series, column: Column | None = None) -> Guess:
    """Whether a target asks for classes or for a number.

    Words and truth values are classes, and so are two values of any type; fractions are a number.  Whole numbers are
    classes if they are few, start at 0 or 1 (or below), leave few gaps and all occur often enough.

    Parameters
    ----------
    series : pandas.Series
        The target; missing values do not count.
    column : Column, default=None
        What `guess_column` made of it, if that is known.

    Returns
    -------
    guess : Guess
        With the value "classification" or "regression".

    Examples
    --------
    >>> import pandas
    >>> from hyperplan.compete import guess_task
    >>> guess_task(pandas.Series([0.5, 1.25, 3.0])).value, guess_task(pandas.Series(["a", "b"])).value
    ('regression', 'classification')
    """
    column = column or guess_column(series, str(series.name))
    if column.distinct <= 2:
        return Guess("classification", "task_two_values", {"count": column.distinct})
    if series.dtype.kind not in "iuf":
        if column.why not in ("number_text", "mostly_numbers") and not column.format:
            return Guess("classification", "task_words", {"count": column.distinct})
        if column.kind == "date":
            return Guess("classification", "task_words", {"count": column.distinct})
        numbers = parse_numbers(series, column.format)
    else:
        numbers = series.to_numpy(np.float64)
    numbers = without_gaps(numbers, column.gaps)
    numbers = numbers[np.isfinite(numbers)]
    if (numbers != np.round(numbers)).any():
        return Guess("regression", "task_fractions", {"count": column.distinct})
    values, counts = np.unique(numbers, return_counts=True)
    is_code = values[0] <= 1 and values[-1] - values[0] + 1 <= 1.5 * len(values)
    if len(values) <= MOST_CLASSES and is_code and counts.min() >= RARE:
        return Guess("classification", "task_few_whole_numbers", {"count": len(values)})
    return Guess("regression", "task_whole_numbers", {"count": len(values)})


def guess_metric(task: str, y) -> Guess:
    """The name of the scikit-learn scorer to compare models by.

    Two classes: ``roc_auc``.  Several: ``neg_log_loss``, which judges probabilities, or ``balanced_accuracy`` if the
    largest class has ten times the rows of the smallest.  A number: ``r2``, or on few rows
    ``neg_root_mean_squared_error``.

    Parameters
    ----------
    task : {"classification", "regression"}
    y : array-like
        The target; missing values do not count.

    Returns
    -------
    guess : Guess

    Examples
    --------
    >>> from hyperplan.compete import guess_metric
    >>> guess_metric("classification", ["a", "b", "a"]).value
    'roc_auc'
    """
    import pandas

    y = pandas.Series(y).dropna()
    if task == "regression":
        if len(y) < FEW_ROWS:
            return Guess("neg_root_mean_squared_error", "metric_few_rows", {"rows": len(y)})
        return Guess("r2", "metric_number", {"rows": len(y)})
    counts = y.value_counts()
    if len(counts) <= 2:
        return Guess("roc_auc", "metric_two_classes", {"count": len(counts)})
    ratio = float(counts.iloc[0] / counts.iloc[-1])
    if ratio >= UNEVEN:
        return Guess("balanced_accuracy", "metric_uneven_classes", {"count": len(counts), "ratio": round(ratio, 1)})
    return Guess("neg_log_loss", "metric_several_classes", {"count": len(counts)})


def read_target(series, task: str, told: Told | None = None, column: Column | None = None) -> Column:
    """How the values of a target are read: what stands for a missing value, and which spellings are one.

    Parameters
    ----------
    series : pandas.Series
    task : {"classification", "regression"}
    told : Told, default=None
        What is known about the values.
    column : Column, default=None
        What `guess_column` made of the target, if that is known.
    """
    import pandas

    told = told or Told()
    column = column or guess_column(series, str(series.name), told)
    gaps, merged = column.gaps, told.merged or ()
    codes, words = pandas.factorize(as_words(series))
    if task == "classification":
        if told.gaps is None:  # a class may well be called 99
            large = {number_word(number) for number in gap_numbers(gaps) if number > 0}
            gaps = tuple(gap for gap in gaps if gap not in large)
        if told.merged is None and series.dtype.kind not in "biufM":
            is_class = ~np.isin(words, list(gaps))
            counts = np.bincount(codes[codes >= 0], minlength=len(words))
            merged = guess_spellings(words[is_class], counts[is_class])
        return column._replace(kind="category", gaps=gaps, merged=merged)
    form = column.format
    if series.dtype.kind not in "biuf":
        if told.gaps is None and column.kind not in ("number", "date"):
            gaps = (*gaps, *(word for word in found_words(words) if word not in gaps))
        form = form if column.kind == "number" and form else number_format([w for w in words if w not in gaps])[0]
    return column._replace(kind="number", format=form, gaps=gaps, merged=())


def typed_target(series, task: str, target: Column | None = None) -> np.ndarray:
    """The target as classes (text, None where missing) or as floats (nan where missing).

    Parameters
    ----------
    series : pandas.Series
    task : {"classification", "regression"}
    target : Column, default=None
        How its values are read (`read_target`); None: as they are guessed.

    Raises
    ------
    TableError
        A regression is asked of values that are no numbers; the message names the row and the value.
    """
    target = target or read_target(series, task)
    if task == "classification":
        return read_words(as_words(series), target)
    if series.dtype.kind in "biuf":
        return without_gaps(series.to_numpy(np.float64), target.gaps)
    numbers = parse_numbers(series, target.format)
    is_gap = np.isin(as_words(series), ["", *target.gaps])
    bad = np.flatnonzero(np.isnan(numbers) & series.notna().to_numpy() & ~is_gap)
    if len(bad):
        value = str(series.iloc[bad[0]])[:40]
        raise TableError("target_text", column=series.name, row=int(bad[0]) + 1, value=value, count=len(bad))
    return without_gaps(numbers, target.gaps)
