"""Distances between rows, under the names of scikit-learn's `metrics.pairwise`."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.metrics._named_distances import (
        cosine_distances,
        euclidean_distances,
        haversine_distances,
        manhattan_distances,
        nan_euclidean_distances,
    )
    from hyperplan.metrics._pairwise_distances import (
        pairwise_distances,
        pairwise_distances_argmin,
        pairwise_distances_argmin_min,
        pairwise_distances_chunked,
    )

__getattr__, __dir__, __all__ = lazy_names(__name__)
