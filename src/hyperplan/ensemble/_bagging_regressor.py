"""Bagged regressors: ``(1/T) sum over t = 1..T of f_t(x)``, each f_t fitted to a random sample of the rows.

In squared error the average is never worse than its members on average: ``mean of (y - f_t)^2`` exceeds ``(y - f)^2``
by the spread ``mean of (f_t - f)^2``.
"""

import math

import numpy as np

from hyperplan._base import RegressorMixin, column_or_1d
from hyperplan._base.members import routed_to_members
from hyperplan._core.parallel import spans
from hyperplan.ensemble._bagging_base import BaseBagging
from hyperplan.ensemble._bagging_oob import out_of_bag_answers
from hyperplan.tree import DecisionTreeRegressor

ROWS_PER_BLOCK = 2**16  # rows for which the answers of all members are in memory together


class BaggingRegressor(RegressorMixin, BaseBagging):
    """Average of regressors fitted to samples drawn from the training rows.

    Each member t = 1..T is a copy of `estimator` fitted to `max_samples` rows drawn with replacement (and
    `max_features` columns); the ensemble answers with the mean.  Averaging keeps the bias and lowers the variance to
    ``rho sigma^2 + (1 - rho) sigma^2 / T``: it helps members that vary much with the sample (deep trees).

    Stopping rule: `n_estimators` members are fitted.

    Parameters
    ----------
    estimator : object or None, default=None
        What to copy; None: `DecisionTreeRegressor`.
    n_estimators : int, default=10
        Number of members T.
    max_samples : int, float or None, default=None
        Rows drawn per member: a number, a share of the rows (with `sample_weight`: of the sum of the weights), or None
        for as many as there are.
    max_features : int or float, default=1.0
        Columns drawn per member, as a number or a share.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw columns with replacement.
    oob_score : bool or callable, default=False
        Judge each row by the members that did not draw it; a callable ``score(y_true, y_pred)`` replaces R2.
    warm_start : bool, default=False
        Keep the members of the previous fit and add the missing ones.
    n_jobs : int or None, default=None
        Threads; the members do not depend on it.  None: all cores for estimators of this package, one thread for
        others.  Give a number if your estimator may run in threads: its copies share nothing but the data, and joblib
        inside them works sequentially.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the members' own `random_state`.
    verbose : int, default=0
        Above 1: say which member is being fitted.

    Attributes
    ----------
    estimator_ : object
        What was copied.
    estimators_ : list of estimators
        The members.
    estimators_samples_ : list of ndarrays
        Rows that each member drew.
    estimators_features_ : list of ndarrays
        Columns that each member drew.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    oob_score_ : float
        R2 of the out-of-bag predictions, over the rows that have one.  Only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the members that did not draw the row; NaN for rows that every member drew.  Only with
        `oob_score`.
    certificate_ : Certificate
        Decomposition of the ensemble's variance into rho, sigma^2 and T, with the squared errors of members and
        ensemble, measured on at most 512 training rows, which the fitted object keeps for that.

    References
    ----------
    Breiman (1996), Bagging predictors, Machine Learning 24.  Ho (1998), The random subspace method for constructing
    decision forests.  Louppe, Geurts (2012), Ensembles on random patches.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import BaggingRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, X[:, 0] ** 2)
    >>> low, high = model.predict_interval([[0.0, 0.0]], coverage=0.8)
    >>> bool(low[0] <= 0.1), bool(high[0] >= low[0]), model.oob_score_ > 0.8
    (True, True, True)
    """

    def _get_estimator(self):
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _targets(self, y):
        single = y.ndim == 1 or y.shape[1] == 1
        return (column_or_1d(y, warn=True) if single else y), {}

    def _target_numbers(self, y):
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)

    def _answer(self, crowd, t, rows=None):
        return np.asarray(crowd.ask(t, "predict", rows=rows), dtype=np.float64)

    def _set_oob_score(self, X, y):
        from hyperplan._base import r2_score

        crowd = self._crowd_of(X)
        (batch,) = self._batches
        target = self._target_numbers(y)

        def squared(total, count, known):
            return float(((total[known] / count[known, None] - target[known]) ** 2).mean())

        found = out_of_bag_answers(
            crowd, batch.plan, batch.seeds, lambda t, rows: self._answer(crowd, t, rows), squared
        )
        known = found.known
        mean = np.full(target.shape, np.nan)
        mean[known] = found.total[known] / found.count[known, None]
        prediction = mean.reshape(y.shape)
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_prediction_ = prediction
        self.oob_score_ = score(y[known], prediction[known]) if known.any() else np.nan
        self._oob_curve = found.curve
        self._oob_residuals = np.sort((target - mean)[known], axis=0)

    def predict(self, X, **params):
        """Mean of the members' predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Keywords for the members' `predict`, by metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        crowd = self._crowd(X)
        routed = routed_to_members(self, "predict", params).get("predict")
        return crowd.total(lambda t: crowd.ask(t, "predict", routed)) / len(crowd.members)

    def predict_interval(self, X, coverage=0.9, source="members"):
        """Interval around the prediction of each row, of one of two very different kinds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            Share between the ends.
        source : {"members", "oob"}, default="members"
            "members": quantiles of the members' predictions.  They show how much one member depends on its sample; they
            hold no noise of y and no bias, so that new observations fall inside less (or, for deep trees that follow
            the noise, more) often than `coverage`.  "oob": the prediction plus quantiles of the out-of-bag errors, for
            a new observation; about `coverage` of those fall inside on average over X if rows are exchangeable, with
            the same width everywhere.  Needs ``oob_score=True``.

        Returns
        -------
        low, high : ndarrays of the shape of the predictions
            Ends of the intervals.
        """
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
        if source not in ("members", "oob"):
            raise ValueError(f"source must be 'members' or 'oob', got {source!r}")
        if source == "members":
            return self._member_quantiles(X, [(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])
        prediction = self.predict(X)
        if not hasattr(self, "_oob_residuals"):
            raise ValueError("the out-of-bag errors are not known: fit with oob_score=True, or use source='members'")
        return tuple(prediction + end for end in _outer_errors(self._oob_residuals, coverage, prediction.ndim))

    def _member_quantiles(self, X, levels):
        crowd = self._crowd(X)
        parts = []
        for block in spans(crowd.X.shape[0], ROWS_PER_BLOCK):
            answers = crowd.all(lambda t, block=block: self._answer(crowd, t, block))
            parts.append(np.quantile(np.stack(answers), levels, axis=0))
        low, high = np.concatenate(parts, axis=1)
        return low, high


def _outer_errors(sorted_errors, coverage, ndim):
    """Order statistics of the errors between which a new one falls with probability `coverage` or more."""
    n = sorted_errors.shape[0]
    below = math.floor((n + 1) * (1.0 - coverage) / 2.0)
    low, high = sorted_errors[max(below - 1, 0)], sorted_errors[min(n - below, n - 1)]
    return (low, high) if ndim > 1 else (low[0], high[0])
