"""Maps of rows that lie near a surface: distances kept, neighbourhoods kept, and their repairs."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.manifold._class_maps import ClassMaps, SeparableCoordinates, SubsampledMap
    from hyperplan.manifold._graph import GraphReport, NeighbourGraph
    from hyperplan.manifold._high_dimension import (
        ball_volume,
        cosine_bound,
        in_convex_hull,
        isomap_density,
        isomap_radius,
        shell_share,
    )
    from hyperplan.manifold._isomap import CIsomap, Isomap
    from hyperplan.manifold._isomap_base import ResidualCurve
    from hyperplan.manifold._isomap_landmark import LandmarkIsomap
    from hyperplan.manifold._isostretch import Isostretch
    from hyperplan.manifold._lle import LocallyLinearEmbedding, locally_linear_embedding
    from hyperplan.manifold._mds import MDS
    from hyperplan.manifold._mds_classical import ClassicalMDS
    from hyperplan.manifold._mds_smacof import smacof
    from hyperplan.manifold._procrustes import Alignment, procrustes
    from hyperplan.manifold._quality import continuity, intrinsic_dimension, trustworthiness
    from hyperplan.manifold._risimap import RISIMAP
    from hyperplan.manifold._spectral_embedding import SpectralEmbedding, spectral_embedding
    from hyperplan.manifold._umap import UMAP
    from hyperplan.metrics._embedding import residual_variance, stress

__getattr__, __dir__, __all__ = lazy_names(__name__)
