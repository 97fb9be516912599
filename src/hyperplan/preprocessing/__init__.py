"""Scaling, encoding, imputing and expanding features.

`StandardScaler`, `PolynomialFeatures` and `polynomial_features` have numerics of their own; the others are
scikit-learn's.
"""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.preprocessing import (
        Binarizer,
        FunctionTransformer,
        KBinsDiscretizer,
        KernelCenterer,
        KNNImputer,
        LabelBinarizer,
        LabelEncoder,
        MaxAbsScaler,
        MinMaxScaler,
        MissingIndicator,
        MultiLabelBinarizer,
        Normalizer,
        OneHotEncoder,
        OrdinalEncoder,
        PowerTransformer,
        QuantileTransformer,
        RobustScaler,
        SimpleImputer,
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
    from hyperplan.preprocessing._polynomial import PolynomialFeatures, polynomial_features
    from hyperplan.preprocessing._standard_scaler import StandardScaler

__getattr__, __dir__, __all__ = lazy_names(__name__)
