"""A grown tree written to its place in the record of a forest; see `forest_record`."""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel
from hyperplan._trees._forest_kernels import (
    FEATURE,
    IMPURITY,
    LEFT,
    MISSING_LEFT,
    N_ROWS,
    RIGHT,
    THRESHOLD,
    VALUES,
    WEIGHT,
)
from hyperplan._trees._forest_walk_kernels import FEATURE as WALK_FEATURE
from hyperplan._trees._forest_walk_kernels import LEFT as WALK_LEFT
from hyperplan._trees._forest_walk_kernels import MISSING_RIGHT
from hyperplan._trees._forest_walk_kernels import THRESHOLD as WALK_THRESHOLD

LOWEST = np.float32(-np.inf)


@inner_kernel
def rounded_down(threshold):
    """A float32 x is <= threshold if it is <= the largest float32 that is not above it."""
    near = np.float32(threshold)
    return np.nextafter(near, LOWEST) if np.float64(near) > threshold else near


@inner_kernel
def copy_values(reals, i, target, k):  # OUT: target
    for c in range(target.shape[1]):
        target[k, c] = reals[i, VALUES + c]


@view_kernel
def write_tree(
    ints, reals, root, leaf, table, cut, values, inner_values, threshold, impurity, n_rows, weight
):  # OUT: all but the first four
    """Nodes, leaves and inner nodes of the trees before fill the arrays up to `root`, `leaf` and ``root - leaf``."""
    inner = root - leaf
    for i in range(ints.shape[0]):
        at = root + i
        impurity[at], n_rows[at] = reals[i, IMPURITY], ints[i, N_ROWS]
        if weight.shape[0] > 0:
            weight[at] = reals[i, WEIGHT]
        if ints[i, LEFT] < 0:
            table[at, WALK_FEATURE], table[at, WALK_LEFT], table[at, WALK_LEFT + 1] = -1, leaf, -1
            cut[at, WALK_THRESHOLD] = -2.0
            copy_values(reals, i, values, leaf)
            leaf += 1
            continue
        side = np.int32(0 if ints[i, MISSING_LEFT] != 0 else 1 << MISSING_RIGHT)
        table[at, WALK_FEATURE] = ints[i, FEATURE] | side
        table[at, WALK_LEFT], table[at, WALK_LEFT + 1] = ints[i, LEFT] + root, ints[i, RIGHT] + root
        cut[at, WALK_THRESHOLD] = rounded_down(reals[i, THRESHOLD])
        threshold[inner] = reals[i, THRESHOLD]
        copy_values(reals, i, inner_values, inner)
        inner += 1
