"""Ridge regression.

Objective: ``minimise over (coef, b)  sum_i w_i (y_i - b - x_i' coef)^2 + alpha |coef|^2``; b is not penalised.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ConvergenceWarning,
    Int,
    LinearRegressorMixin,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    Seed,
    Status,
    check_finite,
    check_params,
    check_training,
    seed_from,
)
from hyperplan.linear_model._normal_equations import power_of_two_near
from hyperplan.linear_model._ridge_solvers import SOLVERS, RidgeFit, RidgeProblem

SPARSE_INTERCEPT_SOLVERS = ("auto", "lbfgs", "lsqr", "sag", "sparse_cg")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")

RIDGE_PARAMS = {
    "alpha": OneOf(Real(ge=0), ArrayLike),
    "fit_intercept": Bool,
    "copy_X": Bool,
    "max_iter": OneOf(Int(ge=1), Null),
    "tol": Real(ge=0),
    "solver": Choice(*SOLVERS),
    "positive": Bool,
    "random_state": Seed,
}


def penalties(alpha, n_targets):
    """One penalty per target."""
    alpha = np.asarray(alpha, dtype=np.float64).ravel()
    if alpha.shape[0] not in (1, n_targets):
        raise ValueError(
            f"Number of targets and number of penalties do not correspond: {alpha.shape[0]} != {n_targets}"
        )
    return np.broadcast_to(alpha, (n_targets,)).copy()


def chosen_solver(solver, positive, sparse_with_intercept):
    """The name under which the solver is found, or an error where scikit-learn has one."""
    if solver == "lbfgs" and not positive:
        raise ValueError("'lbfgs' solver can be used only when positive=True. Please use another solver.")
    if positive:
        if solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver='{solver}' does not support positive fitting. Please set the solver to 'auto' or 'lbfgs', "
                "or set `positive=False`"
            )
        return "lbfgs"
    if sparse_with_intercept and solver not in SPARSE_INTERCEPT_SOLVERS:
        raise ValueError(
            f"solver='{solver}' does not support fitting the intercept on sparse data. Please set the solver to 'auto' "
            "or 'lsqr', 'sparse_cg', 'sag', 'lbfgs' or set `fit_intercept=False`"
        )
    return solver


def solve_ridge(problem, solver) -> RidgeFit:
    """Solve; data whose squares leave the range of floating point are solved in other units.

    Status DIVERGED is left only for X that is not finite.
    """
    fit = SOLVERS[solver](problem)
    values = problem.X.data if sp.issparse(problem.X) else problem.X
    if fit.status is not Status.DIVERGED or not np.isfinite(values).all():
        return fit
    x_unit, y_unit = power_of_two_near(problem.X), power_of_two_near(problem.Y)
    with np.errstate(over="ignore", under="ignore"):
        alpha = problem.alpha * x_unit * x_unit
        fit = SOLVERS[solver](problem._replace(X=problem.X * x_unit, Y=problem.Y * y_unit, alpha=alpha))
        coef = fit.coef * (x_unit / y_unit)
        return fit._replace(coef=coef, x_mean=fit.x_mean / x_unit, y_mean=fit.y_mean / y_unit)


def fit_ridge(estimator, X, Y, weight):
    """Steps 3 and half of 4 of every ridge estimator: solve for targets (n, k), warn, set what all of them have."""
    center = bool(estimator.fit_intercept)
    solver = chosen_solver(estimator.solver, estimator.positive, sp.issparse(X) and center)
    learn = solver == "sag" and sp.issparse(X) and center
    if learn and estimator.max_iter is None and estimator.tol > 1e-4:
        warnings.warn(
            '"sag" solver requires many iterations to fit an intercept with sparse inputs. Either set the solver to '
            '"auto" or "sparse_cg", or set a low "tol" and a high "max_iter" (above all without standardized inputs).',
            stacklevel=3,
        )
    elif learn:  # the implicitly centred problem is solved instead: exact, and no slow intercept
        solver, learn = "auto", False
    seed = seed_from(estimator.random_state) if solver in ("sag", "saga") else 0
    alpha = penalties(estimator.alpha, Y.shape[1])
    problem = RidgeProblem(X, Y, weight, alpha, center, estimator.tol, estimator.max_iter, seed, learn)
    fit = solve_ridge(problem, solver)
    if fit.status is Status.DIVERGED:
        check_finite(estimator, X)
    if not fit.status.ok:
        warnings.warn(not_converged(fit, estimator.max_iter, estimator.tol), ConvergenceWarning, stacklevel=3)
    estimator.n_iter_ = fit.n_iter
    estimator.solver_ = fit.solver
    estimator.certificate_ = ridge_certificate(fit, estimator.tol)
    return fit


def not_converged(fit, max_iter, tol):
    """The warning of a solve that ran out of iterations."""
    return (
        f"The max_iter was reached which means the coef_ did not converge: solver '{fit.solver}' stopped with a "
        f"gradient of {fit.optimality:.2g} relative to its start (max_iter={max_iter}, tol={tol}). Scale the features, "
        "raise max_iter, or use solver='auto', which needs no iterations."
    )


def ridge_certificate(fit, tol):
    """Relative gradient of the objective at the solution."""
    floor = float(np.sqrt(np.finfo(np.float64).eps))
    return Certificate(
        kind="optimality residual",
        guarantee=f"the gradient of the objective is at most {fit.optimality:.2g} of its scale; it is 0 at the minimum",
        value=fit.optimality,
        bound=max(tol, floor) if fit.solver in ITERATIVE else floor,
        reference="Bjorck (1996), Numerical Methods for Least Squares Problems, section 2.7",
        details={"solver": fit.solver, "status": fit.status.name},
    )


def ridge_attributes(fit, y_ndim, dtype, fit_intercept):
    """`coef_` (flat for one target) and `intercept_` in the expected shapes and type."""
    coef = np.ascontiguousarray(fit.coef.T.astype(dtype, copy=False))
    coef = coef[0] if coef.shape[0] == 1 else coef
    if not fit_intercept:
        return coef, 0.0
    if fit.intercept is not None:
        intercept = (fit.intercept + fit.y_mean).astype(dtype)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            intercept = (fit.y_mean - fit.x_mean @ fit.coef).astype(dtype)
    return coef, intercept[0] if y_ndim == 1 else intercept


class Ridge(MultiOutputMixin, LinearRegressorMixin, BaseEstimator):
    """Least squares with a squared penalty on the coefficients.

    Minimises ``sum_i w_i (y_i - b - x_i' coef)^2 + alpha |coef|^2``; the intercept ``b`` is not penalised.  The default
    sums the Gram matrix of the shorter side in one pass over X without a centred copy and solves it by Cholesky
    factorisation: exact, nothing to tune.  With many rows and still more columns the factorisation is made in single
    precision and corrected in double until the residual is that of a double one; if it cannot be, it is made anew.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Penalty, one for all targets or one per target; 0 is ordinary least squares.
    fit_intercept : bool, default=True
        Whether to fit ``b``; False means the data are taken as centred.
    copy_X : bool, default=True
        Accepted for compatibility; X is never overwritten.
    max_iter : int, default=None
        Most iterations of 'lsqr' and 'sparse_cg' (default: SciPy's), passes of 'sag' and 'saga' (default 1000).
    tol : float, default=1e-4
        Stopping rule of the iterative solvers: relative residual ('sparse_cg'), ``atol`` and ``btol`` of LSQR,
        relative change of the coefficients in one pass ('sag', 'saga').  The direct solvers ignore it.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        'auto' is 'cholesky', except 'sparse_cg' for sparse X with many rows and columns; 'cholesky' solves the
        normal equations of the shorter side, and falls back to 'svd' when they are too ill-conditioned; 'svd' uses
        singular values of a panel-wise QR factorisation; 'lsqr' and 'sparse_cg' are Krylov methods that only
        multiply by X; 'sag' and 'saga' are stochastic gradient methods; 'lbfgs' is the name under which
        ``positive=True`` is reported (solved exactly by pivoting).
    positive : bool, default=False
        Constrain the coefficients to be non-negative.
    random_state : int, RandomState instance or None, default=None
        Order of rows for 'sag' and 'saga'.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        ``b``; 0.0 without intercept.
    n_iter_ : None or ndarray of shape (n_targets,)
        Iterations of 'lsqr', 'sag' and 'saga'; None for the others.
    solver_ : str
        The solver that was used.
    certificate_ : Certificate
        Gradient of the objective at the solution, relative to its scale.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    See Also
    --------
    RidgeCV : Ridge with the penalty chosen by cross-validation.
    RidgeClassifier : Classification by ridge regression on signs.

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression, Technometrics 12.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import Ridge
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = Ridge(alpha=2.0).fit(X, [0.0, 2.0, 4.0])
    >>> model.coef_, round(model.intercept_, 12)
    (array([1.]), np.float64(1.0))
    """

    _params = RIDGE_PARAMS

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        solver="auto",
        positive=False,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
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
        # 2. data (NaN and infinities show up in the sums)
        X, y, weight = check_training(
            self, X, y, sample_weight, ensure_all_finite=False, multi_output=True, y_numeric=True
        )
        # 3. maths
        fit = fit_ridge(self, X, y.astype(np.float64, copy=False).reshape(X.shape[0], -1), weight)
        # 4. attributes
        self.coef_, self.intercept_ = ridge_attributes(fit, y.ndim, X.dtype, self.fit_intercept)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.solver != "svd" and (self.solver != "cholesky" or not self.fit_intercept)
        return tags
