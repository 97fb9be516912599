"""Methods that look at the nearest rows: neighbours, densities, local means, learnt metrics."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.neighbors import sort_graph_by_row_values
    from hyperplan.neighbors._graph import (
        KNeighborsTransformer,
        RadiusNeighborsTransformer,
        kneighbors_graph,
        radius_neighbors_graph,
    )
    from hyperplan.neighbors._histogram import HistogramClassifier
    from hyperplan.neighbors._k_neighbors_classifier import KNeighborsClassifier
    from hyperplan.neighbors._k_neighbors_regressor import KNeighborsRegressor
    from hyperplan.neighbors._kernel_density import KernelDensity
    from hyperplan.neighbors._lmnn import LargeMarginNearestNeighbor
    from hyperplan.neighbors._local_outlier import LocalOutlierFactor
    from hyperplan.neighbors._modes import DensityModes
    from hyperplan.neighbors._nadaraya_watson import NadarayaWatsonClassifier, NadarayaWatsonRegressor
    from hyperplan.neighbors._nca import NeighborhoodComponentsAnalysis
    from hyperplan.neighbors._nearest_centroid import NearestCentroid
    from hyperplan.neighbors._nearest_metrics import VALID_METRICS, VALID_METRICS_SPARSE
    from hyperplan.neighbors._nearest_neighbors import NearestNeighbors
    from hyperplan.neighbors._radius_classifier import RadiusNeighborsClassifier
    from hyperplan.neighbors._radius_regressor import RadiusNeighborsRegressor
    from hyperplan.neighbors._trees import BallTree, KDTree

__getattr__, __dir__, __all__ = lazy_names(__name__)
