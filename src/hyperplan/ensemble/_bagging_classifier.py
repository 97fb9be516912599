"""Bagged classifiers: ``argmax over classes of (1/T) sum over t = 1..T of p_t(x)``, each p_t fitted to a random sample.

p_t are class probabilities, or votes (0 or 1) of members without probabilities.
"""

import numpy as np

from hyperplan._base import ClassifierMixin, available_if, check_is_fitted, encode_labels
from hyperplan._base.members import refuse_metadata, routed_to_members
from hyperplan.ensemble._bagging_base import BaseBagging, member_has
from hyperplan.ensemble._bagging_members import class_shares, is_tree, log_shares
from hyperplan.ensemble._bagging_oob import out_of_bag_answers
from hyperplan.tree import DecisionTreeClassifier


class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Average of classifiers fitted to samples drawn from the training rows.

    Each member t = 1..T is a copy of `estimator` fitted to `max_samples` rows drawn with replacement (and
    `max_features` columns); the ensemble answers with the class of the largest mean probability, or of most votes.
    Averaging keeps the bias and lowers the variance to ``rho sigma^2 + (1 - rho) sigma^2 / T``: it helps members that
    vary much with the sample (deep trees), and can make classifiers that are worse than chance worse still.

    Stopping rule: `n_estimators` members are fitted.

    Parameters
    ----------
    estimator : object or None, default=None
        What to copy; None: `DecisionTreeClassifier`.
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
        Judge each row by the members that did not draw it; a callable ``score(y_true, y_pred)`` replaces the accuracy.
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
        The members; their classes are numbers, positions in `classes_`.
    estimators_samples_ : list of ndarrays
        Rows that each member drew.
    estimators_features_ : list of ndarrays
        Columns that each member drew.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Number of labels.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    oob_score_ : float
        Accuracy of the out-of-bag answers, over the rows that have one.  Only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Their class probabilities; NaN for rows that every member drew.  Only with `oob_score`.
    certificate_ : Certificate
        Decomposition of the ensemble's variance into rho, sigma^2 and T, with the Brier scores of members and ensemble,
        measured on at most 512 training rows, which the fitted object keeps for that.

    References
    ----------
    Breiman (1996), Bagging predictors, Machine Learning 24.  Ho (1998), The random subspace method for constructing
    decision forests.  Louppe, Geurts (2012), Ensembles on random patches.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import BaggingClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, X[:, 0] > 0)
    >>> model.oob_score_ > 0.95, model.certificate_.holds, model.oob_error_curve().shape
    (True, True, (30,))
    """

    def _get_estimator(self):
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _targets(self, y):
        labels = encode_labels(y, min_classes=1)
        return labels.codes, {"classes_": labels.classes, "n_classes_": labels.classes.shape[0]}

    def _target_numbers(self, codes):
        return np.eye(self.n_classes_)[codes]

    def _answer(self, crowd, t):
        return class_shares(crowd, t, self.n_classes_)

    def _set_oob_score(self, X, y):
        crowd = self._crowd_of(X)
        (batch,) = self._batches

        def wrong(total, count, known):
            return float((total[known].argmax(axis=1) != y[known]).mean())

        def answer(t, rows):
            return class_shares(crowd, t, self.n_classes_, rows=rows)

        found = out_of_bag_answers(crowd, batch.plan, batch.seeds, answer, wrong)
        known = found.known
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = found.total / found.total.sum(axis=1, keepdims=True)
        self.oob_decision_function_ = np.broadcast_to(shares, (y.shape[0], self.n_classes_)).copy()
        self._oob_curve = found.curve
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(self.classes_[y[known]], self.classes_[found.total[known].argmax(axis=1)])
        else:
            self.oob_score_ = float(1.0 - found.curve[-1])

    def predict(self, X, **params):
        """Class of the largest mean probability (the first of equals).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Keywords for the members' `predict_proba` (or `predict`), by metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        refuse_metadata(self, "predict", params)
        best = self.predict_proba(X, **params).argmax(axis=1)
        return self.classes_.take(best, axis=0)

    def predict_proba(self, X, **params):
        """Mean of the members' class probabilities; shares of votes where members have none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Keywords for the members' `predict_proba` (or `predict`), by metadata routing.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        crowd = self._crowd(X)
        routed = routed_to_members(self, "predict_proba", params)
        return crowd.total(lambda t: class_shares(crowd, t, self.n_classes_, routed)) / len(crowd.members)

    def predict_log_proba(self, X, **params):
        """Logarithm of the mean of the members' class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Keywords for the members' `predict_log_proba` (or `predict_proba`, or `predict`), by metadata routing.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms; -inf for classes without a share.
        """
        refuse_metadata(self, "predict_log_proba", params)
        check_is_fitted(self)
        if is_tree(self.estimator_) or not hasattr(self.estimator_, "predict_log_proba"):
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X, **params))
        crowd = self._crowd(X)
        routed = routed_to_members(self, "predict_log_proba", params)
        logs = crowd.total(lambda t: log_shares(crowd, t, self.n_classes_, routed), add=np.logaddexp)
        return logs - np.log(len(crowd.members))

    @available_if(member_has("decision_function"))
    def decision_function(self, X, **params):
        """Mean of the members' scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Keywords for the members' `decision_function`, by metadata routing.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, k)
            Scores.
        """
        crowd = self._crowd(X)
        routed = routed_to_members(self, "decision_function", params).get("decision_function")

        def answer(t):
            seen = getattr(crowd.members[t].model, "classes_", self.classes_)
            if len(seen) != self.n_classes_:
                raise ValueError(
                    f"estimator {t} saw only {len(seen)} of {self.n_classes_} classes in its sample, so that its "
                    "scores cannot be averaged: draw more rows (max_samples), or use predict_proba"
                )
            return crowd.ask(t, "decision_function", routed)

        return crowd.total(answer) / len(crowd.members)
