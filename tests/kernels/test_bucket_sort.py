"""Sorting by buckets against NumPy's."""

import numpy as np
import pytest

from hyperplan._math._bucket_sort_kernels import sort_keys, sort_pairs


def keys_of(kind, n):
    rng = np.random.default_rng(n)
    return {
        "uniform": lambda: rng.integers(0, 2**64, n, dtype=np.uint64, endpoint=False),
        "few": lambda: rng.integers(0, 3, n).astype(np.uint64),
        "equal": lambda: np.full(n, 7, np.uint64),
        "powers": lambda: np.uint64(1) << rng.integers(0, 64, n).astype(np.uint64),  # a cluster within each cluster
        "normal": lambda: rng.normal(size=n).view(np.uint64),
        "sorted": lambda: np.arange(n, dtype=np.uint64),
        "outlier": lambda: np.where(np.arange(n) == n // 2, 2**63, np.arange(n)).astype(np.uint64),
    }[kind]()


def scratch(n, buckets):
    return np.empty(max(16, buckets), np.int64), np.empty((n // 16 + 1, 2), np.int64)


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 33, 1000])
@pytest.mark.parametrize("kind", ["uniform", "few", "equal", "powers", "normal", "sorted", "outlier"])
def test_keys_are_sorted_and_pairs_keep_the_order_of_equals(n, kind):
    keys = keys_of(kind, n)
    for buckets in (16, n):
        found = keys.copy()
        sort_keys(found, np.empty_like(keys), *scratch(n, buckets))
        np.testing.assert_array_equal(found, np.sort(keys))
        found, rows = keys.copy(), np.arange(n)
        sort_pairs(found, rows, np.empty_like(keys), np.empty_like(rows), *scratch(n, buckets))
        np.testing.assert_array_equal(rows, np.argsort(keys, kind="stable"))
        np.testing.assert_array_equal(found, keys[rows])
