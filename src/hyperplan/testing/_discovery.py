"""Which estimators there are."""

import importlib
import inspect

FAMILIES = ("linear_model", "svm", "preprocessing", "optimize", "tree", "ensemble")
TYPES = ("classifier", "regressor", "transformer", "cluster", "outlier_detector", "ranker")


def all_estimators(type_filter=None):
    """Every estimator with an algorithm of ours that a family exports; re-exported ones of scikit-learn do not count.

    Parameters
    ----------
    type_filter : str or None
        "classifier", "regressor", "transformer", "cluster", "outlier_detector" or "ranker"; None keeps all.

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
            if is_estimator and thing.__module__.startswith("hyperplan."):
                found[name] = thing
    return sorted((name, cls) for name, cls in found.items() if type_filter is None or _is_a(cls, type_filter))


def _is_a(cls, kind):
    return hasattr(cls, "transform") if kind == "transformer" else cls().__sklearn_tags__().estimator_type == kind
