"""Reports: one self-contained page from one JSON document."""

from hyperplan._core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
