"""Linear one-class support vector machine by stochastic gradient descent.

    minimise   nu/2 |w|^2  +  nu b  +  1/n sum_i s_i (1 - <w, x_i> - b)_+ ,      offset rho = 1 - b

which is Schoelkopf's problem up to a factor: rows with <w, x> < rho are outliers, about a share nu of them.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Choice, Int, OneOf, OutlierMixin, Real, check_design, check_is_fitted
from hyperplan.linear_model._sgd_base import COMMON_PARAMS, SCHEDULE_PARAMS, SgdEstimator

SKIPPED = ("penalty", "alpha", "l1_ratio", "early_stopping", "validation_fraction", "n_iter_no_change")


class SGDOneClassSVM(OutlierMixin, SgdEstimator):
    """Linear one-class SVM fitted by stochastic gradient descent.

    Minimises ``nu/2 |w|^2 + nu b + mean((1 - <w, x> - b)_+)``.  Stops when the objective averaged over an epoch has
    not improved on its best by `tol` for 5 epochs in a row, after at most `max_iter` epochs.

    Parameters
    ----------
    nu : float, default=0.5
        About the share of training rows that may be outliers, in (0, 1].
    fit_intercept : bool, default=True
        Whether to fit the offset.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        Least improvement that counts; None runs all epochs.
    shuffle : bool, default=True
        New random order in each epoch.
    verbose : int, default=0
        Print a line per epoch.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders.
    learning_rate : {"constant", "optimal", "invscaling", "adaptive"}, default="optimal"
        Step sizes, see `SGDClassifier` (with alpha = nu).
    eta0 : float, default=0.01
        Step size of the schedules that use it.
    power_t : float, default=0.5
        Exponent of "invscaling".
    warm_start : bool, default=False
        Start `fit` from the previous solution.
    average : bool or int, default=False
        Report the mean of the weights over all steps, or over the steps from this one on.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    offset_ : ndarray of shape (1,)
        The threshold rho.
    n_iter_ : int
        Epochs.
    t_ : float
        Steps so far plus one.
    certificate_ : Certificate
        Progress per epoch against `tol`, which is what the descent stops on; in its details the duality gap.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Schoelkopf et al. (2001), Estimating the support of a high-dimensional distribution.

    Examples
    --------
    >>> from hyperplan.linear_model import SGDOneClassSVM
    >>> model = SGDOneClassSVM(random_state=0, tol=None, max_iter=100).fit([[-1, -1], [-2, -1], [1, 1], [2, 1]])
    >>> model.predict([[4, 4]]).tolist()
    [1]
    """

    loss, penalty, l1_ratio, epsilon = "hinge", "l2", 0.0, 0.1
    early_stopping, validation_fraction, n_iter_no_change = False, 0.1, 5

    _params = {
        **{name: rule for name, rule in {**COMMON_PARAMS, **SCHEDULE_PARAMS}.items() if name not in SKIPPED},
        "nu": Real(gt=0, le=1),
        "learning_rate": Choice("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
        "verbose": OneOf(Int(ge=0), COMMON_PARAMS["shuffle"]),
    }

    def __init__(
        self,
        nu=0.5,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        warm_start=False,
        average=False,
    ):
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.warm_start = warm_start
        self.average = average

    def fit(self, X, y=None, coef_init=None, offset_init=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : ignored
            For pipelines.
        coef_init : array-like of shape (n_features,), default=None
            Where the weights start.
        offset_init : array-like of shape (1,), default=None
            Where the offset starts.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_options(partial=False)  # 1 parameters
        X = check_design(self, X, reset=True, accept_sparse="csr", order="C")  # 2 data
        solved, job, starts = self._descend(X, coef_init, offset_init, sample_weight, partial=False)  # 3 maths
        self._store(solved, job, starts, X.dtype, partial=False)  # 4 attributes
        self._warn(solved)
        return self

    def partial_fit(self, X, y=None, sample_weight=None):
        """One epoch on a batch, going on from the current weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self
            The estimator.
        """
        self._check_options(partial=True)
        X = check_design(self, X, reset=not hasattr(self, "coef_"), accept_sparse="csr", order="C")
        solved, job, starts = self._descend(X, None, None, sample_weight, partial=True)
        return self._store(solved, job, starts, X.dtype, partial=True)

    def _descend(self, X, coef_init, offset_init, sample_weight, *, partial):
        ones = np.ones(X.shape[0])
        job = self._job(X, ones, sample_weight, partial=partial)
        starts = self._starts((1, X.shape[1]), coef_init, offset_init, partial=partial)
        return self._solve_all(job, lambda _: ones, [self._rule(X)], starts), job, starts

    @property
    def _nu(self):
        return self.nu

    def _strength(self):
        return self.nu

    def _zero_intercept(self):
        return 1.0  # offset zero

    def _intercepts(self, given=None):
        return 1.0 - np.asarray(self.offset_ if given is None else given)

    def _store_intercepts(self, intercepts):
        self.offset_ = 1.0 - intercepts

    def decision_function(self, X):
        """Signed score ``<w, x> - rho``: negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores.
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X):
        """Unshifted scores ``<w, x>``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr")
        scores = X @ self.coef_.T
        return np.ravel(scores.toarray() if sp.issparse(scores) else scores)

    def predict(self, X):
        """1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
