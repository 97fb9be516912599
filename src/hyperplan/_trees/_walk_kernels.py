"""Walking rows down a tree.  X is float32 in any memory order, one row per observation."""

import math

from hyperplan._core.jit import view_kernel


@view_kernel
def leaf_of_rows(X, left, right, feature, threshold, missing_left, leaves):  # OUT: leaves
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            x = X[i, feature[node]]
            if math.isnan(x):
                node = left[node] if missing_left[node] else right[node]
            else:
                node = left[node] if x <= threshold[node] else right[node]
        leaves[i] = node


@view_kernel
def node_depths(parent, depth):  # OUT: depth
    """Children come after their parents."""
    for i in range(parent.shape[0]):
        depth[i] = 0 if parent[i] < 0 else depth[parent[i]] + 1


@view_kernel
def path_lengths(leaves, depth, indptr):  # OUT: indptr
    for i in range(leaves.shape[0]):
        indptr[i + 1] = indptr[i] + depth[leaves[i]] + 1


@view_kernel
def path_nodes(leaves, parent, indptr, indices):  # OUT: indices
    """From the root to the leaf."""
    for i in range(leaves.shape[0]):
        node = leaves[i]
        for k in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
            indices[k] = node
            node = parent[node]
