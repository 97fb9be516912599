"""Small tables, where the work around the algorithm counts: fits of a few milliseconds, predictions of one row."""

import numpy as np

from cases._case import Case
from cases.linear import THREADS, same, sizes
from cases.trees import auc, tabular

TABLES = sizes((500, 10), (2000, 10), (5000, 20))
ONE_ROW = sizes((500, 10), (500, 10), (2000, 20))
N_SINGLE = 100  # rows asked for one at a time


class OneByOne:
    """A classifier that is asked for one row at a time, as in a service."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def predict_singly(self, X):
        """Shares of the first rows, one call each."""
        return np.concatenate([self.model.predict_proba(X[i : i + 1]) for i in range(N_SINGLE)])


def auc_of_few(model, data, output):
    """`auc` of the rows that were asked for."""
    return {"auc": auc(None, type(data)(yt=data.yt[:N_SINGLE]), output)["auc"]}


def wrapped(contenders):
    """The contenders behind `OneByOne`."""
    return {name: lambda data, build=build: OneByOne(build(data)) for name, build in contenders.items()}


MODELS = {
    "tree": same("tree.DecisionTreeClassifier", peers=("sklearn",), random_state=0),
    "forest": same("ensemble.RandomForestClassifier", n_estimators=100, random_state=0, n_jobs=THREADS),
    "extra_trees": same("ensemble.ExtraTreesClassifier", n_estimators=100, random_state=0, n_jobs=THREADS),
    "adaboost": same("ensemble.AdaBoostClassifier", peers=("sklearn",), n_estimators=100, random_state=0),
    "gradient_boosting": same("ensemble.GradientBoostingClassifier", peers=("sklearn",), random_state=0),
    "hist_boosting": same("ensemble.HistGradientBoostingClassifier", peers=("sklearn",), random_state=0),
}


def small_cases():
    judged = {"generate": tabular, "lower_is_better": False, "slack": 0.15}  # 100 test rows: errors of 0.05
    fits = {
        f"small_{name}": Case(sizes=TABLES, contenders=models, quality=auc, apply="predict_proba", **judged)
        for name, models in MODELS.items()
    }
    rows = {
        f"one_row_{name}": Case(
            sizes=ONE_ROW, contenders=wrapped(models), quality=auc_of_few, apply="predict_singly", **judged
        )
        for name, models in MODELS.items()
    }
    return {**fits, **rows}


CASES = small_cases()
