"""Mixtures of Gaussians, as densities and as classifiers."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.mixture._choice import GaussianMixtureIC
    from hyperplan.mixture._classifier import MixtureClassifier
    from hyperplan.mixture._gaussian_mixture import GaussianMixture

__getattr__, __dir__, __all__ = lazy_names(__name__)
