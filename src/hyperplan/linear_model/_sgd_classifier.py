"""Linear classification by stochastic gradient descent.

    minimise   1/n sum_i s_i loss(y_i, <w, x_i> + b)  +  alpha (r |w|_1 + (1 - r)/2 |w|^2),     y_i = -1, +1

one problem per class against the others when there are more than two.  With the margin m = y (<w, x> + b):

    hinge (1 - m)_+     squared_hinge (1 - m)_+^2     log_loss log(1 + e^-m)     perceptron (-m)_+
    modified_huber (1 - m)_+^2 for m >= -1, else -4 m;  the losses of `SGDRegressor` act on the targets -1, +1
"""

import numpy as np

from hyperplan._base import (
    Choice,
    Is,
    Jobs,
    LinearClassifierMixin,
    OneOf,
    available_if,
    check_is_fitted,
    check_training,
    compute_class_weight,
    encode_labels,
)
from hyperplan._solvers.sgd import LOSSES
from hyperplan.linear_model._sgd_base import COMMON_PARAMS, DEFAULT_EPSILON, SCHEDULE_PARAMS, SgdEstimator

WITH_EPSILON = ("huber", "epsilon_insensitive", "squared_epsilon_insensitive")


class SgdClassifierBase(LinearClassifierMixin, SgdEstimator):
    """`fit` and `partial_fit` of the stochastic gradient classifiers."""

    _classify = True

    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings.
        coef_init : array-like of shape (n_classes, n_features) or (1, n_features), default=None
            Where the weights start.
        intercept_init : array-like of shape (n_classes,) or (1,), default=None
            Where the intercepts start.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights; multiplied by the class weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_options(partial=False)  # 1 parameters
        X, y, _ = check_training(self, X, y, accept_sparse="csr", order="C")  # 2 data
        labels = encode_labels(y, estimator_name=type(self).__name__)
        solved, job, starts = self._descend(  # 3 maths
            X, y, labels.classes, labels.codes, coef_init, intercept_init, sample_weight, partial=False
        )
        self.classes_ = labels.classes  # 4 attributes
        self._store(solved, job, starts, X.dtype, partial=False)
        self._warn(solved)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One epoch on a batch, going on from the current weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self
            The estimator.
        """
        first = not hasattr(self, "classes_")
        self._check_options(partial=True)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough "
                "sample of the full training set target to properly estimate the class frequency distributions. "
                "Pass the resulting weights as the class_weight parameter."
            )
        X, y, _ = check_training(self, X, y, accept_sparse="csr", order="C", reset=first)
        classes = self._checked_classes(classes)
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        if (unknown := np.flatnonzero(classes[codes] != y)).size:
            raise ValueError(f"y has the label {y[unknown[0]]} in row {unknown[0]}, which is not in classes={classes}")
        solved, job, starts = self._descend(X, y, classes, codes, None, None, sample_weight, partial=True)
        self.classes_ = classes
        return self._store(solved, job, starts, X.dtype, partial=True)

    def _checked_classes(self, classes):
        known = getattr(self, "classes_", None)
        if classes is None and known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is None:
            return known
        classes = np.unique(np.asarray(classes))
        if known is not None and not np.array_equal(known, classes):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        return classes

    def _descend(self, X, y, classes, codes, coef_init, intercept_init, sample_weight, *, partial):
        """All one-against-the-rest problems (one problem for two classes)."""
        per_class = compute_class_weight(self.class_weight, classes=classes, y=y)
        job = self._job(X, y, sample_weight, partial=partial)
        if len(classes) == 2:
            positive, rules = [1], [self._rule(X, per_class[1], per_class[0])]
        else:
            positive, rules = range(len(classes)), [self._rule(X, weight, 1.0) for weight in per_class]
        starts = self._starts((len(rules), X.shape[1]), coef_init, intercept_init, partial=partial)

        def targets(i):
            return np.where(codes == positive[i], 1.0, -1.0)

        return self._solve_all(job, targets, rules, starts, self.n_jobs), job, starts

    def _shaped(self, coef):
        return coef


class SGDClassifier(SgdClassifierBase):
    """Linear classifier fitted by stochastic gradient descent.

    Minimises the mean loss plus ``alpha * (r |w|_1 + (1 - r)/2 |w|^2)`` with one step per row, the rows in a new
    random order each epoch.  Scale the columns first: one step size serves them all.

    Stopping rule: the objective averaged over an epoch (or, with `early_stopping`, the accuracy on held-out rows)
    has not improved on its best by `tol` for `n_iter_no_change` epochs in a row; at most `max_iter` epochs.

    Parameters
    ----------
    loss : str, default="hinge"
        "hinge" (linear SVM), "log_loss" (logistic regression), "modified_huber", "squared_hinge", "perceptron", or
        a regression loss on the targets -1, +1: "squared_error", "huber", "epsilon_insensitive",
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
    n_jobs : int or None, default=None
        Threads for the classes; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders.
    learning_rate : str, default="optimal"
        "constant" eta0; "optimal" ``1 / (alpha (t + t0))``; "invscaling" ``eta0 / t^power_t``; "adaptive": eta0,
        divided by 5 whenever progress stops; "pa1", "pa2": passive-aggressive steps of at most / damped by eta0
        (hinge loss only).
    eta0 : float, default=0.01
        Step size of the schedules that use it.
    power_t : float, default=0.5
        Exponent of "invscaling"; the steps satisfy Robbins and Monro's conditions for 1/2 < power_t <= 1.
    early_stopping : bool, default=False
        Stop on the accuracy on held-out rows.
    validation_fraction : float, default=0.1
        Share of rows held out.
    n_iter_no_change : int, default=5
        Epochs without improvement before stopping.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Start `fit` from the previous solution.
    average : bool or int, default=False
        Report the mean of the weights over all steps, or over the steps from this one on.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Epochs (the most over classes).
    classes_ : ndarray of shape (n_classes,)
        Labels.
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
    Bottou (2012), Stochastic gradient descent tricks.  Tsuruoka, Tsujii, Ananiadou (2009), Stochastic gradient
    descent training for l1-regularized log-linear models.  Crammer et al. (2006), Online passive-aggressive
    algorithms.

    Examples
    --------
    >>> from hyperplan.linear_model import SGDClassifier
    >>> X = [[-1, -1], [-2, -1], [1, 1], [2, 1]]
    >>> model = SGDClassifier(random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[-0.8, -1], [3, 2]]).tolist()
    ['a', 'b']
    """

    loss_functions = {
        name: (code, DEFAULT_EPSILON) if name in WITH_EPSILON else (code,) for name, code in LOSSES.items()
    }

    _params = {
        **COMMON_PARAMS,
        **SCHEDULE_PARAMS,
        "loss": Choice(*LOSSES),
        "n_jobs": Jobs,
        "class_weight": OneOf(Choice("balanced", None), Is(lambda v: isinstance(v, dict), "an instance of 'dict'")),
    }

    def __init__(
        self,
        loss="hinge",
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
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def _check_proba(self):
        if self.loss not in ("log_loss", "modified_huber"):
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
        return True

    @available_if(_check_proba)
    def predict_proba(self, X):
        """Class probabilities, for the losses "log_loss" and "modified_huber".

        Two classes: the logistic function of the score, or ``(clip(score, -1, 1) + 1) / 2`` for "modified_huber".
        More classes: these numbers for each class against the others, divided by their sum.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One row sums to one; columns in the order of `classes_`.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if self.loss == "log_loss":
            small = np.exp(-np.abs(scores))
            positive = np.where(scores > 0, 1.0, small) / (1.0 + small)
        else:
            positive = (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        if positive.ndim == 1:
            return np.column_stack([1.0 - positive, positive])
        total = positive.sum(axis=1, keepdims=True)
        positive = np.where(total > 0, positive, 1.0)  # no class claims the row: all alike
        return positive / np.where(total > 0, total, positive.shape[1])

    @available_if(_check_proba)
    def predict_log_proba(self, X):
        """Logarithm of `predict_proba` (minus infinity for the hard zeros of "modified_huber").

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        return np.log(self.predict_proba(X))
