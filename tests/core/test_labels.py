"""Labels become codes; whole numbers close together are counted instead of sorted."""

import numpy as np
import pytest

from hyperplan._base.labels import SHORT_RANGE, encode_labels

KINDS = [bool, np.int8, np.uint8, np.int16, np.int64, np.uint64]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 1000])
def test_whole_numbers_have_the_codes_of_sorting(kind, n):
    signed = np.dtype(kind).kind == "i"
    values = np.array([0, 1] if kind is bool else [-100, 0, 27] if signed else [0, 3, 100])
    y = np.random.default_rng(n).choice(values, n).astype(kind)
    found = encode_labels(y, min_classes=1)
    classes, codes = np.unique(y, return_inverse=True)
    assert found.classes.dtype == y.dtype and found.codes.dtype == np.intp
    np.testing.assert_array_equal(found.classes, classes)
    np.testing.assert_array_equal(found.codes, codes)


@pytest.mark.parametrize("high", [SHORT_RANGE - 1, SHORT_RANGE, 2**62])
def test_numbers_far_apart_are_sorted(high):
    y = np.array([high, -5, high, high, -5, -5, -5])
    found = encode_labels(y)
    assert found.classes.tolist() == [-5, high] and found.codes.tolist() == [1, 0, 1, 1, 0, 0, 0]
