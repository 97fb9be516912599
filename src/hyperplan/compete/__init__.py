"""The model competition: a table and a question in, an answer that can be defended out."""

from hyperplan._core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
