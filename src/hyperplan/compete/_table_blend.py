"""Several pipelines that answer together: the mean of what they say."""

import itertools

import numpy as np

from hyperplan._base import BaseEstimator, check_is_fitted
from hyperplan.compete._folds import make_splits, split_kind


class TableBlend(BaseEstimator):
    """The mean of the predictions of several pipelines, each with a preparation of its own.

    Their errors differ in part, and what differs is averaged away.

    Parameters
    ----------
    members : sequence of TablePipeline or TableBlend
        Who answers.
    weights : sequence of int, default=None
        How often each one is counted; None means once.
    deals : int, default=None
        Seed by which rows are dealt into parts, one for each member: it learns from all other parts and is watched on
        its own until that sees no more gain.  None: every member learns from all rows.

    Attributes
    ----------
    classes_ : ndarray
        Codes of the classes that some member has seen.

    Examples
    --------
    >>> import numpy as np, pandas
    >>> from hyperplan.compete import TableBlend, TablePipeline, TablePreparation, guess_columns
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> table = pandas.DataFrame({"size": [1.5, 2.5, 3.5, 4.5]})
    >>> prepare = [TablePreparation(guess_columns(table), mode) for mode in ("linear", "trees")]
    >>> members = [TablePipeline(prepare[0], LinearRegression()), TablePipeline(prepare[1], DecisionTreeRegressor())]
    >>> TableBlend(members).fit(table, np.array([1.0, 0.0, 1.0, 2.0])).predict(table).round(2)
    array([0.7, 0.4, 1.1, 1.8])
    """

    def __init__(self, members=(), weights=None, deals=None):
        self.members = members
        self.weights = weights
        self.deals = deals

    def __sklearn_is_fitted__(self):
        return len(self.members) > 0 and all(member.__sklearn_is_fitted__() for member in self.members)

    @property
    def prepare(self):
        """The preparation of the first member: all of them have the same columns."""
        return self.members[0].prepare

    @property
    def model(self):
        """What answers: the first of several models of one kind as their example, otherwise the members together."""
        first = self.members[0].model
        return first if all(type(member.model) is type(first) for member in self.members) else self

    @property
    def classes_(self):
        """Codes of the classes that some member has seen."""
        return np.unique(np.concatenate([member.classes_ for member in self.members]))

    def fit(self, X, y):
        """Fit every member.

        Parameters
        ----------
        X : DataFrame or dict of typed columns
            The table.
        y : ndarray
            Codes of classes, or numbers.
        """
        if self.deals is None:
            for member in self.members:
                member.fit(X, y)
            return self
        y, typed = np.asarray(y), self.prepare.typed(X)
        parts = dealt_rows(y, hasattr(self.members[0].model, "predict_proba"), len(self.members), self.deals)
        for member, (train, held) in itertools.zip_longest(self.members, parts, fillvalue=(np.arange(len(y)), None)):
            watched = None if held is None else ({name: values[held] for name, values in typed.items()}, y[held])
            member.fit({name: values[train] for name, values in typed.items()}, y[train], held=watched)
        return self

    def predict(self, X):
        """Mean of the numbers, or codes of the classes that are most probable by the mean of the probabilities."""
        check_is_fitted(self)
        if hasattr(self, "classes_"):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return mean_prediction([member.predict(X) for member in self.members], self.weights)

    def predict_proba(self, X):
        """Mean of the probabilities; a member that never saw a class gives it none."""
        check_is_fitted(self)
        return mean_prediction([self._shares(member, X) for member in self.members], self.weights)

    def _shares(self, member, X):
        shares = member.predict_proba(X)
        if len(member.classes_) == len(self.classes_):
            return shares
        full = np.zeros((len(shares), len(self.classes_)))
        full[:, np.searchsorted(self.classes_, member.classes_)] = shares
        return full


def dealt_rows(y, is_classes: bool, n_parts: int, seed: int, groups=None) -> list:
    """``(training rows, watched rows)`` for each part; only classes that the former have can be watched by the latter.

    A part that leaves one class to learn from, or nothing to watch, is left out.
    """
    found = []
    kind = split_kind("classification" if is_classes else "regression", groups, None)
    for train, test in make_splits(y, kind, n_parts, 1, seed, groups):
        known = np.unique(y[train])
        test = test[np.isin(y[test], known)] if is_classes else test
        if len(test) and (not is_classes or len(known) > 1):
            found.append((train, test))
    return found


def mean_prediction(predictions, weights=None) -> np.ndarray:
    """The weighted mean, added in the order given."""
    weights = np.ones(len(predictions)) if weights is None else np.asarray(weights, dtype=np.float64)
    return sum(weight * prediction for weight, prediction in zip(weights, predictions)) / weights.sum()
