"""Votes and means over lists of neighbours: those of query i are the entries starts[i] to starts[i + 1] - 1."""

import numpy as np

from hyperplan._core.jit import kernel


@kernel
def invert_lists(starts, distances, weights):  # OUT: weights
    """weights = 1 / distances; where one of a list is zero, those that are have the weight 1 and the others 0."""
    for i in range(starts.shape[0] - 1):
        touches = False
        for j in range(starts[i], starts[i + 1]):
            weights[j] = 1.0 / distances[j]
            touches |= weights[j] == np.inf
        if touches:
            for j in range(starts[i], starts[i + 1]):
                weights[j] = 1.0 if weights[j] == np.inf else 0.0


@kernel
def add_votes(codes, starts, rows, weights, votes):  # OUT: votes
    """votes[i, c] = weight of the neighbours of class c; without weights (an empty array) each counts one."""
    # codes: (n,) int64; starts: (m + 1,) int64; rows: int64; votes: (m, n_classes) float64, zero
    for i in range(votes.shape[0]):
        for j in range(starts[i], starts[i + 1]):
            votes[i, codes[rows[j]]] += weights[j] if weights.shape[0] > 0 else 1.0


@kernel
def average(y, starts, rows, weights, means):  # OUT: means
    """means[i, t] = weighted mean of target t over the neighbours; NaN for an empty list."""
    # y: (n, n_targets) float64, C order; means: (m, n_targets) float64, zero
    for i in range(means.shape[0]):
        total = 0.0
        for j in range(starts[i], starts[i + 1]):
            weight = weights[j] if weights.shape[0] > 0 else 1.0
            total += weight
            for t in range(means.shape[1]):
                means[i, t] += weight * y[rows[j], t]
        for t in range(means.shape[1]):
            means[i, t] /= total
