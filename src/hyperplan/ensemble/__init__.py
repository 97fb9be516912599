"""Many models as one: bagging, forests and boosting."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.ensemble._hist_classifier import HistGradientBoostingClassifier
    from hyperplan.ensemble._hist_regressor import HistGradientBoostingRegressor

__getattr__, __dir__, __all__ = lazy_names(__name__)
