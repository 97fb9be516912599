"""What the forests share: the average of m trees, each grown on its own draw of rows and features.

    f(x) = (1/m) sum_t f_t(x),   V = rho sigma^2 + (1 - rho) sigma^2 / m

where sigma^2 is the variance of one tree and rho the correlation of two trees' predictions.  Averaging keeps the bias
and removes the second term, so that trees are grown deep (low bias) and made different: by bootstrap samples, by
features drawn at each node, by random thresholds.
"""

from numbers import Integral
from numbers import Real as RealNumber
from warnings import warn

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    DataConversionWarning,
    Int,
    Is,
    Jobs,
    MultiOutputMixin,
    Null,
    OneOf,
    Seed,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    check_weight,
)
from hyperplan._core.parallel import thread_map
from hyperplan._trees import forest_walk
from hyperplan._trees.exact_span import MAX_INT, Growth
from hyperplan._trees.forest_record import Collector, nodes_of
from hyperplan._trees.nodes import importances
from hyperplan.ensemble._bagging_variance import decompose, variance_certificate
from hyperplan.ensemble._forest_grow import Draw, Engine, Setting, draw_size
from hyperplan.tree._decision_tree_base import COMMON_PARAMS, feature_count, refuse_infinite, row_count
from hyperplan.tree._decision_tree_record import Tree

TREE_PARAMS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
)
CERTIFIED_ROWS = 256  # rows that the variance of the trees is measured on
FOREST_PARAMS = {
    **{name: rule for name, rule in COMMON_PARAMS.items() if name in TREE_PARAMS},
    "random_state": Seed,
    "n_estimators": Int(ge=1),
    "bootstrap": Bool,
    "oob_score": OneOf(Bool, Is(callable, "a callable")),
    "n_jobs": Jobs,
    "verbose": OneOf(Int(ge=0), Bool),
    "warm_start": Bool,
    "max_samples": OneOf(
        Null,
        Int(ge=1),
        Is(
            lambda v: isinstance(v, RealNumber) and not isinstance(v, Integral) and v > 0,
            "a float in the range (0, inf)",
        ),
    ),
}
SPLITTER = Choice("auto", "exact", "histogram")


class BaseForest(MultiOutputMixin, BaseEstimator):
    """Growth, walks and out-of-bag estimates; subclasses name their tree class and say what the targets are."""

    _random = False  # thresholds

    def _fit_forest(self, X, y, sample_weight):
        # 1 parameters
        check_params(self)
        self._check_bootstrap()
        # 2 data
        X, y, weight = self._checked(X, y, sample_weight)
        kept = self._kept_trees()
        codes, attributes, draw_weight = self._encoded(y, weight)
        size = draw_size(X.shape[0], self.max_samples, draw_weight) if self.bootstrap else None
        draw = Draw(X.shape[0], size, draw_weight)
        setting = self._setting(X, codes, attributes)
        n_kept = 0 if kept is None else kept.roots.shape[0]
        seeds = self._seeds(n_kept)
        # 3 maths
        engine = Engine(X, codes, draw, setting, self.n_jobs) if len(seeds) > n_kept else None
        walk = kept if engine is None else self._grown(engine, seeds, kept)
        # 4 attributes
        for name, value in attributes.items():
            setattr(self, name, value)
        self.n_outputs_ = codes.shape[1]
        self.estimator_ = self._tree_class()
        self._seeds_, self._walk, self._draw = seeds, walk, draw
        self._engine_name = self._engine_name if engine is None else engine.name
        self._estimators = self._members = None
        self._n_classes = setting.n_classes
        self._remember(X, codes)
        self.certificate_ = self._certificate(X)
        if self.oob_score and (engine is not None or not hasattr(self, "oob_score_")):
            self._set_out_of_bag(X, codes)
        return self

    def _check_bootstrap(self):
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )
        if not self.bootstrap and self.oob_score:
            raise ValueError("Out of bag estimation only available if bootstrap=True")

    def _checked(self, X, y, sample_weight):
        if sp.issparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported.")
        options = {"multi_output": True, "dtype": np.float32, "ensure_all_finite": False}
        X, y, _ = check_training(self, X, y, accept_sparse="csc", **options)
        refuse_infinite(self, X)
        weight = check_weight(sample_weight, X, allow_negative=not self.bootstrap)
        y = np.atleast_1d(y)
        if y.ndim == 2 and y.shape[1] == 1:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
        return X, y.reshape(-1, 1) if y.ndim == 1 else y, weight

    def _kept_trees(self):
        """Trees of an earlier fit to go on from, or None."""
        kept = getattr(self, "_walk", None) if self.warm_start else None
        n_kept = 0 if kept is None else kept.roots.shape[0]
        if n_kept > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={n_kept} when "
                "warm_start==True"
            )
        if n_kept == self.n_estimators:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=4)
        return kept

    def _seeds(self, n_kept):
        """One seed per tree, the first ones those of an earlier fit."""
        rng = check_random_state(self.random_state)
        drawn = [int(seed) for seed in rng.randint(MAX_INT, size=self.n_estimators)]
        return [*(self._seeds_[:n_kept] if n_kept else []), *drawn[n_kept:]]

    def _setting(self, X, y, attributes) -> Setting:
        n, d = X.shape
        n_classes = attributes.get("n_classes_")
        n_classes = None if n_classes is None else np.atleast_1d(n_classes)
        leaf = row_count(self.min_samples_leaf, n)
        template = self._tree_class(monotonic_cst=self.monotonic_cst)
        growth = Growth(
            max_depth=MAX_INT if self.max_depth is None else self.max_depth,
            min_samples_split=max(2, row_count(self.min_samples_split, n), 2 * leaf),
            min_samples_leaf=leaf,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=feature_count(self.max_features, d),
            max_leaf_nodes=self.max_leaf_nodes or 0,
            random=self._random,
            monotone=template._monotone(d, _Outputs(n_classes if n_classes is not None else np.ones(y.shape[1]))),
        )
        return Setting(
            growth=growth,
            criterion=self.criterion,
            n_classes=n_classes,
            splitter=getattr(self, "splitter", "exact"),
            min_weight_fraction=self.min_weight_fraction_leaf,
            ccp_alpha=self.ccp_alpha,
            balanced=self.bootstrap and getattr(self, "class_weight", None) == "balanced_subsample",
        )

    def _grown(self, engine, seeds, kept):
        """The kept trees and those of the other seeds."""
        n_kept = 0 if kept is None else kept.roots.shape[0]
        collector = Collector(len(seeds), engine.weight_type, kept)

        def task(t):
            if self.verbose > 1:
                print(f"building tree {t - n_kept + 1} of {len(seeds) - n_kept}")
            collector.add(t, engine.grow(seeds[t]))

        thread_map(task, range(n_kept, len(seeds)), self.n_jobs)
        return collector.finished()

    def _nodes(self):
        """The trees one by one, as arrays."""
        return (nodes_of(self._walk, t) for t in range(self._walk.roots.shape[0]))

    def _remember(self, X, y):
        """Training data that later questions need; none by default."""

    def _certificate(self, X):
        step = max(1, X.shape[0] // CERTIFIED_ROWS)
        rows = X[::step][:CERTIFIED_ROWS] if not sp.issparse(X) else X.tocsr()[::step][:CERTIFIED_ROWS]
        answers = forest_walk.tree_values(self._walk, rows).transpose(1, 0, 2)
        return variance_certificate(decompose(answers), rows.shape[0])

    def _set_out_of_bag(self, X, y):
        """`oob_score_`, the out-of-bag answers and the curve over the number of trees."""
        rows = X.tocsr() if sp.issparse(X) else X
        outside = np.array(thread_map(lambda seed: self._draw.counts(seed) == 0, self._seeds_, self.n_jobs))
        n_classes = np.zeros(0, dtype=np.int64) if self._n_classes is None else self._n_classes.astype(np.int64)
        found = forest_walk.out_of_bag(self._walk, rows, y, n_classes, outside, self.n_jobs)
        if (found.count == 0).any():
            warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used to compute any "
                f"reliable OOB estimates. {int((found.count == 0).sum())} of {y.shape[0]} rows are in the sample of "
                "every tree and are left out of the score.",
                stacklevel=4,
            )
        self._set_oob_score(y, found.sums / np.maximum(found.count, 1)[:, None], found.count > 0)
        self._oob_curve = found.curve

    def oob_error_curve(self):
        """Out-of-bag error after 1, 2, ... trees: the share of wrong answers, or the mean squared error.

        Returns
        -------
        curve : ndarray of shape (n_estimators,)
            Averages over the rows that some tree did not see; NaN where there are none yet.  Needs a fit with
            `oob_score`.
        """
        check_is_fitted(self)
        if not hasattr(self, "_oob_curve"):
            raise ValueError("The out-of-bag curve is computed in fit: set oob_score=True (and bootstrap=True).")
        return self._oob_curve.copy()

    def _rows(self, X):
        check_is_fitted(self)
        allowed = not sp.issparse(X) and self.__sklearn_tags__().input_tags.allow_nan
        options = {"dtype": np.float32, "accept_sparse": "csr"}
        return check_design(self, X, ensure_all_finite="allow-nan" if allowed else True, **options)

    def apply(self, X):
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators)
            Node numbers within each tree.
        """
        return forest_walk.leaves(self._walk_of(), self._rows(X), self.n_jobs)

    def _walk_of(self):
        check_is_fitted(self)
        return self._walk

    def decision_path(self, X):
        """Nodes that each row passes in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where the row passes the node; the trees' nodes stand side by side.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Where the columns of each tree begin.
        """
        X = self._rows(X)
        paths = [tree.decision_path(X, check_input=False) for tree in self.estimators_]
        return sp.hstack(paths).tocsr(), np.cumsum([0, *(path.shape[1] for path in paths)])

    @property
    def estimators_(self):
        """The trees as estimators (made when first asked for)."""
        if getattr(self, "_walk", None) is None:
            raise AttributeError(f"This {type(self).__name__} instance has no trees yet: call fit first.")
        if self._estimators is None:
            self._estimators = [self._as_estimator(nodes, seed) for nodes, seed in zip(self._nodes(), self._seeds_)]
        return self._estimators

    def _as_estimator(self, nodes, seed):
        splitter = "random" if self._random else "best"
        options = {name: getattr(self, name) for name in TREE_PARAMS}
        tree = self._tree_class(splitter=splitter, random_state=seed, **options)
        n_classes = np.ones(self.n_outputs_, dtype=np.intp) if self._n_classes is None else self._n_classes
        tree.n_features_in_, tree.n_outputs_ = self.n_features_in_, self.n_outputs_
        tree.max_features_ = feature_count(self.max_features, self.n_features_in_)
        tree.tree_ = Tree(nodes, self.n_features_in_, n_classes)
        if self._n_classes is not None:
            labels = [np.arange(count, dtype=np.float64) for count in n_classes]
            several = self.n_outputs_ > 1
            tree.classes_, tree.n_classes_ = (labels, n_classes) if several else (labels[0], int(n_classes[0]))
        return tree

    @property
    def estimator(self):
        """An unfitted tree of the kind that is grown."""
        return self._tree_class()

    @property
    def estimators_samples_(self):
        """Rows that each tree drew (drawn again from its seed)."""
        check_is_fitted(self)
        return [self._draw.indices(seed) for seed in self._seeds_]

    @property
    def feature_importances_(self):
        """Impurity decrease that each feature brought, averaged over the trees, as shares of the total."""
        check_is_fitted(self)
        d, walk = self.n_features_in_, self._walk
        trees = np.flatnonzero(np.diff(walk.first_leaf) > 1)
        if trees.shape[0] == 0:
            return np.zeros(d)
        mean = np.mean(thread_map(lambda t: importances(nodes_of(walk, t), d), trees, self.n_jobs), axis=0)
        return mean / mean.sum()

    def __len__(self):
        """Number of trees."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Tree of this number."""
        return self.estimators_[index]

    def __iter__(self):
        """Over the trees."""
        return iter(self.estimators_)

    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "_estimators": None, "_members": None} if "_walk" in state else state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        template = self._tree_class(criterion=self.criterion, splitter="random" if self._random else "best")
        tags.input_tags.allow_nan = template.__sklearn_tags__().input_tags.allow_nan
        return tags


class _Outputs:
    """As much of the targets as the check of monotone constraints looks at."""

    def __init__(self, n_classes):
        self.n_classes = n_classes
