"""Linear models for regression and classification."""

from hyperplan.linear_model._least_squares import LinearRegression

__all__ = ["LinearRegression"]
