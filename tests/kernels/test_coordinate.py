"""Kernels of coordinate descent against naive twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._core.rng import kernel_state
from hyperplan._solvers._coordinate_design_kernels import transpose_tile, uncertain
from hyperplan._solvers._coordinate_kernels import gram_descent, residual_descent
from hyperplan._solvers._coordinate_newton_kernels import factor_append, factor_remove, factor_solve, subtract_rows
from hyperplan._solvers.coordinate import Options, Penalty, Stop, gram_path, residual_path
from hyperplan._solvers.coordinate_design import Block, Design, by_columns
from hyperplan._solvers.coordinate_newton import SupportFactor, newton_step
from hyperplan._solvers.coordinate_working_set import working_set_path

CYCLIC = np.empty(0, dtype=np.uint64)


def data(n, d, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return np.asfortranarray(rng.normal(size=(n, d)) + rng.normal(size=d), dtype=dtype), rng.normal(size=n)


def naive_epoch(X, y, weight, penalty, w):
    """One cycle with explicit centring and weights."""
    mean = weight @ X / weight.sum()
    Z = np.sqrt(weight)[:, None] * (X - mean)
    t = np.sqrt(weight) * (y - weight @ y / weight.sum())
    for j in range(X.shape[1]):
        rest = t - Z @ w + Z[:, j] * w[j]
        z, norm2 = Z[:, j] @ rest, Z[:, j] @ Z[:, j]
        w[j] = np.sign(z) * max(abs(z) - penalty.l1, 0) / (norm2 + penalty.l2) if norm2 else 0.0
        if penalty.positive:
            w[j] = max(w[j], 0.0)
    return w


def naive_gap(X, y, weight, penalty, w):
    mean = weight @ X / weight.sum()
    Z = np.sqrt(weight)[:, None] * (X - mean)
    t = np.sqrt(weight) * (y - weight @ y / weight.sum())
    A = np.vstack([Z, np.sqrt(penalty.l2) * np.eye(X.shape[1])])
    b = np.concatenate([t, np.zeros(X.shape[1])])
    r = b - A @ w
    score = A.T @ r if penalty.positive else np.abs(A.T @ r)
    v = r * min(1.0, penalty.l1 / max(score.max(), 1e-300))
    return 0.5 * r @ r + penalty.l1 * np.abs(w).sum() - (v @ b - 0.5 * v @ v)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize("positive", [False, True])
def test_epochs_on_residuals(n, d, kind, positive):
    X, y = data(n, d, dtype=np.float32 if kind == "float32" else np.float64)
    weight = np.random.default_rng(1).uniform(0.5, 2, n)
    weight *= n / weight.sum()
    penalty = Penalty(0.3, 0.2, positive)
    design = Design(by_columns(sp.csc_array(X)) if kind == "sparse" else X, weight)
    centred, _ = design.center_target(y)
    design.prepare(centred)
    w, rho, c = np.zeros(d), weight * centred, np.zeros(d)
    stop = Stop(1.0, -1.0, 0.0, 200, False)
    active = np.empty(d, np.intp)
    _, gap, _, _ = residual_descent(design.arrays, centred, penalty, stop, CYCLIC, active, w, rho, 0.0, c)
    expected = np.zeros(d)
    for _ in range(200):
        naive_epoch(X.astype(np.float64), y, weight, penalty, expected)
    # the quadratic penalty makes 200 epochs enough for both, whatever screening leaves out
    np.testing.assert_allclose(w, expected, rtol=1e-6, atol=1e-9)
    assert gap == pytest.approx(naive_gap(X.astype(np.float64), y, weight, penalty, w), rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3, 17])
@pytest.mark.parametrize("random", [False, True])
def test_gram_descent_reaches_the_minimum(d, random):
    X, y = data(40, d)
    G, q = X.T @ X, X.T @ y
    penalty = Penalty(2.0, 0.5, False)
    w, c = np.zeros(d), q.copy()
    rng = kernel_state(3) if random else CYCLIC
    stop = Stop(float(y @ y), 1e-12, 1e-9, 5000)
    epochs, gap, settled = gram_descent(G, q, penalty, stop, rng, np.empty(d, np.intp), w, c)
    assert settled and gap <= 1e-12 and epochs < 5000
    np.testing.assert_allclose(c, q - G @ w, atol=1e-9)
    score = q - G @ w - penalty.l2 * w
    np.testing.assert_allclose(score[w != 0], penalty.l1 * np.sign(w[w != 0]), atol=1e-5)
    assert np.abs(score).max() <= penalty.l1 + 1e-5


@pytest.mark.parametrize("penalty", [Penalty(3.0, 0.0), Penalty(3.0, 2.0), Penalty(3.0, 0.0, True)])
@pytest.mark.parametrize("shape", [(60, 20), (25, 90)])
def test_three_engines_agree(penalty, shape):
    X, y = data(*shape)
    design = Design(X)
    centred, _ = design.center_target(y)
    xy = design.prepare(centred)
    Z = X - X.mean(axis=0)
    options = Options(tol=1e-13, max_iter=20_000)
    penalties = [penalty._replace(l1=f * penalty.l1) for f in (2.0, 1.0, 0.3)]
    a = gram_path(np.ascontiguousarray(Z.T @ Z), xy, float(centred @ centred), penalties, options)
    b = residual_path(design, centred, penalties, options)
    c = working_set_path(design, centred, xy, penalties, options)
    d = working_set_path(design, centred, xy, penalties, options, b.coefs[0])
    for other in (b, c, d):
        assert all(s.ok for s in other.statuses)
        np.testing.assert_allclose(other.coefs, a.coefs, atol=1e-5)  # the root of the gap
        np.testing.assert_allclose(other.primals, a.primals, rtol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
def test_block_gram(sparse):
    X, y = data(30, 12)
    weight = np.random.default_rng(0).random(30) * (np.arange(30) % 3 > 0)
    design = Design(sp.csc_array(X) if sparse else X, weight)
    centred, _ = design.center_target(y)
    design.prepare(centred)
    block = Block(design)
    for columns in ([3, 1], [7], [0, 10, 11]):
        block.add(np.array(columns))
    Z = np.sqrt(design.weight)[:, None] * (X - design.arrays.mean)
    A = block.columns
    np.testing.assert_allclose(block.gram, Z[:, A].T @ Z[:, A], rtol=1e-10, atol=1e-10)
    w = np.array([1.0, 0, -2, 0, 0, 0.5])
    np.testing.assert_allclose(block.fitted(w), Z[:, A] @ w, atol=1e-10)
    block.keep(np.array([0, 2, 5]))
    np.testing.assert_allclose(block.gram, Z[:, A[[0, 2, 5]]].T @ Z[:, A[[0, 2, 5]]], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(block.fitted(np.ones(3)), Z[:, A[[0, 2, 5]]].sum(axis=1), atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 33])
def test_factor_follows_its_members(size):
    A = np.random.default_rng(size).normal(size=(80, size))
    G = np.ascontiguousarray(A.T @ A)
    members, L = np.zeros(size, np.intp), np.zeros((size, size))
    for k, j in enumerate(np.arange(size)[::-1]):
        assert factor_append(G, 0.5, j, k, members, L)
    work = np.zeros((2, size))
    for left in range(size, 0, -1):
        H = G[np.ix_(members[:left], members[:left])] + 0.5 * np.eye(left)
        b = np.arange(1.0, left + 1)
        x = b.copy()
        factor_solve(L, left, x)
        np.testing.assert_allclose(H @ x, b, rtol=1e-8)
        factor_remove(left // 2, left, *work, members, L)


def test_dependent_coordinate_is_refused():
    G = np.ones((2, 2))
    members, L = np.zeros(2, np.intp), np.zeros((2, 2))
    assert factor_append(G, 0.0, 0, 0, members, L)
    assert not factor_append(G, 0.0, 1, 1, members, L)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 11])
def test_subtract_rows(rows):
    G = np.random.default_rng(0).normal(size=(12, 12))
    where, f, c = np.arange(rows), np.arange(1.0, rows + 1), np.ones(9)
    subtract_rows(G, where, f, c)
    np.testing.assert_allclose(c, 1 - f @ G[where, :9], atol=1e-12)


def test_newton_step_lowers_the_objective_through_sign_changes():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(30, 10))
    G, q = np.ascontiguousarray(A.T @ A), rng.normal(size=10) * 10
    for positive in (False, True):
        penalty = Penalty(1.0, 0.1, positive)
        w = np.abs(rng.normal(size=10)) * 5 if positive else rng.normal(size=10) * 5
        c = q - G @ w
        factor = SupportFactor()

        def objective(w, penalty=penalty):
            return 0.5 * w @ G @ w - q @ w + penalty.l1 * np.abs(w).sum() + 0.5 * penalty.l2 * w @ w

        for _ in range(20):
            before = objective(w)
            length = newton_step(G, penalty, factor, w, c)
            assert objective(w) <= before + 1e-9 and (not positive or (w >= 0).all())
            np.testing.assert_allclose(c, q - G @ w, atol=1e-8)
            if length == 1.0:
                break
        assert length == 1.0


@pytest.mark.parametrize("shape", [(1, 1), (63, 15), (64, 16), (65, 17), (200, 50)])
def test_transpose_tile(shape):
    X = np.random.default_rng(0).normal(size=shape)
    F = np.empty(shape, order="F")
    transpose_tile(X, 0, shape[1], F)
    np.testing.assert_array_equal(F, X)


def test_bound_never_hides_a_correlation():
    rng = np.random.default_rng(0)
    X, old, new = rng.normal(size=(20, 300)), rng.normal(size=20), rng.normal(size=20)
    new = old + 0.1 * new
    c, norm = X.T @ old, np.linalg.norm(X, axis=0)
    needed = np.empty(300, np.bool_)
    seen, moved = np.zeros(300, np.intp), np.array([np.linalg.norm(new - old)])
    bound = 8.0
    count = uncertain(c, norm, seen, moved, np.zeros(300), bound, needed)
    assert 0 < count < 300 and count == needed.sum()
    assert needed[np.abs(X.T @ new) >= bound].all()
