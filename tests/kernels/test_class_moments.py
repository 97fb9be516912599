"""Sums by class and scores by class against loops over rows, at sizes around the unrolled four and the tasks."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from hyperplan import thread_limit
from hyperplan._core.arrays import compressed
from hyperplan._math import _class_moments_kernels as sums
from hyperplan._math import _class_scores_kernels as scores
from hyperplan._math.class_moments import (
    class_moments,
    class_order,
    class_scatters,
    class_shifts,
    class_totals,
    merged_moments,
    pooled_moments,
)
from hyperplan._math.class_scores import gaussian_full_scores, upper_triangle
from hyperplan._math.moments import TASK_ROWS, panel_rows

SIZES = [0, 1, 2, 3, 4, 5, 19]
LARGE = [TASK_ROWS - 1, TASK_ROWS, TASK_ROWS + 1, 3 * TASK_ROWS + 7]
NONE = np.empty(0)


def rows(n, d=3, k=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + 5.0).astype(dtype)
    return X, rng.integers(0, k, n), rng.uniform(0.1, 2.0, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [True, False])
def test_sums_by_class(n, dtype, weighted):
    X, codes, weight = rows(n, dtype=dtype)
    X[::2] *= -1
    w = weight if weighted else np.ones(n)
    indicator = np.eye(4)[codes] * w[:, None]
    given = weight if weighted else NONE
    wide = X.astype(np.float64)
    shift = np.arange(12.0).reshape(4, 3)

    count, total = np.zeros(4), np.zeros((4, 3))
    negative = sums.add_class_totals(X, codes, given, count, total)
    np.testing.assert_allclose(count, indicator.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(total, indicator.T @ wide, rtol=1e-12, atol=1e-12)
    assert negative == (X < 0).sum()

    found = np.zeros(4), np.zeros((4, 3))
    sums.add_class_counts(X, codes, given, 5.0, *found)
    np.testing.assert_allclose(found[1], indicator.T @ (X > 5.0), atol=1e-12)

    count, first, second = np.zeros(4), np.zeros((4, 3)), np.zeros((4, 3))
    sums.add_class_squares(X, codes, given, shift, count, first, second)
    centred = wide - shift[codes]
    np.testing.assert_allclose(first, indicator.T @ centred, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(second, indicator.T @ centred**2, rtol=1e-12, atol=1e-10)

    matrix = compressed(sp.csr_array(np.where(np.abs(X) > 5.0, X, 0)))
    count, total = np.zeros(4), np.zeros((4, 3))
    sums.add_sparse_totals(matrix, codes, given, count, total)
    np.testing.assert_allclose(total, indicator.T @ np.where(np.abs(X) > 5.0, wide, 0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_missing_entries_are_left_out_of_sums_and_scores(n):
    X, codes, weight = rows(n)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    there = ~np.isnan(X)
    indicator = np.eye(4)[codes] * weight[:, None]
    shift = np.ones((4, 3))
    count, first, second = (np.zeros((4, 3)) for _ in range(3))
    sums.add_present_squares(X, codes, weight, shift, count, first, second)
    centred = np.where(there, X - 1.0, 0.0)
    np.testing.assert_allclose(count, indicator.T @ there, atol=1e-12)
    np.testing.assert_allclose(first, indicator.T @ centred, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second, indicator.T @ centred**2, rtol=1e-12, atol=1e-12)

    rng = np.random.default_rng(2)
    mean, precision, half = rng.normal(size=(2, 3)), rng.uniform(1, 2, (2, 3)), rng.normal(size=(2, 3))
    out = np.empty((n, 2))
    scores.present_scores(X, mean, precision, half, np.array([0.5, -0.5]), out)
    terms = np.where(there[:, None], 0.5 * precision * (X[:, None] - mean) ** 2 + half, 0.0)
    np.testing.assert_allclose(out, np.array([0.5, -0.5]) - terms.sum(axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_gathered_rows(n):
    X, _, _ = rows(n)
    shift = np.arange(12.0).reshape(4, 3)
    order = np.random.default_rng(4).permutation(n)
    out = np.empty((n, 3))
    sums.gather_rows(X, order, shift[1], out)
    np.testing.assert_array_equal(out, X[order] - shift[1])


@pytest.mark.parametrize("n", SIZES)
def test_categories_are_counted_and_scored_except_missing_ones(n):
    rng = np.random.default_rng(n)
    X, codes, weight = rng.integers(-1, 3, (n, 2)), rng.integers(0, 2, n), rng.uniform(size=n)
    offsets, table = np.array([0, 3, 6]), rng.normal(size=(6, 2))
    expected, added = np.zeros((6, 2)), np.ones((n, 2))
    for i in range(n):
        for j in range(2):
            if X[i, j] >= 0:
                expected[offsets[j] + X[i, j], codes[i]] += weight[i]
                added[i] += table[offsets[j] + X[i, j]]
    found, out = np.zeros((6, 2)), np.ones((n, 2))
    sums.add_category_counts(X, codes, weight, offsets, found)
    scores.add_category_scores(X, offsets, table, out)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(out, added, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_by_class(n, dtype):
    X, _, _ = rows(n, dtype=dtype)
    rng = np.random.default_rng(5)
    mean, precision, constant = rng.normal(size=(2, 3)) + 5, rng.uniform(1, 2, (2, 3)), rng.normal(size=2)
    wide, out = X.astype(np.float64), np.empty((n, 2))
    scores.diagonal_scores(X, mean, precision, constant, out)
    expected = constant - 0.5 * (precision * (wide[:, None] - mean) ** 2).sum(axis=2)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    scores.linear_class_scores(X, mean, constant, out)
    np.testing.assert_allclose(out, wide @ mean.T + constant, rtol=1e-12, atol=1e-12)
    scores.binary_class_scores(X, 5.0, mean, constant, out)
    np.testing.assert_allclose(out, (wide > 5.0) @ mean.T + constant, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_winners_and_normalisation(n, k):
    table = np.random.default_rng(n).normal(size=(n, k)) * 300  # exponentials of these overflow without care
    table[::4, -1] = table[::4, 0]  # ties: the first wins
    best, norms = np.empty(n, dtype=np.intp), np.empty(n)
    scores.row_winners(table, best)
    np.testing.assert_array_equal(best, table.argmax(axis=1))
    logs = table.copy()
    scores.log_normalise(logs, norms)
    np.testing.assert_allclose(norms, logsumexp(table, axis=1), rtol=1e-12)
    np.testing.assert_allclose(logs, table - norms[:, None], atol=1e-9)
    shares = table.copy()
    scores.normalise_shares(shares, norms)
    np.testing.assert_allclose(shares, np.exp(logs), atol=1e-12)


def test_negligible_shares_are_zero_and_nan_stays():
    table, norms = np.array([[0.0, -500.0, -600.0, -740.0, -1e9], [np.nan, 0.0, 0.0, 0.0, 0.0]]), np.empty(2)
    scores.normalise_shares(table, norms)
    np.testing.assert_allclose(table[0, :2], [1.0, np.exp(-500.0)], rtol=1e-12)
    np.testing.assert_array_equal(table[0, 2:], 0.0)  # a subnormal share would slow every product with it
    assert np.isnan(table[1, 0])


def test_infinities_and_nan_reach_counts_above_a_threshold():
    X = np.array([[1.0, np.nan], [np.inf, 0.0]])
    count, total = np.zeros(1), np.zeros((1, 2))
    sums.add_class_counts(X, np.zeros(2, dtype=np.intp), NONE, 0.5, count, total)
    assert np.isnan(total).all()
    out = np.empty((2, 1))
    scores.binary_class_scores(X, 0.5, np.ones((1, 2)), np.zeros(1), out)
    assert np.isnan(out).all()


@pytest.mark.parametrize("n", [1, 2, *LARGE])
@pytest.mark.parametrize("weighted", [True, False])
def test_class_moments_around_task_borders(n, weighted):
    X, codes, weight = rows(n, seed=n)
    found = class_moments(X, codes, 5, weight if weighted else None)
    w = weight if weighted else np.ones(n)
    for c in range(5):
        chosen = codes == c
        count = w[chosen].sum()
        assert found.count[c] == pytest.approx(count)
        mean = np.average(X[chosen], axis=0, weights=w[chosen]) if count else np.zeros(3)
        np.testing.assert_allclose(found.mean[c], mean, rtol=1e-12)
        np.testing.assert_allclose(found.square[c], w[chosen] @ (X[chosen] - mean) ** 2, rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("n", [3, *LARGE])
@pytest.mark.parametrize("sparse", [False, True])
def test_class_totals_around_task_borders(n, sparse):
    X, codes, weight = rows(n, seed=n)
    X[X < 5] = 0
    given = sp.csr_array(X) if sparse else X
    indicator = np.eye(4)[codes] * weight[:, None]
    found = class_totals(given, codes, 4, weight)
    np.testing.assert_allclose(found.total, indicator.T @ X, rtol=1e-11, atol=1e-12)
    above = class_totals(given, codes, 4, weight, above=5.5)
    np.testing.assert_allclose(above.total, indicator.T @ (X > 5.5), rtol=1e-11, atol=1e-12)
    assert found.finite and found.negative == 0


def test_classes_far_apart_keep_their_variances():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2000, 2))
    codes = rng.integers(0, 3, 2000)
    X = noise + np.array([0.0, 1e9, -1e9])[codes][:, None]
    found = class_moments(X, codes, 3)
    expected = [((X[codes == c] - X[codes == c].mean(axis=0)) ** 2).sum(axis=0) for c in range(3)]
    np.testing.assert_allclose(found.square, expected, rtol=1e-6)  # sums about zero would have no digit left
    scatters = class_scatters(X, codes, 3, pooled=True)
    np.testing.assert_allclose(np.diagonal(scatters.scatter), np.sum(expected, axis=0), rtol=1e-6)


def test_a_class_that_was_not_sampled_is_shifted_by_its_first_row():
    X = np.arange(4000.0)[:, None]
    codes = np.zeros(4000, dtype=np.intp)
    codes[[2, 7]] = 1
    shift = class_shifts(X, codes, 3)
    assert shift[1, 0] == 2.0 and shift[2, 0] == 0.0


@pytest.mark.parametrize("n", [3, 1000, 5000])
def test_holes_cost_no_digits(n):
    """Means of 1e6 against deviations of one leave 1e-4 of the squares about zero, and 1e-12 about a shift."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + 1e6
    codes = np.arange(n) % 2
    X[rng.random((n, 3)) < 0.3] = np.nan
    X[codes == 1, 1] = np.nan  # a class without any value
    X[:-1, 2] = np.nan  # one value, in a row that is not sampled
    X[-1, 2] = 1e6
    count, mean, square = class_moments(X, codes, 2, missing=True)
    for c in range(2):
        for j in range(3):
            values = X[codes == c, j]
            values = values[~np.isnan(values)]
            assert count[c, j] == values.size
            if values.size:
                np.testing.assert_allclose(mean[c, j], values.mean(), rtol=1e-14)
                np.testing.assert_allclose(square[c, j], ((values - values.mean()) ** 2).sum(), rtol=1e-9)
            else:
                assert mean[c, j] == square[c, j] == 0


def test_merged_moments_are_those_of_all_rows():
    X, codes, weight = rows(500)
    codes[:200] %= 2  # the first part misses classes
    parts = [class_moments(X[part], codes[part], 5, weight[part]) for part in (slice(200), slice(200, 500))]
    found, expected = merged_moments(*parts), class_moments(X, codes, 5, weight)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-11)
    mean, square = pooled_moments(expected)
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weight))
    np.testing.assert_allclose(square, weight @ (X - mean) ** 2)


@pytest.mark.parametrize("n", [2, panel_rows(5) + 1, TASK_ROWS + 1])
def test_scatters_of_classes(n):
    X, codes, _ = rows(n, d=5, seed=n)
    found, pooled = class_scatters(X, codes, 4), class_scatters(X, codes, 4, pooled=True)
    order, starts = class_order(codes, 4)
    assert (np.diff(codes[order]) >= 0).all() and (np.diff(starts) == np.bincount(codes, minlength=4)).all()
    expected = np.zeros((4, 5, 5))
    for c in np.unique(codes):
        centred = X[codes == c] - X[codes == c].mean(axis=0)
        expected[c] = centred.T @ centred
    np.testing.assert_allclose(found.scatter, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pooled.scatter, expected.sum(axis=0), rtol=1e-9, atol=1e-9)


def test_threads_change_no_bit():
    X, codes, weight = rows(5 * TASK_ROWS + 3, d=7)
    results = []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            parts = [
                *class_moments(X, codes, 4, weight),
                *class_totals(X, codes, 4)[:2],
                *class_scatters(X, codes, 4)[:3],
            ]
            results.append([part.tobytes() for part in parts])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("d", [1, 3, 31, 33, 150])
def test_triangular_products_skip_only_zeros(d):
    rng = np.random.default_rng(d)
    factor = rng.normal(size=(d, d))
    triangle = upper_triangle(factor)
    np.testing.assert_allclose(triangle, np.triu(triangle))
    np.testing.assert_allclose(triangle @ triangle.T, factor @ factor.T, rtol=1e-9, atol=1e-9 * d)
    X, mean = rng.normal(size=(40, d)), rng.normal(size=(1, d))
    found = gaussian_full_scores(X, mean, [triangle], np.array([0.25]))
    expected = 0.25 - 0.5 * (((X - mean) @ factor) ** 2).sum(axis=1)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-10)
