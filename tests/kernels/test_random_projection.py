"""Signed sums against the matrix product they stand for."""

import numpy as np
import pytest

from hyperplan.random_projection._random_projection_kernels import LANES, interleave, signed_sums


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_signed_sums_are_a_product(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 11)).astype(dtype)
    signs = rng.integers(-1, 2, size=(5, 11))
    signs[2] = 0  # a component of nothing
    starts, middles, columns = [0], [], []
    for row in signs:
        columns += [*np.flatnonzero(row > 0)]
        middles.append(len(columns))
        columns += [*np.flatnonzero(row < 0)]
        starts.append(len(columns))
    out, panel = np.full((n, 5), np.nan, dtype), np.empty((11, LANES), dtype)
    signed_sums(X, np.array(starts), np.array(middles), np.array(columns, np.intp), 0.5, panel, out)
    np.testing.assert_allclose(
        out, 0.5 * X @ signs.T.astype(dtype), rtol=1e-5 if dtype == np.float32 else 1e-13, atol=1e-6
    )


@pytest.mark.parametrize("first", [0, 4, 8])
def test_interleaving_pads_with_zeros(first):
    X = np.arange(30.0).reshape(10, 3)
    panel = np.full((3, LANES), np.nan)
    interleave(X, first, panel)
    expected = np.zeros((LANES, 3))
    rows = X[first : first + LANES]
    expected[: len(rows)] = rows
    np.testing.assert_array_equal(panel.T, expected)
