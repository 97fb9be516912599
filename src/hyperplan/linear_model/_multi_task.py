"""Several targets with one support: the penalty acts on the rows of W.

    minimise  1/(2S) sum_i s_i |y_i - b - W'x_i|^2 + alpha (r sum_j |W_j|_2 + (1 - r)/2 |W|_F^2)

by block coordinate descent; stops when the duality gap is at most ``tol`` times the mean square of the centred targets.
"""

import numbers

import numpy as np

from hyperplan._base import (
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
    check_finite,
    check_params,
)
from hyperplan._solvers.coordinate import PathSolution
from hyperplan.linear_model._elastic_net import ElasticNetFit, _check_outcome
from hyperplan.linear_model._elastic_net_cv import cv_training_data
from hyperplan.linear_model._elastic_net_path import enet_path, solver_options
from hyperplan.linear_model._elastic_net_problem import path_certificate, penalties_for, warn_unconverged
from hyperplan.linear_model._multi_task_problem import multi_task_path


def multi_task_elastic_net(X, Y, weight=None, *, alpha, l1_ratio, fit_intercept, options, start=None) -> ElasticNetFit:
    """Fit all columns of `Y` together; `weight` sums to the number of rows, or is None."""
    (penalty,) = penalties_for([alpha], l1_ratio, X.shape[0], False)
    solution = multi_task_path(X, Y, weight, [penalty], options, center=fit_intercept, start=start)
    coef = solution.coefs[0].astype(X.dtype)
    intercept = solution.y_mean - coef @ solution.x_mean
    certificate = path_certificate(solution, penalty, solution.y2, options.tol, solution.total)
    path = PathSolution(*solution[:5])
    tolerance = options.tol * solution.y2
    return ElasticNetFit(
        coef, intercept.astype(X.dtype), [path], [certificate], [tolerance], solution.total, solution.finite
    )


class MultiTaskElasticNet(LinearRegressorMixin, MultiOutputMixin, BaseEstimator):
    """Elastic net for several targets that share their support.

    Minimises ``1/(2n) |Y - XW' - b|^2 + alpha (l1_ratio sum_j |W_j|_2 + (1 - l1_ratio)/2 |W|^2)``, W_j being the
    coefficients of feature j for all targets.  Stops when the duality gap is at most ``tol * |Y - mean(Y)|^2 / n``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    l1_ratio : float, default=0.5
        Share of the penalty on norms of rows.
    fit_intercept : bool, default=True
        Fit unpenalised intercepts.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    max_iter : int, default=1000
        Largest number of passes over the features.
    tol : float, default=1e-4
        Largest relative duality gap.
    warm_start : bool, default=False
        Start from the previous solution.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the features.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Intercepts (0.0 without).
    n_iter_ : int
        Passes over the features.
    dual_gap_ : float
        Duality gap at the end.
    eps_ : float
        The tolerance in the units of the summed squares.
    certificate_ : Certificate
        Relative duality gap against `tol`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had string names.

    See Also
    --------
    MultiTaskLasso : ``l1_ratio=1``.
    ElasticNet : Each target on its own.

    References
    ----------
    Obozinski, Taskar, Jordan (2010), Joint covariate selection and joint subspace selection for multiple classification
    problems, Statistics and Computing 20(2).

    Examples
    --------
    >>> from hyperplan.linear_model import MultiTaskElasticNet
    >>> model = MultiTaskElasticNet(alpha=0.1).fit([[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 1], [2, 2]])
    >>> model.coef_.round(2)
    array([[0.46, 0.46],
           [0.46, 0.46]])
    """

    path = staticmethod(enet_path)

    _params = {
        "alpha": Real(ge=0),
        "l1_ratio": Real(ge=0, le=1),
        "fit_intercept": Bool,
        "copy_X": Bool,
        "max_iter": OneOf(Int(ge=1), Null),
        "tol": Real(ge=0),
        "warm_start": Bool,
        "random_state": Seed,
        "selection": Choice("cyclic", "random"),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients of all targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows; only their ratios matter.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1 parameters
        check_params(self)
        options = solver_options(self.tol, self.max_iter, self.selection, self.random_state)
        l1_ratio = getattr(self, "l1_ratio", 1.0)
        # 2 data
        X, y, weight = cv_training_data(self, X, y, sample_weight)
        if y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {type(self).__name__.removeprefix('MultiTask')}")
        given = sample_weight is not None and not isinstance(sample_weight, numbers.Number)
        weight = weight * (X.shape[0] / weight.sum()) if given else None
        start = self.coef_ if self.warm_start and hasattr(self, "coef_") else None
        # 3 maths
        with np.errstate(over="ignore", invalid="ignore"):
            fit = multi_task_elastic_net(
                X, y, weight, alpha=self.alpha, l1_ratio=l1_ratio, fit_intercept=self.fit_intercept, options=options,
                start=start,
            )  # fmt: skip
        if not fit.finite:
            check_finite(self, X)
        _check_outcome(self, X, fit)
        warn_unconverged(fit.solutions, fit.tolerances, options.max_iter, fit.total)
        # 4 attributes
        self.coef_ = np.asfortranarray(fit.coef)
        self.intercept_ = fit.intercept if self.fit_intercept else 0.0
        self.dual_gap_ = fit.solutions[0].gaps[0] / fit.total
        self.eps_ = fit.tolerances[0]
        self.n_iter_ = fit.solutions[0].n_iters[0]
        self.certificate_ = fit.certificates[0]
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class MultiTaskLasso(MultiTaskElasticNet):
    """Lasso for several targets that share their support.

    Minimises ``1/(2n) |Y - XW' - b|^2 + alpha sum_j |W_j|_2``, W_j being the coefficients of feature j for all targets.
    Stops when the duality gap is at most ``tol * |Y - mean(Y)|^2 / n``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    fit_intercept : bool, default=True
        Fit unpenalised intercepts.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    max_iter : int, default=1000
        Largest number of passes over the features.
    tol : float, default=1e-4
        Largest relative duality gap.
    warm_start : bool, default=False
        Start from the previous solution.
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the features.

    Attributes
    ----------
    coef_, intercept_, n_iter_, dual_gap_, eps_, certificate_, n_features_in_, feature_names_in_
        See `MultiTaskElasticNet`.

    See Also
    --------
    MultiTaskElasticNet : With a quadratic penalty too.

    References
    ----------
    Obozinski, Taskar, Jordan (2010), Joint covariate selection and joint subspace selection for multiple classification
    problems, Statistics and Computing 20(2).

    Examples
    --------
    >>> from hyperplan.linear_model import MultiTaskLasso
    >>> model = MultiTaskLasso(alpha=0.1).fit([[0, 1], [1, 2], [2, 4]], [[0, 0], [1, 1], [2, 3]])
    >>> model.coef_.round(2)
    array([[0.  , 0.61],
           [0.  , 0.95]])
    """

    _params = {name: rule for name, rule in MultiTaskElasticNet._params.items() if name != "l1_ratio"}

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
