"""One against one: a member for each pair of classes, and a vote.

    votes_k(x) = #{pairs that k wins},   f(x) = argmax_k votes_k(x) + c_k(x) / (3 (|c_k(x)| + 1))

where c_k sums the scores in favour of k: they decide between equal votes and never against a vote.
"""

import itertools

import numpy as np

from hyperplan._base import available_if, check_design, check_is_fitted, check_params, check_training, clone
from hyperplan._base.labels import encode_labels
from hyperplan._base.members import get_tags, rows_of_params
from hyperplan._base.out_of_fold import take_rows
from hyperplan.multiclass._binary_members import (
    RAW,
    BinaryMembers,
    fitted_member,
    member_score,
    members_have,
    threshold_of,
)

UNKNOWN = "Mini-batch contains {0} while it must be subset of {1}"


class OneVsOneClassifier(BinaryMembers):
    """Several classes by one member for each pair of them; each sees the rows of its pair only.

    Objective: that of the estimator, once per pair.  Stopping rule: n_classes (n_classes - 1) / 2 fits.

    Parameters
    ----------
    estimator : estimator object
        A classifier (its decisions are used, else its probabilities) or a regressor.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.

    Attributes
    ----------
    estimators_ : tuple of estimators
        One per pair (0, 1), (0, 2), ..., (1, 2), ...
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
    pairwise_indices_ : tuple of ndarrays, or None
        Rows that each member saw, if X is a table between rows (a precomputed kernel).
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the member closest to breaking its promise, where all members have one.

    References
    ----------
    Hastie, Tibshirani (1998), Classification by pairwise coupling, Annals of Statistics 26.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.multiclass import OneVsOneClassifier
    >>> from hyperplan.svm import LinearSVC
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> model = OneVsOneClassifier(LinearSVC()).fit(X, [0, 0, 1, 1, 2, 2])
    >>> len(model.estimators_), model.predict([[-1.0], [1.05], [3.0]]).tolist()
    (3, [0, 1, 2])
    """

    def __init__(self, estimator, *, n_jobs=None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def fit(self, X, y, **fit_params):
        """Fit one member per pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Keywords for the members' fit, by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        params = self._keywords("fit", fit_params)
        X, y, _ = check_training(self, X, y, **RAW)
        labels = encode_labels(y, min_classes=0)
        if len(labels.classes) == 1:
            raise ValueError("OneVsOneClassifier can not be fit when only one class is present.")
        self.classes_ = labels.classes
        pairwise = get_tags(self).input_tags.pairwise

        def work(pair):
            rows = np.flatnonzero((labels.codes == pair[0]) | (labels.codes == pair[1]))
            wins = (labels.codes[rows] == pair[1]).astype(np.intp)
            own = take_rows(X, rows, rows if pairwise else None)
            names = [labels.classes[k] for k in pair]
            return fitted_member(self.estimator, own, wins, rows_of_params(params, rows, len(y)), names), rows

        found = self._each(work, self._pairs())
        self.estimators_ = tuple(member for member, _ in found)
        self.pairwise_indices_ = tuple(rows for _, rows in found) if pairwise else None
        return self

    @available_if(members_have("partial_fit"))
    def partial_fit(self, X, y, classes=None, **partial_fit_params):
        """Show the members one batch of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        **partial_fit_params : dict
            Keywords for the members' `partial_fit`, by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        params = self._keywords("partial_fit", partial_fit_params)
        first = self._first_batch(classes, y, UNKNOWN)
        X, y, _ = check_training(self, X, y, reset=first, **RAW)
        encode_labels(y, min_classes=0)
        members = [clone(self.estimator) for _ in self._pairs()] if first else self.estimators_

        def work(task):
            member, (i, j) = task
            rows = np.flatnonzero((y == self.classes_[i]) | (y == self.classes_[j]))
            if rows.size == 0:  # the batch is about other classes
                return member
            wins = (y[rows] == self.classes_[j]).astype(np.intp)
            own = rows_of_params(params, rows, len(y))
            return member.partial_fit(X[rows], wins, classes=np.array((0, 1)), **own)

        self.estimators_ = self._each(work, zip(members, self._pairs()))
        self.pairwise_indices_ = None
        return self

    def _pairs(self):
        return list(itertools.combinations(range(self.n_classes_), 2))

    def predict(self, X):
        """Labels: the class with the most votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        if self.n_classes_ == 2:
            return self.classes_[(scores > threshold_of(self.estimators_[0])).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X):
        """Votes for each class, plus less than a third of a vote that tells how sure the members are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=True, **RAW)

        def work(task):
            member, columns = task
            rows = X if columns is None else X[:, columns]
            return member.predict(rows), np.ravel(member_score(member, rows))

        columns = self.pairwise_indices_ or [None] * len(self.estimators_)
        answers = self._each(work, zip(self.estimators_, columns))
        scores = votes(answers, self._pairs(), self.n_classes_)
        return scores[:, 1] if self.n_classes_ == 2 else scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags


def votes(answers, pairs, n_classes):
    """Votes and confidences of all pairs, summed by class; `answers` are (0 or 1, score) of each pair."""
    counts = np.zeros((len(answers[0][0]), n_classes))
    favour = np.zeros_like(counts)
    for (winner, score), (i, j) in zip(answers, pairs):
        favour[:, i] -= score
        favour[:, j] += score
        counts[:, i] += winner == 0
        counts[:, j] += winner == 1
    return counts + favour / (3.0 * (np.abs(favour) + 1.0))
