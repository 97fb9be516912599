"""Kernel values in place against their formulas, at the borders of panels and inside larger matrices."""

import numpy as np
import pytest

from hyperplan._math import _gram_kernels as k
from hyperplan.kernels import _fourier_kernels as fourier
from hyperplan.kernels._histogram_kernels import chi_squared_sums
from hyperplan.kernels._kernel_perceptron_kernels import visit_block

SIZES = [0, 1, 2, k.PANEL - 1, k.PANEL, k.PANEL + 1, 3 * k.PANEL + 7]
FLOATS = [np.float32, np.float64]
GAUSSIAN = {np.float32: k.gaussian_single, np.float64: k.gaussian_double}
EXPONENTIAL = {np.float32: k.exponential_single, np.float64: k.exponential_double}
FOURIER = {np.float32: fourier.fourier_single, np.float64: fourier.fourier_double}


def tables(m, n, d, dtype):
    rng = np.random.default_rng(m + 7 * n)
    return rng.normal(size=(m, d)).astype(dtype), rng.normal(size=(n, d)).astype(dtype)


def framed(m, n, dtype, gap=3, start=2):
    """A flat array of nan with room for an (m, n) rectangle, and that rectangle as a view."""
    step = n + gap
    flat = np.full(start + m * step + gap, np.nan, dtype=dtype)
    strides = (step * flat.itemsize, flat.itemsize)
    return flat, start, step, np.lib.stride_tricks.as_strided(flat[start:], (m, n), strides)


def test_single_exp_has_the_digits_of_single_precision():
    x = np.linspace(-87, 88, 701).astype(np.float32)
    found = np.array([k.single_exp(value) for value in x])
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=2.5e-7)  # two units in the last place
    assert k.single_exp(np.float32(-1e4)) == k.single_exp(np.float32(-87.0)) > 0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", SIZES)
def test_gaussian(n, dtype):
    m = 3
    a, b = tables(m, n, 4, dtype)
    flat, start, step, view = framed(m, n, dtype)
    view[...] = a @ b.T
    squares = [np.einsum("ij,ij->i", x, x) for x in (a, b)]
    GAUSSIAN[dtype](*squares, dtype(0.3), start, step, flat)
    gaps = ((a[:, None].astype(float) - b[None]) ** 2).sum(-1)
    np.testing.assert_allclose(view, np.exp(-0.3 * gaps), rtol=1e-5 if dtype == np.float32 else 1e-13)
    assert np.isnan(flat).sum() == flat.size - m * n  # nothing was written beside the rectangle


@pytest.mark.parametrize("dtype", FLOATS)
def test_far_apart_is_exactly_zero_and_never_above_one(dtype):
    flat = np.array([0.0, 5.0, 30.0], dtype=dtype)
    squares = np.array([25.0], dtype=dtype), np.array([1e6, 25.0, 25.0], dtype=dtype)
    GAUSSIAN[dtype](*squares, dtype(1.0), 0, 3, flat)
    assert flat[0] == 0.0 and 0 < flat[1] < 1e-17 and flat[2] == 1.0  # |a - b|^2 = -10 can only be rounding


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("d", [0, 1, 2, 5])
def test_sums_of_absolute_differences_and_their_exponentials(n, d, dtype):
    m = 3
    a, b = tables(m, n, d, dtype)
    flat, start, step, view = framed(m, n, dtype)
    k.sizes_of_differences(a, b, start, step, np.empty((d, k.PANEL), dtype=dtype), flat)
    expected = np.abs(a[:, None].astype(float) - b[None]).sum(-1)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(view, expected, rtol=tolerance)
    EXPONENTIAL[dtype](m, n, dtype(0.7), start, step, flat)
    np.testing.assert_allclose(view, np.exp(-0.7 * expected), rtol=tolerance)
    assert np.isnan(flat).sum() == flat.size - m * n


@pytest.mark.parametrize("dtype", FLOATS)
def test_repair_of_near_rows_far_from_the_centre(dtype):
    a, b = tables(4, 5, 3, dtype)
    a[:, 0] += dtype(1e3)
    b[:4] = a + dtype(1e-3)
    squares = [np.einsum("ij,ij->i", x, x) for x in (a, b)]
    flat = (a @ b.T).ravel()
    GAUSSIAN[dtype](*squares, dtype(1.0), 0, 5, flat)
    k.repair_gaussian(a, b, *squares, 1.0, 100.0, 1e-7, 0, 5, flat)
    gaps = ((a[:, None].astype(float) - b[None].astype(float)) ** 2).sum(-1)
    np.testing.assert_allclose(flat.reshape(4, 5), np.exp(-gaps), rtol=1e-5, atol=1e-7)


def test_chi_squared_sums():
    rng = np.random.default_rng(0)
    a, b = rng.poisson(1.0, size=(4, 5)).astype(float), rng.poisson(1.0, size=(7, 5)).astype(float)
    out = np.full((4, 7), np.nan)
    chi_squared_sums(a, b, out)
    sizes = a[:, None] + b[None]
    expected = -((a[:, None] - b[None]) ** 2 / np.where(sizes > 0, sizes, 1.0)).sum(-1)
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cosines_keep_their_digits_up_to_the_largest_argument(dtype):
    largest = fourier.LARGEST if dtype == np.float64 else fourier.LARGEST_SINGLE
    x = np.concatenate([np.linspace(-12, 12, 501), np.linspace(-largest, largest, 501)]).astype(dtype)
    offset = np.array([0.25, 1.5, 3.0], dtype=dtype)
    out = np.repeat(x[:, None], 3, axis=1)
    FOURIER[dtype](offset, dtype(2.0), out)
    exact = 2.0 * np.cos((x[:, None] + offset).astype(np.float64))
    np.testing.assert_allclose(out, exact, atol=2e-6 if dtype == np.float32 else 2e-14)


def test_visits_of_a_block_are_perceptron_steps():
    """The same steps one row at a time, with scores from their definition."""
    rng = np.random.default_rng(3)
    features, signs = rng.normal(size=(40, 3)), np.where(rng.normal(size=(40, 2)) > 0, 1.0, -1.0)
    values = features @ features.T
    dual, mistakes = np.zeros((40, 2)), np.zeros(2, dtype=np.int64)
    for i in range(40):
        for c in range(2):
            if signs[i, c] * (values[i] @ dual[:, c]) <= 0:
                dual[i, c] += signs[i, c]
                mistakes[c] += 1
    steps, ages, found = np.zeros((40, 2)), np.zeros((40, 2)), np.zeros(2, dtype=np.int64)
    clock = visit_block(values, signs, np.ones(2, dtype=np.int64), 100, np.zeros((40, 2)), steps, ages, found)
    assert clock == 140 and np.array_equal(found, mistakes) and np.array_equal(steps, dual)
    assert np.array_equal(ages, dual * (100 + np.arange(40))[:, None])


def test_problems_at_rest_make_no_steps():
    steps, found = np.zeros((3, 2)), np.zeros(2, dtype=np.int64)
    active = np.array([0, 1], dtype=np.int64)
    visit_block(np.eye(3), np.ones((3, 2)), active, 0, np.zeros((3, 2)), steps, np.zeros((3, 2)), found)
    assert found.tolist() == [0, 3] and not steps[:, 0].any()
