"""Histogram and tree kernels against naive twins."""

from typing import NamedTuple

import numpy as np
import pytest

from hyperplan import thread_limit
from hyperplan._trees import _boosting_loss_kernels as passes
from hyperplan._trees import _boosting_predict_kernels as predict_kernels
from hyperplan._trees import _boosting_rows_kernels as rows_kernels
from hyperplan._trees import _histogram_kernels as k
from hyperplan._trees.binned_predictor import make_predictor, predict_raw
from hyperplan._trees.binning import bin_rows, fit_bins
from hyperplan._trees.boosting_grower import MARKED_ROWS, Grower
from hyperplan._trees.histogram import Constraints, GrowthOptions


def pack(g, h):
    return (g.astype(np.int64) << 32) + h


def free(d):
    return Constraints(np.zeros(d, np.int8), np.zeros((0, d), np.uint8))


def problem(n, d=5, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < missing] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=n)
    return X, y, (-y).astype(np.float32)


@pytest.mark.parametrize("n", [0, 1, 2, 257])
def test_histograms_are_sums_by_bin(n):
    rng = np.random.default_rng(n)
    bins = rng.integers(0, 20, size=(4, n))
    words = sum(bins[j].astype(np.uint32) << np.uint32(8 * j) for j in range(4)).astype(np.uint32)
    g, h = rng.integers(-1000, 1000, n), rng.integers(0, 1000, n)
    rows = np.flatnonzero(rng.random(n) < 0.6).astype(np.uint32)
    hist, counts = np.zeros((4, 20), np.int64), np.zeros((4, 20), np.int32)
    k.add_rows(words, pack(g, h), rows, 0, len(rows), hist)
    k.count_rows(words, rows, 0, len(rows), counts)
    for j in range(4):
        for b in range(20):
            inside = rows[bins[j, rows] == b]
            assert hist[j, b] >> 32 == g[inside].sum() and hist[j, b] & 0xFFFFFFFF == h[inside].sum()
            assert counts[j, b] == len(inside)
    everything = np.zeros((4, 20), np.int64)
    k.add_all_rows(words, pack(g, h), 0, n, everything)
    assert everything.sum() == 4 * pack(g, h).sum()


def test_quantised_sums_cannot_overflow():
    n = 1000
    gradient, hessian = np.full(n, -3e20, np.float32), np.full(n, 1e-20, np.float32)
    gradient[0] = 1e25
    packed = np.empty(n, np.int64)
    scale = (2**31 - 2 - n) / np.abs(gradient).sum(dtype=float), (2**31 - 2 - n) / hessian.sum(dtype=float)
    passes.quantise(gradient, hessian, *scale, 0, n, packed)
    high, low = packed >> 32, packed & 0xFFFFFFFF
    assert np.abs(high).sum() < 2**31 and 0 <= low.sum() < 2**32
    np.testing.assert_allclose(low / scale[1], hessian, rtol=1e-6)  # a million units a row


def brute_force(X, gradient, bin_map, data, min_leaf):
    """Best first split over all features and bins by its definition, hessians 1."""
    best = (0.0, -1, -1)
    g = gradient.astype(float)
    for f in range(X.shape[1]):
        column = data.column(f)
        for b in range(bin_map.n_bins[f] - 1):
            left = column <= b
            if min(left.sum(), (~left).sum()) < min_leaf:
                continue
            gain = g[left].sum() ** 2 / left.sum() + g[~left].sum() ** 2 / (~left).sum() - g.sum() ** 2 / len(g)
            if gain > best[0] + 1e-9:
                best = (gain, f, b)
    return best


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("constant", [True, False])
def test_the_root_split_is_the_best_one(n, constant):
    X, _, gradient = problem(n)
    bin_map = fit_bins(X, 32)
    data = bin_rows(X, bin_map)
    hessian = np.empty(0, np.float32) if constant else np.ones(n, np.float32)
    grower = Grower(data, GrowthOptions(max_leaves=2, min_samples_leaf=7), free(X.shape[1]), constant)
    leaves = grower.grow(gradient, hessian, (np.abs(gradient).sum(dtype=float), float(n)))
    tree = grower.tree(leaves, grower.newton_values(leaves))
    gain, feature, split_bin = brute_force(X, gradient, bin_map, data, 7)
    assert (tree.feature[0], tree.bin[0]) == (feature, split_bin)
    np.testing.assert_allclose(tree.gain[0], gain, rtol=1e-5)  # derivatives have 31 bits less log2(n)


@pytest.mark.parametrize("n", [700, 5000])
def test_min_samples_leaf_is_exact_with_unequal_hessians(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    gradient = np.where(np.arange(n) < 5, -1000.0, rng.normal(size=n)).astype(np.float32)  # a few rows to isolate
    X[:5, 0] = 50.0
    hessian = rng.uniform(0.5, 2, n).astype(np.float32)
    data = bin_rows(X[:n], fit_bins(X[:n], 255))
    grower = Grower(data, GrowthOptions(min_samples_leaf=11), free(3), False)
    sums = np.abs(gradient[:n]).sum(dtype=float), hessian[:n].sum(dtype=float)
    leaves = grower.grow(gradient[:n], hessian[:n], sums)
    assert np.diff(leaves.bounds).min() >= 11 and len(leaves.node) == 31
    np.testing.assert_allclose(leaves.sums[:, 1].sum(), hessian[:n].sum(dtype=float), rtol=1e-12)  # float64 sums


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_leaves_gains_and_predictions_fit_together(missing):
    X, _, gradient = problem(2000, missing=missing)
    bin_map = fit_bins(X, 255)
    data = bin_rows(X, bin_map)
    grower = Grower(data, GrowthOptions(l2=0.5), free(5), True)
    leaves = grower.grow(gradient, np.empty(0, np.float32), (np.abs(gradient).sum(dtype=float), 0.0))
    values = grower.newton_values(leaves)
    tree, raw = grower.tree(leaves, values), np.zeros(2000)
    grower.update(leaves, values, raw)
    predictor = make_predictor([tree], [0], bin_map, 1)
    assert (predict_raw(predictor, X, [0.0])[0] == raw).all()
    assert (predict_raw(predictor._replace(masks=None), X, [0.0])[0] == raw).all()
    term = leaves.sums[:, 0] ** 2 / (leaves.sums[:, 1] + 0.5)
    root = leaves.sums[:, 0].sum() ** 2 / (2000 + 0.5)
    np.testing.assert_allclose(term.sum(), root + tree.gain.sum(), rtol=1e-6)  # quantisation, 20 bits a row
    assert np.sort(grower.work.rows[:2000]).tolist() == list(range(2000))


@pytest.mark.parametrize("n_leaves", [2, 31, 33, 200, 400])
def test_masks_and_walks_agree_for_any_number_of_leaves(n_leaves):
    X, _, gradient = problem(3000, missing=0.1)
    bin_map = fit_bins(X, 255)
    grower = Grower(bin_rows(X, bin_map), GrowthOptions(max_leaves=n_leaves, min_samples_leaf=2), free(5), True)
    leaves = grower.grow(gradient, np.empty(0, np.float32), (np.abs(gradient).sum(dtype=float), 0.0))
    tree = grower.tree(leaves, grower.newton_values(leaves))
    assert tree.n_leaves == n_leaves
    predictor = make_predictor([tree, tree], [0, 0], bin_map, 1)
    assert (predictor.masks is None) == (n_leaves > 256)
    walked = predict_raw(predictor._replace(masks=None), X, [1.0])
    assert (predict_raw(predictor, X, [1.0]) == walked).all()
    assert (predict_raw(predictor, X[:3], [1.0]) == walked[:, :3]).all()


@pytest.mark.parametrize("n", [0, 1, 2, k.BLOCK - 1, k.BLOCK, k.BLOCK + 1, 3 * k.BLOCK + 7])
@pytest.mark.parametrize("n_words", [1, k.GROUP + 2])
def test_lines_give_the_histograms_of_words(n, n_words):
    rng = np.random.default_rng(n)
    words = rng.integers(0, 2**32, size=(n_words, 2 * n + 1), dtype=np.uint32)
    packed = pack(rng.integers(-1000, 1000, 2 * n + 1), rng.integers(0, 1000, 2 * n + 1))
    rows = np.sort(rng.choice(2 * n + 1, n, replace=False)).astype(np.uint32)
    lines = np.zeros((2 * n + 1, n_words), np.uint32)
    rows_kernels.fill_lines(words, 0, 2 * n + 1, lines)
    hist, counts = np.zeros((4 * n_words, 256), np.int64), np.zeros((4 * n_words, 256), np.int32)
    k.add_lines(lines, packed, rows, 0, n, 0, n_words, hist, counts, 1)
    for unit in range(n_words):
        sums, numbers = np.zeros((4, 256), np.int64), np.zeros((4, 256), np.int32)
        k.add_rows(words[unit], packed, rows, 0, n, sums)
        k.count_rows(words[unit], rows, 0, n, numbers)
        assert (hist[4 * unit : 4 * unit + 4] == sums).all() and (counts[4 * unit : 4 * unit + 4] == numbers).all()


@pytest.mark.parametrize("n, d", [(150_000, 9), (20_000, 120)], ids=["rows are shared", "features are shared"])
def test_threads_do_not_change_a_bit(n, d):
    X, _, gradient = problem(n, d=d)
    data = bin_rows(X, fit_bins(X, 255))
    hessian = np.random.default_rng(0).uniform(0.1, 1, len(X)).astype(np.float32)
    sums = np.abs(gradient).sum(dtype=float), hessian.sum(dtype=float)
    results = []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            grower = Grower(data, GrowthOptions(), free(d), False)
            leaves = grower.grow(gradient, hessian, sums)
            tree = grower.tree(leaves, grower.newton_values(leaves))
            results.append((tree.value.tobytes(), tree.feature.tobytes(), tree.bin.tobytes(), leaves.sums.tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_rows_of_parts_move_to_their_sides(n_parts):
    class Work(NamedTuple):
        rows: np.ndarray
        scratch: np.ndarray

    rng = np.random.default_rng(n_parts)
    before, bounds = 5, 5 + np.array([0, 7, 7, 20])[[0, *range(4 - n_parts, 4)]]
    rows, scratch = np.arange(30, dtype=np.uint32), np.zeros((2, 30), np.uint32)
    left, n_left = rng.random(30) < 0.4, np.zeros(n_parts, np.int64)
    for j in range(n_parts):
        inside = np.arange(bounds[j], bounds[j + 1])
        n_left[j] = left[inside].sum()
        scratch[0, bounds[j] : bounds[j] + n_left[j]] = inside[left[inside]]
        scratch[1, bounds[j] : bounds[j + 1] - n_left[j]] = inside[~left[inside]]
    work = Work(rows, scratch)
    for j in range(n_parts):
        rows_kernels.move_part(work, bounds, n_left, j)
    inside = np.arange(before, bounds[-1])
    assert (rows[before : bounds[-1]] == [*inside[left[inside]], *inside[~left[inside]]]).all()
    assert (rows[:before] == np.arange(before)).all() and (rows[bounds[-1] :] == np.arange(bounds[-1], 30)).all()


@pytest.mark.parametrize("n", [1, 2, 257])
def test_leaves_left_by_the_tests(n):
    """Byte masks: rows that go right lose the leaves of the left side, and the lowest leaf left is theirs."""
    rng = np.random.default_rng(n)
    bins, planes = rng.integers(0, 256, n).astype(np.uint8), rng.integers(0, 256, (4, n)).astype(np.uint8)
    planes[3] |= 128  # the last leaf is never cleared
    planes[:3, rng.random(n) < 0.5] = 0
    keep, first, span = np.uint8(0b11100011), np.uint8(100), np.uint8(50)
    wanted = planes[1] & np.where((bins >= 100) & (bins < 150), keep, np.uint8(255))
    predict_kernels.clear_right(bins, first, span, keep, planes[1])
    assert (planes[1] == wanted).all()
    leaf, masks = np.empty(n, np.uint8), planes.T.copy().view("<u4")[:, 0].tolist()
    predict_kernels.find_first_of_four(planes, leaf)
    assert leaf.tolist() == [(mask & -mask).bit_length() - 1 for mask in masks]
    values, out = rng.normal(size=32), np.zeros(n)
    predict_kernels.add_values(leaf, values, n, out)
    assert (out == values[leaf]).all()


def test_threads_do_not_change_a_bit_of_many_rows():
    """Threads share the rows of nodes, and rows are told their leaves."""
    X, y, gradient = problem(2 * MARKED_ROWS + 7, d=3, missing=0.1)
    hessian = (0.5 + 0.5 * np.abs(np.sin(y))).astype(np.float32)
    sums, found = np.array([np.abs(gradient).sum(dtype=float), hessian.sum(dtype=float)]), []
    for n_jobs in (1, 2, 3):
        with thread_limit(n_jobs):
            grower = Grower(bin_rows(X, fit_bins(X, 60)), GrowthOptions(max_leaves=40), free(3), False)
            leaves = grower.grow(gradient, hessian, sums)
            raw = y.copy()
            grower.update(leaves, grower.newton_values(leaves), raw)
            found.append((grower.work.rows.copy(), leaves.sums, raw))
    assert found[0][1].shape[0] == 40
    for other in found[1:]:
        assert all((a == b).all() for a, b in zip(found[0], other))
