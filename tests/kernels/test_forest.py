"""Kernels of the forests against naive twins."""

import numpy as np
import pytest

from hyperplan._trees import _forest_kernels as grow_kernels
from hyperplan._trees import _forest_scan_kernels as scan
from hyperplan._trees import forest, forest_quantiles, forest_record, forest_walk
from hyperplan._trees._forest_random_kernels import ordered
from hyperplan._trees.exact import Growth
from hyperplan._trees.nodes import leaves_of

SIZES = [1, 2, 11, 12, 13, 255, 256, 257, 779]


def naive_best(codes, y, weight, gain):
    """Best gain over all thresholds between codes that occur."""
    found = [gain(codes <= c, y, weight) for c in np.unique(codes)[:-1]]
    return max(found) if found else None


def gini_gain(left, y, weight):
    def mass(rows):
        w = weight[rows]
        return sum(np.sum(w[y[rows] == c]) ** 2 for c in np.unique(y)) / w.sum() if w.sum() else 0.0

    return mass(left) + mass(~left) - mass(left | ~left)


def square_gain(left, y, weight):
    def mass(rows):
        return np.sum(weight[rows] * y[rows]) ** 2 / weight[rows].sum()

    return mass(left) + mass(~left) - mass(left | ~left)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("span", [3, 250, 70_000])
def test_sorting_by_digits(n, span):
    rng = np.random.default_rng(n)
    codes = rng.integers(5, 5 + span, size=n)
    keys = (codes.astype(np.uint64) << np.uint64(32)) | np.arange(n, dtype=np.uint64)
    expected = np.sort(keys)
    scan.sort_by_digits(keys, n, codes.min(), codes.max(), np.empty_like(keys), np.empty(256, dtype=np.int64))
    assert (keys == expected).all()  # stable, and places break ties upwards


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["bins", "ranks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_root_split_of_classes_is_the_best(n, n_classes, kind, weighted):
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 3)), 1).astype(np.float32)
    y = rng.integers(n_classes, size=n)
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else rng.integers(1, 4, size=n)
    encoded = forest.encode(X, kind)
    problem = forest.class_targets(y, n_classes)
    tree = forest.grow_tree(encoded, problem, Growth(max_depth=1), seed=1, weight=weight)
    gains = [naive_best(codes, y, weight, gini_gain) for codes in encoded.matrix]
    gains = [gain for gain in gains if gain is not None]
    if n == 1 or np.unique(y).size == 1:
        assert tree.feature.shape[0] == 1
        return
    left = X[:, tree.feature[0]] <= tree.threshold[0]
    # sums of up to 779 weights in another order
    assert gini_gain(left, y, weight) == pytest.approx(max(gains), rel=1e-9)
    assert left.sum() == tree.n_node_samples[1]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["bins", "ranks"])
def test_root_split_of_means_is_the_best(n, kind):
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 3)), 1).astype(np.float32)
    y = rng.normal(size=n) + 100.0
    encoded = forest.encode(X, kind)
    tree = forest.grow_tree(encoded, forest.mean_targets(y), Growth(max_depth=1), seed=1)
    if n == 1:
        assert tree.value[0, 0] == y[0]
        return
    ones = np.ones(n)
    gains = [naive_best(codes, y - y.mean(), ones, square_gain) for codes in encoded.matrix]
    best = max(gain for gain in gains if gain is not None)
    left = X[:, tree.feature[0]] <= tree.threshold[0]
    assert square_gain(left, y - y.mean(), ones) == pytest.approx(best, rel=1e-9)
    # the root's impurity is the variance
    assert tree.impurity[0] == pytest.approx(y.var(), rel=1e-10)


def test_entropy_of_two_classes_is_the_entropy_of_many():
    """Counts of two classes are packed, weights are not: same trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    encoded, problem = forest.encode(X, "ranks"), forest.class_targets(y, 2, "entropy")
    counts = rng.integers(1, 3, size=300)
    packed = forest.grow_tree(encoded, problem, Growth(max_depth=4), seed=3, weight=counts)
    loose = forest.grow_tree(encoded, problem, Growth(max_depth=4), seed=3, weight=counts.astype(float))
    assert np.array_equal(packed.feature, loose.feature)
    assert np.allclose(packed.impurity, loose.impurity, atol=1e-12)


def test_ordered_bits_keep_the_order_of_floats():
    values = np.array([-np.inf, -3.5, -1e-30, 0.0, 1e-30, 2.0, 1e30], dtype=np.float32)
    codes = [int(ordered(np.int32(bits))) for bits in values.view(np.int32)]
    assert codes == sorted(codes)
    assert [int(ordered(np.int32(code))) for code in codes] == values.view(np.int32).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 130])
def test_walks_agree_with_the_walk_of_one_tree(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = rng.integers(3, size=200)
    encoded, problem = forest.encode(X, "values"), forest.class_targets(y, 3)
    trees = [forest.grow_tree(encoded, problem, Growth(max_features=2), seed=s) for s in range(6)]
    walk = forest_record.joined(trees)
    rows = rng.normal(size=(n, 5)).astype(np.float32)
    rows[0, 0] = np.nan
    expected = np.column_stack([leaves_of(tree, rows) for tree in trees])
    assert (forest_walk.leaves(walk, rows) == expected).all()
    values = np.stack([tree.value[leaf] for tree, leaf in zip(trees, expected.T)])
    # a sum of six numbers, divided by six instead of averaged by numpy
    assert np.allclose(forest_walk.mean_values(walk, rows), values.mean(axis=0), atol=1e-15)


def test_thresholds_are_rounded_down_for_the_walk():
    """A float32 x goes left if x <= threshold in float64, and the table keeps float32 thresholds."""
    X = np.array([[1.0], [np.nextafter(np.float32(1.0), np.float32(2.0))]], dtype=np.float32)
    X = np.vstack([X, X + np.float32(3.0)])
    tree = forest.grow_tree(forest.encode(X, "ranks"), forest.mean_targets(np.array([0.0, 0, 1, 1])), Growth(), seed=0)
    walk = forest_record.joined([tree])
    assert (forest_walk.leaves(walk, X)[:, 0] == leaves_of(tree, X)).all()


def test_quantile_weights_give_the_mean_and_the_quantiles():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3)).astype(np.float32)
    y = rng.normal(size=90)
    encoded, problem = forest.encode(X, "ranks"), forest.mean_targets(y)
    counts = [np.bincount(rng.integers(90, size=90), minlength=90) for _ in range(8)]
    trees = [forest.grow_tree(encoded, problem, Growth(min_samples_leaf=4), seed=1, weight=c) for c in counts]
    walk = forest_record.joined(trees)
    members = forest_quantiles.members_of(walk, X, y, lambda t: counts[t])
    rows = rng.normal(size=(20, 3)).astype(np.float32)
    train, new = forest_walk.leaves(walk, X), forest_walk.leaves(walk, rows)
    weight = np.zeros((20, 90))
    for t, count in enumerate(counts):
        same = (new[:, [t]] == train[:, t]) * count
        weight += same / same.sum(axis=1, keepdims=True) / len(counts)
    # the weighted mean is the forest's answer: an identity up to rounding
    assert np.allclose(weight @ y, forest_walk.mean_values(walk, rows)[:, 0], atol=1e-12)
    order = np.argsort(y)
    cumulated = np.cumsum(weight[:, order], axis=1)
    levels = np.array([0.05, 0.3, 0.5, 0.95])
    expected = np.column_stack([y[order][(cumulated >= level - 1e-12).argmax(axis=1)] for level in levels])
    assert np.array_equal(forest_quantiles.quantiles(walk, members, rows, levels), expected)


@pytest.mark.parametrize("known", [False, True])
def test_division_keeps_rows_in_order(known):
    """With the codes of the node at hand, or looked up in the column; units go with their rows."""
    column = np.array([3, 1, 2, 5, 0, 9], dtype=np.int32)
    rows, units = np.array([5, 0, 1, 2, 3, 4], dtype=np.uint32), np.arange(6).astype(np.uint64)
    codes = column[rows[1:]] if known else column[:0]
    spill, spare = np.empty(5, dtype=np.uint32), np.empty(5, dtype=np.uint64)
    n_left, below = grow_kernels.divide_two(codes, column, 2, rows[1:], units[1:], spill, spare)
    assert (n_left, rows.tolist()) == (3, [5, 1, 2, 4, 0, 3])
    assert (below, units.tolist()) == (2 + 3 + 5, [0, 2, 3, 5, 1, 4])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["bins", "ranks", "values"])
@pytest.mark.parametrize("weighted", [False, True])
def test_root_split_of_many_targets(n, kind, weighted):
    """The best threshold for the mean of the squared errors; a random one lowers it by what the nodes say."""
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 3)), 1).astype(np.float32)
    Y = rng.normal(size=(n, 4)) + np.array([0.0, 100.0, -5.0, 0.0])
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else np.ones(n)
    encoded = forest.encode(X, kind)
    tree = forest.grow_tree(encoded, forest.many_targets(Y), Growth(max_depth=1), seed=1, weight=weight)
    mean = weight @ Y / weight.sum()
    # sums of up to 779 numbers in another order
    assert np.allclose(tree.value[0], mean, rtol=1e-12) and tree.value.shape[1] == 4
    assert tree.impurity[0] == pytest.approx(np.mean(weight @ (Y - mean) ** 2 / weight.sum()), rel=1e-9, abs=1e-12)
    if n == 1:
        return

    def gain(left):
        return np.mean([square_gain(left, column, weight) for column in (Y - mean).T])

    left = X[:, tree.feature[0]] <= tree.threshold[0]
    mass = tree.weighted_n_node_samples * tree.impurity
    assert gain(left) == pytest.approx(mass[0] - mass[1] - mass[2], rel=1e-9)
    if kind != "values":
        assert gain(left) == pytest.approx(max(gain(X[:, j] <= x) for j in range(3) for x in np.unique(X[:, j])[:-1]))


def test_gini_index_of_several_outputs():
    rng = np.random.default_rng(0)
    X, codes = (
        rng.normal(size=(200, 3)).astype(np.float32),
        np.column_stack([rng.integers(k, size=200) for k in (2, 3)]),
    )
    tree = forest.grow_tree(forest.encode(X, "ranks"), forest.many_classes(codes, [2, 3]), Growth(), seed=0)
    shares = [np.bincount(codes[:, k], minlength=3) / 200 for k in (0, 1)]
    assert np.allclose(tree.value[0], np.concatenate(shares)) and (tree.value[:, 2] == 0).all()
    # the definition, in another order of additions
    assert tree.impurity[0] == pytest.approx(np.mean([1 - np.sum(share**2) for share in shares]), rel=1e-12)
    leaf = tree.children_left < 0
    assert (tree.impurity[leaf] == 0).all() and (tree.impurity[~leaf] > 0).all()


def some_trees(weighted=False):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)).astype(np.float32), rng.integers(3, size=120)
    weight = rng.uniform(size=120) if weighted else None
    encoded, problem = forest.encode(X, "ranks"), forest.class_targets(y, 3)
    grown = [Growth(max_depth=depth, max_features=2) for depth in (0, 3, 50, 0, 50)]
    return [forest.grow_tree(encoded, problem, g, seed=s, weight=weight) for s, g in enumerate(grown)]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_record_gives_its_trees_back(weighted):
    trees = some_trees(weighted)
    walk = forest_record.joined(trees)
    for t, tree in enumerate(trees):
        for name, array in forest_record.nodes_of(walk, t)._asdict().items():
            assert np.array_equal(array, getattr(tree, name)) and array.dtype == getattr(tree, name).dtype
    assert (walk.weight.size > 0) == weighted
    assert sum(array.nbytes for array in walk[:7]) < sum(array.nbytes for tree in trees for array in tree)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_trees_stand_in_their_order_whoever_comes_first(order):
    """The first tree has one node: the arrays grow later, and keep what they hold."""
    trees = some_trees()
    collector = forest_record.Collector(len(trees), None)
    for t in order:
        collector.add(t, forest_record.raw_of(trees[t]))
    found, expected = collector.finished(), forest_record.joined(trees)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


def test_a_record_goes_on_from_another_with_other_weights():
    plain, heavy = some_trees(), some_trees(weighted=True)
    collector = forest_record.Collector(10, np.float64, forest_record.joined(plain))
    for t, tree in enumerate(heavy):
        collector.add(5 + t, forest_record.raw_of(tree))
    found, expected = collector.finished(), forest_record.joined([*plain, *heavy])
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(found, expected))


def test_more_nodes_than_can_be_numbered_are_refused(monkeypatch):
    monkeypatch.setattr(forest_record, "MOST_NODES", 20)
    with pytest.raises(MemoryError, match="max_depth"):
        forest_record.joined(some_trees())
