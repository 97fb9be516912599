"""Kernels of neighbours against naive twins: lists, votes, means, selection; at the borders of blocks and leaves."""

import numpy as np
import pytest

from hyperplan._math import _brute_kernels as b
from hyperplan._math import _space_tree_kernels as t
from hyperplan._math.space_tree import grow_tree, nearest_rows, rows_within
from hyperplan.neighbors import _descent_kernels as g
from hyperplan.neighbors import _nearest_vote_kernels as v
from hyperplan.neighbors._descent import build_graph, squared_walk

WIDTHS = [0, 1, 2, b.BLOCK - 1, b.BLOCK, b.BLOCK + 1, 3 * b.BLOCK + 7]


@pytest.mark.parametrize("width", WIDTHS)
def test_largest_scores_are_kept(width):
    rng = np.random.default_rng(width)
    tile = rng.normal(size=(3, width)).astype(np.float32)
    best, places = np.full((3, 4), -np.inf, np.float32), np.full((3, 4), -1, np.int32)
    b.keep_largest(tile, 100, best, places)
    for i in range(3):
        order = np.argsort(-tile[i])[:4]
        assert places[i, : len(order)].tolist() == (100 + order).tolist()
        assert np.array_equal(best[i, : len(order)], tile[i, order])


@pytest.mark.parametrize("width", WIDTHS)
def test_smallest_distances_are_kept_and_the_first_of_equal_ones(width):
    tile = np.random.default_rng(width).integers(0, 9, size=(3, width)).astype(float)
    distances, found = np.full((3, 4), np.inf), np.full((3, 4), -1, np.int64)
    b.keep_smallest(tile, 10, distances, found)
    for i in range(3):
        order = np.argsort(tile[i], kind="stable")[:4]
        assert found[i, : len(order)].tolist() == (10 + order).tolist()
        assert np.array_equal(distances[i, : len(order)], tile[i, order])


def test_settled_lists_are_those_below_the_bound():
    X, Q = np.array([[0.0], [3.0], [1.0], [9.0]]), np.array([[0.0], [0.0]])
    places = np.array([[1, 0, 2], [3, 1, 0]], np.int32)
    squares, found, settled = np.empty((2, 2)), np.empty((2, 2), np.int64), np.empty(2, bool)
    b.settle(Q, X, places, np.array([1.5, 8.9]), squares, found, settled)
    assert found.tolist() == [[0, 2], [0, 1]] and squares.tolist() == [[0.0, 1.0], [0.0, 9.0]]
    assert settled.tolist() == [True, False]
    tile = np.array([[0, 0, 0, 0], [0, 0, 1, 0]], np.float32)
    b.measure_above(tile, 0, np.array([0.5, 0.5], np.float32), Q, X, squares, found)
    assert found.tolist() == [[0, 2], [0, 2]]


@pytest.mark.parametrize("n", [t.LEAF + 1, 2 * t.LEAF, 5 * t.LEAF + 3])
def test_a_node_is_cut_between_leaves_near_the_median(n):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(0, 3, size=n) * 1.0, np.arange(n) * 1.0, np.arange(n) * -1.0):
        n_leaves = -(-n // t.LEAF)
        spans, order = np.zeros((7, 2), np.int32), np.arange(n, dtype=np.int32)
        spans[0, 1] = n_leaves
        axes, cuts, bounds = np.zeros(7, np.int32), np.zeros(7), np.zeros((7, 2, 2))
        X = np.column_stack([values, 0.1 * values])
        t.split_node(X, order, 0, spans, axes, cuts, bounds, np.empty(n))
        assert spans[1:3].tolist() == [[0, (n_leaves + 1) // 2], [(n_leaves + 1) // 2, n_leaves]] and axes[0] == 0
        middle = spans[1, 1] * t.LEAF
        assert sorted(order.tolist()) == list(range(n))
        assert values[order[:middle]].max() <= cuts[0] == values[order[middle:]].min()
        assert bounds[0].tolist() == [X.min(axis=0).tolist(), X.max(axis=0).tolist()]


def test_lists_are_sorted_in_place():
    rng = np.random.default_rng(0)
    starts = np.array([0, 0, 1, 3, 40, 41])
    rows, distances = rng.permutation(41), rng.integers(0, 5, size=41).astype(float)
    for by_distance in (False, True):
        found, values = rows.copy(), distances.copy()
        t.sort_lists(starts, 0, 5, by_distance, found, values)
        for i in range(5):
            part = slice(starts[i], starts[i + 1])
            order = np.lexsort((rows[part], distances[part])) if by_distance else np.argsort(rows[part])
            assert np.array_equal(found[part], rows[part][order])
            assert np.array_equal(values[part], distances[part][order])


def test_votes_means_and_inverse_distances():
    starts, rows = np.array([0, 2, 2, 5]), np.array([0, 1, 2, 0, 3])
    distances = np.array([2.0, 4.0, 0.0, 1.0, 0.0])
    weights = np.empty(5)
    v.invert_lists(starts, distances, weights)
    assert weights.tolist() == [0.5, 0.25, 1.0, 0.0, 1.0]
    codes, votes = np.array([0, 1, 1, 2]), np.zeros((3, 3))
    v.add_votes(codes, starts, rows, np.empty(0), votes)
    assert votes.tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    votes[:] = 0.0
    v.add_votes(codes, starts, rows, weights, votes)
    assert votes.tolist() == [[0.5, 0.25, 0], [0, 0, 0], [0, 1, 1]]
    means = np.zeros((3, 1))
    v.average(np.array([[4.0], [1.0], [6.0], [2.0]]), starts, rows, weights, means)
    assert means[[0, 2], 0].tolist() == [3.0, 4.0] and np.isnan(means[1, 0])


@pytest.mark.parametrize("is_ball", [False, True])
@pytest.mark.parametrize("n", [1, 2, t.LEAF - 1, t.LEAF, t.LEAF + 1, 3 * t.LEAF + 7])
def test_trees_against_all_distances(n, is_ball):
    rng = np.random.default_rng(n)
    X, Q = rng.normal(size=(n, 2)), rng.normal(size=(5, 2))
    distances = np.sqrt(((Q[:, None] - X) ** 2).sum(axis=2))
    tree, k = grow_tree(X, is_ball=is_ball), min(n, 3)
    np.testing.assert_allclose(nearest_rows(tree, Q, k)[0], np.sort(distances, axis=1)[:, :k], rtol=1e-13)
    starts, rows, _ = rows_within(tree, Q, 1.0)
    assert np.array_equal(rows, np.nonzero(distances <= 1.0)[1])
    assert np.array_equal(np.diff(starts), (distances <= 1.0).sum(axis=1))


@pytest.mark.parametrize("n", [2, g.LEAF - 1, g.LEAF + 1, 5 * g.LEAF + 3])
def test_walks_in_small_graphs_find_all(n):
    """With fewer rows than a walk has patience for, every row is met."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    found = build_graph(X)
    assert (found.graph[:, 0] != np.arange(n)).all() and sorted(found.order[0].tolist()) == list(range(n))
    squares, rows = squared_walk(found, X, X, min(n, 4))
    expected = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, : min(n, 4)]
    np.testing.assert_allclose(squares, expected, rtol=1e-12)
    assert np.array_equal(rows[:, 0], np.arange(n))
