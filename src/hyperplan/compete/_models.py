"""Fitting a candidate: preparation and estimator as one, predictions in the form of the competition."""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import BaseEstimator, check_is_fitted
from hyperplan._core.memory import require_memory
from hyperplan.compete._preparation import TablePreparation, category_positions


class TablePipeline(BaseEstimator):
    """Preparation, then estimator; probabilities are never surer than the number of rows allows.

    From n rows nobody can know that something never happens.  Probabilities are mixed with one row of the shares of the
    classes, ``(n p + shares) / (n + 1)``: a leaf that saw one class only does not claim certainty.

    Parameters
    ----------
    prepare : TablePreparation
        From columns to a matrix.
    model : estimator
        From the matrix to answers.

    Attributes
    ----------
    classes_ : ndarray
        Codes of the classes that were seen.
    shares_ : ndarray
        Their shares among the training rows.
    n_rows_ : int
        Number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.compete import TablePipeline, TablePreparation, guess_columns
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> import pandas
    >>> table = pandas.DataFrame({"size": [1.5, 2.5, 3.5, 4.5]})
    >>> model = TablePipeline(TablePreparation(guess_columns(table), "trees"), DecisionTreeClassifier())
    >>> model.fit(table, np.array([0, 0, 1, 1])).predict_proba(table)[0]
    array([0.9, 0.1])
    """

    def __init__(self, prepare=None, model=None):
        self.prepare = prepare
        self.model = model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_rows_")

    def fit(self, X, y, held=None):
        """Fit both steps; a model that did not converge says so in its certificate, not by a warning.

        Parameters
        ----------
        X : DataFrame or dict of typed columns
            The table.
        y : ndarray
            Codes of classes (-1 where it is not known, for models that can use such rows), or numbers.
        held : tuple of X and y, default=None
            Other rows, watched by a model that stops early.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.prepare.fit(X)
            matrix = self._matrix(X)
            watched = {} if held is None else {"X_val": self._matrix(held[0]), "y_val": held[1]}
            self.model.fit(matrix, y, **watched)
        self.n_rows_ = len(y)
        if hasattr(self.model, "classes_"):
            known = np.asarray(y)[np.asarray(y) >= 0]
            self.n_rows_ = len(known)
            self.classes_, counts = np.unique(known, return_counts=True)
            self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        """Numbers, or codes of the most probable classes."""
        check_is_fitted(self)
        if hasattr(self, "classes_"):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return np.asarray(self.model.predict(self._matrix(X)), dtype=np.float64)

    def predict_proba(self, X):
        """Probabilities of the classes."""
        check_is_fitted(self)
        shares = self.model.predict_proba(self._matrix(X))
        return (self.n_rows_ * shares + self.shares_) / (self.n_rows_ + 1)

    def _matrix(self, X):
        """The prepared table, dense for a model that takes no sparse rows."""
        matrix = self.prepare.transform(X)
        if not sp.issparse(matrix) or self.model.__sklearn_tags__().input_tags.sparse:
            return matrix
        needed = 8.0 * matrix.shape[0] * matrix.shape[1]
        require_memory(needed, "The table with a column for each category", "leave this model out")
        return matrix.toarray()


def build(candidate, settings, columns):
    """The unfitted pipeline of a candidate."""
    model = candidate.build(settings)
    columns = columns if candidate.simplicity else ()  # a constant needs no column
    positions = category_positions(columns, candidate.preparation)
    if candidate.preparation in ("native", "pairs") and positions and "categorical_features" in model.get_params():
        model.set_params(categorical_features=positions)
    return TablePipeline(TablePreparation(columns, candidate.preparation), model)


def predict(pipeline: TablePipeline, typed, n_classes: int) -> np.ndarray:
    """Numbers, or probabilities with a column for each class, 0 for a class that was not seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not n_classes:
            return pipeline.predict(typed)
        shares = pipeline.predict_proba(typed)
    if len(pipeline.classes_) == n_classes:
        return shares
    full = np.zeros((shares.shape[0], n_classes))
    full[:, pipeline.classes_] = shares
    return full
