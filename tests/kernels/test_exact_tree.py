"""The exact tree core against naive twins: sorting, scans, medians, pruning; the same tree on any number of threads."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._trees import exact_threads
from hyperplan._trees.criteria import class_targets, real_targets, with_weight
from hyperplan._trees.exact import Growth, grow, presort
from hyperplan._trees.nodes import depths, importances, leaves_of, parents, paths_of
from hyperplan._trees.pruning import pruned, pruning_path

CLASSES = ["gini", "entropy", "misclassification", "gain_ratio", "mantaras"]
NUMBERS = ["squared_error", "absolute_error", "poisson"]


def naive_impurity(criterion, y, w, n_classes):
    """Straight from the definitions, on the rows of one node."""
    total = w.sum()
    if n_classes:
        p = np.bincount(y, weights=w, minlength=n_classes) / total
        if criterion == "gini":
            return 1 - (p**2).sum()
        return 1 - p.max() if criterion == "misclassification" else -(p[p > 0] * np.log2(p[p > 0])).sum()
    if criterion == "squared_error":
        return (w * (y - (w * y).sum() / total) ** 2).sum() / total
    if criterion == "absolute_error":
        return min((w * np.abs(y - centre)).sum() for centre in y) / total
    mean = (w * y).sum() / total
    return (w * np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0)).sum() / total if mean > 0 else np.inf


def naive_best(criterion, X, y, w, n_classes, min_leaf):
    """Largest value of the criterion over all features, thresholds and sides of the missing values."""
    parent, total, found = naive_impurity(criterion, y, w, n_classes), w.sum(), {}
    for j in range(X.shape[1]):
        x = X[:, j]
        known = np.unique(x[~np.isnan(x)])
        cuts = list((known[1:] + known[:-1]) / 2) + ([np.inf] if np.isnan(x).any() else [])
        options = []
        for cut in cuts:
            for missing_left in (False, True) if np.isnan(x).any() and cut < np.inf else (False,):
                left = np.where(np.isnan(x), missing_left, x <= cut)
                if min(left.sum(), (~left).sum()) < min_leaf:
                    continue
                parts = [(w[s].sum() / total, naive_impurity(criterion, y[s], w[s], n_classes)) for s in (left, ~left)]
                rest = sum(share * value for share, value in parts)
                split = -sum(share * np.log2(share) for share, _ in parts)
                options.append((parent - rest, split, rest))
        if options:
            found[j] = options, len(cuts)
    return found


def naive_score(criterion, found, weight):
    """The value that the winner must have."""
    if criterion == "mantaras":
        return max(gain / (split + rest) for options, _ in found.values() for gain, split, rest in options)
    if criterion != "gain_ratio":
        return max(gain for options, _ in found.values() for gain, _, _ in options)
    best = {}
    for j, (options, n_cuts) in found.items():
        gain, split, _ = max(options)
        best[j] = gain - np.log2(n_cuts) / weight, split
    paying = {j: pair for j, pair in best.items() if pair[0] > 0}
    mean = sum(gain for gain, _ in paying.values()) / len(paying)
    return max(gain / split for gain, split in paying.values() if gain >= mean - 1e-12)


def table(n, seed, missing=False):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), np.round(rng.normal(size=n), 1), np.ones(n)])
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X.astype(np.float32), rng


def decrease(tree, criterion, y, w, X, n_classes):
    """Value of the root's split according to the definitions."""
    leaf = leaves_of(tree, X)
    left = leaf == tree.children_left[0]
    total = w.sum()
    parts = [(w[s].sum() / total, naive_impurity(criterion, y[s], w[s], n_classes)) for s in (left, ~left)]
    rest = sum(share * value for share, value in parts)
    split = -sum(share * np.log2(share) for share, _ in parts)
    gain = naive_impurity(criterion, y, w, n_classes) - rest
    return {"mantaras": gain / (split + rest), "gain_ratio": gain}.get(criterion, gain), split


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
def test_the_root_split_is_the_best_of_all(criterion, weighted, missing):
    for n, n_classes in ((12, 2), (40, 3)):
        X, rng = table(n, seed=n, missing=missing)
        w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
        weight = w if weighted else None
        if criterion in CLASSES:
            y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (rng.random(n) < 0.2) * (n_classes - 2)
            targets = class_targets(y[:, None], [n_classes], criterion=criterion, weight=weight)
        else:
            y, n_classes = np.round(np.exp(np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=n)), 2) + 0.01, 0
            targets = real_targets(y[:, None], criterion=criterion, weight=weight)
        for min_leaf in (1, 3):
            tree = grow(presort(X), targets, Growth(max_depth=1, min_samples_leaf=min_leaf), seed=1)
            found = naive_best(criterion, X.astype(float), y, w, n_classes, min_leaf)
            reached, split = decrease(tree, criterion, y, w, X, n_classes)
            if criterion == "gain_ratio":
                n_cuts = found[tree.feature[0]][1]
                reached = (reached - np.log2(n_cuts) / w.sum()) / split
                if missing:
                    continue  # with two sides for missing values there are more boundaries than the twin counts
            assert reached == pytest.approx(naive_score(criterion, found, w.sum()), rel=1e-9)


def test_sorted_pairs():
    X, _ = table(50, seed=2, missing=True)
    X[3, 0], X[4, 0], X[5, 0] = -np.inf, np.inf, np.float32(-0.0)
    X[6, 0] = -np.float32(np.nan)
    presorted = presort(X)
    rows = presorted.pairs & 0x7FFFFFFF
    for j in range(X.shape[1]):
        np.testing.assert_array_equal(X[rows[j], j], np.sort(X[:, j]))
    np.testing.assert_array_equal(presorted.missing, np.isnan(X).any(axis=0))


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 257])
def test_sizes_around_the_first_capacity(n):
    X, y = np.arange(n, dtype=np.float32)[:, None], np.arange(n)[:, None]
    tree = grow(presort(X), real_targets(y), Growth(), seed=0)
    assert tree.feature.shape[0] == 2 * n - 1
    np.testing.assert_array_equal(tree.value[leaves_of(tree, X), 0], np.arange(n))
    assert depths(tree).max() == (n - 1).bit_length()


def test_a_chain_is_deeper_than_the_first_stack():
    n = 150
    X = np.arange(n, dtype=np.float32)[:, None]
    y = 3.0 ** np.arange(n)[:, None]  # the largest is always split off
    tree = grow(presort(X), real_targets(y), Growth(), seed=0)
    assert depths(tree).max() > 64 and np.allclose(tree.value[leaves_of(tree, X), 0], y[:, 0])


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("random", [False, True])
def test_threads_and_large_nodes_do_not_change_the_tree(monkeypatch, criterion, random):
    X, rng = table(700, seed=5, missing=True)
    y = np.digitize(np.nan_to_num(X[:, 0]) + rng.normal(size=700), [-0.5, 0.5])
    if criterion in CLASSES:
        targets = class_targets(y[:, None], [3], criterion=criterion)
    else:
        targets = real_targets((y + rng.random(700))[:, None], criterion=criterion)
    growth = Growth(random=random, max_features=2, min_samples_leaf=2, min_samples_split=4)
    plain = grow(presort(X), targets, growth, seed=7)
    monkeypatch.setattr(exact_threads, "BIG_NODE", 300)
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            again = grow(presort(X), targets, growth, seed=7)
        for a, b in zip(plain, again):
            np.testing.assert_array_equal(a, b)


def test_a_presort_is_shared_and_counts_are_copies():
    X, rng = table(200, seed=8)
    y = X[:, :1] + rng.normal(size=(200, 1))
    presorted = presort(X)
    kept = presorted.pairs.copy()
    counts = rng.multinomial(200, np.full(200, 1 / 200)).astype(float)
    growth = Growth(min_samples_leaf=1, max_depth=4)
    weighted = grow(presorted, with_weight(real_targets(y), counts), growth, seed=3)
    again = grow(presorted, with_weight(real_targets(y), counts), growth, seed=3)
    np.testing.assert_array_equal(presorted.pairs, kept)
    rows = np.repeat(np.arange(200), counts.astype(int))
    copied = grow(presort(X[rows]), real_targets(y[rows]), growth, seed=3)
    np.testing.assert_array_equal(weighted.threshold, again.threshold)
    np.testing.assert_array_equal(weighted.threshold, copied.threshold)
    np.testing.assert_allclose(weighted.value, copied.value, rtol=1e-12)  # sums of multiples against repeated sums
    assert weighted.n_node_samples[0] == (counts > 0).sum()


def test_best_first_takes_the_largest_decrease():
    X, rng = table(300, seed=9)
    targets = real_targets(X[:, :1] ** 2 + rng.normal(size=(300, 1)))
    full = grow(presort(X), targets, Growth(max_leaf_nodes=300), seed=0)
    few = grow(presort(X), targets, Growth(max_leaf_nodes=6), seed=0)
    assert (few.children_left < 0).sum() == 6
    inner = np.flatnonzero(full.children_left >= 0)
    mass = full.weighted_n_node_samples * full.impurity
    gain = np.zeros(len(mass))
    gain[inner] = mass[inner] - mass[full.children_left[inner]] - mass[full.children_right[inner]]
    frontier = {0}
    for i in inner[np.argsort(full.children_left[inner])]:  # in the order of expansion
        assert gain[i] >= max(gain[j] for j in frontier) * (1 - 1e-9)
        frontier = (frontier - {i}) | {full.children_left[i], full.children_right[i]}
    np.testing.assert_array_equal(few.impurity, full.impurity[:11])


def naive_path(tree):
    """Weakest links by brute force."""
    risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    left, right = tree.children_left.copy(), tree.children_right.copy()

    def leaves(i):
        return [i] if left[i] < 0 else leaves(left[i]) + leaves(right[i])

    alphas, risks = [0.0], [risk[leaves(0)].sum()]
    while left[0] >= 0:
        inner = [i for i in reachable(left, right) if left[i] >= 0]
        strength = [(risk[i] - risk[leaves(i)].sum()) / (len(leaves(i)) - 1) for i in inner]
        weakest = int(np.argmin(strength))
        alphas.append(strength[weakest])
        left[inner[weakest]] = right[inner[weakest]] = -1
        risks.append(risk[leaves(0)].sum())
    return alphas, risks


def reachable(left, right):
    found, pending = [], [0]
    while pending:
        i = pending.pop()
        found.append(i)
        pending += [left[i], right[i]] if left[i] >= 0 else []
    return found


def test_pruning_collapses_the_weakest_link():
    X, rng = table(60, seed=11)
    tree = grow(presort(X), real_targets(X[:, :1] + rng.normal(size=(60, 1))), Growth(), seed=0)
    path, (alphas, risks) = pruning_path(tree), naive_path(tree)
    np.testing.assert_allclose(path.ccp_alphas, alphas, rtol=1e-8, atol=1e-15)  # updated sums against fresh ones
    np.testing.assert_allclose(path.impurities, risks, rtol=1e-8)
    for alpha in (0.0, alphas[len(alphas) // 2], 1e9):
        small = pruned(tree, alpha)
        risk = (small.weighted_n_node_samples * small.impurity)[small.children_left < 0].sum() / 60
        assert risk == pytest.approx(risks[np.searchsorted(alphas, alpha, side="right") - 1])
        assert (parents(small)[1:] < np.arange(1, len(small.feature))).all()


def test_paths_and_importances():
    X, rng = table(80, seed=12)
    tree = grow(presort(X), real_targets(X[:, 2:3] + 0.1 * rng.normal(size=(80, 1))), Growth(max_depth=3), seed=0)
    indptr, indices = paths_of(tree, X)
    above = parents(tree)
    for i in range(80):
        way = indices[indptr[i] : indptr[i + 1]]
        assert way[0] == 0 and (above[way[1:]] == way[:-1]).all() and tree.children_left[way[-1]] < 0
    shares = importances(tree, 4)
    assert shares.sum() == pytest.approx(1.0) and shares.argmax() == 2 and shares[3] == 0.0
