"""Permutation importance: how much the score falls when the values of a column are shuffled among the rows.

For a fitted model, rows (X, y) that it has not seen, and a column j::

    importance_j = score(X, y) - mean over repetitions of score(X with column j shuffled, y)

The interval is about both sources of chance, the shuffles and the rows.  It is a delete-a-group jackknife: in each
repetition the rows are dealt at random into K = 20 groups, values are exchanged within each group (no row keeps its
own), and the fall is computed without each group in turn (predictions are not made anew)::

    importance_j +- t_{K-1, (1+level)/2} * sqrt(mean over repetitions of (K-1)/K sum_k (fall without k - their mean)^2)

A row and the one that gives it a value are thus left out together.  The variance is that of one repetition; the mean
over repetitions varies somewhat less, so that the interval is a little wide.

The model is fixed: nothing is said about what other training rows would have taught.  Columns that carry the same
information share their importance, and each alone may seem worthless: shuffle them together with `columns`.

References
----------
Breiman (2001), Random forests, Machine Learning 45.  Fisher, Rudin, Dominici (2019), All models are wrong, but many
are useful, JMLR 20.  Kott (2001), The delete-a-group jackknife, Journal of Official Statistics 17.
"""

import copy
import functools
from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, check_weight, is_classifier, is_regressor, seed_from
from hyperplan._base.members import is_own, member_map
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.rng import task_seeds
from hyperplan._texts.extras import required
from hyperplan.evaluation._checks import check_level
from hyperplan.evaluation._tables import as_table, column_names, rows_of, with_rows_permuted
from hyperplan.evaluation._weighted_metrics import has_quick_form, weighted_metric
from hyperplan.metrics import check_scoring

N_GROUPS = 20
MOST_WEIGHTS = 1 << 21  # numbers held at once: 16 MB
PLAIN = [("average", "binary")]  # options of scorers that are the metrics' defaults


class Importances(NamedTuple):
    """Importances of columns (or groups of columns), in the order of the columns.

    Attributes
    ----------
    names : list
    importances_mean, low, high : array of shape (n_columns,)
        Mean fall of the score, and its interval.
    importances_std : array of shape (n_columns,)
        Standard deviation over the repetitions.
    importances : array of shape (n_columns, n_repeats)
    baseline : float
        Score before shuffling.
    level : float
    """

    names: list
    importances_mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    importances_std: np.ndarray
    importances: np.ndarray
    baseline: float
    level: float

    def order(self) -> np.ndarray:
        """Positions from the most to the least important."""
        return np.argsort(-self.importances_mean, kind="stable")

    def frame(self):
        """A pandas frame, most important first."""
        pd = required("pandas")
        columns = {"name": self.names, "importance": self.importances_mean, "low": self.low, "high": self.high}
        return pd.DataFrame(columns).iloc[self.order()].reset_index(drop=True)

    def plot(self, ax=None, top: int = 15):
        """Draw the `top` columns with their intervals; returns the axes."""
        from hyperplan.evaluation._drawing import draw_intervals

        chosen = self.order()[:top]
        label = f"fall of the score when shuffled ({100 * self.level:g} % interval)"
        return draw_intervals(
            [str(self.names[i]) for i in chosen], self.importances_mean[chosen], self.low[chosen], self.high[chosen],
            label, ax,
        )  # fmt: skip

    def __str__(self):
        rows = [
            f"{self.names[i]!s}: {self.importances_mean[i]:.4g} [{self.low[i]:.4g}, {self.high[i]:.4g}]"
            for i in self.order()
        ]
        return "\n".join(rows)


def permutation_importance(
    estimator,
    X,
    y,
    *,
    scoring=None,
    columns=None,
    n_repeats: int = 5,
    sample_weight=None,
    level: float = 0.95,
    random_state=0,
    n_jobs=None,
) -> Importances:
    """permutation_importance(estimator, X, y, *, scoring=None, columns=None, n_repeats=5, sample_weight=None,
    level=0.95, random_state=0, n_jobs=None)
    -> Importances(names, importances_mean, low, high, importances_std, importances, baseline, level)

    How much a fitted model's score falls when columns are shuffled, with intervals.

    Parameters
    ----------
    estimator : fitted estimator
    X : array or frame of shape (n_rows, n_columns)
        Rows that the model has not seen; frames keep the types of their columns.
    y : array
    scoring : str or callable, optional
        As in scikit-learn; default accuracy for classifiers and R^2 for regressors.
    columns : list or mapping of name -> columns, optional
        What to shuffle: names or positions of columns; a mapping shuffles each group of columns together.  Default:
        every column alone.
    n_repeats : int, default=5
    sample_weight : array, optional
        Passed to the scorer.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0
        Every column has seeds of its own: leaving a column out changes nothing for the others.
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.  The result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.evaluation import permutation_importance
    >>> from hyperplan.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = 2 * X[:, 0] + X[:, 1]
    >>> found = permutation_importance(LinearRegression().fit(X[:100], y[:100]), X[100:], y[100:])
    >>> found.order().tolist()
    [0, 1, 2]
    """
    check_level(level)
    X, y = as_table(X), np.asarray(y)
    check_consistent_length(X, y)
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats!r}")
    if not isinstance(X, np.ndarray) and not hasattr(X, "columns"):
        raise TypeError("permutation_importance takes arrays and frames; turn a sparse matrix into an array first")
    weight = check_weight(sample_weight, X)
    groups = _positions(columns, column_names(X))
    scores = _Scores(estimator, y, check_scoring(estimator, scoring or _default_scoring(estimator)), weight)
    seed = seed_from(random_state)
    parts = [_row_groups(len(y), own) for own in task_seeds(seed, n_repeats)]
    baselines = scores(X, parts)
    tasks = [
        (places, repeat, int(own))
        for places in groups.values()
        for repeat, own in enumerate(task_seeds(seed + 1 + min(places), n_repeats))
    ]

    def fall(task):
        places, repeat, own = task
        shuffled = with_rows_permuted(X, places, _cycles(parts[repeat], own))
        return baselines[repeat] - scores(shuffled, parts[repeat : repeat + 1])[0]

    falls = np.array(member_map(fall, tasks, n_jobs, own=is_own(estimator)))
    falls = falls.reshape(len(groups), n_repeats, -1)  # on all rows first, then without each group of rows
    mean, half = falls[:, :, 0].mean(axis=1), _half_width(falls[:, :, 1:], level)
    falls = falls[:, :, 0]
    return Importances(
        list(groups), mean, mean - half, mean + half, falls.std(axis=1), falls, float(baselines[0, 0]), level
    )


def _row_groups(n_rows, seed) -> list:
    """Rows dealt at random into groups of about equal size, at least two rows each."""
    if n_rows < 4:
        raise ValueError(f"an interval needs at least 4 rows, got {n_rows}")
    return np.array_split(np.random.default_rng(int(seed)).permutation(n_rows), min(N_GROUPS, n_rows // 2))


def _cycles(row_groups, seed) -> np.ndarray:
    """The row from which each row takes its value: another one of its group, along a random cycle."""
    rng = np.random.default_rng(seed)
    order = np.empty(sum(map(len, row_groups)), dtype=np.intp)
    for group in row_groups:
        cycle = rng.permutation(group)
        order[cycle] = np.roll(cycle, 1)
    return order


class _Scores:
    """Scores of one model on all rows, then without each of some groups of rows."""

    def __init__(self, estimator, y, scorer, weight):
        self.estimator, self.y, self.scorer, self.weight = estimator, y, scorer, weight

    def __call__(self, X, parts) -> np.ndarray:
        """A row per partition into groups; the predictions are made once, where the scorer allows."""
        everywhere = np.arange(len(self.y))
        frozen = _Frozen(self.estimator, X) if hasattr(self.scorer, "_score_func") else None
        score = functools.partial(self._one, X, frozen)
        on_all = score(everywhere)
        quick = None if frozen is None else self._of_many(frozen, everywhere)
        rows = []
        for part in parts:
            falls = None if quick is None else self.scorer._sign * _without_each(quick, part, len(self.y))
            if falls is None or not np.isfinite(falls).all():
                falls = [score(np.delete(everywhere, group)) for group in part]
            rows.append([on_all, *falls])
        return np.array(rows)

    def _one(self, X, frozen, rows):
        extra = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        if frozen is None:  # a function that may look at X itself
            return self.scorer(self.estimator, rows_of(X, rows), self.y[rows], **extra)
        return self.scorer(frozen, rows, self.y[rows], **extra)

    def _of_many(self, frozen, everywhere):
        """The metric as a function of many weightings of the rows, for metrics that can do it at once; else None."""
        metric, heard = self.scorer._score_func, []
        if not has_quick_form(metric) or any(item not in PLAIN for item in self.scorer._kwargs.items()):
            return None

        @functools.wraps(metric)
        def listen(y_true, y_pred):
            heard.append((y_true, y_pred))
            return 0.0

        listener = copy.copy(self.scorer)  # knows which answers the metric wants, and of which class
        listener._score_func, listener._kwargs = listen, {}
        listener(frozen, everywhere, self.y)
        return weighted_metric(metric, heard[0], self.weight)


def _without_each(evaluate, part, n_rows):
    """Values without each of the groups, a few groups at a time so that the weights stay small."""
    step, values = max(1, MOST_WEIGHTS // n_rows), []
    for first in range(0, len(part), step):
        groups = part[first : first + step]
        weights = np.ones((len(groups), n_rows))
        for row, group in zip(weights, groups):
            row[group] = 0.0
        with single_threaded_blas():  # the same bits for any number of threads
            values.append(evaluate(weights))
    return np.concatenate(values)


class _Frozen:
    """A fitted model whose predictions for the rows of one table are made once; its methods take row numbers."""

    def __init__(self, estimator, X):
        self._estimator, self._X, self._answers = estimator, X, {}

    def __getattr__(self, name):
        value = getattr(self._estimator, name)
        if name not in ("predict", "predict_proba", "decision_function"):
            return value
        if name not in self._answers:
            self._answers[name] = np.asarray(value(self._X))
        answers = self._answers[name]

        def rows_answered(rows):
            return answers[rows]

        rows_answered.__name__ = name  # scikit-learn asks a method for its name
        return rows_answered

    def __sklearn_is_fitted__(self):
        return True


def _half_width(without, level):
    """Half widths of the jackknife intervals; `without` is indexed by column of X, repetition and left-out group."""
    from scipy.special import stdtrit

    k = without.shape[2]
    variance = (k - 1) * without.var(axis=2).mean(axis=1)
    return stdtrit(k - 1, 0.5 + level / 2) * np.sqrt(variance)


def _positions(columns, names) -> dict:
    """``{name: positions of its columns}``."""
    columns = names if columns is None else columns
    groups = columns if hasattr(columns, "keys") else {column: [column] for column in columns}
    where = {name: position for position, name in enumerate(names)}

    def position(column):
        if column in where:
            return where[column]
        if isinstance(column, int | np.integer) and -len(names) <= column < len(names):
            return int(column) % len(names)
        raise ValueError(f"columns: there is no column {column!r}")

    return {name: [position(c) for c in (group if isinstance(group, list | tuple) else [group])]
            for name, group in groups.items()}  # fmt: skip


def _default_scoring(estimator):
    if is_classifier(estimator):
        return "accuracy"
    if is_regressor(estimator):
        return "r2"
    raise ValueError(f"{type(estimator).__name__} is neither a classifier nor a regressor: say which scoring to use")
