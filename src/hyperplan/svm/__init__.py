"""Support vector machines, certified by their duality gap."""

from hyperplan.svm._bounds import l1_min_c
from hyperplan.svm._linear_svc import LinearSVC
from hyperplan.svm._linear_svr import LinearSVR

__all__ = ["LinearSVC", "LinearSVR", "l1_min_c"]
