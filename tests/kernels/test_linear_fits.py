"""Kernels of linear models through fits of a few rows, against what defines the solution.

Small enough for plain Python and for bounds checks: indices at the first and last rows and columns are all used.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from hyperplan.linear_model import (
    BestSubset,
    MultiTaskElasticNet,
    MultiTaskLasso,
    Perceptron,
    QuantileRegressor,
    Ridge,
    perceptron,
)


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] - 2 * X[:, -1] + rng.normal(size=n)


@pytest.mark.parametrize("shape", [(1, 1), (12, 3), (6, 9)])
@pytest.mark.parametrize("selection", ["cyclic", "random"])
@pytest.mark.parametrize("sparse", [False, True])
def test_several_targets_meet_the_conditions_of_their_optimum(shape, selection, sparse):
    """X'R / n is alpha (r W_j / |W_j| + (1 - r) W_j) where row j of W is not zero, else of norm at most alpha r."""
    X, y = table(*shape)
    Y, alpha, ratio = np.column_stack([y, X[:, 0]]), 0.1, 0.7
    options = {"alpha": alpha, "tol": 1e-12, "max_iter": 5000, "selection": selection, "random_state": 0}
    model = MultiTaskElasticNet(l1_ratio=ratio, fit_intercept=False, **options)
    W = model.fit(sp.csc_array(X) if sparse else X, Y).coef_.T
    gradient = X.T @ (Y - X @ W) / shape[0]
    for g, w in zip(gradient, W):
        if np.any(w):
            expected = alpha * (ratio * w / np.linalg.norm(w) + (1 - ratio) * w)
            np.testing.assert_allclose(g, expected, atol=1e-5)  # the root of the gap
        else:
            assert np.linalg.norm(g) <= alpha * ratio + 1e-7
    assert model.certificate_.holds


def test_a_large_penalty_empties_all_targets():
    X, y = table(12, 3)
    assert not MultiTaskLasso(alpha=100.0).fit(X, np.column_stack([y, y])).coef_.any()


def least_pinball(X, y, weight, level, alpha):
    """Least value of the objective by linear programming: coefficients and residuals split into two parts each."""
    n, d = X.shape
    share = weight / weight.sum()
    cost = np.r_[np.full(2 * d, alpha), 0.0, 0.0, share * level, share * (1 - level)]
    rows = np.hstack([X, -X, np.ones((n, 1)), -np.ones((n, 1)), np.eye(n), -np.eye(n)])
    return linprog(cost, A_eq=rows, b_eq=y).fun


@pytest.mark.parametrize("n, d", [(1, 1), (2, 1), (13, 2), (30, 4)])
@pytest.mark.parametrize("level", [0.2, 0.5])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_quantile_regression_reaches_the_least_pinball_loss(n, d, level, alpha):
    X, y = table(n, d, seed=n)
    weight = np.random.default_rng(1).integers(1, 4, n).astype(float)
    model = QuantileRegressor(quantile=level, alpha=alpha).fit(X, y, weight)
    gap = y - model.predict(X)
    loss = np.average(np.maximum(level * gap, (level - 1) * gap), weights=weight) + alpha * np.abs(model.coef_).sum()
    assert loss == pytest.approx(least_pinball(X, y, weight, level, alpha), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("n, d", [(3, 1), (9, 4), (7, 9)])
@pytest.mark.parametrize("method", ["exact", "greedy"])
def test_best_subset_against_all_subsets(n, d, method):
    X, y = table(n, d, seed=d)
    model = BestSubset(min(2, d), alpha=0.02, method=method).fit(X, y)
    centred, target = X - X.mean(axis=0), y - y.mean()
    values = []
    for size in range(min(2, d) + 1):
        for chosen in itertools.combinations(range(d), size):
            part = centred[:, list(chosen)]
            rest = target - part @ np.linalg.lstsq(part, target, rcond=None)[0] if size else target
            values.append(rest @ rest / (2 * n) + 0.02 * size)
    if method == "exact":
        assert model.objective_ == pytest.approx(min(values), rel=1e-9)
    else:
        assert min(values) - 1e-9 <= model.objective_ <= values[0] + 1e-9


@pytest.mark.parametrize("solver", ["sag", "saga"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_averaged_gradients_reach_the_ridge(solver, sparse, fit_intercept):
    X, y = table(30, 3)
    X = X * (np.abs(X) > 0.3)
    if sparse and fit_intercept and solver == "saga":
        pytest.skip("refused, as in scikit-learn")
    options = {"tol": 1e-9, "max_iter": 3000, "random_state": 0, "fit_intercept": fit_intercept}
    model = Ridge(alpha=5.0, solver=solver, **options).fit(sp.csr_array(X) if sparse else X, y)
    mean, height = (X.mean(axis=0), y.mean()) if fit_intercept else (np.zeros(3), 0.0)
    centred = X - mean
    expected = np.linalg.solve(centred.T @ centred + 5.0 * np.eye(3), centred.T @ (y - height))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-5, atol=1e-7)
    assert model.intercept_ == pytest.approx(height - mean @ expected, rel=1e-4)


def separable(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(np.arange(n) % 2, 1, -1)
    X[:, 0] += 3 * y
    X[:, 0] = np.where(X[:, 0] * y > 0.1, X[:, 0], y)
    return X, y


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "random_mistake"])
@pytest.mark.parametrize("n, d", [(2, 1), (3, 3), (17, 2)])
def test_the_textbook_loop_separates(order, n, d):
    X, y = separable(n, d)
    found = perceptron(X, y, 200, order=order, random_state=0)
    assert found.converged and (y * (np.column_stack([X, np.ones(n)]) @ found.weight) > 0).all()
    if order == "cyclic":
        w, mistakes, clean = np.zeros(d + 1), 0, False
        while not clean:
            clean = True
            for x, sign in zip(np.column_stack([X, np.ones(n)]), y):
                if sign * (w @ x) <= 0:
                    w, mistakes, clean = w + sign * x, mistakes + 1, False
        np.testing.assert_array_equal(found.weight, w)
        assert found.n_mistakes == mistakes


@pytest.mark.parametrize("variant", ["vanilla", "pocket", "averaged"])
@pytest.mark.parametrize("sparse", [False, True])
def test_perceptrons_separate_and_stay_below_the_bound(variant, sparse):
    X, y = separable(17, 3)
    rows = sp.csr_array(X) if sparse else X
    model = Perceptron(variant=variant, tol=None, max_iter=200, random_state=0).fit(rows, y)
    assert model.score(rows, y) == 1.0
    assert model.certificate_.holds and model.certificate_.value <= model.certificate_.bound


def test_the_pocket_keeps_the_best_weights_of_rows_that_cannot_be_separated():
    X, y = separable(17, 3)
    y[:3] = -y[:3]
    kept = Perceptron(variant="pocket", tol=None, max_iter=20, random_state=0).fit(X, y)
    last = Perceptron(variant="vanilla", tol=None, max_iter=20, random_state=0).fit(X, y)
    assert kept.score(X, y) >= last.score(X, y) and kept.score(X, y) >= 14 / 17
