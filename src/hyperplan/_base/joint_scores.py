"""Answers of classifiers that know ``log P(class) + log P(row | class)``: Bayes' rule, written once."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from hyperplan._math.class_scores import log_normalised, winners

ROUNDED = 1e6  # log-densities beyond which subtracting the norm rounds so much that shares do not add up to 1


class JointScoresMixin(ClassifierMixin):
    """`predict` and its kin, given ``_joint_scores(X)``: joint log-probabilities, one column per class."""

    classes_: Any
    _joint_scores: Any

    def predict(self, X):
        """The most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels; of equally probable classes the first in `classes_`.
        """
        best = winners(self._joint_scores(X))
        return self.classes_.take(best)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return log_normalised(self._joint_scores(X))[0]

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores, norms = log_normalised(self._joint_scores(X))
        shares = np.exp(scores, out=scores)
        far = np.abs(norms) > ROUNDED
        shares[far] /= shares[far].sum(axis=1, keepdims=True)
        return shares
