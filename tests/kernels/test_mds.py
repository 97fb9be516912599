"""Kernels of scaling by majorisation and of ranks, against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from hyperplan.manifold import _mds_kernels as k
from hyperplan.manifold._quality_kernels import rank_excess

SIZES = [1, 2, 3, 7, 64, 65, 199]


def problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return squareform(pdist(rng.normal(size=(n, 4)))) if n > 1 else np.zeros((1, 1)), rng.normal(size=(n, p))


def guttman(wanted, points):
    """B(X) X / n by the textbook."""
    distances = cdist(points, points)
    ratio = np.divide(wanted, distances, out=np.zeros_like(wanted), where=distances > 0)
    B = np.diag(ratio.sum(axis=1)) - ratio
    return B @ points / len(points)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", [1, 2, 5])
def test_a_step_of_rows_is_the_guttman_transform(n, p):
    wanted, points = problem(n, p)
    moved, totals = np.empty((p, n)), np.zeros(2)
    k.guttman_rows(wanted, np.ascontiguousarray(points.T), 0, np.empty(n), np.empty(n), moved, totals)
    np.testing.assert_allclose(moved.T, guttman(wanted, points), atol=1e-12)
    distances = cdist(points, points)
    np.testing.assert_allclose(
        totals, [((distances - wanted) ** 2).sum(), (distances**2).sum()], rtol=1e-10, atol=1e-12
    )
    half = n // 2
    part = np.empty((p, n - half))
    k.guttman_rows(
        np.ascontiguousarray(wanted[half:]),
        np.ascontiguousarray(points.T),
        half,
        np.empty(n),
        np.empty(n),
        part,
        totals,
    )
    np.testing.assert_allclose(part, moved[:, half:], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("n", SIZES)
def test_a_step_of_pairs_is_the_same(n):
    wanted, points = problem(n, 2)
    one, other = (index.astype(np.int32) for index in np.triu_indices(n, 1))
    distances, pulls = np.empty(one.size), np.zeros((n, 2))
    k.pair_distances(points, one, other, distances)
    np.testing.assert_allclose(distances, pdist(points) if n > 1 else [], rtol=1e-12)
    k.guttman_pairs(points, one, other, wanted[one, other], distances, pulls)
    np.testing.assert_allclose(pulls / n, guttman(wanted, points), atol=1e-12)


def test_coincident_points_pull_nowhere():
    wanted, points = problem(6, 2)
    points[1] = points[0]
    moved, totals = np.empty((2, 6)), np.zeros(2)
    k.guttman_rows(wanted, np.ascontiguousarray(points.T), 0, np.empty(6), np.empty(6), moved, totals)
    np.testing.assert_allclose(moved.T, guttman(wanted, points), atol=1e-12)
    pulls = np.zeros((6, 2))
    k.guttman_pairs(points, np.array([0], np.int32), np.array([1], np.int32), np.ones(1), np.zeros(1), pulls)
    assert not pulls.any()


def test_placed_rows_come_to_rest_where_the_misfit_is_flat():
    rng = np.random.default_rng(0)
    points, wanted, placed = rng.normal(size=(30, 2)), rng.uniform(1.0, 2.0, (4, 30)), rng.normal(size=(4, 2))
    before = ((cdist(placed, points) - wanted) ** 2).sum(axis=1)
    k.place_rows(points, wanted, 5000, 1e-13, np.empty(2), placed)
    after = ((cdist(placed, points) - wanted) ** 2).sum(axis=1)
    assert (after <= before).all()
    for q in range(4):
        gaps = placed[q] - points
        lengths = np.linalg.norm(gaps, axis=1)
        slope = ((1.0 - wanted[q] / lengths)[:, None] * gaps).sum(axis=0)
        assert np.abs(slope).max() < 1e-9


def test_a_row_that_starts_on_a_point_moves_on():
    points = np.array([[0.0], [1.0], [4.0]])
    placed = points[:1].copy()
    k.place_rows(points, np.array([[2.0, 1.0, 2.0]]), 1000, 1e-12, np.empty(1), placed)
    np.testing.assert_allclose(placed, 2.0, atol=1e-6)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [3, 4, 7, 30])
def test_ranks_are_those_of_a_stable_sort(n, ties):
    rng = np.random.default_rng(n)
    tile = rng.integers(0, 3, (n, n)).astype(float) if ties else rng.uniform(size=(n, n))
    first, rows = 1, n - 1
    chosen = np.array([rng.choice(np.delete(np.arange(n), first + i), 2, replace=False) for i in range(rows)])
    excess = np.empty(rows, np.int64)
    rank_excess(np.ascontiguousarray(tile[:rows]), first, chosen.astype(np.int64), excess)
    for i in range(rows):
        order = [j for j in np.argsort(tile[i], kind="stable") if j != first + i]
        assert excess[i] == sum(max(order.index(j) + 1 - 2, 0) for j in chosen[i])
