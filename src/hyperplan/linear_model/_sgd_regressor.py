"""Linear regression by stochastic gradient descent.

    minimise   1/n sum_i s_i loss(y_i - <w, x_i> - b)  +  alpha (r |w|_1 + (1 - r)/2 |w|^2)

with the residual r_i = y_i - <w, x_i> - b:

    squared_error r^2/2     huber r^2/2 for abs(r) <= eps, else eps (abs(r) - eps/2)
    epsilon_insensitive (abs(r) - eps)_+     squared_epsilon_insensitive (abs(r) - eps)_+^2
"""

import numpy as np

from hyperplan._base import Choice, LinearRegressorMixin, check_training, linear_scores
from hyperplan._solvers.sgd import LOSSES
from hyperplan.linear_model._sgd_base import COMMON_PARAMS, DEFAULT_EPSILON, SCHEDULE_PARAMS, SgdEstimator

REGRESSION_LOSSES = {
    "squared_error": (LOSSES["squared_error"],),
    "huber": (LOSSES["huber"], DEFAULT_EPSILON),
    "epsilon_insensitive": (LOSSES["epsilon_insensitive"], DEFAULT_EPSILON),
    "squared_epsilon_insensitive": (LOSSES["squared_epsilon_insensitive"], DEFAULT_EPSILON),
}


class SGDRegressor(LinearRegressorMixin, SgdEstimator):
    """Linear regression fitted by stochastic gradient descent.

    Minimises the mean loss plus ``alpha * (r |w|_1 + (1 - r)/2 |w|^2)`` with one step per row, the rows in a new
    random order each epoch.  Scale the columns first: one step size serves them all.

    Stopping rule: the objective averaged over an epoch (or, with `early_stopping`, R^2 on held-out rows) has not
    improved on its best by `tol` for `n_iter_no_change` epochs in a row; at most `max_iter` epochs.

    Parameters
    ----------
    loss : str, default="squared_error"
        "squared_error", "huber", "epsilon_insensitive" (linear support vector regression) or
        "squared_epsilon_insensitive".
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        The penalty; "l1" and "elasticnet" set weights exactly to zero.
    alpha : float, default=0.0001
        Strength of the penalty; also sets the steps of ``learning_rate="optimal"``.
    l1_ratio : float or None, default=0.15
        Share r of the l1 penalty, for "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit b (never penalised).
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        Least improvement that counts; None runs all epochs.
    shuffle : bool, default=True
        New random order in each epoch.
    verbose : int, default=0
        Print a line per epoch.
    epsilon : float, default=0.1
        Threshold of "huber" and of the epsilon-insensitive losses.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders.
    learning_rate : str, default="invscaling"
        "constant" eta0; "optimal" ``1 / (alpha (t + t0))``; "invscaling" ``eta0 / t^power_t``; "adaptive": eta0,
        divided by 5 whenever progress stops; "pa1", "pa2": passive-aggressive steps (epsilon-insensitive only).
    eta0 : float, default=0.01
        Step size of the schedules that use it.
    power_t : float, default=0.25
        Exponent of "invscaling".
    early_stopping : bool, default=False
        Stop on R^2 on held-out rows.
    validation_fraction : float, default=0.1
        Share of rows held out.
    n_iter_no_change : int, default=5
        Epochs without improvement before stopping.
    warm_start : bool, default=False
        Start `fit` from the previous solution.
    average : bool or int, default=False
        Report the mean of the weights over all steps, or over the steps from this one on.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_iter_ : int
        Epochs.
    t_ : float
        Steps so far plus one.
    certificate_ : Certificate
        Progress per epoch against `tol`, which is what the descent stops on; in its details the objective, a lower
        bound on its minimum and the duality gap between them at the reported point.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Bottou (2012), Stochastic gradient descent tricks.  Robbins, Monro (1951), A stochastic approximation method.

    Examples
    --------
    >>> from hyperplan.linear_model import SGDRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = SGDRegressor(eta0=0.1, max_iter=2000, tol=1e-6, random_state=0).fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_.round(1).tolist(), model.intercept_.round(1).tolist()
    ([2.0], [1.0])
    """

    loss_functions = REGRESSION_LOSSES

    _params = {**COMMON_PARAMS, **SCHEDULE_PARAMS, "loss": Choice(*REGRESSION_LOSSES)}

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=DEFAULT_EPSILON,
        random_state=None,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        warm_start=False,
        average=False,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        coef_init : array-like of shape (n_features,), default=None
            Where the weights start.
        intercept_init : array-like of shape (1,), default=None
            Where the intercept starts.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_options(partial=False)  # 1 parameters
        X, y, _ = check_training(self, X, y, accept_sparse="csr", order="C", y_numeric=True)  # 2 data
        solved, job, starts = self._descend(X, y, coef_init, intercept_init, sample_weight, partial=False)  # 3 maths
        self._store(solved, job, starts, X.dtype, partial=False)  # 4 attributes
        self._warn(solved)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """One epoch on a batch, going on from the current weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self
            The estimator.
        """
        self._check_options(partial=True)
        first = not hasattr(self, "coef_")
        X, y, _ = check_training(self, X, y, accept_sparse="csr", order="C", y_numeric=True, reset=first)
        solved, job, starts = self._descend(X, y, None, None, sample_weight, partial=True)
        return self._store(solved, job, starts, X.dtype, partial=True)

    def _descend(self, X, y, coef_init, intercept_init, sample_weight, *, partial):
        job = self._job(X, y, sample_weight, partial=partial)
        starts = self._starts((1, X.shape[1]), coef_init, intercept_init, partial=partial)
        target = np.ascontiguousarray(y, dtype=np.float64)
        return self._solve_all(job, lambda _: target, [self._rule(X)], starts), job, starts

    def predict(self, X):
        """Predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predictions.
        """
        return linear_scores(self, X).ravel()  # a sparsified coef_ gives one column
