"""Eigen-solvers for symmetric matrices, each usable on its own, with a trace of its convergence.

>>> from hyperplan.linalg import eigh
>>> eigh([[2.0, 1.0], [1.0, 2.0]], method="jacobi").values.round(12).tolist()
[1.0, 3.0]
"""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._solvers.eigen_dense import (
        METHODS,
        Tridiagonal,
        eigh,
        jacobi,
        qr_iteration,
        tridiagonal_eigh,
        tridiagonalize,
    )
    from hyperplan._solvers.eigen_lanczos import lanczos
    from hyperplan._solvers.eigen_result import EigenResult

__getattr__, __dir__, __all__ = lazy_names(__name__)
