"""Workloads of metrics: areas, curves, tables and losses of millions of rows, silhouettes, permutation importance.

The call of the metric is what `fit` times; the quality is its value, in which contenders must agree.
"""

import importlib

import numpy as np

from cases._case import Case
from cases.trees import tabular

CLASSES = 10


def scores(rng, n):
    """Scores of a classifier, with ties (rounded to 1e-6), and 10 % positives."""
    y = (rng.random(n) < 0.1).astype(np.int64)
    odds = rng.standard_normal(n) + 1.5 * y - 2
    return {"X": np.round(1 / (1 + np.exp(-odds)), 6), "y": y}


def labels(rng, n):
    """Labels of ten classes, and guesses of which 70 % are right."""
    y = rng.integers(0, CLASSES, n)
    return {"X": np.where(rng.random(n) < 0.7, y, rng.integers(0, CLASSES, n)), "y": y}


def probabilities(rng, n):
    """Probabilities of ten classes that favour the true one."""
    y = rng.integers(0, CLASSES, n)
    X = rng.random((n, CLASSES))
    X[np.arange(n), y] += 1
    return {"X": X / X.sum(axis=1, keepdims=True), "y": y}


def blobs(rng, n, d):
    """Ten round clusters that touch."""
    y = rng.integers(0, CLASSES, n)
    return {"X": rng.standard_normal((n, d)) + 2 * rng.standard_normal((CLASSES, d))[y], "y": y}


def errors(rng, n):
    """Numbers, and predictions of half their variance."""
    y = rng.standard_normal(n)
    return {"X": y + rng.standard_normal(n), "y": y}


class Measured:
    """A metric as an object: `fit` computes it, `summary` makes one number of what it returned."""

    def __init__(self, function, summary, flip):
        self.function, self.summary, self.flip = function, summary, flip

    def fit(self, X, y):
        self.result = self.function(X, y) if self.flip else self.function(y, X)
        return self

    @property
    def value(self):
        return float(self.summary(self.result))


def metric(name, summary=np.asarray, peers=("sklearn",), flip=False):
    """Contenders: the metric of that name in hyperplan and in libraries that share scikit-learn's names."""

    def build(library):
        def make(data):
            return Measured(getattr(importlib.import_module(f"{library}.metrics"), name), summary, flip)

        return make

    return {library: build(library) for library in ("hyperplan", *peers)}


def value(model, data, output):
    return {"value": model.value}


def sizes(small, medium, large, **common):
    return {name: {"n": n, **common} for name, n in (("small", small), ("medium", medium), ("large", large))}


def case(generate, rows, contenders, **common):
    return Case(
        generate=generate,
        sizes=sizes(*rows, **common),
        contenders=contenders,
        quality=value,
        lower_is_better=False,
        apply=None,
        slack=1e-6,
    )


class Permuted:
    """Histogram boosting of a library, and its judgement of the columns on all rows; only the latter is timed."""

    def __init__(self, library, judge, data):
        model = importlib.import_module(f"{library}.ensemble").HistGradientBoostingClassifier
        self.model = model(max_iter=50, random_state=0, early_stopping=False)
        self.judge = importlib.import_module(judge).permutation_importance
        self.model.fit(data.X[:20_000], data.y[:20_000])

    def fit(self, X, y):
        self.value = float(np.sum(self.judge(self.model, X, y, n_repeats=5, random_state=0).importances_mean))
        return self


MILLIONS = (2000, 1_000_000, 5_000_000)
CASES = {
    "roc_auc": case(scores, MILLIONS, metric("roc_auc_score", peers=("sklearn", "sklearnex"))),
    "roc_curve": case(scores, MILLIONS, metric("roc_curve", lambda curve: np.trapezoid(curve[1], curve[0]))),
    "pr_curve": case(scores, MILLIONS, metric("precision_recall_curve", lambda curve: curve[0].mean())),
    "confusion": case(
        labels, (2000, 1_000_000, 10_000_000), metric("confusion_matrix", lambda table: np.trace(table) / table.sum())
    ),
    "log_loss": case(probabilities, (2000, 200_000, 1_000_000), metric("log_loss")),
    "r2": case(errors, MILLIONS, metric("r2_score")),
    "silhouette": case(blobs, (1000, 5000, 20_000), metric("silhouette_score", flip=True), d=10),
    "perm_importance": Case(
        generate=tabular,
        sizes=sizes(2000, 20_000, 50_000, d=20),
        contenders={
            "hyperplan": lambda data: Permuted("hyperplan", "hyperplan.ensemble", data),
            "hyperplan-interval": lambda data: Permuted("hyperplan", "hyperplan.evaluation", data),
            "sklearn": lambda data: Permuted("sklearn", "sklearn.inspection", data),
        },
        quality=value,
        lower_is_better=False,
        apply=None,
        slack=0.05,  # other trees and shuffles
    ),
}
