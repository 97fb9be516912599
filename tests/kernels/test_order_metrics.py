"""Metrics of the order of scores against pairs and sums written out."""

import numpy as np
import pytest

from hyperplan.evaluation._order_kernels import average_precisions, roc_areas

SIZES = [0, 1, 2, 3, 8, 31, 100]


def arranged(n, n_values, seed=0):
    """Weights of three weightings (one of them counts with zeros), and the rows in ascending order of their scores."""
    rng = np.random.default_rng(seed)
    score, positive = rng.integers(0, n_values, size=n), rng.integers(0, 2, size=n).astype(float)
    weights = np.vstack([np.ones(n), rng.uniform(size=n), rng.integers(0, 3, size=n)]).reshape(3, n)
    order = np.argsort(score, kind="stable")
    starts = np.r_[True, np.diff(score[order]) != 0][:n]
    return weights, order, positive, score, starts


def naive_area(weight, positive, score):
    up, down = positive == 1, positive == 0
    if not weight[up].sum() or not weight[down].sum():
        return np.nan
    wins = (score[up][:, None] > score[down]) + 0.5 * (score[up][:, None] == score[down])
    return weight[up] @ wins @ weight[down] / weight[up].sum() / weight[down].sum()


def naive_precision(weight, positive, score):
    total = (weight * positive).sum()
    if not total:
        return np.nan
    area = 0.0
    for value in np.unique(score):
        kept = score >= value
        if weight[kept].sum():
            here = (weight * positive)[score == value].sum()
            area += here / total * (weight * positive)[kept].sum() / weight[kept].sum()
    return area


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_values", [1, 4, 10**6])
@pytest.mark.parametrize("kernel, naive", [(roc_areas, naive_area), (average_precisions, naive_precision)])
def test_kernels_equal_their_definition(n, n_values, kernel, naive):
    weights, order, positive, score, starts = arranged(n, n_values, seed=n)
    found = np.empty(3)
    kernel(weights, order, positive[order], starts, found)
    expected = [naive(weight, positive, score) for weight in weights]
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # sums in another order
