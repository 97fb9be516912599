"""Several pipelines that answer together: the plain mean of what they say."""

import numpy as np

from hyperplan._base import BaseEstimator, check_is_fitted


class TableBlend(BaseEstimator):
    """The mean of the predictions of several pipelines, each with a preparation of its own.

    Their errors differ in part, and what differs is averaged away.  All count the same: weights would have to be
    learnt, and on few rows cost more than they gain.

    Parameters
    ----------
    members : sequence of TablePipeline
        Who answers.

    Attributes
    ----------
    classes_ : ndarray
        Codes of the classes that were seen.

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

    def __init__(self, members=()):
        self.members = members

    def __sklearn_is_fitted__(self):
        return len(self.members) > 0 and all(member.__sklearn_is_fitted__() for member in self.members)

    @property
    def prepare(self):
        """The preparation of the first member: all of them have the same columns."""
        return self.members[0].prepare

    @property
    def model(self):
        """What answers: the members together, not one of them."""
        return self

    def fit(self, X, y):
        """Fit every member.

        Parameters
        ----------
        X : DataFrame or dict of typed columns
            The table.
        y : ndarray
            Codes of classes, or numbers.
        """
        for member in self.members:
            member.fit(X, y)
        if hasattr(self.members[0], "classes_"):
            self.classes_ = self.members[0].classes_
        return self

    def predict(self, X):
        """Mean of the numbers, or codes of the classes that are most probable by the mean of the probabilities."""
        check_is_fitted(self)
        if hasattr(self, "classes_"):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return mean_prediction([member.predict(X) for member in self.members])

    def predict_proba(self, X):
        """Mean of the probabilities."""
        check_is_fitted(self)
        return mean_prediction([member.predict_proba(X) for member in self.members])


def mean_prediction(predictions) -> np.ndarray:
    """The mean, added in the order given."""
    return np.sum(predictions, axis=0) / len(predictions)
