"""Oblique splits ``<w, x> <= s``: projections and walks.  X is float32, one row per observation, any memory order."""

from hyperplan._core.jit import kernel

FIRST_DIRECTION = -3  # `feature` of a node that asks for direction k is FIRST_DIRECTION - k


@kernel
def project(X, i, weights):
    """Product of row i with a direction, summed from the first column to the last."""
    total = 0.0
    for j in range(weights.shape[0]):
        total += weights[j] * X[i, j]
    return total


@kernel
def project_rows(X, rows, weights, found):  # OUT: found
    for p in range(rows.shape[0]):
        found[p] = project(X, rows[p], weights)


@kernel
def oblique_leaves(X, left, right, feature, threshold, weights, leaves):  # OUT: leaves
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            f = feature[node]
            x = X[i, f] if f >= 0 else project(X, i, weights[FIRST_DIRECTION - f])
            node = left[node] if x <= threshold[node] else right[node]
        leaves[i] = node
