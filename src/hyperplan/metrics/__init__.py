"""Metrics: pure functions of true and predicted values, with weights."""

from hyperplan._core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
