"""Permutation importance: how much worse a model answers when one column is shuffled.

Of a column j: the score on (X, y) minus the score after column j was shuffled, `n_repeats` times.  One private copy of
X serves all columns: a column is shuffled in place and put back.  Columns that no tree asks for are exactly 0 and are
not tried.
"""

import contextlib
from numbers import Integral
from numbers import Real as RealNumber

import numpy as np

from hyperplan._base import Bunch, InvalidParameterError, check_array, check_random_state, sample_without_replacement
from hyperplan._core.parallel import effective_n_jobs, thread_limit
from hyperplan._trees.shap import used_features
from hyperplan.ensemble._explain_trees import is_readable, read_model


def permutation_importance(
    estimator,
    X,
    y,
    *,
    scoring=None,
    n_repeats=5,
    n_jobs=None,
    random_state=None,
    sample_weight=None,
    max_samples=1.0,
):
    """Loss of score when a column is shuffled.

    Numbers are those of scikit-learn for the same `random_state`, to the last bit.

    Parameters
    ----------
    estimator : fitted estimator
        Any with `fit` and, without `scoring`, `score`.  Columns that a tree model of this package never asks for are
        not tried.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, best such that the model has not seen.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        Their targets.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in scikit-learn; None: the estimator's `score`.  Several scorers give a dict of results.
    n_repeats : int, default=5
        Shuffles of each column.
    n_jobs : int or None, default=None
        Threads for the predictions, None: all cores.  It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in the score.
    max_samples : int or float in (0, 1], default=1.0
        Rows, or their share, drawn without replacement to score shuffled columns on.

    Returns
    -------
    result : Bunch or dict of Bunch
        `importances` (n_features, n_repeats), `importances_mean` and `importances_std` (n_features,).

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import RandomForestRegressor, permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = RandomForestRegressor(10, random_state=0).fit(X, X[:, 1])
    >>> found = permutation_importance(model, X, X[:, 1], random_state=0)
    >>> found.importances.shape, found.importances_mean.argmax().item()
    ((3, 5), 1)
    """
    from hyperplan._base import check_scoring

    _check(estimator, n_repeats, max_samples)
    if not hasattr(X, "columns"):
        X = check_array(X, ensure_all_finite="allow-nan", dtype=None)
    n, d = X.shape
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max + 1)
    if isinstance(max_samples, Integral) and max_samples > n:
        raise ValueError("max_samples must be <= n_samples")
    n_rows = int(max_samples) if isinstance(max_samples, Integral) else int(max_samples * n)
    scorer, options = check_scoring(estimator, scoring=scoring), {}
    if sample_weight is not None:
        options["sample_weight"] = sample_weight
    with _threads(n_jobs):
        full = scorer(estimator, X, y, **options)
        rng = np.random.RandomState(seed)
        if n_rows < n:
            rows = sample_without_replacement(n, n_rows, random_state=rng)
            X, y = _taken(X, rows), None if y is None else _taken(y, rows)
            options = {name: _taken(weight, rows) for name, weight in options.items()}
        orders = _shuffles(rng, n_rows, n_repeats)
        table, used = _Table(X, own=n_rows < n), _used_columns(estimator, d)
        subset = scorer(estimator, X, y, **options) if n_rows < n and not used.all() else full
        scores = [
            table.scores(j, orders, lambda shuffled: scorer(estimator, shuffled, y, **options))
            if used[j]
            else [subset] * n_repeats
            for j in range(d)
        ]
    if isinstance(full, dict):
        return {name: _result(full[name], [[each[name] for each in line] for line in scores]) for name in full}
    return _result(full, scores)


def _check(estimator, n_repeats, max_samples):
    if not hasattr(estimator, "fit"):
        raise InvalidParameterError(f"estimator must have the method fit, got {estimator!r}")
    if not isinstance(n_repeats, Integral) or n_repeats < 1:
        raise InvalidParameterError(f"n_repeats must be an integer >= 1, got {n_repeats!r}")
    whole = isinstance(max_samples, Integral)
    if not isinstance(max_samples, RealNumber) or max_samples <= 0 or (not whole and max_samples > 1.0):
        raise InvalidParameterError(f"max_samples must be an integer >= 1 or a float in (0, 1], got {max_samples!r}")


def _threads(n_jobs):
    return contextlib.nullcontext() if n_jobs is None else thread_limit(effective_n_jobs(n_jobs))


def _shuffles(rng, n_rows, n_repeats):
    """Orders of the rows.  Each shuffle is applied to the column as the one before left it: they are composed here."""
    shuffle, order, found = np.arange(n_rows), np.arange(n_rows), []
    for _ in range(n_repeats):
        rng.shuffle(shuffle)
        order = order[shuffle]
        found.append(order)
    return found


def _used_columns(estimator, n_features):
    """Whether a model may ask for each column; always for models that are not trees of this package."""
    if not is_readable(estimator):
        return np.ones(n_features, dtype=bool)
    return used_features(read_model(estimator).trees, n_features)


def _taken(table, rows):
    """Some rows of an array, a data frame, a series or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table[rows] if hasattr(table, "shape") else [table[i] for i in rows]


class _Table:
    """A private table of which one column at a time is shuffled."""

    def __init__(self, X, own):
        self.is_pandas, self.is_polars = hasattr(X, "iloc"), hasattr(X, "with_columns")
        self.X = X if own or self.is_polars else X.copy()

    def scores(self, j, orders, score):
        """Scores of the table with column j in each of the orders."""
        X = self.X
        if self.is_polars:  # columns are shared, not copied
            return [score(X.with_columns(X[:, j][order].alias(X.columns[j]))) for order in orders]
        column = X.iloc[:, j].array.copy() if self.is_pandas else X[:, j].copy()
        found = []
        for order in orders:
            self._put(j, column[order])
            found.append(score(X))
        self._put(j, column)
        return found

    def _put(self, j, column):
        if self.is_pandas:
            self.X.isetitem(j, column)
        else:
            self.X[:, j] = column


def _result(full, scores):
    found = full - np.array(scores)
    return Bunch(importances_mean=found.mean(axis=1), importances_std=found.std(axis=1), importances=found)
