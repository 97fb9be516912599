"""Support vector machines, certified by their duality gap."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.svm._bounds import l1_min_c
    from hyperplan.svm._linear_svc import LinearSVC
    from hyperplan.svm._linear_svr import LinearSVR

__getattr__, __dir__, __all__ = lazy_names(__name__)
