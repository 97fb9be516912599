"""Passes over the rows between two trees against their definitions."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from hyperplan._math._exponential_kernels import LARGEST, vector_exp
from hyperplan._trees import _boosting_loss_kernels as passes

EMPTY = np.empty(0)


def test_vector_exp_is_exp():
    x = np.concatenate([np.linspace(-LARGEST, LARGEST, 2001), [0.0, -0.0, 1e-300, 0.5 * np.log(2)]])
    found = np.array([vector_exp(v) for v in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-15)  # 4 units in the last place
    assert vector_exp(1e9) == vector_exp(LARGEST) and vector_exp(-np.inf) == vector_exp(-LARGEST) > 0


@pytest.mark.parametrize("n", [0, 1, 2, 5, 257])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_derivatives(n, weighted):
    rng = np.random.default_rng(n)
    y, raw = rng.integers(0, 2, n + 3).astype(float), 5 * rng.normal(size=n + 3)
    weight = rng.uniform(0, 2, n + 3) if weighted else EMPTY
    gradient, hessian, sums = np.zeros(n + 3, np.float32), np.zeros(n + 3, np.float32), np.zeros(2)
    passes.fill_log_loss(y, raw, weight, 2, n + 2, gradient, hessian, sums)
    w, p, inside = (weight if weighted else 1.0), expit(raw), slice(2, n + 2)
    g, h = (w * (p - y))[inside], (w * p * (1 - p))[inside]
    np.testing.assert_allclose(gradient[inside], g, rtol=1e-6)  # float32 keeps 24 bits
    np.testing.assert_allclose(hessian[inside], h, rtol=1e-6)
    np.testing.assert_allclose(sums, [np.abs(g).sum(), h.sum()], rtol=1e-6)
    assert not gradient[[0, 1, n + 2]].any() and not hessian[[0, 1, n + 2]].any()


@pytest.mark.parametrize("n", [0, 1, 2, 5, 257])
@pytest.mark.parametrize("weighted", [False, True])
def test_softmax_derivatives(n, weighted):
    rng = np.random.default_rng(n)
    codes, raw = rng.integers(0, 3, n).astype(float), 300 * rng.normal(size=(3, n))  # far beyond exp's range together
    weight = rng.uniform(0, 2, n) if weighted else EMPTY
    gradient, hessian, sums = np.zeros((3, n), np.float32), np.zeros((3, n), np.float32), np.zeros((3, 2))
    passes.fill_softmax(codes, raw, weight, 0, n, gradient, hessian, sums)
    w, p = (weight if weighted else 1.0), softmax(raw, axis=0)
    g, h = w * (p - (codes == np.arange(3)[:, None])), w * p * (1 - p)
    np.testing.assert_allclose(gradient, g, rtol=1e-6, atol=1e-7)  # float32; p - 1 cancels where p is almost 1
    np.testing.assert_allclose(hessian, h, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(sums, np.stack([np.abs(g).sum(axis=1), h.sum(axis=1)], axis=1), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 257, passes.EVEN_ROWS + 3])
def test_quantised_derivatives_are_within_one_unit_and_unbiased(n):
    rng = np.random.default_rng(n)
    gradient, hessian = rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32)
    packed = np.empty(n, np.int64)
    total = sum(passes.quantise(gradient, hessian, 1000.0, 500.0, a, b, packed) for a, b in ((0, n // 3), (n // 3, n)))
    assert total == packed.sum()
    high, low = packed >> 32, packed & 0xFFFFFFFF
    assert (np.abs(high - 1000.0 * gradient.astype(float)) < 1.0).all()
    assert (np.abs(low - 500.0 * hessian.astype(float)) < 1.0).all()
    if n > passes.EVEN_ROWS:  # rounding errors cancel: the sum of n of them is far below n / 2
        assert abs(high.sum() - 1000.0 * gradient.sum(dtype=float)) < 10 * np.sqrt(n)


@pytest.mark.parametrize("n", [0, 1, 2, 257])
@pytest.mark.parametrize("curved", [False, True])
def test_passes_by_rows_are_passes_by_leaves(n, curved):
    rng = np.random.default_rng(n)
    rows, inner = rng.permutation(n).astype(np.uint32), np.sort(rng.integers(0, n + 1, 3))
    bounds = np.array([0, *inner, n])
    gradient = rng.normal(size=n).astype(np.float32)
    hessian = rng.random(n if curved else 0).astype(np.float32)
    marks, sums, twin = np.empty(n, np.uint16), np.zeros((2, 4, 2)), np.empty((4, 2))
    for a, b in ((0, n // 3), (n // 3, n)):
        passes.mark_leaves(rows, bounds, a, b, marks)
    assert (marks[rows] == np.repeat(np.arange(4), np.diff(bounds))).all()
    for part, (a, b) in zip(sums, ((0, n // 3), (n // 3, n))):
        passes.sum_marked(marks, gradient, hessian, a, b, part)
    passes.sum_leaves(rows, bounds, gradient, hessian, 0, n, twin)
    np.testing.assert_allclose(sums.sum(axis=0), twin, rtol=1e-12, atol=1e-12)  # the same numbers in another order
    values, raw = rng.normal(size=4), rng.normal(size=n)
    other = raw.copy()
    passes.add_marked(marks, values, 0, n, raw)
    passes.add_leaves(rows, bounds, values, 0, n, other)
    assert (raw == other).all()
