"""Lasso and elastic-net logistic regression: working sets lose no feature, collinear and sparse data converge."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hyperplan._core.status import Status
from hyperplan._solvers.logistic import ENGINES, engine_for, solve_binary
from hyperplan._solvers.logistic_model import minimise_model
from hyperplan._solvers.logistic_rows import Penalty, Rows
from hyperplan._solvers.logistic_sparse import ColumnModel, prefers_columns
from hyperplan._solvers.softmax import solve_softmax
from hyperplan.linear_model import LogisticRegression

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


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.01, 0.0), (0.01, 0.02), (0.0, 0.01)])
def test_compiled_loop_of_small_data_equals_the_general_engines(l1, l2, intercept):
    X, y = _wide(90, 9, False)
    weight, penalty = rng.random(90), Penalty(l1, l2, 0.0, 0.0, intercept)
    small, general = Rows(X, y, weight), Rows(X, y, weight)
    general.is_small = False
    assert small.is_small
    engine = ENGINES[engine_for(small, penalty)]
    seen = []
    watched = engine(small, penalty, np.zeros(10), 1e-9, 100, lambda *step: bool(seen.append(step)))
    found = solve_binary(X, y, weight, penalty, tol=1e-9, max_iter=100)
    other = engine(general, penalty, np.zeros(10), 1e-9, 100, lambda *_: False)
    assert found.status.ok and other.status.ok and len(seen) == watched.n_iter == found.n_iter
    np.testing.assert_array_equal(watched.theta, found.theta)
    np.testing.assert_allclose(found.theta, other.theta, atol=1e-7)  # gradients of 1e-9, curvatures above 0.01
    assert found.objective - found.dual <= 1e-8 * found.objective
    again = solve_binary(X, y, weight, penalty, tol=1e-9, max_iter=100, theta=found.theta)
    assert again.n_iter <= 1 and again.status.ok
    stopped = engine(small, penalty, np.zeros(10), 1e-9, 100, lambda iteration, *_: iteration == 2)
    assert stopped.status is Status.STOPPED and stopped.n_iter == 2
    assert solve_binary(X, y, weight, penalty, tol=1e-9, max_iter=1).status is Status.MAX_ITER


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_features_that_the_duality_gap_rules_out_are_zero_at_the_optimum(tol):
    X, y = _wide(150, 600, False)
    weight = np.ones(150)
    penalty = Penalty(0.3 * np.abs(X.T @ (y - y.mean())).max() / 150, 0.0, 0.0, 0.0, False)
    found = solve_binary(X, y, weight, penalty, tol=tol, max_iter=500)
    tight = solve_binary(X, y, weight, penalty, tol=1e-11, max_iter=500)
    state = Rows(X, y, weight).evaluate(found.theta)
    gradient = state.gradient[:-1] * min(1.0, penalty.l1 / np.abs(state.gradient[:-1]).max())
    # the dual is 4-strongly concave (Ndiaye, Fercoq, Gramfort, Salmon 2017): its optimum lies in this sphere
    radius = np.sqrt((found.objective - found.dual) / (2 * 150))
    out = np.abs(gradient) + radius * np.linalg.norm(X, axis=0) < penalty.l1
    assert not tight.theta[:-1][out].any()
    assert out.sum() > 300 or tol == 1e-2  # the rule rules out most features


def test_rows_of_equal_length_do_not_slow_down_the_intercept():
    counts = rng.random((3000, 2500)) * (rng.random((3000, 2500)) < 0.02)
    X = sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))  # like texts: the sum is nearly constant
    y = (counts[:, :60] @ rng.standard_normal(60) * 3 + rng.logistic(size=3000) > 0).astype(np.float64)
    for constant in (0.0, 1.0 / 3000):  # an intercept without and with lasso penalty
        penalty = Penalty(1.0 / 3000, 0.0, constant, 0.0, True)
        found = solve_binary(X, y, np.ones(3000), penalty, tol=1e-6, max_iter=40)
        assert found.status.ok and found.n_iter < 25  # one coordinate at a time it takes hundreds of sweeps
        assert found.objective - found.dual <= 1e-5 * found.objective


def test_plain_arrays_are_checked_like_all_others():
    X, y = _wide(40, 8, False)
    model = LogisticRegression().fit(pd.DataFrame(X, columns=list("abcdefgh")), y)
    assert list(model.feature_names_in_) == list("abcdefgh")
    model.fit(X[:, :2].copy(), y.astype(int))
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")
    same = LogisticRegression().fit(np.asfortranarray(X[:, :2]), y.astype(int))
    np.testing.assert_array_equal(same.coef_, model.coef_)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*row 3, column 1"):
        model.fit(bad, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, y + 0.5 * rng.random(40))
