"""Bounds of gains against the exact ones."""

from typing import NamedTuple

import numpy as np
import pytest

from hyperplan._trees import _boosting_scan_kernels as scan
from hyperplan._trees import _histogram_kernels as k
from hyperplan._trees._rules_kernels import Rules


def rules(l2=0.0, min_hessian=1.0, min_gain=0.0):
    options = {name: 0 for name in Rules._fields}
    return Rules(**{**options, "l2": l2, "min_hessian": min_hessian, "min_gain": min_gain, "min_samples": 1})


def histogram(n_bins, seed, missing, empty=0.3, size=2000):
    rng = np.random.default_rng(seed)
    g, h = rng.integers(-size, size, n_bins + 1), rng.integers(1, size, n_bins + 1)
    hist = (g.astype(np.int64) << 32) + h
    hist[rng.random(n_bins + 1) < empty] = 0
    hist[n_bins] *= missing
    return hist


def exact_and_bound(hist, n_bins, missing, rule):
    total, room = hist.sum(), n_bins + 2
    out = np.zeros(1), np.zeros(1, np.int32), np.zeros(1, np.uint8), np.zeros(1, np.int64)
    work = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
    facts = total, 1000, 0, -np.inf, np.inf
    k.scan_numbers(hist, np.zeros(1, np.int32), n_bins, missing, n_bins, facts, rule, work, 0, out)
    prefix, gains = np.empty(room, np.int64), np.empty(room, np.float32)
    rough = prefix, prefix.view(np.int32), gains, gains.view(np.int32)
    return out[0][0], k.bound_numbers(hist, n_bins, missing, n_bins, total, rule, rough), total


@pytest.mark.parametrize("n_bins", [2, 3, 17, 64, 255])
@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("options", [{}, {"l2": 300.0}, {"min_hessian": 20_000.5}, {"min_gain": 50.0}], ids=str)
def test_bounds_are_just_above_exact_gains(n_bins, missing, options):
    for seed in range(8):
        exact, bound, total = exact_and_bound(histogram(n_bins, seed, missing), n_bins, missing, rules(**options))
        if exact > 0:
            parent = float(total >> 32) ** 2 / float(total & 0xFFFFFFFF)
            assert exact <= bound <= exact + 2 * k.MARGIN * (exact + parent)
        else:
            assert exact == -1.0 and bound <= 2 * k.MARGIN * float(total >> 32) ** 2


@pytest.mark.parametrize("scale", [1.0, 2.0**20])
def test_bounds_hold_for_the_largest_sums(scale):
    hist = histogram(255, 0, 0, empty=0.0, size=int(2**31 / 256 / 2.0**20 * scale))
    exact, bound, _ = exact_and_bound(hist, 255, 0, rules())
    assert 0 < exact <= bound < exact * (1 + 1e-3)


class Node(NamedTuple):
    start: np.ndarray
    stop: np.ndarray


class Rows(NamedTuple):
    rows: np.ndarray


@pytest.mark.parametrize("n", [5, 19, 20, 21, 300, scan.FEW_ROWS + 1])
def test_a_side_has_at_least_the_hessian_of_its_lightest_rows(n):
    rng = np.random.default_rng(n)
    h = rng.integers(0, 1000, 2 * n)
    packed = (rng.integers(-1000, 1000, 2 * n) << 32) + h
    rows = np.sort(rng.permutation(2 * n)[:n]).astype(np.uint32)
    asked = rules(min_hessian=3.5)._replace(min_samples=20)
    found = scan.rules_of(packed, Node(np.array([0]), np.array([n])), 0, asked, Rows(rows))
    expected = np.sort(h[rows])[:20].sum() if 20 <= n <= scan.FEW_ROWS else 3.5
    assert found == asked._replace(min_hessian=max(3.5, float(expected)))
    counted = asked._replace(hessian_counts=1)
    assert scan.rules_of(packed, Node(np.array([0]), np.array([n])), 0, counted, Rows(rows)) == counted
