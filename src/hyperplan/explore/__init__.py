"""A table without a question: maps of its rows, their dimension, groups if there are any, and rows that stand out."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.explore._errors import ExploreError
    from hyperplan.explore._exploration import Exploration
    from hyperplan.explore._explore import explore
    from hyperplan.explore._settings import ExploreSettings

__getattr__, __dir__, __all__ = lazy_names(__name__)
