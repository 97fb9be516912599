"""Gradient boosting of trees for classes; losses in `_gradient_boosting_losses`."""

import numpy as np

from hyperplan._base import Choice, ClassifierMixin, encode_labels
from hyperplan.ensemble._gradient_boosting_base import BOOSTING_PARAMS, BaseGradientBoosting, first_model
from hyperplan.ensemble._gradient_boosting_losses import boosting_loss


class GradientBoostingClassifier(ClassifierMixin, BaseGradientBoosting):
    """Gradient boosting of regression trees for classes.

    Minimises the mean of ``log(1 + e^F) - y F`` (softmax log-loss for more classes) or of ``e^(-y F)`` over sums F of
    trees, one stage at a time: trees are fitted to the residuals by least squares, their leaves make a Newton step.

    Stopping rule: after `n_estimators` stages, when `n_iter_no_change` stages did not lower the validation loss by
    `tol`, or when `monitor` asks for it.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        Loss; "exponential" (AdaBoost's) is for two classes.
    learning_rate : float, default=0.1
        Factor of each tree.
    n_estimators : int, default=100
        Most stages.
    subsample : float, default=1.0
        Share of the rows drawn without replacement for the trees of a stage.
    criterion : {"friedman_mse", "squared_error"}, default="deprecated"
        Without effect: both are the same.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth, min_impurity_decrease, max_features, \
max_leaf_nodes, ccp_alpha
        Limits of the trees, see `DecisionTreeRegressor`; `max_depth` is 3 by default.
    init : estimator, "zero" or None, default=None
        First model (with `predict_proba`); None: the class shares.
    random_state : int, RandomState instance or None, default=None
        Seeds of the bags, of the trees (order of features, `max_features`) and of the validation rows.
    verbose : int, default=0
        1: report some stages, 2: all.
    warm_start : bool, default=False
        Go on from the last fit with more stages.
    validation_fraction : float, default=0.1
        Share of rows set aside for early stopping.
    n_iter_no_change : int or None, default=None
        Stages without progress before stopping; None: no early stopping.
    tol : float, default=1e-4
        What counts as progress.

    Attributes
    ----------
    n_estimators_ : int
        Stages.
    n_trees_per_iteration_ : int
        Trees of a stage: 1, or the number of classes if there are more than two.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the squared error of the residuals that each feature brought.
    oob_improvement_, oob_scores_ : ndarray of shape (n_estimators_,)
        Decrease of the loss of the rows outside of the bag, and that loss; only with ``subsample < 1``.
    oob_score_ : float
        The last of them.
    train_score_ : ndarray of shape (n_estimators_,)
        Loss of the rows in the bag after each stage (twice the mean of the binary log-loss).
    init_ : estimator or "zero"
        First model.
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, n_trees_per_iteration_)
        Trees.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Number of labels.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    max_features_ : int
        Features tried at each node.
    certificate_ : Certificate
        Training loss against that of the first model, and how many stages raised it.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine.  Friedman (2002), Stochastic gradient
    boosting.

    Examples
    --------
    >>> from hyperplan.ensemble import GradientBoostingClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "a"]
    >>> GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y).predict([[0.2], [1.4]]).tolist()
    ['a', 'b']
    """

    _params = {
        **BOOSTING_PARAMS,
        "loss": Choice("log_loss", "exponential"),
        "init": first_model("fit", "predict_proba"),
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    def _targets(self, y, weight):
        labels = encode_labels(y, min_classes=1)
        K = len(labels.classes)
        used = K if weight is None else int(np.count_nonzero(np.bincount(labels.codes, weight)))
        if used < 2:
            raise ValueError(
                f"y contains {used} class after sample_weight trimmed classes with zero weights, while a minimum of 2 "
                "classes are required."
            )
        if self.loss == "exponential" and K > 2:
            raise ValueError(
                f"loss='{self.loss}' is only suitable for a binary classification problem, you have n_classes={K}. "
                "Please use loss='log_loss' instead."
            )
        return labels.codes.astype(np.float64), {
            "loss": boosting_loss(self.loss, K),
            "n_trees": K if K > 2 else 1,
            "attributes": {"classes_": labels.classes, "n_classes_": K},
        }

    def _first_model(self, described):
        from hyperplan._base import DummyClassifier

        return DummyClassifier(strategy="prior")

    def _labels(self, raw):
        codes = (raw[:, 0] >= 0).astype(np.intp) if raw.shape[1] == 1 else raw.argmax(axis=1)
        return self.classes_.take(codes, axis=0)

    def decision_function(self, X):
        """Raw predictions F.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One number per row for two classes, else one per class.
        """
        raw = self._raw(self._checked_rows(X))
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_decision_function(self, X):
        """Raw predictions after each stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        scores : ndarray of shape (n_samples, n_trees_per_iteration_)
            Raw predictions.
        """
        yield from self._staged_raw(X)

    def predict(self, X):
        """Label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        return self._labels(self._raw(self._checked_rows(X)))

    def staged_predict(self, X):
        """Labels after each stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        for raw in self._staged_raw(X):
            yield self._labels(raw)

    def predict_proba(self, X):
        """Class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        raw = self._raw(self._checked_rows(X))
        return self._loss.shares_of(raw)

    def staged_predict_proba(self, X):
        """Class probabilities after each stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        for raw in self._staged_raw(X):
            yield self._loss.shares_of(raw)

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
