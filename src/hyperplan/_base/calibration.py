"""What calibration takes from scikit-learn as it is: the picture, and the estimator that is never fitted again."""

from sklearn.calibration import CalibrationDisplay
from sklearn.frozen import FrozenEstimator

__all__ = ["CalibrationDisplay", "FrozenEstimator"]
