"""The model that wins: takes tables as they come, answers with the labels of the table."""

import numpy as np

from hyperplan._base import BaseEstimator, check_is_fitted


class TableModel(BaseEstimator):
    """A fitted pipeline from raw columns to answers; made by a competition, not by hand.

    Parameters
    ----------
    pipeline : TablePipeline
        Preparation and estimator, fitted on codes of classes or on numbers.
    target : str
        Name of the column it predicts.
    classes : tuple of str
        Names of the classes in the order of their codes; () for a number.
    residuals : array of two numbers or None
        How far below and above its predictions the truth was, at the level of the intervals.
    level : float
        Of the intervals.

    Attributes
    ----------
    classes_ : ndarray of str
        Classes, when it predicts classes.

    Examples
    --------
    >>> from hyperplan.compete import compete
    >>> from hyperplan.datasets import load_penguins
    >>> X, y = load_penguins(return_X_y=True)  # doctest: +SKIP
    >>> compete(X, y, time=10).best.predict(X[:3])  # doctest: +SKIP
    """

    def __init__(self, pipeline=None, target="", classes=(), residuals=None, level=0.9):
        self.pipeline = pipeline
        self.target = target
        self.classes = classes
        self.residuals = residuals
        self.level = level

    def __sklearn_is_fitted__(self):
        return self.pipeline is not None

    @property
    def classes_(self):
        """Names of the classes."""
        return np.asarray(self.classes, dtype=object)

    @property
    def columns(self):
        """The columns that a table must have, with their kinds."""
        return self.pipeline.prepare.columns

    def fit(self, X=None, y=None):
        """Nothing: a competition has fitted the pipeline."""
        check_is_fitted(self)
        return self

    def predict(self, X):
        """Labels or numbers for the rows of a table (columns in any order; more than needed do not hurt)."""
        check_is_fitted(self)
        if not self.classes:
            return np.asarray(self.pipeline.predict(X), dtype=np.float64)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def predict_proba(self, X):
        """Probabilities, a column for each class."""
        check_is_fitted(self)
        if not self.classes:
            raise AttributeError("this model predicts a number; it has no probabilities")
        shares = self.pipeline.predict_proba(X)
        full = np.zeros((shares.shape[0], len(self.classes)))
        full[:, self.pipeline.classes_] = shares
        return full

    def predict_interval(self, X):
        """``(lower, upper)`` for a number: predictions moved by quantiles of the errors in cross-validation."""
        check_is_fitted(self)
        if self.residuals is None:
            raise AttributeError("this model predicts classes; use predict_proba")
        prediction = self.predict(X)
        return prediction + self.residuals[0], prediction + self.residuals[1]
