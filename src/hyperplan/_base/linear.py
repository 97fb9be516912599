"""What all linear models share once `coef_` and `intercept_` are known."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin

from hyperplan._base.validate import check_design, check_finite, check_is_fitted


def linear_scores(estimator, X):
    """``X @ coef_.T + intercept_`` on checked X.

    The finiteness of X is checked on the scores: a NaN or an infinity in a row always reaches its score, so
    that one pass over X serves both.
    """
    check_is_fitted(estimator)
    X = check_design(estimator, X, accept_sparse="csr", ensure_all_finite=False)
    coef = estimator.coef_
    with np.errstate(invalid="ignore", over="ignore"):
        scores = X @ (coef.T if coef.ndim == 2 else coef)
        if sp.issparse(scores):
            scores = scores.toarray()
        scores = scores + estimator.intercept_
    if not np.isfinite(scores).all():
        check_finite(estimator, X)
    return scores


class LinearRegressorMixin(RegressorMixin):
    """`predict` of a linear regressor."""

    def predict(self, X):
        """Predicted targets ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        return linear_scores(self, X)


class LinearClassifierMixin(ClassifierMixin):
    """`decision_function` and `predict` of a linear classifier."""

    def decision_function(self, X):
        """Signed scores: positive means ``classes_[1]`` with two classes, the largest wins with more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        scores = linear_scores(self, X)
        return scores.ravel() if scores.ndim > 1 and scores.shape[1] == 1 else scores

    def predict(self, X):
        """Class labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_.take(winner, axis=0)


class SparseCoefMixin:
    """Turn `coef_` into a sparse matrix and back, for models with many zeros."""

    coef_: Any

    def densify(self):
        """Make `coef_` a dense array (again).

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self, msg="Estimator, %(name)s, must be fitted before densifying.")
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self):
        """Make `coef_` a CSR matrix; pays when more than half of it is zero.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self, msg="Estimator, %(name)s, must be fitted before sparsifying.")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self
