"""scikit-learn's approximate feature maps that need no numerics of ours."""

# ruff: noqa: F401  (re-exports)
from typing import TYPE_CHECKING

from sklearn.base import ClassNamePrefixFeaturesOutMixin

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch, SkewedChi2Sampler

__getattr__, __dir__, __all__ = lazy_names(__name__)
