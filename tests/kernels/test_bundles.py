"""Bundles of exclusive features: nothing is lost without conflicts, and conflicts stay within their limit."""

import numpy as np
import pytest

from hyperplan._trees import _bundle_kernels as k
from hyperplan._trees.binning import bin_rows, fit_bins
from hyperplan._trees.boosting_grower import Grower
from hyperplan._trees.bundles import make_bundles
from hyperplan._trees.histogram import Constraints, GrowthOptions


def one_hot(n, levels, seed=0, noise=2):
    """Blocks of indicator columns (times a few values), and dense columns."""
    rng = np.random.default_rng(seed)
    blocks = []
    for count in levels:
        code = rng.integers(0, count, n)
        blocks.append((code[:, None] == np.arange(count)) * rng.integers(1, 4, (n, 1)))
    return np.hstack([*blocks, rng.normal(size=(n, noise))]).astype(float)


def grown(data, gradient, hessian, rate, constant=False):
    d = data.n_features
    options = GrowthOptions(max_conflict_rate=rate, min_samples_leaf=5)
    grower = Grower(data, options, Constraints(np.zeros(d, np.int8), np.zeros((0, d), np.uint8)), constant)
    leaves = grower.grow(gradient, hessian, (np.abs(gradient).sum(dtype=float), hessian.sum(dtype=float)))
    return grower, grower.tree(leaves, grower.newton_values(leaves))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000])
def test_masks_and_common_rows(n):
    rng = np.random.default_rng(n)
    words = rng.integers(0, 2**32, n, dtype=np.uint32) & np.uint32(0x01010101)
    masks = np.empty((2, -(-n // 64)), np.uint64)
    bins = [(words >> np.uint32(8 * j)) & np.uint32(255) for j in range(2)]
    for j in range(2):
        assert k.mark_rows(words, np.uint32(8 * j), 1, masks[j]) == (bins[j] != 1).sum()
    both = int(((bins[0] != 1) & (bins[1] != 1)).sum())
    assert k.common_rows(masks[0], masks[1], n) == both
    assert both == 0 or k.common_rows(masks[0], masks[1], both - 1) >= both


def test_features_of_a_bundle_never_meet_and_the_columns_tell_their_bins():
    X = one_hot(3000, (6, 9, 12))
    data = bin_rows(X, fit_bins(X, 255))
    kept, bundles = make_bundles(data, 0.0)
    assert kept is data and bundles.member_start.shape[0] - 1 < 10  # 27 indicators and two dense columns
    columns = np.stack(
        [(bundles.words[c // 4] >> np.uint32(8 * (c % 4))) & 255 for c in range(bundles.column.max() + 1)]
    )
    for f in range(X.shape[1]):
        code, bins, usual = columns[bundles.column[f]].astype(int), data.column(f).astype(int), bundles.usual[f]
        if usual < 0:
            assert (code == bins).all()
            continue
        found = code - bundles.offset[f]
        inside = (found >= 0) & (found < data.n_bins[f] - 1)
        assert (np.where(inside, found + (found >= usual), usual) == bins).all()


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("indicators", [True, False])
def test_trees_are_the_same_bit_for_bit(constant, indicators):
    X = one_hot(4000, (5, 8, 20, 30))
    if indicators:  # columns of nothing but features with two bins have a scan of their own
        X[:, :-2] = X[:, :-2] != 0
    rng = np.random.default_rng(1)
    gradient = (X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))).astype(np.float32)
    hessian = np.empty(0, np.float32) if constant else rng.uniform(0.1, 1, len(X)).astype(np.float32)
    data = bin_rows(X, fit_bins(X, 255))
    (plain, a), (bundled, b) = (grown(data, gradient, hessian, rate, constant) for rate in (None, 0.0))
    assert bundled.n_columns < plain.n_columns / 4 and bundled.work.indicators.any() == indicators
    assert all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a._fields)


def test_conflicts_are_limited_and_resolved_in_the_rows_too():
    rng = np.random.default_rng(2)
    X = (rng.random((2000, 12)) < 0.02) * rng.integers(1, 5, (2000, 12))  # pairs meet in about one row
    data = bin_rows(X.astype(float), fit_bins(X.astype(float), 255))
    _, strict = make_bundles(data, 0.0)
    resolved, loose = make_bundles(data, 0.02)
    assert loose.member_start.shape[0] < strict.member_start.shape[0] <= 13
    changed = sum(int((resolved.column(f) != data.column(f)).sum()) for f in range(12))
    bundles = np.count_nonzero(np.diff(loose.member_start) > 1)
    assert 0 < changed <= 0.02 * 2000 * bundles * 2  # a row may be met by more than one feature
    gradient, hessian = rng.normal(size=2000).astype(np.float32), np.ones(2000, np.float32)
    (_, a), (_, b) = grown(data, gradient, hessian, 0.02), grown(resolved, gradient, hessian, None)
    assert all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a._fields)


def test_dense_missing_and_categorical_features_stay_alone():
    X = one_hot(500, (4, 4))
    X[3, 0] = np.nan
    data = bin_rows(X, fit_bins(X, 255, categories=[None, 4, *[None] * 8]))
    _, bundles = make_bundles(data, 0.0)
    assert (bundles.usual[[0, 1, 8, 9]] == -1).all() and (bundles.usual[[4, 5, 6, 7]] >= 0).all()
