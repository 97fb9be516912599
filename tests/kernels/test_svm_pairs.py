"""Kernels of the support vector dual against their naive twins."""

import numpy as np
import pytest

from hyperplan._solvers import _kernel_svm_kernels as k

PANEL = k.PANEL


def naive_slopes(terms, beta, score):
    low, high, below, above = terms
    up = np.where(beta < high, -(score + np.where(beta >= 0, above, below)), -np.inf)
    down = np.where(beta > low, -(score + np.where(beta > 0, above, below)), np.inf)
    return up, down


def naive_objective(K, terms, beta):
    return 0.5 * beta @ K @ beta + np.where(beta >= 0, terms[3], terms[2]) @ beta


def problem(n, kind, seed=0):
    """A kernel matrix, the terms of a classification or regression problem, and a start that is feasible."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    C = rng.uniform(0.5, 2.0, size=n)
    if kind == "classification":
        s = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
        return K, np.stack([np.where(s > 0, 0, -C), np.where(s > 0, C, 0), -s, -s]), np.zeros(n)
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    return K, np.stack([-C, C, -0.1 - y, 0.1 - y]), np.zeros(n)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_slopes(n):
    rng = np.random.default_rng(n)
    terms = np.stack([-np.ones(n), np.ones(n), rng.normal(size=n) - 1.0, rng.normal(size=n) + 1.0])
    beta, score = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=n), rng.normal(size=n)
    up, down = np.empty(n), np.empty(n)
    k.slopes(terms, beta, score, up, down)
    expected = naive_slopes(terms, beta, score)
    assert np.array_equal(up, expected[0]) and np.array_equal(down, expected[1])


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pair_steps_end_at_a_feasible_optimum(kind, dtype):
    K, terms, beta = problem(40, kind)
    score, work = np.zeros(40), np.empty((3, 40))
    steps, violation = k.improve_pairs(K.astype(dtype), np.ones(40), terms, 40, 1e-4, 100_000, beta, score, work)
    assert 0 < steps < 100_000 and violation <= 1e-4
    assert (beta >= terms[0]).all() and (beta <= terms[1]).all() and abs(beta.sum()) < 1e-12
    np.testing.assert_allclose(score, K @ beta, atol=1e-5)  # float32 has seven digits
    up, down = naive_slopes(terms, beta, K @ beta)
    assert up.max() - down.min() < 2e-4
    # no feasible pair step of any length improves the objective by more than the violation allows
    rng, value = np.random.default_rng(1), naive_objective(K, terms, beta)
    for _ in range(300):
        i, j = rng.choice(40, size=2, replace=False)
        step = rng.uniform(0, min(terms[1, i] - beta[i], beta[j] - terms[0, j]) + 1e-300)
        moved = beta.copy()
        moved[i] += step
        moved[j] -= step
        assert naive_objective(K, terms, moved) >= value - 2e-4 * step - 1e-9


def test_two_groups_keep_their_sums():
    K, _, _ = problem(30, "regression")
    weight = np.ones(30)
    sides = np.repeat([1.0, -1.0], 15)
    terms = np.stack([np.where(sides > 0, 0, -weight), np.where(sides > 0, weight, 0), np.zeros(30), np.zeros(30)])
    beta = np.where(sides > 0, 0.4, -0.4)
    score, work = K @ beta, np.empty((3, 30))
    _, violation = k.improve_pairs(K, np.ones(30), terms, 15, 1e-6, 100_000, beta, score, work)
    assert violation <= 1e-6
    assert beta[:15].sum() == pytest.approx(6.0) and beta[15:].sum() == pytest.approx(-6.0)
    up, down = naive_slopes(terms, beta, K @ beta)
    for part in (slice(0, 15), slice(15, 30)):
        assert up[part].max() - down[part].min() < 2e-6


def test_the_number_of_steps_is_limited_and_nothing_to_do_takes_none():
    K, terms, beta = problem(40, "classification")
    score, work = np.zeros(40), np.empty((3, 40))
    steps, violation = k.improve_pairs(K, np.ones(40), terms, 40, 1e-9, 3, beta, score, work)
    assert steps == 3 and violation > 1e-9 and np.count_nonzero(beta) <= 6
    steps, _ = k.improve_pairs(K, np.ones(40), terms, 40, 10.0, 100, beta, score, work)
    assert steps == 0


def test_not_a_number_ends_the_search():
    K, terms, beta = problem(10, "classification")
    K = np.full((10, 10), np.nan)
    steps, _ = k.improve_pairs(K, np.ones(10), terms, 10, 1e-3, 1000, beta, np.zeros(10), np.empty((3, 10)))
    assert steps == 1


@pytest.mark.parametrize("n", [0, 1, 2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 7])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_sums_of_rows(n, count):
    rng = np.random.default_rng(n + count)
    rows = rng.normal(size=(12, n)).astype(np.float32)
    slots, weights, total = rng.permutation(12)[:count], rng.normal(size=count), rng.normal(size=n)
    expected = total + weights @ rows[slots].astype(np.float64)
    middle = n // 3
    k.add_rows(rows, slots, weights, 0, middle, total)
    k.add_rows(rows, slots, weights, middle, n, total)
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-12)  # float64 sums in another order


def test_gather_and_pack():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 11)).astype(np.float32)
    slots, columns = np.array([5, 0, 6]), np.array([1, 10, 4, 4])
    out = np.zeros((3, 4), dtype=np.float32)
    k.gather(rows, slots, columns, 0, 2, out)
    k.gather(rows, slots, columns, 2, 3, out)
    assert np.array_equal(out, rows[np.ix_(slots, columns)])
    buffer, kept, narrow = rows.ravel().copy(), np.array([0, 2, 5, 6]), np.array([0, 3, 4, 10])
    k.pack(buffer, 11, kept, narrow)
    assert np.array_equal(buffer[:16].reshape(4, 4), rows[np.ix_(kept, narrow)])
