"""Many models as one: bagging, forests, boosting, votes, stacks and mixtures."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.ensemble._ada_boost import AdaBoostClassifier
    from hyperplan.ensemble._ada_boost_regressor import AdaBoostRegressor
    from hyperplan.ensemble._bagging_classifier import BaggingClassifier
    from hyperplan.ensemble._bagging_regressor import BaggingRegressor
    from hyperplan.ensemble._blending import BlendingClassifier, BlendingRegressor
    from hyperplan.ensemble._explain import shap_values
    from hyperplan.ensemble._explain_permutation import permutation_importance
    from hyperplan.ensemble._forest_classifier import ExtraTreesClassifier, RandomForestClassifier
    from hyperplan.ensemble._forest_embedding import RandomTreesEmbedding
    from hyperplan.ensemble._forest_regressor import ExtraTreesRegressor, RandomForestRegressor
    from hyperplan.ensemble._gradient_boosting_classifier import GradientBoostingClassifier
    from hyperplan.ensemble._gradient_boosting_regressor import GradientBoostingRegressor
    from hyperplan.ensemble._hist_classifier import HistGradientBoostingClassifier
    from hyperplan.ensemble._hist_ranker import HistGradientBoostingRanker
    from hyperplan.ensemble._hist_regressor import HistGradientBoostingRegressor
    from hyperplan.ensemble._stacking import StackingClassifier, StackingRegressor
    from hyperplan.ensemble._super_learner import SuperLearnerClassifier, SuperLearnerRegressor
    from hyperplan.ensemble._voting import VotingClassifier, VotingRegressor

__getattr__, __dir__, __all__ = lazy_names(__name__)
