"""Models as files without code in them."""

from hyperplan._core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
