"""Elastic net and lasso: least squares with an l1 + l2 penalty.

    minimise  1/(2S) sum_i s_i (y_i - b - x_i'w)^2  +  alpha (r |w|_1 + (1 - r)/2 |w|_2^2)

with weights s_i, S = sum_i s_i and r = l1_ratio (1 for the lasso).  The intercept b is not penalised.  Stops when the
duality gap is at most ``tol * sum_i s_i (y_i - mean)^2 / S``, a bound on the excess of the objective.
"""

import numbers
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    FLOATS,
    UNUSED,
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    Int,
    LinearRegressorMixin,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    Seed,
    check_array,
    check_finite,
    check_params,
    check_training,
    check_weight,
)
from hyperplan._solvers.sven import sven_path
from hyperplan.linear_model._elastic_net_path import enet_path, solver_options
from hyperplan.linear_model._elastic_net_problem import (
    make_problem,
    path_certificate,
    penalties_for,
    warn_unconverged,
)


class ElasticNetFit(NamedTuple):
    """Solution for each target (rows)."""

    coef: np.ndarray
    intercept: np.ndarray
    solutions: list
    certificates: list
    tolerances: list
    total: float
    finite: bool


def _by_coordinates(X, Y, weight, problem, penalty, options, start):
    return [problem.solve(k, [penalty], options, None if start is None else start[k]) for k in range(Y.shape[1])]


def _by_svm(X, Y, weight, problem, penalty, options, start):
    return [sven_path(X, y, weight, problem.x_mean, mean, penalty, options) for y, mean in zip(Y.T, problem.y_mean)]


SOLVERS = {"coordinate": _by_coordinates, "sven": _by_svm}


def elastic_net(
    X, Y, weight=None, *, alpha, l1_ratio, fit_intercept, options, positive=False, precompute=False, start=None,
    check=True, solver="coordinate"
):  # fmt: skip
    """Fit each column of `Y`; `weight` sums to the number of rows; returns an `ElasticNetFit`, warns nobody."""
    problem = make_problem(
        X, Y, weight, center=fit_intercept, precompute=precompute, tol=options.tol, check=check
    )  # fmt: skip
    (penalty,) = penalties_for([alpha], l1_ratio, problem.total, positive)
    solutions = SOLVERS[solver](X, Y, weight, problem, penalty, options, start)
    coef = np.array([s.coefs[0] for s in solutions]).astype(X.dtype)
    intercept = (problem.y_mean - coef @ problem.x_mean).astype(X.dtype) if fit_intercept else np.zeros(Y.shape[1])
    certificates = [
        path_certificate(s, penalty, y2, options.tol, problem.total) for s, y2 in zip(solutions, problem.y2)
    ]
    return ElasticNetFit(
        coef, intercept, solutions, certificates, [options.tol * y2 for y2 in problem.y2], problem.total, problem.finite
    )


class ElasticNet(LinearRegressorMixin, MultiOutputMixin, BaseEstimator):
    """Linear regression with an l1 and an l2 penalty.

    Minimises ``1/(2n) |y - Xw - b|^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` by coordinate descent with
    working sets, safe screening and extrapolation; with several targets, each on its own.  Stops when the duality
    gap is at most ``tol * |y - mean(y)|^2 / n``: the objective is then at most that much above its minimum.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 is least squares, for which LinearRegression is better suited.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, between 0 (ridge) and 1 (lasso).
    fit_intercept : bool, default=True
        Fit an unpenalised intercept; otherwise the data count as centred.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        Use a Gram matrix, or the one given here (of centred and weighted columns).  With False it is still used where
        there are few columns and many rows, because it is faster.
    max_iter : int, default=1000
        Largest number of passes over the (active) coordinates.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    tol : float, default=1e-4
        Largest relative duality gap.
    warm_start : bool, default=False
        Start from the previous solution.
    positive : bool, default=False
        Only non-negative coefficients.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates.
    solver : {'coordinate', 'sven'}, default='coordinate'
        'sven' solves the same problem through a support vector machine with squared hinge loss (dense X, not
        `positive`).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : int or list of int
        Passes over the coordinates.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap at the end.
    sparse_coef_ : sparse matrix of shape (1, n_features) or (n_targets, n_features)
        `coef_` in compressed form.
    certificate_ : Certificate or list of Certificate
        Relative duality gap against `tol`, with primal and dual value.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had string names.

    See Also
    --------
    ElasticNetCV : Chooses `alpha` and `l1_ratio` by cross-validation.
    Lasso : ``l1_ratio=1``.
    enet_path : The coefficients for many values of `alpha`.

    References
    ----------
    Zou, Hastie (2005), Regularization and variable selection via the elastic net, JRSS B 67(2).
    Massias, Gramfort, Salmon (2018), Celer: a fast solver for the lasso with dual extrapolation, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import ElasticNet
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0]])
    >>> model = ElasticNet(alpha=0.1).fit(X, [0.0, 1.0, 2.0, 2.0])
    >>> model.coef_.round(2), model.certificate_.holds
    (array([0.61, 0.25]), True)
    """

    __metadata_request__fit = {"check_input": UNUSED}

    path = staticmethod(enet_path)

    _params = {
        "alpha": Real(ge=0),
        "l1_ratio": Real(ge=0, le=1),
        "fit_intercept": Bool,
        "precompute": OneOf(Bool, ArrayLike),
        "max_iter": OneOf(Int(ge=1), Null),
        "copy_X": Bool,
        "tol": Real(ge=0),
        "warm_start": Bool,
        "positive": Bool,
        "random_state": Seed,
        "selection": Choice("cyclic", "random"),
        "solver": Choice(*SOLVERS),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        precompute=False,
        max_iter=1000,
        copy_X=True,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
        solver="coordinate",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Fit the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data; column-major (F-ordered or CSC) data are used as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows; only their ratios matter.
        check_input : bool, default=True
            False skips the checks: X must then be F-ordered or CSC, and finite.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        options = solver_options(self.tol, self.max_iter, self.selection, self.random_state)
        l1_ratio, solver = getattr(self, "l1_ratio", 1.0), getattr(self, "solver", "coordinate")
        self._advise(solver, X)
        # 2 data
        X, y, weight = _training_data(self, X, y, sample_weight, check_input)
        Y = y.reshape(y.shape[0], -1)
        start = np.atleast_2d(self.coef_) if self.warm_start and hasattr(self, "coef_") else None
        # 3 maths
        with np.errstate(over="ignore", invalid="ignore"):
            fit = elastic_net(
                X, Y, weight, alpha=self.alpha, l1_ratio=l1_ratio, fit_intercept=self.fit_intercept, options=options,
                positive=self.positive, precompute=self.precompute, start=start, check=check_input, solver=solver,
            )  # fmt: skip
        _check_outcome(self, X, fit)
        warn_unconverged(fit.solutions, fit.tolerances, options.max_iter, fit.total)
        # 4 attributes
        one = Y.shape[1] == 1
        gaps = np.array([s.gaps[0] for s in fit.solutions], dtype=X.dtype) / fit.total
        self.coef_ = fit.coef[0] if one else fit.coef
        self.intercept_ = _intercept(self.fit_intercept, fit.intercept, y.ndim)
        self.dual_gap_ = gaps[0] if one else gaps
        self.n_iter_ = fit.solutions[0].n_iters[0] if one else [s.n_iters[0] for s in fit.solutions]
        self.certificate_ = fit.certificates[0] if one else fit.certificates
        return self

    def _advise(self, solver, X):
        """Warnings and errors about combinations of parameters."""
        if self.alpha == 0:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the LinearRegression "
                "estimator",
                stacklevel=3,
            )
        if solver == "sven" and (self.positive or self.alpha == 0 or sp.issparse(X)):
            raise ValueError("solver='sven' needs alpha > 0, positive=False and a dense X: use solver='coordinate'")

    @property
    def sparse_coef_(self):
        """`coef_` as a compressed sparse row matrix with one row per target."""
        return sp.csr_matrix(np.atleast_2d(self.coef_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _training_data(estimator, X, y, sample_weight, check_input):
    """Checked X, y of X's type, and weights summing to the number of rows (None for equal weights)."""
    weight = None if isinstance(sample_weight, numbers.Number) else sample_weight
    if check_input:
        X, y, _ = check_training(
            estimator,
            X,
            y,
            accept_sparse="csc",
            accept_large_sparse=False,
            ensure_all_finite=False,
            multi_output=True,
            y_numeric=True,
            dtype=FLOATS,
        )
        weight = check_weight(weight, X)
        if sp.issparse(X):
            check_finite(estimator, X)
    elif not sp.issparse(X) and not X.flags.f_contiguous and weight is None:
        raise ValueError("With check_input=False X must be Fortran contiguous (np.asfortranarray(X))")
    y = check_array(y, dtype=X.dtype.type, ensure_2d=False, ensure_all_finite=check_input)
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        weight = weight * (X.shape[0] / weight.sum())
    return X, y, weight


def _check_outcome(estimator, X, fit):
    """The errors that only the sums over the data reveal: NaN or infinity in X, or overflow."""
    if not fit.finite:
        check_finite(estimator, X)
    if not (np.isfinite(fit.coef).all() and np.isfinite(fit.intercept).all() and fit.finite):
        raise ValueError(
            "Coordinate descent iterations resulted in non-finite parameter values. The input data may contain large "
            "values and need to be preprocessed."
        )


def _intercept(fit_intercept, values, y_ndim):
    """0.0 without intercept, a number for a 1-d target, else an array."""
    if not fit_intercept:
        return 0.0
    return values[0] if y_ndim == 1 else values


class Lasso(ElasticNet):
    """Linear regression with an l1 penalty: few coefficients differ from zero.

    Minimises ``1/(2n) |y - Xw - b|^2 + alpha |w|_1`` by coordinate descent with working sets and safe screening;
    with several targets, each on its own.  Stops when the duality gap is at most ``tol * |y - mean(y)|^2 / n``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.  In the form ``|y - Xw|^2 + lambda |w|_1`` it is ``lambda = 2 n alpha``.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept; otherwise the data count as centred.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        Use a Gram matrix, or the one given here (of centred and weighted columns).  With False it is still used where
        there are few columns and many rows, because it is faster.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    max_iter : int, default=1000
        Largest number of passes over the (active) coordinates.
    tol : float, default=1e-4
        Largest relative duality gap.
    warm_start : bool, default=False
        Start from the previous solution.
    positive : bool, default=False
        Only non-negative coefficients.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    n_iter_ : int or list of int
        Passes over the coordinates.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Duality gap at the end.
    sparse_coef_ : sparse matrix of shape (1, n_features) or (n_targets, n_features)
        `coef_` in compressed form.
    certificate_ : Certificate or list of Certificate
        Relative duality gap against `tol`, with primal and dual value.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had string names.

    See Also
    --------
    LassoCV : Chooses `alpha` by cross-validation.
    lasso_path : The coefficients for many values of `alpha`.

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso, JRSS B 58(1).

    Examples
    --------
    >>> from hyperplan.linear_model import Lasso
    >>> model = Lasso(alpha=0.1).fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    >>> model.coef_.round(2)
    array([0.85, 0.  ])
    """

    _params = {name: rule for name, rule in ElasticNet._params.items() if name not in ("l1_ratio", "solver")}

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        precompute=False,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        super().__init__(
            alpha=alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            copy_X=copy_X,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
        )
