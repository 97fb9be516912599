"""Eigen-solvers agree with LAPACK and ARPACK, tell how they got there, and refuse what is not symmetric."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from hyperplan._core.status import Status
from hyperplan.linalg import METHODS, eigh, jacobi, lanczos, qr_iteration, tridiagonal_eigh, tridiagonalize

DENSE = [method for method in METHODS if method != "lanczos"]


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return (A + A.T) / 2


MATRICES = {
    "random": symmetric(40),
    "definite": symmetric(30, 1) @ symmetric(30, 1),
    "repeated": np.kron(np.eye(6), [[2.0, 1.0], [1.0, 2.0]]),
    "zero": np.zeros((5, 5)),
    "one": np.array([[-3.0]]),
    "rank one": np.outer(np.arange(8.0), np.arange(8.0)),
    "graded": np.diag(10.0 ** np.arange(-8, 8)) + 1e-9,
    "huge": 1e200 * symmetric(10),
    "tiny": 1e-200 * symmetric(10),
    "exchange": np.fliplr(np.eye(7)),
}


@pytest.mark.parametrize("method", DENSE)
@pytest.mark.parametrize("name", MATRICES)
def test_all_methods_agree_with_lapack(name, method):
    A = MATRICES[name]
    result = eigh(A, method=method)
    size = np.abs(A).max() or 1.0
    # backward stable methods move eigenvalues by a small multiple of n eps |A|
    np.testing.assert_allclose(result.values / size, np.linalg.eigvalsh(A / size), atol=2e-14 * len(A))
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(len(A)), atol=1e-13 * len(A))
    np.testing.assert_allclose(A / size @ result.vectors, result.vectors * (result.values / size), atol=2e-14 * len(A))
    assert result.success and result.certificate.holds and (np.diff(result.values) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_pairs_only(method):
    A = symmetric(60, 3)
    result = eigh(A, method=method, n_components=4)
    np.testing.assert_allclose(result.values, np.linalg.eigvalsh(A)[-4:], atol=1e-8)
    assert result.vectors.shape == (60, 4)
    assert (result.vectors[np.abs(result.vectors).argmax(axis=0), range(4)] > 0).all()


def test_jacobi_converges_quadratically_at_the_end():
    result = jacobi(symmetric(40))
    off = np.array(result.trace.residuals)
    assert (np.diff(off) <= 0).all()
    assert off[-2] / off[0] < 1e-4 and off[-1] <= 1e-13 * off[0]
    assert result.certificate.details["rotations"] > 40 * 39 / 2


def test_householder_needs_a_reflection_per_column_and_givens_a_rotation_per_entry():
    A = symmetric(12)
    assert tridiagonalize(A).n_steps == 10
    assert tridiagonalize(A, method="givens").n_steps == 11 * 10 / 2
    for method in ("householder", "givens"):
        T = tridiagonalize(A, method=method)
        np.testing.assert_allclose(T.basis @ T.matrix() @ T.basis.T, A, atol=1e-13)


def test_ql_takes_about_two_steps_per_eigenvalue():
    rng = np.random.default_rng(0)
    result = tridiagonal_eigh(rng.normal(size=200), rng.normal(size=199))
    assert 200 <= result.n_iter <= 500
    assert sum(result.trace.objectives) == result.n_iter


def test_plain_qr_separates_distinct_moduli():
    A = np.diag([1.0, 2.0, 4.0]) + 0.1
    result = qr_iteration(A)
    np.testing.assert_allclose(result.values, np.linalg.eigvalsh(A), atol=1e-12)
    ratios = np.array(result.trace.residuals[9:19]) / np.array(result.trace.residuals[8:18])
    values = np.abs(result.values)
    np.testing.assert_allclose(ratios, max(values[0] / values[1], values[1] / values[2]), rtol=0.02)


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
def test_lanczos_is_arpack(kind, which):
    A = sp.random(300, 300, density=0.02, random_state=np.random.default_rng(0), format="csr")
    A = (A + A.T) / 2
    given = {"dense": A.toarray(), "sparse": A, "operator": spla.aslinearoperator(A)}[kind]
    result = lanczos(given, 5, which=which)
    expected = np.sort(spla.eigsh(A, 5, which=which, v0=np.ones(300))[0])
    np.testing.assert_allclose(result.values, expected, atol=1e-8)
    assert result.success and result.certificate.holds
    assert result.n_iter < 300 * 5


def test_lanczos_on_all_of_a_small_matrix_and_on_invariant_spaces():
    np.testing.assert_allclose(lanczos(np.eye(6), 6).values, np.ones(6))
    np.testing.assert_allclose(lanczos(np.zeros((8, 8)), 3).values, np.zeros(3))
    block = np.diag([5.0, 5.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] * 5)
    np.testing.assert_allclose(lanczos(block, 4, basis_size=8).values, 5.0 * np.ones(4))
    np.testing.assert_allclose(lanczos([[2.0]], 1).values, [2.0])


def test_lanczos_stays_orthogonal_when_values_converge_early():
    A = np.diag(np.concatenate([[1e6, 1e3], np.linspace(0, 1, 400)]))
    result = lanczos(A, 6, tol=1e-12)
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(result.values[-2:], [1e3, 1e6])


def test_callbacks_stop():
    A = symmetric(50)
    assert jacobi(A, callback=lambda step: step.iteration == 2).status is Status.STOPPED
    assert jacobi(A, callback=lambda step: step.iteration == 2).n_iter == 2
    assert lanczos(np.diag(np.arange(500.0)), 3, callback=lambda step: True).status is Status.STOPPED
    assert jacobi(A, max_iter=1).status is Status.MAX_ITER
    assert lanczos(np.diag(np.arange(2000.0)), 3, tol=1e-14, max_iter=30).status is Status.MAX_ITER


@pytest.mark.parametrize("solve", [eigh, jacobi, tridiagonalize, lanczos, qr_iteration])
def test_bad_matrices_are_refused_with_the_place(solve):
    with pytest.raises(ValueError, match=r"symmetric.*\(0, 1\) and \(1, 0\)|\(1, 0\) and \(0, 1\)"):
        solve([[1.0, 2.0], [3.0, 4.0]], **({"k": 1} if solve is lanczos else {}))
    with pytest.raises(ValueError, match="row 1, column 0"):
        solve([[1.0, 2.0], [np.nan, 4.0]], **({"k": 1} if solve is lanczos else {}))
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        solve(np.ones((2, 3)))


def test_bad_options_are_refused():
    A = np.eye(3)
    with pytest.raises(ValueError, match="method"):
        eigh(A, method="qz")
    with pytest.raises(ValueError, match="between 1 and 3"):
        eigh(A, n_components=4)
    with pytest.raises(ValueError, match="between 1 and 3"):
        lanczos(A, 4)
    with pytest.raises(ValueError, match="which"):
        lanczos(A, 1, which="XX")
    with pytest.raises(ValueError, match="lengths n >= 1 and n - 1"):
        tridiagonal_eigh([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="method"):
        tridiagonalize(A, method="lu")


def test_the_input_is_left_alone():
    A = symmetric(6)
    kept = A.copy()
    for method in METHODS:
        eigh(A, method=method, n_components=2)
    assert (kept == A).all()
