"""The sigmoid's sums against the formula, and pooled neighbours against the definition of the least squares."""

import itertools

import numpy as np
import pytest

from hyperplan._math._isotonic_kernels import merge_equal, pool_adjacent
from hyperplan._math._platt_kernels import platt_sums

SIZES = [0, 1, 2, 7, 64, 199]


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_the_sigmoid_are_the_formula(n):
    """About 100 roundings of terms of order one: 1e-12 is generous."""
    rng = np.random.default_rng(n)
    s, t, w = rng.normal(size=n) * 5, rng.random(n), rng.random(n)
    a, b = -0.7, 0.3
    f = a * s + b
    p = 1 / (1 + np.exp(f))
    first, second = w * (t - p), w * p * (1 - p)
    loss = (w * (t * f + np.log1p(np.exp(-f)))).sum()
    sums = np.full(6, np.nan)
    platt_sums(s, t, w, a, b, sums)
    expected = [loss, first @ s, first.sum(), second @ s**2, second @ s, second.sum()]
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)


def test_sums_of_the_sigmoid_do_not_overflow():
    sums = np.empty(6)
    platt_sums(np.array([1e4, -1e4]), np.array([0.9, 0.1]), np.ones(2), 1.0, 0.0, sums)
    assert np.isfinite(sums).all() and sums[0] == pytest.approx(0.9e4 + 0.9e4)


def pooled(y, weight):
    n = len(y)
    mean, mass, size = np.empty(n), np.empty(n), np.empty(n, dtype=np.intp)
    blocks = pool_adjacent(y, weight, mean, mass, size)
    return np.repeat(mean[:blocks], size[:blocks])


def by_definition(y, weight):
    """f_i = max over a <= i of min over b >= i of the weighted mean of y_a, ..., y_b."""
    n = len(y)
    means = {(a, b): np.average(y[a : b + 1], weights=weight[a : b + 1]) for a in range(n) for b in range(a, n)}
    return np.array([max(min(means[a, b] for b in range(i, n)) for a in range(i + 1)) for i in range(n)])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 12])
def test_pooled_neighbours_are_the_least_squares(n):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y, weight = rng.integers(0, 5, size=n).astype(float), rng.integers(1, 4, size=n).astype(float)
        np.testing.assert_allclose(pooled(y, weight), by_definition(y, weight), rtol=1e-13, atol=1e-14)


def test_all_short_sequences_of_labels():
    for labels in itertools.product((0.0, 1.0), repeat=6):
        y = np.array(labels)
        np.testing.assert_allclose(pooled(y, np.ones(6)), by_definition(y, np.ones(6)), rtol=1e-13, atol=1e-14)


def test_equal_places_are_merged():
    x = np.array([0.0, 0.0, 1.0, 2.0, 2.0, 2.0])
    y, weight = np.array([0.0, 1.0, 5.0, 1.0, 1.0, 4.0]), np.array([1.0, 3.0, 1.0, 1.0, 1.0, 2.0])
    starts = np.empty(6, dtype=np.intp)
    assert merge_equal(x, y, weight, 1e-15, starts) == 3
    assert starts[:3].tolist() == [0, 2, 3] and weight[:3].tolist() == [4.0, 1.0, 4.0]
    np.testing.assert_allclose(y[:3], [0.75, 5.0, 2.5])
