"""scikit-learn's splitters and searches, all of them: loaded only when one is asked for."""

# ruff: noqa: F401  imported for others

from sklearn.experimental import enable_halving_search_cv  # makes the halving searches exist
from sklearn.model_selection import (
    BaseCrossValidator,
    BaseShuffleSplit,
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    LearningCurveDisplay,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    check_cv,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)

__all__ = [name for name in dir() if not name.startswith("_") and name != "enable_halving_search_cv"]
