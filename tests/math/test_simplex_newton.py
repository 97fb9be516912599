"""Newton's method on the simplex: the optimum, its certificate, hard cases."""

import numpy as np
import pytest
from scipy.optimize import nnls

from hyperplan._core.status import Status
from hyperplan._solvers.projected import projected_gradient, simplex
from hyperplan._solvers.simplex_newton import quadratic_on_simplex, simplex_newton


def squares(Z, y):
    moments = (y[:, None] - Z).T @ (y[:, None] - Z) / len(y)
    return lambda a: (a @ moments @ a, 2 * moments @ a, 2 * moments)


def logarithms(P):
    def evaluate(a):
        mixed = P @ a
        ratios = P / mixed[:, None]
        return -np.log(mixed).mean(), -ratios.mean(axis=0), ratios.T @ ratios / len(P)

    return evaluate


@pytest.mark.parametrize("seed", range(20))
def test_squares_agree_with_non_negative_least_squares(seed):
    """With a heavy row that asks the weights to sum to 1, SciPy's solver finds the same weights."""
    rng = np.random.default_rng(seed)
    n, size = 60, int(rng.integers(2, 9))
    y = rng.normal(size=n)
    Z = y[:, None] * rng.uniform(0.2, 1.2, size) + rng.normal(size=(n, size))
    heavy = 1e5
    expected, _ = nnls(np.vstack([Z, np.full(size, heavy)]), np.append(y, heavy))
    found = simplex_newton(squares(Z, y), size)
    assert found.status is Status.CONVERGED and found.n_iter <= 2  # a quadratic: one step, one more for rounding
    # the row weighs 1e10 against 60: the sum is off by up to 1e-8, weights by that times the condition number
    np.testing.assert_allclose(found.weights, expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_logarithms_agree_with_projected_gradient(seed):
    rng = np.random.default_rng(seed)
    P = rng.uniform(0.05, 1.0, size=(80, 5)) ** rng.uniform(0.5, 2.0, 5)
    evaluate = logarithms(P)
    found = simplex_newton(evaluate, 5, tol=1e-10)
    slow = projected_gradient(lambda a: evaluate(a)[0], lambda a: evaluate(a)[1], np.full(5, 0.2), simplex(), tol=1e-9)
    # the gap of either is below 1e-8, and the objective is flat: weights agree to its square root
    assert found.objective <= slow.objective + 1e-9
    np.testing.assert_allclose(found.weights, slow.x, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_gap_bounds_the_excess_at_every_scale(scale):
    rng = np.random.default_rng(3)
    y = scale * rng.normal(size=50)
    Z = y[:, None] + scale * rng.normal(size=(50, 4))
    found = simplex_newton(squares(Z, y), 4)
    candidates = rng.dirichlet(np.full(4, 0.5), size=2000)
    best = min(squares(Z, y)(a)[0] for a in candidates)
    assert found.objective - found.gap <= best and found.certificate(1e-8).holds


def test_twins_and_impossible_rows():
    """Equal columns, and rows to which all models but one give next to no probability."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(4, 20))
        P = rng.uniform(size=(int(rng.integers(5, 150)), size)) ** rng.uniform(0.3, 4.0, size)
        P[:, 1] = P[:, 0]
        P[rng.random(P.shape) < 0.1] = 2e-16
        found = simplex_newton(logarithms(np.maximum(P, 2e-16)), size)
        assert found.status is Status.CONVERGED
        assert found.weights.min() >= 0 and found.weights.sum() == pytest.approx(1.0)


def test_one_variable_and_corner():
    assert quadratic_on_simplex(np.zeros((1, 1)), np.zeros(1), np.ones(1)).tolist() == [1.0]
    corner = quadratic_on_simplex(np.eye(3), np.array([-9.0, 0.0, 0.0]), np.full(3, 1 / 3))
    np.testing.assert_allclose(corner, [1.0, 0.0, 0.0], atol=1e-12)


def test_too_few_steps_are_reported():
    rng = np.random.default_rng(0)
    found = simplex_newton(logarithms(rng.uniform(size=(50, 6)) ** 4), 6, max_iter=1)
    assert found.status is Status.MAX_ITER and not found.certificate(1e-8).holds
