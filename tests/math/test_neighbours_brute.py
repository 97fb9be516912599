"""Exhaustive search by products in float32: the rows and the digits of float64, also where float32 cannot tell."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._math import brute
from hyperplan._math.brute import nearest_by_tiles, squared_nearest, within_by_tiles

N, M = 1100, 70  # enough rows and queries for the products


def exact(X, Q, k):
    """Squared distances by differences, row numbers by a stable sort."""
    squares = ((Q[:, None].astype(np.float64) - X[None].astype(np.float64)) ** 2).sum(-1)
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(squares, order, axis=1), order


def check(X, Q, k):
    squares, rows = squared_nearest(X, Q, k)
    expected, order = exact(X, Q, k)
    np.testing.assert_allclose(squares, expected, rtol=1e-12)  # another order of the same sums
    measured = ((Q[:, None].astype(np.float64) - X[rows].astype(np.float64)) ** 2).sum(-1)
    np.testing.assert_allclose(measured, expected, rtol=1e-12)
    return rows, order


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 10, N])
@pytest.mark.parametrize("d", [1, 5, 40])
def test_rows_and_distances_are_those_of_float64(d, k, dtype):
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(N, d)).astype(dtype), rng.normal(size=(M, d)).astype(dtype)
    rows, order = check(X, Q, k)
    assert np.array_equal(rows, order)


def test_products_were_used_and_settle_most(monkeypatch):
    rng = np.random.default_rng(0)
    X, Q, seen = rng.normal(size=(N, 30)), rng.normal(size=(M, 30)), []
    plain = brute.k.settle
    monkeypatch.setattr(brute.k, "settle", lambda *given: (plain(*given), seen.append(given[-1].copy()))[0])
    check(X, Q, 10)
    assert np.concatenate(seen).shape == (M,) and np.concatenate(seen).mean() > 0.9


def test_points_far_from_the_origin():
    """Offsets of 1e6 times the spread leave no digit to products that are not centred."""
    rng = np.random.default_rng(1)
    X, Q = 1e6 + rng.normal(size=(N, 8)), 1e6 + rng.normal(size=(M, 8))
    rows, order = check(X, Q, 5)
    assert np.array_equal(rows, order)


def test_gaps_below_the_resolution_of_float32():
    """Two clusters 1e5 apart, neighbours 1e-4 apart: nothing is settled by the products, all is measured."""
    rng = np.random.default_rng(2)
    X = 1e-4 * rng.normal(size=(N, 6)) + 1e5 * rng.integers(0, 2, size=(N, 1))
    rows, order = check(X, X[:M], 5)
    assert np.array_equal(rows, order)


def test_ties_and_duplicates_go_to_the_smaller_number():
    """Rows of zeros and ones: hundreds of rows are equally near, and distances are exact."""
    rng = np.random.default_rng(3)
    X, Q = rng.integers(0, 2, size=(2 * N, 12)).astype(float), rng.integers(0, 2, size=(M, 12)).astype(float)
    squares, rows = squared_nearest(X, Q, 10)
    expected, order = exact(X, Q, 10)
    assert np.array_equal(rows, order) and np.array_equal(squares, expected)


def test_a_query_beyond_float32():
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
    Q[7] *= 1e30
    rows, order = check(X, Q, 3)
    assert np.array_equal(rows[np.arange(M) != 7], order[np.arange(M) != 7])


def test_constant_table():
    squares, rows = squared_nearest(np.ones((N, 2)), np.zeros((M, 2)), 4)
    assert np.array_equal(rows, np.tile(np.arange(4), (M, 1))) and (squares == 2.0).all()


def test_threads_change_no_bit():
    rng = np.random.default_rng(5)
    X, Q = rng.normal(size=(3000, 20)), rng.normal(size=(1500, 20))
    results = []
    for n_jobs in (1, 2, 5):
        with thread_limit(n_jobs):
            results.append([array.tobytes() for array in squared_nearest(X, Q, 5)])
    assert results[0] == results[1] == results[2]


def filler(D):
    def fill(rows, columns, tile):
        tile[:] = D[rows, columns]

    return fill


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (brute.TILE + 1, 2 * brute.TILE + 3)])
def test_any_distance_by_tiles(shape):
    D = np.random.default_rng(6).integers(0, 40, size=shape).astype(float)
    order = np.argsort(D, axis=1, kind="stable")
    for k in {1, min(shape[1], 20)}:
        distances, rows = nearest_by_tiles(filler(D), *shape, k)
        assert np.array_equal(rows, order[:, :k])
        assert np.array_equal(distances, np.take_along_axis(D, rows, axis=1))
    for by_distance in (False, True):
        starts, rows, distances = within_by_tiles(filler(D), *shape, 7.0, by_distance)
        assert np.array_equal(starts, np.concatenate([[0], np.cumsum((D <= 7).sum(axis=1))]))
        queries = np.repeat(np.arange(shape[0]), np.diff(starts))
        assert np.array_equal(distances, D[queries, rows]) and (distances <= 7).all()
        keys = (rows, distances, queries) if by_distance else (rows, queries)
        assert np.array_equal(np.lexsort(keys), np.arange(len(rows)))


def test_distances_without_order_come_last():
    D = np.array([[np.nan, 3.0, np.inf, 1.0, np.nan]])
    distances, rows = nearest_by_tiles(filler(D), 1, 5, 4)
    assert rows.tolist() == [[3, 1, 2, 0]]
    assert np.array_equal(distances, [[1.0, 3.0, np.inf, np.nan]], equal_nan=True)
