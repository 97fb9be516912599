"""What stacked and blended models share: a table of the members' answers, and a final model fitted to it."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    Bool,
    Choice,
    Int,
    Is,
    Jobs,
    MethodMapping,
    Null,
    OneOf,
    TransformerMixin,
    available_if,
    check_classification_targets,
    check_is_fitted,
    encode_labels,
    get_config,
    is_classifier,
    process_routing,
    type_of_target,
)
from hyperplan._base.named_members import NamedMembers, fitted_copy, input_names, is_dropped, member_fit_params
from hyperplan._base.out_of_fold import Learner, LevelOne

LIST = Is(lambda value: isinstance(value, list), "an instance of 'list'")
CAN_FIT = Is(lambda value: callable(getattr(value, "fit", None)), "an object implementing 'fit'")
ANY_METHOD = ("predict_proba", "decision_function", "predict")


class Lesson(NamedTuple):
    """What the final model is fitted to: members with their answers, and the rows that these are about."""

    level: LevelOne
    X: object
    y: np.ndarray
    params: dict


def final_has(method):
    """Condition for methods that exist where the final estimator has them."""

    def check(ensemble):
        final = getattr(ensemble, "final_estimator_", None)
        getattr(ensemble._final() if final is None else final, method)
        return True

    return check


class BaseStacking(TransformerMixin, NamedMembers):
    """Members whose answers are the columns that a final estimator learns from."""

    _params = {
        "estimators": LIST,
        "final_estimator": OneOf(CAN_FIT, Null),
        "n_jobs": Jobs,
        "passthrough": Bool,
        "verbose": OneOf(Int(ge=0), Bool),
    }
    _method_params = {"stack_method": Choice("auto", *ANY_METHOD)}

    def _fit_stack(self, X, y, fit_params):
        """Steps 3 and 4 of the fits: members, their answers about other rows, the final model."""
        kept = self._checked_members(fit_params)
        final = self._checked_final()
        params = member_fit_params(self, [name for name, _ in kept], fit_params)
        wanted = getattr(self, "stack_method", "predict")
        method = ANY_METHOD if wanted == "auto" else wanted
        learners = [Learner(name, member, method, params[name]) for name, member in kept]
        lesson = self._lesson(learners, X, y, fit_params)
        columns = self._columns(lesson.level.answers, lesson.level.methods)
        final = fitted_copy(final, self._table(lesson.X, columns), lesson.y, lesson.params)
        self._set_members(lesson.level.fitted)
        self.stack_method_ = lesson.level.methods
        self.final_estimator_ = final
        self._n_columns = [column.shape[1] for column in columns]
        return self

    def _checked_final(self):
        final = self._final()
        kind = "classifier" if is_classifier(self) else "regressor"
        if final.__sklearn_tags__().estimator_type != kind:
            raise ValueError(f"'final_estimator' parameter should be a {kind}. Got {final}")
        return final

    def _progress(self, learners):
        """What to print about a member, as a function of its name."""
        places = {learner.name: i + 1 for i, learner in enumerate(learners)}
        label = type(self).__name__
        return (lambda name: f"[{label}] ({places[name]} of {len(places)}) Processing {name}") if self.verbose else None

    def _columns(self, answers, methods):
        """Answers as 2-d columns; of two probabilities that sum to 1 the second is kept."""
        classes = getattr(self, "classes_", ())
        two_classes = not isinstance(classes, list) and len(classes) == 2
        columns = []
        for answer, method in zip(answers, methods):
            if isinstance(answer, list):  # one table per output
                columns.append(np.hstack([table[:, 1:] for table in answer]))
            elif np.ndim(answer) == 1:
                columns.append(np.asarray(answer).reshape(-1, 1))
            else:
                columns.append(np.asarray(answer)[:, 1 if method == "predict_proba" and two_classes else 0 :])
        return columns

    def _table(self, X, columns):
        if not self.passthrough:
            return np.hstack(columns)
        if sp.issparse(X):
            return sp.hstack([*columns, X], format=X.format)
        return np.hstack([*columns, X])

    def transform(self, X):
        """Answers of the members, the columns that the final estimator sees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        answers : ndarray or sparse matrix of shape (n_samples, n_columns)
            Predictions, scores or probabilities (of two classes the second), then X itself with `passthrough`.
        """
        check_is_fitted(self)
        answers = [getattr(member, method)(X) for member, method in zip(self.estimators_, self.stack_method_)]
        return self._table(X, self._columns(answers, self.stack_method_))

    def fit_transform(self, X, y, **fit_params):
        """Fit, and return the answers of the fitted members for the same rows, which they have seen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        **fit_params : dict
            As for `fit`.

        Returns
        -------
        answers : ndarray or sparse matrix of shape (n_samples, n_columns)
            See `transform`.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, for `passthrough`.

        Returns
        -------
        names : ndarray of str
            Names.
        """
        check_is_fitted(self)
        given = input_names(self, input_features, generate=self.passthrough)
        prefix = type(self).__name__.lower()
        kept = [name for name, member in self._named() if not is_dropped(member)]
        counted = zip(kept, self._n_columns)
        names = [f"{prefix}_{name}{i if count > 1 else ''}" for name, count in counted for i in range(count)]
        return np.array([*names, *given] if self.passthrough else names, dtype=object)

    @property
    def certificate_(self):
        """What the final estimator's fit guarantees, where it says so."""
        check_is_fitted(self)
        return self.final_estimator_.certificate_

    def _predict(self, X, params):
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "predict", **params).final_estimator_["predict"]
        return self.final_estimator_.predict(self.transform(X), **params)

    def get_metadata_routing(self):
        """Where metadata goes: from fit to the members' fits, from predict to the final estimator's.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        final = getattr(self, "final_estimator_", None)
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return (
            super()
            .get_metadata_routing()
            .add(final_estimator_=self._final() if final is None else final, method_mapping=mapping)
        )


class StackedClasses:
    """Labels and answers of stacked classifiers; `classes_` is a list with multilabel targets."""

    def _encoded(self, y):
        check_classification_targets(y)
        if type_of_target(y) != "multilabel-indicator":
            labels = encode_labels(y, min_classes=0)  # how many they need is up to the members
            self.classes_ = labels.classes
            return labels.codes
        pairs = [np.unique(column, return_inverse=True) for column in np.asarray(y).T]
        self.classes_ = [classes for classes, _ in pairs]
        return np.column_stack([codes for _, codes in pairs])

    @available_if(final_has("predict"))
    def predict(self, X, **predict_params):
        """Labels by the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **predict_params : dict
            Keywords for the final estimator's `predict`.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels.
        """
        codes = np.asarray(self._predict(X, predict_params)).astype(np.intp)
        if isinstance(self.classes_, list):
            return np.column_stack([classes[column] for classes, column in zip(self.classes_, codes.T)])
        return self.classes_[codes]

    @available_if(final_has("predict_proba"))
    def predict_proba(self, X):
        """Class probabilities by the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_outputs)
            Class probabilities; with multilabel targets those of the first class of each output, as in scikit-learn.
        """
        check_is_fitted(self)
        shares = self.final_estimator_.predict_proba(self.transform(X))
        return np.column_stack([table[:, 0] for table in shares]) if isinstance(self.classes_, list) else shares

    @available_if(final_has("decision_function"))
    def decision_function(self, X):
        """Scores by the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        check_is_fitted(self)
        return self.final_estimator_.decision_function(self.transform(X))


class StackedValues:
    """Answers of stacked regressors."""

    @available_if(final_has("predict"))
    def predict(self, X, **predict_params):
        """Predictions by the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **predict_params : dict
            Keywords for the final estimator's `predict`.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Predictions.
        """
        return self._predict(X, predict_params)
