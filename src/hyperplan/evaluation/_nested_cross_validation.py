"""Nested cross-validation: the score of a model *together with* the search for its hyper-parameters.

A search that tunes and judges on the same folds reports the score of the luckiest setting, which is too good.  Here the
whole search runs inside each outer training part, and what it finds is scored on outer rows that it has never seen.
The difference between the two is reported as the optimism of the search.

References
----------
Varma, Simon (2006), Bias in error estimation when using cross-validation for model selection, BMC Bioinformatics 7.
Cawley, Talbot (2010), On over-fitting in model selection and subsequent selection bias, JMLR 11.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, clone
from hyperplan._base.members import is_own, member_map
from hyperplan.evaluation._corrected_t import corrected_t_interval
from hyperplan.evaluation._interval import Interval
from hyperplan.evaluation._splits import make_splits, share_of_splits
from hyperplan.evaluation._tables import as_table, rows_of
from hyperplan.metrics import check_scoring


class NestedScores(NamedTuple):
    """Outer scores of a search.

    Attributes
    ----------
    score : Interval
        Mean outer score with its corrected t interval.
    scores : array of shape (n_splits,)
    inner_scores : array of shape (n_splits,)
        What the search itself reported in each outer split (NaN for estimators without `best_score_`).
    optimism : float
        Mean inner minus mean outer score (NaN without inner scores).  A part of it is due to fewer training rows.
    settings : list of dict
        The parameters chosen in each split: are they stable?
    """

    score: Interval
    scores: np.ndarray
    inner_scores: np.ndarray
    optimism: float
    settings: list

    def __str__(self):
        inside = "" if np.isnan(self.optimism) else f"; the search itself reported {self.optimism:+.2g} more"
        return f"{self.score}{inside}"


def nested_cross_validation(
    search, X, y, *, cv=5, n_repeats: int = 1, scoring=None, groups=None, level=0.95, random_state=0, n_jobs=None
) -> NestedScores:
    """nested_cross_validation(search, X, y, *, cv=5, n_repeats=1, scoring=None, groups=None, level=0.95,
    random_state=0, n_jobs=None) -> NestedScores(score, scores, inner_scores, optimism, settings)

    Honest score of a search (GridSearchCV, LassoCV, ...): it is repeated from scratch in every outer split.

    Parameters
    ----------
    search : estimator
        Anything with `fit` that tunes itself; its inner splits are its own business.
    X, y : data
    cv, n_repeats, groups, random_state, n_jobs
        The outer splits, as in `score_models`.
    scoring : str or callable, optional
        Default: the `scoring` of the search, so that inner and outer scores can be compared.
    level : float, default=0.95

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import nested_cross_validation
    >>> from hyperplan.linear_model import Ridge
    >>> from hyperplan.model_selection import GridSearchCV, KFold
    >>> X, y = load_penguins(target="body_mass_g", return_X_y=True)
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, cv=KFold(5, shuffle=True, random_state=0))
    >>> found = nested_cross_validation(search, X, y)
    >>> [setting["alpha"] for setting in found.settings]
    [0.01, 0.01, 0.01, 0.01, 0.01]
    """
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
    splits = make_splits(search, X, y, cv, n_repeats, groups, random_state)
    own_scoring = getattr(search, "scoring", None)
    scorer = check_scoring(search, scoring if scoring is not None else own_scoring)

    def outer(split):
        train, test = split
        fitted = clone(search).fit(rows_of(X, train), rows_of(y, train))
        score = scorer(fitted, rows_of(X, test), rows_of(y, test))
        return score, getattr(fitted, "best_score_", np.nan), _settings(fitted)

    results = member_map(outer, splits, n_jobs, own=is_own(search))
    scores, inner, settings = zip(*results)
    score = corrected_t_interval(scores, share_of_splits(splits), level=level)
    inner = np.array(inner, dtype=np.float64)
    return NestedScores(score, np.array(scores), inner, float(inner.mean() - score.value), list(settings))


def _settings(fitted) -> dict:
    """What was chosen: `best_params_`, or the attributes that searches along a path set."""
    if hasattr(fitted, "best_params_"):
        return fitted.best_params_
    names = ("alpha_", "l1_ratio_", "C_")
    return {name.rstrip("_"): getattr(fitted, name) for name in names if hasattr(fitted, name)}
