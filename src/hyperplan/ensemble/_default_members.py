"""Models of three kinds, for ensembles that were given none: a linear one, a forest, boosted trees."""

from hyperplan.ensemble._forest_classifier import RandomForestClassifier
from hyperplan.ensemble._forest_regressor import RandomForestRegressor
from hyperplan.ensemble._hist_classifier import HistGradientBoostingClassifier
from hyperplan.ensemble._hist_regressor import HistGradientBoostingRegressor
from hyperplan.linear_model import LogisticRegression, RidgeCV

CLASSIFIERS = (LogisticRegression, RandomForestClassifier, HistGradientBoostingClassifier)
REGRESSORS = (RidgeCV, RandomForestRegressor, HistGradientBoostingRegressor)


def default_members(classify) -> list:
    """(name, estimator) of the three."""
    kinds = CLASSIFIERS if classify else REGRESSORS
    return [(name, make()) for name, make in zip(("linear", "forest", "boosting"), kinds)]
