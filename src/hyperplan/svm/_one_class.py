"""One-class support vector machine: the region that holds most of the rows.

    minimise   1/2 |w|^2 + sum_i c_i max(0, r - <w, phi(x_i)>) - nu r sum_i c_i

over w and r, with c_i the weights of the rows (Schoelkopf's objective times the number of rows); rows with
<w, phi(x)> < r are outliers.  Dual: minimise 1/2 a'Ka over 0 <= a_i <= c_i with sum_i a_i = nu sum_i c_i.  Stops when
no pair of coefficients violates the optimality conditions by more than `tol`.
"""

import numpy as np

from hyperplan._base import OutlierMixin, Real, check_is_fitted, check_params
from hyperplan._solvers.kernel_svm_problems import solve_one_class
from hyperplan.svm._kernel_machine import KernelMachine, report, warn_unless_converged


class OneClassSVM(OutlierMixin, KernelMachine):
    """Outliers by a hyperplane in feature space that leaves a share `nu` of the rows on its far side.

    Pair steps on the dual, as `SVC` does.

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
        Largest violation of the optimality conditions.
    nu : float, default=0.5
        Upper bound on the share of outliers among the rows, lower bound on that of support vectors.
    shrinking : bool, default=True
        Whether to set rows aside that have been settled for a while.
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
        Constant ``-r``.
    offset_ : ndarray of shape (1,)
        ``r``: decision_function = score_samples - offset_.
    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        Weights of the columns, for the linear kernel.
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
    Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson (2001), Neural Computation 13.

    Examples
    --------
    >>> from hyperplan.svm import OneClassSVM
    >>> model = OneClassSVM(gamma=0.5, nu=0.2).fit([[0.0], [0.1], [0.2], [0.1], [5.0]])
    >>> model.predict([[0.1], [9.0]]).tolist()
    [1, -1]
    """

    _params = {"nu": Real(gt=0, le=1), **KernelMachine._params}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X, y=None, sample_weight=None):
        """Learn the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training rows; the square matrix of kernel values for ``kernel="precomputed"``.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows; those with a weight of zero or less take no part.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        training = self._check_rows(X, None, sample_weight, has_target=False)  # 2 data
        rows = training.rows
        source, gamma = self._kernel_values(training.X)  # 3 maths
        source = source if rows.size == len(source) else source.take(rows)
        machine = solve_one_class(source, training.weight[rows], float(self.nu), **self._solver_options())
        is_support = machine.beta != 0.0
        coef, intercept = machine.beta[None, is_support], np.array([machine.intercept])
        self._n_support = np.array([is_support.sum()], dtype=np.int32)  # 4 attributes
        self._store(training, gamma, rows[is_support], coef, intercept, [machine])
        self.offset_ = -self.intercept_
        self.n_iter_ = machine.n_iter
        if self.verbose:
            report(self)
        warn_unless_converged(self)
        return self

    def decision_function(self, X):
        """Signed scores, negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores.
        """
        check_is_fitted(self)
        return self._sums(X, self._dense_dual_coef().T)[:, 0] + self._intercept_

    def score_samples(self, X):
        """Scores ``<w, phi(x)>`` without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.intp)
