"""Eigen-solvers: worked numbers and errata (1.R, P2, V23)."""

import numpy as np
import pytest
import scipy.linalg as la

from hyperplan._core.status import Status
from hyperplan.linalg import eigh, jacobi, lanczos, qr_iteration, tridiagonal_eigh, tridiagonalize


def test_T27_P2_powers_by_diagonalisation():
    A = np.array([[3.0, 1.0], [1.0, 3.0]]) / 2
    result = eigh(A)
    np.testing.assert_allclose(result.values, [1.0, 2.0])
    np.testing.assert_allclose(np.abs(result.vectors), np.full((2, 2), np.sqrt(0.5)))
    power = (result.vectors * result.values**7) @ result.vectors.T
    np.testing.assert_allclose(power, [[64.5, 63.5], [63.5, 64.5]])


def test_E42_a_basis_of_eigenvectors_needs_symmetry():
    shear = np.array([[1.0, 1.0], [0.0, 1.0]])
    _, vectors = la.eig(shear)
    assert abs(np.linalg.det(vectors)) < 1e-10  # both eigenvectors are the same: not diagonalisable
    with pytest.raises(ValueError, match="symmetric"):
        eigh(shear)


def test_T35_E119_an_angle_of_45_degrees_is_rotated():
    """With sign(0) = 0 the rotation would be none, and the matrix would never change."""
    result = jacobi([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(result.values, [1.0, 3.0])
    assert result.certificate.details["rotations"] == 1
    np.testing.assert_allclose(np.abs(result.vectors), np.full((2, 2), np.sqrt(0.5)))


def test_R1_E119_the_rotated_entry_has_c2_s2_and_a_minus():
    app, aqq, apq = 1.3, -0.4, 0.7
    theta = (aqq - app) / (2 * apq)
    t = np.sign(theta) / (abs(theta) + np.sqrt(theta**2 + 1))
    c = 1 / np.sqrt(t**2 + 1)
    s = t * c
    new = c**2 * app + s**2 * aqq - 2 * s * c * apq
    assert new == pytest.approx(app - t * apq)
    assert min(abs(jacobi([[app, apq], [apq, aqq]]).values - new)) < 1e-14


def test_T36_E120_R4_equal_moduli_need_a_shift():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    plain = qr_iteration(swap)
    assert plain.status is Status.STALLED and not plain.success
    for method in ("ql", "qr"):
        np.testing.assert_allclose(tridiagonal_eigh([0.0, 0.0], [1.0], method=method).values, [-1.0, 1.0])


def test_R2_R3_E121_reflections_do_in_n_columns_what_rotations_do_in_n_squared_entries():
    A = np.random.default_rng(0).normal(size=(20, 20))
    A = A + A.T
    householder, givens = tridiagonalize(A), tridiagonalize(A, method="givens")
    assert householder.n_steps == 18 and givens.n_steps == 19 * 18 // 2
    np.testing.assert_allclose(np.abs(householder.off_diagonal), np.abs(givens.off_diagonal), rtol=1e-9)
    np.testing.assert_allclose(householder.diagonal, givens.diagonal, rtol=1e-9, atol=1e-9)


def test_R5_ritz_residuals_are_true_residuals():
    A = np.diag(np.linspace(0.0, 1.0, 300) ** 3)
    result = lanczos(A, 3, tol=1e-9)
    residual = np.linalg.norm(A @ result.vectors - result.vectors * result.values, axis=0)
    assert residual.max() <= 1e-9


def test_R6_R7_V23_jacobi_is_ql_is_lapack():
    A = np.random.default_rng(1).normal(size=(25, 25))
    A = A @ A.T
    expected = np.linalg.eigvalsh(A)
    for method in ("jacobi", "householder-ql", "givens-ql", "householder-qr"):
        result = eigh(A, method=method)
        np.testing.assert_allclose(result.values, expected, rtol=1e-10)
        np.testing.assert_allclose((result.vectors * result.values) @ result.vectors.T, A, atol=1e-11)
