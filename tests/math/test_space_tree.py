"""Trees of boxes and balls against sorting all distances: same rows, same order, at awkward sizes and points."""

import itertools

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._math import _distance_kernels as codes
from hyperplan._math import space_tree
from hyperplan._math.space_tree import LEAF, count_within, grow_tree, nearest_rows, rows_within

SIZES = [1, 2, LEAF - 1, LEAF, LEAF + 1, 3 * LEAF + 7, 20 * LEAF + 3]
MEASURES = {
    codes.EUCLIDEAN: lambda gap: np.sqrt((gap**2).sum(-1)),
    codes.MANHATTAN: lambda gap: np.abs(gap).sum(-1),
    codes.CHEBYSHEV: lambda gap: np.abs(gap).max(-1),
    codes.MINKOWSKI: lambda gap: (np.abs(gap) ** 3).sum(-1) ** (1 / 3),
}
kinds = pytest.mark.parametrize("is_ball", [False, True])
measures = pytest.mark.parametrize("code", MEASURES)


def points(n, d, seed=0):
    """Half of them on a coarse grid: many ties and duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[::2] = np.round(X[::2])
    return X


def all_distances(Q, X, code):
    return MEASURES[code](Q[:, None] - X[None])


@kinds
@measures
@pytest.mark.parametrize("n", SIZES)
def test_nearest_rows_are_the_nearest(n, code, is_ball):
    for d in (1, 2, 3, 5):
        X, Q = points(n, d), np.concatenate([points(n, d), points(23, d, 1), 100.0 + points(3, d)])
        expected = np.sort(all_distances(Q, X, code), axis=1)
        tree = grow_tree(X, code, 3.0, is_ball)
        for k in {1, min(n, 4), n}:
            distances, rows = nearest_rows(tree, Q, k)
            # powers differ in the last digits; all else is exact up to the order of a sum
            np.testing.assert_allclose(distances, expected[:, :k], rtol=1e-13, atol=1e-15)
            found = np.take_along_axis(all_distances(Q, X, code), rows, axis=1)
            np.testing.assert_allclose(found, distances, rtol=1e-13, atol=1e-15)
            assert all(len(set(row)) == k for row in rows.tolist())


@kinds
@pytest.mark.parametrize("code", [codes.EUCLIDEAN, codes.MANHATTAN, codes.CHEBYSHEV])
def test_ties_go_to_the_smaller_row_number(code, is_ball):
    """On a grid all distances are exact, so that the order is that of a stable sort."""
    X = np.array(list(itertools.product(range(6), repeat=3)) * 2, dtype=float)
    X = X[np.random.default_rng(0).permutation(len(X))]
    Q = X[:40]
    distances = all_distances(Q, X, code)
    order = np.argsort(distances, axis=1, kind="stable")
    for k in (1, 2, 7, 30):
        found = nearest_rows(grow_tree(X, code, is_ball=is_ball), Q, k)
        assert np.array_equal(found[1], order[:, :k])
        assert np.array_equal(found[0], np.take_along_axis(distances, order[:, :k], axis=1))


@kinds
@measures
@pytest.mark.parametrize("n", SIZES)
def test_rows_within_a_radius(n, code, is_ball):
    X = points(n, 3)
    Q = np.concatenate([X, points(11, 3, 5)])
    distances, tree = all_distances(Q, X, code), grow_tree(X, code, 3.0, is_ball)
    for radius in (0.0, 0.7, 1.9, np.inf):
        inside = distances <= radius * (1 + 1e-12)
        assert np.array_equal(count_within(tree, Q, radius * (1 + 1e-12)), inside.sum(axis=1))
        starts, rows, found = rows_within(tree, Q, radius * (1 + 1e-12))
        assert np.array_equal(rows, np.nonzero(inside)[1])  # sorted by query, then row
        assert np.array_equal(starts, np.concatenate([[0], np.cumsum(inside.sum(axis=1))]))
        np.testing.assert_allclose(found, distances[inside], rtol=1e-13, atol=1e-15)


@kinds
def test_each_query_may_have_its_own_radius(is_ball):
    X, Q = points(200, 2), points(50, 2, 3)
    radius = np.random.default_rng(0).uniform(0, 3, size=50)
    tree, expected = grow_tree(X, is_ball=is_ball), all_distances(Q, X, codes.EUCLIDEAN) <= radius[:, None]
    assert np.array_equal(count_within(tree, Q, radius), expected.sum(axis=1))
    assert np.array_equal(rows_within(tree, Q, radius).rows, np.nonzero(expected)[1])


def test_lists_can_be_sorted_by_distance():
    X = points(300, 2)
    starts, rows, distances = rows_within(grow_tree(X), X, 1.0, by_distance=True)
    for i in range(len(X)):
        part = slice(starts[i], starts[i + 1])
        order = np.lexsort((rows[part], distances[part]))
        assert np.array_equal(order, np.arange(part.stop - part.start)) and distances[starts[i]] == 0.0


@kinds
def test_all_points_equal(is_ball):
    X = np.full((100, 2), 0.1)
    distances, rows = nearest_rows(grow_tree(X, is_ball=is_ball), X[:3], 5)
    assert np.array_equal(rows, np.tile(np.arange(5), (3, 1))) and not distances.any()
    assert (count_within(grow_tree(X, is_ball=is_ball), X, 0.0) == 100).all()


def test_distances_of_equal_pairs_are_equal_to_the_bit():
    """Neighbours of neighbours: d(x, y) is d(y, x), whichever leaf either stands in."""
    X = points(400, 3)
    distances, rows = nearest_rows(grow_tree(X), X, 20)
    pairs = {(i, j): d for i, (row, values) in enumerate(zip(rows, distances)) for j, d in zip(row, values)}
    both = [(i, j) for i, j in pairs if (j, i) in pairs and i < j]
    assert len(both) > 1000 and all(pairs[i, j] == pairs[j, i] for i, j in both)


def test_bounds_hold_and_rows_are_a_permutation():
    X = points(1000, 4)
    tree = grow_tree(X)
    assert np.array_equal(np.sort(tree.order), np.arange(1000))
    for node, (first, stop) in enumerate(tree.spans):
        rows = X[tree.order[first * LEAF : stop * LEAF]]
        if stop > first:
            assert np.array_equal(tree.bounds[node], [rows.min(axis=0), rows.max(axis=0)])
            assert (tree.axes[node] < 0) == (stop - first == 1)


@kinds
def test_threads_change_no_bit(is_ball, monkeypatch):
    monkeypatch.setattr(space_tree, "SERIAL", 100)
    X, Q = points(3000, 3), points(5000, 3, 1)
    results = []
    for n_jobs in (1, 2, 5):
        with thread_limit(n_jobs):
            tree = grow_tree(X, is_ball=is_ball)
            answers = nearest_rows(tree, Q, 7), rows_within(tree, Q[:500], 0.3), tree[:-1]
            results.append([array.tobytes() for answer in answers for array in answer])
    assert results[0] == results[1] == results[2]


def test_the_serial_part_changes_the_tree_not_the_answers(monkeypatch):
    X = points(2000, 3)
    whole = nearest_rows(grow_tree(X), X, 5)
    monkeypatch.setattr(space_tree, "SERIAL", 10)
    parts = nearest_rows(grow_tree(X), X, 5)
    assert np.array_equal(whole[1], parts[1]) and np.array_equal(whole[0], parts[0])


def test_visits_grow_with_the_dimension_of_the_cloud():
    rng = np.random.default_rng(0)
    curve, cloud = rng.normal(size=(3000, 1)) @ rng.normal(size=(1, 10)), rng.normal(size=(3000, 10))
    trees = grow_tree(curve), grow_tree(cloud)
    few, many = (space_tree.nodes_visited(tree, X, 5) for tree, X in zip(trees, (curve, cloud)))
    assert 1 <= few < 60 and 300 < many <= 2 * len(trees[1].blocks)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(space_tree, "MOST_ROWS", 10)
    with pytest.raises(ValueError, match="at most 10 rows, got 11"):
        grow_tree(np.zeros((11, 1)))
