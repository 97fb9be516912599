"""Kernels of logistic and softmax regression against their formulas."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan import thread_limit
from hyperplan._core.arrays import compressed
from hyperplan._solvers import _logistic_kernels as logistic
from hyperplan._solvers import _softmax_kernels as softmax
from hyperplan._solvers.logistic_rows import Rows
from hyperplan._solvers.softmax_rows import SoftmaxRows

BLOCK = 4
SIZES = [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7]


def _data(n, d=5, dtype=np.float64):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) < 0.3] = 0.0
    return X, (rng.random(n) < 0.5).astype(float), rng.random(n), rng.normal(size=d + 1)


def _naive_pass(X, target, weight, theta):
    scores = X.astype(float) @ theta[:-1] + theta[-1]
    p = 1 / (1 + np.exp(-scores))
    r, k = weight * (p - target), weight * p * (1 - p)
    loss = np.sum(weight * (np.logaddexp(0, scores) - target * scores))
    ones = np.column_stack([X.astype(float), np.ones(len(X))])
    return loss, scores, r, k, np.stack([ones.T @ r, ones.T @ k])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_pass_dense_and_sparse(n, dtype):
    X, target, weight, theta = _data(n, dtype=dtype)
    expected = _naive_pass(X, target, weight, theta)
    for run in ("dense", "sparse"):
        scores, r, k = np.empty((3, n))
        sums = np.zeros((2, 6))
        if run == "dense":
            loss = logistic.dense_pass(X, target, weight, theta, BLOCK, scores, r, k, sums)
        else:
            loss = logistic.csr_pass(compressed(sp.csr_array(X)), target, weight, theta, 0, n, scores, r, k, sums)
        for got, want in zip((loss, scores, r, k, sums), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)  # sums of at most 20 terms of order one


def test_terms_keep_relative_precision_in_the_tails():
    loss, residual, curvature = logistic.logistic_terms(50.0, 1.0, 1.0)
    assert loss == pytest.approx(np.exp(-50.0), rel=1e-12)
    assert residual == pytest.approx(-np.exp(-50.0), rel=1e-12)
    assert curvature == pytest.approx(np.exp(-50.0), rel=1e-12)
    assert logistic.logistic_terms(800.0, 0.0, 1.0)[0] == 800.0


@pytest.mark.parametrize("n", SIZES)
def test_gram_and_squares(n):
    X, _, weight, _ = _data(n)
    expected = (X * weight[:, None]).T @ X
    gram, diagonal, panel = np.zeros((5, 5)), np.zeros(5), np.empty_like(X)
    logistic.csr_gram(compressed(sp.csr_array(X)), weight, 0, n, gram)
    logistic.csr_squares(compressed(sp.csr_array(X)), weight, 0, n, diagonal)
    logistic.scaled_rows(X, weight, panel)
    np.testing.assert_allclose(gram, expected, atol=1e-13)
    np.testing.assert_allclose(diagonal, np.diagonal(expected), atol=1e-13)
    np.testing.assert_allclose(panel.T @ panel, expected, atol=1e-13)
    columns = np.array([3, 1])
    out = np.empty((n, 2), dtype=np.float32)
    logistic.gather_columns(X, columns, weight, out)
    np.testing.assert_allclose(out, X[:, columns] * np.sqrt(weight)[:, None], rtol=1e-6)  # stored in float32


def test_dual_entropy_and_trial_loss():
    X, target, weight, theta = _data(19)
    loss, scores, r, k, _ = _naive_pass(X, target, weight, theta)
    a = 0.5 * np.abs(r + 0.1 * k) / weight
    expected = -np.sum(weight * (a * np.log(a) + (1 - a) * np.log(1 - a)))
    assert logistic.dual_entropy(r, k, weight, 0.1, 0.5) == pytest.approx(expected, rel=1e-12)
    assert logistic.trial_loss(scores - 1.0, np.full(19, 2.0), 0.5, target, weight) == pytest.approx(loss, rel=1e-12)
    assert logistic.softened(np.array([-3.0, 1.0, 2.0]), 1.5) == pytest.approx(1.5**2 + 0.5**2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_quadratic_descent_meets_optimality_conditions(size, dtype):
    rng = np.random.default_rng(size)
    A = rng.normal(size=(3 * size, size))
    H = (A.T @ A).astype(dtype)
    ridge, lasso, slope0 = np.full(size, 0.1), np.full(size, 0.5), rng.normal(size=size) * 3
    z, slope = np.zeros(size), slope0.copy()
    sweeps = logistic.quadratic_descent(H, ridge, lasso, 1e-12, 10_000, slope, z)
    assert sweeps < 10_000
    gradient = slope0 + H.astype(float) @ z + ridge * z
    np.testing.assert_allclose(slope, gradient, atol=1e-9)  # updated thousands of times
    violation = np.where(z == 0, np.maximum(np.abs(gradient) - lasso, 0), np.abs(gradient + lasso * np.sign(z)))
    assert violation.max() < 1e-9


@pytest.mark.parametrize("n", SIZES)
def test_softmax_terms_dense_and_sparse(n):
    X, _, weight, _ = _data(n)
    rng = np.random.default_rng(n)
    codes, theta = rng.integers(0, 3, n), rng.normal(size=(6, 3))
    scores = X @ theta[:-1] + theta[-1]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = weight[:, None] * (p - np.eye(3)[codes])
    loss = -np.sum(weight * np.log(p[np.arange(n), codes]))
    ones = np.column_stack([X, np.ones(n)])
    residual, sums = np.empty((n, 3)), np.zeros((6, 3))
    got = softmax.softmax_terms(X @ theta[:-1], theta[-1].copy(), codes, weight, residual)
    assert got == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(residual, expected, atol=1e-14)
    got = softmax.csr_softmax_pass(compressed(sp.csr_array(X)), theta, codes, weight, 0, n, residual, sums)
    assert got == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(sums, ones.T @ expected, atol=1e-13)
    out = np.empty((n, 3))
    softmax.probabilities(residual, codes, weight, out)
    np.testing.assert_allclose(out, p, atol=1e-12)


def test_softmax_hessian_is_the_derivative_of_the_gradient():
    X, _, weight, _ = _data(19)
    rng = np.random.default_rng(0)
    codes, theta = rng.integers(0, 3, 19), rng.normal(size=(3, 6))
    rows = SoftmaxRows(X, codes, weight, 3)
    hessian = rows.hessian(rows.evaluate(theta), True)
    step = 1e-6
    for position in range(theta.size):
        shift = np.zeros(theta.size)
        shift[position] = step
        up, down = (rows.evaluate(theta + sign * shift.reshape(3, 6)).gradient.ravel() for sign in (1, -1))
        # central differences: error of order step^2 plus rounding / step
        np.testing.assert_allclose(hessian[position], (up - down) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_do_not_depend_on_threads(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 400)).astype(dtype)
    codes, theta = rng.integers(0, 3, 6000), rng.normal(size=(3, 401)) * 0.1
    results = []
    for n_jobs in (1, 2, 4):
        with thread_limit(n_jobs):
            rows = Rows(X, (codes > 0).astype(float), np.ones(6000))
            assert len(rows.blocks) > 1
            state = rows.evaluate(theta[0])
            multi = SoftmaxRows(X, codes, np.ones(6000), 3).evaluate(theta)
            results.append((state.loss, state.gradient, rows.hessian(state), multi.loss, multi.gradient))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
