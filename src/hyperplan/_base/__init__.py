"""The one door to scikit-learn: families import these names from here, never from `sklearn`.

Metrics and model selection are slow to import and seldom needed: they are loaded when first asked for.
"""

from typing import TYPE_CHECKING

from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    DensityMixin,
    MetaEstimatorMixin,
    MultiOutputMixin,
    OneToOneFeatureMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, DataDimensionalityWarning, NotFittedError
from sklearn.utils import Bunch, ClassifierTags, RegressorTags, check_array, check_consistent_length
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_memory, has_fit_parameter

from hyperplan._base.holdout import holdout_split
from hyperplan._base.labels import Labels, class_weighted, encode_labels
from hyperplan._base.linear import LinearClassifierMixin, LinearRegressorMixin, SparseCoefMixin, linear_scores
from hyperplan._base.params import (
    ArrayLike,
    Bool,
    Choice,
    Int,
    InvalidParameterError,
    Is,
    Jobs,
    Null,
    OneOf,
    Real,
    Seed,
    check_params,
)
from hyperplan._base.validate import (
    FLOATS,
    Data,
    check_design,
    check_finite,
    check_is_fitted,
    check_random_state,
    check_training,
    check_weight,
    column_or_1d,
    seed_from,
)
from hyperplan._core.certificate import Certificate, gap_certificate
from hyperplan._core.lazy import lazy_names
from hyperplan._core.status import Status
from hyperplan._core.trace import Step, Trace

if TYPE_CHECKING:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.metrics import accuracy_score, check_scoring, get_scorer, get_scorer_names, r2_score
    from sklearn.model_selection import GridSearchCV, check_cv, train_test_split
    from sklearn.utils.random import sample_without_replacement

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("TYPE_CHECKING", "lazy_names")]
__getattr__, __dir__, _later = lazy_names(__name__)
__all__ += _later
