"""AdaBoost.R2: regression by weak learners on samples drawn by weight.

Each round draws rows by weight and fits a learner; with losses L_i in [0, 1] of its errors (relative to the largest),
``eps = sum w_i L_i`` and ``beta = eps / (1 - eps)``, weights are multiplied by ``beta^(1 - L_i)``.  The prediction is
the median of the learners' answers, weighted by ``log(1 / beta)``.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._base import (
    Certificate,
    Choice,
    RegressorMixin,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
)
from hyperplan.ensemble._ada_boost_base import BaseAdaBoost, fresh_copy
from hyperplan.tree import DecisionTreeRegressor

LEAST_WEIGHT = np.finfo(np.float64).eps
LOSSES = {"linear": lambda r: r, "square": lambda r: r**2, "exponential": lambda r: 1.0 - np.exp(-r)}


class RegressionRounds(NamedTuple):
    """Models, their weights ``log(1 / beta)`` and mean losses."""

    models: list
    weights: list
    errors: list


def regression_rounds(X, y, initial, estimator, n_rounds, learning_rate, loss, random_state) -> RegressionRounds:
    """Run AdaBoost.R2; a learner with mean loss of 1/2 or more ends the rounds, dropped unless it is the only one."""
    weight, models, weights, errors = initial.copy(), [], [], []
    alive = initial > 0.0
    for t in range(n_rounds):
        weight = np.where(alive, np.maximum(weight, LEAST_WEIGHT), 0.0)
        model = fresh_copy(estimator, random_state)
        rows = random_state.choice(np.arange(X.shape[0]), size=X.shape[0], replace=True, p=weight)
        model.fit(X[rows], y[rows])
        gap = np.abs(model.predict(X) - y)[alive]
        largest = gap.max()
        share = LOSSES[loss](gap / largest if largest != 0.0 else gap)
        error = float((weight[alive] * share).sum())
        if error <= 0.0:
            return RegressionRounds([*models, model], [*weights, 1.0], [*errors, 0.0])
        if error >= 0.5:
            if not models:
                models.append(model)
            break
        beta = error / (1.0 - error)
        models.append(model)
        weights.append(learning_rate * math.log(1.0 / beta))
        errors.append(error)
        if t < n_rounds - 1:
            weight[alive] *= np.power(beta, (1.0 - share) * learning_rate)
            total = weight.sum()
            if not 0.0 < total < math.inf:
                break
            weight /= total
    return RegressionRounds(models, weights, errors)


class AdaBoostRegressor(RegressorMixin, BaseAdaBoost):
    """AdaBoost.R2: regression learners in a row, each on rows drawn by the errors of its forerunners.

    The prediction is the weighted median of the learners' answers.

    Stopping rule: after `n_estimators` rounds, when a learner makes no error, or when its mean loss is 1/2 or more.

    Parameters
    ----------
    estimator : object, default=None
        Weak learner with `fit` and `predict`; None: a tree of depth 3.
    n_estimators : int, default=50
        Most rounds.
    learning_rate : float, default=1.0
        Factor of each learner's weight.
    loss : {"linear", "square", "exponential"}, default="linear"
        How errors, relative to the largest one, become losses in [0, 1].
    random_state : int, RandomState instance or None, default=None
        Seeds of the draws and of the weak learners.

    Attributes
    ----------
    estimator_ : object
        The weak learner that was copied.
    estimators_ : list
        Fitted weak learners.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights in the median, 0 for rounds that did not take place.
    estimator_errors_ : ndarray of shape (n_estimators,)
        Mean losses of the learners, 1 for rounds that did not take place.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of the learners' importances, if they have some.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That every learner but a single one has a mean loss below 1/2, with the losses and weights per round.

    References
    ----------
    Drucker (1997), Improving regressors using boosting techniques.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import AdaBoostRegressor
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.1)
    True
    """

    _params = {**BaseAdaBoost._params, "loss": Choice(*LOSSES)}

    def __init__(self, estimator=None, *, n_estimators=50, learning_rate=1.0, loss="linear", random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Run the rounds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights at the start; None: all the same.

        Returns
        -------
        self : AdaBoostRegressor
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        random_state = check_random_state(self.random_state)
        estimator = DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator
        # 2 data
        options = {"ensure_2d": True, "allow_nd": True, "dtype": None, "y_numeric": True}
        X, y, weight = check_training(self, X, y, sample_weight, **options)
        initial = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
        # 3 maths
        settings = (estimator, self.n_estimators, self.learning_rate, self.loss, random_state)
        rounds = regression_rounds(X, y, initial, *settings)
        # 4 attributes
        self.estimator_, self.estimators_ = estimator, rounds.models
        self.estimator_weights_, self.estimator_errors_ = np.zeros(self.n_estimators), np.ones(self.n_estimators)
        self.estimator_weights_[: len(rounds.weights)] = rounds.weights
        self.estimator_errors_[: len(rounds.errors)] = rounds.errors
        self.certificate_ = Certificate(
            kind="weak learners",
            guarantee=f"each of the {len(rounds.models)} learners has a mean loss below 1/2 on its weights",
            value=max(rounds.errors, default=1.0),
            bound=0.5,
            assumption="" if rounds.errors else "the first learner was too weak: it stands alone, unweighted",
            reference="Drucker (1997), Improving regressors using boosting techniques",
            details={"errors": np.array(rounds.errors), "weights": np.array(rounds.weights)},
        )
        return self

    def _median(self, answers):
        """Weighted median over the learners; `answers` has one row per learner."""
        order = np.argsort(answers.T, axis=1)
        sums = np.cumsum(self.estimator_weights_[order], axis=1)
        middle = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
        rows = np.arange(answers.shape[1])
        return answers[order[rows, middle], rows]

    def predict(self, X):
        """Weighted median of the learners' answers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        return self._median(np.array([model.predict(X) for model in self.estimators_]))

    def staged_predict(self, X):
        """Predictions after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        answers = np.array([model.predict(X) for model in self.estimators_])
        for t in range(len(self.estimators_)):
            yield self._median(answers[: t + 1])
