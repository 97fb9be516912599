"""Lasso and elastic-net logistic regression: working sets lose no feature, collinear and sparse data converge."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._solvers.logistic import solve_binary
from hyperplan._solvers.logistic_model import minimise_model
from hyperplan._solvers.logistic_rows import Penalty, Rows
from hyperplan._solvers.logistic_sparse import ColumnModel, prefers_columns
from hyperplan._solvers.softmax import solve_softmax

rng = np.random.default_rng(3)


def _wide(n, d, sparse):
    X = rng.standard_normal((n, d))
    if sparse:
        X *= rng.random((n, d)) < 0.03
    score = X[:, :8] @ rng.standard_normal(8) * (4.0 if sparse else 1.0)
    y = (score + rng.logistic(size=n) > 0).astype(np.float64)
    return (sp.csr_array(X) if sparse else X), y


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_working_set_keeps_every_feature_of_a_tight_solution(share, sparse, l2):
    X, y = _wide(1200, 2500, True) if sparse else _wide(150, 600, False)
    weight = np.ones(y.size)
    largest = np.abs(np.asarray(X.T @ (y - y.mean()))).max() / y.size
    penalty = Penalty(share * largest, l2, 0.0, 0.0, True)
    tight = solve_binary(X, y, weight, penalty, tol=1e-9, max_iter=500)
    loose = solve_binary(X, y, weight, penalty, tol=1e-4, max_iter=500)
    # optimality on all features, read off the data: no feature left out may violate its condition
    p = 1.0 / (1.0 + np.exp(-(np.asarray(X @ tight.theta[:-1]) + tight.theta[-1])))
    gradient = np.asarray(X.T @ (p - y)) / y.size + l2 * tight.theta[:-1]
    out = tight.theta[:-1] == 0.0
    assert np.abs(gradient[out]).max() <= penalty.l1 * (1 + 1e-6)
    solid = np.abs(tight.theta[:-1]) > 1e-2 * np.abs(tight.theta[:-1]).max()
    assert (loose.theta[:-1][solid] != 0.0).all()
    assert loose.objective <= tight.objective * (1 + 1e-4)  # the relative duality gap asked for


def test_sparse_rows_are_solved_on_their_columns_to_the_dense_minimum():
    X, y = _wide(1200, 2500, True)
    weight = np.ones(y.size)
    rows = Rows(X, y, weight)
    assert prefers_columns(rows) and isinstance(ColumnModel(rows).by_column, sp.csc_array)
    penalty = Penalty(2e-3, 0.0, 0.0, 0.0, True)
    sparse = solve_binary(X, y, weight, penalty, tol=1e-7, max_iter=500)
    dense = solve_binary(X.toarray(), y, weight, penalty, tol=1e-7, max_iter=500)
    assert sparse.status.ok and dense.status.ok
    np.testing.assert_allclose(sparse.objective, dense.objective, rtol=1e-7)  # both within their tolerance
    codes = np.digitize(np.asarray(X[:, [0]].todense()).ravel(), [-0.2, 0.2])
    options = {"tol": 1e-6, "max_iter": 500}
    several = [
        solve_softmax(A, codes, weight, 3, Penalty(3e-3, 0.0, 0.0, 0.0, True), **options) for A in (X, X.toarray())
    ]
    np.testing.assert_allclose(several[0].objective, several[1].objective, rtol=1e-5)


def test_collinear_features_converge_in_newton_steps():
    base = rng.standard_normal((500, 6))
    X = np.column_stack([base, base @ rng.standard_normal((6, 6)), base[:, :2] + 1e-6 * rng.standard_normal((500, 2))])
    y = (base[:, 0] + rng.logistic(size=500) > 0).astype(np.float64)
    found = solve_binary(X, y, np.ones(500), Penalty(2e-5, 0.0, 0.0, 0.0, True), tol=1e-4, max_iter=40)
    assert found.status.ok and found.n_iter < 30  # coordinate descent alone takes hundreds of steps
    codes = rng.integers(0, 3, 500)
    several = solve_softmax(X, codes, np.ones(500), 3, Penalty(2e-5, 0.0, 0.0, 0.0, True), tol=1e-4, max_iter=40)
    assert several.status.ok and several.n_iter < 30


def test_model_minimiser_meets_its_conditions():
    A = rng.standard_normal((40, 12))
    A = np.column_stack([A, A @ rng.standard_normal((12, 4))])
    hessian = A.T @ A / 40
    lasso, ridge = np.full(16, 0.05), np.full(16, 1e-9)
    lasso[-1] = 0.0
    start = rng.standard_normal(16)
    z, slope = start.copy(), rng.standard_normal(12) @ A[:12]
    first = slope.copy()
    assert minimise_model(hessian, ridge, lasso, 1e-9, slope, z)
    np.testing.assert_allclose(slope, first + hessian @ (z - start) + ridge * (z - start), atol=1e-8)
    wrong = np.where(z == 0.0, np.maximum(np.abs(slope) - lasso, 0.0), np.abs(slope + lasso * np.sign(z)))
    assert wrong.max() <= 2e-9
