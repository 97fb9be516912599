"""The stochastic gradient kernels against a naive loop."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._solvers import _sgd_kernels as k
from hyperplan._solvers.sgd import (
    BLOCK_VALUES,
    LANES,
    LOSSES,
    SgdPoint,
    _gap_sums,
    as_rows,
    duality_gap,
    row_numbers,
    sgd,
    sgd_rule,
)


def naive_sgd(X, y, weight, rule, n_epochs):
    """The textbook loop on plain weights: no scale, no blocks, every column touched in every step."""
    w, b, t, owed = np.zeros(X.shape[1]), 0.0, 1.0, 0.0
    received, average, average_b = np.zeros_like(w), np.zeros_like(w), 0.0
    for _ in range(n_epochs):
        for i in range(X.shape[0]):
            eta = {
                k.CONSTANT: rule.eta0,
                k.OPTIMAL: 1.0 / (rule.alpha * (rule.t0 + t - 1.0)) if rule.alpha else 0.0,
                k.INVSCALING: rule.eta0 / t**rule.power_t,
            }[rule.schedule]
            slope = k.loss_and_slope(rule.loss, y[i], X[i] @ w + b, rule.epsilon)[1]
            step = -eta * slope * weight[i] * (rule.positive_weight if y[i] > 0 else rule.negative_weight)
            w = w * max(0.0, 1.0 - rule.l2 * eta) + step * X[i]
            b += rule.intercept_step * step
            if rule.l1:
                owed += rule.l1 * eta
                seen = X[i] != 0
                paid = np.where(w > 0, np.maximum(w - owed - received, 0), np.minimum(w + owed - received, 0))
                paid = np.where(seen & (w != 0), paid, w)
                received, w = received + paid - w, paid
            m = t - rule.average + 1
            if rule.average and m >= 1:
                average, average_b = average + (w - average) / m, average_b + (b - average_b) / m
            t += 1.0
    return w, b, average, average_b


def run(X, y, weight, rule, n_epochs=2):
    zero = np.zeros(X.shape[1])
    rows = row_numbers(np.arange(X.shape[0]))
    return sgd(as_rows(X), y, weight, rule, SgdPoint(zero, 0.0, zero, 0.0, 1.0), n_epochs=n_epochs, seed=0, rows=rows)


def data(n, d, seed=0, density=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    return X, np.where(X.sum(axis=1) + rng.normal(size=n) > 0, 1.0, -1.0), rng.uniform(0.5, 2.0, n)


B = BLOCK_VALUES // (2 * LANES)  # dense rows of 17 columns, padded to 32, that are copied together


@pytest.mark.parametrize("n", [1, 2, B - 1, B, B + 1, 3 * B + 7])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("layout", ["dense", "csr", "float32"])
def test_steps_equal_the_naive_loop_at_block_borders(n, penalty, layout):
    X, y, weight = data(n, 17)  # 17 columns: one more than a full register, so that padding is used
    rule = sgd_rule(
        loss="log_loss", penalty=penalty, alpha=0.01, l1_ratio=0.3, schedule="invscaling", eta0=0.1, power_t=0.25,
        average=5, shuffle=False, tol=None, positive_weight=1.5, sparse=layout == "csr",
    )  # fmt: skip
    X = X.astype(np.float32) if layout == "float32" else X
    # an untouched zero of a dense row still pays the l1 penalty in the kernel: give the loop the same view
    naive_X = X.astype(np.float64)
    if layout != "csr":
        naive_X[naive_X == 0] = 1e-300
    w, b, average, average_b = naive_sgd(naive_X, y, weight, rule, 2)
    point = run(sp.csr_array(X) if layout == "csr" else X, y, weight, rule).point
    np.testing.assert_allclose(point.coef, w, rtol=1e-9, atol=1e-12)  # rounding of the scaled form only
    np.testing.assert_allclose(point.intercept, b, rtol=1e-9, atol=1e-12)
    if n * 2 >= 5:
        np.testing.assert_allclose(point.average_coef, average, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(point.average_intercept, average_b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 2048, 2049])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_width(d, sparse):
    X, y, weight = data(9, d, density=0.5)
    rule = sgd_rule(loss="hinge", penalty="l2", alpha=0.1, shuffle=False, tol=None, sparse=sparse)
    w, b, _, _ = naive_sgd(X, y, weight, rule, 2)
    point = run(sp.csr_array(X) if sparse else X, y, weight, rule).point
    np.testing.assert_allclose(point.coef, w, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(point.intercept, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_slope_is_the_derivative(loss):
    code = LOSSES[loss]
    for y in (-1.0, 1.0):
        for p in (-3.07, -1.5, -0.93, -0.05, 0.033, 0.4, 0.97, 1.04, 1.7, 2.9):
            h = 1e-6
            up, down = (k.loss_and_slope(code, y, p + s, 0.1)[0] for s in (h, -h))
            assert k.loss_and_slope(code, y, p, 0.1)[1] == pytest.approx((up - down) / (2 * h), abs=1e-6)


def test_log_loss_does_not_overflow():
    loss, slope = k.loss_and_slope(k.LOG, 1.0, -800.0, 0.0)
    assert loss == 800.0 and slope == -1.0
    assert k.loss_and_slope(k.LOG, 1.0, 800.0, 0.0) == (0.0, -0.0)


def test_one_block_row_and_empty_rows():
    X = sp.csr_array((5, 3))
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    rule = sgd_rule(loss="hinge", penalty="l1", alpha=0.1, sparse=True, shuffle=False, tol=None)
    point = run(X, y, None, rule).point
    assert not point.coef.any() and np.isfinite(point.intercept)


def test_shuffles_are_uniform():
    """Each row comes first equally often: chi-square with 5 degrees of freedom below its 99.99 % point, 25.7."""
    counts = np.zeros(6)
    from hyperplan._core._rng_kernels import shuffle_in_place
    from hyperplan._core.rng import kernel_state

    state = kernel_state(7)
    order = row_numbers(np.arange(6))
    for _ in range(6000):
        shuffle_in_place(order, state)
        counts[order[0]] += 1
    assert ((counts - 1000) ** 2 / 1000).sum() < 25.7


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lower_bound_is_below_every_point(loss, penalty, fit_intercept):
    """The dual value must not exceed the objective anywhere: try many points around a good one."""
    X, y, weight = data(80, 4, seed=3)
    rule = sgd_rule(loss=loss, penalty=penalty, alpha=0.05, l1_ratio=0.4, fit_intercept=fit_intercept, tol=None,
                    schedule="constant", eta0=0.01)  # fmt: skip
    point = run(X, y, weight, rule, n_epochs=40).point
    rows, records = row_numbers(np.arange(80)), as_rows(X)
    gap = duality_gap(records, y, weight, rule, point.coef, point.intercept, rows)
    assert gap.dual <= gap.primal + 1e-12
    rng = np.random.default_rng(0)
    for spread in (0.01, 0.1, 1.0):
        for _ in range(20):
            w = point.coef + spread * rng.normal(size=4)
            b = point.intercept + spread * rng.normal() * fit_intercept
            assert duality_gap(records, y, weight, rule, w, b, rows).primal >= gap.dual - 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_gap_of_sparse_rows_is_that_of_dense_ones(loss, n, weighted):
    """The same sums in another order: they agree to rounding."""
    X, y, weight = data(50, 4, seed=5)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    weight = weight if weighted else None
    rule = sgd_rule(loss=loss, penalty="l2", alpha=0.05, positive_weight=2.0)
    coef, rows = np.array([0.5, -1.0, 0.0, 2.0]), row_numbers(np.arange(50)[::-1][:n])
    dense, sparse = (_gap_sums(as_rows(x), y, weight, rule, coef, 0.3, rows) for x in (X, sp.csr_array(X)))
    for one, other in zip(dense, sparse, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert n < 50 or dense[0].any()
