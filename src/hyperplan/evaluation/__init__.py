"""Evaluation that can be defended: intervals, comparisons, ties, diagnoses."""

from hyperplan._core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
