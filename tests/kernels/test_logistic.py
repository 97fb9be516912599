"""Kernels of logistic and softmax regression against their formulas."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan import thread_limit
from hyperplan._core.arrays import compressed
from hyperplan._solvers import _logistic_kernels as logistic
from hyperplan._solvers import _logistic_small_kernels as small
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


def _wrong(slope, lasso, z):
    return np.where(z == 0, np.maximum(np.abs(slope) - lasso, 0), np.abs(slope + lasso * np.sign(z)))


def _scaled(n, m, constant):
    """Sparse columns times the roots of curvatures as `gather_scaled` leaves them, and the same as a dense array."""
    X, _, curvature, _ = _data(n, m)
    columns = np.random.default_rng(n).permutation(m)
    columns = np.append(columns, m) if constant else columns
    dense = np.column_stack([X, np.ones(n)])[:, columns] * np.sqrt(curvature)[:, None]
    counts = np.append((X != 0).sum(axis=0), n)[columns]
    indptr = np.empty(columns.size + 1, dtype=np.int64)
    indices, values = np.empty(counts.sum(), dtype=np.int32), np.empty(counts.sum(), dtype=np.float32)
    root = np.sqrt(curvature).astype(np.float32)
    logistic.gather_scaled(compressed(sp.csc_array(X)), root, columns, indptr, indices, values)
    return dense, root, (indptr, indices, values)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_gathered_columns_and_their_products(n, constant):
    dense, root, (indptr, indices, values) = _scaled(n, 5, constant)
    got = sp.csc_array((values, indices, indptr), shape=dense.shape).toarray()
    np.testing.assert_allclose(got, dense, rtol=1e-6)  # stored in float32
    cross, diagonal = np.empty((2, dense.shape[1]))
    logistic.sparse_products(indptr, indices, values, root, cross, diagonal)
    exact = got.astype(np.float64)
    np.testing.assert_allclose(cross, exact.T @ root, atol=1e-13)
    np.testing.assert_allclose(diagonal, (exact**2).sum(axis=0), atol=1e-13)
    for c in range(dense.shape[1]):
        part, vector = slice(indptr[c], indptr[c + 1]), root.astype(np.float64)
        assert logistic.sparse_slope(indices[part], values[part], vector) == pytest.approx(cross[c], abs=1e-13)


def _naive_sweep(A, hessian, first, penalty, z, constant):
    """One sweep over dense columns; each change is followed by the best constant for its present sign."""
    ridge, lasso, start = penalty
    z, m = z.copy(), z.size
    slope_at = lambda z: first + hessian @ (z - start) + ridge * (z - start)  # noqa: E731
    full = hessian + np.diag(ridge)
    if constant:
        z[-1] = logistic.soft_minimum(slope_at(z)[-1], full[-1, -1], lasso[-1], z[-1])
    follows = constant and (z[-1] != 0.0 or lasso[-1] == 0.0)
    for c in range(m - 1 if constant else m):
        if full[c, c] <= 0.0:
            continue
        share = full[c, -1] / full[-1, -1] if follows else 0.0
        bend = full[c, c] - share * full[c, -1]
        if bend < 1e-6 * full[c, c]:
            bend, share = full[c, c], 0.0
        change = logistic.soft_minimum(slope_at(z)[c], bend, lasso[c], z[c]) - z[c]
        z[c] += change
        if share:
            z[-1] -= share * change
    return z


@pytest.mark.parametrize("kind", ["none", "free", "penalised"])
@pytest.mark.parametrize("n", SIZES)
def test_sparse_sweep_equals_dense_formulas_and_converges(n, kind):
    constant = kind != "none"
    dense, root, columns = _scaled(n, 5, constant)
    A = sp.csc_array((columns[2], columns[1], columns[0]), shape=dense.shape).toarray().astype(np.float64)
    m, rng = A.shape[1], np.random.default_rng(n)
    penalty = np.stack([np.full(m, 0.05), np.full(m, 0.1), rng.normal(size=m)])
    if kind == "free":
        penalty[:2, -1] = 0.0
    first = rng.normal(size=m)
    cross, diagonal = np.empty((2, m))
    logistic.sparse_products(*columns, root, cross, diagonal)
    cross *= constant
    diagonal += penalty[0]
    if not (diagonal > 0).all():
        assert n == 0  # without rows an intercept without penalty has no minimum; its column is left alone
        cross[:] = 0.0
    z, image = penalty[2].copy(), np.zeros(n)
    expected = _naive_sweep(A, A.T @ A, first, penalty, z, constant and n > 0)
    logistic.sparse_sweep(*columns, cross, diagonal, first, penalty, image, z)
    np.testing.assert_allclose(z, expected, atol=1e-11)
    np.testing.assert_allclose(image, A @ (z - penalty[2]), atol=1e-11)
    for _ in range(2000):
        if logistic.sparse_sweep(*columns, cross, diagonal, first, penalty, image, z) < 1e-12:
            break
    slope = first + A.T @ (A @ (z - penalty[2])) + penalty[0] * (z - penalty[2])
    kept = diagonal > 0
    assert _wrong(slope, penalty[1], z)[kept].max(initial=0.0) < 1e-9  # thousands of updates of order one


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_small_gram_and_pass(n, intercept):
    X, target, weight, theta = _data(n)
    loss, scores, r, k, sums = _naive_pass(X, target, weight, theta)
    total = weight.sum() + 1.0
    values, got = np.empty((3, n)), np.empty((2, 6))
    assert small.mean_pass(X, target, weight, theta, total, values, got) == pytest.approx(loss / total, rel=1e-12)
    np.testing.assert_allclose(values, [scores, r, k], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(got, sums / total, atol=1e-13)
    gram = np.empty((5 + intercept,) * 2)
    small.column_gram(np.ascontiguousarray(X.T), k, got[1], total, np.empty(n), gram)
    ones = np.column_stack([X, np.ones(n)])[:, : 5 + intercept]
    np.testing.assert_allclose(gram, (ones * k[:, None]).T @ ones / total, atol=1e-13)


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_cholesky_solve(size):
    rng = np.random.default_rng(size)
    A = rng.normal(size=(2 * size, size))
    matrix, right = np.full((size + 1, size + 1), np.nan), rng.normal(size=size)
    matrix[:size, :size] = A.T @ A
    expected = np.linalg.solve(A.T @ A, right) if size else right.copy()
    assert small.cholesky_solve(matrix, size, right)
    np.testing.assert_allclose(right, expected, rtol=1e-7)  # condition numbers of a few hundred
    assert not small.cholesky_solve(np.array([[1.0, 0.0], [2.0, 1.0]]), 2, np.ones(2))


@pytest.mark.parametrize("seed", range(20))
def test_length_to_best_is_the_least_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    here, direction = rng.normal(size=4), 2 * rng.normal(size=4)
    lasso, descent = rng.random(4), 3 * rng.random()
    if seed % 4 == 0:
        here[1], direction[1] = here[0], direction[0]  # two signs change at once

    def value(t):  # minus the slope at 0 counts the lasso part with its signs there; the bends come on top
        bends = lasso * (np.abs(here + t * direction) - np.abs(here) - t * direction * np.sign(here))
        return -descent * (t - t**2 / 2) + bends.sum()

    best = small.length_to_best(here, direction, descent, lasso)
    assert 0.0 <= best <= 1.0
    assert value(best) <= min(value(t) for t in np.linspace(0, 1, 2001)) + 1e-12


@pytest.mark.parametrize("size", [1, 2, 7])
def test_small_model_meets_optimality_conditions(size):
    rng = np.random.default_rng(size)
    A = rng.normal(size=(20, size))
    A = np.column_stack([A, A @ rng.normal(size=(size, 2))])  # collinear: descent alone is slow
    m = size + 2
    H, ridge, lasso, start = A.T @ A / 20, np.full(m, 1e-8), np.full(m, 0.05), rng.normal(size=m)
    lasso[-1] = 0.0
    first = A.T @ rng.normal(size=20) / 20
    z, slope = start.copy(), first.copy()
    scratch = np.empty((m, m)), np.empty(m, dtype=np.intp), np.empty((3, m))
    small.minimise_small_model(H, ridge, lasso, 1e-9, *scratch, slope, z)
    np.testing.assert_allclose(slope, first + (H + np.diag(ridge)) @ (z - start), atol=1e-8)
    assert _wrong(slope, lasso, z).max() <= 2e-9
    assert small.worst_violation(slope - ridge * z, ridge, lasso, z) == pytest.approx(
        _wrong(slope, lasso, z).max(), abs=1e-15
    )


@pytest.mark.parametrize("lasso", [0.0, 0.02])
@pytest.mark.parametrize("intercept", [False, True])
def test_small_prox_newton_reaches_the_conditions_of_the_naive_gradient(intercept, lasso):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    target, weight = (X[:, 0] + rng.logistic(size=60) > 0).astype(float), rng.random(60)
    penalty = np.array([[0.01] * 4 + [0.0] * intercept, [lasso] * 4 + [0.0] * intercept])
    limits = np.array([weight.sum(), 1e-10, 1e-13, 0.0, 1e-9])
    theta, values, sums, report = np.zeros(5), np.empty((3, 60)), np.empty((2, 5)), np.zeros(4)
    steps = small.small_prox_newton(
        X, np.ascontiguousarray(X.T), target, weight, penalty, limits, 50, theta, values, sums, report
    )
    assert 0 < steps < 50 and report[3] == 0.0
    loss, _, _, _, expected = _naive_pass(X, target, weight, theta)
    m = 4 + intercept
    slope = expected[0, :m] / weight.sum() + penalty[0] * theta[:m]
    assert _wrong(slope, penalty[1], theta[:m]).max() < 1e-9
    value = small.penalty_value(penalty[0], penalty[1], theta)
    assert value == pytest.approx(0.005 * np.sum(theta[:4] ** 2) + lasso * np.abs(theta[:4]).sum(), rel=1e-12)
    assert report[0] == pytest.approx(loss / weight.sum() + value, rel=1e-12)
    assert theta[4] == 0.0 or intercept
