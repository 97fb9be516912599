"""Splitters and searches: scikit-learn's own, under the names they have there.

Intervals, comparisons and curves with intervals are in `hyperplan.evaluation`.

>>> from hyperplan.linear_model import Ridge
>>> from hyperplan.model_selection import GridSearchCV
>>> search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
>>> search.best_params_
{'alpha': 0.1}
"""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.model_selection import (
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

__getattr__, __dir__, __all__ = lazy_names(__name__)
