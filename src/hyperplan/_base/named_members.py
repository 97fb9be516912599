"""Ensembles of different estimators, each with a name: parameters, checks, fits and metadata of the members."""

import contextlib
import time

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from hyperplan._base.members import refuse_metadata

DROP = "drop"
NOT_A_LIST = "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples."
LINE = 70  # characters of a progress line


class NamedMembers(MetaEstimatorMixin, BaseEstimator):
    """A list ``estimators`` of (name, estimator); "drop" in the place of an estimator leaves it out."""

    _any_kind_of_member = False

    def _named(self) -> list:
        """The members as they will be used: what a subclass does without `estimators` is decided there."""
        return self.estimators

    @property
    def named_estimators(self):
        """The members before the fit, by name."""
        return Bunch(**dict(self._named()))

    def get_params(self, deep=True):
        """Parameters of the ensemble and, if `deep`, the members by name and their parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to look into the members.

        Returns
        -------
        params : dict
            Names and values.
        """
        params = super().get_params(deep=deep)
        if deep:
            with contextlib.suppress(TypeError, ValueError):  # a wrong list is reported by fit
                for name, member in self.estimators:
                    params[name] = member
                    inner = member.get_params(deep=True) if hasattr(member, "get_params") else {}
                    params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params):
        """Set parameters of the ensemble, replace members by name, or set ``name__parameter`` of a member.

        Parameters
        ----------
        **params : dict
            Names and values; "drop" as the value of a member's name leaves it out.

        Returns
        -------
        self : object
            The ensemble.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        with contextlib.suppress(TypeError, ValueError):
            replaced = {name: params.pop(name) for name, _ in self.estimators if name in params}
            if replaced:
                self.estimators = [(name, replaced.get(name, member)) for name, member in self.estimators]
        return super().set_params(**params)

    def _checked_members(self, fit_params) -> list:
        """(name, estimator) of the members that are not dropped; unknown keywords of fit are refused first."""
        others = {name: value for name, value in fit_params.items() if name != "sample_weight"}
        refuse_metadata(self, "fit", others)
        named = self._named()
        are_pairs = all(isinstance(item, tuple | list) and isinstance(item[0], str) for item in named)
        if len(named) == 0 or not are_pairs:
            raise ValueError(NOT_A_LIST)
        self._check_names([name for name, _ in named])
        kept = [(name, member) for name, member in named if not is_dropped(member)]
        if not kept:
            raise ValueError("All estimators are dropped. At least one is required to be an estimator.")
        if not self._any_kind_of_member:
            kind, accepts = ("classifier", is_classifier) if is_classifier(self) else ("regressor", is_regressor)
            for _, member in kept:
                if not accepts(member):
                    raise ValueError(f"The estimator {type(member).__name__} should be a {kind}.")
        return kept

    def _check_names(self, names):
        if len(set(names)) < len(names):
            raise ValueError(f"Names provided are not unique: {names!r}")
        if taken := sorted(set(names) & set(super().get_params(deep=False))):
            raise ValueError(f"Estimator names conflict with constructor arguments: {taken!r}")
        if ambiguous := [name for name in names if "__" in name]:
            raise ValueError(f"Estimator names must not contain __: got {ambiguous!r}")

    def _set_members(self, fitted):
        """Attributes about the fitted members, given as {name: estimator}."""
        self.__dict__.pop("feature_names_in_", None)
        self.estimators_ = list(fitted.values())
        self.named_estimators_ = Bunch(**{name: fitted.get(name, DROP) for name, _ in self._named()})
        for member in self.estimators_:
            if hasattr(member, "feature_names_in_"):
                self.feature_names_in_ = member.feature_names_in_

    @property
    def n_features_in_(self):
        """Number of columns seen in fit."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} object has no attribute n_features_in_") from error
        return self.estimators_[0].n_features_in_

    def get_metadata_routing(self):
        """Where metadata goes: the keywords of fit to the fits of the members that asked for them.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        router = MetadataRouter(owner=self)
        for name, member in self._named():
            router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        with contextlib.suppress(Exception):  # a wrong list is reported by fit
            inner = [get_tags(member).input_tags for _, member in self._named() if not is_dropped(member)]
            tags.input_tags.allow_nan = all(tag.allow_nan for tag in inner)
            tags.input_tags.sparse = all(tag.sparse for tag in inner)
        return tags


def is_dropped(member) -> bool:
    """Whether a place in the list was given up."""
    return isinstance(member, str) and member == DROP


def member_fit_params(ensemble, names, params) -> dict:
    """{name: keywords of its fit}: all get `sample_weight`; with metadata routing, each what it asked for."""
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(ensemble, "fit", **params)
        return {name: dict(routed[name]["fit"]) for name in names}
    return {name: dict(params) for name in names}


def fitted_copy(estimator, X, y, params, *, report=""):
    """A clone of the estimator, fitted; `report` is printed with the seconds that it took."""
    model, began = clone(estimator), time.perf_counter()
    try:
        model.fit(X, y, **params)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" in str(error):
            name = type(estimator).__name__
            raise TypeError(f"Underlying estimator {name} does not support sample weights.") from error
        raise
    if report:
        label, _, message = report.partition(" ")
        ending = f" {message}, total={time.perf_counter() - began:6.1f}s"
        print(f"{label} {'.' * (LINE - len(label) - 1 - len(ending))}{ending}")
    return model


def input_names(estimator, input_features=None, *, generate=True):
    """Names of the columns that went in: those given if they fit, those seen in fit, or x0, x1, ..."""
    seen = getattr(estimator, "feature_names_in_", None)
    count = getattr(estimator, "n_features_in_", None)
    if input_features is None:
        return [f"x{i}" for i in range(count or 0)] if seen is None and generate else seen
    given = np.asarray(input_features, dtype=object)
    if seen is not None and not np.array_equal(seen, given):
        raise ValueError("input_features is not equal to feature_names_in_")
    if count is not None and len(given) != count:
        raise ValueError(f"input_features should have length equal to number of features ({count}), got {len(given)}")
    return given
