"""One against the rest: ``f(x) = argmax_k s_k(x)``, the score s_k fitted to "is it class k?".

Several labels per row are as many separate questions, and ``s_k(x)`` above the threshold is a yes.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Bool, Int, MultiOutputMixin, OneOf, available_if, check_is_fitted, check_params, clone
from hyperplan._base.members import get_tags
from hyperplan._base.preprocessing import LabelBinarizer
from hyperplan.multiclass._binary_members import (
    BinaryMembers,
    fitted_member,
    member_score,
    members_have,
    threshold_of,
)

UNKNOWN = "Mini-batch contains {0} while classes must be subset of {1}"


class OneVsRestClassifier(MultiOutputMixin, BinaryMembers):
    """Several classes, or several labels per row, by one member for each class.

    Objective: that of the estimator, once per class.  Stopping rule: one fit per class.

    Parameters
    ----------
    estimator : estimator object
        A classifier (its decisions are used, else its probabilities) or a regressor.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    verbose : int, default=0
        Above 0: print a line per member.

    Attributes
    ----------
    estimators_ : list of estimators
        One per class; one in all for two classes.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
    label_binarizer_ : LabelBinarizer
        From labels to yes and no, and back.
    multilabel_ : bool
        Whether rows have several labels.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the member closest to breaking its promise, where all members have one.

    References
    ----------
    Rifkin, Klautau (2004), In defense of one-vs-all classification, JMLR 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import LogisticRegression
    >>> from hyperplan.multiclass import OneVsRestClassifier
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> model = OneVsRestClassifier(LogisticRegression(C=100)).fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> len(model.estimators_), model.predict([[-1.0], [3.0]]).tolist()
    (3, ['a', 'c'])
    """

    _params = {**BinaryMembers._params, "verbose": OneOf(Int(ge=0), Bool)}

    def __init__(self, estimator, *, n_jobs=None, verbose=0):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Fit one member per class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_classes)
            Labels; an indicator matrix means several labels per row.
        **fit_params : dict
            Keywords for the members' fit, by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        params = self._keywords("fit", fit_params)
        self.label_binarizer_ = LabelBinarizer(sparse_output=True)
        answers = self.label_binarizer_.fit_transform(y).tocsc()
        self.classes_ = self.label_binarizer_.classes_

        def work(k):
            if self.verbose:
                print(f"Fitting member {k + 1} of {answers.shape[1]}...")
            names = (f"not {self.classes_[k]}", self.classes_[k])
            return fitted_member(self.estimator, X, _column(answers, k), params, names)

        self.estimators_ = self._each(work, range(answers.shape[1]))
        self._copy_column_facts()
        return self

    @available_if(members_have("partial_fit"))
    def partial_fit(self, X, y, classes=None, **partial_fit_params):
        """Show the members one batch of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_classes)
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
        if self._first_batch(classes, y, UNKNOWN):
            self.estimators_ = [clone(self.estimator) for _ in range(self.n_classes_)]
            self.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(self.classes_)
        answers = self.label_binarizer_.transform(y).tocsc()

        def work(k):
            return self.estimators_[k].partial_fit(X, _column(answers, k), classes=np.array((0, 1)), **params)

        self.estimators_[: answers.shape[1]] = self._each(work, range(answers.shape[1]))
        self.estimators_ = self.estimators_[: answers.shape[1]]  # two classes need one member
        self._copy_column_facts()
        return self

    def predict(self, X):
        """Labels: the class with the highest score; for several labels per row, all with a yes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_classes)
            Labels; of several equally good ones the first.
        """
        check_is_fitted(self)
        scores = self._asked(member_score, X)
        if self.label_binarizer_.y_type_ == "multiclass":
            return self.classes_[scores.argmax(axis=1)]
        yes = sp.csc_array(scores > threshold_of(self.estimators_[0]), dtype=int)
        return self.label_binarizer_.inverse_transform(yes)

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X):
        """Probabilities: those of the members, divided by their sum unless rows may have several labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        shares = self._asked(lambda member, rows: member.predict_proba(rows)[:, 1], X)
        if shares.shape[1] == 1:
            shares = np.column_stack([1 - shares, shares])
        if not self.multilabel_:
            sums = shares.sum(axis=1, keepdims=True)
            np.divide(shares, sums, out=shares, where=sums != 0)
        return shares

    @available_if(members_have("decision_function"))
    def decision_function(self, X):
        """Scores of the members.

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
        if len(self.estimators_) == 1:
            return self.estimators_[0].decision_function(X)
        return self._asked(lambda member, rows: member.decision_function(rows), X)

    @property
    def multilabel_(self):
        """Whether rows have several labels."""
        return self.label_binarizer_.y_type_.startswith("multilabel")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags


def _column(answers, k):
    """Column k of a CSC matrix, dense."""
    column = np.zeros(answers.shape[0], dtype=answers.dtype)
    part = slice(answers.indptr[k], answers.indptr[k + 1])
    column[answers.indices[part]] = answers.data[part]
    return column
