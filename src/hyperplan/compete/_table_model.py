"""The model that wins: takes tables as they come, answers with the labels of the table."""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    ClassifierTags,
    RegressorTags,
    accuracy_score,
    available_if,
    check_is_fitted,
    clone,
    r2_score,
)
from hyperplan.compete._classes import spelt_classes
from hyperplan.compete._columns import Told
from hyperplan.compete._columns_task import read_target, typed_target
from hyperplan.compete._columns_values import as_words
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._frames import memory_frame, plain_frame, target_values
from hyperplan.compete._labels import label_order, label_values
from hyperplan.compete._preparation import USED
from hyperplan.compete._question import by_number, some_rows
from hyperplan.compete._semi_supervised import SelfTrainingClassifier, with_unlabelled


class Fitted(NamedTuple):
    """What answers: a pipeline on codes or numbers, and the classes in the order of the labels.

    Attributes
    ----------
    pipeline : TablePipeline or TableBlend
        Fitted.
    names : tuple of str
        Of the classes; () for a number.
    labels : ndarray
        Their values.
    codes : ndarray
        Their codes in the pipeline.
    residuals : array of two numbers or None
        What makes an interval of a number.
    """

    pipeline: Any
    names: tuple[str, ...]
    labels: np.ndarray
    codes: np.ndarray
    residuals: Any = None


def _has_classes(model) -> bool:
    if not model.classes:
        raise AttributeError("this model predicts a number; it has no probabilities")
    return True


def _has_intervals(model) -> bool:
    if model.classes:
        raise AttributeError("this model predicts classes; use predict_proba")
    if model._answering().residuals is None:
        raise AttributeError("this model was fitted again, and its errors on other rows are not known: use compete")
    return True


class TableModel(BaseEstimator):
    """A fitted pipeline from raw columns to answers; made by a competition, not by hand.

    It is a classifier or a regressor in the sense of scikit-learn, by what was asked: scorers, `clone`,
    `cross_val_score`, searches and pipelines take it.  A clone is not fitted; `fit` fits the chosen model with the
    chosen settings again, and on the rows of the competition gives the same model (unless these were dealt in groups).

    Parameters
    ----------
    pipeline : TablePipeline or TableBlend
        Preparation and estimator; fitted on codes of classes or on numbers, or not yet.
    target : str
        Name of the column it predicts.
    classes : tuple of str
        Names of the classes, as reports show them; () for a number.
    residuals : array of two numbers or None
        How far below and above its predictions the truth was, at the level of the intervals.
    level : float
        Of the intervals.
    labels : ndarray, default=None
        Values of the classes as the table had them, in the order of `classes`; None means their names.
    codes : sequence of int, default=None
        Code of each class in the pipeline; None means 0, 1, ...
    training : Training, default=None
        What the training rows looked like.

    Attributes
    ----------
    classes_ : ndarray
        Values of the classes, in the type that the table had; of a classifier only.
    columns : tuple of Column
        The columns that a table must have, with their kinds.
    feature_names_in_, n_features_in_ : ndarray of str, int
        Names and number of these columns.
    refitted_ : Fitted
        What `fit` learnt; without `fit` the pipeline answers as it was given.

    Examples
    --------
    >>> from hyperplan.compete import compete
    >>> from hyperplan.datasets import load_penguins
    >>> X, y = load_penguins(return_X_y=True)  # doctest: +SKIP
    >>> compete(X, y, time=10).best.predict(X[:3])  # doctest: +SKIP
    """

    def __init__(
        self, pipeline=None, target="", classes=(), residuals=None, level=0.9, labels=None, codes=None, training=None
    ):
        self.pipeline = pipeline
        self.target = target
        self.classes = classes
        self.residuals = residuals
        self.level = level
        self.labels = labels
        self.codes = codes
        self.training = training

    def __sklearn_is_fitted__(self) -> bool:
        given = self.pipeline is not None and self.pipeline.__sklearn_is_fitted__()
        return given or hasattr(self, "refitted_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.classes else "regressor"
        tags.classifier_tags = ClassifierTags() if self.classes else None
        tags.regressor_tags = None if self.classes else RegressorTags()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _answering(self) -> Fitted:
        """What answers now."""
        if hasattr(self, "refitted_"):
            return self.refitted_
        labels = np.asarray(self.classes, dtype=object) if self.labels is None else np.asarray(self.labels)
        codes = np.arange(len(self.classes)) if self.codes is None else np.asarray(self.codes)
        return Fitted(self.pipeline, tuple(self.classes), labels, codes, self.residuals)

    @property
    def classes_(self) -> np.ndarray:
        """Values of the classes, in the type that the table had."""
        check_is_fitted(self)
        if not self.classes:
            raise AttributeError("this model predicts a number; it has no classes")
        return self._answering().labels

    @property
    def columns(self) -> tuple:
        """The columns that a table must have, with their kinds."""
        return self._answering().pipeline.prepare.columns

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of these columns."""
        check_is_fitted(self)
        return np.array([column.name for column in self.columns if column.kind in USED], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of these columns."""
        return len(self.feature_names_in_)

    def fit(self, X, y) -> "TableModel":
        """Fit the chosen model with the chosen settings to other rows.

        Parameters
        ----------
        X : DataFrame or array
            A table with the columns of the competition, in any order.
        y : array-like
            Labels or numbers; rows without one are left out, or used by a model that learns from such rows.
        """
        pipeline, own = clone(self.pipeline), target_values(y)
        X = memory_frame(X)
        typed = pipeline.prepare.typed(X) or {"": np.zeros(len(X))}  # a constant needs no column
        n_rows = len(next(iter(typed.values())))
        if len(own) != n_rows:
            raise CompetitionError("input_length", rows=n_rows, values=len(own))
        plain = plain_frame(own.to_frame("y"))["y"]
        if self.classes:
            self.refitted_ = self._fit_classes(pipeline, typed, own, plain, y)
            return self
        values = typed_target(plain, "regression", read_target(plain, "regression", Told(gaps=())))  # as they stand
        known = np.flatnonzero(np.isfinite(values))
        pipeline.fit(_rows(typed, known), values[known])
        self.refitted_ = Fitted(pipeline, (), np.empty(0), np.empty(0))
        return self

    def _fit_classes(self, pipeline, typed, own, plain, y) -> Fitted:
        """A pipeline on codes: classes that are known keep their order, new ones come last."""
        words = as_words(plain)
        spelling = spelt_classes(words, self.classes)
        words = np.array([spelling.get(word, word) for word in words], dtype=object)
        known, names = np.flatnonzero(words != None), list(self._coded_names())  # noqa: E711 - element by element
        found = set(words[known])
        names = [name for name in names if name in found] + by_number(found - set(names))
        if len(names) < 2:
            raise CompetitionError("refit_one_class", value=names[0] if names else "")
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([place[word] for word in words[known]], dtype=np.intp)
        rows = _rows(typed, known)
        if isinstance(pipeline.model, SelfTrainingClassifier) and len(known) < len(words):
            others = some_rows(np.flatnonzero(words == None), len(known))  # noqa: E711
            pipeline.fit(*with_unlabelled(rows, codes, _rows(typed, others)))
        else:
            pipeline.fit(rows, codes)
        return in_label_order(pipeline, names, label_values(own[known], plain[known], codes, names, y=y))

    def _coded_names(self) -> list[str]:
        """Names of the classes by code."""
        order = range(len(self.classes)) if self.codes is None else np.argsort(self.codes)
        return [self.classes[k] for k in order]

    def predict(self, X) -> np.ndarray:
        """Labels or numbers for the rows of a table (columns in any order; more than needed do not hurt)."""
        check_is_fitted(self)
        if self.classes:
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return np.asarray(self._answering().pipeline.predict(memory_frame(X)), dtype=np.float64)

    @available_if(_has_classes)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, a column for each class of `classes_`."""
        check_is_fitted(self)
        fitted = self._answering()
        shares = fitted.pipeline.predict_proba(memory_frame(X))
        full = np.zeros((shares.shape[0], len(fitted.names)))
        full[:, fitted.pipeline.classes_] = shares
        return full[:, fitted.codes]

    @available_if(_has_intervals)
    def predict_interval(self, X) -> tuple[np.ndarray, np.ndarray]:
        """``(lower, upper)`` for a number: predictions moved by quantiles of the errors in cross-validation."""
        low, high = self._answering().residuals
        prediction = self.predict(X)
        return prediction + low, prediction + high

    def score(self, X, y, sample_weight=None) -> float:
        """Share of the rows whose label is right, or the coefficient of determination of the numbers."""
        measure = accuracy_score if self.classes else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def in_label_order(pipeline, names, labels: np.ndarray, residuals=None) -> Fitted:
    """Classes by code, put into the order of their labels."""
    codes = label_order(labels)
    return Fitted(pipeline, tuple(names[code] for code in codes), labels[codes], codes, residuals)


def _rows(typed: dict, rows) -> dict:
    return {name: values[rows] for name, values in typed.items()}
