"""Histogram gradient boosting for regression; the objective is stated in `_hist_base`."""

import numpy as np

from hyperplan._base import Choice, Is, Null, OneOf, Real, RegressorMixin
from hyperplan._trees.boosting_losses import custom_loss, mean_of_raw, regression_loss
from hyperplan.ensemble._hist_base import CATEGORY_PARAMS, COMMON_PARAMS, HistGradientBoosting

LOSSES = ("squared_error", "absolute_error", "gamma", "poisson", "quantile", "huber")
OwnLoss = Is(
    lambda v: all(callable(getattr(v, name, None)) for name in ("value", "gradient", "curvature")),
    "an object with methods value, gradient and curvature",
)


class HistGradientBoostingRegressor(RegressorMixin, HistGradientBoosting):
    """Gradient boosting of histogram trees for regression.

    Adds trees one by one, each fitted to the first two derivatives of the loss at the current predictions.  Features
    are cut into at most 255 bins; missing values and categories need no preparation.  Stops after `max_iter` rounds, or
    when the score of held-out rows has not improved by more than `tol` for `n_iter_no_change` rounds.

    Parameters
    ----------
    loss : {'squared_error', 'absolute_error', 'gamma', 'poisson', 'quantile', 'huber'} or object, \
            default='squared_error'
        What is minimised.  'gamma' and 'poisson' are half deviances with a log link.  'huber' is quadratic for the
        share `quantile` (0.9 when None) of the smallest residuals and linear beyond.  An object with elementwise
        methods ``value(y, f)``, ``gradient(y, f)`` and ``curvature(y, f)`` is a loss of your own.
    quantile : float, default=None
        Level for 'quantile', share for 'huber'.
    learning_rate : float, default=0.1
        Factor of each tree.
    max_iter : int, default=100
        Number of rounds at most.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree at most.
    max_depth : int or None, default=None
        Depth of a tree at most.
    min_samples_leaf : int, default=20
        Rows of a leaf at least.
    l2_regularization : float, default=0.0
        Penalty lambda of squared leaf values.
    max_features : float, default=1.0
        Share of features drawn for each node.
    max_bins : int, default=255
        Bins of a feature, without the one for missing values.
    categorical_features : array-like of {bool, int, str}, 'from_dtype' or None, default='from_dtype'
        Mask, indices or names of categorical features; 'from_dtype' takes the categorical columns of a data frame.
    monotonic_cst : array-like of int or dict, default=None
        1, 0 or -1 per feature: predictions must increase, may do anything, must decrease.
    interaction_cst : {'pairwise', 'no_interactions'} or sequence of sequences of int, default=None
        Groups of features that may meet on a path of a tree.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add to them.
    early_stopping : 'auto' or bool, default='auto'
        Whether to watch held-out rows; 'auto' does for more than 10 000 rows.
    scoring : str, callable or None, default='loss'
        What is watched.
    validation_fraction : int, float or None, default=0.1
        How much is held out; None watches the training rows.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        What counts as improvement.
    verbose : int, default=0
        1 prints every tenth round, 2 every round.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out rows, of the rows that bins are computed from, and of drawn features and rows.
    growth : {'leaf', 'level', 'oblivious'}, default='leaf'
        Split the leaf of largest gain first, or level by level, or with one test for all nodes of a level (at most
        ``log2(max_leaf_nodes)`` levels, rounded, unless `max_depth` says otherwise).
    leaf_cost : float, default=0.0
        Cost beta of a leaf: a split must lower the second-order objective by more.
    min_hessian : float, default=1e-3
        Sum of second derivatives of a leaf at least.
    subsample : float, default=1.0
        Share of rows drawn for each round.
    sampling : {'goss', 'mvs'} or None, default=None
        How rows are drawn: None draws all with the same probability; 'goss' keeps those with the largest gradients and
        some of the others; 'mvs' draws with probabilities ``min(1, sqrt(g^2 + mvs_lambda h^2) / mu)`` that add up to
        `subsample` times the number of rows.  Both weight the rows such that sums of derivatives stay unbiased.
    top_rate, other_rate : float, default=0.2 and 0.1
        Shares of all rows for 'goss': largest gradients, and those drawn from the others, which count
        ``(1 - top_rate) / other_rate`` times.
    mvs_lambda : float, default=0.1
        Part of the second derivatives in the probabilities of 'mvs'.
    max_conflict_rate : float or None, default=0.0
        Exclusive feature bundling: sparse features (one-hot columns, say) share a column of the histograms if they are
        away from their most frequent bin together in at most this share of the rows.  With 0 the trees are the same,
        only sooner there; None does without.  Not used for oblivious trees.
    categorical_encoding : {'native', 'ordered', 'auto'}, default='native'
        How categories are split.  'native' looks for sets of categories, at most `max_bins` of them in a column.
        'ordered' replaces a category by the smoothed mean of the targets (for three classes and more: shares of each
        class) of the training rows that have it and come before the row in a random order; at prediction, by that of
        all training rows.  Any number of categories will do.  'auto' is 'ordered' for columns with more than `max_bins`
        categories, else 'native'.  Means are weighted by `sample_weight`; held-out rows have no part in them; a warm
        start keeps the categories and means of the first fit.
    target_smoothing : float, default=1.0
        How many rows at the overall mean count as much as is added to each category.
    n_permutations : int, default=4
        Number of random orders, which the rounds use by turns; each has its own copy of the binned training rows.
    unseen_category : {'missing', 'error', 'prior'}, default='missing'
        What a category is that the training rows did not have: a missing value, an error that names the row and the
        column, or (for columns with 'ordered' means) a category at the overall mean.

    Attributes
    ----------
    do_early_stopping_ : bool
        Whether held-out rows were watched.
    n_iter_ : int
        Number of rounds.
    n_trees_per_iteration_ : int
        Trees of a round: 1.
    train_score_, validation_score_ : ndarray
        Scores before the first round and after each one; empty without early stopping.
    is_categorical_ : ndarray of bool or None
        Which features are categorical.
    feature_importances_ : ndarray of shape (n_features,)
        Sums of the gains of the splits on each feature, divided by their sum; see `importances`.
    certificate_ : Certificate
        The gains of all splits add up to the drop of the second-order objective.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, if X had names.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine.  Chen, Guestrin (2016), XGBoost.
    Ke et al. (2017), LightGBM.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import HistGradientBoostingRegressor
    >>> X = np.linspace(0, 6, 300).reshape(-1, 1)
    >>> model = HistGradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99), model.certificate_.holds
    (True, True)
    """

    _params = {
        "loss": OneOf(Choice(*LOSSES), OwnLoss),
        "quantile": OneOf(Real(ge=0, le=1), Null),
        **COMMON_PARAMS,
        **CATEGORY_PARAMS,
    }

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        growth="leaf",
        leaf_cost=0.0,
        min_hessian=1e-3,
        subsample=1.0,
        sampling=None,
        top_rate=0.2,
        other_rate=0.1,
        mvs_lambda=0.1,
        max_conflict_rate=0.0,
        categorical_encoding="native",
        target_smoothing=1.0,
        n_permutations=4,
        unseen_category="missing",
    ):
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.growth = growth
        self.leaf_cost = leaf_cost
        self.min_hessian = min_hessian
        self.subsample = subsample
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.mvs_lambda = mvs_lambda
        self.max_conflict_rate = max_conflict_rate
        self.categorical_encoding = categorical_encoding
        self.target_smoothing = target_smoothing
        self.n_permutations = n_permutations
        self.unseen_category = unseen_category

    def _encode_target(self, y):
        y = np.ascontiguousarray(y, dtype=np.float64)
        if self.loss == "gamma" and not (y > 0).all():
            raise ValueError(f"loss='gamma' requires strictly positive y. {_first(y, ~(y > 0))}")
        if self.loss == "poisson" and not ((y >= 0).all() and y.sum() > 0):
            raise ValueError(f"loss='poisson' requires non-negative y and sum(y) > 0. {_first(y, y < 0)}")
        return y, {}

    def _boosting_loss(self, target, rows):
        if not isinstance(self.loss, str):
            return custom_loss(self.loss)
        if self.loss == "quantile" and self.quantile is None:
            raise ValueError("loss='quantile' needs its level: set quantile, for example to 0.5.")
        return regression_loss(self.loss, self.quantile)

    def predict(self, X):
        """Predicted targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predictions.
        """
        raw = self._raw_predict(X)
        return mean_of_raw(self._model.loss, raw)

    def staged_predict(self, X):
        """Predicted targets after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Yields
        ------
        y_pred : ndarray of shape (n_samples,)
            Predictions of the first 1, 2, ... rounds.
        """
        for raw in self._staged_raw_predict(X):
            yield mean_of_raw(self._model.loss, raw)


def _first(y, bad):
    """Words for the first bad target."""
    rows = np.flatnonzero(bad)
    return f"Row {rows[0]} has {y[rows[0]]:g}." if rows.size else "All are 0."
