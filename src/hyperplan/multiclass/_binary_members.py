"""What the reductions to two classes share: fitting the members, asking them, parameters and metadata."""

import warnings

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    ClassifierMixin,
    Is,
    Jobs,
    MetadataRouter,
    MetaEstimatorMixin,
    MethodMapping,
    check_design,
    check_is_fitted,
    clone,
    is_classifier,
    is_regressor,
)
from hyperplan._base.member_certificates import gathered_certificate
from hyperplan._base.members import get_tags, is_own, member_map, refuse_metadata, routed_to_members
from hyperplan._base.out_of_fold import n_rows_of

CAN_FIT = Is(lambda value: hasattr(value, "fit"), "an object implementing 'fit'")
RAW = {"dtype": None, "ensure_all_finite": False}  # the members check values themselves


class ConstantAnswer(BaseEstimator):
    """Stands in for a member whose training rows had one label only."""

    def __init__(self, answer=0):
        self.answer = answer

    def fit(self, X, y=None):
        """Remember how many columns there are."""
        self._remember(X, reset=True)
        return self

    def _remember(self, X, reset=False):
        is_table = (X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim) == 2  # members may take rows of any kind
        check_design(self, X, reset=reset, ensure_2d=is_table, allow_nd=True, accept_sparse=True, **RAW)

    def predict(self, X):
        """The answer, for each row."""
        self._remember(X)
        return np.full(n_rows_of(X), self.answer)

    def decision_function(self, X):
        """The answer, for each row."""
        return self.predict(X)

    def predict_proba(self, X):
        """All probability on the answer."""
        positive = self.predict(X).astype(np.float64)
        return np.column_stack([1.0 - positive, positive])

    @property
    def certificate_(self):
        """Nothing was optimised."""
        return Certificate("constant answer", "all rows had the same label: no other answer fits better", 0.0, 0.0)


class BinaryMembers(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of several classes whose members tell two classes apart."""

    _params = {"estimator": CAN_FIT, "n_jobs": Jobs}

    def _keywords(self, method, params) -> dict:
        """Keywords for the members' `method`, by scikit-learn's metadata routing."""
        refuse_metadata(self, method, params)
        return dict(routed_to_members(self, method, params).get(method, {}))

    def _each(self, func, items) -> list:
        """``func`` of all items, in threads where that is safe."""
        return member_map(func, items, self.n_jobs, own=is_own(self.estimator))

    def _asked(self, func, X) -> np.ndarray:
        """Answers of all members as columns."""
        return np.column_stack(self._each(lambda member: np.ravel(func(member, X)), self.estimators_))

    def _copy_column_facts(self):
        """Number and names of columns, where the members know them."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))

    def _first_batch(self, classes, y, message) -> bool:
        """Whether `partial_fit` is called for the first time; labels it may not have are refused."""
        known = getattr(self, "classes_", None)
        if known is None and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if known is not None and classes is not None and not np.array_equal(known, np.unique(classes)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        all_classes = np.unique(classes) if known is None else known
        if len(np.setdiff1d(y, all_classes)):
            raise ValueError(message.format(np.unique(y), all_classes))
        self.classes_ = all_classes
        return known is None

    @property
    def n_classes_(self):
        """Number of classes."""
        return len(self.classes_)

    @property
    def certificate_(self):
        """That of the member closest to breaking its promise; only where all members have one."""
        check_is_fitted(self)
        return gathered_certificate(self.estimators_)

    def get_metadata_routing(self):
        """Where metadata goes: to the same method of the members.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        routes = MethodMapping().add(caller="fit", callee="fit")
        if hasattr(type(self), "partial_fit"):
            routes.add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=routes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def members_have(method):
    """Condition for methods that exist where the members have them; the members' own error is the reason."""

    def check(classifier):
        fitted = getattr(classifier, "estimators_", None)
        getattr(fitted[0] if fitted else classifier.estimator, method)
        return True

    return check


def fitted_member(estimator, X, y, params, names=None):
    """A copy of the estimator fitted to rows of two kinds; a constant where all are of one kind.

    `names` are the labels behind 0 (or -1) and 1, for the warning about a constant.
    """
    kinds = np.unique(y)
    if len(kinds) > 1:
        return clone(estimator).fit(X, y, **params)
    if names is not None:
        warnings.warn(f"Label {names[int(kinds[0] > 0)]} is present in all training examples.")
    return ConstantAnswer(kinds[0]).fit(X)


def member_score(member, X):
    """How much a member is for its second class: decision, else probability, else the value of a regressor."""
    if is_regressor(member):
        return member.predict(X)
    try:
        return np.ravel(member.decision_function(X))
    except (AttributeError, RuntimeError):  # the method is missing, or says that it is not there
        return member.predict_proba(X)[:, 1]


def threshold_of(member) -> float:
    """Above which score a member is for its second class."""
    return 0.0 if hasattr(member, "decision_function") and is_classifier(member) else 0.5
