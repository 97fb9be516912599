"""Kernels of clusters by density against naive twins: sorting, runs of cells, cores, links, borders, heaps, plots."""

import numpy as np
import pytest

from hyperplan._math.space_tree import LEAF, grow_tree
from hyperplan.cluster import _dbscan_grid_kernels as g
from hyperplan.cluster import _dbscan_kernels as k
from hyperplan.cluster import _optics_kernels as o
from hyperplan.cluster._dbscan_grid import _row_offsets, _tasks, cluster_on_grid, number_clusters
from hyperplan.cluster._dbscan_pairs import cluster_by_tiles
from hyperplan.cluster._dbscan_tree import cluster_on_tree

SIZES = [1, 2, LEAF - 1, LEAF, LEAF + 1, 3 * LEAF + 7]


def naive(X, radius, need, weight=None):
    """DBSCAN by its definition."""
    n = len(X)
    near = ((X[:, None] - X) ** 2).sum(axis=2) <= radius * radius
    is_core = near @ (np.ones(n) if weight is None else weight) >= need
    labels, shared = np.full(n, -1), np.zeros(n, bool)
    count = 0
    for i in range(n):
        if is_core[i] and labels[i] == -1:
            members, queue = {i}, [i]
            while queue:
                for j in np.flatnonzero(near[queue.pop()] & is_core):
                    if j not in members:
                        members.add(j)
                        queue.append(j)
            labels[list(members)] = count
            count += 1
    for i in np.flatnonzero(~is_core):
        around = labels[near[i] & is_core]
        labels[i], shared[i] = around.min(initial=count) if len(around) else -1, len(np.unique(around)) > 1
    return labels, is_core, int(shared.sum())


def agree(found, X, radius, need, weight=None):
    labels, is_core, n_shared = naive(X, radius, need, weight)
    assert found.labels.tolist() == labels.tolist()
    assert found.is_core.tolist() == is_core.tolist() and found.n_shared == n_shared


def fill_from(X):
    def make_fill(rows, columns):
        def fill(a, b, tile):
            tile[:] = ((X[rows[a], None] - X[columns[b]]) ** 2).sum(axis=2)

        return fill

    return make_fill


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_three_ways_to_the_same_clusters(n, d):
    rng = np.random.default_rng(n + d)
    X = np.round(4 * rng.normal(size=(n, d))) / 4 if n % 2 else rng.normal(size=(n, d))
    weight = rng.choice([-1.0, 0.5, 1.0, 2.0], size=n)
    for radius in (0.25, 0.6, 5.0):
        for w in (None, weight, np.abs(weight)):
            agree(cluster_on_grid(X, radius, 3.0, w), X, radius, 3.0, w)
            agree(cluster_on_tree(grow_tree(X), X, radius, 3.0, w), X, radius, 3.0, w)
            agree(cluster_on_tree(grow_tree(X, is_ball=True), X, radius, 3.0, w), X, radius, 3.0, w)
            agree(cluster_by_tiles(fill_from(X), n, radius * radius, 3.0, w), X, radius, 3.0, w)


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("largest", [1, 2**11 - 1, 2**11, 2**40])
def test_rows_are_sorted_by_cell(n, largest):
    keys = np.random.default_rng(n).integers(0, largest, size=n, endpoint=True)
    expected = np.argsort(keys, kind="stable")
    rows, spare = np.arange(n, dtype=np.int32), (np.empty(n, np.int64), np.empty(n, np.int32))
    given = keys.copy()
    moved = g.sort_by_key(given, rows, *spare, largest)
    assert (spare[1] if moved else rows).tolist() == expected.tolist()
    assert (spare[0] if moved else given).tolist() == keys[expected].tolist()


def test_cells_around_a_cell_are_runs_of_numbers():
    sizes = np.array([9, 8, 10])
    offsets = _row_offsets(sizes, 2)
    assert len(offsets) == 25 and offsets[0] == 0 and len(set(offsets.tolist())) == 25
    assert _row_offsets(sizes[:1], 2).tolist() == [0]
    centre = (4 * 8 + 3) * 10 + 5
    expected = {((4 + a) * 8 + 3 + b) * 10 for a in range(-2, 3) for b in range(-2, 3)}
    assert {centre + offset - 5 for offset in offsets.tolist()} == expected


def test_tasks_cover_all_cells_once():
    rng = np.random.default_rng(0)
    for counts in ([5000, 1, 1, 9000], rng.integers(1, 300, 200), [1]):
        starts = np.concatenate([[0], np.cumsum(counts)])
        tasks = _tasks(starts)
        covered = np.concatenate([np.arange(len(counts))[part] for part in tasks])
        assert covered.tolist() == list(range(len(counts)))


@pytest.mark.parametrize("gap", [0.2, 0.999, 1.001])
@pytest.mark.parametrize("n", [30, 700])
def test_crowded_cells_are_halved_until_the_answer_is_known(gap, n):
    """Two crowds whose nearest points are `gap` apart, small enough for all pairs and too large for that."""
    rng = np.random.default_rng(n)
    left, right = rng.uniform(0, 0.6, size=(2, 2, n))
    left[0] -= left[0].max()
    right[0] += gap - right[0].min()
    near = np.hstack([left, right])
    expected = ((left[:, :, None] - right[:, None]) ** 2).sum(axis=0).min() <= 1.0
    cells, starts, parents = np.array([10, 11]), np.array([0, n, 2 * n]), np.arange(2)
    g.link_cells(near, cells, starts, np.array([0]), 1, 1.0, parents)
    assert (parents[1] == 0) == expected
    assert sorted(map(tuple, near.T)) == sorted(map(tuple, np.hstack([left, right]).T))


def test_clusters_are_numbered_by_their_first_core_points():
    parents, nodes = np.array([0, 1, 1, 3]), np.array([0, 1, 2, 3, 3], np.int32)
    rows, cores = np.array([4, 3, 1, 0, 2], np.int32), np.array([True, True, True, False, False])
    assert number_clusters(parents, nodes, rows, cores).tolist() == [1, 0, 0, -1]


def test_labels_of_tiles_are_the_smallest_and_shared_ones_are_marked():
    tile = np.array([[0.0, 9.0, 0.0], [9.0, 9.0, 9.0], [9.0, 0.0, 9.0]])
    labels, shared = np.full(3, -1), np.zeros(3, bool)
    k.offer_labels(tile, 1.0, np.array([2, 5, 1]), labels, shared)
    assert labels.tolist() == [1, -1, 5] and shared.tolist() == [True, False, False]


def test_the_heap_gives_rows_by_reachability_and_then_number():
    rng = np.random.default_rng(1)
    n = 200
    reach, before = np.full(n, np.inf), np.full(n, -1)
    heap, place, sizes = np.empty(n, np.int64), np.full(n, o.WAITING), np.zeros(2, np.int64)
    expected, done = np.full(n, np.inf), np.zeros(n, bool)
    for step in range(n):
        row = o.next_row(reach, heap, place, sizes)
        assert row == np.flatnonzero(~done)[np.argmin(expected[~done])]
        done[row] = True
        columns, values = rng.permutation(n)[:20], rng.integers(0, 9, 20) / 2
        if step % 3:
            o.spread(columns, values, row, 1.0, 3.0, reach, before, heap, place, sizes)
            for j, value in zip(columns, values):
                if not done[j] and value <= 3.0:
                    expected[j] = min(expected[j], max(value, 1.0))
        np.testing.assert_array_equal(reach[~done], expected[~done])
    assert sizes[0] == 0


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("most", [0.8, np.inf])
@pytest.mark.parametrize("is_ball", [False, True])
def test_the_order_on_a_tree_is_that_of_all_pairs(n, most, is_ball):
    X = np.random.default_rng(n).normal(size=(n, 2))
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    core = np.sort(gaps, axis=1)[:, min(2, n - 1)]
    core[core > most] = np.inf
    tree = grow_tree(X, is_ball=is_ball)
    reach, before, ordering = np.full(n, np.inf), np.full(n, -1), np.empty(n, np.int64)
    where = tree.blocks, tree.order, tree.spans, tree.bounds
    o.order_on_tree(X, where, tree.rule, 1.0, core, most * most, reach, before, ordering)
    slow, slow_before = np.full(n, np.inf), np.full(n, -1)
    heap, place, sizes = np.empty(n, np.int64), np.full(n, o.WAITING), np.zeros(2, np.int64)
    for step in range(n):
        row = o.next_row(slow, heap, place, sizes)
        assert row == ordering[step]
        if core[row] < np.inf:
            o.spread(np.arange(n), gaps[row], row, core[row], most, slow, slow_before, heap, place, sizes)
    np.testing.assert_array_equal(reach, slow)
    np.testing.assert_array_equal(before, slow_before)


def test_smaller_clusters_are_labelled_first_and_larger_ones_not():
    labels = np.full(6, -1)
    o.label_places(np.array([[0, 1], [3, 3], [0, 3], [4, 5]]), labels)
    assert labels.tolist() == [0, 0, -1, 1, 2, 2]


def test_rows_are_reached_at_the_least_value_and_from_the_nearest_of_equal_ones():
    best, nearest, found = np.full(2, np.inf), np.full(2, np.inf), np.full(2, -1)
    tile = np.array([[1.0, 2.0, 1.5], [9.0, 9.0, 9.0]])
    o.reach_tile(tile, 10, np.array([2.0, 0.0, 2.0]), 5.0, best, nearest, found)
    assert best.tolist() == [2.0, np.inf] and found.tolist() == [10, -1]
