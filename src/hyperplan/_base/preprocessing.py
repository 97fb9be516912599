"""scikit-learn's transformers that need no numerics of ours, and the two classes that ours extend."""

# ruff: noqa: F401  (re-exports)
from typing import TYPE_CHECKING

from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    KernelCenterer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    MultiLabelBinarizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    TargetEncoder,
    add_dummy_feature,
    binarize,
    label_binarize,
    maxabs_scale,
    minmax_scale,
    normalize,
    power_transform,
    quantile_transform,
    robust_scale,
    scale,
)
from sklearn.preprocessing import PolynomialFeatures as ReferencePolynomialFeatures
from sklearn.preprocessing import StandardScaler as ReferenceStandardScaler

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer  # they load all metrics

__getattr__, __dir__, __all__ = lazy_names(__name__)
