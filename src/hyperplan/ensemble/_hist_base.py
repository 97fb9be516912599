"""What the histogram boosting estimators share: fit and raw predictions.

With l the loss, F_0 the best constant and T_m the tree of round m,

    F_M(x) = F_0 + eta sum_m T_m(x),
    T_m minimises  sum_i g_i T(x_i) + h_i T(x_i)^2 / 2 + lambda/2 sum_j w_j^2 + beta J

greedily over trees with J leaves of values w_j, where g and h are the derivatives of l at F_{m-1}.
"""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    Seed,
    check_array,
    check_consistent_length,
    check_is_fitted,
    check_params,
    check_random_state,
    check_weight,
    column_or_1d,
    holdout_split,
)
from hyperplan._base.callbacks import CallbackSupportMixin, FitTask, with_callbacks
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._trees.binned_predictor import add_trees, make_predictor, predict_raw
from hyperplan._trees.binning import SAMPLE, BinMap, bin_rows, fit_bins
from hyperplan._trees.boosting import Booster
from hyperplan._trees.boosting_losses import BoostingLoss, baseline
from hyperplan._trees.boosting_sampling import make_sampler
from hyperplan._trees.histogram import UNLIMITED, Constraints, GrowthOptions
from hyperplan.ensemble._hist_importances import ImportancesMixin
from hyperplan.ensemble._hist_input import (
    Columns,
    apply_columns,
    categorical_mask,
    category_counts,
    interaction_groups,
    learn_columns,
    monotone_directions,
)
from hyperplan.ensemble._hist_monitor import Monitor
from hyperplan.ensemble._hist_presets import PresetsMixin
from hyperplan.ensemble._target_statistics import encode_rows, encode_training, learn_statistics, row_order

AUTO_ROWS = 10_000  # early_stopping="auto" starts above
Fraction = Is(lambda v: isinstance(v, float | np.floating) and 0.0 < v <= 1.0, "a float in the range (0.0, 1.0]")

COMMON_PARAMS = {
    "learning_rate": Real(gt=0),
    "max_iter": Int(ge=1),
    "max_leaf_nodes": OneOf(Int(ge=2), Null),
    "max_depth": OneOf(Int(ge=1), Null),
    "min_samples_leaf": Int(ge=1),
    "l2_regularization": Real(ge=0),
    "max_features": Fraction,
    "max_bins": Int(ge=2, le=255),
    "monotonic_cst": OneOf(ArrayLike, Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
    "interaction_cst": OneOf(
        Is(lambda v: isinstance(v, list | tuple), "an instance of 'list' or 'tuple'"),
        Choice("pairwise", "no_interactions", None),
    ),
    "n_iter_no_change": Int(ge=1),
    "validation_fraction": OneOf(
        Is(lambda v: isinstance(v, float | np.floating) and 0.0 < v < 1.0, "a float in the range (0.0, 1.0)"),
        Int(ge=1),
        Null,
    ),
    "tol": Real(ge=0),
    "categorical_features": OneOf(ArrayLike, Choice("from_dtype", None)),
    "warm_start": Bool,
    "early_stopping": OneOf(Choice("auto"), Bool),
    "scoring": Is(lambda v: v is None or isinstance(v, str) or callable(v), "a str, a callable or None"),
    "verbose": OneOf(Int(ge=0), Bool),
    "random_state": Seed,
    "growth": Choice("leaf", "level", "oblivious"),
    "leaf_cost": Real(ge=0),
    "min_hessian": Real(ge=0),
    "subsample": Fraction,
    "sampling": Choice("goss", "mvs", None),
    "top_rate": Real(ge=0, lt=1),
    "other_rate": Real(gt=0, le=1),
    "mvs_lambda": Real(ge=0),
    "max_conflict_rate": OneOf(Real(ge=0, lt=1), Null),
}
CATEGORY_PARAMS = {
    "categorical_encoding": Choice("native", "ordered", "auto"),
    "target_smoothing": Real(gt=0),
    "n_permutations": Int(ge=1),
    "unseen_category": Choice("missing", "error", "prior"),
}


class Model(NamedTuple):
    """A fitted ensemble: `trees[m][k]` is the tree of round m for output k."""

    loss: BoostingLoss
    baseline: np.ndarray
    bin_map: BinMap
    trees: list
    columns: Columns


class Rows(NamedTuple):
    """Checked rows; any part may be missing for validation."""

    X: Any
    y: Any
    weight: Any


class HistGradientBoosting(PresetsMixin, ImportancesMixin, CallbackSupportMixin, BaseEstimator):
    """Base of the estimators; a child encodes targets (`_encode_target`) and names its loss (`_boosting_loss`)."""

    _known_raw = None  # set on copies that stand in for the estimator when a scorer is asked during the fit
    # what estimators without these parameters do
    categorical_encoding, target_smoothing, n_permutations, unseen_category = "native", 1.0, 1, "missing"

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows; NaN is missing.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        X_val, y_val : array-like, default=None
            Rows to watch for early stopping; by default some of the training rows are set aside.
        sample_weight_val : array-like, default=None
            Weights of the validation rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit((X, y, sample_weight), (X_val, y_val, sample_weight_val))

    def _fit(self, training, validation):
        """Fit to (X, y, sample_weight, ...) and maybe watch (X_val, y_val, sample_weight_val, ...)."""
        # 1 parameters
        check_params(self)
        previous = self._model if self.warm_start and hasattr(self, "_model") else None
        seed = self._seed if previous is not None else int(self._fresh_seed())
        # 2 data
        rows, columns, target = self._training_rows(*training)
        held = self._validation_rows(columns, target, *validation)
        constraints = self._constraints(target, columns)
        loss = self._boosting_loss(target, rows)
        stops = self._is_watchful(rows) if self.early_stopping == "auto" else bool(self.early_stopping)
        taken = None
        if stops and held is None and self.validation_fraction is not None:
            rows, held, taken = self._set_aside(rows, seed, loss)
        task = self._task(training, taken, rows, target)
        # 3 maths
        rows, held, columns = self._with_statistics(rows, held if stops else None, columns, loss)
        bin_map, views = self._bins(rows, columns, seed, previous)
        start = baseline(loss, rows.y, rows.weight) if previous is None else previous.baseline
        model = Model(loss, start, bin_map, [] if previous is None else list(previous.trees), columns)
        constraints = self._expanded(constraints, columns)
        result = self._boost(model, rows, views, held, constraints, seed, target, stops, task)
        # 4 attributes
        vars(self).update(result, **target, do_early_stopping_=stops, is_categorical_=columns.is_categorical)
        self.n_trees_per_iteration_ = loss.n_outputs
        self._model, self._seed, self._cache = model, seed, []
        self._fitted_with_sw = training[2] is not None
        return self

    def _is_watchful(self, rows):
        """What early_stopping="auto" means for these rows."""
        return rows.X.shape[0] > AUTO_ROWS

    def _fresh_seed(self):
        return check_random_state(self.random_state).randint(np.iinfo(np.uint32).max, dtype="u8")

    def _training_rows(self, X, y, sample_weight):
        X, columns = self._columns(X)
        y, target = self._encode_target(self._checked_target(y))
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, X)
        return Rows(X, y, self._weights(weight, y, target)), columns, target

    def _columns(self, X):
        """The training table with codes of categories, and how further tables become numbers."""
        previous = self._model.columns if self.warm_start and hasattr(self, "_model") else None
        if previous is not None and previous.is_categorical is not None:  # the trees so far know their own codes
            return apply_columns(self, X, previous._replace(statistics=None)), previous
        mask = categorical_mask(X, self.categorical_features)
        return learn_columns(self, X, mask, self.max_bins)

    def _checked_target(self, y):
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)
        return y

    def _weights(self, weight, y, target):
        return weight

    def _validation_rows(self, columns, target, X, y, weight):
        if X is None and y is None:
            return None
        if y is None:
            raise ValueError("X_val is provided, but y_val was not provided.")
        if X is None:
            raise ValueError("y_val is provided, but X_val was not provided.")
        if self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. When passing X_val "
                "and y_val to fit, early_stopping should be set to either 'auto' or True."
            )
        X = apply_columns(self, X, columns)
        y = self._encode_held_target(self._checked_target(y), target)
        check_consistent_length(X, y)
        return Rows(X, y, check_weight(weight, X))

    def _encode_held_target(self, y, target):
        return self._encode_target(y)[0]

    def _constraints(self, target, columns):
        if self.monotonic_cst is not None and target.get("classes_", np.zeros(2)).shape[0] > 2:
            raise ValueError("monotonic constraints are not supported for multiclass classification.")
        directions = monotone_directions(self, self.monotonic_cst)
        if columns.is_categorical is not None and directions[columns.is_categorical].any():
            raise ValueError("Categorical features cannot have monotonic constraints.")
        return Constraints(directions, interaction_groups(self.interaction_cst, self.n_features_in_))

    def _set_aside(self, rows, seed, loss):
        stratify = loss.link in ("logit", "half_logit", "softmax")
        train, held = holdout_split(rows.y, self.validation_fraction, seed, stratify=stratify)

        def part(index):
            return Rows(rows.X[index], rows.y[index], None if rows.weight is None else rows.weight[index])

        return part(train), part(held), train

    def _task(self, training, taken, rows, target):
        """The report of this fit to callbacks: they see the training rows as the caller gave them, not as codes."""
        X, y, weight = training[:3]
        further = {} if weight is None else {"sample_weight": weight}

        def shown(value):
            from hyperplan._base.out_of_fold import take_rows  # seldom needed

            return value if taken is None else take_rows(value, taken)

        def metadata():
            return {**{name: shown(value) for name, value in further.items()}, **self._row_metadata(rows)} or None

        def attributes(model):
            return {**target, "_model": model, "_cache": []}

        return FitTask(self, lambda: shown(X), lambda: shown(y), metadata, self.max_iter, attributes)

    def _row_metadata(self, rows):
        """What a score of the training rows needs besides weights."""
        return {}

    def _with_statistics(self, rows, held, columns, loss):
        """Statistics of the target for columns that want them, learned from the training rows alone."""
        if columns.ordered is None:
            return rows, held, columns
        if columns.statistics is None:
            sizes = [len(columns.categories[j]) for j in columns.ordered]
            found = learn_statistics(
                rows.X, columns.ordered, sizes, rows.y, rows.weight, loss.n_outputs, self.target_smoothing
            )
            columns = columns._replace(statistics=found)
        held = None if held is None else held._replace(X=encode_rows(held.X, columns.statistics))
        return rows, held, columns

    def _expanded(self, constraints, columns):
        """Constraints of the encoded columns."""
        source = columns.feature_of_columns()
        if source is None:
            return constraints
        return Constraints(constraints.monotone[source], np.ascontiguousarray(constraints.groups[:, source]))

    def _bins(self, rows, columns, seed, previous):
        """Bins, and the training rows as bins: once, or for each order of rows that statistics look back on."""
        if columns.ordered is None:
            bin_map = self._fit_bins(rows.X, rows.weight, columns, seed) if previous is None else previous.bin_map
            return bin_map, [bin_rows(rows.X, bin_map)]
        bin_map, views = None if previous is None else previous.bin_map, []
        for permutation in range(self.n_permutations):
            order = row_order(seed, permutation, rows.X.shape[0])
            X = encode_training(rows.X, columns.statistics, rows.y, rows.weight, order)
            bin_map = self._fit_bins(X, rows.weight, columns, seed) if bin_map is None else bin_map
            views.append(bin_rows(X, bin_map))
        return bin_map, views

    def _fit_bins(self, X, weight, columns, seed):
        """Bins from the rows, or from a sample of them drawn by weight."""
        n, n_features = X.shape
        counts, sample = category_counts(columns, n_features), None
        if n > SAMPLE:
            p = None if weight is None else weight / weight.sum()
            sample, weight = check_random_state(seed).choice(n, SAMPLE, p=p, replace=True), None
            sample.sort()
        return fit_bins(X, self.max_bins, rows=sample, weight=weight, categories=counts)

    def _growth_options(self):
        max_leaves = UNLIMITED if self.max_leaf_nodes is None else self.max_leaf_nodes
        return GrowthOptions(
            max_leaves=max_leaves,
            max_depth=UNLIMITED if self.max_depth is None else self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_hessian=float(self.min_hessian),
            l2=float(self.l2_regularization),
            leaf_cost=float(self.leaf_cost),
            growth=self.growth,
            max_features=float(self.max_features),
            max_conflict_rate=self.max_conflict_rate,
        )

    def _boost(self, model, rows, views, held, constraints, seed, target, stops, task):
        """All rounds, each on one of the views by turns; `model.trees` grows.  Returns fitted attributes.

        Views differ in the statistics of categories: every one has its own raw predictions of the trees so far.
        """
        done = len(model.trees)
        if done > self.max_iter:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={done} when warm_start==True"
            )
        boosters = [
            self._booster(data, rows, model.loss, constraints, self._start(model, data), seed) for data in views
        ]
        held_data = None if held is None else bin_rows(held.X, model.bin_map)
        watched = None if held is None else (*held, self._start(model, held_data))
        attributes = {**target, "_model": model}
        monitor = self._monitor(boosters[0], rows, watched, attributes, seed) if stops else None
        if monitor and done:
            monitor.train, monitor.validation = list(self.train_score_), list(self.validation_score_)
        elif monitor:
            monitor.record()
        first_loss = boosters[0].mean_loss()
        task.begin(model)
        drops = np.zeros(2)
        with single_threaded_blas():  # once: entering it for every task or tree costs more than small trees do
            for iteration in range(done, self.max_iter):
                booster = boosters[iteration % len(boosters)]
                step = booster.step(iteration)
                model.trees.append(step.trees)
                drops += step.leaf_drop, step.gain_drop
                followers = [(other.data, other.raw) for other in boosters if other is not booster]
                followers += [] if watched is None else [(held_data, watched[-1])]
                if followers:
                    extra = make_predictor(step.trees, range(len(step.trees)), model.bin_map, model.loss.n_outputs)
                    for data, raw in followers:
                        add_trees(extra, data, 0, len(step.trees), raw)
                stalled = monitor.record() if monitor else False
                self._report(iteration, step, monitor)
                if task(model._replace(trees=list(model.trees))) or stalled:
                    break
        task.end(model)
        return {
            "train_score_": np.asarray(monitor.train if monitor else []),
            "validation_score_": np.asarray(monitor.validation if monitor else []),
            "certificate_": _certificate(drops, first_loss, boosters[0].mean_loss(), constraints),
        }

    def _booster(self, data, rows, loss, constraints, raw, seed):
        return Booster(
            data, rows.y, rows.weight, loss, self._growth_options(), constraints, raw,
            learning_rate=self.learning_rate, subsample=float(self.subsample), seed=seed,
            sampler=make_sampler(self.sampling, self.subsample, self.top_rate, self.other_rate, self.mvs_lambda),
        )  # fmt: skip

    def _monitor(self, booster, rows, watched, attributes, seed):
        return Monitor(self, booster, rows, watched, attributes, seed)

    def _start(self, model, data):
        raw = np.empty((model.loss.n_outputs, data.n_samples))
        raw[:] = model.baseline[:, None]
        if model.trees:
            add_trees(_predictor_of(model), data, 0, len(model.trees) * model.loss.n_outputs, raw)
        return raw

    def _report(self, iteration, step, monitor):
        if self.verbose < 1 or (self.verbose == 1 and (iteration + 1) % 10):
            return
        leaves = sum(tree.n_leaves for tree in step.trees)
        depth = max(int(tree.depth.max()) for tree in step.trees)
        text = f"[{iteration + 1}/{self.max_iter}] {len(step.trees)} tree, {leaves} leaves, max depth = {depth}"
        if monitor:
            text += f", train {'loss' if self.scoring == 'loss' else 'score'}: {abs(monitor.train[-1]):.5f}"
            text += f", val: {abs(monitor.validation[-1]):.5f}" if monitor.validation else ""
        print(text)

    def _raw_predict(self, X):
        """Raw predictions, (n_outputs, n_samples)."""
        if self._known_raw is not None:
            return self._known_raw
        check_is_fitted(self, "_model")
        X = apply_columns(self, X, self._model.columns)
        return predict_raw(self._cached_predictor(), X, self._model.baseline)

    def _cached_predictor(self):
        """The trees in their form for prediction, made at the first call."""
        if not self._cache:
            self._cache.append(_predictor_of(self._model))
        return self._cache[0]

    def _staged_raw_predict(self, X):
        """Raw predictions after each round."""
        check_is_fitted(self, "_model")
        model, k = self._model, self._model.loss.n_outputs
        data = bin_rows(apply_columns(self, X, model.columns), model.bin_map)
        raw = np.empty((k, data.n_samples))
        raw[:] = model.baseline[:, None]
        predictor = self._cached_predictor()
        for m in range(len(model.trees)):
            add_trees(predictor, data, m * k, (m + 1) * k, raw)
            yield raw.copy()

    @property
    def n_iter_(self):
        """Number of rounds."""
        check_is_fitted(self, "_model")
        return len(self._model.trees)

    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "_cache": []} if "_cache" in state else state

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _predictor_of(model):
    trees = [tree for round_trees in model.trees for tree in round_trees]
    outputs = np.tile(np.arange(model.loss.n_outputs), len(model.trees))
    return make_predictor(trees, outputs, model.bin_map, model.loss.n_outputs)


def _certificate(drops, first_loss, last_loss, constraints):
    leaf_drop, gain_drop = (float(drop) for drop in drops)
    error = abs(leaf_drop - gain_drop) / leaf_drop if leaf_drop > 0 else 0.0
    monotone = bool(constraints.monotone.any())
    return Certificate(
        kind="second-order identity",
        guarantee="the sum of the gains of all splits is the drop of the second-order objective that the leaves "
        "attain, so that rounding derivatives to integers did not distort the choice of splits",
        value=0.0 if monotone else error,
        bound=1e-3,
        assumption="no monotone constraints (they bound leaf values, and the identity is not checked)",
        reference="Chen, Guestrin (2016), XGBoost, equations 5 to 7",
        details={
            "drop at the leaves": leaf_drop,
            "sum of gains": gain_drop,
            "training loss of the constant": first_loss,
            "training loss of the ensemble": last_loss,
            "a round never raises the training loss": "for squared error without constraints and a learning rate <= 1",
        },
    )
