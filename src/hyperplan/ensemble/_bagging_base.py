"""What bagged classifiers and regressors share: parameters, fit, samples, certificate and metadata."""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Int,
    Is,
    Jobs,
    MetadataRouter,
    MetaEstimatorMixin,
    MethodMapping,
    Null,
    OneOf,
    Seed,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
)
from hyperplan._base.members import MAX_SEED, get_tags, refuse_metadata, routed_to_members
from hyperplan.ensemble._bagging_draws import Plan, columns_to_draw, draw, rows_to_draw
from hyperplan.ensemble._bagging_members import Crowd, Member, Training, fit_members, some_rows
from hyperplan.ensemble._bagging_variance import decompose, variance_certificate
from hyperplan.tree._decision_tree_base import fraction

MEASURED_ROWS, MEASURED_ENTRIES = 512, 2**20  # training rows kept for the certificate
RAW = {"dtype": None, "ensure_all_finite": False}  # the members check values themselves
CAN_PREDICT = Is(
    lambda value: all(callable(getattr(value, method, None)) for method in ("fit", "predict")),
    "an object implementing 'fit' and 'predict'",
)


class Batch(NamedTuple):
    """Members of one fit: a warm start adds a batch."""

    plan: Plan
    seeds: np.ndarray


def member_has(method):
    """Condition for methods that exist where the members have them."""

    def check(ensemble):
        fitted = getattr(ensemble, "estimators_", None)
        return hasattr(fitted[0] if fitted else ensemble._get_estimator(), method)

    return check


class BaseBagging(MetaEstimatorMixin, BaseEstimator):
    """Copies of one estimator, each fitted to rows and columns drawn at random; subclasses average their answers."""

    _params = {
        "estimator": OneOf(CAN_PREDICT, Null),
        "n_estimators": Int(ge=1),
        "max_samples": OneOf(Int(ge=1), fraction(closed=True), Null),
        "max_features": OneOf(Int(ge=1), fraction(closed=True)),
        "bootstrap": Bool,
        "bootstrap_features": Bool,
        "oob_score": OneOf(Bool, Is(callable, "a callable")),
        "warm_start": Bool,
        "n_jobs": Jobs,
        "random_state": Seed,
        "verbose": OneOf(Int(ge=0), Bool),
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the members.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the base estimator.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regressors
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows are drawn with probabilities proportional to these weights.  A weight of 2 means the same as two
            copies when rows are drawn with replacement and `max_samples` is a number.
        **fit_params : dict
            Keywords for the members' fit, by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        refuse_metadata(self, "fit", fit_params)
        random_state = check_random_state(self.random_state)
        # 2 data
        X, y, weight = check_training(self, X, y, sample_weight, multi_output=True, **RAW)
        y, attributes = self._targets(y)
        plan = self._plan(X, weight)
        old = self._kept_members()
        missing = self.n_estimators - len(old["estimators_"])
        if missing == 0:
            warnings.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
            return self
        # 3 maths
        random_state.randint(MAX_SEED, size=len(old["estimators_"]))  # the seeds of the members that are there
        batch = Batch(plan, random_state.randint(MAX_SEED, size=missing))
        params = dict(routed_to_members(self, "fit", fit_params).get("fit", {}))
        training = Training(self._get_estimator(), X, y, plan, params)
        fitted = fit_members(training, batch.seeds, self.n_jobs, self._report)
        # 4 attributes
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_", "_oob_curve", "_oob_residuals"):
            self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.estimator_ = training.estimator
        self.estimators_ = old["estimators_"] + [model for model, _ in fitted]
        self.estimators_features_ = old["estimators_features_"] + [columns for _, columns in fitted]
        self._batches = [*old["_batches"], batch]
        self._measured = some_rows(X, y, MEASURED_ROWS, MEASURED_ENTRIES)
        if self.oob_score:
            self._set_oob_score(X, y)
        return self

    def _plan(self, X, weight) -> Plan:
        n, d = X.shape
        if weight is not None and not self.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use bootstrap=True, got "
                f"{self.bootstrap}."
            )
        rows = rows_to_draw(self.max_samples, n, weight)
        if not self.bootstrap and rows > n:
            raise ValueError(
                f"Effective max_samples={rows} must be <= n_samples={n} to be able to sample without replacement."
            )
        columns = columns_to_draw(self.max_features, d)
        if not self.bootstrap and self.oob_score:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if self.warm_start and self.oob_score:
            raise ValueError("Out of bag estimate only available if warm_start=False")
        return Plan(n, d, rows, columns, bool(self.bootstrap), bool(self.bootstrap_features), weight)

    def _kept_members(self):
        """What a warm start adds to."""
        names = ("estimators_", "estimators_features_", "_batches")
        if not self.warm_start or not hasattr(self, "estimators_"):
            return {name: [] for name in names}
        if self.n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={len(self.estimators_)} "
                "when warm_start==True"
            )
        return {name: getattr(self, name) for name in names}

    def _report(self, t):
        if self.verbose > 1:
            print(f"Building estimator {t + 1} (total {self.n_estimators})...")

    def _members(self):
        as_they_are = [batch.plan.all_columns for batch in self._batches for _ in batch.seeds]
        drawn = zip(self.estimators_, self.estimators_features_, as_they_are)
        return [Member(model, None if plain else columns) for model, columns, plain in drawn]

    def _crowd(self, X):
        """The members and the rows X, checked."""
        check_is_fitted(self)
        return self._crowd_of(check_design(self, X, **RAW))

    def _crowd_of(self, X):
        return Crowd(self._members(), X, self.n_jobs)

    @property
    def estimators_samples_(self):
        """Row numbers that each member drew, drawn anew from its seed at each access."""
        check_is_fitted(self)
        return [draw(batch.plan, seed)[1] for batch in self._batches for seed in batch.seeds]

    @property
    def _max_samples(self):
        return self._batches[-1].plan.rows_drawn

    @property
    def certificate_(self):
        """Variance over training rows, ``rho sigma^2 + (1 - rho) sigma^2 / m``, measured at each access."""
        check_is_fitted(self)
        X, y = self._measured
        crowd = self._crowd_of(X)
        answers = crowd.all(lambda t: self._answer(crowd, t).reshape(X.shape[0], -1))
        return variance_certificate(decompose(np.stack(answers), self._target_numbers(y)), X.shape[0])

    def oob_error_curve(self):
        """Out-of-bag error of the first 1, 2, ..., n_estimators members.

        The share of wrong labels, or the mean squared error, of the rows that at least one of these members did not
        draw; NaN while there is no such row.  Needs ``oob_score=True``.

        Returns
        -------
        errors : ndarray of shape (n_estimators,)
            Errors.
        """
        check_is_fitted(self)
        if not hasattr(self, "_oob_curve"):
            raise ValueError("the out-of-bag errors are not known: fit with oob_score=True and bootstrap=True")
        return self._oob_curve.copy()

    def __len__(self):
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return one of the members."""
        return self.estimators_[index]

    def __iter__(self):
        """Go through the members."""
        return iter(self.estimators_)

    def get_metadata_routing(self):
        """Where metadata goes: to the method of the members that answers.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        member = self._get_estimator()
        shares = "predict_proba" if hasattr(member, "predict_proba") else "predict"
        logs = "predict_log_proba" if hasattr(member, "predict_log_proba") else shares
        routes = MethodMapping().add(caller="fit", callee="fit")
        routes.add(caller="decision_function", callee="decision_function")
        routes.add(caller="predict", callee=shares).add(caller="predict_proba", callee=shares)
        routes.add(caller="predict_log_proba", callee=logs)
        return MetadataRouter(owner=self).add(estimator=member, method_mapping=routes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._get_estimator()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags
