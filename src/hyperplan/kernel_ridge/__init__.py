"""Kernel ridge regression, where scikit-learn has it."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.kernels._kernel_ridge import KernelRidge

__getattr__, __dir__, __all__ = lazy_names(__name__)
