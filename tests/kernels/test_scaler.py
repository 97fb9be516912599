"""Moments and scaling of columns against NumPy, at the borders of the panels, in both memory orders."""

import numpy as np
import pytest

from hyperplan.preprocessing import _scaler_kernels as k

SIZES = [1, 2, k.PANEL_ROWS - 1, k.PANEL_ROWS, k.PANEL_ROWS + 1, 3 * k.PANEL_ROWS + 7]


def table(n, dtype, weighted):
    rng = np.random.default_rng(n)
    X = (rng.normal(size=(n, 3)) * [1.0, 1e-3, 0.0] + [0.0, 1.0, 5.0]).astype(dtype)
    return X, rng.integers(0, 3, n).astype(float) if weighted else np.empty(0)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_rows_and_of_lines(n, dtype, weighted):
    X, weight = table(n, dtype, weighted)
    shift = X[0].astype(np.float64)
    counts = weight if weighted else np.ones(n)
    for moments, data in ((k.block_moments, X), (k.line_moments, np.ascontiguousarray(X.T))):
        mean, square = np.full(3, np.nan), np.full(3, np.nan)
        assert moments(data, weight, shift, mean, square) == counts.sum()
        if counts.sum() > 0:
            expected = np.average(X.astype(np.float64), axis=0, weights=counts)
            np.testing.assert_allclose(mean + shift, expected, rtol=1e-12, atol=1e-14)
            deviation = X.astype(np.float64) - expected
            np.testing.assert_allclose(square, counts @ deviation**2, rtol=1e-9, atol=1e-20)  # two sums of n squares
            assert square[2] == 0.0  # a constant column, exactly
        else:
            assert (mean == 0).all() and (square == 0).all()


def test_lines_longer_than_a_panel():
    line = np.random.default_rng(0).normal(size=(1, 2 * k.LINE_PANEL + 5))
    mean, square = np.empty(1), np.empty(1)
    assert k.line_moments(line, np.empty(0), np.zeros(1), mean, square) == line.shape[1]
    assert (mean[0], square[0] / line.shape[1]) == pytest.approx((line.mean(), line.var()), rel=1e-11)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("divide", [False, True])
def test_scaling_there_and_back(n, centre, divide):
    rng = np.random.default_rng(n)
    X, mean, scale = rng.normal(size=(n, 3)), rng.normal(size=3), np.array([0.5, 2.0, 3.0])
    expected = (X - mean * centre) / np.where(divide, scale, 1.0)
    for there, back, data in ((k.scale_block, k.unscale_block, X), (k.scale_lines, k.unscale_lines, X.T.copy())):
        out = np.empty_like(data)
        assert not there(data, mean, scale, centre, divide, out)
        np.testing.assert_array_equal(out if data is X else out.T, expected)
        assert not back(out, mean, scale, centre, divide, out)  # in place
        np.testing.assert_allclose(out, data, rtol=1e-14, atol=1e-15)


@np.errstate(over="ignore")  # said by NumPy where the kernels run as plain Python
def test_infinities_are_reported():
    huge, one, out = np.array([[1e308, 1.0]]), np.ones(2), np.empty((1, 2))
    assert k.scale_block(huge, np.array([-1e308, 0.0]), one, True, False, out)
    assert k.unscale_block(huge, one, 10 * one, False, True, out)
    lines, kept = huge.T.copy(), np.empty((2, 1))
    assert k.scale_lines(lines, np.array([-1e308, 0.0]), one, True, False, kept)
    assert k.unscale_lines(lines, one, 10 * one, False, True, kept)
    assert not k.scale_block(np.array([[np.nan, 1.0]]), one, one, True, True, out)
