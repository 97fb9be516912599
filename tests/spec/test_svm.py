"""Worked numbers, errata and agreements of the course about kernel support vector machines (1.L, V13)."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_classification

from hyperplan._base import ConvergenceWarning
from hyperplan._solvers.kernel_svm import solve_dual
from hyperplan._solvers.kernel_svm_problems import NotSeparableError, classification_problem
from hyperplan._solvers.kernel_svm_source import given_matrix
from hyperplan.kernels import RBF
from hyperplan.preprocessing import StandardScaler
from hyperplan.reproduce._protocol import gaussian
from hyperplan.svm import (
    SVC,
    SVR,
    NuSVC,
    OneClassSVM,
    leave_one_out_bounds,
    primal_svc,
    span_search,
)
from hyperplan.svm._leave_one_out import squared_radius

HARD = {"C": np.inf, "tol": 1e-8}


def rings(n=120, seed=0):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.repeat([1.0, 2.5], n // 2) + 0.2 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.repeat([0, 1], n // 2)


def noisy(n=200, seed=0):
    return make_classification(n, 6, n_informative=4, flip_y=0.15, random_state=seed)


def test_T43_hard_margin_in_one_dimension():
    model = SVC(kernel="linear", **HARD).fit([[0.0], [2.0]], [-1, 1])
    np.testing.assert_allclose(model.coef_, [[1.0]])
    np.testing.assert_allclose(model.intercept_, [-1.0])
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]])
    details = model.certificate_.details
    assert details["dual"] == pytest.approx(0.5) and details["primal"] == pytest.approx(0.5)
    assert 2 * details["margin"] == pytest.approx(2.0)  # width 2 / |w|


def test_T44_E89_regression_with_the_half_in_the_dual():
    model = SVR(kernel="linear", C=100.0, epsilon=0.1, tol=1e-8).fit([[-1.0], [1.0]], [-1.0, 1.0])
    np.testing.assert_allclose(model.coef_, [[0.9]], atol=1e-7)  # 0.45 without the half
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-7)


def test_E28_only_the_closest_points_have_margin_one():
    X, y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([-1, -1, 1, 1])
    model = SVC(kernel="linear", **HARD).fit(X, y)
    margins = y * model.decision_function(X)
    np.testing.assert_allclose(margins[1:3], 1.0, atol=1e-6)
    assert (margins[[0, 3]] > 1.5).all() and sorted(model.support_) == [1, 2]


def test_E29_E87_E88_the_fit_satisfies_all_of_kkt():
    """Bounds, sum zero, primal feasibility with slacks >= 0, and complementary slackness."""
    X, y = noisy()
    model = SVC(tol=1e-8).fit(X, y)
    s, f = np.where(y == 1, 1.0, -1.0), model.decision_function(X)
    mu = np.zeros(y.size)
    mu[model.support_] = np.abs(model.dual_coef_[0])
    assert (mu >= 0).all() and (mu <= model.C).all() and abs(s @ mu) < 1e-9
    slack = np.maximum(0.0, 1.0 - s * f)
    assert (s * f - 1 + slack >= -1e-12).all()
    assert np.abs(mu * (s * f - 1 + slack)).max() < 1e-6
    assert np.abs((model.C - mu) * slack).max() < 1e-6


def test_E30_L5_status_of_points():
    X, y = noisy()
    model = SVC(C=1.0, tol=1e-6).fit(X, y)
    status = model.point_status(X, y)
    mu = np.zeros(y.size)
    mu[model.support_] = np.abs(model.dual_coef_[0])
    assert set(status) == {"outside", "on margin", "inside", "wrong"}
    assert set(status[mu == 0]) <= {"outside", "on margin"}  # y f >= 1, not > 1
    assert set(status[(mu > 0) & (mu < model.C)]) == {"on margin"}
    bound = status[mu == model.C]
    assert "inside" in bound and "wrong" in bound  # a bound vector is an error only if its slack exceeds 1
    assert np.array_equal(status == "wrong", model.predict(X) != y)
    assert "outside" not in bound


def test_L5_status_with_three_classes_and_unknown_labels():
    X, y = make_classification(150, 6, n_informative=4, n_classes=3, random_state=0)
    model = SVC().fit(X, y)
    status = model.point_status(X, y)
    assert status.shape == (150,) and (model.predict(X)[status == "outside"] == y[status == "outside"]).all()
    with pytest.raises(ValueError, match="label of the training data"):
        model.point_status(X, y + 1)


def test_E31_L4_constant_from_free_vectors_not_from_bound_ones():
    X, y = noisy()
    model = SVC(tol=1e-8).fit(X, y)
    s = np.where(y == 1, 1.0, -1.0)[model.support_]
    coef = model.dual_coef_[0]
    expansion = model.decision_function(X)[model.support_] - model.intercept_[0]
    is_free = np.abs(coef) < model.C
    np.testing.assert_allclose((s - expansion)[is_free], model.intercept_[0], atol=1e-6)
    assert np.abs((s - expansion)[~is_free] - model.intercept_[0]).max() > 0.1


def test_L3_dual_value_is_that_of_a_general_solver():
    X, y = noisy(n=30)
    s = np.where(y == 1, 1.0, -1.0)
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    Q = K * np.outer(s, s)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(30),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0, 1)] * 30,
        constraints=[{"type": "eq", "fun": lambda a: s @ a, "jac": lambda a: s}],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    model = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    assert model.certificate_.details["dual"] == pytest.approx(-found.fun, rel=1e-6)


def test_L6_primal_and_dual_find_the_same_function():
    X, y = noisy(n=150)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    for C in (0.1, 1.0, 20.0):
        primal = primal_svc(K, y, C=C, tol=1e-8)
        dual = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
        assert primal.status.ok and primal.gap <= 1e-8 * primal.primal
        assert primal.primal == pytest.approx(dual.certificate_.details["primal"], rel=1e-6)
        # objectives within 1e-8: scores within its square root
        np.testing.assert_allclose(K @ primal.beta + primal.intercept, dual.decision_function(K), atol=2e-3)


def test_L6_primal_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="'C' parameter"):
        primal_svc(np.eye(4), [0, 0, 1, 1], C=0)
    with pytest.raises(ValueError, match="two classes"):
        primal_svc(np.eye(3), [0, 1, 2])


def test_L1_C_inf_separates_or_says_that_it_cannot():
    X, y = rings()
    model = SVC(gamma=1.0, **HARD).fit(X, y)
    assert model.score(X, y) == 1.0 and model.certificate_.holds
    assert "inside" not in model.point_status(X, y)
    with pytest.raises(NotSeparableError, match="finite C"):
        SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.raises(NotSeparableError, match="finite C"):  # equal rows with different labels
        SVC(C=np.inf, gamma=1.0).fit([[0.0], [0.0], [1.0], [2.0]], [0, 1, 0, 1])


def test_L8_C_inf_keeps_all_rows_in_the_tube_or_says_that_it_cannot():
    X = np.linspace(0, 3, 12)[:, None]
    model = SVR(C=np.inf, gamma=2.0, epsilon=0.05, tol=1e-6).fit(X, np.sin(3 * X[:, 0]))
    assert np.abs(model.predict(X) - np.sin(3 * X[:, 0])).max() <= 0.05 + 1e-4
    assert set(model.point_status(X, np.sin(3 * X[:, 0]))) <= {"inside", "on border"}
    with pytest.raises(NotSeparableError, match="finite C"):
        SVR(kernel="linear", C=np.inf, epsilon=0.01).fit(X, np.sin(3 * X[:, 0]))


def test_X4_larger_C_gives_fewer_vectors_and_violations():
    X, y = noisy()
    sizes = [SVC(C=C).fit(X, y) for C in (1.0, 10.0)]
    wrong = [(m.point_status(X, y) == "wrong").sum() for m in sizes]
    assert sizes[1].support_.size < sizes[0].support_.size and wrong[1] <= wrong[0]


def test_X13_the_tube_of_regression_covers_what_its_width_says():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=(120, 1)), axis=0)
    for noise in (0.05, 0.4):
        model = SVR(epsilon=0.2, C=10.0).fit(X, np.sin(X[:, 0]) + noise * rng.normal(size=120))
        status = model.point_status(X, np.sin(X[:, 0]) + noise * rng.normal(size=120))
        assert set(status) <= {"inside", "on border", "above", "below"}
    few = SVR(epsilon=0.2, C=10.0).fit(X, np.sin(X[:, 0]))
    assert few.support_.size < model.support_.size


def test_V13_kernels_that_are_not_positive_end_at_a_stationary_point():
    """E32: tanh has negative eigenvalues; the fit ends, and says what it assumes."""
    X, y = noisy()
    K = np.tanh(X @ X.T - 1.0)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="precomputed").fit(K, y)
    assert np.isfinite(model.decision_function(K)).all()
    assert "positive semi-definite" in model.certificate_.assumption


def test_L9_the_span_estimate_is_near_the_leave_one_out_error():
    X, y = noisy(n=80, seed=2)
    model = SVC(C=1.0, gamma=0.1, tol=1e-6).fit(X, y)
    errors = 0
    for i in range(80):
        rest = np.delete(np.arange(80), i)
        errors += SVC(C=1.0, gamma=0.1, tol=1e-6).fit(X[rest], y[rest]).predict(X[i : i + 1])[0] != y[i]
    bounds = leave_one_out_bounds(model, X, y)
    assert abs(bounds.span - errors / 80) <= 0.05
    assert errors / 80 <= bounds.support == model.support_.size / 80


def test_L9_radius_margin_bounds_the_leave_one_out_error_of_a_separating_machine():
    X, y = rings(n=60)
    model = SVC(gamma=0.5, C=1e6, tol=1e-6).fit(X, y)
    assert model.score(X, y) == 1.0
    errors = 0
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        errors += SVC(gamma=0.5, C=1e6, tol=1e-6).fit(X[rest], y[rest]).predict(X[i : i + 1])[0] != y[i]
    bounds = leave_one_out_bounds(model, X, y)
    assert errors / 60 <= bounds.radius_margin and errors / 60 <= bounds.support


def test_L9_radius_of_known_points():
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.2, 0.1]])
    assert squared_radius(corners @ corners.T) == pytest.approx(2.0, rel=1e-4)


def test_L9_choice_by_the_span_estimate_beats_the_worst_pair():
    X, y = rings(n=100)
    choice = span_search(X, y, C=(0.1, 10.0), gamma=(0.01, 1.0))
    spans = [row[2] for row in choice.table]
    chosen = next(row[2] for row in choice.table if row[:2] == (choice.params["C"], choice.params["gamma"]))
    assert chosen == min(spans) < max(spans) and choice.model.score(X, y) > 0.95
    with pytest.raises(ValueError, match="two classes"):
        leave_one_out_bounds(SVC().fit(X, np.arange(100) % 3), X, np.arange(100) % 3)


def test_L7_the_sum_of_slacks_relaxes_their_number():
    """Rows on the wrong side have slacks above one, and no machine has fewer slacks than rows that must be left out."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [1.5], [2.5], [3.5], [0.5]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    least = next(k for k in range(8) if any(_separates(X, y, left_out) for left_out in combinations(range(8), k)))
    assert least == 3  # by hand: the labels alternate, a threshold at 1.25 leaves 0.5, 2 and 3 on the wrong side
    for C in (0.1, 1.0, 10.0, 100.0):
        model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
        slack = np.maximum(0.0, 1.0 - np.where(y == 1, 1.0, -1.0) * model.decision_function(X))
        n_wrong, n_slacks = (model.predict(X) != y).sum(), (slack > 1e-6).sum()
        assert n_wrong <= slack.sum() + 1e-6 and n_wrong <= n_slacks and n_slacks >= least
    # not convex: halfway between no slack and a slack of one the number is one, not one half
    count = np.count_nonzero
    assert count(0.5 * np.zeros(1) + 0.5 * np.ones(1)) > 0.5 * count(np.zeros(1)) + 0.5 * count(np.ones(1))


def _separates(X, y, left_out):
    kept = np.setdiff1d(np.arange(len(y)), left_out)
    if len(set(y[kept])) < 2:
        return True
    try:
        SVC(kernel="linear", **HARD).fit(X[kept], y[kept])
    except NotSeparableError:
        return False
    return True


def test_L12_the_protocol_of_the_thesis():
    """C = 1 and gamma = 1 / d, the defaults of libsvm then: `gamma="auto"` here."""
    X, y = noisy()
    X = StandardScaler().fit_transform(X)
    folds = [np.arange(200) % 5 == fold for fold in range(5)]
    named = [SVC(C=1.0, gamma="auto").fit(X[~held], y[~held]).predict(X[held]) for held in folds]
    K = gaussian(X)
    np.testing.assert_allclose(K, RBF(1.0 / X.shape[1]).gram(X), atol=1e-15)
    for held, expected in zip(folds, named):
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        machine = SVC(C=1.0, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        assert np.array_equal(machine.predict(K[np.ix_(test, train)]), expected)


def test_TH_compression_bound_holds_on_fresh_rows_and_is_in_range():
    X, y = rings(n=1000, seed=1)
    model = SVC(gamma=0.5, C=10.0).fit(X, y)
    fresh = rings(n=4000, seed=2)
    assert 0.0 < model.compression_bound_ < 1.0
    assert 1.0 - model.score(*fresh) <= model.compression_bound_
    # the support vectors alone give the same function
    again = SVC(gamma=0.5, C=10.0).fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=2e-2)


def test_nu_is_between_the_shares_of_errors_and_of_vectors():
    X, y = noisy(n=300)
    for nu in (0.1, 0.3, 0.6):
        model = NuSVC(nu=nu, tol=1e-9).fit(X, y)
        s = np.where(y == 1, 1.0, -1.0)
        errors = np.mean(s * model.decision_function(X) < 1 - 1e-3)
        assert errors <= nu + 1e-9 and model.support_.size / 300 >= nu - 1e-9
        outliers = OneClassSVM(nu=nu, tol=1e-6).fit(X)
        assert np.mean(outliers.decision_function(X) < -1e-4) <= nu <= outliers.support_.size / 300 + 1e-9


@pytest.mark.parametrize("gamma", [0.0, 1e8])
def test_gamma_at_its_ends(gamma):
    """0: all rows are equal to the kernel, the majority wins; huge: the matrix is the identity, all rows count."""
    X, y = noisy(n=60)
    y = y.copy()
    y[:5] = 1
    model = SVC(gamma=gamma).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all() and model.certificate_.holds
    if gamma == 0.0:
        assert (model.predict(X) == (np.mean(y) > 0.5)).all()
    else:
        assert model.score(X, y) == 1.0 and model.support_.size == 60


def test_equal_rows_with_different_labels_and_constant_columns():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0)
    X[:, 2] = 5.0
    y = np.tile([0, 1], 20)
    model = SVC().fit(X, y)
    assert model.certificate_.holds and np.abs(model.decision_function(X)).max() < 1.0
    flat = SVR().fit(np.ones((10, 2)), np.arange(10.0))
    assert np.ptp(flat.predict(np.ones((3, 2)))) == 0.0


def test_one_row_each_and_bad_C():
    assert SVC().fit([[0.0], [1.0]], ["a", "b"]).predict([[0.9]]).tolist() == ["b"]
    with pytest.raises(ValueError, match="one class"):
        SVC().fit([[0.0], [1.0]], [1, 1])
    for C in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="'C' parameter"):
            SVC(C=C).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="zero or negative weights"):
        SVC().fit([[0.0], [1.0]], [0, 1], sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError, match="the pair of rows 0 and 1"):
        SVC(kernel=lambda A, B: np.array([[1.0, np.nan], [np.nan, 1.0]])).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="one row per row of A"):
        SVC(kernel=lambda A, B: np.ones((1, 1))).fit([[0.0], [1.0]], [0, 1])


def test_at_max_iter_the_gap_is_reported():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=10.*above its minimum"):
        model = SVC(max_iter=10).fit(X, y)
    details = model.certificate_.details
    assert model.fit_status_ == 1 and not model.certificate_.holds and model.n_iter_[0] == 10
    assert details["gap"] >= details["primal"] - SVC(tol=1e-8).fit(X, y).certificate_.details["primal"] - 1e-9


def test_a_warm_start_is_where_it_ends():
    X, y = noisy()
    s = np.where(y == 1, 1.0, -1.0)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    cold = solve_dual(given_matrix(K), classification_problem(s, np.ones(y.size)), tol=1e-6)
    warm = solve_dual(given_matrix(K), classification_problem(s, np.ones(y.size), cold.beta), tol=1e-5)
    assert warm.n_iter == 0 and np.array_equal(warm.beta, cold.beta)
