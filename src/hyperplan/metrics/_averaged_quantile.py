"""Weighted quantiles, averaged where the distribution function is flat: the median of an even number of rows."""

import numpy as np


def averaged_quantile(values, weight, level) -> np.ndarray:
    """Quantile of each column of `values`: a minimiser of the weighted pinball loss, half-way when there are several.

    Rows of weight zero do not count; without weights the level 1/2 is the median.

    >>> import numpy as np
    >>> averaged_quantile(np.array([[1.0], [2.0], [4.0], [9.0]]), None, 0.5)
    array([3.])
    >>> averaged_quantile(np.array([[1.0], [2.0], [4.0], [9.0]]), np.array([1.0, 1.0, 0.0, 1.0]), 0.5)
    array([2.])
    """
    values = np.asarray(values, dtype=np.float64)
    if weight is None:
        if level == 0.5:
            return np.median(values, axis=0)
        return np.quantile(values, level, axis=0, method="averaged_inverted_cdf")
    kept = weight != 0
    values, weight = values[kept], weight[kept]
    return np.array([_of_column(column, weight, level) for column in values.T])


def _of_column(column, weight, level):
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(weight[order])
    target = level * reached[-1]
    low = min(int(np.searchsorted(reached, target)), column.shape[0] - 1)
    # Sums of weights are rounded: a level that is met but for that counts as met.
    is_flat = reached[low] - target <= np.finfo(np.float64).eps * reached[-1]
    high = min(low + is_flat, column.shape[0] - 1)
    return (column[order[low]] + column[order[high]]) / 2
