"""For tests of hyperplan and of what is built on it."""

from hyperplan.testing._discovery import all_estimators, construct

__all__ = ["all_estimators", "construct"]
