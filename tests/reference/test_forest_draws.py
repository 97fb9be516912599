"""What forests draw at random: features, thresholds and rows, against their distributions and the peer's trees.

Seeds are fixed, so a test either always passes or always fails; the bounds are such that a right implementation fails
for less than one seed in a thousand.
"""

import numpy as np
import pytest
import sklearn.ensemble as peer
from scipy.stats import chisquare, kstest
from sklearn.metrics import roc_auc_score

from hyperplan.ensemble import ExtraTreesClassifier, RandomForestClassifier

LEVEL = 1e-3


def root_features(model):
    return np.array([nodes.feature[0] for nodes in model._nodes()])


def test_thresholds_are_uniform_between_the_extremes_of_the_node():
    rng = np.random.default_rng(0)
    X, y = rng.lognormal(size=(300, 1)).astype(np.float32), rng.integers(2, size=300)
    model = ExtraTreesClassifier(1500, max_depth=2, random_state=0).fit(X, y)
    low, high = float(X.min()), float(X.max())
    roots, below = [], []
    for nodes in model._nodes():
        roots.append((nodes.threshold[0] - low) / (high - low))
        inside = X[X[:, 0] <= nodes.threshold[0], 0]
        if nodes.feature[1] >= 0:  # the left child is split, too
            below.append((roots[-1], (nodes.threshold[1] - inside.min()) / float(inside.max() - inside.min())))
    above, below = np.array(below).T
    assert kstest(roots, "uniform").pvalue > LEVEL
    assert kstest(below, "uniform").pvalue > LEVEL
    # the draws of a node and of its child are independent: |r| sqrt(m) beyond 3.3 has probability 0.001
    assert abs(np.corrcoef(above, below)[0, 1]) * np.sqrt(len(below)) < 3.3


@pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesClassifier])
def test_features_are_drawn_uniformly_and_constant_ones_passed_over(cls):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 6)), rng.integers(2, size=60)
    X[:, [1, 4]] = 3.0
    model = cls(1200, max_features=1, max_depth=1, bootstrap=False, random_state=0).fit(X, y)
    counts = np.bincount(root_features(model), minlength=6)
    assert counts[[1, 4]].sum() == 0
    assert chisquare(counts[[0, 2, 3, 5]]).pvalue > LEVEL


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_a_constant_column_counts_among_the_features_tried(name):
    """Two of {informative, noise, constant} are tried: the informative one is among them in two cases of three."""
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=80)
    X = np.column_stack([y, rng.normal(size=80), np.ones(80)])
    options = {"n_estimators": 900, "max_features": 2, "max_depth": 1, "bootstrap": False, "random_state": 0}
    ours = {"RandomForestClassifier": RandomForestClassifier, "ExtraTreesClassifier": ExtraTreesClassifier}[name]
    share = np.mean(root_features(ours(**options).fit(X, y)) == 0)
    theirs = getattr(peer, name)(**options).fit(X, y)
    expected = np.mean([tree.tree_.feature[0] == 0 for tree in theirs.estimators_])
    spread = np.sqrt(2 / 9 / 900)  # of a share of 2/3 among 900 trees
    assert abs(share - 2 / 3) < 3.3 * spread
    assert abs(share - expected) < 3.3 * np.sqrt(2) * spread


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("RandomForestClassifier", {"splitter": "exact"}),
        ("RandomForestClassifier", {"splitter": "histogram"}),
        ("ExtraTreesClassifier", {}),
    ],
)
def test_a_tree_is_as_good_as_one_of_the_peer(name, options):
    """Mean AUC and size over many trees, which a bias in any draw would move."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4600, 8))
    X[:, 3], X[:, 5] = np.round(X[:, 3]), np.exp(X[:, 5])
    y = (X[:, 0] * X[:, 1] + X[:, 3] + np.log(X[:, 5]) + rng.normal(size=4600) > 0).astype(int)
    train, test = slice(0, 600), slice(600, None)
    ours = {"RandomForestClassifier": RandomForestClassifier, "ExtraTreesClassifier": ExtraTreesClassifier}[name]
    rows = X[test].astype(np.float32)

    def measure(forest):
        trees = forest.fit(X[train], y[train]).estimators_
        return np.array([(roc_auc_score(y[test], t.predict_proba(rows)[:, 1]), t.tree_.node_count) for t in trees])

    a, b = measure(ours(150, random_state=0, **options)), measure(getattr(peer, name)(150, random_state=1))
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 150)
    # for 600 rows the thresholds that 255 bins leave out move neither number beyond the error of 150 trees
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 3.3 * error).all()
