"""What metrics ask of scikit-learn about targets: their type, their lengths, and its warnings."""

from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

__all__ = [
    "UndefinedMetricWarning",
    "assert_all_finite",
    "check_array",
    "check_consistent_length",
    "column_or_1d",
    "type_of_target",
]
