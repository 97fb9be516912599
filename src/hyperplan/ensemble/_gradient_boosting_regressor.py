"""Gradient boosting of trees for numbers; losses in `_gradient_boosting_losses`."""

import numpy as np

from hyperplan._base import Choice, Real, RegressorMixin
from hyperplan.ensemble._gradient_boosting_base import BOOSTING_PARAMS, BaseGradientBoosting, first_model
from hyperplan.ensemble._gradient_boosting_losses import boosting_loss


class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    """Gradient boosting of regression trees for numbers.

    Minimises the mean loss over sums F of trees, one stage at a time: trees are fitted to the residuals
    (minus the slope of the loss) by least squares, then their leaves take the value that lowers the loss most.

    Stopping rule: after `n_estimators` stages, when `n_iter_no_change` stages did not lower the validation loss by
    `tol`, or when `monitor` asks for it.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        Loss; "huber" is quadratic up to the `alpha`-quantile of the errors, "quantile" predicts the `alpha`-quantile.
    learning_rate : float, default=0.1
        Factor of each tree.
    n_estimators : int, default=100
        Most stages.
    subsample : float, default=1.0
        Share of the rows drawn without replacement for the tree of a stage.
    criterion : {"friedman_mse", "squared_error"}, default="deprecated"
        Without effect: both are the same.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth, min_impurity_decrease, max_features, \
max_leaf_nodes, ccp_alpha
        Limits of the trees, see `DecisionTreeRegressor`; `max_depth` is 3 by default.
    init : estimator, "zero" or None, default=None
        First model (with `predict`); None: the mean, median or quantile of y.
    random_state : int, RandomState instance or None, default=None
        Seeds of the bags, of the trees (order of features, `max_features`) and of the validation rows.
    alpha : float, default=0.9
        Level of "huber" and "quantile".
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
        Trees of a stage, 1.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the squared error of the residuals that each feature brought.
    oob_improvement_, oob_scores_ : ndarray of shape (n_estimators_,)
        Decrease of the loss of the rows outside of the bag, and that loss; only with ``subsample < 1``.
    oob_score_ : float
        The last of them.
    train_score_ : ndarray of shape (n_estimators_,)
        Loss of the rows in the bag after each stage (the mean squared error for "squared_error").
    init_ : estimator or "zero"
        First model.
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, 1)
        Trees.
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
    >>> from hyperplan.ensemble import GradientBoostingRegressor
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 10.0]
    >>> model = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=1.0).fit(X, y)
    >>> model.predict(X).tolist(), model.train_score_.tolist()
    ([2.0, 2.0, 2.0, 10.0], [0.5])
    """

    _params = {
        **BOOSTING_PARAMS,
        "loss": Choice("squared_error", "absolute_error", "huber", "quantile"),
        "init": first_model("fit", "predict"),
        "alpha": Real(gt=0, lt=1),
    }

    def __init__(
        self,
        *,
        loss="squared_error",
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
        alpha=0.9,
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
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    def _targets(self, y, weight):
        y = np.ascontiguousarray(y, dtype=np.float64)
        return y, {"loss": boosting_loss(self.loss, alpha=self.alpha), "n_trees": 1, "attributes": {}}

    def _first_model(self, described):
        from hyperplan._base import DummyRegressor

        if self.loss == "squared_error":
            return DummyRegressor(strategy="mean")
        return DummyRegressor(strategy="quantile", quantile=self.alpha if self.loss == "quantile" else 0.5)

    def predict(self, X):
        """Predicted numbers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        return self._raw(self._checked_rows(X))[:, 0]

    def staged_predict(self, X):
        """Predictions after each stage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        for raw in self._staged_raw(X):
            yield raw[:, 0]

    def apply(self, X):
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators_)
            Numbers of nodes.
        """
        return super().apply(X)[:, :, 0]
