"""Support vector classification with a learned combination of kernels.

    minimise over d >= 0, sum d = 1    J(d) = max over beta of the dual of SVC with the kernel sum_k d_k K_k

J is convex and differentiable with slope -1/2 beta'K_k beta.  With several classes J is the sum over pairs of classes,
which share the weights.  Each solved machine gives a plane below J; the lowest point of the planes is the dual value of
the whole problem, and the gap to it certifies the weights.  Stops when that gap is at most `tol` times J.  See
`_multiple_kernel_solve`.
"""

from typing import Any

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    ClassifierMixin,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    compute_class_weight,
    encode_labels,
    gap_certificate,
)
from hyperplan._core.parallel import single_threaded_blas, spans
from hyperplan._math.gram import KernelSpec
from hyperplan._solvers.kernel_svm import precision
from hyperplan._solvers.kernel_svm_source import dense_rows
from hyperplan.svm._kernel_classifier import _joined, pair_coefs, pairs_of
from hyperplan.svm._kernel_machine import _gamma_of
from hyperplan.svm._linear_common import warn_unless_certified
from hyperplan.svm._multiple_kernel_solve import INNER_SHARE, FunctionRows, Pair, learn_weights, pair_kernels

WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # gammas of the default kernels, in units of "scale"
PREDICTED = 1 << 23  # kernel values that a prediction holds at a time


class MultipleKernelSVC(ClassifierMixin, BaseEstimator):
    """Support vector classification whose kernel is a learned convex combination of given ones.

    Minimises the objective of `SVC` over the machine and the weights of the kernels together (the problem of SimpleMKL,
    by the level method on the weights, pair steps on the machines).  Weights of kernels that do not help become zero.
    Kernel matrices of pairs of classes with up to 2000 rows are held while a quarter of the free memory, or 1 GiB, is
    enough for them; others are made when they are needed, a few rows at a time for more rows than that.

    Parameters
    ----------
    kernels : sequence of {'linear', 'rbf', 'poly', 'sigmoid'} or callable, default=None
        Kernels to combine; strings stand for the kernels of `SVC` with its defaults, callables get two tables and
        return the matrix of values.  None means a linear kernel and Gaussian ones of five widths.
    C : float, default=1.0
        Cost of a margin violation.
    normalize : bool, default=True
        Whether each kernel is divided by its mean value on the diagonal, so that weights can be compared.
    tol : float, default=1e-3
        Gap to the optimum, relative to the objective, at which to stop.
    max_iter : int, default=100
        Largest number of changes of the weights; when it is reached the gap is reported.
    class_weight : dict or 'balanced', default=None
        Factors of C per class.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels; they are not negative and sum to one.
    scales_ : ndarray of shape (n_kernels,)
        What each kernel is divided by.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors, by class.
    n_support_ : ndarray of shape (n_classes,)
        Numbers of support vectors per class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, in the layout of `SVC`; with two classes positive for the second.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Constants of the pairs.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_iter_ : int
        Combinations looked at.
    certificate_ : Certificate
        Objective, dual value, and relative gap.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Rakotomamonjy, Bach, Canu, Grandvalet (2008), SimpleMKL, JMLR 9.  Xu, Jin, King, Lyu (2009), An extended level
    method for efficient multiple kernel learning, NIPS 21.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.svm import MultipleKernelSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> model = MultipleKernelSVC().fit(X, X[:, 0] * X[:, 1] > 0)
    >>> float(model.weights_.sum().round(6)), bool(model.weights_[0] < 0.1)
    (1.0, True)
    """

    _params = {
        "kernels": OneOf(Null, ArrayLike),
        "C": Is(lambda v: Real(gt=0)(v) and np.isfinite(v), "a finite float above 0"),
        "normalize": Bool,
        "tol": Real(gt=0),
        "max_iter": Int(ge=0),
        "class_weight": OneOf(Null, Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Choice("balanced")),
    }

    def __init__(self, kernels=None, *, C=1.0, normalize=True, tol=1e-3, max_iter=100, class_weight=None):
        self.kernels = kernels
        self.C = C
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Learn the weights of the kernels and one machine per pair of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of C for each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        data = check_training(self, X, y, sample_weight, accept_sparse=False, order="C")  # 2 data
        labels = encode_labels(data.y, estimator_name=type(self).__name__)
        class_weight = compute_class_weight(self.class_weight, classes=labels.classes, y=data.y)
        weight = np.ones(data.y.size) if data.weight is None else data.weight
        cost = self.C * weight * class_weight[labels.codes]
        specs = _specs(self.kernels, data.X)
        members = [np.flatnonzero((labels.codes == c) & (cost > 0)) for c in range(labels.classes.size)]
        if sum(rows.size > 0 for rows in members) < 2:
            raise ValueError("all samples with positive weights belong to the same class: a classifier needs two.")
        names = pairs_of(labels.classes.size)
        pairs = [_pair(members, cost, *pair) for pair in names]
        found, scales = _learn(specs, data.X, pairs, self)  # 3 maths
        best = found.best
        certificate = gap_certificate(
            best.value,
            found.lower,
            float(self.tol),
            best.value if best.value > 0 else 1.0,
            reference="Xu, Jin, King, Lyu (2009), An extended level method for multiple kernel learning, NIPS 21",
            assumption="the kernels are positive semi-definite",
            n_iter=found.n_iter,
            kernels=int((best.weights > 0).sum()),
        )
        warn_unless_certified(self, certificate)
        support, n_support, coef = _joined(best.machines, members, names)
        self.classes_, self.weights_, self.scales_ = labels.classes, best.weights, scales  # 4 attributes
        self._specs, self._vectors, self._dual_coef_ = specs, data.X[support], coef
        self._intercept_ = np.array([machine.intercept for machine in best.machines])
        flip = -1.0 if labels.classes.size == 2 else 1.0
        self.support_, self.n_support_ = support.astype(np.int32), n_support
        self.dual_coef_, self.intercept_ = flip * coef, flip * self._intercept_
        self.n_iter_ = found.n_iter
        self.certificate_ = certificate
        return self

    def _pair_scores(self, X):
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, order="C")
        coefs = pair_coefs(self._dual_coef_, self.n_support_)
        scores = np.empty((X.shape[0], coefs.shape[1]))
        with single_threaded_blas():
            for part in spans(X.shape[0], max(1, PREDICTED // max(len(self._vectors), 1))):
                scores[part] = self._combined(X[part]) @ coefs + self._intercept_
        return scores

    def _combined(self, X):
        """Values of the learned kernel between rows and support vectors."""
        K = np.zeros((X.shape[0], self._vectors.shape[0]))
        for weight, scale, spec in zip(self.weights_, self.scales_, self._specs):
            if weight > 0.0:
                K += weight / scale * _matrix(spec, X, self._vectors)
        return K

    def decision_function(self, X):
        """Scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; with more classes the sums of the scores of their pairs.
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return -scores.ravel()
        sums = np.zeros((scores.shape[0], len(self.classes_)))
        for column, (i, j) in enumerate(pairs_of(len(self.classes_))):
            vote = np.sign(scores[:, column]) + scores[:, column] / (3.0 * (1.0 + np.abs(scores[:, column])))
            sums[:, i] += vote
            sums[:, j] -= vote
        return sums

    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_.take(winner)


def _pair(members, cost, i, j) -> Pair:
    rows = np.concatenate([members[i], members[j]])
    return Pair(rows, np.repeat([1.0, -1.0], [members[i].size, members[j].size]), cost[rows])


def _specs(kernels, X) -> list[Any]:
    """Kernels with numbers for all parameters, or callables."""
    gamma = _gamma_of("scale", X)
    if kernels is None:
        return [KernelSpec("linear"), *(KernelSpec("rbf", factor * gamma) for factor in WIDTHS)]
    known = ("linear", "rbf", "poly", "sigmoid")
    found = []
    for number, kernel in enumerate(kernels):
        if not callable(kernel) and kernel not in known:
            raise ValueError(f"kernels[{number}] must be callable or one of {known}. Got {kernel!r} instead.")
        found.append(kernel if callable(kernel) else KernelSpec(kernel, gamma))
    if not found:
        raise ValueError("kernels must hold at least one kernel, got none")
    return found


def _source(spec, X, dtype):
    return dense_rows(spec, X, dtype) if isinstance(spec, KernelSpec) else FunctionRows(spec, X, dtype)


def _learn(specs, X, pairs, model):
    """The best weights with their machines, and what each kernel was divided by."""
    tol = float(model.tol)
    scales = np.ones(len(specs))
    if model.normalize:
        means = np.array([_source(spec, X, np.float64).diagonal().mean() for spec in specs])
        scales = np.where(means > 0.0, means, 1.0)

    def make_sources(rows):
        dtype = precision(rows.size, INNER_SHARE * tol)
        return [_source(spec, X[rows], dtype) for spec in specs]

    kernels = pair_kernels(make_sources, pairs, scales)
    return learn_weights(kernels, pairs, len(specs), tol, int(model.max_iter)), scales


def _matrix(spec, X, vectors):
    """Kernel values between rows and support vectors."""
    source = _source(spec, vectors, np.float64)
    if not isinstance(spec, KernelSpec):
        return source.values(X, vectors)
    left = dense_rows(spec, X, np.float64, like=source)
    out = np.empty((len(left), len(source)))
    source.between(left, out)
    return out
