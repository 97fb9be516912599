"""Whether numbers that compiled code trusts fit together.

Kernels do not look at bounds.  A file made to harm could hold a tree whose children lie outside its arrays, or tables
smaller than the model says: such objects are refused when they are loaded.
"""

import functools

from hyperplan.persistence._checks_arrays import full_name
from hyperplan.persistence._checks_search import SEARCH_CHECKS
from hyperplan.persistence._checks_sizes import SIZE_CHECKS
from hyperplan.persistence._checks_trees import TREE_CHECKS

CHECKS = {**TREE_CHECKS, **SEARCH_CHECKS, **SIZE_CHECKS}


def problem_of(thing) -> str | None:
    """What is wrong with an object, in words; None if nothing is."""
    return next((problem for check in _checks_of(type(thing)) if (problem := check(thing)) is not None), None)


@functools.cache
def _checks_of(kind):
    """The checks of a class and of its bases, those of the bases first."""
    names = [full_name(cls) for cls in reversed(kind.__mro__)]
    return [CHECKS[name] for name in names if name in CHECKS]
