"""Random projections that keep distances, and how many dimensions they need."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.random_projection._dimension import (
        feasible_reduction_factor,
        johnson_lindenstrauss_dimension,
        johnson_lindenstrauss_min_dim,
    )
    from hyperplan.random_projection._random_projection import (
        GaussianRandomProjection,
        KaneNelsonRandomProjection,
        SparseRandomProjection,
    )

__getattr__, __dir__, __all__ = lazy_names(__name__)
