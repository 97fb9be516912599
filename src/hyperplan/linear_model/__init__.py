"""Linear models for regression and classification."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.linear_model._best_subset import BestSubset
    from hyperplan.linear_model._elastic_net import ElasticNet, Lasso
    from hyperplan.linear_model._elastic_net_cv import ElasticNetCV, LassoCV
    from hyperplan.linear_model._elastic_net_path import enet_path, lasso_path
    from hyperplan.linear_model._glm import (
        GammaRegressor,
        GeneralizedLinearRegressor,
        PoissonRegressor,
        TweedieRegressor,
    )
    from hyperplan.linear_model._huber import HuberRegressor
    from hyperplan.linear_model._least_squares import LinearRegression
    from hyperplan.linear_model._logistic import LogisticRegression
    from hyperplan.linear_model._logistic_cv import LogisticRegressionCV
    from hyperplan.linear_model._multi_task import MultiTaskElasticNet, MultiTaskLasso
    from hyperplan.linear_model._multi_task_cv import MultiTaskElasticNetCV, MultiTaskLassoCV
    from hyperplan.linear_model._ordinal import OrdinalRegression
    from hyperplan.linear_model._perceptron import Perceptron, perceptron, update_weight
    from hyperplan.linear_model._probit import ProbitRegression
    from hyperplan.linear_model._quantile import QuantileRegressor
    from hyperplan.linear_model._ridge import Ridge
    from hyperplan.linear_model._ridge_classifier import RidgeClassifier, RidgeClassifierCV
    from hyperplan.linear_model._ridge_cv import RidgeCV
    from hyperplan.linear_model._ridge_regression import ridge_regression
    from hyperplan.linear_model._sgd_classifier import SGDClassifier
    from hyperplan.linear_model._sgd_one_class import SGDOneClassSVM
    from hyperplan.linear_model._sgd_regressor import SGDRegressor

__getattr__, __dir__, __all__ = lazy_names(__name__)
