"""Workloads of ranking: queries of different lengths and difficulty, graded relevance."""

import numpy as np

from cases._case import Case
from cases.boosting import LEAVES, RATE, ROUNDS, THREADS, build

GRADES = (0.55, 0.80, 0.93, 0.98)  # shares of rows below relevance 1, 2, 3 and 4
CUT = 10  # ranks that count
OURS = {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "learning_rate": RATE, "early_stopping": False, "random_state": 0}
BOOST = {"n_estimators": ROUNDS, "learning_rate": RATE, "n_jobs": THREADS}
XGB = {**BOOST, "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}


def searches(rng, n, d, shortest=5, longest=200):
    """About n rows in queries of log-uniform length: features and relevance have an offset of the query."""
    n_queries = int(1.5 * n * np.log(longest / shortest) / (longest - shortest))
    sizes = np.exp(rng.uniform(np.log(shortest), np.log(longest), n_queries)).astype(np.intp)
    query = np.repeat(np.arange(n_queries), sizes)
    m = query.shape[0]
    X = rng.standard_normal((m, d)) + 0.5 * rng.standard_normal((n_queries, d))[query]
    X[:, 1::4] = np.exp(0.5 * X[:, 1::4])
    X[:, 3::4] = np.round(X[:, 3::4] * 4) / 4
    signal = 1.2 * X[:, 0] * X[:, 2] + np.sin(2 * X[:, 4]) + (X[:, 3] > 0.5) * X[:, 1] + 0.5 * np.abs(X[:, 5])
    signal += 0.4 * X @ rng.standard_normal(d) / d**0.5
    noise = 0.7 * rng.standard_normal(m) + 0.5 * rng.standard_normal(n_queries)[query]
    signal = signal / signal.std() + noise
    y = np.digitize(signal, np.quantile(signal, GRADES))
    first = n_queries * 2 // 3  # queries to train on, the others to test on
    rows = int(sizes[:first].sum())
    parts = {"X": X[:rows].copy(), "y": y[:rows].copy(), "Xt": X[rows:].copy(), "yt": y[rows:].copy()}
    return {**parts, "sizes": sizes[:first].copy(), "test_sizes": sizes[first:].copy()}


class WithQueries:
    """A ranker that knows its queries, so that `fit` takes X and y alone."""

    def __init__(self, model, name, sizes):
        self.model, self.name, self.sizes = model, name, sizes

    def fit(self, X, y):
        self.model.fit(X, y, **{self.name: self.sizes})
        return self

    def predict(self, X):
        return self.model.predict(X)


def contender(path, **options):
    return lambda data: WithQueries(build(path, **options), "group", data.sizes)


def mean_ndcg(model, data, output):
    """Mean NDCG@10 of the test queries with gains 2^y - 1; queries without relevant rows are left out."""
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    values = []
    for rows in np.split(np.arange(data.yt.shape[0]), np.cumsum(data.test_sizes)[:-1]):
        gain = 2.0 ** data.yt[rows] - 1
        found = gain[np.argsort(-output[rows], kind="stable")][:CUT]
        best = np.sort(gain)[::-1][:CUT]
        if best[0] > 0:
            values.append((found @ discount[: found.shape[0]]) / (best @ discount[: best.shape[0]]))
    return {"ndcg@10": float(np.mean(values))}


LAMBDAMART = {
    "hyperplan": contender("hyperplan.ensemble.HistGradientBoostingRanker", **OURS),
    "lightgbm": contender("lightgbm.LGBMRanker", num_leaves=LEAVES, verbose=-1, **BOOST),
    "xgboost": contender("xgboost.XGBRanker", objective="rank:ndcg", **XGB),
}
PAIRWISE = {
    "hyperplan": contender("hyperplan.ensemble.HistGradientBoostingRanker", objective="pairwise", **OURS),
    "xgboost": contender("xgboost.XGBRanker", objective="rank:pairwise", **XGB),
}
SIZES = {
    "small": {"n": 2000, "d": 10},
    "medium": {"n": 50_000, "d": 20},
    "large": {"n": 300_000, "d": 40},
}
# trees of different libraries differ in the third digit of the NDCG, from one seed to another as well
CASES = {
    "rank_lambdamart": Case(searches, SIZES, LAMBDAMART, mean_ndcg, lower_is_better=False, slack=3e-3),
    "rank_pairwise": Case(searches, SIZES, PAIRWISE, mean_ndcg, lower_is_better=False, slack=3e-3),
}
