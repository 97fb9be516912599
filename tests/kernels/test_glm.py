"""Kernels of generalised linear, ordinal, Huber and quantile fits against naive formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import log_ndtr

from hyperplan._core.arrays import compressed
from hyperplan._solvers import _glm_kernels as k
from hyperplan._solvers import _row_panel_kernels as panel
from hyperplan._solvers.row_panels import HESSIAN, DenseRows, RowSlopes, SparseRows, second_order_sums

CASES = [(0, link, power) for link in (0, 1, 4) for power in (0.0, 1.0, 1.5, 2.0, 3.0)]
CASES += [(1, link, 0.0) for link in (2, 3, 5)]


@pytest.mark.parametrize(("family", "link", "power"), CASES)
def test_rows_have_the_derivatives_of_their_loss(family, link, power):
    for y, eta in ((0.7, 0.4), (0.2, 1.7), (1.0, 0.9)):
        _, slope, curvature, fisher = k.family_row(family, link, power, y, eta)
        numeric = approx_fprime([eta], lambda e, y=y: k.family_row(family, link, power, y, e[0])[0], 1e-7)[0]
        second = approx_fprime([eta], lambda e, y=y: k.family_row(family, link, power, y, e[0])[1], 1e-7)[0]
        # one-sided differences with steps of 1e-7 are exact to about 1e-6
        assert_allclose(slope, numeric, rtol=2e-5, atol=2e-6)
        assert_allclose(curvature, second, rtol=2e-5, atol=2e-6)
        assert fisher > 0


def test_normal_tails():
    z = np.r_[-300.0, -40.0, -6.5, np.nextafter(-6.0, -7), -6.0, -5.9, -1.0, 0.0, 3.0, 9.0, 40.0]
    assert_allclose([k.log_normal_cdf(v) for v in z], log_ndtr(z), rtol=1e-13, atol=1e-300)
    exact = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
    # at -300 the reference loses digits of log_ndtr = -45000 in the exponent: 45000 * 2e-16
    assert_allclose([k.inverse_mills(v) for v in z], exact, rtol=1e-10)


@pytest.mark.parametrize("row", [k.ordinal_logit_row, k.ordinal_probit_row])
@pytest.mark.parametrize(("upper", "lower"), [(1.0, -0.5), (np.inf, 0.3), (0.2, -np.inf), (9.0, 8.5), (-8.0, -9.0)])
def test_ordinal_rows(row, upper, lower):
    loss, ga, gb, aa, bb, ab = row(upper, lower)
    step = 1e-6
    if np.isfinite(upper):
        plus, minus = row(upper + step, lower), row(upper - step, lower)
        assert_allclose(ga, (plus[0] - minus[0]) / (2 * step), rtol=1e-6, atol=1e-8)
        assert_allclose([aa, ab if np.isfinite(lower) else 0.0],
                        [(plus[1] - minus[1]) / (2 * step), (plus[2] - minus[2]) / (2 * step)],
                        rtol=1e-6, atol=1e-8)  # fmt: skip
    if np.isfinite(lower):
        plus, minus = row(upper, lower + step), row(upper, lower - step)
        assert_allclose(gb, (plus[0] - minus[0]) / (2 * step), rtol=1e-6, atol=1e-8)
        assert_allclose(bb, (plus[2] - minus[2]) / (2 * step), rtol=1e-6, atol=1e-8)
    assert loss > 0


def test_thresholds_out_of_order_have_infinite_loss():
    assert k.ordinal_logit_row(0.0, 0.0)[0] == np.inf and k.ordinal_probit_row(-1.0, 0.0)[0] == np.inf


@pytest.mark.parametrize("majorise", [0, 1])
def test_huber_rows_against_numpy(majorise):
    rng = np.random.default_rng(0)
    y, eta, s, epsilon, scale = rng.normal(size=9) * 3, np.zeros(9), rng.uniform(1, 2, 9), 1.35, 0.8
    slope, curvature, cross = np.empty(9), np.empty(9), np.empty((9, 2))
    gradient, block, sums = np.zeros(2), np.zeros((2, 2)), np.zeros(1)
    k.huber_rows(epsilon, scale, majorise, y, s, eta, slope, curvature, cross, gradient, block, sums)
    z = np.abs(y) / scale
    inside = z <= epsilon
    assert_allclose(sums[0], np.sum(s * scale * (1 + np.where(inside, z**2, 2 * epsilon * z - epsilon**2))))
    assert_allclose(slope, -s * np.where(inside, 2 * y / scale, 2 * epsilon * np.sign(y)))
    outside = 2 * s * epsilon / np.abs(y) if majorise else 0.0
    assert_allclose(curvature, np.where(inside, 2 * s / scale, outside))
    assert_allclose(gradient[0], slope.sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 199])
def test_panel_sums_equal_one_product(n, dtype):
    """Sizes around a panel of 64 rows, dense and sparse, in any layout."""
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 3)), 2).astype(dtype)
    coef = np.array([0.5, -1.0, 2.0])
    h = rng.uniform(0.5, 1.5, n)

    def model(rows, eta):
        return RowSlopes(
            eta.sum(), 2 * eta, h[rows], h[rows][:, None], np.array([eta.sum()]), h[rows].sum(keepdims=True)[:, None]
        )

    for design in (DenseRows(np.asfortranarray(X), centre=np.ones(3)), SparseRows(sp.csr_matrix(X))):
        design.panel_rows = design.task_rows = 64
        if n == 0:
            continue
        C = X.astype(float) - design.centre
        sums = second_order_sums(design, coef, model, 1, HESSIAN)
        assert_allclose(sums.value, (C @ coef).sum(), atol=1e-10)
        assert_allclose(sums.gradient, np.r_[C.T @ (2 * C @ coef), (C @ coef).sum()], atol=1e-10)
        Z = np.c_[C, np.ones(n)]
        assert_allclose(sums.hessian, Z.T @ (h[:, None] * Z), atol=1e-10)


def test_sparse_kernels_equal_dense_ones():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((20, 5)) < 0.5, 0.0, rng.normal(size=(20, 5)))
    record = compressed(sp.csr_array(X))
    eta, other = np.empty(20), np.empty(20)
    panel.csr_scores(record, 0, np.arange(5.0), eta)
    panel.dense_scores(X, np.zeros(5), np.arange(5.0), other)
    assert_allclose(eta, other, atol=1e-12)
    for cross in (np.empty((20, 0)), rng.normal(size=(20, 1)), rng.normal(size=(20, 3))):
        a, b = np.zeros((1 + cross.shape[1], 5)), np.zeros((1 + cross.shape[1], 5))
        panel.csr_adjoint(record, 0, eta, cross, a)
        panel.dense_adjoint(X, np.zeros(5), eta, cross, b)
        assert_allclose(a, b, atol=1e-12)
