"""Choice of a bandwidth: rules of thumb, and the least of a loss on a grid refined by golden section."""

import math
from typing import NamedTuple

import numpy as np

OCTAVES = (-5, 4)  # the grid goes from the start divided by 32 to the start times 16
PER_OCTAVE = 2
PATIENCE = 5  # steps up the grid without a gain after which wider bandwidths, which cost most, are not tried
CLOSE = 1.01  # ratio of the ends of the bracket at the end
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Chosen(NamedTuple):
    """The bandwidth with the least loss, that loss, and all pairs (bandwidth, loss) tried, by bandwidth."""

    bandwidth: float
    loss: float
    curve: np.ndarray


def scott_factor(n, d):
    """Scott's rule: a bandwidth in units of the columns' deviation."""
    return n ** (-1.0 / (d + 4))


def silverman_factor(n, d):
    """Silverman's rule: a bandwidth in units of the columns' deviation."""
    return (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))


def typical_deviation(X, weight=None):
    """Root of the mean variance of the columns; 1 if all rows are equal."""
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    return math.sqrt(float(variance.mean())) or 1.0


def best_bandwidth(loss, start) -> Chosen:
    """Least of ``loss(bandwidth)`` on a grid of half octaves around `start`, then by golden section in logarithms.

    The grid is walked upwards, until five bandwidths in a row were no better than the best before them.  A loss that is
    not finite counts as infinite.  Where the best of the grid is at one of its ends it is kept.
    """
    tried = {}

    def value(exponent):
        bandwidth = start * 2.0**exponent
        if bandwidth not in tried:
            found = float(loss(bandwidth))
            tried[bandwidth] = found if math.isfinite(found) else math.inf
        return tried[bandwidth]

    grid = np.arange(OCTAVES[0] * PER_OCTAVE, OCTAVES[1] * PER_OCTAVE + 1) / PER_OCTAVE
    best = 0
    for place, exponent in enumerate(grid):
        if value(exponent) < value(grid[best]):
            best = place
        if math.isfinite(value(grid[best])) and place - best >= PATIENCE:
            break
    if 0 < best < len(grid) - 1 and math.isfinite(value(grid[best])):
        _golden(value, grid[best - 1], grid[best + 1])
    bandwidths = sorted(tried)
    least = min(bandwidths, key=lambda bandwidth: (tried[bandwidth], bandwidth))
    return Chosen(least, tried[least], np.array([(bandwidth, tried[bandwidth]) for bandwidth in bandwidths]))


def _golden(value, low, high):
    """Golden section: `value` remembers what was tried."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    while 2.0 ** (high - low) > CLOSE:
        if value(left) <= value(right):
            high, right = right, left
            left = high - GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + GOLDEN * (high - low)
