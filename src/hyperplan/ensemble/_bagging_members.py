"""Fitting the members of a bagged ensemble, and asking them.

A sample with repetitions is the same as weights that count them, so that members which take weights share one X.  The
package's own trees share more: each column is sorted once for all of them, and the rows that a tree did not draw are
left out of its copy.  Other members get copies of their rows.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_array, check_params, seed_from
from hyperplan._base.members import is_own, member_map, rows_of_params, seeded_copy, takes_weight
from hyperplan._core.parallel import spans
from hyperplan._trees.exact import Presorted, grow, presort
from hyperplan._trees.pruning import pruned
from hyperplan.ensemble._bagging_draws import draw
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from hyperplan.tree._decision_tree_base import as_columns, checked_table, refuse_infinite
from hyperplan.tree._decision_tree_record import Tree

TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
MEMBERS_PER_WAVE = 16  # whose answers are in memory together
WORTH_THREADS = 20_000  # answers of trees, rows times members, below which threads cost more than they bring


class Training(NamedTuple):
    """What every member is fitted to; `params` are keywords for its fit."""

    estimator: object
    X: object
    y: np.ndarray
    plan: object
    params: dict


class Member(NamedTuple):
    """A fitted estimator and the columns it looks at; None: all as they are."""

    model: object
    columns: np.ndarray | None

    def rows(self, X):
        return X if self.columns is None else X[:, self.columns]


def is_tree(estimator) -> bool:
    """Whether the estimator is a tree of this package on columns of numbers.

    A subclass may do anything, and does not count; trees with categories or surrogates need more than sorted columns.
    """
    plain = getattr(estimator, "categorical_features", None) is None and not getattr(estimator, "surrogates", 0)
    return type(estimator) in TREES and plain


def fit_members(training, seeds, n_jobs, report):
    """Fitted estimators and their columns, one pair per seed; ``report(t)`` is called before each fit."""
    if is_tree(training.estimator) and not training.params:
        fit = _tree_fit(training)
    else:
        fit = _fit_by_weight if takes_weight(training.estimator) else _fit_by_rows

    def task(t):
        report(t)
        model = seeded_copy(training.estimator, seeds[t])
        columns, rows = draw(training.plan, seeds[t])
        fit(training, model, columns, rows)
        return model, columns

    return member_map(task, range(len(seeds)), n_jobs, own=is_own(training.estimator))


def _fit_by_weight(training, model, columns, rows):
    counts = np.bincount(rows, minlength=training.plan.n_rows)
    X = training.X if training.plan.all_columns else training.X[:, columns]
    model.fit(X, training.y, **{**training.params, "sample_weight": counts})


def _fit_by_rows(training, model, columns, rows):
    X = training.X[rows]
    params = rows_of_params(training.params, rows, training.plan.n_rows)
    model.fit(X if training.plan.all_columns else X[:, columns], training.y[rows], **params)


def _tree_fit(training):
    """A function that grows one tree; the columns are checked and sorted here, once."""
    X, y = checked_table(seeded_copy(training.estimator, 0), training.X, training.y)
    y = y.reshape(y.shape[0], -1)
    presorted = presort(as_columns(X))

    def fit(training, model, columns, rows):
        check_params(model)
        model._check_target(y)
        counts = np.bincount(rows, minlength=y.shape[0]).astype(np.float64)
        own = presorted if training.plan.all_columns else Presorted(*(part[columns] for part in presorted))
        prepared = model._prepare(y, counts)
        n_columns = own.pairs.shape[0]
        growth = model._growth(np.broadcast_to(np.float32(0), (y.shape[0], n_columns)), prepared)
        nodes = grow(own, prepared.targets, growth, seed=seed_from(model.random_state))
        nodes = pruned(nodes, model.ccp_alpha) if model.ccp_alpha > 0 else nodes
        fitted = {"categories_": None} if hasattr(model, "categorical_features") else {}
        fitted |= {"n_features_in_": n_columns, "n_outputs_": y.shape[1], "max_features_": growth.max_features}
        for name, value in {**prepared.attributes, **fitted}.items():
            setattr(model, name, value)
        model.tree_ = Tree(nodes, n_columns, prepared.targets.n_classes)

    return fit


class Crowd:
    """Members and rows to ask them about; rows for trees are turned into float32 once."""

    def __init__(self, members, X, n_jobs):
        self.members, self.n_jobs = members, n_jobs
        self.trees = all(is_tree(member.model) for member in members)
        self.own = self.trees or all(is_own(member.model) for member in members)
        self.X = X
        if self.trees:
            with np.errstate(over="ignore"):  # what is too large for float32 is refused as infinite
                self.X = check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False, order="C")
            refuse_infinite(members[0].model, self.X)
            if n_jobs is None and X.shape[0] * len(members) < WORTH_THREADS:
                self.n_jobs = 1

    def ask(self, t, method, params=None, rows=None):
        """What a method of member t answers for the rows, or for some of them."""
        member = self.members[t]
        X = member.rows(self.X if rows is None else self.X[rows])
        extra = {"check_input": False} if self.trees else params or {}
        return getattr(member.model, method)(X, **extra)

    def all(self, answer, numbers=None):
        """``answer(t)`` of all members (or those with the given numbers), in a list."""
        numbers = range(len(self.members)) if numbers is None else numbers
        return member_map(answer, numbers, self.n_jobs, own=self.own)

    def total(self, answer, add=np.add):
        """Sum of ``answer(t)`` over the members, in their order: not a bit depends on threads."""
        total = None
        for wave in spans(len(self.members), MEMBERS_PER_WAVE):
            for values in self.all(answer, range(wave.start, wave.stop)):
                total = np.array(values, dtype=np.float64) if total is None else add(total, values, out=total)
        return total


def class_shares(crowd, t, n_classes, params=None, rows=None):
    """Class probabilities by member t, or its votes; classes that it has not seen get 0."""
    params = params or {}
    model = crowd.members[t].model
    if hasattr(model, "predict_proba"):
        shares = crowd.ask(t, "predict_proba", params.get("predict_proba"), rows)
        own = getattr(model, "classes_", None)
        if shares.shape[1] == n_classes:
            return shares
        found = np.zeros((shares.shape[0], n_classes))
        found[:, np.asarray(own, dtype=np.intp)] = shares
        return found
    votes = np.asarray(crowd.ask(t, "predict", params.get("predict"), rows)).astype(np.intp)
    found = np.zeros((votes.shape[0], n_classes))
    found[np.arange(votes.shape[0]), votes] = 1.0
    return found


def log_shares(crowd, t, n_classes, params=None):
    """Logarithms of class probabilities by member t; classes that it has not seen get -inf."""
    logs = crowd.ask(t, "predict_log_proba", (params or {}).get("predict_log_proba"))
    if logs.shape[1] == n_classes:
        return logs
    found = np.full((logs.shape[0], n_classes), -np.inf)
    found[:, np.asarray(crowd.members[t].model.classes_, dtype=np.intp)] = logs
    return found


def some_rows(X, y, most_rows, most_entries):
    """Copies of evenly spaced rows."""
    count = max(2, min(most_rows, most_entries // max(1, X.shape[1])))
    picked = np.unique(np.linspace(0, X.shape[0] - 1, min(count, X.shape[0])).astype(np.intp))
    return (X.tocsr() if sp.issparse(X) else X)[picked], y[picked]
