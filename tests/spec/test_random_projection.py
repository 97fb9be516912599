"""Johnson and Lindenstrauss: worked numbers and errata (P6-P11, T33, T34, E38-E40)."""

import math

import numpy as np
import pytest

from hyperplan.random_projection import (
    GaussianRandomProjection,
    SparseRandomProjection,
    feasible_reduction_factor,
    johnson_lindenstrauss_dimension,
    johnson_lindenstrauss_min_dim,
)

EPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.8)
TABLE = {  # of the course: number of points, then what is printed for each eps
    500: (5326, 1434, 690, 423, 298, 166),
    1000: (5920, 1594, 767, 470, 331, 185),
    1500: (6268, 1687, 812, 498, 351, 195),
    2000: (6515, 1754, 844, 518, 364, 203),
    2500: (6706, 1805, 869, 533, 375, 209),
    3000: (6862, 1847, 889, 545, 384, 214),
    3500: (6994, 1883, 906, 556, 391, 218),
    4000: (7109, 1914, 921, 565, 398, 222),
    4500: (7210, 1941, 934, 573, 403, 225),
    5000: (7300, 1965, 946, 580, 408, 228),
    5500: (7382, 1987, 956, 587, 413, 230),
    6000: (7456, 2007, 966, 593, 417, 233),
    6500: (7525, 2026, 975, 598, 421, 235),
    7000: (7588, 2043, 983, 603, 424, 237),
    7500: (7647, 2059, 991, 608, 428, 238),
    8000: (7703, 2073, 998, 612, 431, 240),
    8500: (7755, 2087, 1005, 616, 434, 242),
    9000: (7804, 2101, 1011, 620, 437, 243),
    9500: (7850, 2113, 1017, 624, 439, 245),
    10_000: (7894, 2125, 1023, 627, 442, 246),
}


def bound(n, eps):
    return 24 * math.log(n) / (3 * eps**2 - 2 * eps**3)


def test_T33_E38_P6_the_table_is_rounded_down_and_the_lemma_asks_for_more():
    assert len(TABLE) * len(EPS) == 120
    for n, row in TABLE.items():
        for eps, entry in zip(EPS, row, strict=True):
            assert johnson_lindenstrauss_min_dim(n, eps=eps) == entry < bound(n, eps)  # not enough
            assert johnson_lindenstrauss_dimension(n, eps=eps) == entry + 1 > bound(n, eps)


def test_T33_a_twentyfold_table_needs_half_more_dimensions():
    ratio = bound(10_000, 0.2) / bound(500, 0.2)
    assert ratio == pytest.approx(1.48205, abs=5e-6)


def test_T33_E39_five_hundred_points_need_an_eps_of_0_362_for_five_hundred_dimensions():
    assert bound(500, 0.36203) == pytest.approx(500, abs=0.05)
    assert bound(500, 1.0) == pytest.approx(149.15, abs=0.005)


def test_T34_P11_feasible_reduction():
    eps = np.linspace(0, 1, 200)
    g = eps**2 * (3 - 2 * eps)
    assert g[0] == 0 and g[-1] == 1 and (np.diff(g) > 0).all()
    n, d = 1000, 10_000
    c = feasible_reduction_factor(n, d)
    assert c == pytest.approx(24 * math.log(n) / d)
    assert johnson_lindenstrauss_dimension(n, eps=0.999) <= 1.01 * c * d + 1
    assert johnson_lindenstrauss_dimension(n, eps=0.9) > c * d


def test_E40_P8_achlioptas_needs_the_scale():
    model = SparseRandomProjection(60, density=1 / 3, random_state=0).fit(np.ones((2, 900)))
    matrix = model.components_.toarray()
    np.testing.assert_allclose(np.unique(matrix), [-math.sqrt(3 / 60), 0, math.sqrt(3 / 60)])
    assert (matrix == 0).mean() == pytest.approx(2 / 3, abs=0.01)
    x = np.random.default_rng(0).normal(size=900)
    signs = np.sign(matrix)
    assert ((signs @ x) ** 2).sum() / (x @ x) == pytest.approx(60 / 3, rel=0.5)  # without it: k / 3 times too long
    assert ((matrix @ x) ** 2).sum() / (x @ x) == pytest.approx(1.0, rel=0.5)


def test_P7_gaussian_entries_have_variance_one_over_k():
    matrix = GaussianRandomProjection(40, random_state=0).fit(np.ones((2, 5000))).components_
    assert matrix.var() == pytest.approx(1 / 40, rel=0.02)


def test_P10_the_sum_of_absolute_differences_is_not_kept():
    rng = np.random.default_rng(0)
    spikes, flat = np.zeros(4000), np.full(4000, 1 / 4000)
    spikes[0] = 1.0  # the same l1 norm as `flat`, another Euclidean one
    R = rng.normal(size=(400, 4000)) / math.sqrt(400)
    assert np.abs(R @ spikes).sum() > 30 * np.abs(R @ flat).sum()
