"""Scores while boosting, and the decision to stop early."""

import copy

import numpy as np

from hyperplan._base import check_scoring, holdout_split, is_classifier
from hyperplan._trees.boosting import mean_loss

SCORED_ROWS = 10_000  # training rows that a scorer looks at


class Monitor:
    """Collects scores of the training and validation rows; `stop` says when the last ones no longer improve.

    Parameters
    ----------
    estimator : object
        The estimator being fitted: its `scoring`, `n_iter_no_change` and `tol` are used.
    booster : Booster
        Training state.
    rows, held : tuple or None
        (X, y, weight) of the training rows, and (X, y, weight, raw) of the validation rows if there are any.
    attributes : dict
        Fitted attributes that a scorer needs (classes_, ...).
    seed : int
        Seed of the choice of scored training rows.
    """

    def __init__(self, estimator, booster, rows, held, attributes, seed):
        self.estimator, self.booster, self.rows, self.held = estimator, booster, rows, held
        self.train, self.validation = [], []
        self.scorer = None
        if estimator.scoring != "loss":
            self.scorer = check_scoring(estimator, estimator.scoring)
            self.proxy = copy.copy(estimator)
            vars(self.proxy).update(attributes)
            self.subset = self._scored_rows(seed)

    def _scored_rows(self, seed):
        y = self.rows[1]
        if y.shape[0] <= SCORED_ROWS:
            return slice(None)
        return holdout_split(y, SCORED_ROWS, seed, stratify=is_classifier(self.estimator))[1]

    def record(self) -> bool:
        """Score the current state; True when it is time to stop."""
        if self.scorer is None:
            self.train.append(-self.booster.mean_loss())
            if self.held is not None:
                _, y, weight, raw = self.held
                self.validation.append(-mean_loss(self.booster.loss, y, raw, weight))
        else:
            X, y, weight = self.rows
            s = self.subset
            weight = None if weight is None else weight[s]
            self.train.append(self._score(X[s], y[s], weight, self.booster.raw[:, s]))
            if self.held is not None:
                self.validation.append(self._score(*self.held))
        return self._stalled(self.train if self.held is None else self.validation)

    def _score(self, X, y, weight, raw):
        self.proxy._known_raw = raw
        if is_classifier(self.estimator):
            y = self.proxy.classes_[self.estimator._class_codes(y)]
        options = {} if weight is None else {"sample_weight": weight}
        return self.scorer(self.proxy, X, y, **options)

    def _stalled(self, scores):
        patience = self.estimator.n_iter_no_change
        if len(scores) <= patience:
            return False
        return not np.any(np.asarray(scores[-patience:]) > scores[-patience - 1] + self.estimator.tol)
