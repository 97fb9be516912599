"""Scores of boosted classes: what each learner adds, and a fast way through trees of this package."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan.ensemble._ada_boost_learners import class_numbers, class_shares, mean_sign
from hyperplan.ensemble._ada_boost_rounds import centred_logs
from hyperplan.ensemble._gradient_boosting_walk import CompleteTrees, PackedTrees, pack, walk
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

REGRESSIONS = ("gentle", "logit")


class Adding(NamedTuple):
    """How learners add up: the variant, the labels, and the number of training rows (it bounds probabilities)."""

    variant: str
    classes: np.ndarray
    n_rows: int

    @property
    def n_classes(self):
        return self.classes.shape[0]

    def scores(self, X, model, weight):
        """What one learner adds, shape (n, 1) for two classes and (n, n_classes) for more."""
        K = self.n_classes
        if self.variant in REGRESSIONS:
            return weight * mean_sign(model, X, self.classes)[:, None]
        if self.variant == "real":
            logs = weight * centred_logs(class_shares(model, X, self.classes), self.n_rows)
            return logs[:, 1:] if K == 2 else logs
        answers = class_numbers(model.predict(X), self.classes)
        votes = np.where(answers[:, None] == np.arange(K), weight, -weight / (K - 1))
        return votes[:, 1:] if K == 2 else votes

    def leaf_amounts(self, values, weight):
        """What a leaf adds to the score of two classes, or to the votes for its class."""
        if self.variant in REGRESSIONS:
            return weight * values[:, 0]
        if self.variant == "real":
            return weight * centred_logs(values, self.n_rows)[:, 1]
        if self.n_classes > 2:
            return np.full(values.shape[0], weight)
        return np.where(values.argmax(axis=1) == 1, weight, -weight)

    def leaf_columns(self, values):
        """Which score a leaf adds to."""
        return values.argmax(axis=1) if self.n_classes > 2 else np.zeros(values.shape[0], dtype=np.int32)


class PackedLearners(NamedTuple):
    """Trees as one set of arrays, with the learners and weights that went in."""

    models: tuple
    weights: np.ndarray
    trees: PackedTrees | CompleteTrees

    def match(self, models, weights):
        """Whether these are still the learners."""
        same = len(self.models) == len(models) and all(a is b for a, b in zip(self.models, models))
        return same and np.array_equal(self.weights, weights)


def packed_learners(models, weights, adding):
    """The learners packed, if all are trees of this package and their leaves add to one score; else None."""
    kind = DecisionTreeRegressor if adding.variant in REGRESSIONS else DecisionTreeClassifier
    several = adding.n_classes > 2
    if adding.n_classes < 2 or (several and adding.variant == "real"):
        return None
    if not all(type(model) is kind for model in models):
        return None
    if kind is DecisionTreeClassifier and not all(
        model.class_cost is None and np.array_equal(model.classes_, adding.classes) for model in models
    ):
        return None
    trees = [model.tree_ for model in models]
    values = [tree.value[:, 0, :] for tree in trees]
    amounts = [adding.leaf_amounts(each, weight) for each, weight in zip(values, weights)]
    packed = pack(trees, [adding.leaf_columns(each) for each in values], amounts)
    return PackedLearners(tuple(models), weights.copy(), packed)


def staged_scores(X, models, weights, adding, packed, whole):
    """Yield scores and the sum of weights after each round, or once after the last (`whole`).

    The yielded array may be changed by the next round.
    """
    K, weights = adding.n_classes, weights[: len(models)]
    scores = np.zeros((X.shape[0], 1 if K == 2 else K))
    rows = float32_rows(X) if packed is not None and packed.match(models, weights) else None
    steps = [(0, len(models))] if whole else [(t, t + 1) for t in range(len(models))]
    for first, last in steps:
        total = weights[:last].sum()
        if rows is None:
            for model, weight in zip(models[first:last], weights[first:last]):
                scores += adding.scores(X, model, weight)
            yield scores, total
        else:
            walk(packed.trees, rows, scores, first, last)
            yield (scores - (total - scores) / (K - 1) if K > 2 else scores), total


def float32_rows(X):
    """Rows for a walk through packed trees; None where the trees themselves must look at them (and refuse)."""
    if X.ndim != 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        rows = X.tocsr().astype(np.float32) if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float32)
    return rows if np.isfinite(rows.data if sp.issparse(X) else rows).all() else None
