"""Elastic net and lasso for several targets that share their support, the penalty chosen by cross-validation.

    minimise  1/(2S) sum_i s_i |y_i - b - W'x_i|^2 + alpha (r sum_j |W_j|_2 + (1 - r)/2 |W|_F^2)

for each alpha (and r) on the training part of each fold; the pair of least mean squared test error, averaged over the
targets, is refitted on all rows.
"""

import numpy as np

from hyperplan._base import ArrayLike, MultiOutputMixin, OneOf, Real
from hyperplan.linear_model._elastic_net_cv import CV_PARAMS, ElasticNetCVBase, cv_training_data
from hyperplan.linear_model._elastic_net_path import enet_path, lasso_path

TASK_CV_PARAMS = {name: rule for name, rule in CV_PARAMS.items() if name not in ("precompute", "positive")}


class _MultiTaskCVBase(MultiOutputMixin, ElasticNetCVBase):
    """What differs from one target: the shape of y."""

    def _training_data(self, X, y, sample_weight):
        X, y, weight = cv_training_data(self, X, y, sample_weight)
        if y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {type(self).__name__.removeprefix('MultiTask')}")
        return X, y.astype(np.float64, copy=False), weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class MultiTaskElasticNetCV(_MultiTaskCVBase):
    """Elastic net for several targets that share their support, its penalty and mixing chosen by cross-validation.

    Minimises ``1/(2n) |Y - XW' - b|^2 + alpha (l1_ratio sum_j |W_j|_2 + (1 - l1_ratio)/2 |W|^2)`` along a path of
    `alphas` for each `l1_ratio` on each training fold, then for the pair of least test error on all rows.  Each solve
    stops when its duality gap is at most ``tol`` times the mean square of the centred targets.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Share(s) of the penalty on norms of rows to try.
    eps : float, default=1e-3
        Smallest alpha of an automatic grid, relative to its largest.
    alphas : int or array-like, default=100
        Values of alpha, or how many to choose automatically for each `l1_ratio`.
    fit_intercept : bool, default=True
        Fit unpenalised intercepts.
    max_iter : int, default=1000
        Largest number of passes over the features.
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
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the features.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    l1_ratio_ : float
        The chosen mixing.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Intercepts (0.0 without).
    mse_path_ : ndarray of shape (n_l1_ratios, n_alphas, n_folds)
        Test errors, averaged over the targets; without the first axis for one `l1_ratio`.
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
    MultiTaskElasticNet : For a given penalty.
    ElasticNetCV : One target.

    References
    ----------
    Obozinski, Taskar, Jordan (2010), Joint covariate selection and joint subspace selection for multiple classification
    problems, Statistics and Computing 20(2).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import MultiTaskElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = X[:, :1] * [3.0, -2.0] + 0.1 * rng.normal(size=(60, 2))
    >>> model = MultiTaskElasticNetCV(l1_ratio=[0.5, 0.9]).fit(X, Y)
    >>> bool(model.l1_ratio_ == 0.9), np.flatnonzero(model.coef_[0].round(1))
    (True, array([0]))
    """

    path = staticmethod(enet_path)
    _params = {**TASK_CV_PARAMS, "l1_ratio": OneOf(Real(ge=0, le=1), ArrayLike)}

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection


class MultiTaskLassoCV(_MultiTaskCVBase):
    """Lasso for several targets that share their support, its penalty chosen by cross-validation.

    Minimises ``1/(2n) |Y - XW' - b|^2 + alpha sum_j |W_j|_2`` along a path of `alphas` on each training fold, then for
    the alpha of least test error on all rows.  Each solve stops when its duality gap is at most ``tol`` times the mean
    square of the centred targets.

    Parameters
    ----------
    eps : float, default=1e-3
        Smallest alpha of an automatic grid, relative to its largest.
    alphas : int or array-like, default=100
        Values of alpha, or how many to choose automatically.
    fit_intercept : bool, default=True
        Fit unpenalised intercepts.
    max_iter : int, default=1000
        Largest number of passes over the features.
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
    random_state : int, RandomState or None, default=None
        Seed for ``selection="random"``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the features.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Intercepts (0.0 without).
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Test errors, averaged over the targets.
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
    MultiTaskLasso : For a given penalty.
    LassoCV : One target.

    References
    ----------
    Obozinski, Taskar, Jordan (2010), Joint covariate selection and joint subspace selection for multiple classification
    problems, Statistics and Computing 20(2).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import MultiTaskLassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = X[:, :1] * [3.0, -2.0] + 0.1 * rng.normal(size=(60, 2))
    >>> model = MultiTaskLassoCV().fit(X, Y)
    >>> model.coef_[:, 0].round(1)
    array([ 3., -2.])
    """

    path = staticmethod(lasso_path)
    _params = TASK_CV_PARAMS

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection
