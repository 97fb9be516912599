"""Running means by category against their definition."""

import numpy as np
import pytest

from hyperplan.ensemble._target_statistics_kernels import ordered_means


def by_definition(order, codes, target, weight, smoothing):
    out = np.full(len(codes), np.nan)
    for place, i in enumerate(order):
        if codes[i] >= 0:
            before = [j for j in order[:place] if codes[j] == codes[i]]
            out[i] = (weight[before] * target[before]).sum() / (weight[before].sum() + smoothing)
    return out


@pytest.mark.parametrize("n", [0, 1, 2, 7, 60])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.5, 3.0])
def test_means_of_the_rows_before(n, weighted, smoothing):
    rng = np.random.default_rng(n)
    codes, target = rng.integers(-1, 4, n), rng.normal(size=n)
    weight = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    order = rng.permutation(n)
    sums, counts, out = np.zeros(4), np.zeros(4), np.empty(n, np.float32)
    ordered_means(order, codes, target, weight if weighted else np.empty(0), smoothing, sums, counts, out)
    # float32 numbers; sums in another order
    np.testing.assert_allclose(out, by_definition(order, codes, target, weight, smoothing), rtol=1e-6, atol=1e-7)
    known = codes >= 0
    np.testing.assert_allclose(counts, np.bincount(codes[known], weight[known], minlength=4))
    np.testing.assert_allclose(sums, np.bincount(codes[known], (weight * target)[known], minlength=4), atol=1e-12)
