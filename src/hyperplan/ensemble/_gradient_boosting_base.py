"""What gradient boosting of classes and of numbers share: parameters, data, the first model, stages, predictions."""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    check_weight,
    clone,
    column_or_1d,
    is_classifier,
)
from hyperplan._trees.exact_span import MAX_INT, Growth
from hyperplan.ensemble._gradient_boosting_stages import (
    History,
    Options,
    Reporter,
    Rows,
    Stages,
    Watch,
    loss_certificate,
    run_stages,
)
from hyperplan.ensemble._gradient_boosting_walk import pack, walk
from hyperplan.tree import DecisionTreeRegressor
from hyperplan.tree._decision_tree_base import COMMON_PARAMS, feature_count, row_count

DEPRECATED = (
    "The parameter `criterion` is deprecated and will be removed in 1.11. It has no effect. Leave it to its default "
    "value to avoid this warning."
)
TREE_PARAMS = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_impurity_decrease",
    "max_features",
    "max_leaf_nodes",
    "ccp_alpha",
)


def first_model(*methods):
    """Rule for `init`: None, "zero" or an estimator with these methods."""
    names = " and ".join(repr(method) for method in methods)
    able = Is(
        lambda value: all(callable(getattr(value, name, None)) for name in methods), f"an object implementing {names}"
    )
    return OneOf(Choice("zero"), Null, able)


BOOSTING_PARAMS = {
    **{name: COMMON_PARAMS[name] for name in TREE_PARAMS},
    "random_state": COMMON_PARAMS["random_state"],
    "learning_rate": Real(ge=0),
    "n_estimators": Int(ge=1),
    "criterion": Choice("squared_error", "friedman_mse", "deprecated"),
    "subsample": Real(gt=0, le=1),
    "verbose": OneOf(Int(ge=0), Bool),
    "warm_start": Bool,
    "validation_fraction": Real(gt=0, lt=1),
    "n_iter_no_change": OneOf(Int(ge=1), Null),
    "tol": Real(ge=0),
}


class BaseGradientBoosting(BaseEstimator):
    """Stages of regression trees; the subclasses say what the targets and the loss are."""

    def fit(self, X, y, sample_weight=None, monitor=None):
        """Run the stages.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; compared as float32.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out of the trees.
        monitor : callable, default=None
            ``monitor(i, self, locals)`` after stage i; fitting stops when it returns True.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        if self.criterion != "deprecated":
            warnings.warn(DEPRECATED, FutureWarning, stacklevel=2)
        # 2 data
        X, y, _ = check_training(self, X, y, accept_sparse=("csr", "csc", "coo"), dtype=np.float32, multi_output=True)
        X = X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)
        weight = check_weight(sample_weight, X, allow_negative=True)
        y, described = self._targets(column_or_1d(y, warn=True), weight)
        train, held_out = self._split(X, y, weight)
        # 3 maths
        start = self._start(train, described, weighted=weight is not None)
        stages = self._stages(train, start, described)
        run_stages(stages, self.n_estimators, self._observers(stages, start, described, held_out, monitor))
        # 4 attributes
        self._publish(stages, start, described)
        self.certificate_ = loss_certificate(stages, start["raw"].T)
        return self

    def _observers(self, stages, start, described, held_out, monitor):
        """Functions of (stage number, its trees) that are called after each stage; True asks to stop."""
        found = []
        if self.verbose:
            sampled = self.subsample < 1.0
            found.append(Reporter(self.verbose, self.n_estimators, stages.history, sampled))
        if monitor is not None:

            def watched(i, trees):
                self._publish(stages, start, described)
                return monitor(i, self, {"i": i, "stages": stages, "X": stages.rows.X, "y": stages.rows.y})

            found.append(watched)
        if held_out is not None:
            found.append(self._watch(held_out, stages, start, described))
        return found

    def _split(self, X, y, weight):
        """Training rows and, for early stopping, validation rows: tuples X, y, weight."""
        full = np.ones(X.shape[0]) if weight is None else weight
        if self.n_iter_no_change is None:
            return (X, y, full), None
        from hyperplan._base import train_test_split

        stratify = y if is_classifier(self) else None
        options = {"random_state": self.random_state, "test_size": self.validation_fraction, "stratify": stratify}
        X, X_val, y, y_val, full, full_val = train_test_split(X, y, full, **options)
        if is_classifier(self) and np.unique(y).shape[0] != np.unique(np.concatenate([y, y_val])).shape[0]:
            raise ValueError(
                "The training data after the early stopping split is missing some classes. Try using another random "
                "seed."
            )
        return (X, y, full), (X_val, y_val, full_val)

    def _start(self, train, described, weighted):
        """First model, its raw predictions, the history so far and the random numbers: new, or from a warm start."""
        X, y, weight = train
        old = getattr(self, "estimators_", np.empty((0, 0)))
        if self.warm_start and old.shape[0]:
            if self.n_estimators < old.shape[0]:
                raise ValueError(
                    f"n_estimators={self.n_estimators} must be larger or equal to estimators_.shape[0]={old.shape[0]} "
                    "when warm_start==True"
                )
            trees = [[model.tree_ for model in stage] for stage in old]
            oob, improvement = getattr(self, "oob_scores_", None), getattr(self, "oob_improvement_", None)
            seeds = [[model.random_state for model in stage] for stage in old]
            history = History(trees, seeds, self.train_score_, oob, improvement)
            return {"init": self.init_, "raw": self._raw(X), "history": history, "rng": self._rng}
        init = self._first_model(described) if self.init is None else self.init
        if init is not self.init or init != "zero":
            init = self._fit_first(clone(init) if hasattr(init, "get_params") else init, X, y, weight, weighted)
        raw = self._first_raw(init, X, described["loss"], described["n_trees"])
        return {"init": init, "raw": raw, "history": History(), "rng": check_random_state(self.random_state)}

    def _fit_first(self, init, X, y, weight, weighted):
        if not weighted:
            return init.fit(X, y)
        message = f"The initial estimator {type(init).__name__} does not support sample weights."
        try:
            return init.fit(X, y, sample_weight=weight)
        except TypeError as error:
            if "unexpected keyword argument 'sample_weight'" in str(error):
                raise ValueError(message) from error
            raise
        except ValueError as error:
            if "stepname__parameter" in str(error):  # a pipeline
                raise ValueError(message) from error
            raise

    def _first_raw(self, init, X, loss, n_trees):
        """Raw predictions (n, n_trees) of the first model."""
        if isinstance(init, str):
            return np.zeros((X.shape[0], n_trees))
        constant = self.init is None
        rows = X[:1] if constant else X
        answers = init.predict_proba(rows) if is_classifier(self) else init.predict(rows)
        raw = loss.raw_of(answers)
        if raw.shape != (rows.shape[0], n_trees):
            raise ValueError(f"the first model answers in the shape {raw.shape}, {(rows.shape[0], n_trees)} is needed")
        return np.repeat(raw, X.shape[0], axis=0) if constant else raw

    def _stages(self, train, start, described):
        X, y, weight = train
        n, d = X.shape
        leaf = row_count(self.min_samples_leaf, n)
        growth = Growth(
            max_depth=MAX_INT if self.max_depth is None else self.max_depth,
            min_samples_split=max(2, row_count(self.min_samples_split, n), 2 * leaf),
            min_samples_leaf=leaf,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=feature_count(self.max_features, d),
            max_leaf_nodes=self.max_leaf_nodes or 0,
        )
        options = Options(
            growth,
            self.min_weight_fraction_leaf,
            self.ccp_alpha,
            self.learning_rate,
            self.subsample,
            self.n_iter_no_change,
            self.tol,
        )
        rows = Rows(X, y, weight, np.array(start["raw"].T, order="C"))
        return Stages(rows, described["loss"], options, start["history"], start["rng"])

    def _watch(self, held_out, stages, start, described):
        X, y, weight = held_out
        fresh = not start["history"].trees
        raw = self._first_raw(start["init"], X, described["loss"], described["n_trees"]) if fresh else self._raw(X)
        return Watch(Rows(X, y, weight, np.array(raw.T, order="C")), stages)

    def _publish(self, stages, start, described):
        """Set the fitted attributes to the state after the last stage."""
        history, n_features = stages.history, stages.rows.X.shape[1]
        for name, value in described["attributes"].items():
            setattr(self, name, value)
        self.init_, self._rng, self._loss = start["init"], start["rng"], stages.loss
        self.n_trees_per_iteration_ = described["n_trees"]
        self.max_features_ = feature_count(self.max_features, n_features)
        self.estimators_ = self._models(history, n_features)
        self.n_estimators_ = len(history.trees)
        self.train_score_ = np.array(history.train)
        for name in ("oob_scores_", "oob_improvement_", "oob_score_"):
            if hasattr(self, name):
                delattr(self, name)
        if history.oob is not None:
            self.oob_scores_, self.oob_improvement_ = np.array(history.oob), np.array(history.improvement)
            self.oob_score_ = history.oob[-1]
        self._packed = self._pack()

    def _models(self, history, n_features):
        """Tree objects of all stages; those of earlier stages stay the same objects."""
        old = getattr(self, "estimators_", np.empty((0, 0)))
        models = np.empty((len(history.trees), len(history.trees[0])), dtype=object)
        options = {name: getattr(self, name) for name in TREE_PARAMS}
        for i, stage in enumerate(history.trees):
            for j, tree in enumerate(stage):
                if i < old.shape[0] and j < old.shape[1] and old[i, j].tree_ is tree:
                    models[i, j] = old[i, j]
                    continue
                model = DecisionTreeRegressor(random_state=history.seeds[i][j], **options)
                model.n_features_in_, model.n_outputs_, model.max_features_ = n_features, 1, self.max_features_
                model.tree_ = tree
                models[i, j] = model
        return models

    def _pack(self):
        """All trees as one set of arrays, with the tree objects and the learning rate that went in."""
        n_trees = self.estimators_.shape[1]
        models = tuple(self.estimators_.ravel())
        trees = [model.tree_ for model in models]
        columns = [np.full(tree.node_count, i % n_trees) for i, tree in enumerate(trees)]
        return models, self.learning_rate, pack(trees, columns, [self.learning_rate * t.value[:, 0, 0] for t in trees])

    def _packed_now(self):
        """The packed trees; packed anew if the trees or the learning rate are not those of the fit."""
        packed = getattr(self, "_packed", None)
        models = self.estimators_.ravel()
        same = packed is not None and packed[1] == self.learning_rate and len(packed[0]) == models.shape[0]
        if same and all(a is b for a, b in zip(packed[0], models)):
            return packed[2]
        return self._pack()[2]

    def _raw(self, X):
        """Raw predictions (n, n_trees_per_iteration_) of checked rows."""
        raw = self._first_raw(self.init_, X, self._loss, self.n_trees_per_iteration_)
        return walk(self._packed_now(), X, raw)

    def _checked_rows(self, X):
        check_is_fitted(self)
        return check_design(self, X, dtype=np.float32, order="C", accept_sparse="csr")

    def _staged_raw(self, X):
        X = self._checked_rows(X)
        packed, width = self._packed_now(), self.n_trees_per_iteration_
        raw = self._first_raw(self.init_, X, self._loss, width)
        for i in range(self.estimators_.shape[0]):
            yield walk(packed, X, raw, i * width, (i + 1) * width).copy()

    def __len__(self):
        """Return the number of stages."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return the trees of one stage."""
        return self.estimators_[index]

    def __iter__(self):
        """Go through the stages."""
        return iter(self.estimators_)

    def apply(self, X):
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators, n_trees_per_iteration_)
            Numbers of nodes.
        """
        X = self._checked_rows(X)
        leaves = np.zeros((X.shape[0], *self.estimators_.shape))
        for i, stage in enumerate(self.estimators_):
            for j, model in enumerate(stage):
                leaves[:, i, j] = model.tree_.apply(X)
        return leaves

    @property
    def feature_importances_(self):
        """Decrease of the squared error of the residuals that each feature brought, as shares of the total."""
        check_is_fitted(self)
        trees = [model.tree_ for stage in self.estimators_ for model in stage if model.tree_.node_count > 1]
        if not trees:
            return np.zeros(self.n_features_in_)
        mean = np.mean([tree.compute_feature_importances(normalize=False) for tree in trees], axis=0)
        return mean / mean.sum()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
