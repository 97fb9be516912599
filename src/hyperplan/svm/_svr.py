"""Support vector regression with kernels.

    minimise   1/2 |w|^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon),   f(x) = <w, phi(x)> + b

with C_i = C times sample weight, through the dual

    minimise   1/2 b'Kb + epsilon sum_i |b_i| - y'b,   |b_i| <= C_i,   sum_i b_i = 0

where b_i = alpha_i - alpha_i^* and f(x) = sum_i b_i k(x_i, x) + b.  `NuSVR` sets the share of rows outside the tube in
place of epsilon.  Stops when no pair of coefficients violates the optimality conditions by more than `tol`.
"""

import numpy as np

from hyperplan._base import Real, RegressorMixin, check_is_fitted, check_params
from hyperplan._solvers.kernel_svm_problems import solve_nu_regression, solve_regression
from hyperplan.svm._kernel_machine import KernelMachine, report, warn_unless_converged


class KernelRegressor(RegressorMixin, KernelMachine):
    """Base of SVR and NuSVR."""

    _params = {"C": Real(gt=0), **KernelMachine._params}

    def fit(self, X, y, sample_weight=None):
        """Fit to rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training rows; the square matrix of kernel values for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of C for each row; rows with a weight of zero or less take no part.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        training = self._check_rows(X, y, sample_weight, y_numeric=True)  # 2 data
        rows = training.rows
        y = training.y.astype(np.float64)[rows]
        source, gamma = self._kernel_values(training.X)  # 3 maths
        source = source if rows.size == len(source) else source.take(rows)
        machine = self._solve(source, y, self.C * training.weight[rows])
        is_support = machine.beta != 0.0
        coef, intercept = machine.beta[None, is_support], np.array([machine.intercept])
        self._n_support = np.array([is_support.sum()], dtype=np.int32)  # 4 attributes
        self._store(training, gamma, rows[is_support], coef, intercept, [machine])
        self.n_iter_ = machine.n_iter
        self.epsilon_ = machine.width
        if self.verbose:
            report(self)
        warn_unless_converged(self)
        return self

    def predict(self, X):
        """Predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predictions.
        """
        check_is_fitted(self)
        return self._sums(X, self._dense_dual_coef().T)[:, 0] + self._intercept_

    def point_status(self, X, y, *, atol=None):
        """Where rows lie: "inside" the tube, "on border", "above" or "below" it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        atol : float, default=None
            How far from its border a row may be and count as on it; None means ten times `tol`.

        Returns
        -------
        status : ndarray of shape (n_samples,)
            One of "inside", "on border", "above", "below".
        """
        residual = np.asarray(y, dtype=np.float64) - self.predict(X)
        outside = np.abs(residual) - self.epsilon_
        atol = 10 * self.tol if atol is None else atol
        kinds = [np.abs(outside) <= atol, outside < 0.0, residual > 0.0]
        return np.select(kinds, ["on border", "inside", "above"], "below")


class SVR(KernelRegressor):
    """Support vector regression with a kernel: no loss within `epsilon` of the target.

    Minimises ``1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon)`` in feature space by pair steps on the dual with
    one signed coefficient per row, as `SVC` does.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        Kernel; a callable gets two tables and returns the matrix of values.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of 'rbf', 'poly' and 'sigmoid': ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of y.
    C : float, default=1.0
        Cost of leaving the tube; infinity asks for a function that never does and raises where there is none.
    epsilon : float, default=0.1
        Half width of the tube without loss, in units of y.
    shrinking : bool, default=True
        Whether to set rows aside that have been settled for a while (more than 2000 rows).
    cache_size : float, default=200
        Megabytes for kernel rows (more than 2000 rows); at least two working sets are kept.
    verbose : bool, default=False
        Print a line per fit.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million or a hundred per row.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Support vectors; empty for 'precomputed' and callable kernels.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_support)
        Their coefficients.
    intercept_ : ndarray of shape (1,)
        Constant.
    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        Weights of the columns, for the linear kernel.
    epsilon_ : float
        Half width of the tube.
    n_iter_ : int
        Pair steps.
    fit_status_ : int
        0 when the fit converged, else 1.
    shape_fit_ : tuple of int
        Shape of X.
    certificate_ : Certificate
        Largest violation; primal, dual, gap, free and bound vectors.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Smola, Schoelkopf (2004), A tutorial on support vector regression, Statistics and Computing 14.

    Examples
    --------
    >>> from hyperplan.svm import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.1).fit([[-1.0], [1.0]], [-1.0, 1.0])
    >>> model.coef_.round(6).tolist(), model.certificate_.holds
    ([[0.9]], True)
    """

    _params = {"epsilon": Real(ge=0), **KernelRegressor._params}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _solve(self, source, y, cost):
        return solve_regression(source, y, cost, float(self.epsilon), **self._solver_options())


class NuSVR(KernelRegressor):
    """Support vector regression with a bound on the share of rows outside the tube.

    The solution of `SVR` for a tube that is found with it: at most a share `nu` of the rows lies outside, at least a
    share `nu` are support vectors.  Same algorithm, with one constraint for each side of the tube.

    Parameters
    ----------
    nu : float, default=0.5
        Share of rows outside the tube, above 0 and at most 1.
    C : float, default=1.0
        Cost of leaving the tube.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        Kernel; a callable gets two tables and returns the matrix of values.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of 'rbf', 'poly' and 'sigmoid'.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether to set rows aside that have been settled for a while.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of y.
    cache_size : float, default=200
        Megabytes for kernel rows.
    verbose : bool, default=False
        Print a line per fit.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million or a hundred per row.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ : ndarray
        As in `SVR`.
    epsilon_ : float
        Half width of the tube that was found.
    n_iter_, fit_status_, shape_fit_ : int
        As in `SVR`.
    certificate_ : Certificate
        Largest violation; primal, dual and gap of the `SVR` problem with the same solution.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Schoelkopf, Smola, Williamson, Bartlett (2000), New support vector algorithms, Neural Computation 12.

    Examples
    --------
    >>> from hyperplan.svm import NuSVR
    >>> model = NuSVR(kernel="linear", C=100.0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0])
    >>> float(model.predict([[1.5]])[0].round(2))
    3.0
    """

    _params = {"nu": Real(gt=0, le=1), **KernelRegressor._params}

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _solve(self, source, y, cost):
        if not np.isfinite(cost).all():
            raise ValueError(
                "NuSVR needs a finite C: with an infinite one every width of the tube costs infinitely much."
            )
        return solve_nu_regression(source, y, cost, float(self.nu), **self._solver_options())
