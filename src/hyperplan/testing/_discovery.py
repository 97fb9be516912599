"""Which estimators there are."""

import importlib
import inspect

from hyperplan._base import ClassifierMixin
from hyperplan._base.named_members import NamedMembers
from hyperplan.linear_model import LogisticRegression, Ridge
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

FAMILIES = (
    *("linear_model", "svm", "preprocessing", "optimize", "tree", "ensemble"),
    *("kernels", "neighbors", "naive_bayes", "discriminant_analysis", "mixture", "multiclass", "calibration"),
    *("decomposition", "random_projection", "cluster", "manifold"),
)
TYPES = ("classifier", "regressor", "transformer", "cluster", "outlier_detector", "ranker")


def all_estimators(type_filter=None, *, composite=False):
    """Every estimator with an algorithm of ours that a family exports; re-exported ones of scikit-learn do not count.

    Each can be made without arguments, but for some of the composite ones: see `construct`.

    Parameters
    ----------
    type_filter : str or None
        "classifier", "regressor", "transformer", "cluster", "outlier_detector" or "ranker"; None keeps all.
    composite : bool, default=False
        Whether ensembles of other estimators given by name (votes, stacks, blends, super learners) and those that need
        one other estimator (reductions to two classes) are listed too.

    Returns
    -------
    estimators : list of (name, class)
        Sorted by name.

    Examples
    --------
    >>> from hyperplan.testing import all_estimators
    >>> "Lasso" in dict(all_estimators("regressor"))
    True
    """
    if type_filter is not None and type_filter not in TYPES:
        raise ValueError(f"type_filter must be one of {TYPES} or None, got {type_filter!r}")
    found = {}
    for family in FAMILIES:
        module = importlib.import_module(f"hyperplan.{family}")
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            is_estimator = inspect.isclass(thing) and hasattr(thing, "fit") and hasattr(thing, "get_params")
            is_ours = is_estimator and thing.__module__.startswith("hyperplan.")
            if is_ours and (composite or not is_composite(thing)):
                found[name] = thing
    return sorted((name, cls) for name, cls in found.items() if type_filter is None or _is_a(cls, type_filter))


def is_composite(cls) -> bool:
    """Whether a class cannot be made without other estimators."""
    return issubclass(cls, NamedMembers) or _needs_one(cls)


def _needs_one(cls):
    asked = inspect.signature(cls.__init__).parameters.get("estimator")
    return asked is not None and asked.default is inspect.Parameter.empty


def construct(cls, **options):
    """An estimator with the given options; a composite one that needs members gets a linear model and a tree.

    One whose number of components follows from the number of rows gets two: tables of tests are too small for it.

    >>> from hyperplan.ensemble import VotingClassifier
    >>> [name for name, _ in construct(VotingClassifier).estimators]
    ['linear', 'tree']
    """
    if issubclass(cls, NamedMembers) and "estimators" not in options:
        classify = issubclass(cls, ClassifierMixin)
        members = (LogisticRegression, DecisionTreeClassifier) if classify else (Ridge, DecisionTreeRegressor)
        options["estimators"] = [("linear", members[0]()), ("tree", members[1](max_depth=4, random_state=0))]
    components = inspect.signature(cls.__init__).parameters.get("n_components")
    if components is not None and components.default == "auto":
        options.setdefault("n_components", 2)
    if _needs_one(cls) and "estimator" not in options:
        options["estimator"] = LogisticRegression() if issubclass(cls, ClassifierMixin) else Ridge()
    return cls(**options)


def _is_a(cls, kind):
    return (
        hasattr(cls, "transform") if kind == "transformer" else construct(cls).__sklearn_tags__().estimator_type == kind
    )
