"""Feature maps that approximate kernels, where scikit-learn has them; `Nystroem` and `RBFSampler` are ours."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.kernels import AdditiveChi2Sampler, PolynomialCountSketch, SkewedChi2Sampler
    from hyperplan.kernels._nystroem import Nystroem
    from hyperplan.kernels._rbf_sampler import RBFSampler

__getattr__, __dir__, __all__ = lazy_names(__name__)
