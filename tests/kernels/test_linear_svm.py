"""Kernels of the linear support vector machines against NumPy twins, at the sizes where blocks begin and end."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers import _linear_svm_dual_kernels as dual
from hyperplan._solvers import _linear_svm_kernels as kernels
from hyperplan._solvers import _linear_svm_l1_kernels as l1
from hyperplan._solvers import _linear_svm_small_kernels as small
from hyperplan._solvers.linear_svm_design import BLOCK_VALUES, PANEL_ROWS, Design
from hyperplan._solvers.linear_svm_dual import coordinate_descent, pair_gap, row_table
from hyperplan._solvers.linear_svm_elastic import elastic_newton
from hyperplan._solvers.linear_svm_free import FIRST_EPOCH, JointSteps
from hyperplan._solvers.linear_svm_gram import GRAM_ROWS, gram_descent, inner_products
from hyperplan._solvers.linear_svm_interior import interior_point
from hyperplan._solvers.linear_svm_l1 import l1_newton
from hyperplan._solvers.linear_svm_l1_descent import Columns, best_on_ray, l1_descent
from hyperplan._solvers.linear_svm_l1_interior import l1_interior
from hyperplan._solvers.linear_svm_newton import ActiveGram, newton_cg, newton_cholesky
from hyperplan._solvers.linear_svm_small import solve_small

SIZES = [1, 2, 3, 4, 5, PANEL_ROWS - 1, PANEL_ROWS, PANEL_ROWS + 1, 3 * PANEL_ROWS + 7]


def problem(n, d=5, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    X[rng.random((n, d)) < 0.3] = 0.0
    low = np.where(rng.random(n) < 0.5, rng.standard_normal(n), -np.inf)
    high = np.where(
        np.isfinite(low), np.where(rng.random(n) < 0.5, low + rng.random(n), np.inf), rng.standard_normal(n)
    )
    return X, (low, high, rng.uniform(0.1, 2.0, n)), rng


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", [0.0, 2.5])
def test_design_products(n, dtype, sparse, scale):
    X, _, rng = problem(n, dtype=dtype)
    full = np.hstack([X, np.full((n, 1), scale)]) if scale else X.astype(np.float64)
    design = Design(sp.csr_array(X) if sparse else X, scale)
    w, pull = rng.standard_normal(design.width), rng.standard_normal(n) * (rng.random(n) < 0.7)
    # sums of at most a few thousand terms in float64: 1e-11 is far above their rounding
    np.testing.assert_allclose(design.scores(w), full @ w, atol=1e-11)
    np.testing.assert_allclose(design.combine(pull), full.T @ pull, atol=1e-11)
    np.testing.assert_allclose(design.norms(), (full.astype(np.float64) ** 2).sum(axis=1), rtol=1e-12)
    rows = np.flatnonzero(rng.random(n) < 0.6)
    weight, extra = rng.random(rows.size), rng.standard_normal(rows.size)
    z = np.hstack([full[rows], extra[:, None]])
    np.testing.assert_allclose(design.gram(rows, weight, extra), (z.T * weight) @ z, atol=1e-10)


def test_design_with_several_blocks():
    X, _, rng = problem(3 * BLOCK_VALUES // 20 + 7, d=20)
    design, w, pull = Design(X), rng.standard_normal(20), rng.standard_normal(X.shape[0])
    assert len(design.blocks) > 1
    np.testing.assert_allclose(design.scores(w), X @ w, atol=1e-11)
    np.testing.assert_allclose(design.combine(pull), X.T @ pull, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 513])
def test_band_sums(n):
    _, (low, high, cost), rng = problem(max(n, 1))
    low, high, cost = low[:n], high[:n], cost[:n]
    scores, direction = rng.standard_normal(n), rng.standard_normal(n)
    miss = np.maximum(np.maximum(low - scores, scores - high), 0.0)
    assert kernels.squared_band(scores, low, high, cost) == pytest.approx((cost * miss**2).sum(), rel=1e-12)
    assert kernels.absolute_band(scores, low, high, cost) == pytest.approx((cost * miss).sum(), rel=1e-12)
    codes = np.empty(n, dtype=np.int8)
    kernels.band_codes(scores, low, high, codes)
    np.testing.assert_array_equal(codes, np.where(scores < low, -1, np.where(scores > high, 1, 0)))
    pull = np.empty(n)
    kernels.squared_band_pull(scores, low, high, cost, pull)
    np.testing.assert_allclose(pull, -2 * cost * miss * codes, rtol=1e-14)
    slope, curvature = kernels.squared_band_slope(scores, direction, 0.0, low, high, cost)
    assert slope == pytest.approx(-(pull * direction).sum(), rel=1e-12, abs=1e-12)
    assert curvature == pytest.approx((2 * cost * direction**2 * (codes != 0)).sum(), rel=1e-12)


def test_gap_terms_are_zero_only_at_the_optimum():
    low, high, cost = np.array([1.0, 1.0, 1.0]), np.full(3, np.inf), np.full(3, 2.0)
    scores = np.array([0.5, 1.0, 3.0])
    assert kernels.band_excess(scores, np.array([2.0, 1.3, 0.0]), low, high, cost) == 0.0
    assert kernels.band_excess(scores, np.array([1.0, 1.3, 0.0]), low, high, cost) == pytest.approx(0.5)


def test_active_gram_updates_like_a_fresh_sum():
    X, band, rng = problem(400)
    design = Design(X, 1.0)
    gram = ActiveGram(design, band)
    scores = rng.standard_normal(400)
    for _ in range(6):
        gram.update(scores)
        kept = gram.matrix.copy()
        gram.refresh()
        np.testing.assert_allclose(kept, gram.matrix, atol=1e-10)  # a few hundred additions and subtractions
        scores = scores + 0.1 * rng.standard_normal(400)


def test_newton_methods_agree():
    X, band, _ = problem(300, d=8)
    exact = newton_cholesky(Design(X, 1.0), band, target_gap=1e-18, max_iter=100)
    iterative = newton_cg(Design(sp.csr_array(X), 1.0), band, target_gap=1e-18, max_iter=100)
    np.testing.assert_allclose(iterative.weights, exact.weights, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_dual_epoch_increases_the_dual(sparse, power):
    X, band, _ = problem(120)
    low, high, cost = band
    rows = compressed(sp.csr_array(X)) if sparse else X
    epoch = dual.csr_band_epoch if sparse else dual.dense_band_epoch
    weights, order = np.zeros(6), np.arange(120, dtype=np.uint32)
    table = row_table((X**2).sum(axis=1) + 1.0, band, power)
    pull = table[:, dual.PULL]
    state, value = kernel_state(3), -np.inf
    for _ in range(5):
        n_active, _ = epoch(rows, 1.0, order, 120, np.inf, state, table, weights)
        ends = np.where(pull > 0, low, np.where(pull < 0, high, 0.0))
        ridge = 0.0 if power == 1 else (pull**2 / (4 * cost)).sum()
        new = pull @ ends - 0.5 * weights @ weights - ridge
        assert new >= value - 1e-12
        value = new
        assert n_active == 120
    full = np.hstack([X, np.ones((120, 1))])
    np.testing.assert_allclose(weights, full.T @ pull, atol=1e-10)
    assert power == 2 or (np.abs(pull) <= cost).all()


@pytest.mark.parametrize("n", [1, 2, GRAM_ROWS - 1, GRAM_ROWS, GRAM_ROWS + 1])
@pytest.mark.parametrize("sparse", [False, True])
def test_inner_products(n, sparse):
    X, _, _ = problem(n)
    K = inner_products(Design(sp.csr_array(X) if sparse else X, 2.0))
    np.testing.assert_allclose(K, X @ X.T + 4.0, atol=1e-12)  # sums of five products


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_gram_descent_agrees_with_coordinate_descent(power, sparse):
    X, band, _ = problem(60, d=80)
    design = Design(sp.csr_array(X) if sparse else X, 1.0)
    options = {"power": power, "max_iter": 3000, "seed": 0}
    exact = gram_descent(design, band, target_gap=1e-12, **options)
    slow = coordinate_descent(design, band, target_gap=1e-9, **options)
    assert exact.gap <= 1e-12 * exact.primal and slow.gap <= 1e-9 * slow.primal
    # strongly convex: the distance of the weights is at most sqrt(2 gap)
    assert np.linalg.norm(exact.weights - slow.weights) <= np.sqrt(2 * (slow.gap + exact.gap)) + 1e-9
    assert exact.primal <= slow.primal * (1 + 1e-11)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("two_ends", [False, True])
def test_coordinate_descent_gives_up_in_time(sparse, two_ends):
    X, (low, high, cost) = small_problem(200, 8, 1, two_ends)
    design = Design(sp.csr_array(X) if sparse else X, 1.0)
    options = {"power": 1, "target_gap": 1e-5, "max_iter": 1000, "seed": 0}
    hard = coordinate_descent(design, (low, high, 1e4 * cost), patience=50, **options)
    assert hard.status is Status.STALLED and hard.n_iter <= 50
    easy = coordinate_descent(design, (low, high, 1e-4 * cost), patience=50, **options)
    assert easy.status is Status.CONVERGED and easy.gap <= 1e-5 * easy.primal


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("width", [0.0, 0.3])
def test_joint_steps_never_lower_the_dual(power, width):
    X, (_, _, cost) = small_problem(80, 60, power, True)
    rng = np.random.default_rng(1)
    design, y = Design(sp.csr_array(X), 1.0), rng.standard_normal(80)
    band = (y - width, y + width, cost)
    ridge = np.zeros(80) if power == 1 else 0.5 / cost
    pull = rng.uniform(-1.0, 1.0, 80) * cost * (rng.random(80) < 0.6)
    gains = []
    for _ in range(4):
        weights, steps = design.combine(pull), JointSteps(design, band, ridge)
        before = 0.5 * weights @ weights + 0.5 * pull @ (ridge * pull) - np.where(pull > 0, band[0], band[1]) @ pull
        assert steps.may_gain(FIRST_EPOCH, pull) and not steps.may_gain(FIRST_EPOCH - 1, pull)
        weights, scores = steps.move(FIRST_EPOCH, weights, design.scores(weights), pull)
        np.testing.assert_allclose(weights, design.combine(pull), atol=1e-9)  # sums of a hundred terms
        np.testing.assert_allclose(scores, design.scores(weights), atol=1e-9)
        after = 0.5 * weights @ weights + 0.5 * pull @ (ridge * pull) - np.where(pull > 0, band[0], band[1]) @ pull
        gains.append(before - after)
        assert power == 2 or (np.abs(pull) <= cost).all()
    assert min(gains) >= -1e-10 and max(gains) > 0.0


@pytest.mark.parametrize("n, d", [(1, 1), (2, 1), (PANEL_ROWS + 1, 3), (3 * PANEL_ROWS + 7, 20)])
@pytest.mark.parametrize("two_ends", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_elastic_newton_like_the_interior_point(n, d, two_ends, sparse):
    X, band = small_problem(n, d, 1, two_ends)
    design = Design(sp.csr_array(X) if sparse else X, 1.5)
    found = elastic_newton(design, band, target_gap=1e-10, max_iter=200)
    other = interior_point(design, band, target_gap=1e-10, max_iter=200)
    assert found.status is Status.CONVERGED and found.gap <= 1e-10 * found.primal
    # strongly convex: the distance of the weights is at most sqrt(2 gap)
    assert np.linalg.norm(found.weights - other.weights) <= 2 * np.sqrt(2 * (found.gap + max(other.gap, 0.0))) + 1e-9
    residual = found.weights - design.combine(found.pull)
    objective, gap = pair_gap(
        0.5 * residual @ residual,
        0.5 * found.weights @ found.weights,
        design.scores(found.weights),
        found.pull,
        band,
        1,
    )
    assert objective == pytest.approx(found.primal) and gap == pytest.approx(found.gap, abs=1e-10 * objective)


@pytest.mark.parametrize("n", [0, 1, 2, 120])
def test_partition_puts_the_rows_that_matter_first(n):
    _, band, rng = problem(max(n, 1))
    low, high, cost = (values[:n] for values in band)
    scores, norms = rng.standard_normal(n), (rng.random(n) < 0.8).astype(float)
    order = rng.permutation(n).astype(np.uint32)
    table = row_table(norms, (low, high, cost), 1)
    table[:, dual.PULL] = 0.0  # rows without any value would start at their bound
    count = dual.band_partition(scores, table, 0.3, order)
    matters = (np.maximum(low - scores, scores - high) >= -0.3) & (norms > 0)
    np.testing.assert_array_equal(np.sort(order[:count]), np.flatnonzero(matters))
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize("power", [1, 2])
def test_excess_is_primal_minus_dual(power):
    X, band, rng = problem(50)
    low, high, cost = band
    pull = rng.standard_normal(50) * (rng.random(50) < 0.8)
    pull = np.where(np.isfinite(low), np.where(np.isfinite(high), pull, np.abs(pull)), -np.abs(pull))
    if power == 1:
        pull = np.clip(pull, -cost, cost)
    weights = X.T @ pull
    ends = np.where(pull > 0, low, np.where(pull < 0, high, 0.0))
    dual_value = pull @ ends - 0.5 * weights @ weights - (0.0 if power == 1 else (pull**2 / (4 * cost)).sum())
    primal, gap = pair_gap(0.0, 0.5 * weights @ weights, X @ weights, pull, band, power)
    assert gap == pytest.approx(primal - dual_value, rel=1e-10)


@pytest.mark.parametrize("label", [0, 2])
def test_class_minimum_solves_its_small_problem(label):
    rng = np.random.default_rng(label)
    n_classes, norm, cost = 4, 1.7, 0.8
    slope, pull = rng.standard_normal(n_classes), np.zeros(n_classes)
    linear, change = np.empty(n_classes), np.empty(n_classes)
    dual.class_minimum(label, norm, cost, slope, pull, linear, change)
    limit = np.where(np.arange(n_classes) == label, cost, 0.0)
    assert abs(change.sum()) < 1e-12 and (change <= limit + 1e-12).all()

    def value(a):
        return 0.5 * norm * a @ a + slope @ a

    for _ in range(200):  # no feasible point is better
        other = -rng.exponential(0.2, n_classes)
        other[label] = 0.0
        other[label] = -other.sum()
        if other[label] <= cost:
            assert value(change) <= value(other) + 1e-12


def test_l1_quadratic_reaches_the_optimality_conditions():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 12))
    hessian, linear = A.T @ A, 2 * rng.standard_normal(12)
    weights = np.zeros(12)
    slope = -linear.copy()
    dual.l1_quadratic(hessian, linear, 1e-12, 10_000, weights, slope)
    np.testing.assert_allclose(slope, hessian @ weights - linear, atol=1e-9)
    on = weights != 0
    assert on.any() and not on.all()
    np.testing.assert_allclose(slope[on], -np.sign(weights[on]), atol=1e-9)
    assert (np.abs(slope[~on]) <= 1 + 1e-9).all()


def small_problem(n, d, power, two_ends, seed=0):
    X, _, rng = problem(n, d, seed=seed)
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    cost = rng.uniform(0.1, 20.0, n)
    if two_ends:
        return X, (y - 0.1, y + 0.1, cost)
    return X, (np.where(y > 0, 1.0, -np.inf), np.where(y > 0, np.inf, -1.0), cost)


def test_small_building_blocks():
    X, (low, high, cost), rng = problem(101, d=7)
    scores, center, pull = rng.standard_normal(101), rng.uniform(-0.1, 0.1, 101), np.empty(101)
    small.elastic_pull(scores, center, 1.0 / cost, cost, low, high, pull)
    one = [dual.band_minimum(*row) for row in zip(center, scores, 1.0 / cost, low, high, cost)]
    np.testing.assert_allclose(pull, one, atol=1e-13)  # the same formula, terms in another order
    is_elastic, rows, amount = np.zeros(101, bool), np.empty(101, np.int64), np.empty(101)
    hessian = np.zeros((7, 7))
    count = small.elastic_changes(pull, cost, 1.0 / cost, is_elastic, rows, amount)
    small.add_outer(X, rows, amount, count, hessian)
    inside = (pull != 0.0) & (np.abs(pull) < cost)
    np.testing.assert_allclose(hessian, (X[inside].T / cost[inside]) @ X[inside], atol=1e-11)
    rhs, out = rng.standard_normal(7), np.empty(7)
    small.solve_shifted(hessian, rhs, np.empty((7, 7)), out)
    np.testing.assert_allclose(hessian @ out + out, rhs, atol=1e-10)  # a system of condition below 1e4
    step, move = 1e-6, rng.standard_normal(101)
    force = (center, 1.0 / cost, cost)
    after = small.elastic_slope(scores, move, step, *force, low, high)[0]
    slope, curvature = small.elastic_slope(scores, move, 0.0, *force, low, high)
    assert (after - slope) / step == pytest.approx(curvature, rel=1e-3)  # no row changes its kind over a step of 1e-6


@pytest.mark.parametrize("n, d", [(1, 1), (2, 1), (5, 4), (40, 6), (41, 6)])
@pytest.mark.parametrize("two_ends", [False, True])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("scale", [0.0, 1.5])
def test_small_problems_like_the_methods_for_large_ones(n, d, two_ends, power, scale):
    X, band = small_problem(n, d, power, two_ends)
    design = Design(X, scale)
    found = solve_small(design, band, power=power, l1=False, target_gap=1e-11, max_iter=200)
    other = {1: interior_point, 2: newton_cholesky}[power](design, band, target_gap=1e-11, max_iter=200)
    assert found.status is Status.CONVERGED
    assert found.primal == pytest.approx(other.primal, rel=1e-9)  # both gaps are below 1e-11, the floor adds some
    weights = design.combine(found.pull)
    objective, gap = pair_gap(0.0, 0.5 * weights @ weights, design.scores(weights), found.pull, band, power)
    assert gap <= 1e-4 * objective  # the dual point alone gives nearly the same weights


def l1_reference(design, band):
    return l1_newton(design, band, target_gap=1e-11, max_iter=500)


@pytest.mark.parametrize("n, d", [(3, 2), (40, 6), (30, 45), (45, 30)])
def test_l1_methods_agree(n, d):
    X, band = small_problem(n, d, 2, False)
    other = l1_reference(Design(X, 1.0), band)
    found = [l1_descent(Design(matrix, 1.0), band, target_gap=1e-9, max_iter=2000) for matrix in (X, sp.csr_matrix(X))]
    if n >= d:
        found.append(solve_small(Design(X, 1.0), band, power=2, l1=True, target_gap=1e-9, max_iter=200))
    for matrix in (X, sp.csr_matrix(X)):
        columns = Columns(Design(matrix, 1.0))
        start, _ = l1_interior(columns, band, target_gap=1e-7, max_iter=60)
        found.append(l1_descent(Design(matrix, 1.0), band, target_gap=1e-9, max_iter=500, columns=columns, start=start))
    for outcome in found:
        assert outcome.status is Status.CONVERGED
        assert outcome.primal == pytest.approx(other.primal, rel=1e-8)  # gaps of 1e-9 and 1e-11
        np.testing.assert_allclose(outcome.weights, other.weights, atol=1e-4)


def test_l1_descent_gives_up_only_far_from_the_optimum():
    X, (low, high, cost) = small_problem(60, 80, 2, False)
    design, options = Design(sp.csr_matrix(X), 1.0), {"target_gap": 1e-10, "max_iter": 5000}
    far = l1_descent(design, (low, high, 1e3 * cost), trial=1, **options)
    assert far.status is Status.STALLED and far.n_iter < 50
    exact = l1_descent(design, (low, high, cost), **options)
    start = np.where(exact.weights != 0.0, exact.weights + 1e-6, 0.0)
    found = l1_descent(design, (low, high, cost), start=start, trial=1, **options)
    assert found.status is Status.CONVERGED and found.n_iter > 1


@pytest.mark.parametrize("n", [1, 2, 60])
def test_l1_pass_decreases_and_keeps_its_books(n):
    X, band = small_problem(n, 9, 2, True)
    design, order = Design(X, 1.0), np.arange(10)
    ends = []
    for matrix, epoch in ((X, l1.dense_l1_pass), (sp.csr_matrix(X), l1.sparse_l1_pass)):
        columns = Columns(Design(matrix, 1.0))
        weights, scores, force, stiff = np.zeros(10), np.zeros(n), np.empty(n), np.empty(n)
        before = l1.loss_state(scores, *band, force, stiff)
        norms = columns.curvatures(2.0 * band[2])
        epoch(columns.record, band, norms, order.copy(), 10, np.inf, weights, scores, force, stiff)
        np.testing.assert_allclose(scores, design.scores(weights), atol=1e-11)
        np.testing.assert_allclose(force, 2.0 * band[2] * (np.clip(scores, *band[:2]) - scores), atol=1e-10)
        assert np.abs(weights).sum() + kernels.squared_band(scores, *band) <= before
        ends.append(weights)
    np.testing.assert_allclose(*ends, atol=1e-11)  # the same coordinates in the same order


def test_l1_line_search_and_directions():
    X, band = small_problem(50, 12, 2, False)
    rng = np.random.default_rng(1)
    weights, direction = rng.standard_normal(12), 3.0 * rng.standard_normal(12)
    step, _ = best_on_ray(weights, direction, X @ weights, X @ direction, band)
    grid = np.linspace(0.0, 1.0, 2001)
    values = [
        np.abs(weights + t * direction).sum() + kernels.squared_band(X @ (weights + t * direction), *band) for t in grid
    ]
    best = np.abs(weights + step * direction).sum() + kernels.squared_band(X @ (weights + step * direction), *band)
    assert best <= min(values) + 1e-9 * abs(min(values))
    stiff, support, rhs = 2.0 * band[2], np.array([0, 3, 7]), rng.standard_normal(3)
    hessian = (X[:, support].T * stiff) @ X[:, support]
    for matrix, is_exact in ((X, True), (sp.csr_matrix(X), True), (sp.csr_matrix(X), False)):
        change, move = Columns(Design(matrix)).direction(support, stiff, rhs, is_exact)
        np.testing.assert_allclose(hessian @ change, rhs, atol=1e-7)  # the ridge that keeps systems solvable is 1e-10
        np.testing.assert_allclose(move, X[:, support] @ change, atol=1e-10)


def test_interior_point_refuses_bands_with_two_ends():
    X, band = small_problem(20, 3, 2, True)
    assert l1_interior(Columns(Design(X)), band, target_gap=1e-6, max_iter=5) is None
