"""Predictions that look at no column: what every model must beat."""

import numpy as np

from hyperplan._base import BaseEstimator, ClassifierMixin, RegressorMixin


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """Predict the most frequent class, with the shares of the classes as probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.compete import ConstantClassifier
    >>> ConstantClassifier().fit(np.zeros((3, 1)), ["a", "b", "b"]).predict_proba(np.zeros((1, 1))).round(2)
    array([[0.33, 0.67]])
    """

    def fit(self, X, y):
        """Count the classes."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        """The same shares for each row."""
        return np.tile(self.shares_, (X.shape[0], 1))

    def predict(self, X):
        """The most frequent class for each row."""
        return np.full(X.shape[0], self.classes_[np.argmax(self.shares_)])


class ConstantRegressor(RegressorMixin, BaseEstimator):
    """Predict the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.compete import ConstantRegressor
    >>> ConstantRegressor().fit(np.zeros((2, 1)), [1.0, 2.0]).predict(np.zeros((1, 1)))
    array([1.5])
    """

    def fit(self, X, y):
        """Average the targets."""
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        """The same number for each row."""
        return np.full(X.shape[0], self.mean_)
