"""Kernels of label metrics against naive twins, and the chunks they run in."""

import numpy as np
import pytest

from hyperplan.metrics import _labels, _pair_counts, accuracy_score, confusion_matrix
from hyperplan.metrics._confusion_kernels import count_pairs, weigh_pairs
from hyperplan.metrics._labels_kernels import code_rows, look_up, mark_seen

CHUNK = 64
SIZES = [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 64 rows, so that small data has several."""
    monkeypatch.setattr(_labels, "CHUNK", CHUNK)
    monkeypatch.setattr(_pair_counts, "CHUNK", CHUNK)


@pytest.mark.parametrize("n", [0, *SIZES])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_look_ups_follow_the_table(n, dtype):
    values = np.random.default_rng(n).integers(3, 9, n).astype(dtype)
    seen = np.zeros(6, np.uint8)
    mark_seen(values, 3, seen)
    assert set(np.flatnonzero(seen) + 3) == set(values.tolist())
    codes, table = np.empty(n, np.int64), np.array([5, 4, 3, 2, 1, 0])
    look_up(values, 3, table, codes)
    np.testing.assert_array_equal(codes, 8 - values.astype(np.int64))


@pytest.mark.parametrize("n", [0, *SIZES])
def test_rows_are_coded_in_order_of_appearance(n):
    rows = np.random.default_rng(n).integers(0, 3, (n, 2)).astype(np.uint32)
    slots, firsts, codes = np.full(64, -1), np.empty(16, np.int64), np.empty(n, np.int64)
    found = code_rows(rows, slots, firsts, codes)
    known: dict = {}
    naive = [known.setdefault(tuple(row), len(known)) for row in rows.tolist()]
    assert found == len(known) and codes.tolist() == naive
    assert [tuple(rows[i].tolist()) for i in firsts[:found]] == list(known)


def test_too_many_distinct_rows_are_reported():
    rows = np.arange(20, dtype=np.uint32).reshape(-1, 1)
    assert code_rows(rows, np.full(64, -1), np.empty(16, np.int64), np.empty(20, np.int64)) == -1


@pytest.mark.parametrize("n", [0, *SIZES])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_pairs_are_counted_and_weighed(n, dtype):
    rng = np.random.default_rng(n)
    first, second = (rng.integers(1, 6, n).astype(dtype) for _ in range(2))
    weight = rng.integers(1, 9, n) / 4  # sums of quarters are exact
    naive, sums = np.zeros((3, 3), int), np.zeros((3, 3))
    for a, b, w in zip(first.astype(int) - 2, second.astype(int) - 2, weight):
        if 0 <= a < 3 and 0 <= b < 3:  # 1 and 5 are outside
            naive[a, b] += 1
            sums[a, b] += w
    counts, found = np.zeros((2, 9), np.int64), np.zeros(9)
    count_pairs(first, second, 2, 3, counts)
    weigh_pairs(first, second, 2, 3, weight, found)
    np.testing.assert_array_equal(counts.sum(axis=0).reshape(3, 3), naive)
    np.testing.assert_array_equal(found.reshape(3, 3), sums)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["int64", "int16", "bool", "float", "str", "object", "far apart", "many"])
def test_chunks_do_not_change_counts(n, kind, small_chunks):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2 if kind == "bool" else 600 if kind == "many" else 4, (2, n))
    names = {
        "str": np.array(["b", "cc", "", "añ"]),
        "object": np.array(["b", "cc", "", "añ"], object),
        "far apart": np.array([-(10**15), 3, 10**15, 0]),
    }
    values = names[kind][codes] if kind in names else codes.astype({"many": "int64"}.get(kind, kind))
    labels = sorted(set(values.ravel().tolist()))
    naive = np.zeros((len(labels), len(labels)), int)
    for a, b in zip(*values.tolist()):
        naive[labels.index(a), labels.index(b)] += 1
    found = confusion_matrix(values[0], values[1], labels=labels)
    np.testing.assert_array_equal(found, naive)
    assert accuracy_score(values[0], values[1], normalize=False) == np.trace(naive)
