"""Shapley values of random trees against their definition: all subsets of features."""

import itertools
import math

import numpy as np
import pytest

from hyperplan._core.parallel import thread_limit
from hyperplan._trees import _shap_kernels as k
from hyperplan._trees.shap import TreeArrays, explain, join, plan, shares_of_parents, used_features

N_FEATURES = 4
EXACT = 1e-12  # values are below 10: a thousand roundings


def random_tree(rng, depth, width=1, zero_cover=False):
    """A tree of thresholds, code sets and missing directions; features repeat along paths."""
    nodes = []

    def grow(level, cover):
        me = len(nodes)
        nodes.append(None)
        leaf = level == depth or (level > 0 and rng.random() < 0.2)
        record = {"cover": cover, "left": -1, "right": -1, "value": rng.normal(size=width)}
        record |= {"feature": int(rng.integers(N_FEATURES)), "threshold": rng.normal(), "missing": rng.random() < 0.5}
        record["codes"] = rng.integers(1 << 6)
        if not leaf:
            share = 0.0 if zero_cover and rng.random() < 0.3 else rng.uniform(0.001, 0.999)
            record["left"] = grow(level + 1, cover * share)
            record["right"] = grow(level + 1, cover * (1.0 - share))
        nodes[me] = record
        return me

    grow(0, 1.0)

    def column(name, dtype):
        return np.array([node[name] for node in nodes], dtype=dtype)

    feature = column("feature", np.int64)
    return TreeArrays(
        left=column("left", np.int64),
        right=column("right", np.int64),
        feature=feature,
        threshold=column("threshold", np.float64),
        missing_left=column("missing", np.uint8),
        n_codes=np.where(feature == N_FEATURES - 1, 5, 0),  # the last feature has codes
        codes=column("codes", np.uint64)[:, None],
        cover=column("cover", np.float64),
        value=np.array([node["value"] for node in nodes]),
    )


def random_rows(rng, n):
    X = rng.normal(size=(n, N_FEATURES))
    X[:, -1] = rng.integers(8, size=n)  # 5 and more are unknown codes
    X[rng.random(X.shape) < 0.15] = np.nan
    return X.astype(np.float32)


def decision(tree, node, x):
    value = x[tree.feature[node]]
    if np.isnan(value):
        return bool(tree.missing_left[node])
    if tree.n_codes[node]:
        return bool(int(tree.codes[node, 0]) >> min(int(value), 5) & 1)
    return value <= tree.threshold[node]


def mean_answer(tree, share, node, x, known):
    """v(known) below a node."""
    if tree.left[node] < 0:
        return tree.value[node]
    left, right = tree.left[node], tree.right[node]
    if tree.feature[node] in known:
        return mean_answer(tree, share, left if decision(tree, node, x) else right, x, known)
    return share[left] * mean_answer(tree, share, left, x, known) + share[right] * mean_answer(
        tree, share, right, x, known
    )


def by_definition(tree, x):
    share = shares_of_parents(tree.left, tree.right, tree.cover)
    d = N_FEATURES
    found = np.zeros((d, tree.value.shape[1]))
    sets = [set(s) for size in range(d + 1) for s in itertools.combinations(range(d), size)]
    answer = {tuple(sorted(s)): mean_answer(tree, share, 0, x, s) for s in sets}
    for f in range(d):
        for s in sets:
            if f not in s:
                weight = math.factorial(len(s)) * math.factorial(d - len(s) - 1) / math.factorial(d)
                found[f] += weight * (answer[tuple(sorted(s | {f}))] - answer[tuple(sorted(s))])
    return found, answer[()]


def computed(trees, outputs, n_outputs, X):
    planned = plan(join(trees, outputs), n_outputs)
    return explain(planned, lambda part: X[part], X.shape[0], N_FEATURES), planned.base


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("zero_cover", [False, True])
def test_one_tree_by_definition(depth, zero_cover):
    rng = np.random.default_rng(depth)
    tree, X = random_tree(rng, depth, width=2, zero_cover=zero_cover), random_rows(rng, 6)
    values, base = computed([tree], [0], 2, X)
    for x, found in zip(X, values):
        expected, expected_base = by_definition(tree, x)
        np.testing.assert_allclose(found, expected, atol=EXACT, rtol=0)
        np.testing.assert_allclose(base, expected_base, atol=EXACT, rtol=0)


@pytest.mark.parametrize("n", [0, 1, 2, k.BLOCK - 1, k.BLOCK, k.BLOCK + 1, 3 * k.BLOCK + 7])
def test_values_do_not_depend_on_the_block(n):
    rng = np.random.default_rng(1)
    trees, X = [random_tree(rng, 3) for _ in range(3)], random_rows(rng, n)
    values, _ = computed(trees, [0, 1, 0], 2, X)
    assert values.shape == (n, N_FEATURES, 2)
    for i in range(0, n, 17):
        alone, _ = computed(trees, [0, 1, 0], 2, X[i : i + 1])
        # sums run in the same order: only the fusing of products and sums may differ at the end of a block
        np.testing.assert_allclose(values[i], alone[0], atol=EXACT, rtol=0)


def test_trees_add_up_by_output():
    rng = np.random.default_rng(2)
    trees, X = [random_tree(rng, 3) for _ in range(4)], random_rows(rng, 5)
    values, base = computed(trees, [0, 1, 0, 1], 2, X)
    single = [computed([tree], [0], 1, X) for tree in trees]
    for output in range(2):
        np.testing.assert_allclose(
            values[:, :, output], sum(v[:, :, 0] for v, _ in single[output::2]), atol=EXACT, rtol=0
        )
        np.testing.assert_allclose(base[output], sum(b[0] for _, b in single[output::2]), atol=EXACT, rtol=0)


def test_a_deep_chain_of_one_feature():
    """Forty splits on one feature: one factor changes forty times, and all of the answer belongs to the feature."""
    depth = 40
    n = 2 * depth + 1
    left, right = np.full(n, -1), np.full(n, -1)
    left[0 : 2 * depth : 2], right[0 : 2 * depth : 2] = np.arange(1, n, 2), np.arange(2, n + 1, 2)
    cover = np.where(np.arange(n) % 2, 0.5, 1.0) * 0.5 ** (np.maximum(np.arange(n) - 1, 0) // 2)
    tree = TreeArrays(
        left, right, np.full(n, 2), np.arange(n) / 2.0, np.zeros(n), np.zeros(n), np.zeros((n, 0)), cover,
        np.arange(n, dtype=float)[:, None],
    )  # fmt: skip
    X = np.zeros((3, N_FEATURES), dtype=np.float32)
    X[:, 2] = [-1.0, 7.5, 100.0]
    values, base = computed([tree], [0], 1, X)
    np.testing.assert_allclose(values[:, [0, 1, 3]], 0.0, atol=0)
    np.testing.assert_allclose(base + values[:, 2, 0], [1.0, 17.0, n - 1.0], rtol=1e-12)  # rounding of values below 100


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(3)
    trees, X = [random_tree(rng, 4) for _ in range(100)], random_rows(rng, 5 * k.BLOCK + 3)
    with thread_limit(1):
        one, _ = computed(trees, [0] * 100, 1, X)
    with thread_limit(3):
        three, _ = computed(trees, [0] * 100, 1, X)
    assert np.array_equal(one, three)


def test_used_features_and_shares():
    tree = random_tree(np.random.default_rng(4), 2)
    used = used_features(join([tree], [0]), N_FEATURES)
    assert set(np.flatnonzero(used)) == set(tree.feature[tree.left >= 0])
    negative = shares_of_parents(np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([1.0, -1.0, 2.0]))
    assert negative.tolist() == [1.0, 0.0, 1.0]
