"""Gaussian classes with one or several covariances, and the projections that separate them."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.discriminant_analysis._linear import LinearDiscriminantAnalysis
    from hyperplan.discriminant_analysis._quadratic import QuadraticDiscriminantAnalysis

__getattr__, __dir__, __all__ = lazy_names(__name__)
