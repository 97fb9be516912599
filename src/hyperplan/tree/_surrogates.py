"""Surrogate splits: what to ask instead when the column of a split is missing.

For each split, the thresholds of other columns that send most training rows to the same side.  With p_l and p_r the
shares of the sides among the rows that have both values, and a the share that the other column sends right, the
association is ``(min(p_l, p_r) - (1 - a)) / min(p_l, p_r)``: 1 for a twin, 0 for a guess of the larger side.
"""

import copy
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import InvalidParameterError, check_is_fitted, check_weight
from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._surrogate_kernels import (
    AGREEMENT,
    ASSOCIATION,
    N_FOUND,
    REVERSED,
    THRESHOLD,
    best_agreement,
    surrogate_leaves,
)
from hyperplan._trees.oblique import paths_to
from hyperplan.tree._decision_tree_record import Tree

ROWS_PER_TASK = 8192


class Surrogates(NamedTuple):
    """One line per node, the best first: columns (-1: no more), thresholds, whether larger values go left, measures."""

    feature: np.ndarray
    threshold: np.ndarray
    reversed: np.ndarray
    agreement: np.ndarray
    association: np.ndarray


class SurrogateTree(Tree):
    """A tree that asks other columns where a value is missing.

    Attributes
    ----------
    surrogates : Surrogates
        Columns, thresholds and measures of the stand-ins of each node.
    """

    def __init__(self, tree: Tree, surrogates: Surrogates):
        super().__init__(tree.nodes, tree.n_features, tree.n_classes)
        self.surrogates = surrogates

    def apply(self, X):
        """Leaf of each row of a float32 array or CSR matrix."""
        X = self._check(X)
        if sp.issparse(X):  # no value is missing
            return super().apply(X)
        found = np.empty(X.shape[0], dtype=np.intp)
        walk = (self.children_left, self.children_right, self.feature, self.threshold, self.missing_go_to_left)
        others = tuple(self.surrogates[:3])

        def task(part):
            surrogate_leaves(X[part], *walk, others, found[part])

        thread_map(task, spans(X.shape[0], ROWS_PER_TASK))
        return found

    def decision_path(self, X):
        """Nodes that each row passes: a CSR matrix of ones, shape (n, node_count)."""
        indptr, indices = paths_to(self.nodes, self.apply(X))
        ones = np.ones(indices.shape[0], dtype=np.intp)
        return sp.csr_matrix((ones, indices, indptr), shape=(X.shape[0], self.node_count))

    def stand_ins(self, node):
        """The surrogates of a node: ``(column, threshold, larger values go left, agreement, association)``."""
        s = self.surrogates
        kept = [k for k in range(s.feature.shape[1]) if s.feature[node, k] >= 0]
        return [tuple(field[node, k].item() for field in s) for k in kept]


def find_surrogates(nodes, X, weight, n_surrogates) -> Surrogates:
    """Up to `n_surrogates` stand-ins of each split, from the training rows (dense float32, weights or None).

    Nodes that saw missing values in training have none: there the side of these rows was learned.
    """
    n_nodes, k = nodes.feature.shape[0], min(n_surrogates, X.shape[1] - 1)
    found = Surrogates(
        np.full((n_nodes, k), -1, dtype=np.int64),
        np.zeros((n_nodes, k)),
        np.zeros((n_nodes, k), dtype=np.bool_),
        np.zeros((n_nodes, k)),
        np.zeros((n_nodes, k)),
    )
    weight = np.ones(X.shape[0]) if weight is None else weight
    pending = [(0, np.flatnonzero(weight > 0))]
    while pending:
        node, rows = pending.pop()
        if nodes.children_left[node] < 0:
            continue
        x = X[rows, nodes.feature[node]]
        absent = np.isnan(x)
        left = np.where(absent, nodes.missing_go_to_left[node] > 0, x <= nodes.threshold[node])
        if not absent.any():
            _keep_best(found, node, _agreements(X, rows, nodes.feature[node], left, weight[rows]))
        pending.append((int(nodes.children_right[node]), rows[~left]))
        pending.append((int(nodes.children_left[node]), rows[left]))
    return found


def _agreements(X, rows, primary, left, weight):
    """The best threshold of each column but the split's own."""
    measures = np.zeros((X.shape[1], N_FOUND))
    measures[:, ASSOCIATION] = -np.inf
    for j in range(X.shape[1]):
        if j != primary:
            order = np.argsort(X[rows, j], kind="stable")
            best_agreement(X, rows, order, j, left, weight, measures[j])
    return measures


def _keep_best(found, node, measures):
    """Record the columns of positive association, the best first, the first of equals first."""
    order = np.argsort(-measures[:, ASSOCIATION], kind="stable")[: found.feature.shape[1]]
    for place, j in enumerate(order):
        if measures[j, ASSOCIATION] > 0.0:
            found.feature[node, place] = j
            found.threshold[node, place] = measures[j, THRESHOLD]
            found.reversed[node, place] = measures[j, REVERSED] > 0.0
            found.agreement[node, place] = measures[j, AGREEMENT]
            found.association[node, place] = measures[j, ASSOCIATION]


def add_surrogates(model, X, *, sample_weight=None, n_surrogates=5):
    """A copy of a fitted decision tree that asks other columns where a value is missing.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted tree.
    X : array-like of shape (n_samples, n_features)
        The training rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.
    n_surrogates : int, default=5
        Most stand-ins of a split.  They are asked in order of association, which must be positive; a row that lacks
        all of them goes to the larger child.

    Returns
    -------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        The copy; its ``tree_.stand_ins(node)`` lists the surrogates of a node.  Nodes that saw missing values of their
        column in training keep the side that was learned there.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.tree import DecisionTreeRegressor, add_surrogates
    >>> X = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 10.5]])
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 5.0, 5.0])
    >>> model = add_surrogates(model, X)
    >>> model.predict([[np.nan, 12.5], [np.nan, 9.0]]).tolist()
    [5.0, 0.0]
    >>> model.tree_.stand_ins(0)  # column, threshold, larger values go left, agreement, association
    [(1, 10.25, False, 0.75, 0.5)]
    """
    check_is_fitted(model)
    if type(getattr(model, "tree_", None)) not in (Tree, SurrogateTree):
        raise TypeError(f"surrogates are for decision trees with thresholds, got {type(model).__name__}")
    if n_surrogates < 1:
        raise InvalidParameterError(f"n_surrogates must be at least 1, got {n_surrogates!r}")
    rows = model._checked_rows(X, True)
    if sp.issparse(rows):
        raise TypeError("Sparse data was passed, but surrogates need to know what is missing: use X.toarray()")
    weight = check_weight(sample_weight, rows)
    found = copy.copy(model)
    found.tree_ = SurrogateTree(model.tree_, find_surrogates(model.tree_.nodes, rows, weight, n_surrogates))
    return found
