"""Workloads of histogram gradient boosting: tables of numbers, of categories, long, wide with many zeros, small.

Indicator columns are what exclusive feature bundling is for.
"""

import importlib

import numpy as np

from cases import _quality
from cases._case import Case

THREADS = 2
ROUNDS, LEAVES, RATE = 100, 31, 0.1
FEW_ROWS = 0.1  # slack where a hundred test rows tell no more: the standard error of the area is about 0.05


def factors(rng, n, d, rank):
    """Correlated columns: low-rank factors plus noise, uneven scales."""
    X = rng.standard_normal((n, rank), dtype=np.float32)
    X = X @ (rng.standard_normal((rank, d), dtype=np.float32) / np.sqrt(rank))
    X += 0.7 * rng.standard_normal((n, d), dtype=np.float32)
    X *= np.exp(rng.normal(0, 0.5, d)).astype(np.float32)
    X += rng.normal(0, 1, d).astype(np.float32)
    return X.astype(np.float64)


def signal(rng, X):
    """Products, waves, steps and a linear part, standardised."""
    d = X.shape[1]
    z = (X - X[:5000].mean(axis=0)) / np.maximum(X[:5000].std(axis=0), 1e-12)
    s = 1.2 * z[:, 0] * z[:, 1] + np.sin(2 * z[:, 2]) + (z[:, 3] > 0.5) * z[:, 4] + 0.5 * np.abs(z[:, 5])
    s = s + 0.6 * (z @ (rng.standard_normal(d) * (rng.random(d) < 0.5))) / max(1, d**0.5)
    return (s - s.mean()) / s.std()


def split(X, y, n, **extra):
    return {"X": X[:n].copy(), "y": y[:n].copy(), "Xt": X[n:].copy(), "yt": y[n:].copy(), **extra}


def table(rng, n, d, task="classes", zeros=0.0):
    """Correlated, skewed, rounded columns (a share `zeros` of the entries set to 0) and a non-linear target."""
    m = n + n // 5
    X = factors(rng, m, d, max(3, d // 3) if d < 500 else 30)
    X[:, 1::4] = np.exp(0.5 * np.clip(X[:, 1::4], -6, 6))
    X[:, 3::4] = np.round(X[:, 3::4] * 4) / 4
    if zeros:
        X[rng.random(X.shape, dtype=np.float32) < zeros] = 0.0
    s = signal(rng, X)
    if task == "numbers":
        return split(X, s + 0.5 * rng.standard_normal(m), n)
    return split(X, (2 * s + rng.logistic(size=m) > 0).astype(np.int64), n)


def categories(rng, n, numbers=10, cards=(3, 8, 12, 20, 40, 60, 100, 150, 200, 240)):
    """Numerical columns followed by integer codes of categories with Zipf frequencies."""
    m = n + n // 5
    X = factors(rng, m, numbers, 3)
    codes = np.stack([np.minimum(rng.zipf(1.3, m) - 1, c - 1) for c in cards], axis=1).astype(np.float64)
    s = signal(rng, X)
    for j, c in enumerate(cards):
        s = s + 0.4 * rng.standard_normal(c)[codes[:, j].astype(int)]
    y = (1.5 * s + rng.logistic(size=m) > 0).astype(np.int64)
    return split(np.hstack([X, codes]), y, n, columns=list(range(numbers, numbers + len(cards))))


def indicators(rng, n, d, levels=20):
    """d indicator columns of d / levels variables, with an effect for each level and for some pairs of levels."""
    m, n_variables = n + n // 5, d // levels
    codes = np.minimum(rng.zipf(1.2, (m, n_variables)) - 1, levels - 1)
    s = sum(rng.standard_normal(levels)[codes[:, j]] for j in range(n_variables)) / np.sqrt(n_variables)
    s += 1.5 * (codes[:, 0] == codes[:, 1]) - (codes[:, 2] > codes[:, 3])
    X = (codes[:, :, None] == np.arange(levels)).reshape(m, -1).astype(np.float64)
    return split(X, (2 * (s - s.mean()) + rng.logistic(size=m) > 0).astype(np.int64), n)


def auc(model, data, output):
    """Area under the ROC curve on the test rows."""
    score = output[:, 1] if output.ndim == 2 else output
    order = np.argsort(score, kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    positive = data.yt == 1
    n1 = positive.sum()
    return {"auc": float((ranks[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(order) - n1)))}


class WithCategories:
    """Peers that want categories as pandas columns."""

    def __init__(self, model, columns, integers=False):
        self.model, self.columns, self.integers = model, columns, integers

    def _frame(self, X):
        import pandas as pd

        frame = pd.DataFrame(X)
        for c in self.columns:
            codes = frame[c].astype(int)
            frame[c] = codes if self.integers else pd.Categorical(codes, categories=range(256))
        return frame

    def fit(self, X, y):
        options = {"cat_features": self.columns} if self.integers else {}
        self.model.fit(self._frame(X), y, **options)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self._frame(X))


def build(path, **options):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(**options)


def contenders(kind, categorical=False):
    """Ours, scikit-learn's, LightGBM (also with quantised gradients), XGBoost and CatBoost at the same settings."""
    ours = {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "early_stopping": False, "random_state": 0}
    base = {"n_estimators": ROUNDS, "learning_rate": RATE, "n_jobs": THREADS}
    lgb = {**base, "num_leaves": LEAVES, "verbose": -1}
    xgb = {**base, "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}
    cat = {"iterations": ROUNDS, "learning_rate": RATE, "depth": 5, "thread_count": THREADS, "verbose": 0}
    cat["allow_writing_files"] = False
    xgb |= {"enable_categorical": True} if categorical else {}
    table_of = {
        "hyperplan": (f"hyperplan.ensemble.HistGradientBoosting{kind}", ours),
        "sklearn": (f"sklearn.ensemble.HistGradientBoosting{kind}", ours),
        "lightgbm": (f"lightgbm.LGBM{kind}", lgb),
        "lightgbm-quant": (f"lightgbm.LGBM{kind}", {**lgb, "use_quantized_grad": True}),
        "xgboost": (f"xgboost.XGB{kind}", xgb),
        "catboost": (f"catboost.CatBoost{kind}", cat),
    }

    def builder(name, path, options):
        def make(data):
            if not categorical:
                return build(path, **options)
            if name in ("hyperplan", "sklearn"):
                return build(path, categorical_features=data.columns, **options)
            return WithCategories(build(path, **options), data.columns, integers=name == "catboost")

        return make

    return {name: builder(name, *entry) for name, entry in table_of.items()}


def sizes(small, medium, large, **common):
    named = {"small": small, "medium": medium, "large": large}
    return {name: {"n": n, "d": d, **common} for name, (n, d) in named.items()}


TWO_CLASSES = {"quality": auc, "lower_is_better": False, "apply": "predict_proba"}
CASES = {
    "gbdt_binary": Case(
        table, sizes((2000, 10), (100_000, 28), (500_000, 28)), contenders("Classifier"), **TWO_CLASSES
    ),
    "gbdt_reg": Case(
        table,
        sizes((2000, 10), (25_000, 100), (100_000, 100), task="numbers"),
        contenders("Regressor"),
        _quality.r2,
        lower_is_better=False,
    ),
    "gbdt_cat": Case(
        categories,
        {"small": {"n": 2000}, "medium": {"n": 50_000}, "large": {"n": 200_000}},
        contenders("Classifier", categorical=True),
        **TWO_CLASSES,
    ),
    "gbdt_long": Case(
        table, sizes((2000, 10), (200_000, 10), (1_000_000, 10)), contenders("Classifier"), **TWO_CLASSES
    ),
    "gbdt_onehot": Case(
        indicators, sizes((1000, 100), (5000, 1000), (20_000, 2000)), contenders("Classifier"), **TWO_CLASSES
    ),
    "gbdt_wide": Case(
        table,
        sizes((1000, 100), (5000, 1000), (20_000, 2000), zeros=0.9),
        contenders("Classifier"),
        **TWO_CLASSES,
    ),
    "gbdt_columns": Case(
        table, sizes((200, 500), (800, 2000), (800, 10_000)), contenders("Classifier"), slack=FEW_ROWS, **TWO_CLASSES
    ),
    "gbdt_small": Case(
        table, sizes((500, 20), (500, 20), (500, 20)), contenders("Classifier"), slack=FEW_ROWS, **TWO_CLASSES
    ),
}
