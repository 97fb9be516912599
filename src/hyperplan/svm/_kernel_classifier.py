"""What classification with kernels adds: one machine per pair of classes, votes, probabilities, status of points."""

from math import lgamma, log

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    Bool,
    Choice,
    ClassifierMixin,
    Is,
    NotFittedError,
    Null,
    OneOf,
    Seed,
    available_if,
    check_is_fitted,
    check_params,
    check_random_state,
    compute_class_weight,
    encode_labels,
)
from hyperplan._core.parallel import thread_map
from hyperplan._solvers.kernel_svm import WHOLE
from hyperplan._solvers.kernel_svm_source import given_matrix
from hyperplan.svm._kernel_machine import KernelMachine, report, warn_unless_converged
from hyperplan.svm._kernel_probability import couple, put_predicted_first, sigmoid_slope

FOLDS = 5  # held-out scores for probabilities come from as many folds
CONFIDENCE = 0.95  # of the compression bound
STATUSES = ("outside", "on margin", "inside", "wrong")


def pairs_of(n_classes):
    """All pairs (i, j) with i < j, in libsvm's order."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def pair_coefs(dual_coef, n_support):
    """Dual coefficients as one column per pair: (n_support_vectors, n_pairs).

    Row j - 1 of `dual_coef` holds the coefficients of class i's vectors in the pair (i, j), row i those of class j's.
    """
    ends = np.concatenate([[0], np.cumsum(n_support)])
    pairs = pairs_of(len(n_support))
    out = np.zeros((dual_coef.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        out[first, column] = dual_coef[j - 1, first]
        out[second, column] = dual_coef[i, second]
    return out


def compression_bound(n_rows, n_support, confidence=CONFIDENCE):
    """Upper bound on the error rate from the number of support vectors (Littlestone and Warmuth 1986).

    The support vectors alone give the same classifier, and it errs on none of the other rows: with probability
    `confidence` over the sample its error is at most ``(log binom(n, k) + log(n / (1 - confidence))) / (n - k)``.
    """
    if n_support >= n_rows:
        return 1.0
    choices = lgamma(n_rows + 1) - lgamma(n_support + 1) - lgamma(n_rows - n_support + 1)
    return min(1.0, (choices + log(n_rows / (1.0 - confidence))) / (n_rows - n_support))


class KernelClassifier(ClassifierMixin, KernelMachine):
    """Base of SVC and NuSVC."""

    _params = {
        **KernelMachine._params,
        "class_weight": OneOf(Null, Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Choice("balanced")),
        "probability": Bool,
        "decision_function_shape": Choice("ovr", "ovo"),
        "break_ties": Bool,
        "random_state": Seed,
    }

    _weighs_classes = True

    def fit(self, X, y, sample_weight=None):
        """Fit one machine per pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training rows; the square matrix of kernel values for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of C for each row; rows with a weight of zero or less take no part.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        generator = check_random_state(self.random_state)
        training = self._check_rows(X, y, sample_weight)  # 2 data
        labels = encode_labels(training.y, estimator_name=type(self).__name__)
        class_weight = compute_class_weight(self.class_weight, classes=labels.classes, y=training.y)
        weight = training.weight * class_weight[labels.codes] if self._weighs_classes else training.weight
        members = [training.rows[labels.codes[training.rows] == c] for c in range(labels.classes.size)]
        self._check_members(members, weight)
        source, gamma = self._kernel_values(training.X)  # 3 maths
        if labels.classes.size > 2 and len(source) <= WHOLE:
            source = given_matrix(source.square())
        pairs = pairs_of(labels.classes.size)
        machines = _fit_each(lambda pair: self._fit_pair(source, members, weight, *pair), pairs, len(source))
        slopes = np.empty(0)
        if self.probability:
            slopes = self._fit_slopes(source, members, weight, pairs, generator)
        support, n_support, coef = _joined(machines, members, pairs)
        intercept = np.array([machine.intercept for machine in machines])
        self.classes_, self.class_weight_ = labels.classes, class_weight  # 4 attributes
        self._n_support = n_support
        self._store(training, gamma, support, coef, intercept, machines)
        if labels.classes.size == 2:  # the two-class attributes speak for the second class
            self.dual_coef_, self.intercept_ = -self._dual_coef_, -intercept
        self._probA, self._probB = slopes, np.zeros(slopes.size)
        self.n_iter_ = np.array([machine.n_iter for machine in machines], dtype=np.int32)
        self.compression_bound_ = compression_bound(training.rows.size, support.size)
        if self.verbose:
            report(self)
        warn_unless_converged(self)
        return self

    def _check_members(self, members, weight):
        """Every class must have rows that count, if there are at least two such classes at all."""
        filled = [rows for rows in members if rows.size]
        if len(filled) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class: a classifier needs two."
            )

    def _fit_pair(self, source, members, weight, i, j):
        rows = np.concatenate([members[i], members[j]])
        signs = np.repeat([1.0, -1.0], [members[i].size, members[j].size])
        return self._solve(source.take(rows), signs, weight[rows])

    # --- probabilities

    def _fit_slopes(self, source, members, weight, pairs, generator):
        """Slope of the sigmoid of each pair, from scores of rows that were held out."""
        order = [rows[generator.permutation(rows.size)] for rows in members]

        def slope(pair):
            rows = np.concatenate([order[c] for c in pair])
            signs = np.repeat([1.0, -1.0], [order[c].size for c in pair])
            fold = np.concatenate([np.arange(order[c].size) % FOLDS for c in pair])
            scores = np.empty(rows.size)
            for number in range(FOLDS):
                train, test = fold != number, fold == number
                scores[test] = self._held_out(source, rows, signs, weight, train, test)
            return sigmoid_slope(scores, signs)

        return np.array(_fit_each(slope, pairs, len(source)))

    def _held_out(self, source, rows, signs, weight, train, test):
        if not test.any():
            return np.empty(0)
        if abs(signs[train].sum()) == train.sum():  # one class only, or nothing, to learn from
            return np.full(test.sum(), np.sign(signs[train].sum()))
        part = source.take(rows[train])
        machine = self._solve(part, signs[train], weight[rows[train]])
        return source.take(rows[test]).product(part, machine.beta) + machine.intercept

    def _has_probabilities(self):
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Probabilities of the classes; the most probable one is what `predict` answers.

        One sigmoid per pair of classes, without a constant, so that it is 1/2 where the machine is undecided; the pairs
        are coupled by Wu, Lin and Weng's second method.  Where that disagrees with the vote of `predict`, the two
        classes' probabilities are exchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        if self._probA.size == 0:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        scores = self._pair_scores(X)
        first = 1.0 / (1.0 + np.exp(np.clip(self._probA * scores, -700.0, 700.0)))
        if len(self.classes_) == 2:
            return np.hstack([first, 1.0 - first])
        return put_predicted_first(couple(first, len(self.classes_)), self._winners(scores))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return np.log(self.predict_proba(X))

    @property
    def probA_(self):
        """Slopes of the sigmoids ``1 / (1 + exp(probA_ * score + probB_))``; empty without probabilities."""
        return self._probA

    @property
    def probB_(self):
        """Constants of the sigmoids: zero, so that the more probable class is the predicted one."""
        return self._probB

    # --- answers

    def _pair_scores(self, X):
        """Scores of all pairs, positive for the first class of the pair."""
        check_is_fitted(self)
        coef = pair_coefs(self._dense_dual_coef(), self._n_support)
        return self._sums(X, coef) + self._intercept_

    def decision_function(self, X):
        """Scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            With two classes: positive for the second.  With more: votes plus the summed scores squeezed into less than
            a third of a vote ("ovr"), or the scores of all pairs, positive for the first class of the pair ("ovo").
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return -scores.ravel()
        return self._votes(scores) if self.decision_function_shape == "ovr" else scores

    def _votes(self, scores):
        """Votes, and the sums of scores squeezed into less than a third of a vote."""
        votes = np.zeros((scores.shape[0], len(self.classes_)))
        sums = np.zeros_like(votes)
        for column, (i, j) in enumerate(pairs_of(len(self.classes_))):
            sums[:, i] += scores[:, column]
            sums[:, j] -= scores[:, column]
            is_second = scores[:, column] < 0
            votes[~is_second, i] += 1
            votes[is_second, j] += 1
        return votes + sums / (3 * (np.abs(sums) + 1))

    def _winners(self, scores):
        """Positions of the predicted classes: most votes, the first of equals unless ties are broken by scores."""
        if len(self.classes_) == 2:
            return (scores[:, 0] <= 0).astype(np.intp)
        if self.break_ties and self.decision_function_shape == "ovr":
            return self._votes(scores).argmax(axis=1)
        votes = np.zeros((scores.shape[0], len(self.classes_)), dtype=np.intp)
        for column, (i, j) in enumerate(pairs_of(len(self.classes_))):
            is_first = scores[:, column] > 0
            votes[is_first, i] += 1
            votes[~is_first, j] += 1
        return votes.argmax(axis=1)

    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.classes_.take(self._winners(self._pair_scores(X)))

    def point_status(self, X, y, *, atol=None):
        """Where labelled rows lie: "outside" the margin, "on margin", "inside" it on the right side, or "wrong".

        The margin of a row is ``m = s f(x)`` of its pair of classes, the smallest over the pairs with more than two
        classes: above 1, equal to 1, between 0 and 1, at most 0.  A coefficient of zero goes with m >= 1, one between
        its bounds with m = 1, one at its bound with m <= 1: an error only if m <= 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        atol : float, default=None
            How far from 1 a margin may be and count as 1; None means ten times `tol`.

        Returns
        -------
        status : ndarray of shape (n_samples,)
            One of "outside", "on margin", "inside", "wrong".
        """
        scores = self._pair_scores(X)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        known = self.classes_[np.minimum(codes, len(self.classes_) - 1)] == np.asarray(y)
        if codes.shape[0] != scores.shape[0] or not known.all():
            raise ValueError("y must hold one label of the training data for each row of X")
        margin = np.full(codes.size, np.inf)
        for column, (i, j) in enumerate(pairs_of(len(self.classes_))):
            for own, sign in ((i, 1.0), (j, -1.0)):
                rows = codes == own
                margin[rows] = np.minimum(margin[rows], sign * scores[rows, column])
        atol = 10 * self.tol if atol is None else atol
        kinds = [np.abs(margin - 1.0) <= atol, margin > 1.0, margin > 0.0]
        return np.select(kinds, ["on margin", "outside", "inside"], "wrong")

    def _linear_coef(self):
        coef = self._pair_coef_matrix().T @ self.support_vectors_
        return -coef if len(self.classes_) == 2 else coef

    def _pair_coef_matrix(self):
        coef = pair_coefs(self._dense_dual_coef(), self._n_support)
        return sp.csr_array(coef) if self._sparse else coef


def _fit_each(fit, pairs, n_rows):
    """One result per pair; in threads when there are several and they are worth it."""
    return thread_map(fit, pairs) if len(pairs) > 1 and n_rows > 200 else [fit(pair) for pair in pairs]


def _joined(machines, members, pairs):
    """Support rows by class, their numbers, and the dual coefficients in libsvm's layout."""
    n_classes = len(members)
    used = [np.zeros(rows.size, dtype=bool) for rows in members]
    for machine, (i, j) in zip(machines, pairs):
        is_used = machine.beta != 0.0
        used[i] |= is_used[: members[i].size]
        used[j] |= is_used[members[i].size :]
    n_support = np.array([marks.sum() for marks in used], dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    coef = np.zeros((n_classes - 1, ends[-1]))
    for machine, (i, j) in zip(machines, pairs):
        coef[j - 1, ends[i] : ends[i + 1]] = machine.beta[: members[i].size][used[i]]
        coef[i, ends[j] : ends[j + 1]] = machine.beta[members[i].size :][used[j]]
    support = np.concatenate([rows[marks] for rows, marks in zip(members, used)])
    return support, n_support, coef
