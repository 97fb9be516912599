"""The perceptron in the space of features of a kernel: on each mistake ``y f(x) <= 0`` a step ``f <- f + y k(x, .)``.

There is no objective whose minimum is the answer: the steps end when all rows are right.  If the rows can be separated
with margin gamma in the space of features and ``k(x, x) <= R^2``, that happens after at most ``(R / gamma)^2`` mistakes
(Novikoff); otherwise never, and the mean of all functions on the way ("averaged") is steadier than the last.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    ClassifierMixin,
    ConvergenceWarning,
    Int,
    Jobs,
    OneOf,
    Real,
    Seed,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    encode_labels,
)
from hyperplan._solvers.perceptron import Novikoff, novikoff_certificate
from hyperplan.kernels._kernel_perceptron_walk import Values, walk
from hyperplan.kernels._resolve import KernelParameter, is_precomputed, resolve, rows_first, scaled_gamma


class KernelPerceptron(ClassifierMixin, BaseEstimator):
    """Classifier that learns from its mistakes, in the space of features of a kernel.

    A row is a mistake when ``y f(x) <= 0``; then f becomes ``f + y k(x, .)``.  More than two classes: one function per
    class against the others.  The matrix of kernel values is not held for many rows.

    Stopping rule: an epoch without a mistake (all further ones would be the same), or the number of mistakes per epoch
    has not fallen below its least for `n_iter_no_change` epochs; at most `max_iter` epochs.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name as in `KernelRidge`, "precomputed" (X is the matrix of kernel values), a function of two rows, or an
        object of `hyperplan.kernels`.
    gamma : {"scale", "auto"} or float, default="scale"
        Parameter of named kernels: ``1 / (n_features X.var())``, ``1 / n_features``, or a number.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        Whether the constant function belongs to the space (the kernel plus one).
    variant : {"vanilla", "averaged"}, default="vanilla"
        Report the last function, or the mean over all visits.
    max_iter : int, default=100
        Most epochs.
    n_iter_no_change : int, default=5
        Epochs without fewer mistakes before stopping.
    shuffle : bool, default=True
        New random order in each epoch.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    support_ : ndarray of shape (n_support,)
        Positions of the rows that were mistaken at least once.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows (empty for "precomputed").
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Epochs.
    n_mistakes_ : int
        Mistakes during training, over all epochs and classes.
    certificate_ : Certificate
        Novikoff's bound: mistakes against ``(R / gamma)^2``, gamma being the margin of the function found.  Where there
        is no separator its bound is nan.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Aizerman, Braverman, Rozonoer (1964), Theoretical foundations of the potential function method.  Freund, Schapire
    (1999), Large margin classification using the perceptron algorithm.

    Examples
    --------
    >>> from hyperplan.kernels import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # no line separates these
    >>> model = KernelPerceptron(kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.holds
    ([0, 1, 1, 0], True)
    """

    _params = {
        "kernel": KernelParameter,
        "gamma": OneOf(Choice("scale", "auto"), Real(ge=0)),
        "degree": Real(ge=0),
        "coef0": Real(),
        "fit_intercept": Bool,
        "variant": Choice("vanilla", "averaged"),
        "max_iter": Int(ge=1),
        "n_iter_no_change": Int(ge=1),
        "shuffle": Bool,
        "random_state": Seed,
        "n_jobs": Jobs,
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        variant="vanilla",
        max_iter=100,
        n_iter_no_change=5,
        shuffle=True,
        random_state=0,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.variant = variant
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or the matrix of kernel values (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X, y, _ = check_training(self, X, y)
        X, labels = rows_first(X), encode_labels(y, estimator_name="KernelPerceptron")
        n_problems = 1 if labels.classes.shape[0] == 2 else labels.classes.shape[0]
        targets = [1] if n_problems == 1 else range(n_problems)
        signs = np.column_stack([np.where(labels.codes == target, 1.0, -1.0) for target in targets])
        # 3. maths
        self._gamma = _gamma_of(self.gamma, X)
        values = Values(self._kernel(), X, float(self.fit_intercept), self.n_jobs)
        found = walk(values, signs, self._orders(X.shape[0]), self.n_iter_no_change)
        if not found.converged:
            warnings.warn(
                f"The rows were still misclassified after {found.n_epochs} epochs, and fewer of them with each: raise "
                "max_iter, or use variant='averaged', which settles earlier.",
                ConvergenceWarning,
                stacklevel=2,
            )
        # 4. attributes
        self.classes_ = labels.classes
        self._store(X, found)
        return self

    def _orders(self, n_rows):
        """The order of the rows in each epoch."""
        random = check_random_state(self.random_state)
        return (random.permutation(n_rows) if self.shuffle else np.arange(n_rows) for _ in range(self.max_iter))

    def _store(self, X, found):
        dual = found.mean if self.variant == "averaged" else found.dual
        self.support_ = np.flatnonzero(found.dual.any(axis=1) | found.mean.any(axis=1))
        self.support_vectors_ = X[:0] if is_precomputed(self.kernel) else X[self.support_]
        self.dual_coef_ = np.ascontiguousarray(dual[self.support_].T)
        self.intercept_ = self.dual_coef_.sum(axis=1) if self.fit_intercept else np.zeros(dual.shape[1])
        self.n_iter_ = found.n_epochs
        self.n_mistakes_ = int(found.mistakes.sum())
        bounds = [
            Novikoff(int(mistakes), (found.radius / margin) ** 2 if margin > 0 else np.nan, float(margin), found.radius)
            for mistakes, margin in zip(found.mistakes, found.margins)
        ]
        self.certificate_ = novikoff_certificate(bounds)

    def decision_function(self, X):
        """Signed scores: positive means ``classes_[1]`` with two classes, the largest wins with more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or their kernel values with the rows of the fit (n_samples, n_samples_fitted).

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        check_is_fitted(self)
        X = rows_first(check_design(self, X))
        anchors = self.support_vectors_
        if is_precomputed(self.kernel):
            X = X[:, self.support_]
            X = X.toarray() if sp.issparse(X) else X
        scores = self._kernel()._expand(X, anchors, self.dual_coef_.T, self.n_jobs) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X):
        """Class labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or their kernel values with the rows of the fit (n_samples, n_samples_fitted).

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_.take(winner, axis=0)

    def _kernel(self):
        return resolve(self.kernel, gamma=self._gamma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def _gamma_of(gamma, X):
    if gamma == "scale":
        return scaled_gamma(X)
    return 1.0 / X.shape[1] if gamma == "auto" else float(gamma)
