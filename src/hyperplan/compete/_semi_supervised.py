"""Rows without a target: learn from the rows that have one, name those one is sure of, learn again.

Reference: Yarowsky (1995), Unsupervised word sense disambiguation rivaling supervised methods, ACL.
"""

import numpy as np

from hyperplan._base import BaseEstimator, ClassifierMixin, check_is_fitted

UNKNOWN = -1


class SelfTrainingClassifier(ClassifierMixin, BaseEstimator):
    """A logistic regression that names rows without a target where it is sure, and learns from them too.

    Objective: the penalised log loss of the known rows plus `weight` times that of the rows named so far.  A row keeps
    its name only while the model is sure of it: names are given anew in each round.  Stops when no name changes, or
    after `max_iter` rounds.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty of the logistic regression.
    threshold : float, default=0.9
        Probability from which a row is named.
    weight : float, default=0.3
        Of a named row, where a known one has 1.
    max_iter : int, default=5
        Most rounds of naming.

    Attributes
    ----------
    classes_ : ndarray
        Classes of the known rows.
    model_ : LogisticRegression
        The last model.
    named_ : int
        Rows without a target that it was sure of in the end.
    n_iter_ : int
        Rounds of naming.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.compete import SelfTrainingClassifier
    >>> X = np.array([[-2.0], [2.0], [-2.5], [2.5], [-1.5], [1.5]])
    >>> SelfTrainingClassifier(C=10.0).fit(X, [0, 1, -1, -1, -1, -1]).predict([[-1.0], [1.0]])
    array([0, 1])
    """

    def __init__(self, C=1.0, threshold=0.9, weight=0.3, max_iter=5):
        self.C = C
        self.threshold = threshold
        self.weight = weight
        self.max_iter = max_iter

    def fit(self, X, y):
        """Learn; `y` holds codes of classes, -1 where the target is not known."""
        y = np.asarray(y)
        known, open_ = np.flatnonzero(y != UNKNOWN), np.flatnonzero(y == UNKNOWN)
        self.model_ = self._learnt(X[known], y[known], None)
        self.classes_, self.n_iter_, self.named_ = self.model_.classes_, 0, 0
        names = np.full(len(open_), UNKNOWN)
        while self.n_iter_ < self.max_iter and len(open_):
            shares = self.model_.predict_proba(X[open_])
            sure = shares.max(axis=1) >= self.threshold
            given = np.where(sure, self.classes_[shares.argmax(axis=1)], UNKNOWN)
            if (given == names).all():
                break
            names, self.named_, self.n_iter_ = given, int(sure.sum()), self.n_iter_ + 1
            rows = np.concatenate([known, open_[sure]])
            weights = np.where(np.arange(len(rows)) < len(known), 1.0, self.weight)
            self.model_ = self._learnt(X[rows], np.concatenate([y[known], names[sure]]), weights)
        return self

    def _learnt(self, X, y, weights):
        from hyperplan.linear_model import LogisticRegression

        return LogisticRegression(C=self.C, max_iter=300).fit(X, y, sample_weight=weights)

    @property
    def certificate_(self):
        """The certificate of the last logistic regression."""
        return self.model_.certificate_

    def predict_proba(self, X):
        """Probabilities of the classes."""
        check_is_fitted(self)
        return self.model_.predict_proba(X)

    def predict(self, X):
        """The most probable classes."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def with_unlabelled(typed: dict, y: np.ndarray, unlabelled: dict) -> tuple[dict, np.ndarray]:
    """Typed columns and codes with the rows without a target behind the others."""
    count = len(next(iter(unlabelled.values())))
    return (
        {name: np.concatenate([values, unlabelled[name]]) for name, values in typed.items()},
        np.concatenate([y, np.full(count, UNKNOWN, dtype=y.dtype)]),
    )
