"""Nearest centres, sums of clusters and seeds against naive twins, at sizes around the chunks."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._solvers import _k_means_kernels as k
from hyperplan._solvers import _k_means_seeds_kernels as seeds_kernels
from hyperplan._solvers import k_means as solver
from hyperplan._solvers import k_means_rows, k_means_seeds

CHUNK = 16
SIZES = [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]


@pytest.fixture
def small_chunks(monkeypatch):
    """Spans, panels and tasks so small that a few rows fill several."""
    monkeypatch.setattr(k_means_rows, "FEWEST_ROWS", CHUNK)
    monkeypatch.setattr(k_means_rows, "MOST_PANEL", CHUNK // 2)
    monkeypatch.setattr(solver, "NEAREST_ROWS", CHUNK)
    monkeypatch.setattr(k_means_seeds, "PANEL", seeds_kernels.BLOCK)


def squared(X, C):
    return ((X[:, None, :].astype(np.float64) - C[None]) ** 2).sum(axis=2)


def whole_numbers(n, d, n_clusters, seed=0, dtype=np.float64):
    """Rows and centres whose distances have no rounding, so that there are true ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)).astype(dtype)
    return X, rng.integers(-3, 4, size=(n_clusters, d)).astype(np.float64)


def naive_sums(X, weight, labels, n_clusters, middle):
    wide = X.astype(np.float64) - middle
    weight = np.ones(len(X)) if weight is None else weight
    counts = np.bincount(labels[weight > 0], minlength=n_clusters)
    masses = np.bincount(labels, weights=weight, minlength=n_clusters)
    totals = np.stack([(weight[labels == c, None] * wide[labels == c]).sum(axis=0) for c in range(n_clusters)])
    spreads = np.bincount(labels, weights=weight * (wide**2).sum(axis=1), minlength=n_clusters)
    return counts, masses, totals, spreads


@pytest.mark.parametrize("n", [0, *SIZES])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tables_and_columns(n, dtype):
    rng = np.random.default_rng(n)
    X, middle = rng.normal(size=(n, 5)).astype(dtype), rng.normal(size=5)
    table, squares, plain = np.empty((n, 5), np.float32), np.empty(n), np.empty(n)
    k.fill_table(X, middle, 0.25, table, squares)
    np.testing.assert_allclose(table, (X - middle) * 0.25, rtol=1e-6, atol=1e-7)
    k.row_squares(table, plain)
    np.testing.assert_allclose(squares, (table.astype(np.float64) ** 2).sum(axis=1))
    np.testing.assert_allclose(plain, squares)
    sums, powers = np.ones(5), np.ones(5)
    k.add_columns(X, middle, sums, powers)
    np.testing.assert_allclose(sums, 1.0 + (X - middle).sum(axis=0))
    np.testing.assert_allclose(powers, 1.0 + ((X - middle) ** 2).sum(axis=0))
    chosen = np.arange(0, n, 2)
    out = np.empty((len(chosen), 5), np.float32)
    k.gather(table, chosen, out)
    np.testing.assert_array_equal(out, table[::2])


@pytest.mark.parametrize("m", [0, *SIZES])
def test_top_two(m):
    rng = np.random.default_rng(m)
    tile, half = rng.integers(0, 5, size=(4, m)).astype(np.float32), np.array([0, 1, 0, 2], np.float32)
    best, second, place = np.empty(m, np.float32), np.empty(m, np.float32), np.empty(m, np.int32)
    k.top_two(tile, half, best, second, place)
    scores = tile - half[:, None]
    np.testing.assert_array_equal(place, scores.argmax(axis=0) if m else place)
    ordered = np.sort(scores, axis=0)
    np.testing.assert_array_equal(best, ordered[-1])
    np.testing.assert_array_equal(second, ordered[-2])


def test_distances_between_centres():
    C = np.random.default_rng(0).normal(size=(5, 3))
    gaps = np.sqrt(squared(C, C))
    apart, half = np.empty(5), np.empty((5, 5))
    k.half_nearest(C, apart)
    k.half_between(C, half)
    np.testing.assert_allclose(half, gaps / 2, atol=1e-12)
    np.testing.assert_allclose(apart, np.where(np.eye(5) > 0, np.inf, gaps).min(axis=1) / 2)


@pytest.mark.parametrize("kind", ["lloyd", "elkan", "sparse"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_search_follows_wandering_centres(small_chunks, kind, n, dtype):
    """Bounds of earlier steps never hide a nearer centre, and sums by differences are the sums."""
    rng = np.random.default_rng(n)
    X, C = rng.normal(size=(n, 3)).astype(dtype), rng.normal(size=(6, 3))
    weight = rng.integers(0, 3, size=n).astype(np.float64)
    rows = solver.rows_of(sp.csr_array(X) if kind == "sparse" else X, weight, n_jobs=2)
    search, travel = rows.search(6, elkan=kind == "elkan"), None
    for step in range(8):
        before = search.labels.copy()
        moved = search.assign(C, travel)
        expected = squared(X, C).argmin(axis=1)
        np.testing.assert_array_equal(search.labels, expected)
        assert moved == (expected != before).sum()
        for found, naive in zip(search.sums, naive_sums(X, weight, expected, 6, rows.frame.middle)):
            np.testing.assert_allclose(found, naive, atol=1e-9)
        new = C + rng.normal(size=C.shape) * 0.3 * 0.4**step
        travel, C = np.sqrt(((new - C) ** 2).sum(axis=1)), new


@pytest.mark.parametrize("kind", ["lloyd", "elkan", "sparse", "predict", "predict sparse"])
@pytest.mark.parametrize("n", SIZES)
def test_ties_go_to_the_first_centre(small_chunks, kind, n):
    X, C = whole_numbers(n, 2, 7, seed=n)
    C[5] = C[2]
    expected = squared(X, C).argmin(axis=1)
    table = sp.csr_array(X) if "sparse" in kind else X
    if "predict" in kind:
        found = solver.nearest_centres(table, C)
    else:
        search = solver.rows_of(table).search(7, elkan=kind == "elkan")
        search.assign(C + 0.25)
        search.assign(C, np.full(7, np.sqrt(2 * 0.25**2)))
        found = search.labels
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_labels_are_exact_far_from_the_origin_and_in_any_unit(shift, scale):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 4)) + shift) * scale
    C = X[:9].copy()
    expected = squared(X / scale, C / scale).argmin(axis=1)
    search = solver.rows_of(X).search(9)
    search.assign(C)
    np.testing.assert_array_equal(search.labels, expected)
    np.testing.assert_array_equal(solver.nearest_centres(X, C), expected)


def test_rows_beyond_float32_find_their_centre():
    C = np.array([[0.0, 0.0], [1.0, 1.0]])
    X = np.array([[1e60, 1e60], [-1e60, 0.0], [0.4, 0.4]])
    np.testing.assert_array_equal(solver.nearest_centres(X, C), [0, 0, 0])  # at 1e60 both are equally far
    np.testing.assert_array_equal(solver.nearest_centres(np.array([[1e10, 1e10]]), C), [1])


def test_sums_recover_from_a_huge_row_that_left():
    """A row of 1e12 passes through a cluster: differences alone would leave its rounding in the sums."""
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 1)), [[1e12]]])
    search = solver.rows_of(X).search(2)
    first, second = np.array([[0.0], [-1e13]]), np.array([[0.0], [1e12]])
    search.assign(first)
    search.assign(second, np.abs(second - first).ravel())
    middle = search.rows.frame.middle
    np.testing.assert_allclose(search.sums.totals[0] + 50 * middle, X[:50].sum(axis=0), rtol=1e-3)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_own_gaps(n, dtype):
    rng = np.random.default_rng(n)
    X, C = rng.normal(size=(n, 5)).astype(dtype), rng.normal(size=(3, 5))
    labels = rng.integers(0, 3, size=n).astype(np.int32)
    expected = squared(X, C)[np.arange(n), labels]
    for table in (X, sp.csr_array(X)):
        np.testing.assert_allclose(solver.rows_of(table).own_gaps(labels, C), expected, rtol=1e-10)
        assert solver.total_gap(table, labels, C, np.full(n, 2.0)) == pytest.approx(2 * expected.sum(), rel=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 1025, 3 * 1024 + 7])
def test_distances_to_candidates(n):
    rng = np.random.default_rng(n)
    X = np.concatenate([rng.normal(size=(n, 3)), np.zeros((0, 3))])
    Z = np.concatenate([X[:1], rng.normal(size=(2, 3))]) if n else rng.normal(size=(3, 3))
    expected = squared(X, Z).T
    exact, sparse = np.empty((3, n)), np.empty((3, n))
    seeds_kernels.exact_gaps(X, Z, exact)
    np.testing.assert_allclose(exact, expected, rtol=1e-12)
    squares, seed_squares = (X**2).sum(axis=1), (Z**2).sum(axis=1)
    seeds_kernels.sparse_gaps(compressed(sp.csr_array(X)), squares, Z, seed_squares, sparse)
    np.testing.assert_allclose(sparse, expected, atol=1e-12)
    tile = (Z @ X.T).astype(np.float32)
    narrow = squares.astype(np.float32), seed_squares.astype(np.float32)
    seeds_kernels.screened_gaps(tile, *narrow, k_means_rows.float_error(3), X, Z, 1.0)
    np.testing.assert_allclose(tile, expected, rtol=1e-3)
    if n:
        assert tile[0, 0] == sparse[0, 0] == exact[0, 0] == 0.0  # a row is at no distance from itself
    for weight in (np.empty(0), rng.uniform(size=n)):
        closest, left, sums = rng.uniform(size=n), np.empty((3, n)), np.empty((3, -(-n // seeds_kernels.BLOCK)))
        seeds_kernels.weigh(exact, 0, weight, closest, left, sums)
        np.testing.assert_array_equal(left, np.minimum(exact, closest))
        np.testing.assert_allclose(sums.sum(axis=1), (left * (weight if weight.size else 1.0)).sum(axis=1))


@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 1025, 3 * 1024 + 7])
@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_products_with_candidates(n, d):
    rng = np.random.default_rng(n)
    table, narrow = rng.normal(size=(n + 5, d)).astype(np.float32), rng.normal(size=(3, d)).astype(np.float32)
    tile = np.full((3, n), np.nan, np.float32)
    seeds_kernels.products(np.ascontiguousarray(table.T), 5, narrow, tile)
    expected = narrow.astype(np.float64) @ table[5:].T.astype(np.float64)
    np.testing.assert_allclose(tile, expected, atol=2e-6 * d)  # sums of d products of numbers up to about 4 in float32


@pytest.mark.parametrize("d", [4, k_means_seeds.FEW_COLUMNS + 1])
def test_seeds_from_float32_products_are_those_of_float64(monkeypatch, d):
    X = np.random.default_rng(0).normal(size=(3000, d)) + 5.0
    expected = k_means_seeds.spread_seeds(solver.rows_of(X), 8, np.random.RandomState(3))
    monkeypatch.setattr(k_means_seeds, "FEW_ROWS", 0)
    found = k_means_seeds.spread_seeds(solver.rows_of(X), 8, np.random.RandomState(3))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [1, 1024, 1025, 4000])
def test_drawing_by_blocks_is_drawing_from_the_running_sum(n):
    rng = np.random.default_rng(n)
    closest, weight = rng.uniform(size=n), rng.integers(0, 3, size=n).astype(np.float64)
    weight[0] = 1.0
    shares = rng.uniform(size=200)
    for values in (np.empty(0), weight):
        mass = closest * values if values.size else closest
        sums = np.add.reduceat(mass, np.arange(0, n, seeds_kernels.BLOCK))
        found = k_means_seeds.draw_by_weight(shares, closest, sums, values)
        np.testing.assert_array_equal(found, np.searchsorted(np.cumsum(mass), shares * mass.sum()))
