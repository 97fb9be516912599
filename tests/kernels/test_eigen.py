"""Kernels of the eigen-solvers against their definitions."""

import numpy as np
import pytest

from hyperplan._math import _eigen_kernels as k

SIZES = [1, 2, 3, 4, 7, 20]


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return (A + A.T) / 2


def tridiagonal(d, e):
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def test_a_turn_of_two_rows():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    k.turn_rows(rows, 0, 1, 0.6, 0.8)
    np.testing.assert_allclose(rows, [[0.6 - 2.4, 1.2 - 3.2], [0.8 + 1.8, 1.6 + 2.4]])


@pytest.mark.parametrize("n", SIZES)
def test_a_sweep_is_a_similarity_and_lowers_the_off_diagonal(n):
    A = symmetric(n)
    a, basis = A.copy(), np.eye(n)
    before = (A**2).sum() - (np.diag(A) ** 2).sum()
    rotations = k.jacobi_sweep(a, basis, 0.0)
    assert rotations == n * (n - 1) // 2
    np.testing.assert_allclose(basis @ A @ basis.T, a, atol=1e-13 * max(n, 1))
    np.testing.assert_allclose(basis @ basis.T, np.eye(n), atol=1e-13)
    assert (a**2).sum() - (np.diag(a) ** 2).sum() <= before * (0.9 if n > 1 else 1.0)


def test_one_rotation_takes_twice_the_square_away():
    """S' = S - 2 a_pq^2 for the pair that is rotated."""
    A = np.array([[1.0, 3.0, 0.5], [3.0, -2.0, 0.25], [0.5, 0.25, 4.0]])
    a, basis = A.copy(), np.eye(3)
    assert k.jacobi_sweep(a, basis, 1.0) == 1  # only one entry is above the threshold
    off = lambda m: (m**2).sum() - (np.diag(m) ** 2).sum()  # noqa: E731
    assert off(a) == pytest.approx(off(A) - 2 * 3.0**2)


@pytest.mark.parametrize("reduce", [k.householder_tridiagonal, k.givens_tridiagonal])
@pytest.mark.parametrize("n", SIZES)
def test_three_diagonals_remain(n, reduce):
    A = symmetric(n, seed=n)
    a, basis = A.copy(), np.eye(n)
    reduce(a, basis)
    outside = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1
    assert not a[outside].any()
    np.testing.assert_allclose(basis @ A @ basis.T, a, atol=1e-13 * n)
    np.testing.assert_allclose(basis @ basis.T, np.eye(n), atol=1e-13)


@pytest.mark.parametrize("reduce", [k.householder_tridiagonal, k.givens_tridiagonal])
def test_what_is_tridiagonal_already_is_left_alone(reduce):
    A = tridiagonal(np.arange(5.0), np.ones(4))
    a, basis = A.copy(), np.eye(5)
    assert reduce(a, basis) == 0
    assert (a == A).all() and (basis == np.eye(5)).all()


@pytest.mark.parametrize("iterate", [k.ql_tridiagonal, k.qr_tridiagonal])
@pytest.mark.parametrize("n", SIZES)
def test_iterations_diagonalise(n, iterate):
    rng = np.random.default_rng(n)
    d, e = rng.normal(size=n), rng.normal(size=max(n - 1, 0))
    T = tridiagonal(d, e)
    values, basis, steps = d.copy(), np.eye(n), np.zeros(n, np.int64)
    assert iterate(values, np.append(e, 0.0), basis, 60, steps) == -1
    np.testing.assert_allclose(basis @ T @ basis.T, np.diag(values), atol=1e-13 * max(n, 4))
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(T), atol=1e-13 * max(n, 4))
    assert steps.sum() <= 4 * n


@pytest.mark.parametrize("iterate", [k.ql_tridiagonal, k.qr_tridiagonal])
def test_blocks_that_fall_apart(iterate):
    d, e = np.array([1.0, 1.0, 0.0, 0.0, 2.0]), np.array([0.0, 1e-300, 1.0, 0.0])
    values, basis, steps = d.copy(), np.eye(5), np.zeros(5, np.int64)
    assert iterate(values, np.append(e, 0.0), basis, 60, steps) == -1
    np.testing.assert_allclose(np.sort(values), [-1.0, 1.0, 1.0, 1.0, 2.0], atol=1e-15)


@pytest.mark.parametrize("iterate", [k.ql_tridiagonal, k.qr_tridiagonal])
def test_too_few_steps_are_told(iterate):
    d, e, basis = np.zeros(6), np.append(np.ones(5), 0.0), np.eye(6)
    assert iterate(d, e, basis, 1, np.zeros(6, np.int64)) >= 0
