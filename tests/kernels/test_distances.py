"""Tiles of distances against loops, at the borders of panels; and the kernels that read such tiles."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from hyperplan import thread_limit
from hyperplan._math import _distance_kernels as k
from hyperplan._math import distances
from hyperplan.metrics._expected_information_kernels import expected_terms
from hyperplan.metrics._neighbourhood_kernels import excess_ranks
from hyperplan.metrics._silhouette_kernels import absorb

SIZES = [0, 1, 2, k.PANEL - 1, k.PANEL, k.PANEL + 1, 3 * k.PANEL + 7]
NAIVE = {
    k.SQUARED: lambda gap, p: (gap**2).sum(-1),
    k.EUCLIDEAN: lambda gap, p: np.sqrt((gap**2).sum(-1)),
    k.MANHATTAN: lambda gap, p: np.abs(gap).sum(-1),
    k.CHEBYSHEV: lambda gap, p: np.abs(gap).max(-1, initial=0.0),
    k.MINKOWSKI: lambda gap, p: (np.abs(gap) ** p).sum(-1) ** (1 / p),
}


def tile_of(a, b, code, power=2.0):
    tile = np.full((len(a), len(b)), np.nan)
    k.fill_tile(a, b, code, power, tile)
    return tile


@pytest.mark.parametrize("code", NAIVE)
@pytest.mark.parametrize("m", SIZES)
def test_tile_is_the_formula(code, m):
    """d + 1 roundings of numbers of one sign: 1e-13 is generous."""
    rng = np.random.default_rng(m)
    for n, d in ((3, 1), (2, 4), (1, 5), (4, 7)):
        a, b = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        expected = NAIVE[code](a[:, None] - b[None], 2.5)
        np.testing.assert_allclose(tile_of(a, b, code, 2.5), expected, rtol=1e-13)


@pytest.mark.parametrize("code", NAIVE)
def test_no_rows_and_no_columns(code):
    assert tile_of(np.empty((0, 3)), np.ones((2, 3)), code).shape == (0, 2)
    assert not tile_of(np.empty((2, 0)), np.empty((3, 0)), code).any()


@pytest.mark.parametrize("code", NAIVE)
def test_bits_do_not_depend_on_the_place(code):
    """d(x, y) = d(y, x), alone or in any tile: a prediction for one row is that of the same row among others."""
    X = np.random.default_rng(0).normal(size=(k.PANEL + 3, 6))
    whole = tile_of(X, X, code, 3.0)
    assert np.array_equal(whole, whole.T) and not whole.diagonal().any()
    for i, j in ((0, 1), (5, k.PANEL), (k.PANEL + 2, 3), (k.PANEL + 2, k.PANEL + 1)):
        assert tile_of(X[i : i + 1], X[j : j + 1], code, 3.0)[0, 0] == whole[i, j]


def test_infinite_and_missing_values_pass_through():
    a, b = np.array([[np.inf, 0.0], [np.nan, 0.0]]), np.zeros((1, 2))
    found = tile_of(a, b, k.EUCLIDEAN)
    assert found[0, 0] == np.inf and np.isnan(found[1, 0])


@pytest.mark.parametrize("code", [k.SQUARED, k.EUCLIDEAN])
def test_products_are_repaired(code):
    """Points 1e-9 apart at a distance of 1 from the origin: products alone have no digit left, differences have all."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=(5, 8))
    b = np.concatenate([a + 1e-9 * rng.normal(size=a.shape), a, rng.normal(size=(3, 8))])
    squares = [np.einsum("ij,ij->i", x, x) for x in (a, b)]
    tile = a @ b.T
    raw = squares[0][:, None] + squares[1] - 2 * tile
    k.finish_products(a, b, *squares, distances.DOUBT, code, tile)
    expected = NAIVE[code](a[:, None] - b[None], 2.0)
    np.testing.assert_allclose(tile, expected, rtol=1e-12)  # eps / DOUBT for trusted entries
    assert np.abs(raw.diagonal() - NAIVE[k.SQUARED](a - b[:5], 2.0)).max() > 1e-17  # what the repair is for


@pytest.mark.parametrize("name", [*distances.CODES, *distances.ALIASES])
@pytest.mark.parametrize("d", [3, distances.DIRECT, distances.DIRECT + 1])
def test_metrics_are_scipys(name, d):
    """Both ways of computing, far from the origin: 1e-9 where matrices are inverted by different roads, else 1e-11."""
    cdist = pytest.importorskip("scipy.spatial.distance").cdist
    rng = np.random.default_rng(d)
    X, Y = 100.0 + rng.normal(size=(50, d)), 100.0 + rng.normal(size=(7, d))
    short = distances.ALIASES.get(name, name)
    options = {"minkowski": {"p": 3.0, "w": rng.uniform(size=d)}, "seuclidean": {"V": X.var(axis=0)}}.get(short, {})
    if short == "mahalanobis":
        options = {"VI": np.linalg.inv(np.cov(X.T))}
    metric = distances.learn_metric(name, X, **options)
    found = distances.pairwise(metric, distances.prepare(Y, metric), distances.prepare(X, metric))
    expected = cdist(Y, X, {"manhattan": "cityblock"}.get(short, short), **options)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if short == "mahalanobis" else 1e-11, atol=1e-15)


@pytest.mark.parametrize("p, name", [(1.0, "manhattan"), (2.0, "euclidean"), (np.inf, "chebyshev")])
def test_powers_with_a_name(p, name):
    X = np.random.default_rng(2).normal(size=(6, 3))
    both = [distances.learn_metric("minkowski", X, p=p), distances.learn_metric(name, X)]
    found = [distances.pairwise(metric, distances.prepare(X, metric)) for metric in both]
    assert np.array_equal(*found)


@pytest.mark.parametrize("d", [2, distances.DIRECT + 1])
def test_matrices_do_not_depend_on_threads(d):
    X = np.random.default_rng(3).normal(size=(2 * distances.TILE + 5, d)).astype(np.float32)
    metric = distances.learn_metric("euclidean", X)
    points = distances.prepare(X, metric)
    with thread_limit(1):
        alone = distances.pairwise(metric, points)
    with thread_limit(3):
        assert np.array_equal(distances.pairwise(metric, points), alone)
    assert np.array_equal(alone, alone.T) and not alone.diagonal().any()


def test_a_given_matrix_is_filled():
    X = np.random.default_rng(4).normal(size=(9, 2)).astype(np.float32)
    metric = distances.learn_metric("euclidean", X)
    out = np.full((9, 9), -1.0, np.float32)
    points = distances.prepare(X, metric)
    assert distances.pairwise(metric, points, out=out) is out
    np.testing.assert_array_equal(out, distances.pairwise(metric, points).astype(np.float32))


def test_close_points_far_from_the_origin():
    """Squared distances of 1e-10 between points of norm 1e4, in more columns than differences serve."""
    rng = np.random.default_rng(5)
    X = 1e3 + rng.normal(size=(20, 64))
    X[10:] = X[:10] + 1e-6 * rng.normal(size=(10, 64))
    metric = distances.learn_metric("euclidean", X)
    found = distances.pairwise(metric, distances.prepare(X, metric))
    expected = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    np.testing.assert_allclose(found, expected, rtol=1e-7)  # 1e-6 differences of numbers near 1e3 keep 7 digits


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("minkowski", {"p": 0.0}, "p must be greater than 0"),
        ("minkowski", {"w": [1.0]}, "one non-negative weight for each of the 2 columns"),
        ("minkowski", {"w": [1.0, -1.0]}, "one non-negative weight for each of the 2 columns"),
        ("mahalanobis", {"VI": np.diag([1.0, -1.0])}, "negative eigenvalue"),
    ],
)
def test_parameters_that_make_no_distance(name, options, message):
    with pytest.raises(ValueError, match=message):
        distances.learn_metric(name, np.ones((3, 2)), **options)


@pytest.mark.parametrize("n", [2, 3, 20, 41])
@pytest.mark.parametrize("width", [1, 7, 64])
def test_absorbed_tiles_are_sums_by_cluster(n, width):
    rng = np.random.default_rng(n)
    codes = np.sort(rng.integers(0, 4, n))
    codes = np.unique(codes, return_inverse=True)[1]
    sizes, D = np.bincount(codes), rng.uniform(size=(n, n))
    running, within, nearest = np.zeros(n), np.zeros(n), np.full(n, np.inf)
    for first in range(0, n, width):
        tile = np.ascontiguousarray(D[:, first : first + width])
        absorb(tile, first, codes, codes, sizes, running, within, nearest)
    sums = np.array([[D[i, codes == c].sum() for c in range(len(sizes))] for i in range(n)])
    np.testing.assert_allclose(within, sums[np.arange(n), codes], rtol=1e-12)
    means = sums / sizes
    means[np.arange(n), codes] = np.inf
    np.testing.assert_allclose(nearest, means.min(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "classes, clusters", [([1], [1]), ([2, 2], [1, 3]), ([5, 1, 4], [3, 3, 4]), ([30, 9], [20, 19])]
)
def test_expected_information_is_the_sum_over_all_overlaps(classes, clusters):
    """Probabilities by binomial coefficients; logarithms of factorials have an error of about 1e-13 here."""
    n, expected = sum(classes), []
    for a in classes:
        total = 0.0
        for b in clusters:
            for m in range(max(1, a + b - n), min(a, b) + 1):
                p = math.comb(a, m) * math.comb(n - a, b - m) / math.comb(n, b)
                total += p * m / n * math.log(n * m / (a * b))
        expected.append(total)
    terms = np.empty(len(classes))
    expected_terms(np.array(classes), np.array(clusters), gammaln(np.arange(1.0, n + 2.0)), terms)
    np.testing.assert_allclose(terms, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("k_nearest", [1, 3])
def test_excess_ranks_are_counted(k_nearest):
    """Also with equal distances: both sides then take points in their order."""
    rng = np.random.default_rng(6)
    found, judged = rng.integers(0, 5, (2, 8, 8)).astype(float)
    first, excess = 2, np.empty(4)
    excess_ranks(found[2:6], judged[2:6], first, np.empty(k_nearest, np.intp), excess)
    for i, row in enumerate(range(2, 6)):
        others = [j for j in range(8) if j != row]
        neighbours = sorted(others, key=lambda j: (found[row, j], j))[:k_nearest]
        ranks = {j: r for r, j in enumerate(sorted(others, key=lambda j: (judged[row, j], j)), start=1)}
        assert excess[i] == sum(max(0, ranks[j] - k_nearest) for j in neighbours)
