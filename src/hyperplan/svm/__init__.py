"""Support vector machines, certified by their duality gap."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.svm._bounds import l1_min_c
    from hyperplan.svm._leave_one_out import leave_one_out_bounds, span_search
    from hyperplan.svm._linear_svc import LinearSVC
    from hyperplan.svm._linear_svr import LinearSVR
    from hyperplan.svm._multiple_kernel_svc import MultipleKernelSVC
    from hyperplan.svm._one_class import OneClassSVM
    from hyperplan.svm._primal import primal_svc
    from hyperplan.svm._svc import SVC, NuSVC
    from hyperplan.svm._svr import SVR, NuSVR

__getattr__, __dir__, __all__ = lazy_names(__name__)
