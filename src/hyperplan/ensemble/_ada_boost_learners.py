"""Weak learners for one round of boosting: any estimator, or stumps whose columns are sorted once for all rounds.

Both have three methods, for what the variants of AdaBoost ask for: `classes` (an answer per row), `shares` (class
probabilities) and `numbers` (a regression).  Each returns the fitted model and its output for the training rows.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import has_fit_parameter, is_classifier
from hyperplan._trees.criteria import class_targets, real_targets, with_weight
from hyperplan._trees.stumps import Stumps
from hyperplan.ensemble._ada_boost_base import MAX_SEED, fresh_copy
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor
from hyperplan.tree._decision_tree_record import Tree

STUMPS = {kind: kind(max_depth=1).get_params() for kind in (DecisionTreeClassifier, DecisionTreeRegressor)}


def is_stump(estimator) -> bool:
    """Whether the estimator is this package's tree of depth 1, everything else at its default."""
    usual = STUMPS.get(type(estimator))
    if usual is None:
        return False
    own = estimator.get_params()
    return all(own[name] is usual[name] or own[name] == usual[name] for name in usual if name != "random_state")


def float32_columns(X):
    """X as the stumps want it, or None where it does not fit into float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        X = X.tocsc().astype(np.float32) if sp.issparse(X) else np.asarray(X, dtype=np.float32)
    return X if np.isfinite(X.data if sp.issparse(X) else X).all() else None


class Sampling:
    """Which rows a round sees: all by weight, without the lightest ones (`trim`), or drawn by weight (`resample`)."""

    def __init__(self, resample, trim):
        self.resample, self.trim = resample, trim

    @property
    def plain(self):
        return not self.resample and self.trim == 0.0

    def kept(self, weight):
        """Whether each row stays when the lightest rows that hold at most `trim` of the weight go."""
        order = np.argsort(weight, kind="stable")
        sums = np.cumsum(weight[order])
        keep = np.empty(weight.shape[0], dtype=bool)
        keep[order] = sums > self.trim * sums[-1]
        return keep

    def draw(self, weight, random_state):
        """Row numbers of a sample of the same size, drawn with replacement by weight."""
        return random_state.choice(weight.shape[0], size=weight.shape[0], replace=True, p=weight / weight.sum())


class AnyLearner:
    """Copies of an estimator, fitted with `sample_weight` or on samples drawn by weight."""

    def __init__(self, estimator, X, y, classes, sampling):
        self.estimator, self.X, self.y, self.labels, self.sampling = estimator, X, y, classes, sampling
        if not sampling.resample and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} doesn't support sample_weight. Use resample=True, which draws the rows "
                "by weight instead."
            )

    def _fit(self, y, weight, random_state):
        model = fresh_copy(self.estimator, random_state)
        if self.sampling.resample:
            rows = self.sampling.draw(weight, random_state)
            return model.fit(self.X[rows], y[rows])
        if self.sampling.trim > 0.0:
            rows = np.flatnonzero(self.sampling.kept(weight))
            return model.fit(self.X[rows], y[rows], sample_weight=weight[rows])
        return model.fit(self.X, y, sample_weight=weight)

    def classes(self, weight, random_state):
        """Model and class numbers of the rows."""
        model = self._fit(self.y, weight, random_state)
        return model, class_numbers(model.predict(self.X), self.labels)

    def shares(self, weight, random_state):
        """Model and class probabilities of the rows."""
        model = self._fit(self.y, weight, random_state)
        return model, class_shares(model, self.X, self.labels)

    def numbers(self, target, weight, random_state):
        """Model and regression of `target`; a classifier is asked for the sign of `target`."""
        if is_classifier(self.estimator):
            model = self._fit(self.labels[(target > 0).astype(np.intp)], weight, random_state)
        else:
            model = self._fit(target, weight, random_state)
        return model, mean_sign(model, self.X, self.labels)


class StumpLearner:
    """The stumps of this package; rows have positive weights at the start."""

    def __init__(self, X, codes, classes, sampling):
        self.labels, self.sampling, self.n_features = classes, sampling, X.shape[1]
        self.stumps = Stumps(X)
        self.targets = class_targets(codes[:, None], [classes.shape[0]])

    def _grow(self, targets, weight, random_state):
        seed = random_state.randint(MAX_SEED)
        if self.sampling.resample:
            rows = self.sampling.draw(weight, random_state)
            weight = np.bincount(rows, minlength=weight.shape[0]).astype(np.float64)
        elif self.sampling.trim > 0.0:
            weight = np.where(self.sampling.kept(weight), weight, 0.0)
        nodes, is_left = self.stumps.grow(with_weight(targets, weight), seed)
        return nodes, is_left, seed

    def _by_row(self, nodes, is_left, of_node):
        """The value of each row's leaf."""
        return of_node[[0, 0]][is_left] if nodes.feature.shape[0] == 1 else of_node[[2, 1]][is_left]

    def _model(self, kind, nodes, seed, n_classes, **attributes):
        model = kind(max_depth=1, random_state=seed)
        model.n_features_in_ = model.max_features_ = self.n_features
        model.n_outputs_ = 1
        for name, value in attributes.items():
            setattr(model, name, value)
        model.tree_ = Tree(nodes, self.n_features, [n_classes])
        return model

    def _classifier(self, nodes, seed):
        K = self.labels.shape[0]
        return self._model(DecisionTreeClassifier, nodes, seed, K, classes_=self.labels, n_classes_=K)

    def classes(self, weight, random_state):
        nodes, is_left, seed = self._grow(self.targets, weight, random_state)
        answers = nodes.value.argmax(axis=1).astype(np.int32)
        return self._classifier(nodes, seed), self._by_row(nodes, is_left, answers)

    def shares(self, weight, random_state):
        nodes, is_left, seed = self._grow(self.targets, weight, random_state)
        return self._classifier(nodes, seed), self._by_row(nodes, is_left, nodes.value)

    def numbers(self, target, weight, random_state):
        targets = real_targets(target[:, None])
        nodes, is_left, seed = self._grow(targets, weight, random_state)
        return self._model(DecisionTreeRegressor, nodes, seed, 1), self._by_row(nodes, is_left, nodes.value[:, 0])


def class_numbers(answers, classes):
    """Positions of labels in the sorted `classes`; -1 for labels that are not among them."""
    found = np.minimum(np.searchsorted(classes, answers), classes.shape[0] - 1).astype(np.int32)
    found[classes[found] != answers] = -1
    return found


def class_shares(model, X, classes):
    """Class probabilities with one column per class; 0 for classes that the model has not seen."""
    shares = np.asarray(model.predict_proba(X), dtype=np.float64)
    own = getattr(model, "classes_", classes)
    if len(own) == classes.shape[0]:
        return shares
    found = np.zeros((shares.shape[0], classes.shape[0]))
    found[:, np.searchsorted(classes, own)] = shares
    return found


def mean_sign(model, X, classes):
    """Regression of labels -1 and 1: what a regressor predicts, or p(second class) - p(first class)."""
    if not is_classifier(model):
        return np.asarray(model.predict(X), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        shares = class_shares(model, X, classes)
        return shares[:, 1] - shares[:, 0]
    return np.where(class_numbers(model.predict(X), classes) == 1, 1.0, -1.0)
