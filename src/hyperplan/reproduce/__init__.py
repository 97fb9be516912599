"""Published experiments made again: the protocol as code, the outcome beside what was printed."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.reproduce._plan import FULL, QUICK, Plan
    from hyperplan.reproduce._thesis import reproduce_thesis

__getattr__, __dir__, __all__ = lazy_names(__name__)
