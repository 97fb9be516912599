"""Solvers of Python functions: they agree, stop for a stated reason, and respect the bounds of theory."""

import io

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess
from sklearn.linear_model import ElasticNet, HuberRegressor, Lasso, LogisticRegression, PoissonRegressor, Ridge

from hyperplan import optimize as op
from hyperplan._core.status import Status


def least_squares(n=60, d=8, seed=0, spread=1.0):
    """f = |Ax - b|^2 / (2n) with its constants L, mu and minimiser."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * np.logspace(0, spread, d)
    b = rng.normal(size=n)
    eigenvalues = np.linalg.eigvalsh(A.T @ A / n)
    best = np.linalg.lstsq(A, b, rcond=None)[0]
    return (
        lambda x: 0.5 * np.mean((A @ x - b) ** 2),
        lambda x: A.T @ (A @ x - b) / n,
        {"L": eigenvalues[-1], "mu": eigenvalues[0], "best": best, "H": A.T @ A / n},
    )


SMOOTH = ["gradient", "nesterov", "ista", "fista", "lbfgs", "newton"]


@pytest.mark.parametrize("method", SMOOTH)
def test_all_methods_find_the_least_squares_solution(method):
    f, grad, facts = least_squares(spread=0.5)
    result = op.minimize(f, grad, np.ones(8), method, tol=1e-9, max_iter=20000)
    assert result.status is Status.CONVERGED, result.message
    assert result.certificate.holds and result.success
    np.testing.assert_allclose(result.x, facts["best"], atol=1e-7)  # gradient 1e-9 over the least curvature, about 0.5
    assert result.objective == pytest.approx(f(facts["best"]), rel=1e-12)
    assert result.trace.steps[0].iteration == 0 and result.trace.steps[-1].iteration == result.n_iter
    assert result.n_gradient > 0 and result.n_function > 0


@pytest.mark.parametrize("method", SMOOTH)
def test_value_and_gradient_from_one_function(method):
    f, grad, facts = least_squares(spread=0.2)
    result = op.minimize(lambda x: (f(x), grad(x)), True, np.zeros(8), method, max_iter=5000, tol=1e-8)
    np.testing.assert_allclose(result.x, facts["best"], atol=1e-6)


def test_numerical_gradient_stands_in():
    f, _, facts = least_squares(spread=0.2)
    np.testing.assert_allclose(op.minimize(f, None, np.zeros(8)).x, facts["best"], atol=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
@pytest.mark.parametrize("method", SMOOTH)
def test_points_keep_their_shape(method, shape):
    result = op.minimize(lambda x: np.sum((x - 1) ** 2), lambda x: 2 * (x - 1), np.full(shape, 4.0), method)
    assert np.shape(result.x) == shape
    np.testing.assert_allclose(result.x, 1.0, atol=1e-5)


@pytest.mark.parametrize(
    "method, step, bound",
    [
        ("gradient", None, op.strongly_convex_bound),
        ("gradient", "1/L", op.gradient_bound),
        ("ista", "1/L", op.gradient_bound),
        ("nesterov", "1/L", op.nesterov_bound),
        ("fista", "1/L", op.nesterov_bound),
    ],
)
@pytest.mark.parametrize("accuracy", [1e-1, 1e-4, 1e-8])
def test_observed_iterations_respect_the_theory(method, step, bound, accuracy):
    f, grad, facts = least_squares(spread=1.0, seed=3)
    known = {"smoothness": facts["L"], "radius": np.linalg.norm(np.ones(8) - facts["best"])}
    if method in ("gradient", "ista"):
        known["strong_convexity"] = facts["mu"]
    options = {} if step is None else {"step": 1 / facts["L"]}
    if method == "fista":
        options["restart"] = False
    result = op.minimize(f, grad, np.ones(8), method, tol=1e-10, max_iter=100000, accuracy=accuracy, **known, **options)
    details = result.certificate.details
    assert result.success
    assert details["iterations_to_accuracy"] <= details["iteration_bound"]
    gaps = np.array(result.trace.objectives) - f(facts["best"])
    reached = int(np.argmax(gaps <= accuracy))
    constants = op.Constants(known["smoothness"], known.get("strong_convexity"), known["radius"])
    assert reached <= bound(constants, accuracy) and details["iteration_bound"] == bound(constants, accuracy)


def test_constants_are_estimated_when_not_given():
    f, grad, facts = least_squares(spread=0.5)
    details = op.gradient_descent(f, grad, np.ones(8), max_iter=5000).certificate.details
    assert set(details["estimated"]) == {"smoothness", "strong_convexity", "radius"}
    assert 0.5 * facts["L"] <= details["smoothness"] <= facts["L"] * (1 + 1e-9)
    assert details["iteration_bound"] > 0


def test_subgradient_descent_keeps_its_promise():
    target = np.array([1.0, -2.0, 0.5])

    def f(x):
        return np.abs(x - target).max()

    def grad(x):
        j = np.argmax(np.abs(x - target))
        return np.sign(x[j] - target[j]) * np.eye(3)[j]

    radius = float(np.linalg.norm(target))
    result = op.subgradient_descent(f, grad, np.zeros(3), lipschitz=1.0, radius=radius, accuracy=0.05)
    assert result.success and result.objective <= 0.05 and result.certificate.holds
    assert result.n_iter <= op.subgradient_bound(op.Constants(lipschitz=1.0, radius=radius), 0.05)
    short = op.subgradient_descent(f, grad, np.zeros(3), lipschitz=1.0, radius=radius, accuracy=0.05, max_iter=10)
    assert short.status is Status.MAX_ITER and not short.certificate.holds
    assert short.objective <= short.certificate.value  # the weaker promise after ten steps holds too


def test_divergence_is_detected_and_explained():
    for method in ("gradient", "nesterov", "ista", "fista"):
        result = op.minimize(lambda x: 50 * x @ x, lambda x: 100 * x, np.ones(2), method, step=0.1)
        assert result.status is Status.DIVERGED and not result.success and "step" in result.message
        assert result.n_iter < 100


@pytest.mark.parametrize("method", SMOOTH)
def test_nothing_runs_forever(method):
    unbounded = op.minimize(lambda x: x.sum(), np.ones_like, np.zeros(2), method, max_iter=50)
    assert unbounded.status in (Status.MAX_ITER, Status.DIVERGED, Status.STALLED)
    broken = op.minimize(lambda x: np.nan, np.ones_like, np.zeros(2), method, max_iter=50)
    assert not broken.success
    assert op.minimize(lambda x: x @ x, lambda x: 2 * x, np.ones(2), method, max_iter=0).status is Status.MAX_ITER
    lying = op.minimize(lambda x: x @ x, lambda x: -2 * x - 1, np.ones(2), method, max_iter=50)
    assert not lying.success or lying.n_iter <= 50


def test_a_gradient_that_cancels_is_reported_as_stalled():
    result = op.gradient_descent(lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1), 1e17, step=1e-20, max_iter=100)
    assert result.status is Status.STALLED


@pytest.mark.parametrize("method", SMOOTH)
def test_callback_sees_points_and_stops(method):
    seen = []

    def callback(x, step):
        seen.append((x, step))
        return step.iteration >= 2

    f, grad, _ = least_squares(spread=1.0)
    f4, grad4 = (lambda x: f(x) + (x**4).sum()), (lambda x: grad(x) + 4 * x**3)  # newton needs more than one step
    result = op.minimize(f4, grad4, np.ones(8), method, callback=callback, tol=1e-14)
    assert result.status is Status.STOPPED and result.n_iter == 2 and len(seen) == 3
    assert seen[2][1].objective == pytest.approx(f4(seen[2][0]))


def test_progress_bar_draws_and_passes_on():
    from rich.console import Console

    from hyperplan._core.progress import ProgressBar
    from hyperplan._core.trace import Step

    screen = io.StringIO()
    with ProgressBar(10, "descent", Console(file=screen, force_terminal=True, width=120)) as bar:
        assert bar(Step(10, 0.25, 1e-3)) is False
    assert "descent" in screen.getvalue() and "0.25" in screen.getvalue()
    assert op.minimize(lambda x: x @ x, lambda x: 2 * x, np.ones(2), "gradient", progress=True).success


def test_newton_on_rosenbrock():
    result = op.newton(rosen, rosen_der, [-1.2, 1.0, 1.0], hess=rosen_hess, tol=1e-10)
    np.testing.assert_allclose(result.x, 1.0, atol=1e-8)
    assert result.success and result.extra["rank"] == 3 and result.extra["newton_decrement"] < 1e-6
    numeric = op.newton(rosen, rosen_der, [-1.2, 1.0, 1.0], tol=1e-9)
    np.testing.assert_allclose(numeric.x, 1.0, atol=1e-5)


def test_newton_with_a_singular_hessian_moves_only_where_it_must():
    H = np.diag([2.0, 1.0, 0.0])
    b = np.array([2.0, -1.0, 0.0])
    start = np.array([5.0, 5.0, 7.0])
    result = op.newton(lambda x: 0.5 * x @ H @ x - b @ x, lambda x: H @ x - b, start, hess=lambda x: H)
    assert result.status is Status.RANK_DEFICIENT and result.success and result.extra["rank"] == 2
    np.testing.assert_allclose(result.x, [1.0, -1.0, 7.0], atol=1e-12)


def test_newton_on_separable_logistic_data_ends():
    x, y = np.array([-1.0, 1.0]), np.array([-1.0, 1.0])
    loss = op.get_loss("logistic")
    result = op.newton(
        lambda w: loss.mean(y, x * w), lambda w: np.mean(loss.gradient(y, x * w) * x), 0.0,
        hess=lambda w: np.mean(loss.curvature(y, x * w) * x * x), tol=0.0, max_iter=200,
    )  # fmt: skip
    assert result.n_iter <= 200 and result.status is not Status.DIVERGED


def test_lbfgs_with_bounds():
    result = op.lbfgs(lambda x: ((x - 2) ** 2).sum(), lambda x: 2 * (x - 2), [0.0, 0.0], bounds=[(0, 1), (None, None)])
    np.testing.assert_allclose(result.x, [1.0, 2.0], atol=1e-6)
    assert result.success
    with pytest.raises(ValueError, match="one pair"):
        op.lbfgs(lambda x: x @ x, lambda x: 2 * x, [0.0, 0.0], bounds=[(0, 1)])


@pytest.mark.parametrize("step", [None, "backtracking"])
@pytest.mark.parametrize("method", ["ista", "fista"])
def test_lasso_by_proximal_gradient_is_scikit_learns(method, step):
    rng = np.random.default_rng(1)
    X, n = rng.normal(size=(80, 12)), 80
    y = X[:, 0] - 2 * X[:, 3] + rng.normal(size=n)
    options = {"smoothness": np.linalg.eigvalsh(X.T @ X / n)[-1]} if step is None else {"step": step}
    result = op.minimize(
        lambda w: 0.5 * np.mean((y - X @ w) ** 2), lambda w: X.T @ (X @ w - y) / n, np.zeros(12), method,
        penalty=op.l1_penalty(0.2), tol=1e-10, max_iter=5000, **options,
    )  # fmt: skip
    expected = Lasso(alpha=0.2, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    np.testing.assert_allclose(result.x, expected, atol=1e-7)
    assert result.success and (result.x == 0).sum() == (expected == 0).sum()


def test_restart_is_faster_than_plain_fista_under_strong_convexity():
    f, grad, facts = least_squares(spread=1.5)
    runs = [
        op.proximal_gradient(f, grad, np.ones(8), restart=restart, smoothness=facts["L"], tol=1e-10, max_iter=50000)
        for restart in (True, False)
    ]
    assert runs[0].success and runs[0].n_iter < runs[1].n_iter


@pytest.mark.parametrize("momentum", ["none", "nesterov", "fista"])
def test_projected_gradient_certifies_the_gap(momentum):
    rng = np.random.default_rng(2)
    B = rng.normal(size=(30, 6))
    H = B.T @ B / 30

    def f(x):
        return 0.5 * x @ H @ x

    result = op.projected_gradient(
        f, lambda x: H @ x, np.ones(6), op.simplex(), momentum=momentum, tol=1e-10, max_iter=20000
    )
    assert result.x.sum() == pytest.approx(1.0) and (result.x >= 0).all() and result.success
    corners = rng.dirichlet(np.ones(6), 5000)
    assert f(result.x) <= min(map(f, corners)) + 1e-12
    assert result.certificate.details["gap"] >= 0 and result.certificate.value < 1e-8


def test_svm_dual_by_projected_gradient():
    from sklearn.svm import SVC

    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    result = op.projected_gradient(
        lambda a: 0.5 * a @ Q @ a - a.sum(), lambda a: Q @ a - 1, np.zeros(40), op.box_hyperplane(0.0, 1.0, y),
        tol=1e-8, max_iter=50000,
    )  # fmt: skip
    svc = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    assert abs(y @ result.x) < 1e-9
    np.testing.assert_allclose((result.x * y) @ X, svc.coef_.ravel(), atol=1e-4)


@pytest.mark.parametrize("bad", [[0.0, np.nan], [np.inf, 1.0]])
def test_bad_starts(bad):
    with pytest.raises(ValueError, match="x0"):
        op.minimize(lambda x: x @ x, lambda x: 2 * x, bad)


def test_bad_arguments_are_named():
    def f(x):
        return x @ x

    def grad(x):
        return 2 * x

    with pytest.raises(ValueError, match="Unknown method"):
        op.minimize(f, grad, [1.0], "adam")
    with pytest.raises(ValueError, match="takes no penalty"):
        op.minimize(f, grad, [1.0], "lbfgs", penalty=op.l1_penalty(1.0))
    with pytest.raises(ValueError, match="go together"):
        op.minimize(f, grad, [1.0], "projected")
    with pytest.raises(ValueError, match="no Hessian"):
        op.minimize(f, grad, [1.0], "lbfgs", hess=grad)
    with pytest.raises(ValueError, match="one number"):
        op.minimize(grad, grad, [1.0, 2.0], "gradient")
    with pytest.raises(ValueError, match="grad must return 2 numbers"):
        op.minimize(f, lambda x: np.ones(3), [1.0, 2.0], "gradient")
    with pytest.raises(TypeError, match="functions"):
        op.minimize(f, 3, [1.0])
    for step in ("fast", "1/L"):
        with pytest.raises(ValueError, match="backtracking"):
            op.gradient_descent(f, grad, [1.0], step=step)
    with pytest.raises(ValueError, match="smoothness"):
        op.gradient_descent(f, grad, [1.0], smoothness=-1.0)
    with pytest.raises(ValueError, match="tol"):
        op.gradient_descent(f, grad, [1.0], tol=-1.0)
    with pytest.raises(ValueError, match="either a penalty or a prox"):
        op.proximal_gradient(f, grad, [1.0], penalty=op.l1_penalty(1.0), prox=lambda z, s: z)
    with pytest.raises(ValueError, match="No point of the box"):
        op.project_box_hyperplane([0.0, 0.0], 0.0, 1.0, [1.0, 1.0], 3.0)


class TestStochastic:
    """Averages of terms."""

    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=200)
    best = np.linalg.lstsq(X, y, rcond=None)[0]

    def f(self, w, rows):
        return 0.5 * np.mean((self.y[rows] - self.X[rows] @ w) ** 2)

    def grad(self, w, rows):
        return self.X[rows].T @ (self.X[rows] @ w - self.y[rows]) / len(rows)

    @pytest.mark.parametrize("batch_size", [1, 16, 200])
    @pytest.mark.parametrize("replacement", [True, False])
    def test_converges_and_is_reproducible(self, batch_size, replacement):
        options = {"batch_size": batch_size, "replacement": replacement, "step": op.inverse_time(0.5, 0.05), "seed": 1}
        runs = [op.stochastic_gradient(self.f, self.grad, np.zeros(3), 200, max_iter=60, **options) for _ in range(2)]
        assert np.array_equal(runs[0].x, runs[1].x)
        np.testing.assert_allclose(runs[0].x, self.best, atol=0.1)  # the noise of single draws after 60 cycles
        assert runs[0].extra["robbins_monro"] is True and runs[0].n_iter <= 60

    def test_averaging_removes_noise_of_a_constant_step(self):
        ends = [
            op.stochastic_gradient(
                self.f, self.grad, np.zeros(3), 200, step=0.1, average=average, tol=0.0, max_iter=60, seed=2
            )
            for average in (False, True)
        ]
        errors = [np.linalg.norm(end.x - self.best) for end in ends]
        assert errors[1] < 0.5 * errors[0]
        assert ends[0].extra["robbins_monro"] is False and "noise" in ends[0].extra["verdict"]

    def test_divergence_and_arguments(self):
        wild = op.stochastic_gradient(self.f, self.grad, np.zeros(3), 200, step=5.0, max_iter=30)
        assert wild.status is Status.DIVERGED
        with pytest.raises(ValueError, match="batch_size"):
            op.stochastic_gradient(self.f, self.grad, np.zeros(3), 200, batch_size=0)

    def test_settled_runs_say_so(self):
        result = op.stochastic_gradient(self.f, self.grad, np.zeros(3), 200, step=op.inverse_time(0.5, 0.05), tol=1e-3)
        assert result.success and result.certificate.holds and result.n_iter < 500


@pytest.mark.parametrize(
    "schedule, valid",
    [
        (op.constant(0.1), False),
        (op.inverse_time(1.0), True),
        (op.power_law(1.0, 0.5), False),
        (op.power_law(1.0, 0.75), True),
        (op.power_law(1.0, 2.0), False),
        (op.exponential_decay(1.0, 0.9), False),
    ],
)
def test_schedules_know_their_validity(schedule, valid):
    assert schedule.robbins_monro is valid
    assert all(schedule(t) > 0 for t in range(50))
    with pytest.raises(ValueError, match="> 0"):
        op.inverse_time(0.0)


LINEAR = [
    ("squared", "l2", lambda n: Ridge(alpha=0.1 * n, tol=1e-12)),
    ("squared", "l1", lambda n: Lasso(alpha=0.1, tol=1e-12)),
    ("squared", "elasticnet", lambda n: ElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-12)),
    ("logistic", "l2", lambda n: LogisticRegression(C=1 / (0.1 * n), tol=1e-10, max_iter=10000)),
    ("poisson", "l2", lambda n: PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=10000)),
]


@pytest.mark.parametrize("loss, penalty, reference", LINEAR, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("sparse", [False, True])
def test_penalized_linear_models_are_scikit_learns(loss, penalty, reference, sparse):
    import scipy.sparse as sp

    rng = np.random.default_rng(5)
    X, n = rng.normal(size=(120, 5)), 120
    f = X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.3
    y = {"logistic": np.where(f + rng.logistic(size=n) > 0, 1.0, -1.0), "poisson": rng.poisson(np.exp(f)) * 1.0}
    y = y.get(loss, f + rng.normal(size=n))
    weight = rng.integers(1, 4, n).astype(float)
    model = reference(weight.sum()).fit(X, y, sample_weight=weight)
    fit = op.fit_penalized_linear(
        sp.csr_array(X) if sparse else X, y, loss=loss, penalty=penalty, strength=0.1, sample_weight=weight,
        tol=1e-10, max_iter=20000,
    )  # fmt: skip
    # both solvers stop at gradients of about 1e-10 .. 1e-8 over curvatures of about 0.1
    np.testing.assert_allclose(fit.coef, model.coef_.ravel(), atol=1e-5)
    assert fit.intercept == pytest.approx(float(np.ravel(model.intercept_)[0]), abs=1e-5)
    assert fit.result.success and fit.result.certificate.kind == "duality gap" and fit.result.certificate.holds


@pytest.mark.parametrize("loss", ["squared_hinge", "half_squared_hinge", "modified_huber", "logistic", "exponential"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_duality_gap_of_margin_losses_closes(loss, penalty):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.3, 1.0, -1.0)
    result = op.fit_penalized_linear(X, y, loss=loss, penalty=penalty, strength=0.05, tol=1e-8, max_iter=20000).result
    details = result.certificate.details
    assert details["dual"] <= details["primal"] and details["primal"] - details["dual"] < 1e-6
    early = op.fit_penalized_linear(X, y, loss=loss, penalty=penalty, strength=0.05, max_iter=3).result
    assert early.certificate.details["dual"] <= details["primal"]  # a bound of the minimum at any time


def test_huber_loss_of_a_linear_model():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_t(1.5, size=100)
    reference = HuberRegressor(epsilon=1.35, alpha=0.0, tol=1e-10, max_iter=10000).fit(X, y)
    loss = op.get_loss("huber", 1.35 * reference.scale_)
    fit = op.fit_penalized_linear(X, y, loss=loss, penalty="none", tol=1e-11, max_iter=50000)
    np.testing.assert_allclose(fit.coef, reference.coef_, atol=1e-4)  # scikit-learn's L-BFGS stops near 1e-5


def test_penalized_linear_refuses_what_it_cannot_do():
    X = np.eye(3)
    with pytest.raises(ValueError, match="slope everywhere"):
        op.fit_penalized_linear(X, [1, -1, 1], loss="hinge")
    with pytest.raises(ValueError, match="-1 or"):
        op.fit_penalized_linear(X, [0, 1, 1], loss="logistic")
    with pytest.raises(ValueError, match="NaN"):
        op.fit_penalized_linear(X * np.nan, [0, 1, 1])
    with pytest.raises(ValueError, match="rows"):
        op.fit_penalized_linear(X, [0, 1])
    with pytest.raises(ValueError, match="weights"):
        op.fit_penalized_linear(X, [0, 1, 2], sample_weight=[0, 0, 0])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "X",
    [np.zeros((5, 4)), np.ones((1, 3)), np.eye(3) * 1e-150, np.random.default_rng(0).normal(size=(5, 50))],
    ids=["zeros", "one row", "tiny", "wide"],
)
def test_penalized_linear_on_degenerate_designs(X, fit_intercept):
    y = np.arange(X.shape[0]) * 1.0
    fit = op.fit_penalized_linear(X, y, penalty="l1", strength=0.1, fit_intercept=fit_intercept)
    assert fit.result.success and fit.result.certificate.kind == "duality gap" and fit.result.certificate.holds
    model = Lasso(alpha=0.1, fit_intercept=fit_intercept, tol=1e-10, max_iter=100000).fit(X, y)
    residual = y - model.predict(X)
    reference = 0.5 * np.mean(residual**2) + 0.1 * np.abs(model.coef_).sum()
    assert fit.result.objective <= reference + 2e-6 * (1 + 0.5 * np.mean(y**2))  # tol times the objective at zero
