"""What all kernel support vector machines share: parameters, checked rows, kernel values, sums over support vectors."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ConvergenceWarning,
    Int,
    Is,
    NotFittedError,
    OneOf,
    Real,
    check_consistent_length,
    check_design,
    check_is_fitted,
    check_training,
    check_weight,
    column_or_1d,
)
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans
from hyperplan._math.gram import KernelSpec
from hyperplan._solvers.kernel_svm import precision
from hyperplan._solvers.kernel_svm_source import dense_rows, given_matrix, sparse_rows

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
TOO_LARGE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
    "preprocessed."
)
DENSE_VALUES = 4_000_000  # values of sparse training rows up to which they are made dense
SPARSE_PART = 10_000  # sparse rows that are answered for together
NO_WEIGHT = "Invalid input - all samples have zero or negative weights."
REFERENCE = "Fan, Chen, Lin (2005), JMLR 6; Boyd, Vandenberghe (2004), Convex Optimization, section 5.5"


class Training(NamedTuple):
    """Checked training data: `rows` are the positions with a positive weight, which alone take part."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    rows: np.ndarray


class KernelMachine(BaseEstimator):
    """Base of the kernel support vector machines."""

    _params: dict = {
        "kernel": OneOf(Choice(*KERNELS), Is(callable, "a callable")),
        "degree": Int(ge=0),
        "gamma": OneOf(Choice("scale", "auto"), Real(ge=0)),
        "coef0": Real(),
        "tol": Real(gt=0),
        "shrinking": Bool,
        "cache_size": Real(gt=0),
        "verbose": OneOf(Bool, Int(ge=0)),
        "max_iter": Int(ge=-1),
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    # --- data

    def _check_rows(self, X, y, sample_weight, *, has_target=True, **options) -> Training:
        """Checked rows, targets and weights."""
        if sp.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        if callable(self.kernel):
            if has_target and y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            y = column_or_1d(y, warn=True) if has_target else np.zeros(_count(X))
            check_consistent_length(X, y)
        elif not has_target:
            X = check_design(self, X, reset=True, accept_sparse="csr", order="C", accept_large_sparse=False)
            y = np.zeros(X.shape[0])
        else:
            X, y, _ = check_training(self, X, y, accept_sparse="csr", order="C", accept_large_sparse=False, **options)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        weight = _row_weights(sample_weight, y.shape[0])
        rows = np.arange(y.shape[0]) if weight.min() > 0 else np.flatnonzero(weight > 0)
        return Training(_canonical(X), y, weight, rows)

    def _kernel_values(self, X):
        """The source of kernel values for training rows, and gamma as a number (0 where there is none)."""
        if callable(self.kernel):
            return given_matrix(self._call_kernel(X, X, square=True)), 0.0
        if self.kernel == "precomputed":
            return given_matrix(X), 0.0
        gamma = _gamma_of(self.gamma, X)
        spec = KernelSpec(self.kernel, gamma, float(self.degree), float(self.coef0))
        return self._rows(X, spec, X.shape), gamma

    def _rows(self, X, spec, shape_fit, like=None):
        """The source of some rows; small sparse data becomes dense, which is faster and rounds as dense data does."""
        dtype = precision(shape_fit[0], self.tol)
        if sp.issparse(X) and np.prod(shape_fit) <= DENSE_VALUES:
            X = X.toarray()
        try:
            return sparse_rows(spec, X, dtype) if sp.issparse(X) else dense_rows(spec, X, dtype, like)
        except ValueError as error:  # squares that overflow
            raise ValueError(f"{TOO_LARGE} ({error})") from None

    def _call_kernel(self, X, other, *, square=False):
        """Values of a callable kernel as a matrix."""
        values = self.kernel(X, other)
        values = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] != _count(X) or (square and values.shape[1] != _count(other)):
            raise ValueError(
                f"The kernel returned an array of shape {values.shape} for {_count(X)} and {_count(other)} rows: "
                "kernel(A, B) must return one row per row of A and one column per row of B."
            )
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"The kernel returned {values[row, column]} for the pair of rows {row} and {column}.")
        return np.ascontiguousarray(values)

    def _solver_options(self):
        return {
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "cache_bytes": 1e6 * self.cache_size,
            "shrinking": bool(self.shrinking),
        }

    # --- what is learnt

    def _store(self, training, gamma, support, coef, intercept, machines):
        """Set the attributes that all machines have; `coef` has one row per column of dual coefficients."""
        X = training.X
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError(TOO_LARGE)
        self._sparse = sp.issparse(X) and not callable(self.kernel)
        self._gamma = gamma
        self._fit_rows = X if callable(self.kernel) else None
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_count(X),)
        self.support_ = support.astype(np.int32)
        has_vectors = not callable(self.kernel) and self.kernel != "precomputed"
        self.support_vectors_ = X[support] if has_vectors else np.empty((0, 0))
        self._dual_coef_ = _like(X, coef) if self._sparse else coef
        self._intercept_ = intercept
        self.dual_coef_, self.intercept_ = self._dual_coef_, intercept.copy()
        self.fit_status_ = int(any(not machine.status.ok for machine in machines))
        self.certificate_ = certify(machines, float(self.tol), self._max_steps())

    def _max_steps(self):
        return int(self.max_iter)

    @property
    def n_support_(self):
        """Number of support vectors of each class; of all in one number for regression and one class."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            raise AttributeError("n_support_ is known after fit") from None
        return self._n_support

    @property
    def coef_(self):
        """Weights of the columns, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._linear_coef()
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _linear_coef(self):
        return self._dual_coef_ @ self.support_vectors_

    # --- answers

    def _check_new_rows(self, X):
        """Rows to answer for, in the form of the training rows."""
        check_is_fitted(self)
        if not callable(self.kernel):
            X = check_design(self, X, accept_sparse="csr", order="C", accept_large_sparse=False)
            if sp.issparse(X) and not self._sparse:
                raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
            X = sp.csr_array(X) if self._sparse and not sp.issparse(X) else _canonical(X)
        vectors = self.support_vectors_
        if not self._sparse and vectors.size and self._n_support.sum() != vectors.shape[0]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return X

    def _sums(self, X, coef):
        """``sum_j coef[j] k(x, x_j)`` over the support vectors, without the intercept; coef: (n_support, k)."""
        X = self._check_new_rows(X)
        if callable(self.kernel) or self.kernel == "precomputed":
            values = self._call_kernel(X, self._fit_rows) if callable(self.kernel) else X
            if values.shape[1] != self.shape_fit_[0]:
                raise ValueError(
                    f"X.shape[1] = {values.shape[1]} should be equal to {self.shape_fit_[0]}, "
                    "the number of samples at training time"
                )
            return values[:, self.support_] @ coef
        if self.support_.size == 0:
            return np.zeros((X.shape[0], coef.shape[1]))
        spec = KernelSpec(self.kernel, self._gamma, float(self.degree), float(self.coef0))
        if self.kernel == "linear":
            return np.asarray(X @ (self.support_vectors_.T @ coef))
        vectors = self._rows(self.support_vectors_, spec, self.shape_fit_)
        parts = [X] if not self._sparse else [X[part] for part in spans(X.shape[0], SPARSE_PART)]
        return np.concatenate(
            [self._rows(part, spec, self.shape_fit_, vectors).product(vectors, coef) for part in parts]
        )

    def _dense_dual_coef(self):
        return self._dual_coef_.toarray() if sp.issparse(self._dual_coef_) else self._dual_coef_


def certify(machines, tol, max_iter) -> Certificate:
    """One certificate for one or several solved problems: the worst violation, the sums of primal, dual and gap."""
    primal, dual = (float(sum(getattr(m, name) for m in machines)) for name in ("primal", "dual"))
    gap = float(sum(max(m.primal - m.dual, 0.0) for m in machines))
    sizes = [np.abs(m.beta) for m in machines]
    bound = int(sum(((size >= m.cost) & (size > 0)).sum() for size, m in zip(sizes, machines)))
    support = int(sum((size > 0).sum() for size in sizes))
    norms = [max(m.squared_norm, 0.0) for m in machines]
    violation = float(max(m.violation for m in machines))
    return Certificate(
        kind="optimality conditions",
        guarantee=(
            f"no pair of coefficients violates the optimality conditions by more than {violation:.2g}; the objective "
            f"is at most {gap:.3g} above its minimum"
        ),
        value=violation,
        bound=tol,
        assumption="the kernel is positive semi-definite (else the fit is a stationary point)",
        reference=REFERENCE,
        details={
            "primal": primal,
            "dual": dual,
            "gap": gap,
            "n_iter": int(sum(m.n_iter for m in machines)),
            "max_iter": max_iter,
            "free vectors": support - bound,
            "bound vectors": bound,
            "margin": float(min(1.0 / np.sqrt(norm) if norm > 0 else np.inf for norm in norms)),
            "fits": len(machines),
        },
    )


def warn_unless_converged(estimator):
    """A `ConvergenceWarning` that says how far the fit may be from the optimum."""
    certificate = estimator.certificate_
    if certificate.holds:
        return
    details = certificate.details
    if details["max_iter"] >= 0 and details["n_iter"] >= details["max_iter"]:
        advice = (
            f"Solver terminated early (max_iter={details['max_iter']}).  Consider pre-processing your data with "
            "StandardScaler or MinMaxScaler, or raise max_iter"
        )
    else:
        advice = "No step improves the fit at this precision.  Scale the columns, lower C or raise tol"
    warnings.warn(
        f"{advice}: after {details['n_iter']} steps the "
        f"optimality conditions are violated by {certificate.value:.2g} (tol asks for {certificate.bound:.2g}), and "
        f"the objective {details['primal']:.6g} is at most {details['gap']:.2g} above its minimum.",
        ConvergenceWarning,
        stacklevel=3,
    )


def report(estimator):
    """A line for ``verbose``."""
    details = estimator.certificate_.details
    print(
        f"[{type(estimator).__name__}] {details['fits']} fit(s), {details['n_iter']} steps, objective "
        f"{details['primal']:.8g}, gap {details['gap']:.2g}, {details['free vectors']} free and "
        f"{details['bound vectors']} bound support vectors"
    )


def require_square(n, advice):
    """Ask for the memory of a kernel matrix."""
    require_memory(8.0 * n * n, f"the {n} x {n} matrix of kernel values", advice)


def _count(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _canonical(X):
    """Sparse rows with sorted, unique columns (a copy if need be); anything else as it is."""
    if sp.issparse(X) and X.format == "csr" and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _like(X, values):
    """A CSR matrix of the kind (array or matrix) that X is."""
    return sp.csr_matrix(values) if sp.isspmatrix(X) else sp.csr_array(values)


def _row_weights(sample_weight, n):
    if sample_weight is None:
        return np.ones(n)
    given = np.asarray(sample_weight)
    if given.shape not in ((n,), ()):
        raise ValueError(f"sample_weight and X have incompatible shapes: {given.shape} weights for {n} rows")
    if given.dtype.kind in "biuf" and not (given > 0).any() and not np.isnan(given).any():
        raise ValueError(f"{NO_WEIGHT} A fit needs rows that count.")
    return check_weight(sample_weight if given.shape else given.item(), np.empty((n, 0)), allow_negative=True)


def _gamma_of(gamma, X):
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    if sp.issparse(X):
        variance = X.multiply(X).mean(dtype=np.float64) - X.mean(dtype=np.float64) ** 2
    else:
        variance = X.var(dtype=np.float64)
    return 1.0 / (X.shape[1] * float(variance)) if variance != 0 else 1.0
