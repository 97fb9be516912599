"""Linear regression for conditional quantiles.

    minimise  (1/S) sum_i s_i rho(y_i - x_i'w - b) + alpha |w|_1,   rho(r) = q r for r > 0, (q - 1) r otherwise

a linear program: its optimum interpolates as many rows as there are free parameters.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    ConvergenceWarning,
    Is,
    LinearRegressorMixin,
    Null,
    OneOf,
    Real,
    Status,
    check_params,
    check_training,
)
from hyperplan._base import gap_certificate as gap_of
from hyperplan._solvers.quantile import QuantileSolution, solve_quantile

DENSE_ELEMENTS = 5e7  # larger sparse designs are solved as sparse programs
WIDEST = 3000
REMOVED = ("interior-point", "revised simplex")


def solve_by_highs(X, y, weight, *, quantile, alpha, fit_intercept, method="highs", options=None):
    """The same program by SciPy's HiGHS: the reference, and the way for large sparse designs."""
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    counted = np.flatnonzero(weight)
    X, target, weight = sp.csc_array(X)[counted], y[counted], weight[counted]
    total, m = float(weight.sum()), counted.size
    free = np.ones((m, int(fit_intercept)))
    eye = sp.eye_array(m, format="csc")
    cost = np.concatenate(
        [np.zeros(free.shape[1]), np.full(2 * d, alpha * total), quantile * weight, (1 - quantile) * weight]
    )
    bounds = [(None, None)] * free.shape[1] + [(0, None)] * (2 * d + 2 * m)
    system = sp.hstack([sp.csc_array(free), X, -X, eye, -eye], format="csc")
    result = linprog(cost, A_eq=system, b_eq=target, bounds=bounds, method=method, options=options)
    if result.x is None:
        failed = gap_of(np.inf, 0.0, 1e-6, 1.0)
        return QuantileSolution(np.zeros(d), 0.0, result.nit, Status.DIVERGED, failed, np.inf, np.zeros(n)), result
    first = free.shape[1]
    coef = result.x[first : first + d] - result.x[first + d : first + 2 * d]
    dual = np.zeros(n)
    dual[counted] = result.eqlin.marginals
    primal = float(result.fun) / total
    certificate = gap_of(primal, float(dual[counted] @ target) / total, 1e-6, max(primal, 1e-12))
    status = Status.CONVERGED if result.success else Status.MAX_ITER
    intercept = float(result.x[0]) if fit_intercept else 0.0
    return QuantileSolution(coef, intercept, int(result.nit), status, certificate, primal, dual), result


class QuantileRegressor(LinearRegressorMixin, BaseEstimator):
    """Linear regression that predicts a conditional quantile, with an l1 penalty.

    Minimises ``(1/S) sum_i s_i rho(r_i) + alpha |w|_1`` with the pinball loss rho.  An interior-point method followed
    by simplex pivots finds the exact optimum of the linear program; the relative duality gap of the vertex is the
    certificate.

    Parameters
    ----------
    quantile : float, default=0.5
        Level strictly between 0 and 1; 0.5 is the median.
    alpha : float, default=1.0
        Strength of the l1 penalty.
    fit_intercept : bool, default=True
        Add an unpenalised constant.
    solver : {'highs', 'highs-ds', 'highs-ipm', 'interior-point', 'revised simplex'}, default='highs'
        'highs' without options runs the method above (and SciPy's HiGHS for very large sparse X); 'highs-ds' and
        'highs-ipm', or any `solver_options`, run SciPy's HiGHS.  The last two no longer exist in SciPy.
    solver_options : dict, default=None
        Options of :func:`scipy.optimize.linprog`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Steps and pivots taken.
    certificate_ : Certificate
        Relative duality gap of the linear program.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    References
    ----------
    Koenker (2005), Quantile Regression.
    Portnoy, Koenker (1997), The Gaussian hare and the Laplacian tortoise, Statistical Science 12(4).

    Examples
    --------
    >>> from hyperplan.linear_model import QuantileRegressor
    >>> model = QuantileRegressor(quantile=0.51, alpha=0).fit([[0], [1], [1]], [1, 2, 11])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([10.]), 1.0)
    """

    _params = {
        "quantile": Real(gt=0, lt=1),
        "alpha": Real(ge=0),
        "fit_intercept": Bool,
        "solver": Choice("highs-ds", "highs-ipm", "highs", *REMOVED),
        "solver_options": OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
    }

    def __init__(self, *, quantile=0.5, alpha=1.0, fit_intercept=True, solver="highs", solver_options=None):
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        if self.solver in REMOVED:
            raise ValueError(f"Solver {self.solver} is not anymore available in SciPy >= 1.11.0.")
        # 2 data
        data = check_training(self, X, y, sample_weight, accept_sparse=("csc", "csr"), y_numeric=True)
        target = data.y.astype(np.float64)
        # 3 maths
        solution = self._solve(data.X, target, data.weight)
        # 4 attributes
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.n_iter_ = solution.n_iter
        self.certificate_ = solution.certificate
        return self

    def _solve(self, X, y, weight):
        problem = {"quantile": self.quantile, "alpha": self.alpha, "fit_intercept": self.fit_intercept}
        sparse_and_large = sp.issparse(X) and np.prod(X.shape, dtype=float) > DENSE_ELEMENTS
        if self.solver == "highs" and not self.solver_options and not sparse_and_large and X.shape[1] <= WIDEST:
            dense = X.toarray() if sp.issparse(X) else X
            solution = solve_quantile(dense, y, weight, **problem)
            if solution.status.ok and solution.certificate.holds:
                return solution
        solution, result = solve_by_highs(X, y, weight, method=self.solver, options=self.solver_options, **problem)
        if not solution.status.ok:
            warnings.warn(
                "Linear programming for QuantileRegressor did not succeed.\n"
                f"Status is {result.status}. Result message of linprog:\n{result.message}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
