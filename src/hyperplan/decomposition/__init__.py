"""Principal components, linear and in the space of a kernel."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.decomposition._kernel_pca import KernelPCA
    from hyperplan.decomposition._pca import PCA

__getattr__, __dir__, __all__ = lazy_names(__name__)
