"""Workloads of trees and their ensembles, on tables with correlated, skewed and rounded columns."""

import numpy as np

from cases._case import Case
from cases._data import correlated_columns, parts
from cases._quality import r2
from cases.linear import THREADS, make, same, sizes


def tabular(rng, n, d, numbers=False):
    """Every fourth column skewed, every fourth rounded; products, waves and steps of six columns, and noise."""
    m = n + n // 5
    X = correlated_columns(rng, m, d)
    X[:, 1::4] = np.exp(0.5 * np.clip(X[:, 1::4], -6, 6))
    X[:, 3::4] = np.round(X[:, 3::4] * 4) / 4
    Z = (X - X[:5000].mean(axis=0)) / X[:5000].std(axis=0)
    signal = 1.2 * Z[:, 0] * Z[:, 1] + np.sin(2 * Z[:, 2]) + (Z[:, 3] > 0.5) * Z[:, 4] + 0.5 * np.abs(Z[:, 5])
    signal += 0.6 * (Z @ (rng.standard_normal(d) * (rng.random(d) < 0.5))) / d**0.5
    signal = (signal - signal.mean()) / signal.std()
    if numbers:
        return parts(X, signal + 0.5 * rng.standard_normal(m), n)
    return parts(X, (2 * signal + rng.logistic(size=m) > 0).astype(np.int64), n)


def auc(model, data, output):
    """Area under the ROC curve on the test rows (ties count half), and the number of nodes of a single tree."""
    score = output[:, 1] if output.ndim == 2 else output
    values, rank = np.unique(score, return_inverse=True)
    positive, negative = (np.bincount(rank[data.yt == label], minlength=len(values)) for label in (1, 0))
    below = np.cumsum(negative) - 0.5 * negative
    found = {"auc": float(positive @ below / (positive.sum() * negative.sum()))}
    return {**found, "nodes": model.tree_.node_count} if hasattr(model, "tree_") else found


SIZES = ((2000, 10), (50_000, 30), (200_000, 30))
SNAP = {"random_state": 0, "use_histograms": False, "n_jobs": THREADS}


def tree_cases():
    leaf = {"min_samples_leaf": 5}
    return {
        "tree": Case(
            generate=tabular,
            sizes=sizes(*SIZES),
            contenders={
                **same("tree.DecisionTreeClassifier", peers=("sklearn",), random_state=0),
                "snapml": make("snapml.DecisionTreeClassifier", **SNAP),
            },
            quality=auc,
            lower_is_better=False,
            apply="predict_proba",
            slack=0.01,
        ),
        "tree_reg": Case(
            generate=tabular,
            sizes=sizes(*SIZES, numbers=True),
            contenders={
                **same("tree.DecisionTreeRegressor", peers=("sklearn",), random_state=0, **leaf),
                "snapml": make("snapml.DecisionTreeRegressor", **SNAP, **leaf),
            },
            quality=r2,
            lower_is_better=False,
            slack=0.01,
        ),
    }


def tabular_many(rng, n, d):
    """`tabular` with three numbers to predict, which share the columns that matter."""
    data = tabular(rng, n, d, numbers=True)
    for name, X in (("y", data["X"]), ("yt", data["Xt"])):
        y = data[name]
        data[name] = np.column_stack([y, np.abs(y), y * (X[:, 0] > 0)])
    return data


def mean_r2(model, data, output):
    """R2 on the test rows, averaged over the outputs."""
    return {"r2": float(np.mean(1 - np.mean((data.yt - output) ** 2, axis=0) / data.yt.var(axis=0)))}


FOREST = {"n_estimators": 100, "random_state": 0, "n_jobs": THREADS}


def forest_cases():
    snap = {**FOREST, "max_features": "sqrt"}
    both = ("sklearn", "sklearnex")
    judged = {"quality": auc, "lower_is_better": False, "apply": "predict_proba", "slack": 0.005}
    return {
        "forest": Case(
            generate=tabular,
            sizes=sizes(*SIZES),
            contenders={
                **same("ensemble.RandomForestClassifier", peers=both, **FOREST),
                "snapml-exact": make("snapml.RandomForestClassifier", **snap),
                "snapml-hist": make("snapml.RandomForestClassifier", use_histograms=True, max_depth=20, **snap),
            },
            **judged,
        ),
        "extra_trees": Case(
            generate=tabular,
            sizes=sizes(*SIZES),
            contenders=same("ensemble.ExtraTreesClassifier", peers=both, **FOREST),
            **judged,
        ),
        "forest_reg": Case(
            generate=tabular,
            sizes=sizes((2000, 10), (20_000, 30), (100_000, 30), numbers=True),
            contenders=same("ensemble.RandomForestRegressor", peers=both, max_features=0.33, **FOREST),
            quality=r2,
            lower_is_better=False,
            slack=0.01,
        ),
        "forest_many": Case(
            generate=tabular_many,
            sizes=sizes((500, 10), (5000, 20), (20_000, 20)),
            contenders=same(
                "ensemble.RandomForestRegressor", peers=both, max_features=0.33, **{**FOREST, "n_estimators": 20}
            ),
            quality=mean_r2,
            lower_is_better=False,
            slack=0.01,
        ),
        "bagging": Case(
            generate=tabular,
            sizes=sizes((500, 10), (5000, 20), (50_000, 20)),
            contenders=same("ensemble.BaggingClassifier", peers=("sklearn",), **{**FOREST, "n_estimators": 20}),
            **judged,
        ),
    }


CASES = {**tree_cases(), **forest_cases()}
