"""Rows of probabilities: what they give the true class, and how far they are from it."""

import numpy as np

from hyperplan._core.jit import fast_kernel


@fast_kernel
def pick_true(proba, codes, picked):  # OUT: picked
    """Probability of the true class of each row; returns how far a row's sum is from one at most."""
    # proba: (n, k) float32 or float64, C order; codes: (n,) int64; picked: (n,) float64
    worst = 0.0
    for i in range(proba.shape[0]):
        total = 0.0
        for c in range(proba.shape[1]):
            total += np.float64(proba[i, c])
        worst = max(worst, abs(total - 1.0))
        picked[i] = proba[i, codes[i]]
    return worst


@fast_kernel
def squared_distances(proba, codes, distances):  # OUT: distances
    """Squared distance of each row from the corner of its true class; returns as `pick_true`."""
    # as in `pick_true`
    worst = 0.0
    for i in range(proba.shape[0]):
        total, squares, true = 0.0, 0.0, codes[i]
        for c in range(proba.shape[1]):
            p = np.float64(proba[i, c])
            miss = p - (1.0 if c == true else 0.0)
            total += p
            squares += miss * miss
        worst = max(worst, abs(total - 1.0))
        distances[i] = squares
    return worst
