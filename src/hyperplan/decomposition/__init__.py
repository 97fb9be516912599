"""Linear and kernel projections: principal components."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.decomposition._pca import PCA

__getattr__, __dir__, __all__ = lazy_names(__name__)
