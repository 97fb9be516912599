"""Sorting by digits against NumPy's."""

import numpy as np
import pytest

from hyperplan._math._sorting_kernels import radix_sort


@pytest.mark.parametrize("n", [0, 1, 2, 255, 5000])
@pytest.mark.parametrize("kind", ["normal", "rounded", "huge", "equal"])
def test_radix_sort_is_sort(n, kind):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    if kind == "rounded":
        values = np.round(values)  # with -0.0
    if kind == "huge":
        values = np.concatenate([values * 1e300, values * 1e-310, [np.inf, -np.inf]])[: max(n, 2)]
    if kind == "equal":
        values[:] = 7.5
    found = values.copy()
    radix_sort(found.view(np.uint64), np.empty(found.shape[0], np.uint64))
    assert (found == np.sort(values)).all()
