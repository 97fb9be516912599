"""Scores of several models on the same splits: what comparisons start from."""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, clone
from hyperplan._base.members import is_own, member_map
from hyperplan._texts.extras import required
from hyperplan.evaluation._corrected_t import corrected_t_interval
from hyperplan.evaluation._splits import make_splits, share_of_splits
from hyperplan.evaluation._tables import as_table, rows_of
from hyperplan.metrics import check_scoring


class SplitScores(NamedTuple):
    """Scores per split (rows) and model (columns).

    Attributes
    ----------
    table : dict of name -> array of shape (n_splits,)
    test_share : float
        n_test / n_train, as the other functions of this package want it.
    splits : list of (train, test)
    """

    table: dict
    test_share: float
    splits: list

    def intervals(self, level: float = 0.95) -> dict:
        """Name -> corrected t interval of the mean score."""
        return {name: corrected_t_interval(scores, self.test_share, level=level) for name, scores in self.table.items()}

    def frame(self):
        """A pandas frame with a row per split and a column per model."""
        pd = required("pandas")
        return pd.DataFrame(self.table)

    def __str__(self):
        return "\n".join(f"{name}: {interval}" for name, interval in self.intervals().items())


def score_models(
    models, X, y, *, cv=5, n_repeats: int = 1, scoring=None, groups=None, random_state=0, n_jobs=None
) -> SplitScores:
    """score_models(models, X, y, *, cv=5, n_repeats=1, scoring=None, groups=None, random_state=0, n_jobs=None)
    -> SplitScores(table, test_share, splits)

    Fit and score every model on the same splits.

    Parameters
    ----------
    models : mapping of name -> estimator
    X, y : data
    cv : int, splitter or list of splits, default=5
        A number means that many shuffled folds, stratified for classifiers.
    n_repeats : int, default=1
        How often the folds are drawn anew, when `cv` is a number.
    scoring : str or callable, optional
        As in scikit-learn; larger is better.
    groups : array, optional
        Rows of a group stay together.
    random_state : int, RandomState or None, default=0
        Of the splits.
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import compare_models, score_models
    >>> from hyperplan.linear_model import LinearRegression, Ridge
    >>> X, y = load_penguins(target="body_mass_g", return_X_y=True)
    >>> scores = score_models({"least squares": LinearRegression(), "ridge": Ridge(alpha=1000.0)}, X, y)
    >>> compare_models(scores, scores.test_share)[0].verdict
    'worse'
    """
    if not models:
        raise ValueError("models is empty: give a mapping of name -> estimator")
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
    first = next(iter(models.values()))
    splits = make_splits(first, X, y, cv, n_repeats, groups, random_state)
    scorers = {name: check_scoring(model, scoring) for name, model in models.items()}
    tasks = [(name, split) for name in models for split in splits]

    def score(task):
        name, (train, test) = task
        fitted = clone(models[name]).fit(rows_of(X, train), rows_of(y, train))
        return scorers[name](fitted, rows_of(X, test), rows_of(y, test))

    own = all(is_own(model) for model in models.values())
    values = np.array(member_map(score, tasks, n_jobs, own=own)).reshape(len(models), len(splits))
    return SplitScores(dict(zip(models, values)), share_of_splits(splits), splits)
