"""Kernels of score metrics against naive twins, and the groups and chunks they run in."""

import numpy as np
import pytest

from hyperplan.metrics import _score_order, auc, roc_auc_score
from hyperplan.metrics._score_order import ordered_keys, sort_rows, sort_with_labels
from hyperplan.metrics._score_order_kernels import concordance
from hyperplan.metrics._thresholds import counts_at_thresholds

CHUNK = 64
SIZES = [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]
KINDS = ["normal", "tied", "huge", "equal", "zeros", "float32", "integer"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of 64 rows and groups of 16, so that small data has several of both."""
    monkeypatch.setattr(_score_order, "CHUNK", CHUNK)
    monkeypatch.setattr(_score_order, "GROUP", 16)


def data(kind, n):
    rng = np.random.default_rng(n)
    scores = {
        "normal": lambda: rng.normal(size=n),
        "tied": lambda: np.round(rng.normal(size=n), 1),
        "huge": lambda: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
        "equal": lambda: np.full(n, -2.5),
        "zeros": lambda: np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "float32": lambda: rng.normal(size=n).astype(np.float32),
        "integer": lambda: rng.integers(-3, 4, n),
    }[kind]()
    return scores, rng.integers(0, 2, n).astype(np.uint8), rng.integers(1, 9, n) / 4


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_keys_order_scores(n, kind):
    scores, positive, _ = data(kind, n)
    keys, low, high = ordered_keys(scores)
    np.testing.assert_array_equal(np.argsort(keys, kind="stable"), np.argsort(scores, kind="stable"))
    assert (low, high) == (keys.min(), keys.max())
    ordered, rows = sort_rows(keys, low, high)
    np.testing.assert_array_equal(ordered, np.sort(keys))
    np.testing.assert_array_equal(rows, np.argsort(scores, kind="stable"))
    packed, bounds, bases = sort_with_labels(keys, low, high, positive)
    unpacked = np.concatenate([(packed[a:b] >> np.uint64(1)) + base for a, b, base in zip(bounds, bounds[1:], bases)])
    np.testing.assert_array_equal(unpacked, np.sort(keys))
    np.testing.assert_array_equal(packed & np.uint64(1), positive[np.lexsort((positive, scores))])


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found(value):
    assert ordered_keys(np.array([0.5, value, -0.5])) is None


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_at_thresholds(n, kind, weighted):
    scores, positive, weight = data(kind, n)
    fps, tps, thresholds = counts_at_thresholds(positive, scores, 1, weight if weighted else None)
    weight = weight if weighted else np.ones(n)
    naive = np.unique(scores)[::-1]
    np.testing.assert_array_equal(thresholds, naive)
    assert thresholds.dtype == scores.dtype
    np.testing.assert_array_equal(tps, [weight[(scores >= t) & (positive == 1)].sum() for t in naive])
    np.testing.assert_array_equal(fps, [weight[(scores >= t) & (positive == 0)].sum() for t in naive])


@pytest.mark.parametrize("n", [2, CHUNK, 3 * CHUNK + 7])
@pytest.mark.parametrize("kind", KINDS)
def test_the_area_is_the_share_of_pairs_in_order(n, kind):
    scores, positive, _ = data(kind, n)
    positive[:2] = [0, 1]
    above, below = scores[positive == 1][:, np.newaxis], scores[positive == 0]
    pairs = np.sum(above > below) + np.sum(above == below) / 2
    assert roc_auc_score(positive, scores) == pairs / (above.size * below.size)
    fps, tps, _ = counts_at_thresholds(positive, scores, 1)
    area = auc(np.append(0, fps), np.append(0, tps))
    assert area == pairs


def test_an_empty_group_has_no_pairs():
    totals = np.empty(3, np.int64)
    concordance(np.empty(0, np.uint64), totals)
    assert totals.tolist() == [0, 0, 0]
