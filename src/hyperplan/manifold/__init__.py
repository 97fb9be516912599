"""Maps of rows that lie near a surface: distances kept, neighbourhoods kept, and their repairs."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.manifold._umap import UMAP

__getattr__, __dir__, __all__ = lazy_names(__name__)
