"""Machine learning in pure Python and Numba: scikit-learn's names, faster fits, a certificate on each.

Families are loaded on first use, so that ``import hyperplan`` stays light.

>>> import hyperplan
>>> hyperplan.linear_model.Ridge(alpha=0.5)
Ridge(alpha=0.5)
"""

import importlib

__version__ = "0.1.0"

_FAMILIES = ("datasets", "ensemble", "linear_model", "optimize", "preprocessing", "svm", "testing", "tree")

__all__ = ["__version__", "thread_limit", *_FAMILIES]


def __getattr__(name):
    if name in _FAMILIES:
        return importlib.import_module(f"hyperplan.{name}")
    if name == "thread_limit":
        from hyperplan._core.parallel import thread_limit

        return thread_limit
    raise AttributeError(f"module 'hyperplan' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
