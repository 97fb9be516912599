"""Scores and moments of full Gaussians by strips of rows, against formulas, at sizes around the strip."""

import numpy as np
import pytest

from hyperplan.mixture import _em
from hyperplan.mixture._em_kernels import STRIP, add_strip_moments, add_strip_squares, strip_scores


@pytest.mark.parametrize("n", [0, 1, 2, STRIP - 1, STRIP, STRIP + 1, 3 * STRIP + 7])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_strips(n, d, dtype):
    rng = np.random.default_rng(n)
    X, means = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(2, d))
    factors, constant = np.triu(rng.normal(size=(2, d, d))), rng.normal(size=2)
    wide, work, out = X.astype(np.float64), np.empty((2 * d + 3, STRIP)), np.empty((n, 2))
    strip_scores(X, means, factors, constant, work, out)
    share = np.abs(rng.normal(size=(n, 2)))
    share[:, 1] *= n % 2  # a component without rows
    counts, first, second = np.zeros(2), np.zeros((2, d)), np.zeros((2, d, d))
    add_strip_moments(X, share, means, work, counts, first, second)
    columns = np.zeros(2), np.zeros((2, d)), np.zeros((2, d))
    add_strip_squares(X, share, means, work, *columns)
    for k in range(2):
        gap = wide - means[k]
        expected = constant[k] - 0.5 * ((gap @ factors[k]) ** 2).sum(axis=1)
        np.testing.assert_allclose(out[:, k], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(first[k], share[:, k] @ gap, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(second[k], np.triu((share[:, k] * gap.T) @ gap), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(columns[1][k], first[k], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(columns[2][k], share[:, k] @ gap**2, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(counts, share.sum(axis=0))


def test_kernels_and_BLAS_make_the_same_step(monkeypatch):
    rng = np.random.default_rng(0)
    X, share = rng.normal(size=(500, 4)), rng.dirichlet(np.ones(3), size=500)
    rows = _em.rows_of(X, "full")

    def step():
        count, means, covariances = _em.from_shares(rows, "full", share, 1e-6)
        start = _em.Mixture(count / 500, means, covariances, _em.precision_factors("full", covariances))
        return _em.em_pass(rows, "full", start, 1e-6)

    bound, mixture = step()
    monkeypatch.setattr(_em, "FEW_COLUMNS", 0)
    other_bound, other = step()
    assert bound == pytest.approx(other_bound, rel=1e-12)
    for one, two in zip(mixture, other):
        np.testing.assert_allclose(one, two, rtol=1e-9)
