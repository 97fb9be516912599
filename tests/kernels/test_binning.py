"""Bins against their definition: bin(x) <= b if and only if x <= edges[b]."""

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._trees import _binning_kernels as k
from hyperplan._trees.binning import ROWS, _sort, bin_rows, fit_bins, quantile_edges


def naive(X, bin_map):
    out = np.empty(X.shape, dtype=int)
    for f in range(X.shape[1]):
        out[:, f] = np.searchsorted(bin_map.edges[f, : bin_map.n_bins[f] - 1], X[:, f], side="left")
        out[np.isnan(X[:, f]), f] = bin_map.missing_bin
    return out


@pytest.mark.parametrize("n", [1, 2, 300, ROWS - 1, ROWS, ROWS + 1])
@pytest.mark.parametrize("d", [1, 4, 5])
def test_bins_are_counts_of_smaller_edges(n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.01] = np.inf
    bin_map = fit_bins(X, 40)
    data = bin_rows(X, bin_map)
    expected = naive(X, bin_map)
    assert all((data.column(f) == expected[:, f]).all() for f in range(d))
    assert (data.has_missing == np.isnan(X).any(axis=0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_type_and_order_of_the_input_do_not_matter(dtype, order):
    X = np.random.default_rng(0).normal(size=(500, 6)).astype(dtype)
    expected = bin_rows(X.astype(np.float64), fit_bins(X.astype(np.float64), 64)).words
    given = np.asarray(X, order=order)
    assert (bin_rows(given, fit_bins(given, 64)).words == expected).all()


def test_few_distinct_values_get_midpoints_and_many_get_quantiles():
    assert quantile_edges(np.array([3.0, 1.0, 2.0, 1.0]), 255).tolist() == [1.5, 2.5]
    values = np.arange(1000.0)
    assert quantile_edges(values.copy(), 4).tolist() == [249.5, 499.5, 749.5]
    assert quantile_edges(np.array([5.0, 5.0]), 255).size == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_value_that_most_rows_have_gets_a_bin_of_its_own_and_leaves_the_others_their_bins(weighted):
    rng = np.random.default_rng(0)
    values = np.where(rng.random(20_000) < 0.9, 0.0, rng.normal(size=20_000))
    edges = quantile_edges(values.copy(), 64, np.ones(values.size) if weighted else None)
    bins = np.searchsorted(edges, values)
    assert (bins == bins[values == 0][0]).sum() == (values == 0).sum()
    sizes = np.bincount(bins)
    assert 60 <= np.count_nonzero(sizes) <= 64
    assert np.sort(sizes)[-2] < 2.5 * (values != 0).sum() / 62  # the others share theirs about evenly


@pytest.mark.parametrize("n_others", [0, 1, 2, 90, 100, 150])
def test_sorting_with_zeros_set_aside_is_sorting(n_others):
    rng = np.random.default_rng(n_others)
    values = np.zeros(200)
    values[:n_others] = rng.normal(size=n_others)
    values[: min(n_others, 2)] = [np.inf, -np.inf][: min(n_others, 2)]
    values[-3:] = -0.0
    rng.shuffle(values)
    expected = np.sort(values)
    _sort(values)
    assert (values == expected).all()


def test_neighbouring_floats_and_huge_values_are_told_apart():
    a = 1.0
    pair = np.array([a, np.nextafter(a, 2)])
    edge = quantile_edges(pair.copy(), 255)
    assert edge.size == 1 and pair[0] <= edge[0] < pair[1]
    X = np.array([[-1e200], [1e200], [0.0]])
    assert np.unique(bin_rows(X, fit_bins(X, 255)).column(0)).size == 3


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    values, copies = rng.normal(size=400), rng.integers(0, 4, 400)
    heavy = quantile_edges(values.copy(), 16, copies.astype(float))
    # the same order statistics
    np.testing.assert_allclose(heavy, quantile_edges(np.repeat(values, copies), 16), rtol=1e-12)


def test_categories_are_their_codes_and_unknown_ones_are_missing():
    X = np.array([[0.0], [2.0], [1.0], [np.nan], [7.0]])
    bin_map = fit_bins(X[:4], 255, categories=[3])
    assert bin_rows(X, bin_map).column(0).tolist() == [0, 2, 1, bin_map.missing_bin, bin_map.missing_bin]


def test_any_number_of_threads_gives_the_same_bins():
    X = np.random.default_rng(0).normal(size=(3 * ROWS + 7, 3))
    with thread_limit(1):
        one = bin_rows(X, fit_bins(X, 255))
    many = bin_rows(X, fit_bins(X, 255))
    assert (one.words == many.words).all() and one.missing_bin == many.missing_bin


@pytest.mark.parametrize("n", [1, 2, 50, 500])
@pytest.mark.parametrize("distinct", [1, 2, 8, 9])
def test_few_values_are_found_without_sorting(n, distinct):
    values = np.random.default_rng(n).integers(0, distinct, n) - 3.5
    found = np.empty(8)
    count = k.find_few(values, found)
    expected = np.unique(values)
    assert count == (len(expected) if len(expected) <= 8 else -1)
    assert count < 0 or (found[:count] == expected).all()


@pytest.mark.parametrize("d", [1, 4, 7])
def test_two_bins_take_one_comparison(d):
    rng = np.random.default_rng(d)
    X = rng.integers(0, 2, (k.ROWS_TOGETHER + 3, d)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    data = bin_rows(X, fit_bins(X, 255))
    assert data.missing_bin == 2
    for f in range(d):
        assert (data.column(f) == np.where(np.isnan(X[:, f]), 2, X[:, f])).all()


@pytest.mark.parametrize("n", [1, 2, 40])
def test_columns_with_two_values_are_found_in_one_pass(n):
    rng = np.random.default_rng(n)
    kinds = [np.full(n, 3.0), rng.choice([-1.0, 2.0], n), rng.choice([0.0, -0.0, np.inf], n), np.eye(1, n, n - 1)[0]]
    X = np.column_stack([*kinds, np.where(np.arange(n) == n - 1, np.nan, 1.0), np.minimum(np.arange(n), 2.0)])
    pairs, plain = np.empty((2, X.shape[1])), np.empty(X.shape[1], np.uint8)
    k.find_pairs(X, np.arange(n), 0, X.shape[1], pairs, plain)
    for f, column in enumerate(X.T):
        values = np.unique(column + 0.0)  # one zero
        assert plain[f] == (len(values) <= 2 and not np.isnan(values).any())
        assert not plain[f] or set(pairs[:, f] + 0.0) == set(values)
    k.find_pairs(rng.normal(size=(9, 5)), np.arange(9), 0, 5, pairs[:, :5], plain[:5])
    assert not plain[:5].any()
    one, other = fit_bins(X), fit_bins(np.asfortranarray(X))  # columns are collected when they lie side by side
    assert (one.edges == other.edges).all() and (one.n_bins == other.n_bins).all()
