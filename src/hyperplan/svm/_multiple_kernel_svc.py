"""Support vector classification with a learned combination of kernels (SimpleMKL).

    minimise over d >= 0, sum d = 1    J(d) = max over beta of the dual of SVC with the kernel sum_k d_k K_k

J is convex and differentiable with slope -1/2 beta'K_k beta; reduced gradients keep the sum, a line search along them
keeps the signs.  With several classes J is the sum over pairs of classes, which share the weights.  The dual of the
whole problem has the value ``sum_i s_i beta_i - max_k 1/2 beta'K_k beta``: the gap to it is zero exactly when no kernel
would explain the coefficients better than the combination does.  Stops when that gap is at most `tol` times J.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

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
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._math.gram import KernelSpec
from hyperplan._solvers.kernel_svm_problems import solve_classification
from hyperplan._solvers.kernel_svm_source import dense_rows, given_matrix
from hyperplan.svm._kernel_classifier import _joined, pair_coefs, pairs_of
from hyperplan.svm._kernel_machine import _gamma_of
from hyperplan.svm._linear_common import warn_unless_certified

WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # gammas of the default kernels, in units of "scale"
INNER_SHARE = 0.1  # the machines are solved to this share of the tolerance
HALVINGS = 12
NEGLIGIBLE = 1e-10  # weights below are set to zero


class Combination(NamedTuple):
    """Machines of all pairs for some weights: the objective J, its slopes and the gap of the machines."""

    weights: np.ndarray
    machines: list
    value: float
    slopes: np.ndarray
    gap: float


class Pair(NamedTuple):
    """Rows, signs and costs of a pair of classes."""

    rows: np.ndarray
    signs: np.ndarray
    cost: np.ndarray


def evaluate(kernels, pairs, weights, before, inner_tol) -> Combination:
    """Solve the machines for some weights, starting from those found before."""
    K = np.tensordot(weights, kernels, axes=1)
    source, machines = given_matrix(K), []
    slopes = np.zeros(weights.size)
    for number, pair in enumerate(pairs):
        start = None if before is None else before.machines[number].beta
        machine = solve_classification(source.take(pair.rows), pair.signs, pair.cost, start=start, tol=inner_tol)
        machines.append(machine)
        full = np.zeros(K.shape[0])
        full[pair.rows] = machine.beta
        slopes -= 0.5 * np.array([full @ (one @ full) for one in kernels])
    gap = sum(max(machine.primal - machine.dual, 0.0) for machine in machines)
    return Combination(weights, machines, float(sum(m.primal for m in machines)), slopes, float(gap))


def total_gap(current: Combination) -> float:
    """Distance between J and the dual value of the whole problem."""
    return current.gap + float(current.weights @ current.slopes - current.slopes.min())


def reduced_direction(weights, slopes):
    """Minus the gradient within the simplex: the largest weight pays for all changes, weights at zero do not fall."""
    main = int(np.argmax(weights))
    direction = slopes[main] - slopes
    direction[(weights <= 0.0) & (direction < 0.0)] = 0.0
    direction[main] = 0.0
    direction[main] = -direction.sum()
    return direction


def learn_weights(kernels, pairs, tol, max_iter):
    """Reduced-gradient descent on J; returns the last combination and how many were looked at."""
    n_kernels = len(kernels)
    inner_tol = INNER_SHARE * tol
    current = evaluate(kernels, pairs, np.full(n_kernels, 1.0 / n_kernels), None, inner_tol)
    for n_iter in range(max_iter):
        if n_kernels == 1 or total_gap(current) <= tol * current.value:
            return current, n_iter + 1
        direction = reduced_direction(current.weights, current.slopes)
        following = _search(kernels, pairs, current, direction, inner_tol)
        if following is None:
            return current, n_iter + 1
        current = following
    return current, max_iter


def _search(kernels, pairs, current, direction, inner_tol):
    """The best of the longest feasible step and its halves; None when none improves J."""
    falling = direction < 0.0
    if not falling.any():
        return None
    step = float((current.weights[falling] / -direction[falling]).min())
    slope, best = float(current.slopes @ direction), None
    for _ in range(HALVINGS):
        weights = np.maximum(current.weights + step * direction, 0.0)
        weights[weights < NEGLIGIBLE] = 0.0
        trial = evaluate(kernels, pairs, weights / weights.sum(), best or current, inner_tol)
        if best is not None and trial.value >= best.value:
            return best
        if trial.value < current.value + 1e-4 * step * slope + current.gap:
            best = trial
        step *= 0.5
    return best


class MultipleKernelSVC(ClassifierMixin, BaseEstimator):
    """Support vector classification whose kernel is a learned convex combination of given ones.

    Minimises the objective of `SVC` over the machine and the weights of the kernels together (SimpleMKL: reduced
    gradients on the weights, pair steps on the machines).  Weights of kernels that do not help become zero.  Holds all
    kernel matrices.

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
        Largest number of changes of the weights.
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
    Rakotomamonjy, Bach, Canu, Grandvalet (2008), SimpleMKL, JMLR 9.

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
        n = data.X.shape[0]
        require_memory(8.0 * (len(specs) + 1) * n * n, f"{len(specs)} kernel matrices of {n} rows", "take fewer rows")
        members = [np.flatnonzero((labels.codes == c) & (cost > 0)) for c in range(labels.classes.size)]
        if sum(rows.size > 0 for rows in members) < 2:
            raise ValueError("all samples with positive weights belong to the same class: a classifier needs two.")
        names = pairs_of(labels.classes.size)
        pairs = [_pair(members, cost, *pair) for pair in names]
        with single_threaded_blas():  # 3 maths
            matrices = np.stack([_matrix(spec, data.X, data.X) for spec in specs])
            scales = _scales(matrices) if self.normalize else np.ones(len(specs))
            matrices /= scales[:, None, None]
            found, n_iter = learn_weights(matrices, pairs, float(self.tol), int(self.max_iter))
        certificate = gap_certificate(
            found.value,
            found.value - total_gap(found),
            float(self.tol),
            found.value if found.value > 0 else 1.0,
            reference="Rakotomamonjy, Bach, Canu, Grandvalet (2008), JMLR 9, section 3.4",
            assumption="the kernels are positive semi-definite",
            n_iter=n_iter,
            kernels=int((found.weights > 0).sum()),
        )
        warn_unless_certified(self, certificate)
        support, n_support, coef = _joined(found.machines, members, names)
        self.classes_, self.weights_, self.scales_ = labels.classes, found.weights, scales  # 4 attributes
        self._specs, self._vectors, self._dual_coef_ = specs, data.X[support], coef
        self._intercept_ = np.array([machine.intercept for machine in found.machines])
        flip = -1.0 if labels.classes.size == 2 else 1.0
        self.support_, self.n_support_ = support.astype(np.int32), n_support
        self.dual_coef_, self.intercept_ = flip * coef, flip * self._intercept_
        self.n_iter_ = int(n_iter)
        self.certificate_ = certificate
        return self

    def _pair_scores(self, X):
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, order="C")
        K = np.zeros((X.shape[0], self._vectors.shape[0]))
        with single_threaded_blas():
            for weight, scale, spec in zip(self.weights_, self.scales_, self._specs):
                if weight > 0.0:
                    K += weight / scale * _matrix(spec, X, self._vectors)
            return K @ pair_coefs(self._dual_coef_, self.n_support_) + self._intercept_

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


def _matrix(spec, X, other):
    """Kernel values between the rows of two tables."""
    if not isinstance(spec, KernelSpec):
        values = spec(X, other)
        return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
    right = dense_rows(spec, other, np.float64)
    if other is X:
        return right.square()
    left = dense_rows(spec, X, np.float64, like=right)
    out = np.empty((len(left), len(right)))
    right.between(left, out)
    return out


def _scales(matrices):
    """Mean of each diagonal; one where it is not positive."""
    means = np.array([K.diagonal().mean() for K in matrices])
    return np.where(means > 0.0, means, 1.0)
