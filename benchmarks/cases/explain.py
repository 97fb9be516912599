"""Workloads of explanations: Shapley values of trees, and permutation importance."""

import importlib

import numpy as np

from cases._case import Case
from cases._quality import r2
from cases.linear import THREADS, sizes
from cases.trees import tabular

FOREST = {"n_estimators": 50, "min_samples_leaf": 5, "random_state": 0, "n_jobs": THREADS}
ROUNDS = 100


class Explained:
    """A model, and a function of (model, rows) that explains them: contributions, the constant in the last column."""

    def __init__(self, model, contributions):
        self.model, self.contributions = model, contributions

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def explain(self, X):
        return self.contributions(self.model, X)


def of_class(path, contributions, **options):
    """Builder of an explained model from ``package.module.Class``."""

    def build(data):
        module, _, name = path.rpartition(".")
        return Explained(getattr(importlib.import_module(module), name)(**options), contributions)

    return build


def by_hyperplan(model, X):
    from hyperplan.ensemble import shap_values

    found = shap_values(model, X)
    return np.column_stack([found.values, np.full(len(X), found.base)])


def by_shap(model, X):
    from shap import TreeExplainer

    explainer = TreeExplainer(model)
    return np.column_stack([explainer.shap_values(X), np.full(len(X), np.ravel(explainer.expected_value)[0])])


def by_lightgbm(model, X):
    return model.predict(X, pred_contrib=True)


def by_xgboost(model, X):
    from xgboost import DMatrix

    return model.get_booster().predict(DMatrix(X), pred_contribs=True)


def r2_of_sums(model, data, output):
    """R2 of what the contributions add up to: an explanation that does not add up loses it."""
    return r2(model, data, np.asarray(output).sum(axis=1))


def shap_cases():
    judged = {"generate": tabular, "quality": r2_of_sums, "lower_is_better": False, "apply": "explain", "slack": 0.02}
    leaves = {"max_iter": ROUNDS, "random_state": 0, "early_stopping": False}
    light = {"n_estimators": ROUNDS, "num_leaves": 31, "n_jobs": THREADS, "verbose": -1}
    extreme = {"n_estimators": ROUNDS, "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0, "n_jobs": THREADS}
    return {
        "shap_forest": Case(
            sizes=sizes((500, 10), (2000, 10), (5000, 20), numbers=True),
            contenders={
                "hyperplan": of_class("hyperplan.ensemble.RandomForestRegressor", by_hyperplan, **FOREST),
                "shap": of_class("sklearn.ensemble.RandomForestRegressor", by_shap, **FOREST),
            },
            **judged,
        ),
        "shap_boosting": Case(
            sizes=sizes((500, 10), (5000, 20), (50_000, 30), numbers=True),
            contenders={
                "hyperplan": of_class("hyperplan.ensemble.HistGradientBoostingRegressor", by_hyperplan, **leaves),
                "lightgbm": of_class("lightgbm.LGBMRegressor", by_lightgbm, **light),
                "xgboost": of_class("xgboost.XGBRegressor", by_xgboost, learning_rate=0.1, **extreme),
            },
            **judged,
        ),
    }


class Permuted:
    """A forest whose columns are judged on the test rows."""

    def __init__(self, forest, module, data):
        self.model = importlib.import_module("hyperplan.ensemble" if forest == "hyperplan" else "sklearn.ensemble")
        self.model = self.model.RandomForestRegressor(**FOREST)
        self.judge, self.yt = importlib.import_module(module).permutation_importance, data.yt

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def importances(self, X):
        return self.judge(self.model, X, self.yt, random_state=0).importances_mean


def total_importance(model, data, output):
    """Sum of the losses of R2."""
    return {"importance": float(np.sum(output))}


CASES = {
    **shap_cases(),
    "permutation": Case(
        generate=tabular,
        sizes=sizes((500, 10), (5000, 20), (20_000, 20), numbers=True),
        contenders={
            "hyperplan": lambda data: Permuted("hyperplan", "hyperplan.ensemble", data),
            "sklearn": lambda data: Permuted("sklearn", "sklearn.inspection", data),
        },
        quality=total_importance,
        lower_is_better=False,
        apply="importances",
        slack=0.1,
    ),
}
