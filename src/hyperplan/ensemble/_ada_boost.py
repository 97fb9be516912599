"""AdaBoost for classes; the rounds and what they minimise are in `_ada_boost_rounds`."""

import warnings

import numpy as np

from hyperplan._base import (
    Bool,
    Choice,
    ClassifierMixin,
    Real,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    encode_labels,
    is_classifier,
)
from hyperplan._math.links import softmax
from hyperplan.ensemble._ada_boost_base import BaseAdaBoost
from hyperplan.ensemble._ada_boost_learners import (
    AnyLearner,
    Sampling,
    StumpLearner,
    float32_columns,
    is_stump,
)
from hyperplan.ensemble._ada_boost_rounds import (
    TWO_CLASSES,
    VARIANTS,
    Problem,
    boosting_certificate,
)
from hyperplan.ensemble._ada_boost_scores import REGRESSIONS, Adding, packed_learners, staged_scores
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor


class AdaBoostClassifier(ClassifierMixin, BaseAdaBoost):
    """AdaBoost: weak learners in a row, each on rows reweighted by the errors of its forerunners.

    Minimises the exponential loss ``mean exp(-y F(x))``, or the log-loss, of a sum F of weak learners, one at a time.

    Stopping rule: after `n_estimators` rounds, when a weak learner makes no error, or when one is not better than
    chance (it is dropped).

    Parameters
    ----------
    estimator : object, default=None
        Weak learner with `fit` and `predict`; None: a tree with one split.  Its `fit` must accept `sample_weight`
        unless `resample` is true.  "real" needs `predict_proba`; "gentle" and "logit" a regressor (for "gentle" also
        a classifier).
    n_estimators : int, default=50
        Most rounds.
    learning_rate : float, default=1.0
        Factor of each learner's weight.
    random_state : int, RandomState instance or None, default=None
        Seeds of the weak learners and of resampling.
    variant : {"samme", "discrete", "real", "gentle", "logit"}, default="samme"
        "samme": any number of classes; "discrete": the original for two classes, with weights ``1/2 log((1 - e) / e)``,
        in which a learner without error replaces all others; "real": learners answer with probabilities, at least
        ``1 / n_samples`` (SAMME.R for several classes); "gentle": least squares fits of the labels; "logit":
        LogitBoost, Newton steps of the log-loss.
    resample : bool, default=False
        Fit on rows drawn by weight instead of passing weights: for learners without `sample_weight`.
    trim : float, default=0.0
        In each round the lightest rows that together hold at most this share of the weight are left out of the fit.

    Attributes
    ----------
    estimator_ : object
        The weak learner that was copied.
    estimators_ : list
        Fitted weak learners.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Number of labels.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights in the sum, 0 for rounds that did not take place.
    estimator_errors_ : ndarray of shape (n_estimators,)
        Weighted training errors of the learners, 1 for rounds that did not take place.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of the learners' importances, if they have some.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        Training error against ``prod Z_t``; per round the errors and the factors Z_t, and ``exp(-2 sum gamma^2)``
        (`edge bound`, for ``gamma = 1/2 - error``) where it applies.

    Notes
    -----
    A sum of stumps is additive over the columns: interactions such as XOR need trees of depth 2 or more.  Choose the
    number of rounds on validation data, not on the test data.

    References
    ----------
    Freund, Schapire (1997), A decision-theoretic generalization of on-line learning and an application to boosting.
    Friedman, Hastie, Tibshirani (2000), Additive logistic regression.  Zhu, Zou, Rosset, Hastie (2009), Multi-class
    AdaBoost.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import AdaBoostClassifier
    >>> X, y = np.arange(10.0)[:, None], [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    >>> model = AdaBoostClassifier(n_estimators=3, variant="discrete", random_state=0).fit(X, y)
    >>> model.score(X, y), model.estimator_errors_.round(4).tolist()
    (1.0, [0.3, 0.2143, 0.1818])
    """

    _params = {
        **BaseAdaBoost._params,
        "variant": Choice(*VARIANTS),
        "resample": Bool,
        "trim": Real(ge=0, lt=1),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        variant="samme",
        resample=False,
        trim=0.0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.variant = variant
        self.resample = resample
        self.trim = trim

    def fit(self, X, y, sample_weight=None):
        """Run the rounds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights at the start; None: all the same.

        Returns
        -------
        self : AdaBoostClassifier
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        random_state = check_random_state(self.random_state)
        # 2 data
        X, y, weight = check_training(self, X, y, sample_weight, ensure_2d=True, allow_nd=True, dtype=None)
        labels = encode_labels(y, min_classes=1)
        self._check_classes(labels.classes)
        initial = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
        estimator = self._weak_learner()
        learner, kept = self._learner(estimator, X, y, labels, initial)
        # 3 maths
        problem = Problem(labels.codes[kept], initial[kept], len(labels.classes), self.n_estimators, self.learning_rate)
        variant = self.variant if len(labels.classes) > 1 else "samme"
        rounds = VARIANTS[variant](problem, learner, random_state)
        # 4 attributes
        self.classes_, self.n_classes_ = labels.classes, len(labels.classes)
        self.estimator_, self.estimators_ = estimator, rounds.models
        self.estimator_weights_, self.estimator_errors_ = np.zeros(self.n_estimators), np.ones(self.n_estimators)
        self.estimator_weights_[: len(rounds.models)] = rounds.weights
        self.estimator_errors_[: len(rounds.models)] = rounds.errors
        self.certificate_ = boosting_certificate(rounds, variant, self.n_classes_, self.learning_rate)
        self._adding = Adding(self.variant, labels.classes, problem.codes.shape[0])
        self._packed = packed_learners(rounds.models, rounds.weights, self._adding)
        if rounds.overflow >= 0:
            warnings.warn(
                f"Sample weights have reached infinite values, at iteration {rounds.overflow}, causing overflow. "
                "Iterations stopped. Try lowering the learning rate.",
                stacklevel=2,
            )
        return self

    def _check_classes(self, classes):
        if self.variant in TWO_CLASSES and len(classes) > 2:
            raise ValueError(
                f"variant={self.variant!r} is for two classes, the labels have {len(classes)}: use variant='samme' or "
                "variant='real'"
            )

    def _weak_learner(self):
        default = DecisionTreeRegressor if self.variant in REGRESSIONS else DecisionTreeClassifier
        estimator = default(max_depth=1) if self.estimator is None else self.estimator
        if self.variant == "logit" and is_classifier(estimator):
            raise ValueError(
                f"variant='logit' fits numbers: estimator must be a regressor, {type(estimator).__name__} is a "
                "classifier"
            )
        if self.variant == "real" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"variant='real' needs class probabilities, {type(estimator).__name__} has no predict_proba: use "
                "variant='samme'"
            )
        return estimator

    def _learner(self, estimator, X, y, labels, initial):
        """The weak learner for the rounds, and the rows that take part."""
        sampling = Sampling(bool(self.resample), float(self.trim))
        if len(labels.classes) == 1 and not is_classifier(estimator):  # nothing to fit, but labels may be no numbers
            estimator = DecisionTreeClassifier(max_depth=1)
        wanted = DecisionTreeRegressor if self.variant in REGRESSIONS else DecisionTreeClassifier
        if is_stump(estimator) and type(estimator) is wanted and X.ndim == 2 and len(labels.classes) > 1:
            columns = float32_columns(X)
            if columns is not None:
                kept = slice(None) if initial.all() else np.flatnonzero(initial)
                return StumpLearner(columns[kept], labels.codes[kept], labels.classes, sampling), kept
        return AnyLearner(estimator, X, y, labels.classes, sampling), slice(None)

    def _stages(self, X, whole):
        """Scores after each round, or after the last only (`whole`), with the sum of weights so far."""
        return staged_scores(X, self.estimators_, self.estimator_weights_, self._adding, self._packed, whole)

    def _decision(self, scores, total):
        """Scores as scikit-learn shows them: SAMME's are divided by the sum of weights (and twice the vote)."""
        if self.variant == "samme":
            return 2.0 * scores[:, 0] / total if self.n_classes_ == 2 else scores / total
        return scores[:, 0].copy() if self.n_classes_ == 2 else scores.copy()

    def _proba(self, decision):
        K = self.n_classes_
        if K == 2:
            doubled = decision if self.variant == "samme" else 2.0 * decision
            second = 1.0 / (1.0 + np.exp(-np.clip(doubled, -700.0, 700.0)))
            return np.column_stack([1.0 - second, second])
        return softmax(decision / (K - 1))

    def _labels(self, decision):
        codes = (decision > 0).astype(np.intp) if self.n_classes_ == 2 else decision.argmax(axis=1)
        return self.classes_.take(codes, axis=0)

    def decision_function(self, X):
        """Score of each row: F for two classes (the second class where positive), one column per class for more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Sums of the learners; for "samme" divided by the sum of their weights.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        if self.n_classes_ == 1:
            return np.zeros((X.shape[0], 1))
        return self._decision(*next(self._stages(X, whole=True)))

    def staged_decision_function(self, X):
        """Scores after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As from `decision_function`.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        if self.n_classes_ == 1:
            yield np.zeros((X.shape[0], 1))
            return
        for scores, total in self._stages(X, whole=False):
            yield self._decision(scores, total)

    def predict(self, X):
        """Label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels; the first one where two classes tie.
        """
        return self._labels(self.decision_function(X))

    def staged_predict(self, X):
        """Labels after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)

    def predict_proba(self, X):
        """Class probabilities: ``1 / (1 + exp(-2 F))`` for two classes, softmax of ``F / (n_classes - 1)`` for more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.  Those of "samme" come from the normalised scores, as in
            scikit-learn, and are nearer to 1/2 than the others'.
        """
        decision = self.decision_function(X)
        return np.ones_like(decision) if self.n_classes_ == 1 else self._proba(decision)

    def staged_predict_proba(self, X):
        """Class probabilities after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            As from `predict_proba`.
        """
        for decision in self.staged_decision_function(X):
            yield np.ones_like(decision) if self.n_classes_ == 1 else self._proba(decision)

    def predict_log_proba(self, X):
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        return np.log(self.predict_proba(X))
