"""Worked numbers and traps of optimisation."""

import numpy as np
import pytest

from hyperplan import optimize as op
from hyperplan._core.status import Status

OLS = np.array([3.0, -1.0, 0.4, 0.2])


def orthonormal_lasso(lam):
    """|y - X theta|^2 + lam |theta|_1 with X'X = I and the least-squares solution OLS."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 4)))[0]
    return X, X @ OLS


def test_T08_E05_lasso_with_orthonormal_columns():
    X, y = orthonormal_lasso(1.0)

    def objective(theta):
        return ((y - X @ theta) ** 2).sum() + np.abs(theta).sum()

    theta = op.soft_threshold(OLS, 0.5)
    assert theta.tolist() == [2.5, -0.5, 0.0, 0.0]
    assert objective(theta) == pytest.approx(3.7)
    printed = np.maximum(0, 1 - 6 * 1.0 / np.abs(OLS)) * OLS  # the factor with n lambda
    assert not printed.any() and objective(printed) == pytest.approx(10.2)
    for method in ("ista", "fista"):
        result = op.minimize(
            lambda t: ((y - X @ t) ** 2).sum(), lambda t: 2 * X.T @ (X @ t - y), np.zeros(4), method,
            penalty=op.l1_penalty(1.0), smoothness=2.0, tol=1e-12,
        )  # fmt: skip
        np.testing.assert_allclose(result.x, theta, atol=1e-11)
        assert result.objective == pytest.approx(3.7)


@pytest.mark.parametrize("eta, end", [(0.1, 1.0461169), (0.5, 1.0), (0.9, 1.0461169), (1.0, 5.0), (1.1, 154.3504)])
def test_T09_gradient_descent_in_one_dimension(eta, end):
    result = op.gradient_descent(lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1), 5.0, step=eta, max_iter=20)
    assert float(result.x) == pytest.approx(end, rel=1e-6)
    assert float(result.x) == pytest.approx(1 + 4 * (1 - 2 * eta) ** 20, rel=1e-9)
    assert (result.n_iter == 1) == (eta == 0.5)
    assert result.success == (eta == 0.5)


def test_T09_gradient_descent_in_two_dimensions():
    scale = np.array([2.0, 1.0])
    result = op.gradient_descent(
        lambda x: x[0] ** 2 + x[1] ** 2 / 2, lambda x: scale * x, [4.0, 3.0], step=0.1, max_iter=30
    )
    np.testing.assert_allclose(result.x, [0.0049518, 0.1271735], atol=5e-8)
    np.testing.assert_allclose(result.x, [4 * 0.8**30, 3 * 0.9**30], rtol=1e-12)


def test_T10_soft_threshold():
    z = np.array([-3, -1, 1, -0.5, 0.5, 2.5])
    assert op.soft_threshold(z, 1.0).tolist() == [-2.0, 0.0, 0.0, 0.0, 0.0, 1.5]


def test_T11_proximal_operators():
    assert op.l2_penalty(0.7).prox(2.0) == pytest.approx(1.176471, abs=5e-7)
    assert op.l1_penalty(0.7).prox(2.0) == pytest.approx(1.3)
    assert op.elastic_net_penalty(0.7, 0.3).prox(2.0) == pytest.approx(1.201342, abs=5e-7)


def test_E07_large_coefficients_shrink_more_under_ridge():
    assert 10.0 / (1 + 1.0) == op.l2_penalty(1.0).prox(10.0) == 5.0
    assert op.soft_threshold(10.0, 0.5) == 9.5  # lambda / 2 for the loss without its one half
    assert op.soft_threshold(0.4, 0.5) == 0.0 < op.l2_penalty(1.0).prox(0.4)  # but only the lasso reaches zero


def test_E11_newton_minimises_instead_of_finding_roots():
    result = op.newton(lambda x: x**2 + 1, lambda x: 2 * x, 3.0, hess=lambda x: 2.0)
    assert float(result.x) == 0.0 and result.objective == 1.0 and result.n_iter == 1
    concave = op.newton(lambda x: np.cos(x), lambda x: -np.sin(x), 0.5, hess=lambda x: -np.cos(x))
    assert concave.objective == pytest.approx(-1.0)  # plain x - f'/f'' would climb to the maximum at 0
    assert abs(float(concave.x)) == pytest.approx(np.pi, abs=1e-6)


def test_E44_the_guarantee_is_for_the_best_iterate():
    accuracy, G, R = 0.1, 1.0, 0.95
    result = op.subgradient_descent(abs, np.sign, R, lipschitz=G, radius=R, accuracy=accuracy)
    assert result.objective <= accuracy and result.n_iter <= np.ceil((G * R / accuracy) ** 2)
    last = result.trace.objectives[-1]
    assert result.objective <= last  # the last iterate jumps around the minimum


def test_D10_lemma_of_the_subgradient_step():
    eta, x, best = 0.05, 0.73, 0.0
    for _ in range(40):
        following = x - eta * np.sign(x)
        assert (following - best) ** 2 <= (x - best) ** 2 - 2 * eta * abs(x) + eta**2 + 1e-15
        x = following


def random_quadratic(seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(20, 5))
    H, best = A.T @ A / 20, rng.normal(size=5)
    eigenvalues = np.linalg.eigvalsh(H)
    return best, (lambda x: 0.5 * (x - best) @ H @ (x - best)), (lambda x: H @ (x - best)), eigenvalues


def test_D9_descent_lemma():
    _, f, grad, eigenvalues = random_quadratic()
    rng = np.random.default_rng(1)
    for _ in range(100):
        w, v = rng.normal(size=(2, 5))
        assert f(w) <= f(v) + grad(v) @ (w - v) + eigenvalues[-1] / 2 * (w - v) @ (w - v) + 1e-12


def test_D11_smooth_rate():
    best, f, grad, eigenvalues = random_quadratic()
    L = eigenvalues[-1]
    result = op.gradient_descent(f, grad, np.zeros(5), step=1 / L, max_iter=500, tol=0.0)
    for step in result.trace.steps[1:]:
        assert step.objective <= L * (best @ best) / (2 * step.iteration) + 1e-15
        assert step.objective <= 2 * L * (best @ best) / step.iteration


def test_D12_E53_nesterov_as_printed():
    best, f, grad, eigenvalues = random_quadratic()
    eta = 1 / eigenvalues[-1]
    x = y = np.zeros(5)
    points = [x]
    for t in range(30):
        x_new = y - eta * grad(y)
        y = x_new + t / (t + 3) * (x_new - x)
        x = x_new
        points.append(x)
    seen: list = []
    result = op.nesterov(f, grad, np.zeros(5), step=eta, max_iter=30, tol=0.0, callback=lambda p, s: seen.append(p))
    np.testing.assert_allclose(seen, points, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(result.x, seen[-1])
    fista = op.proximal_gradient(
        f, grad, np.zeros(5), momentum="nesterov", restart=False, step=eta, max_iter=30, tol=0.0
    )
    np.testing.assert_allclose(fista.x, result.x, rtol=1e-12)
    long = op.nesterov(f, grad, np.zeros(5), step=eta, max_iter=2000, tol=0.0)
    for step in long.trace.steps:
        assert step.objective <= 2 * (best @ best) / (eta * (step.iteration + 1) ** 2) + 1e-15


def test_T53_both_rates_hold_at_every_step_in_fifty_dimensions():
    rng = np.random.default_rng(53)
    A = rng.normal(size=(60, 50))
    H, best = A.T @ A / 60, rng.normal(size=50)
    L, R2 = np.linalg.eigvalsh(H)[-1], best @ best

    def f(x):
        return 0.5 * (x - best) @ H @ (x - best)

    for solve, bound in (
        (op.gradient_descent, lambda t: L * R2 / (2 * t)),
        (op.nesterov, lambda t: 2 * L * R2 / (t + 1) ** 2),
    ):
        result = solve(f, lambda x: H @ (x - best), np.zeros(50), step=1 / L, max_iter=300, tol=0.0)
        steps = [step for step in result.trace.steps if step.iteration > 0]
        assert len(steps) == 300 and all(step.objective <= bound(step.iteration) for step in steps)


def test_D12_small_steps_follow_the_differential_equation():
    """X'' + (3/t) X' + X = 0, X(0) = 1 has the solution 2 J_1(t) / t."""
    from scipy.special import j1

    eta = 1e-5
    seen: list = []
    op.nesterov(lambda x: x**2 / 2, lambda x: x, 1.0, step=eta, max_iter=3000, tol=0.0,
                callback=lambda x, step: seen.append(float(x)))  # fmt: skip
    t = np.arange(1, len(seen)) * np.sqrt(eta)
    assert np.abs(np.array(seen[1:]) - 2 * j1(t) / t).max() < 5e-3  # first order in sqrt(eta) = 3e-3


def test_D17_linear_rate_with_strong_convexity():
    best, f, grad, eigenvalues = random_quadratic()
    mu, L = eigenvalues[0], eigenvalues[-1]
    result = op.gradient_descent(f, grad, np.zeros(5), smoothness=L, strong_convexity=mu, tol=1e-12, max_iter=5000)
    k = L / mu
    for step in result.trace.steps:
        bound = L / 2 * ((k - 1) / (k + 1)) ** (2 * step.iteration) * (best @ best)
        assert step.objective <= bound * (1 + 1e-9) + 1e-25
    assert result.certificate.details["rate"].startswith("linear")


def test_E73_mixing_outside_the_unit_interval_is_refused():
    for ratio in (-0.1, 1.1, 2.0):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            op.elastic_net_penalty(1.0, ratio)


@pytest.mark.parametrize("z", [-3.0, -0.2, 0.0, 0.7, 0.71, 2.0])
def test_E76_prox_by_cases(z):
    grid = np.linspace(-4, 4, 80001)
    best = grid[np.argmin(0.5 * (grid - z) ** 2 + 0.7 * np.abs(grid))]
    assert op.soft_threshold(z, 0.7) == pytest.approx(best, abs=1e-4)  # the spacing of the grid


def test_E91_robbins_monro_is_about_stochastic_steps():
    assert op.inverse_time(1.0).robbins_monro
    assert not op.constant(0.1).robbins_monro
    # exact gradients converge with a constant step, which violates the conditions
    assert op.gradient_descent(lambda x: x**2, lambda x: 2 * x, 1.0, step=0.1).success
    # and the conditions lead to a stationary point only: here a saddle, when started on its ridge
    saddle = op.gradient_descent(
        lambda x: x[0] ** 2 - x[1] ** 2,
        lambda x: np.array([2 * x[0], -2 * x[1]]),
        [1.0, 0.0],
        step=op.inverse_time(0.4),
    )
    assert abs(saddle.x[0]) < 0.1 and saddle.x[1] == 0.0


def test_E92_stops_though_the_loss_stays_large():
    result = op.gradient_descent(lambda x: x**2 + 100, lambda x: 2 * x, 3.0, step=0.1, tol=1e-8)
    assert result.status is Status.CONVERGED and result.objective == pytest.approx(100.0) and result.n_iter < 150
    noisy = op.stochastic_gradient(
        lambda x, i: np.mean((x - i) ** 2) + 100, lambda x, i: np.mean(2 * (x - i)), 0.0, 5, step=op.inverse_time(0.5),
        max_iter=499,
    )  # fmt: skip
    assert noisy.n_iter <= 499 and noisy.objective == pytest.approx(102.0, abs=0.1)


def test_E97_newton_leaves_saddles():
    def f(x):
        return x[0] ** 2 - x[1] ** 2 + x[1] ** 4

    def grad(x):
        return np.array([2 * x[0], -2 * x[1] + 4 * x[1] ** 3])

    def hess(x):
        return np.diag([2.0, -2.0 + 12 * x[1] ** 2])

    result = op.newton(f, grad, [1.0, 0.0], hess=hess, tol=1e-10)
    assert result.objective == pytest.approx(-0.25) and abs(result.x[1]) == pytest.approx(np.sqrt(0.5))
    stuck = op.gradient_descent(f, grad, [1.0, 0.0], step=0.1)
    assert stuck.success and stuck.objective == pytest.approx(0.0, abs=1e-6)  # zero gradient, yet no minimum
    assert "saddle" in stuck.certificate.assumption


@pytest.mark.parametrize("loss, curvature", [("squared", 1.0), ("logistic", 0.25), ("half_squared_hinge", 1.0),
                                             ("modified_huber", 2.0)])  # fmt: skip
def test_V2_step_of_the_generic_model(loss, curvature):
    rng = np.random.default_rng(2)
    X, y, weight = rng.normal(size=(30, 3)), np.where(rng.uniform(size=30) < 0.5, 1.0, -1.0), rng.uniform(size=30)
    augmented = np.column_stack([X, np.ones(30)])
    top = np.linalg.eigvalsh(augmented.T @ (weight[:, None] * augmented) / weight.sum())[-1]
    fit = op.fit_penalized_linear(X, y, loss=loss, penalty="elasticnet", strength=0.1, sample_weight=weight, tol=1e-9)
    assert fit.result.certificate.details["smoothness"] == pytest.approx(curvature * top, rel=2e-3)
    assert fit.result.success and fit.result.certificate.holds


def test_V2_optimality_of_l1():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    fit = op.fit_penalized_linear(X, y, penalty="l1", strength=0.08, tol=1e-12, max_iter=20000)
    gradient = X.T @ (X @ fit.coef + fit.intercept - y) / 50
    zero = fit.coef == 0
    assert zero.any() and not zero.all()
    assert (np.abs(gradient[zero]) <= 0.08 + 1e-10).all()
    np.testing.assert_allclose(gradient[~zero], -0.08 * np.sign(fit.coef[~zero]), atol=1e-10)


@pytest.mark.parametrize("method", ["none", "nesterov", "fista"])
def test_D16_proximal_gradient_agrees_with_coordinate_descent(method):
    from hyperplan.linear_model import ElasticNet, Lasso

    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 10))
    y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    lasso = Lasso(alpha=0.1, tol=1e-12, max_iter=10000).fit(X, y)
    fit = op.fit_penalized_linear(X, y, penalty="l1", strength=0.1, tol=1e-12, max_iter=50000, momentum=method)
    np.testing.assert_allclose(fit.coef, lasso.coef_, atol=1e-6)  # a relative gap of 1e-12 leaves errors of its root
    enet = ElasticNet(alpha=0.1, l1_ratio=0.3, tol=1e-12, max_iter=10000).fit(X, y)
    fit = op.fit_penalized_linear(X, y, penalty=op.elastic_net_penalty(0.1, 0.3), tol=1e-12, momentum=method)
    np.testing.assert_allclose(fit.coef, enet.coef_, atol=1e-6)


CURVES = [
    (lambda x: x**4, True),
    (lambda x: 3 * x - 1, True),
    (lambda x: max(0.0, x), True),
    (lambda x: x**3 - x, False),
    (lambda x: x**3, False),
    (np.cos, False),
]


@pytest.mark.parametrize("f, convex", CURVES)
def test_D13_examples_of_convexity(f, convex):
    chord = op.convexity_counterexample(f, np.linspace(-2, 2, 21))
    assert (chord is None) == convex
    if chord is not None:
        middle = chord.t * chord.a + (1 - chord.t) * chord.b
        assert f(middle) > chord.t * f(chord.a) + (1 - chord.t) * f(chord.b)


def test_D14_multipliers_of_a_projection():
    """The nearest point of the simplex: the equality's multiplier is the shift, zeros carry the others."""
    z = np.array([0.9, 0.8, -0.5])
    x = op.project_simplex(z)
    bounds = [(lambda p, j=j: -p[j], lambda p, j=j: -np.eye(3)[j]) for j in range(3)]
    total = (lambda p: p.sum() - 1, lambda p: np.ones(3))
    found = op.kkt_conditions(x, lambda p: p - z, bounds, [total])
    assert found.stationarity < 1e-9 and found.infeasibility < 1e-12
    assert (found.inequality_multipliers[:2] == 0).all() and found.inequality_multipliers[2] > 0
    wrong = op.kkt_conditions([1.0, 0.0, 0.0], lambda p: p - z, bounds, [total])
    assert wrong.stationarity > 0.1
    assert op.kkt_conditions([1.0, 1.0, 0.0], lambda p: p - z, bounds, [total]).infeasibility == pytest.approx(1.0)


def test_E29_without_qualification_a_minimum_has_no_multiplier():
    found = op.kkt_conditions([0.0], lambda x: [1.0], [(lambda x: x[0] ** 2, lambda x: [2 * x[0]])])
    assert found.infeasibility == 0.0 and found.stationarity == 1.0


def test_D15_early_stopping_keeps_the_best_validation_point():
    rng = np.random.default_rng(5)
    X, Z = rng.normal(size=(2, 30, 25))
    w = np.r_[1.0, -1.0, np.zeros(23)]
    y, v = X @ w + rng.normal(size=30), Z @ w + rng.normal(size=30)
    stop = op.EarlyStopping(lambda p: np.mean((v - Z @ p) ** 2), patience=10)
    result = op.gradient_descent(
        lambda p: np.mean((y - X @ p) ** 2), lambda p: 2 * X.T @ (X @ p - y) / 30, np.zeros(25), step=0.02,
        max_iter=5000, callback=stop,
    )  # fmt: skip
    assert result.status is Status.STOPPED and result.n_iter == stop.best_iteration + 10
    assert stop.validation(stop.best_x) <= stop.validation(result.x)
    full = np.linalg.lstsq(X, y, rcond=None)[0]
    assert stop.best_value < stop.validation(full)


def test_wrong_gradients_are_found():
    assert op.check_gradient(np.sum, np.ones_like, np.ones((2, 3))) < 1e-8
    assert op.check_gradient(lambda x: x @ x, lambda x: x, np.ones(3)) > 0.1
