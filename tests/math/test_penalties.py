"""Penalty kernels against plain numpy, and the records' own rules."""

import numpy as np
import pytest

from hyperplan._math._penalty_kernels import penalty_value, prox_elastic_net, subdifferential_distance
from hyperplan._math.penalties import (
    Penalty,
    elastic_net_penalty,
    get_penalty,
    hard_threshold,
    l1_penalty,
    l2_penalty,
    no_penalty,
    soft_threshold,
)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 199])
@pytest.mark.parametrize("l1, l2", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)])
def test_kernels_against_naive(n, l1, l2):
    rng = np.random.default_rng(n)
    z, gradient = rng.normal(size=n), rng.normal(size=n)
    w = np.where(rng.uniform(size=n) < 0.5, 0.0, z)
    assert penalty_value(w, l1, l2) == pytest.approx(l1 * np.abs(w).sum() + l2 / 2 * (w**2).sum(), rel=1e-13)
    out = np.empty(n)
    prox_elastic_net(z, l1, l2, out)
    np.testing.assert_allclose(out, np.sign(z) * np.maximum(np.abs(z) - l1, 0) / (1 + l2), rtol=1e-14, atol=1e-16)
    g = gradient + l2 * w
    naive = np.where(w != 0, np.abs(g + l1 * np.sign(w)), np.maximum(np.abs(g) - l1, 0))
    assert subdifferential_distance(gradient, w, l1, l2) == pytest.approx(naive.max(initial=0.0), rel=1e-14)


def test_nan_gradients_are_never_optimal():
    assert np.isnan(l1_penalty(1.0).subdifferential_distance([0.0, 1.0, 0.0], [0.0, np.nan, 0.1]))


def test_prox_keeps_shapes_and_infinite_strength_is_refused():
    z = np.arange(6.0).reshape(2, 3)
    assert l1_penalty(1.0).prox(z, 0.5).shape == (2, 3)
    for bad in (-1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="finite number >= 0"):
            l2_penalty(bad)
    with pytest.raises(ValueError, match="negative"):
        soft_threshold([1.0], -1.0)


def test_names():
    assert get_penalty(None) == no_penalty()
    assert get_penalty("elasticnet", 2.0, 0.25) == Penalty("elasticnet", 0.5, 1.5)
    assert get_penalty(l1_penalty(3.0)) == l1_penalty(3.0)
    with pytest.raises(ValueError, match="Unknown penalty"):
        get_penalty("l3")


def test_hard_threshold_is_the_prox_of_the_count():
    z, s = np.array([-3.0, -1.2, 0.5, 1.5]), 0.9
    grid = np.linspace(-4, 4, 80001)
    for value, kept in zip(z, hard_threshold(z, np.sqrt(2 * s))):
        best = grid[np.argmin(0.5 * (grid - value) ** 2 + s * (np.abs(grid) > 1e-9))]
        assert best == pytest.approx(kept, abs=1e-4)  # the spacing of the grid


def test_dual_norm_is_the_strength_that_empties_the_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    gradient = -X.T @ y / 50
    top = l1_penalty(1.0).dual_norm(gradient)
    assert l1_penalty(top).subdifferential_distance(np.zeros(6), gradient) == 0.0
    assert l1_penalty(0.99 * top).subdifferential_distance(np.zeros(6), gradient) > 0.0
    assert l2_penalty(1.0).dual_norm([3.0, 4.0]) == 5.0
    assert no_penalty().dual_norm([0.0]) == 0.0 and no_penalty().dual_norm([1.0]) == np.inf
    assert elastic_net_penalty(1.0).dual_norm([3.0, -4.0]) == 4.0
