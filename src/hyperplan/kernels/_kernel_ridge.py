"""Kernel ridge regression: least squares in the space of features of a kernel.

Minimises ``sum_i w_i (y_i - b - f(x_i))^2 + alpha |f|^2`` over all functions f of the kernel's space.  The minimum is
``f(x) = sum_j dual_j k(x, x_j)`` with ``(K + alpha / w) dual = y - b``: one linear system with as many unknowns as
rows.  The intercept b is 0 as in scikit-learn, or, if asked for, the one that makes the weights sum to zero.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Is,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    RegressorMixin,
    Status,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
)
from hyperplan._core.memory import require_memory
from hyperplan.kernels._kernel_ridge_solve import solve_dual
from hyperplan.kernels._resolve import KernelParameter, is_precomputed, resolve, rows_first

TOLERANCE = float(np.sqrt(np.finfo(np.float64).eps))


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Least squares with a squared penalty in the space of features of a kernel.

    Minimises ``sum_i w_i (y_i - b - f(x_i))^2 + alpha |f|^2``, f a function of the kernel's space, by one linear system
    with a symmetric matrix; nothing to iterate, nothing to stop.  Positive kernels and ``alpha > 0`` have one solution;
    otherwise least squares of least norm are found, with a warning.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        Penalty, one for all targets or one per target.
    kernel : str, callable or Kernel, default="linear"
        A name ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2"), "precomputed" (X is
        the matrix of kernel values), a function of two rows, or an object of `hyperplan.kernels`.
    gamma : float, default=None
        Parameter of named kernels; None means 1 / n_features (1 for "chi2").
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a function.
    fit_intercept : bool, default=False
        Whether to fit ``b``, which is not penalised; False means 0, as in scikit-learn.
    leave_one_out : bool, default=False
        Whether to compute, in closed form, what the model would predict for each row if it had not seen it.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Weights of the rows.
    intercept_ : float or ndarray of shape (n_targets,)
        ``b``; 0.0 without intercept.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The rows, or the matrix of kernel values.
    loo_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Predictions for each row by a model of all others, with ``leave_one_out=True``.
    certificate_ : Certificate
        Backward error of the linear system; its detail "gap" bounds the distance from the least objective.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Saunders, Gammerman, Vovk (1998), Ridge regression learning algorithm in dual variables.  Rigal, Gaches (1967), On
    the compatibility of a given solution with the data of a linear system (backward error).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.kernels import KernelRidge
    >>> X = np.linspace(0.0, 6.0, 25)[:, None]
    >>> model = KernelRidge(kernel="rbf", alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0]]).round(3), model.certificate_.holds
    (array([0.841]), True)
    """

    _params = {
        "alpha": OneOf(Real(ge=0), ArrayLike),
        "kernel": KernelParameter,
        "gamma": OneOf(Real(ge=0), Null),
        "degree": Real(ge=0),
        "coef0": Real(),
        "kernel_params": OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
        "fit_intercept": Bool,
        "leave_one_out": Bool,
    }

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=False,
        leave_one_out=False,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.leave_one_out = leave_one_out

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or the matrix of kernel values (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1. parameters
        check_params(self)
        kernel = self._kernel()
        # 2. data
        X, y, weight = check_training(self, X, y, sample_weight, multi_output=True, y_numeric=True)
        Y = y.astype(np.float64, copy=False).reshape(X.shape[0], -1)
        alpha = _penalties(self.alpha, Y.shape[1])
        # 3. maths
        root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)
        matrix = _weighted_matrix(kernel, X, None if weight is None else root)
        dual, intercept, loo, fits = np.empty(Y.shape), np.zeros(Y.shape[1]), np.empty(Y.shape), []
        for value in np.unique(alpha):
            chosen = alpha == value
            part, fit = _solve(matrix, Y[:, chosen], root, float(value), self.fit_intercept, self.leave_one_out)
            dual[:, chosen], intercept[chosen] = part.dual, part.intercept
            if self.leave_one_out:
                loo[:, chosen] = part.loo
            fits.append(fit)
        if any(fit.status is not Status.EXACT for fit in fits):
            warnings.warn(
                "Singular matrix in solving dual problem. Using least-squares solution instead: raise alpha, or use a "
                "positive kernel (hyperplan.kernels.mercer_check tells).",
                stacklevel=2,
            )
        # 4. attributes
        self.dual_coef_ = dual.ravel() if y.ndim == 1 else dual
        self.intercept_ = (intercept[0] if y.ndim == 1 else intercept) if self.fit_intercept else 0.0
        self.X_fit_ = rows_first(X)
        self.__dict__.pop("loo_prediction_", None)
        if self.leave_one_out:
            self.loo_prediction_ = loo.ravel() if y.ndim == 1 else loo
        self.certificate_ = _certificate(fits)
        return self

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or their kernel values with the rows of the fit (n_samples, n_samples_fitted).

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        check_is_fitted(self)
        X = check_design(self, X)
        return self._kernel()._expand(rows_first(X), rows_first(self.X_fit_), self.dual_coef_) + self.intercept_

    def _kernel(self):
        options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return resolve(self.kernel, options=self.kernel_params, **options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


class _Part(NamedTuple):
    """Solutions for the targets that share a penalty."""

    dual: np.ndarray
    intercept: np.ndarray
    loo: np.ndarray | None


def _solve(matrix, Y, root, alpha, fit_intercept, leave_one_out):
    """Weights, intercepts and leave-one-out predictions, and the record of the system ``A dual = root (Y - b)``.

    With an intercept, ``b = root'A^-1(root Y) / root'A^-1 root``: one more right-hand side.  Leaving out row i changes
    its residual by the factor ``1 / (alpha M_ii)``, with ``M = A^-1`` less what the intercept explains.
    """
    right = root[:, None] * Y
    fit = solve_dual(
        matrix, np.column_stack([right, root]) if fit_intercept else right, alpha, leave_one_out=leave_one_out
    )
    dual, inverse, intercept, loo = fit.dual, fit.inverse_diagonal, np.zeros(Y.shape[1]), None
    if fit_intercept:
        dual, ones = fit.dual[:, :-1], fit.dual[:, -1]
        total = float(root @ ones)
        intercept = root @ dual / total if total != 0 else intercept
        dual = dual - ones[:, None] * intercept
        inverse = inverse - ones**2 / total if leave_one_out and total != 0 else inverse
    if leave_one_out:
        with np.errstate(divide="ignore", invalid="ignore"):
            loo = Y - dual / (inverse * root)[:, None]
    return _Part(root[:, None] * dual, intercept, loo), fit


def _penalties(alpha, n_targets):
    values = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if values.shape not in ((1,), (n_targets,)) or (values < 0).any():
        raise ValueError(f"alpha must hold one penalty >= 0 for each of the {n_targets} targets, got {alpha!r}")
    return np.broadcast_to(values, (n_targets,))


def _weighted_matrix(kernel, X, root):
    """``sqrt(w_i) k(x_i, x_j) sqrt(w_j)`` in double precision, in memory of its own."""
    n = X.shape[0]
    if is_precomputed(kernel) and X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' needs the square matrix of kernel values of the rows, got {X.shape}")
    require_memory(
        12.0 * n * n,
        f"the {n} x {n} system of KernelRidge",
        "fit fewer rows, or a Ridge on the features of a Nystroem map",
    )
    matrix = np.empty((n, n))
    if is_precomputed(kernel):
        matrix[...] = X.toarray() if sp.issparse(X) else X
    else:
        kernel._check()
        kernel._fill_square(kernel._table(rows_first(X)), matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(matrix.sum()):
            raise ValueError("kernel values are not finite: scale the columns (hyperplan.preprocessing.StandardScaler)")
    if root is not None:
        matrix *= root
        matrix *= root[:, None]
    return matrix


def _certificate(fits):
    worst = max(fit.error for fit in fits)
    return Certificate(
        kind="backward error",
        guarantee=f"the weights solve exactly a system whose matrix and targets differ by {worst:.2g} of their size",
        value=worst,
        bound=TOLERANCE,
        reference="Rigal, Gaches (1967); Higham (2002), Accuracy and Stability of Numerical Algorithms, theorem 7.1",
        details={
            "gap": sum(fit.gap for fit in fits),
            "status": ", ".join(sorted({fit.status.name for fit in fits})),
        },
    )
