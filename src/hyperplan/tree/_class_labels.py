"""Labels of one or several outputs as codes, and the prices of confusing them."""

import numpy as np


def encoded(y):
    """Sorted classes of each output, and codes of shape (n, n_outputs)."""
    pairs = [np.unique(y[:, k], return_inverse=True) for k in range(y.shape[1])]
    return [classes for classes, _ in pairs], np.column_stack([codes.ravel() for _, codes in pairs])


def cost_matrix(class_cost, classes):
    """``cost[i, j]``: price of answering j where i is true, from a dict, a vector (price of missing i) or a matrix.

    >>> cost_matrix({"sick": 5.0}, ["healthy", "sick"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    n = len(classes)
    if isinstance(class_cost, dict):
        class_cost = [class_cost.get(label, 1.0) for label in classes]
    cost = np.asarray(class_cost, dtype=np.float64)
    if cost.shape == (n,):
        cost = np.repeat(cost[:, None], n, axis=1) * (1.0 - np.eye(n))
    if cost.shape != (n, n) or not np.isfinite(cost).all() or (cost < 0).any():
        raise ValueError(
            f"class_cost must give non-negative prices for {n} classes: a dict, {n} numbers or an {n} x {n} matrix, "
            f"got an array of shape {cost.shape}"
        )
    return cost
