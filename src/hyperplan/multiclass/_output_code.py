"""Output codes: each class has a word of bits, a member guesses each bit, and the nearest word wins.

    f(x) = argmin_k |s(x) - code_k|,   s(x) the scores of the members

With words that differ in many bits, a few wrong members change nothing.
"""

import numpy as np

from hyperplan._base import Is, Real, Seed, check_is_fitted, check_params, check_random_state, column_or_1d
from hyperplan._base.labels import encode_labels
from hyperplan._math.distances import learn_metric, pairwise, prepare
from hyperplan.multiclass._binary_members import BinaryMembers, fitted_member, member_score

CAN_SCORE = Is(
    lambda value: hasattr(value, "fit") and (hasattr(value, "decision_function") or hasattr(value, "predict_proba")),
    "an object implementing 'fit' and 'decision_function' or an object implementing 'fit' and 'predict_proba'",
)


class OutputCodeClassifier(BinaryMembers):
    """Several classes by members that each guess one bit of a random code.

    Objective: that of the estimator, once per bit.  Stopping rule: int(n_classes code_size) fits.

    Parameters
    ----------
    estimator : estimator object
        A classifier with decisions or probabilities.
    code_size : float, default=1.5
        Bits per class: below 1 fewer members than classes, above 1 words that survive errors.
    random_state : int, RandomState or None, default=None
        Draws the code.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.

    Attributes
    ----------
    estimators_ : list of estimators
        One per bit.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    code_book_ : ndarray of shape (n_classes, n_bits)
        The words: 1 and -1 for members with decisions, 1 and 0 for those with probabilities.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the member closest to breaking its promise, where all members have one.

    References
    ----------
    Dietterich, Bakiri (1995), Solving multiclass learning problems via error-correcting output codes, Journal of
    Artificial Intelligence Research 2.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.multiclass import OutputCodeClassifier
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> model = OutputCodeClassifier(DecisionTreeClassifier(), code_size=3, random_state=0).fit(X, [0, 0, 1, 1, 2, 2])
    >>> model.code_book_.shape, model.predict([[-1.0], [1.05], [3.0]]).tolist()
    ((3, 9), [0, 1, 2])
    """

    _params = {**BinaryMembers._params, "estimator": CAN_SCORE, "code_size": Real(gt=0), "random_state": Seed}

    def __init__(self, estimator, *, code_size=1.5, random_state=None, n_jobs=None):
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, **fit_params):
        """Draw the code and fit one member per bit.

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
        random_state = check_random_state(self.random_state)
        labels = encode_labels(column_or_1d(y, warn=True), min_classes=0)
        n_classes = len(labels.classes)
        if n_classes == 0:
            raise ValueError("OutputCodeClassifier can not be fit when no class is present.")
        n_bits = int(n_classes * self.code_size)
        if n_bits == 0:
            raise ValueError(
                f"code_size={self.code_size} leaves no bit for {n_classes} classes: take at least {1 / n_classes:.3g}"
            )
        low = -1.0 if hasattr(self.estimator, "decision_function") else 0.0
        self.code_book_ = np.where(random_state.uniform(size=(n_classes, n_bits)) > 0.5, 1.0, low)
        self.classes_ = labels.classes
        bits = self.code_book_.astype(np.intp)

        def work(b):
            return fitted_member(self.estimator, X, bits[labels.codes, b], params)

        self.estimators_ = self._each(work, range(n_bits))
        self._copy_column_facts()
        return self

    def predict(self, X):
        """Labels: the class whose word is nearest to the scores of the members.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels; of several equally near ones the first.
        """
        check_is_fitted(self)
        scores = np.ascontiguousarray(self._asked(member_score, X), dtype=np.float64)
        metric = learn_metric("sqeuclidean", self.code_book_)
        gaps = pairwise(metric, prepare(scores, metric), prepare(self.code_book_, metric), n_jobs=self.n_jobs)
        return self.classes_[gaps.argmin(axis=1)]
