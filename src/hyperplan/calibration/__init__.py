"""Probabilities that mean what they say."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.calibration import CalibrationDisplay
    from hyperplan.calibration._calibrated_classifier import CalibratedClassifierCV
    from hyperplan.metrics._calibration import calibration_curve

__getattr__, __dir__, __all__ = lazy_names(__name__)
