"""Kernels as objects with an algebra, the maps they stand for, and the methods that need nothing else."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.kernels._algebra import Constant, Product, Scaled, Sum, convex_combination
    from hyperplan.kernels._derived import Normalized, OnColumns
    from hyperplan.kernels._histogram import AdditiveChiSquared, ChiSquared
    from hyperplan.kernels._kernel import Kernel
    from hyperplan.kernels._kernel_perceptron import KernelPerceptron
    from hyperplan.kernels._kernel_ridge import KernelRidge
    from hyperplan.kernels._mercer import MercerCheck, is_psd, mercer_check
    from hyperplan.kernels._nystroem import Nystroem
    from hyperplan.kernels._plain import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid
    from hyperplan.kernels._radial import BSpline, Radial, b_spline
    from hyperplan.kernels._rbf_sampler import RBFSampler
    from hyperplan.kernels._structured import FromFunction, Precomputed, Spectrum

__getattr__, __dir__, __all__ = lazy_names(__name__)
