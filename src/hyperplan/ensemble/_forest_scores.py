"""Scores of out-of-bag predictions."""

import numpy as np


def r_squared(y, predicted) -> float:
    """Mean over outputs of ``1 - residual / total`` sum of squares; NaN below two rows, 1 or 0 for constant targets.

    >>> import numpy as np
    >>> r_squared(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]]))
    1.0
    """
    if y.shape[0] < 2:
        return float("nan")
    residual = ((y - predicted) ** 2).sum(axis=0)
    total = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 1.0 - residual / total
    return float(np.where(total > 0, shares, np.where(residual > 0, 0.0, 1.0)).mean())
