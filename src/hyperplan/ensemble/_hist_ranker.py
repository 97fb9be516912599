"""Histogram gradient boosting for ranking; the objective is stated in `_trees.ranking`, the trees' in `_hist_base`."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from hyperplan._base import (
    ArrayLike,
    Bool,
    Choice,
    Int,
    Null,
    OneOf,
    Real,
    check_consistent_length,
    check_weight,
)
from hyperplan._base.callbacks import with_callbacks
from hyperplan._trees.boosting_sampling import make_sampler
from hyperplan._trees.ranking import Judged, Ndcg, PairShape, QuerySample, RankingBooster, ranking_loss
from hyperplan.ensemble._hist_base import COMMON_PARAMS, HistGradientBoosting
from hyperplan.ensemble._hist_monitor import Monitor
from hyperplan.ensemble._hist_queries import check_relevance, gain_table, gains, hold_out_queries, query_codes


class RankedRows(NamedTuple):
    """Checked rows and the query of each."""

    X: Any
    y: Any
    weight: Any
    codes: Any


class NdcgMonitor(Monitor):
    """Watches the NDCG of the training and validation queries."""

    def __init__(self, estimator, booster, held):
        self.estimator, self.booster, self.held = estimator, booster, held
        self.train, self.validation = [], []
        if held is not None:
            _, y, weight, codes, self.raw = held
            self.ndcg = Ndcg(codes, gains(y, gain_table(estimator.label_gain)), estimator.ndcg_at, weight)

    def record(self) -> bool:
        """Append the NDCG of the current scores; True when it is time to stop."""
        self.train.append(self.booster.ndcg.mean(self.booster.raw[0]))
        if self.held is not None:
            self.validation.append(self.ndcg.mean(self.raw[0]))
        return self._stalled(self.train if self.held is None else self.validation)


class HistGradientBoostingRanker(HistGradientBoosting):
    """Gradient boosting of histogram trees that ranks the rows of a query.

    Rows come in queries (a search and its documents, a user and the items shown); `predict` gives scores, and within
    a query rows of larger score come first.  With relevance y, scores s and sigma > 0, the objectives are

    - 'pairwise' (RankNet): the sum of ``log(1 + exp(-sigma (s_i - s_j)))`` over pairs of a query with y_i > y_j;
    - 'lambdamart': the derivatives of these terms, each times |change of the NDCG if the two rows swapped their ranks|.

    Each round fits a tree to these first and second derivatives.  Queries whose rows are all equally relevant
    contribute nothing.  Stops after `max_iter` rounds, or when the mean NDCG of held-out queries has not improved by
    more than `tol` for `n_iter_no_change` rounds.

    Parameters
    ----------
    objective : {'lambdamart', 'pairwise'}, default='lambdamart'
        See above.
    ndcg_at : int or None, default=10
        `score` and early stopping look at so many ranks (None: all).
    truncation : int or None, default=30
        Only pairs with at least one row among so many first ranks, by the scores so far, count.  None looks at all
        pairs of a query, in time quadratic in its length (never in memory).
    normalize : bool, default=True
        'lambdamart' divides each pair by 0.01 + |s_i - s_j| and the derivatives of a query by about their sum, such
        that neither pairs far apart nor large queries dominate; False gives the formulas of Burges (2010).
    sigma : float, default=1.0
        Steepness of the logistic function.
    label_gain : array-like, default=None
        Gain of relevance 0, 1, 2, ... in the NDCG; None means ``2^y - 1``.
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
        1, 0 or -1 per feature: scores must increase, may do anything, must decrease.
    interaction_cst : {'pairwise', 'no_interactions'} or sequence of sequences of int, default=None
        Groups of features that may meet on a path of a tree.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add to them.
    early_stopping : 'auto' or bool, default='auto'
        Whether to watch held-out queries; 'auto' does for more than 10 000 rows in at least two queries.
    validation_fraction : int, float or None, default=0.1
        How many of the queries are held out; None watches the training queries.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        What counts as improvement.
    verbose : int, default=0
        1 prints every tenth round, 2 every round.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out queries, of the rows that bins are computed from, and of drawn features and queries.
    growth : {'leaf', 'level', 'oblivious'}, default='leaf'
        Split the leaf of largest gain first, or level by level, or with one test for all nodes of a level.
    leaf_cost : float, default=0.0
        Cost beta of a leaf: a split must lower the second-order objective by more.
    min_hessian : float, default=1e-3
        Sum of second derivatives of a leaf at least.
    subsample : float, default=1.0
        Share of queries drawn for each round.
    sampling : {'goss', 'mvs'} or None, default=None
        None draws whole queries with the same probability; 'goss' and 'mvs' draw rows by their derivatives.
    top_rate, other_rate : float, default=0.2 and 0.1
        Shares of all rows for 'goss': largest gradients, and those drawn from the others.
    mvs_lambda : float, default=0.1
        Part of the second derivatives in the probabilities of 'mvs'.
    max_conflict_rate : float or None, default=0.0
        Exclusive feature bundling: sparse features (one-hot columns, say) share a column of the histograms if they are
        away from their most frequent bin together in at most this share of the rows.  With 0 the trees are the same,
        only sooner there; None does without.  Not used for oblivious trees.

    Attributes
    ----------
    do_early_stopping_ : bool
        Whether held-out queries were watched.
    n_iter_ : int
        Number of rounds.
    n_trees_per_iteration_ : int
        Trees of a round: 1.
    train_score_, validation_score_ : ndarray
        Mean NDCG before the first round and after each one; empty without early stopping.
    is_categorical_ : ndarray of bool or None
        Which features are categorical.
    feature_importances_ : ndarray of shape (n_features,)
        Sums of the gains of the splits on each feature, divided by their sum; see `importances`.
    certificate_ : Certificate
        The gains of all splits add up to the drop of the second-order objective; with the NDCG of the training queries.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, if X had names.

    Notes
    -----
    The NDCG averages over the orders of equal scores, and is 0 for a query without relevant rows, as in
    scikit-learn's ``ndcg_score``.  While fitting, equal scores are ranked in an arbitrary, fixed order, whatever the
    order of the rows in X.

    The weight of a pair is the product of its rows' weights over the mean weight of the query: equal weights in a
    query multiply what the query counts, rows of weight 0 do not take part.

    References
    ----------
    Burges (2010), From RankNet to LambdaRank to LambdaMART: an overview.  Järvelin, Kekäläinen (2002), Cumulated
    gain-based evaluation of IR techniques.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import HistGradientBoostingRanker
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(600, 3)), np.repeat(np.arange(30), 20)
    >>> y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0, 2.0])
    >>> model = HistGradientBoostingRanker(max_iter=30).fit(X, y, qid=qid)
    >>> bool(model.score(X, y, qid=qid) > 0.95), model.certificate_.holds
    (True, True)
    """

    scoring = "ndcg"  # what early stopping watches; not a parameter
    _params = {
        "objective": Choice("lambdamart", "pairwise"),
        "ndcg_at": OneOf(Int(ge=1), Null),
        "truncation": OneOf(Int(ge=1), Null),
        "normalize": Bool,
        "sigma": Real(gt=0),
        "label_gain": OneOf(ArrayLike, Null),
        **{name: rule for name, rule in COMMON_PARAMS.items() if name != "scoring"},
    }

    def __init__(
        self,
        objective="lambdamart",
        *,
        ndcg_at=10,
        truncation=30,
        normalize=True,
        sigma=1.0,
        label_gain=None,
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
    ):
        self.objective = objective
        self.ndcg_at = ndcg_at
        self.truncation = truncation
        self.normalize = normalize
        self.sigma = sigma
        self.label_gain = label_gain
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

    @with_callbacks
    def fit(
        self, X, y, *, group=None, qid=None, sample_weight=None,
        X_val=None, y_val=None, group_val=None, qid_val=None, sample_weight_val=None,
    ):  # fmt: skip
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows; NaN is missing.
        y : array-like of shape (n_samples,)
            Relevance: 0 (irrelevant), 1, 2, ...
        group : array-like of shape (n_queries,), default=None
            Sizes of the queries, whose rows follow each other in X.
        qid : array-like of shape (n_samples,), default=None
            Query of each row, in any order.  Without `group` and `qid`, all rows belong to one query.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        X_val, y_val : array-like, default=None
            Rows to watch for early stopping; by default some of the training queries are set aside.
        group_val, qid_val : array-like, default=None
            Their queries.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit((X, y, sample_weight, qid, group), (X_val, y_val, sample_weight_val, qid_val, group_val))

    def _training_rows(self, X, y, sample_weight, qid=None, group=None):
        (X, y, weight), columns, target = super()._training_rows(X, y, sample_weight)
        return RankedRows(X, y, weight, query_codes(X.shape[0], qid, group)), columns, target

    def _validation_rows(self, columns, target, X, y, weight, qid=None, group=None):
        rows = super()._validation_rows(columns, target, X, y, weight)
        if rows is None:
            return None
        return RankedRows(rows.X, rows.y, rows.weight, query_codes(rows.X.shape[0], qid, group, "_val"))

    def _encode_target(self, y):
        y = check_relevance(y)
        gains(y, gain_table(self.label_gain))
        return y, {}

    def _encode_held_target(self, y, target):
        y = check_relevance(y, "y_val")
        gains(y, gain_table(self.label_gain), "y_val")
        return y

    def _boosting_loss(self, target, rows):
        return ranking_loss(self.objective)

    def _is_watchful(self, rows):
        return super()._is_watchful(rows) and rows.codes.max() > 0

    def _set_aside(self, rows, seed, loss):
        train, held = hold_out_queries(rows.codes, self.validation_fraction, seed)

        def part(index):
            codes = np.unique(rows.codes[index], return_inverse=True)[1]
            return RankedRows(rows.X[index], rows.y[index], None if rows.weight is None else rows.weight[index], codes)

        return part(train), part(held), train

    def _row_metadata(self, rows):
        return {"qid": rows.codes}

    def _booster(self, data, rows, loss, constraints, raw, seed):
        sampler = make_sampler(self.sampling, self.subsample, self.top_rate, self.other_rate, self.mvs_lambda)
        if sampler is None and self.subsample < 1.0:
            sampler = QuerySample(rows.codes, float(self.subsample))
        truncation = data.n_samples if self.truncation is None else min(self.truncation, data.n_samples)
        swaps = self.objective == "lambdamart"
        shape = PairShape(float(self.sigma), truncation, swaps, swaps and bool(self.normalize))
        judged = Judged(rows.codes, rows.y, gains(rows.y, gain_table(self.label_gain)), rows.weight)
        return RankingBooster(
            data, judged, loss, shape, self.ndcg_at, self._growth_options(), constraints, raw,
            learning_rate=self.learning_rate, seed=seed, sampler=sampler,
        )  # fmt: skip

    def _monitor(self, booster, rows, watched, attributes, seed):
        return NdcgMonitor(self, booster, watched)

    def _boost(self, *arguments):
        result = super()._boost(*arguments)
        plain = result["certificate_"]
        drops = {name: plain.details[name] for name in ("drop at the leaves", "sum of gains")}
        cut = "" if self.ndcg_at is None else f"@{self.ndcg_at}"
        ndcg = {
            f"training NDCG{cut} of equal scores": 1.0 - plain.details["training loss of the constant"],
            f"training NDCG{cut} of the ensemble": 1.0 - plain.details["training loss of the ensemble"],
        }
        return {**result, "certificate_": dataclasses.replace(plain, details={**drops, **ndcg})}

    def predict(self, X):
        """Scores of rows: within a query, rows of larger score come first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rank.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores; only their differences within a query have a meaning.
        """
        return self._raw_predict(X)[0]

    def staged_predict(self, X):
        """Scores after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rank.

        Yields
        ------
        scores : ndarray of shape (n_samples,)
            Scores by the first 1, 2, ... rounds.
        """
        for raw in self._staged_raw_predict(X):
            yield raw[0]

    def score(self, X, y, *, group=None, qid=None, sample_weight=None):
        """Mean of the queries' NDCG at `ndcg_at`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rank.
        y : array-like of shape (n_samples,)
            Their relevance.
        group : array-like of shape (n_queries,), default=None
            Sizes of the queries, whose rows follow each other in X.
        qid : array-like of shape (n_samples,), default=None
            Query of each row.  Without `group` and `qid`, all rows belong to one query.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights: a query counts by its mean weight, rows of weight 0 are left out.

        Returns
        -------
        ndcg : float
            Between 0 and 1.
        """
        scores = self.predict(X)
        y = check_relevance(self._checked_target(y))
        check_consistent_length(scores, y)
        codes = query_codes(scores.shape[0], qid, group)
        weight = check_weight(sample_weight, scores)
        return Ndcg(codes, gains(y, gain_table(self.label_gain)), self.ndcg_at, weight).mean(scores)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags
