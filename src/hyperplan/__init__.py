"""Machine learning in pure Python and Numba: scikit-learn's names, faster fits, a certificate on each.

Families are loaded on first use, so that ``import hyperplan`` stays light.

>>> import hyperplan
>>> hyperplan.linear_model.Ridge(alpha=0.5)
Ridge(alpha=0.5)
"""

import importlib

TYPE_CHECKING = False  # as type checkers read it; the module of that name would double the time of an import
if TYPE_CHECKING:
    from hyperplan._core.parallel import thread_limit
    from hyperplan.persistence import load, save

__version__ = "0.1.0"

_FAMILIES = (
    "calibration",
    "cluster",
    "compete",
    "datasets",
    "decomposition",
    "discriminant_analysis",
    "ensemble",
    "evaluation",
    "explore",
    "kernel_approximation",
    "kernel_ridge",
    "kernels",
    "linalg",
    "linear_model",
    "manifold",
    "metrics",
    "mixture",
    "model_selection",
    "multiclass",
    "naive_bayes",
    "neighbors",
    "optimize",
    "persistence",
    "preprocessing",
    "random_projection",
    "report",
    "reproduce",
    "svm",
    "testing",
    "tree",
)
_ELSEWHERE = {"thread_limit": "_core.parallel", "save": "persistence", "load": "persistence"}

__all__ = ["__version__", *_ELSEWHERE, *_FAMILIES]


def __getattr__(name: str):
    if name in _FAMILIES:
        return importlib.import_module(f"hyperplan.{name}")
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"hyperplan.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module 'hyperplan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
