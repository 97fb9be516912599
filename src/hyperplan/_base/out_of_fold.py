"""Answers of models about rows that they have not seen: every row is left out of exactly one fit.

Out-of-fold answers are what a second model may learn from: its rows were not used by the models it listens to.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_consistent_length, get_tags

from hyperplan._base.members import is_own, member_map, rows_of_params
from hyperplan._base.named_members import fitted_copy

PER_CLASS = ("predict_proba", "decision_function")


class Learner(NamedTuple):
    """A member, the method that answers for it (or names to choose from), and the keywords of its fit."""

    name: str
    estimator: object
    method: str | tuple
    params: dict


class LevelOne(NamedTuple):
    """Fitted members by name, their answers and the methods that gave them."""

    fitted: dict
    answers: list
    methods: list


def splits_of(cv, X, y, *, classifier) -> list:
    """(train, test) row numbers of a partition of the rows; a splitter, a number of folds, or the pairs themselves."""
    from sklearn.model_selection import check_cv  # slow to import

    check_consistent_length(X, y)
    splits = list(check_cv(cv, y=y, classifier=classifier).split(X, y))
    tests = np.sort(np.concatenate([test for _, test in splits]))
    if not np.array_equal(tests, np.arange(n_rows_of(X))):
        raise ValueError("cross_val_predict only works for partitions: cv must leave out every row exactly once")
    return splits


def shuffled_folds(n_splits, seed, *, classifier):
    """A splitter into folds of rows in random order, for classifiers with equal shares of each class."""
    from sklearn.model_selection import KFold, StratifiedKFold  # slow to import

    return (StratifiedKFold if classifier else KFold)(n_splits, shuffle=True, random_state=seed)


def cross_fitted(learners, X, y, splits, n_jobs, report=None) -> LevelOne:
    """Every learner fitted to all rows, and its out-of-fold answers; all these fits are one batch of tasks."""
    whole = [(learner, None) for learner in learners]
    parts = [(learner, split) for learner in learners for split in splits]

    def work(task):
        learner, split = task
        if split is None:
            label = report(learner.name) if report else ""
            return fitted_copy(learner.estimator, X, y, learner.params, report=label)
        return fold_answers(learner, X, y, *split)

    found = member_map(work, whole + parts, n_jobs, own=all(is_own(c.estimator) for c in learners))
    fitted = {learner.name: model for learner, model in zip(learners, found)}
    folds, tests = found[len(whole) :], [test for _, test in splits]
    k = len(splits)
    answers = [_together(folds[i * k : (i + 1) * k], tests) for i in range(len(learners))]
    return LevelOne(fitted, answers, [response_method(c) for c in learners])


def fold_answers(learner, X, y, train, test):
    """What a copy fitted to the rows `train` answers about the rows `test`."""
    method = response_method(learner)
    pairwise = get_tags(learner.estimator).input_tags.pairwise
    params = rows_of_params(learner.params, train, n_rows_of(X))
    y_train = take_rows(y, train)
    model = fitted_copy(learner.estimator, take_rows(X, train, train if pairwise else None), y_train, params)
    answers = getattr(model, method)(take_rows(X, test, train if pairwise else None))
    if method not in PER_CLASS or not hasattr(model, "classes_"):
        return answers
    if isinstance(answers, list):
        sizes = [np.unique(column).shape[0] for column in np.asarray(y).T]
        return [_for_all_classes(*one, method) for one in zip(answers, model.classes_, sizes)]
    return _for_all_classes(answers, model.classes_, np.unique(y).shape[0] if y.ndim == 1 else y.shape[1], method)


def response_method(learner) -> str:
    """The first of the methods that the estimator has."""
    methods = (learner.method,) if isinstance(learner.method, str) else learner.method
    for method in methods:
        if hasattr(learner.estimator, method):
            return method
    wanted = learner.method if isinstance(learner.method, str) else list(learner.method)
    raise ValueError(f"Underlying estimator {learner.name} does not implement the method {wanted}.")


def _for_all_classes(answers, classes, n_classes, method):
    """Columns of a model that met some of the classes 0, 1, ... only, among columns for all of them."""
    met = len(classes)
    if met == n_classes:
        return answers
    advice = "To fix this, use a cross-validation technique resulting in properly stratified folds"
    if method == "decision_function" and (met <= 2 or answers.ndim != 2 or answers.shape[1] != met):
        raise ValueError(
            f"Only {met} class/es in training fold, but {n_classes} in overall dataset. This is not supported for "
            f"decision_function with imbalanced folds. {advice}"
        )
    warnings.warn(
        f"Number of classes in training fold ({met}) does not match total number of classes ({n_classes}). Results "
        f"may not be appropriate for your use case. {advice}",
        RuntimeWarning,
    )
    unknown = 0.0 if method == "predict_proba" else np.finfo(answers.dtype).min
    full = np.full((answers.shape[0], n_classes), unknown, dtype=answers.dtype)
    full[:, np.asarray(classes, dtype=np.intp)] = answers
    return full


def _together(folds, tests):
    """Answers of all folds in the order of the rows."""
    if isinstance(folds[0], list):
        return [_together([fold[i] for fold in folds], tests) for i in range(len(folds[0]))]
    folds = [np.asarray(fold) for fold in folds]
    rows = np.concatenate(tests)
    together = np.concatenate(folds)
    ordered = np.empty_like(together)
    ordered[rows] = together
    return ordered


def n_rows_of(X) -> int:
    """Rows of an array, a sparse matrix, a frame or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else np.asarray(X).shape[0]


def take_rows(X, rows, columns=None):
    """Rows of an array, a sparse matrix, a frame or a list; with `columns`, of a square table between rows."""
    if columns is not None:
        return np.asarray(X)[np.ix_(rows, columns)] if not sp.issparse(X) else X.tocsr()[rows][:, columns]
    if sp.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    return X[rows] if hasattr(X, "__getitem__") else np.asarray(X)[rows]
