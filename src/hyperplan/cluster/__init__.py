"""Groups of rows: centres, densities and graphs."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.cluster._choice import NumberOfClusters
    from hyperplan.cluster._dbscan import DBSCAN, dbscan
    from hyperplan.cluster._k_means import KMeans, k_means, kmeans_plusplus
    from hyperplan.cluster._mini_batch_k_means import MiniBatchKMeans
    from hyperplan.cluster._optics import OPTICS
    from hyperplan.cluster._optics_extract import cluster_optics_dbscan, cluster_optics_xi
    from hyperplan.cluster._optics_order import compute_optics_graph
    from hyperplan.cluster._spectral import SpectralClustering, spectral_clustering

__getattr__, __dir__, __all__ = lazy_names(__name__)
