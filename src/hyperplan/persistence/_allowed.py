"""What a model file may name: classes, types and functions.  A name that is not here is refused, never imported.

Ours are found by their name inside this package, and only estimators, records (named tuples, data classes, enums) and
the few plain classes listed below count.  scikit-learn's stand in a table (`hyperplan._base.plumbing`).  Anything else
must have been registered in this process by `register_class`.
"""

import dataclasses
import enum
import importlib
import inspect
import re

import numpy as np
import scipy.special

from hyperplan._base import BaseEstimator, plumbing
from hyperplan.persistence._errors import ModelFileError

NAME = re.compile(r"hyperplan(\.(?!__)[A-Za-z_]\w*)+", re.ASCII)
HOMES = (
    *("_base", "_core", "_math", "_solvers", "_trees"),
    *("linear_model", "svm", "preprocessing", "optimize", "tree", "ensemble"),
    *("kernels", "neighbors", "naive_bayes", "discriminant_analysis", "mixture", "multiclass", "calibration"),
    *("decomposition", "random_projection", "cluster", "manifold"),
    *("metrics", "model_selection", "evaluation", "compete"),
)
PLAIN = {  # classes of ours that are neither estimators nor records
    "hyperplan._core.trace.Trace",
    "hyperplan.linear_model._least_squares._State",
    "hyperplan.tree._decision_tree_record.Tree",
    "hyperplan.tree._categorical_tree.CategoricalTree",
    "hyperplan.tree._oblique.ObliqueTree",
    "hyperplan.tree._surrogates.SurrogateTree",
    *(f"hyperplan.kernels.{name}" for name in ("AdditiveChiSquared", "BSpline", "ChiSquared", "Constant", "Cosine")),
    *(f"hyperplan.kernels.{name}" for name in ("FromFunction", "Laplacian", "Linear", "Normalized", "OnColumns")),
    *(f"hyperplan.kernels.{name}" for name in ("Polynomial", "Precomputed", "Product", "RBF", "Radial", "Scaled")),
    *(f"hyperplan.kernels.{name}" for name in ("Sigmoid", "Spectrum", "Sum")),
}
MOVED: dict[str, str] = {}  # names of earlier versions, and what they are called now
OWN_FUNCTIONS = ("hyperplan.ensemble._hist_input._as_floats",)
TYPES = {
    **{f"builtins.{kind.__name__}": kind for kind in (bool, int, float, complex, str, bytes, object)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"),
            *("float16", "float32", "float64", "complex64", "complex128", "str_", "bytes_", "object_"),
            *("datetime64", "timedelta64", "number", "integer", "signedinteger", "unsignedinteger", "floating"),
        )
    },
}
NUMPY_FUNCTIONS = (
    *("abs", "arcsinh", "arctan", "cbrt", "ceil", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "log"),
    *("log10", "log1p", "log2", "negative", "positive", "rad2deg", "reciprocal", "rint", "sign", "sin", "sinh", "sqrt"),
    *("square", "tan", "tanh", "ravel", "nan_to_num", "mean", "median", "sum", "max", "min", "std", "var"),
)
FUNCTIONS = {
    **{f"numpy.{name}": getattr(np, name) for name in NUMPY_FUNCTIONS},
    **{f"scipy.special.{name}": getattr(scipy.special, name) for name in ("expit", "logit")},
}
_registered: dict[str, type] = {}


def register_class(cls):
    """Let objects of a class of your own be saved and loaded; may decorate the class.

    The class must be registered in the process that loads, too: import its module there before `load`.  Objects are
    made without calling ``__init__``, and get back the attributes they had.

    Parameters
    ----------
    cls : type
        A class at the top level of an importable module.

    Returns
    -------
    cls : type
        The same class.

    Examples
    --------
    >>> from hyperplan.persistence import register_class
    >>> @register_class
    ... class Doubler:
    ...     def transform(self, X):
    ...         return 2 * X
    """
    if not inspect.isclass(cls):
        raise TypeError(f"register_class needs a class, got {cls!r}")
    if "<" in cls.__qualname__ and not cls.__module__ == "__main__":
        raise ValueError(f"{cls.__qualname__} is defined inside a function: move it to the top of a module")
    _registered[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return cls


def kind_of(cls) -> str:
    """How objects of a class are written: as a "record" of fields, an "enum" or an "object" with attributes."""
    if issubclass(cls, enum.Enum):
        return "enum"
    return "record" if issubclass(cls, tuple) and hasattr(cls, "_fields") else "object"


def class_name(cls) -> str | None:
    """The name of a class in model files; None if its objects are not to be written."""
    own = f"{cls.__module__}.{cls.__qualname__}"
    if _registered.get(own) is cls:
        return own
    if not cls.__module__.startswith("hyperplan."):
        return plumbing.plumbing_name(cls) if cls.__module__.startswith("sklearn.") else None
    family = ".".join(cls.__module__.split(".")[:2])
    if cls.__name__ in getattr(importlib.import_module(family), "__all__", ()):  # keeps its name when files move
        own = f"{family}.{cls.__name__}"
    return own if _own_class(own) is cls else None


def class_named(name) -> type:
    """The class of a name in a model file; an error for all that may not be there."""
    if isinstance(name, str):
        name = MOVED.get(name, name)
        found = _registered.get(name) or plumbing.plumbing_class(name) or _own_class(name)
        if found is not None:
            return found
    raise ModelFileError(
        f"The file holds an object of class {name!r:.80}, which may not be loaded.  If the class is yours, import its "
        "module and call hyperplan.persistence.register_class on it first."
    )


def _own_class(name):
    """A class of this package that may be in files, by its name; None otherwise."""
    if NAME.fullmatch(name) is None or name.split(".")[1] not in HOMES:
        return None
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None
    if not inspect.isclass(found) or not found.__module__.startswith("hyperplan."):
        return None
    is_record = dataclasses.is_dataclass(found) or kind_of(found) != "object"
    return found if issubclass(found, BaseEstimator) or is_record or name in PLAIN else None


def function_name(function) -> str | None:
    """The name of a function in model files; None if it is not to be written."""
    for name, known in FUNCTIONS.items():
        if known is function:
            return name
    own = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
    if own in OWN_FUNCTIONS or plumbing.score_function(own.rpartition(".")[2]) is function:
        return own if own in OWN_FUNCTIONS else f"sklearn.feature_selection.{function.__name__}"
    return None


def function_named(name):
    """The function of a name in a model file; an error for all that may not be there."""
    if isinstance(name, str):
        module, _, attribute = name.rpartition(".")
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if name in OWN_FUNCTIONS:
            return getattr(importlib.import_module(module), attribute)
        if module == "sklearn.feature_selection" and attribute in plumbing.SCORE_FUNCTIONS:
            return plumbing.score_function(attribute)
    raise ModelFileError(f"The file names a function {name!r:.80}, which may not be loaded.")


def type_name(kind) -> str | None:
    """The name of a type of values, as in ``dtype=float``; None for other classes."""
    return next((name for name, known in TYPES.items() if known is kind), None)
