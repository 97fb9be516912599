"""Several classes from answers about two."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.multiclass._one_vs_one import OneVsOneClassifier
    from hyperplan.multiclass._one_vs_rest import OneVsRestClassifier
    from hyperplan.multiclass._output_code import OutputCodeClassifier

__getattr__, __dir__, __all__ = lazy_names(__name__)
