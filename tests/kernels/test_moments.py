"""The one-pass moments against their textbook definitions, at sizes around panels, tasks and tiles."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan import thread_limit
from hyperplan._math._row_design_kernels import STRIP
from hyperplan._math.moments import (
    SMALL_GRAM,
    TASK_ROWS,
    TILE,
    moments,
    panel_rows,
    residual_sums,
    row_gram,
    row_residuals,
    rows_combined,
)
from hyperplan._math.positive_definite import factorize_single
from hyperplan._math.row_design import TILE as ROW_TILE
from hyperplan._math.row_design import centred_design, rows_gram, times, transposed_times

PANEL = panel_rows(3 + 1 + 1)


def naive(X, Y, weight, center):
    """Two passes in extended precision."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.longdouble)
    Y = Y.astype(np.longdouble)
    w = np.ones(len(X), dtype=np.longdouble) if weight is None else weight.astype(np.longdouble)
    x_mean = w @ X / w.sum() if center else np.zeros(X.shape[1])
    y_mean = w @ Y / w.sum() if center else np.zeros(Y.shape[1])
    Xc, Yc = X - x_mean, Y - y_mean
    return Xc, Yc, w, (Xc * w[:, None]).T @ Xc, (Xc * w[:, None]).T @ Yc


@pytest.mark.parametrize("n", [1, 2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 7, TASK_ROWS + 1])
@pytest.mark.parametrize("center", [True, False])
def test_moments_around_panel_borders(n, center):
    rng = np.random.default_rng(n)
    X, Y, weight = rng.normal(size=(n, 3)) + 5, rng.normal(size=(n, 1)), rng.uniform(size=n)
    found = moments(X, Y, weight, center=center)
    _, Yc, w, gram, cross = naive(X, Y, weight, center)
    # sums of n rounded products: 1e-12 of the largest entry is far above their error and far below a wrong row
    scale = float(np.abs(gram).max()) + 1e-300
    assert np.abs(found.gram - gram).max() <= 1e-12 * scale + 1e-25
    assert np.abs(found.cross - cross).max() <= 1e-12 * (scale + float(np.abs(cross).max()))
    assert found.total == pytest.approx(weight.sum())
    np.testing.assert_allclose(found.y_square, (w @ Yc**2).astype(float), rtol=1e-9, atol=1e-25)


@pytest.mark.parametrize("d", [TILE - 1, SMALL_GRAM - 2, SMALL_GRAM, SMALL_GRAM + 1, 2 * TILE + 3])
@pytest.mark.parametrize("k", [1, 20])
def test_moments_around_tile_borders(d, k):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(1100, d)), rng.normal(size=(1100, k))
    found = moments(X, Y)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    np.testing.assert_allclose(found.gram, Xc.T @ Xc, atol=1e-9)
    np.testing.assert_allclose(found.cross, Xc.T @ Yc, atol=1e-9)
    np.testing.assert_array_equal(found.gram, found.gram.T)


def test_large_offsets_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4)) + np.array([0, 1e3, 1e6, 1e9])
    Y = rng.normal(size=(5000, 1)) + 1e9
    _, _, _, gram, cross = naive(X, Y, None, True)
    found = moments(X, Y)
    # without a shift the last column would lose 18 digits; with it only the rounding of X itself remains
    np.testing.assert_allclose(found.gram, gram.astype(float), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(found.cross, cross.astype(float), rtol=1e-10, atol=1e-6)


def test_constant_columns_have_exactly_no_spread():
    X = np.full((1000, 2), 1 / 3)
    assert not moments(X, np.ones((1000, 1))).gram.any()


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, sp.csc_array, lambda X: X[::-1][::-1]])
def test_every_layout_gives_the_same_sums(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 7)) * (rng.uniform(size=(3000, 7)) < 0.6)
    Y = rng.normal(size=(3000, 2))
    expected, found = moments(X, Y), moments(make(X), Y)
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(found.cross, expected.cross, rtol=1e-11, atol=1e-10)


def test_very_sparse_product_equals_dense():
    X = sp.random_array((4000, 300), density=0.005, rng=np.random.default_rng(2), format="csr")
    Y, weight = np.arange(4000.0)[:, None] % 7, np.arange(4000.0) % 3
    for center in (True, False):
        dense, sparse = moments(X.toarray(), Y, weight, center=center), moments(X, Y, weight, center=center)
        np.testing.assert_allclose(sparse.gram, dense.gram, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(sparse.cross, dense.cross, rtol=1e-10, atol=1e-8)


def test_float32_is_summed_in_float64():
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(20000, 3)) + 100).astype(np.float32)
    Y = rng.normal(size=(20000, 1))
    np.testing.assert_array_equal(moments(X, Y).gram, moments(X.astype(np.float64), Y).gram)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 5000, 9999])
def test_a_single_bad_value_is_found(bad, row):
    X = np.ones((10000, 3)) + np.arange(10000)[:, None] % 5
    X[row, 1] = bad
    assert not moments(X, np.zeros((10000, 1))).finite
    assert not np.isfinite(np.diagonal(row_gram(X[max(row - 3, 0) : row + 3]).gram)).all()


def test_threads_change_no_bit():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(40000, 9)), rng.normal(size=(40000, 1))
    wide = rng.normal(size=(700, 2500))
    with thread_limit(1):
        one = moments(X, Y), row_gram(wide)
    with thread_limit(3):
        three = moments(X, Y), row_gram(wide)
    np.testing.assert_array_equal(one[0].gram, three[0].gram)
    np.testing.assert_array_equal(one[0].cross, three[0].cross)
    np.testing.assert_array_equal(one[1].gram, three[1].gram)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(2, 5), (ROW_TILE, 9), (ROW_TILE + 1, 7)])
def test_row_gram_and_its_products(shape, weighted):
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=shape) + 1e4, rng.uniform(0.1, 1, size=shape[0]) if weighted else None
    found = row_gram(X, weight)
    w = np.ones(shape[0]) if weight is None else weight
    first = X[0]
    Xc = np.sqrt(w)[:, None] * (X - first - w @ (X - first) / w.sum())
    np.testing.assert_allclose(found.gram, Xc @ Xc.T, rtol=1e-9, atol=1e-9 * shape[1])
    dual = rng.normal(size=(shape[0], 2))
    np.testing.assert_allclose(rows_combined(X, weight, found.x_mean, dual), Xc.T @ dual, atol=1e-9 * shape[0])


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 5), (2, 3), (3, STRIP + 1), (4, STRIP), (7, STRIP - 1), (5, 3 * STRIP + 7)]
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_design_against_a_centred_copy(shape, order, dtype):
    rng = np.random.default_rng(8)
    X = np.asarray(rng.normal(size=shape) + 3, dtype=dtype, order=order)
    weight, left, right = (
        rng.uniform(1, 2, size=shape[0]),
        rng.normal(size=(2, shape[0])),
        rng.normal(size=(2, shape[1])),
    )
    design = centred_design(X, weight)
    Xc = X.astype(np.float64) - np.average(X.astype(np.float64), axis=0, weights=weight)
    # sums of at most 25000 products of size 10 in float64
    np.testing.assert_allclose(times(design, right), right @ Xc.T, atol=1e-10)
    np.testing.assert_allclose(transposed_times(design, left), left @ Xc, atol=1e-12)
    np.testing.assert_allclose(rows_gram(design, left[0]), np.outer(left[0], left[0]) * (Xc @ Xc.T), atol=1e-10)
    single = rows_gram(design, left[0], np.float32)
    assert single.dtype == np.float32
    # sums up to 6e4 in numbers with 24 bits: a few roundings of 6e4 * 6e-8
    np.testing.assert_allclose(single, rows_gram(design, left[0]), atol=0.05)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 800])
def test_single_factor_preconditions(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n + 50))
    matrix = half @ half.T
    null = np.full(n, n**-0.5)
    factor = factorize_single(matrix.astype(np.float32), 1.0, null, 2.0)
    full = matrix + np.eye(n) + 2.0 * np.outer(null, null)
    right = rng.normal(size=(n, 2)) * [1.0, 1e-60]  # below the range of single precision
    # condition number below 1e4 times the rounding 6e-8 of single precision
    np.testing.assert_allclose(full @ factor.solve(right), right, atol=0, rtol=0.05 * np.sqrt(n) + 1e-3)
    assert factorize_single(np.full((n + 1, n + 1), 1.0, dtype=np.float32), 0.0) is None


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array])
def test_residual_passes(make):
    rng = np.random.default_rng(6)
    X, Y, weight = rng.normal(size=(9000, 5)), rng.normal(size=(9000, 2)), rng.uniform(size=9000)
    coef, x_mean, y_mean = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=2)
    residual = (Y - y_mean) - (X - x_mean) @ coef
    sums = residual_sums(make(X), Y, weight, x_mean, y_mean, coef)
    np.testing.assert_allclose(sums.gradient, ((X - x_mean) * weight[:, None]).T @ residual, rtol=1e-10)
    np.testing.assert_allclose(sums.square, weight @ residual**2, rtol=1e-12)
    rows = row_residuals(make(X), Y, weight, x_mean, y_mean, coef)
    np.testing.assert_allclose(rows, np.sqrt(weight)[:, None] * residual, rtol=1e-10, atol=1e-12)
