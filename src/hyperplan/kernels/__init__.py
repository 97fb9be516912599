"""Kernels as objects with an algebra, the maps they stand for, and the methods that need nothing else."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    pass

__getattr__, __dir__, __all__ = lazy_names(__name__)
