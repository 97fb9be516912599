"""Kernels of the tall engine against naive twins."""

import numpy as np
import pytest

from hyperplan._solvers._coordinate_rows_kernels import (
    PANEL,
    gather_panel,
    residual_panel_by_columns,
    residual_panel_by_rows,
    sample_panel,
)

SIZES = [0, 1, 2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 7]


def data(n, d, order="F", dtype=np.float64):
    rng = np.random.default_rng(n + d)
    X = np.asarray(rng.normal(size=(n, d)) + 3.0, dtype=dtype, order=order)
    w = rng.normal(size=d) * (rng.random(d) < 0.7)
    return X, rng.normal(size=n), rng.uniform(0.5, 2.0, n), rng.normal(size=d) + 3.0, w


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("d", [1, 4, 7])
@pytest.mark.parametrize(("order", "panel"), [("F", residual_panel_by_columns), ("C", residual_panel_by_rows)])
def test_residual_panels(n, d, order, panel):
    X, y, weight, shift, w = data(n, d, order, np.float32 if d == 4 else np.float64)
    sums, c = np.zeros(6), np.zeros((2, d))
    half = n // 3
    for first, last in ((0, half), (half, n)):
        panel(X, y, weight, shift, 0.5, np.flatnonzero(w), w, first, last, np.empty(PANEL), sums, c)
    Z, t = X.astype(np.float64) - shift, y - 0.5
    r = t - Z @ w
    expected = [weight.sum(), weight @ r, weight @ r**2, weight @ (r * t), weight @ t, weight @ t**2]
    # sums of thousands of numbers of size one in another order
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(c, [Z.T @ (weight * r), Z.T @ weight], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gathered_and_sampled_rows(order, dtype):
    X, y, root, shift, _ = data(40, 6, order, dtype)
    columns = np.array([4, 0, 3])
    Z = np.empty((10, 3), order=order)
    gather_panel(X, shift, root, columns, 7, 17, Z)
    np.testing.assert_array_equal(Z, root[7:17, None] * (X[7:17, columns].astype(np.float64) - shift[columns]))
    starts, size = np.array([0, 9, 36]), 4
    rows = (starts[:, None] + np.arange(size)).ravel()
    sampled = np.empty((12, 8), dtype=np.float32, order=order)
    sample_panel(X, y, root, shift, 0.5, starts, size, sampled)
    expected = root[rows, None] * np.column_stack([X[rows] - shift, np.ones(12), y[rows] - 0.5])
    np.testing.assert_allclose(sampled, expected, rtol=1e-6, atol=1e-6)  # single precision
