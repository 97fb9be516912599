"""Elastic net and lasso with the penalty chosen by cross-validation.

    minimise  1/(2S) sum_i s_i (y_i - b - x_i'w)^2  +  alpha (r |w|_1 + (1 - r)/2 |w|_2^2)

for each alpha (and r) on the training part of each fold; the pair of least mean squared test error is refitted on
all rows.
"""

import numbers

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    FLOATS,
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    Int,
    Is,
    Jobs,
    LinearRegressorMixin,
    MetadataRouter,
    MethodMapping,
    OneOf,
    Real,
    Seed,
    check_array,
    check_cv,
    check_design,
    check_finite,
    check_params,
    check_weight,
    column_or_1d,
    get_config,
    process_routing,
)
from hyperplan._core.parallel import thread_map
from hyperplan._solvers.coordinate_design import by_columns
from hyperplan.linear_model._elastic_net import ElasticNetFit, _check_outcome
from hyperplan.linear_model._elastic_net_folds import FoldTask, fold_errors, fold_problems
from hyperplan.linear_model._elastic_net_path import enet_path, lasso_path, solver_options
from hyperplan.linear_model._elastic_net_problem import (
    alpha_grid,
    path_certificate,
    penalties_for,
    warn_unconverged,
)

CV_PARAMS = {
    "eps": Real(gt=0),
    "alphas": OneOf(Int(ge=1), ArrayLike),
    "fit_intercept": Bool,
    "precompute": OneOf(Choice("auto"), ArrayLike, Bool),
    "max_iter": Int(ge=1),
    "tol": Real(ge=0),
    "copy_X": Bool,
    "verbose": Is(lambda v: isinstance(v, numbers.Integral | np.bool_) and v >= 0, "a bool or a non-negative int"),
    "n_jobs": Jobs,
    "positive": Bool,
    "random_state": Seed,
    "selection": Choice("cyclic", "random"),
}


def given_alphas(alphas):
    """A user's alphas, decreasing; each must be a non-negative number."""
    for k, alpha in enumerate(alphas):
        if not isinstance(alpha, numbers.Real):
            raise TypeError(f"alphas[{k}] must be an instance of float, not {type(alpha).__name__}.")
        if not alpha >= 0:
            raise ValueError(f"alphas[{k}] == {alpha}, must be >= 0.0.")
    return np.sort(np.asarray(alphas, dtype=np.float64))[::-1]


def split_options(estimator, sample_weight, params):
    """What `fit` passes to the splitter: routed parameters where scikit-learn's routing is switched on."""
    if get_config()["enable_metadata_routing"]:
        return process_routing(estimator, "fit", sample_weight=sample_weight, **params).splitter.split
    if params:
        raise ValueError(
            f"Passing {sorted(params)} to {type(estimator).__name__}.fit is only supported if "
            "enable_metadata_routing=True, which you can set using `sklearn.set_config`."
        )
    return {}


def best_of_grid(l1_ratios, alphas, mean_errors):
    """(l1_ratio, alpha) of the least error; the first wins ties."""
    ratio = int(np.argmin(np.min(mean_errors, axis=1)))
    return l1_ratios[ratio], alphas[ratio][int(np.argmin(mean_errors[ratio]))]


class CrossValidatedPath(BaseEstimator):
    """What the cross-validated estimators share."""

    def get_metadata_routing(self):
        """Which metadata `fit` passes on to the splitter.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ElasticNetCVBase(LinearRegressorMixin, CrossValidatedPath):
    """`fit` of all cross-validated elastic nets: those of one target, and (`_multi_task_cv`) those of several."""

    def fit(self, X, y, sample_weight=None, **params):
        """Choose the penalty by cross-validation and fit it on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target; several in the multi-task estimators.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows, for fitting and for the test errors.
        **params : dict
            Parameters for the splitter, when scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        options = solver_options(self.tol, self.max_iter, self.selection, self.random_state)
        l1_ratios = list(np.atleast_1d(getattr(self, "l1_ratio", 1.0)))
        automatic = isinstance(self.alphas, numbers.Integral)
        alphas = None if automatic else given_alphas(self.alphas)
        to_splitter = split_options(self, sample_weight, params)
        # 2 data
        X, y, weight = self._training_data(X, y, sample_weight)
        folds = list(check_cv(self.cv).split(X, y, **to_splitter))
        # 3 maths
        n_penalties = len(folds) * len(l1_ratios) * (self.alphas if automatic else len(alphas))
        positive, precompute = getattr(self, "positive", False), getattr(self, "precompute", False)
        precompute = True if hasattr(precompute, "__array__") else precompute
        with np.errstate(over="ignore", invalid="ignore"):
            whole, problem_of = fold_problems(
                X, y, weight, folds, center=self.fit_intercept, precompute=precompute, n_penalties=n_penalties,
                tol=self.tol, n_jobs=self.n_jobs,
            )  # fmt: skip
            if not whole.finite:
                check_finite(self, X)
            grids = [alpha_grid(whole, r, self.eps, self.alphas, positive) if automatic else alphas for r in l1_ratios]
            task = FoldTask(X, y, weight, self.fit_intercept, l1_ratios, grids, positive, options)
            results = thread_map(
                lambda k: fold_errors(task, folds[k][1], *problem_of(k)), range(len(folds)), self.n_jobs
            )
            errors = np.stack([e for e, _ in results], axis=1)
            l1_ratio, alpha = best_of_grid(l1_ratios, grids, errors.mean(axis=1))
            fit = _refit(whole, alpha, l1_ratio, positive, options, X.dtype, self.fit_intercept)
        _check_outcome(self, X, fit)
        unsolved = [s for _, solutions in results for s in solutions] + fit.solutions
        warn_unconverged(unsolved, [fit.tolerances[0]] * len(unsolved), options.max_iter, fit.total)
        # 4 attributes
        self.alpha_ = alpha
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = l1_ratio
        self.alphas_ = np.asarray(grids) if automatic and len(grids) > 1 else np.asarray(grids[0])
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self.coef_, self.intercept_ = fit.coef[0], fit.intercept[0] if self.fit_intercept else 0.0
        self.dual_gap_ = fit.solutions[0].gaps[0] / fit.total
        self.n_iter_ = fit.solutions[0].n_iters[0]
        self.certificate_ = fit.certificates[0]
        return self

    def _training_data(self, X, y, sample_weight):
        """Checked X by columns, 1-d y in float64, and raw weights (ones without any)."""
        X, y, weight = cv_training_data(self, X, y, sample_weight)
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError(f"For multi-task outputs, use MultiTask{type(self).__name__}")
        return X, column_or_1d(y, warn=True).astype(np.float64), weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def cv_training_data(estimator, X, y, sample_weight):
    """Checked X by columns, y as floats of any shape, and raw weights (ones without any)."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    X = check_design(
        estimator, X, reset=True, accept_sparse="csc", accept_large_sparse=False, dtype=FLOATS, ensure_all_finite=False
    )  # fmt: skip
    if sp.issparse(X):
        check_finite(estimator, X)
    y = check_array(y, dtype=FLOATS, ensure_2d=False, input_name="y", estimator=estimator)
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], y.shape[0]]}")
    weight = None if isinstance(sample_weight, numbers.Number) else check_weight(sample_weight, X)
    # a row-major X of few columns is summed as it is; everything else is used by columns
    X = X if not sp.issparse(X) and X.shape[0] > X.shape[1] and X.flags.c_contiguous else by_columns(X)
    return X, y, np.ones(X.shape[0]) if weight is None else weight


def _refit(whole, alpha, l1_ratio, positive, options, dtype, fit_intercept):
    """The chosen penalty on all rows, as an `ElasticNetFit`."""
    (penalty,) = penalties_for([alpha], l1_ratio, whole.total, positive)
    solution = whole.solve(0, [penalty], options)
    coef = solution.coefs.astype(dtype)
    intercept = (whole.y_mean - coef @ whole.x_mean).astype(dtype) if fit_intercept else np.zeros(1)
    certificate = path_certificate(solution, penalty, whole.y2[0], options.tol, whole.total)
    return ElasticNetFit(
        coef, intercept, [solution], [certificate], [options.tol * whole.y2[0]], whole.total, whole.finite
    )


class LassoCV(ElasticNetCVBase):
    """Lasso whose penalty is chosen by cross-validation.

    Minimises ``1/(2n) |y - Xw - b|^2 + alpha |w|_1`` along a path of `alphas` on each training fold, then for the
    alpha of least test error on all rows.  Each solve stops when its duality gap is at most ``tol`` times the mean
    square of the centred target.

    Parameters
    ----------
    eps : float, default=1e-3
        Smallest alpha of an automatic grid, relative to its largest.
    alphas : int or array-like, default=100
        Values of alpha, or how many to choose automatically.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    precompute : 'auto', bool or array-like, default='auto'
        Whether to use Gram matrices; by default where they are faster.
    max_iter : int, default=1000
        Largest number of passes over the coordinates.
    tol : float, default=1e-4
        Largest relative duality gap.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    cv : int, splitter or iterable, default=None
        Folds: 5 by default.
    verbose : bool or int, default=False
        Accepted for compatibility.
    n_jobs : int, default=None
        Threads over folds; None uses all cores.  The result does not depend on it.
    positive : bool, default=False
        Only non-negative coefficients.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Test errors.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties tried.
    dual_gap_ : float
        Duality gap of the final fit.
    n_iter_ : int
        Passes of the final fit.
    certificate_ : Certificate
        Relative duality gap of the final fit against `tol`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had string names.

    See Also
    --------
    Lasso : For a given penalty.

    References
    ----------
    Friedman, Hastie, Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 10))
    >>> y = 3 * X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=60)
    >>> model = LassoCV().fit(X, y)
    >>> model.coef_[:2].round(1)
    array([ 2.9, -2. ])
    """

    path = staticmethod(lasso_path)
    _params = CV_PARAMS

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class ElasticNetCV(ElasticNetCVBase):
    """Elastic net whose penalty (and its mixing) is chosen by cross-validation.

    Minimises ``1/(2n) |y - Xw - b|^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` along a path of `alphas`
    for each `l1_ratio` on each training fold, then for the pair of least test error on all rows.  Each solve
    stops when its duality gap is at most ``tol`` times the mean square of the centred target.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Share(s) of the l1 penalty to try.
    eps : float, default=1e-3
        Smallest alpha of an automatic grid, relative to its largest.
    alphas : int or array-like, default=100
        Values of alpha, or how many to choose automatically for each `l1_ratio`.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    precompute : 'auto', bool or array-like, default='auto'
        Whether to use Gram matrices; by default where they are faster.
    max_iter : int, default=1000
        Largest number of passes over the coordinates.
    tol : float, default=1e-4
        Largest relative duality gap.
    cv : int, splitter or iterable, default=None
        Folds: 5 by default.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    verbose : bool or int, default=0
        Accepted for compatibility.
    n_jobs : int, default=None
        Threads over folds; None uses all cores.  The result does not depend on it.
    positive : bool, default=False
        Only non-negative coefficients.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    l1_ratio_ : float
        The chosen mixing.
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    mse_path_ : ndarray of shape (n_l1_ratios, n_alphas, n_folds)
        Test errors; without the first axis for one `l1_ratio`.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The penalties tried.
    dual_gap_ : float
        Duality gap of the final fit.
    n_iter_ : int
        Passes of the final fit.
    certificate_ : Certificate
        Relative duality gap of the final fit against `tol`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had string names.

    See Also
    --------
    ElasticNet : For a given penalty.

    References
    ----------
    Zou, Hastie (2005), Regularization and variable selection via the elastic net, JRSS B 67(2).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import ElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 10))
    >>> y = 3 * X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=60)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 0.9]).fit(X, y)
    >>> bool(model.l1_ratio_ == 0.9), model.coef_[:2].round(1)
    (True, array([ 2.9, -2. ]))
    """

    path = staticmethod(enet_path)
    _params = {**CV_PARAMS, "l1_ratio": OneOf(Real(ge=0, le=1), ArrayLike)}

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
