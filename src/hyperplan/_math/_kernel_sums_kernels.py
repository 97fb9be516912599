"""Sums of radial kernels over a table: along a tree of boxes for few columns, of tiles of distances for many.

A profile is a function of the squared distance in units of the bandwidth, 1 at 0 and falling.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, kernel
from hyperplan._math._exponential_kernels import vector_exp
from hyperplan._math._gram_kernels import single_exp

GAUSSIAN, TOPHAT, EPANECHNIKOV, EXPONENTIAL, LINEAR, COSINE = range(6)
DEEPEST = 80  # places of a stack: one per level
LEAF = 256  # points that are always looked at one by one
NEAR = 40.0  # squared distance in bandwidths up to which single precision is off by less than SINGLE_LOSS
SINGLE_LOSS = 1e-5


@inner_kernel
def profile(code, s):
    """Kernel at the squared distance s."""
    if code == GAUSSIAN:
        return vector_exp(-0.5 * s)
    if code == EXPONENTIAL:
        return vector_exp(-math.sqrt(s))
    if code == TOPHAT:
        return 1.0 if s < 1.0 else 0.0
    if s >= 1.0:
        return 0.0
    if code == EPANECHNIKOV:
        return 1.0 - s
    return 1.0 - math.sqrt(s) if code == LINEAR else math.cos(0.5 * math.pi * math.sqrt(s))


@fast_kernel
def apply_profile(code, row):  # OUT: row
    """Squared distances to kernel values, in place."""
    n = row.shape[0]
    if code == GAUSSIAN:
        for j in range(n):
            row[j] = vector_exp(-0.5 * row[j])
    elif code == EXPONENTIAL:
        for j in range(n):
            row[j] = vector_exp(-math.sqrt(row[j]))
    elif code == TOPHAT:
        for j in range(n):
            row[j] = 1.0 if row[j] < 1.0 else 0.0
    elif code == EPANECHNIKOV:
        for j in range(n):
            row[j] = 1.0 - row[j] if row[j] < 1.0 else 0.0
    elif code == LINEAR:
        for j in range(n):
            row[j] = 1.0 - math.sqrt(row[j]) if row[j] < 1.0 else 0.0
    else:
        for j in range(n):
            row[j] = math.cos(0.5 * math.pi * math.sqrt(row[j])) if row[j] < 1.0 else 0.0


@kernel
def profile_tile(code, scale, shift, tile):  # OUT: tile
    """Squared distances of a tile to kernel values; row i has ``shift[i]`` subtracted first (0, or its minimum)."""
    # tile: (n, m) float64, C order; shift: (n,)
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            tile[i, j] = tile[i, j] * scale - shift[i]
        apply_profile(code, tile[i])


@kernel
def shifted_exponential_tile(scale, shift, tile):  # OUT: tile
    """Squared distances of a tile to ``exp(shift[i] - distance)``, for the kernel of that name far from all rows."""
    # tile: (n, m) float64, C order; shift: (n,)
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            tile[i, j] = vector_exp(shift[i] - math.sqrt(tile[i, j] * scale))


@fast_kernel
def leaf_squares(points, first, last, query, scale, row):  # OUT: row
    """row[j] = squared distance between the query and point first + j, in units of the bandwidth."""
    x = query[0]
    for j in range(last - first):
        gap = x - points[0, first + j]
        row[j] = gap * gap
    for k in range(1, query.shape[0]):
        x = query[k]
        for j in range(last - first):
            gap = x - points[k, first + j]
            row[j] += gap * gap
    for j in range(last - first):
        row[j] *= scale


@fast_kernel
def single_squares(singles, first, last, query, corners, row):  # OUT: row
    """row[j] = squared distance between the query and point first + j, both seen from the middle of the box."""
    x = np.float32(query[0] - 0.5 * (corners[0, 0] + corners[1, 0]))
    for j in range(last - first):
        gap = x - singles[0, first + j]
        row[j] = gap * gap
    for k in range(1, query.shape[0]):
        x = np.float32(query[k] - 0.5 * (corners[0, k] + corners[1, k]))
        for j in range(last - first):
            gap = x - singles[k, first + j]
            row[j] += gap * gap


@kernel
def single_gaussians(factor, row):  # OUT: row
    """row[j] = exp(factor row[j]); not a fast kernel, because `single_exp` rounds by adding and subtracting."""
    for j in range(row.shape[0]):
        row[j] = single_exp(factor * row[j])


@fast_kernel
def weighted_sum(row, values):
    """sum_j row[j] values[j]."""
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j] * values[j]
    return total


@inner_kernel
def box_squares(corners, query, scale, ends):  # OUT: ends
    """Least and largest squared distance between the query and a box, in units of the bandwidth."""
    near = far = 0.0
    for k in range(query.shape[0]):
        below, above = corners[0, k] - query[k], query[k] - corners[1, k]
        outside = max(below, above, 0.0)
        across = max(-below, -above, below, above)  # distance to the farther side
        near += outside * outside
        far += across * across
    ends[0], ends[1] = near * scale, far * scale


@kernel
def tree_sums(points, singles, values, prefix, bounds, spans, queries, own, code, scale, allowed, sums):  # OUT: sums
    """sums[i, c] = sum_j values[c, j] K(|query i - point j|), leaving out point own[i] (-1: none).

    A box whose kernel values differ little is taken at their mean.  In all ``allowed[0] * sum + allowed[1] * weight``
    may be lost; a box may lose its share, by weight (column 0), of what is left of this for the boxes not yet looked
    at.  Each query is answered by itself, whatever the others are.  With `singles`, the points in single precision from
    the middle of their leaf's box, Gaussian kernels that are not too small are computed in that precision.
    """
    # points: (d, n), singles: (d, n) or (d, 0), values: (m, n) in the order of the tree, prefix: (m, n + 1) their
    # running sums; bounds: (nodes, 2, d) corners, spans: (nodes, 2) points; children of node v are 2v + 1, 2v + 2;
    # queries: (q, d)
    n_values = values.shape[0]
    total = prefix[0, points.shape[1]]
    row, ends = np.empty(LEAF), np.empty((2, 2))
    row32, factor, is_single = np.empty(LEAF, np.float32), np.float32(-0.5 * scale), singles.shape[1] > 0
    stack, held, near, far = np.empty(DEEPEST, np.int64), np.empty(DEEPEST), np.empty(DEEPEST), np.empty(DEEPEST)
    for i in range(queries.shape[0]):
        query, lost, pending, left = queries[i], 0.0, 0.0, total
        for c in range(n_values):
            sums[i, c] = 0.0
        box_squares(bounds[0], query, scale, ends[0])
        stack[0], near[0], far[0], held[0] = 0, ends[0, 0], ends[0, 1], 0.0
        top = 1
        while top > 0:
            top -= 1
            node, first, last = stack[top], spans[stack[top], 0], spans[stack[top], 1]
            pending -= held[top]
            most, least = profile(code, near[top]), profile(code, far[top])
            weight = prefix[0, last] - prefix[0, first]
            if most == 0.0:
                left -= weight
                continue
            sure = max(sums[i, 0] - lost, 0.0) + max(pending, 0.0) + weight * least
            holds_own = first <= own[i] < last
            budget = allowed[0] * sure + allowed[1] * total - lost
            if 0.5 * (most - least) * left <= budget and not holds_own:
                left -= weight
                middle = 0.5 * (most + least)
                lost += 0.5 * (most - least) * weight
                for c in range(n_values):
                    sums[i, c] += middle * (prefix[c, last] - prefix[c, first])
            elif last - first <= LEAF and is_single and far[top] <= NEAR:
                left -= weight
                single_squares(singles, first, last, query, bounds[node], row32)
                single_gaussians(factor, row32[: last - first])
                if holds_own:
                    row32[own[i] - first] = 0.0
                for c in range(n_values):
                    sums[i, c] += weighted_sum(row32[: last - first], values[c, first:last])
            elif last - first <= LEAF:
                left -= weight
                leaf_squares(points, first, last, query, scale, row)
                apply_profile(code, row[: last - first])
                if holds_own:
                    row[own[i] - first] = 0.0
                for c in range(n_values):
                    sums[i, c] += weighted_sum(row[: last - first], values[c, first:last])
            else:
                box_squares(bounds[2 * node + 1], query, scale, ends[0])
                box_squares(bounds[2 * node + 2], query, scale, ends[1])
                closer = 0 if ends[0, 0] <= ends[1, 0] else 1  # goes on top, to be looked at first
                for step in range(2):
                    side = 1 - closer if step == 0 else closer
                    child = 2 * node + 1 + side
                    mass = prefix[0, spans[child, 1]] - prefix[0, spans[child, 0]]
                    stack[top], near[top], far[top] = child, ends[side, 0], ends[side, 1]
                    held[top] = mass * profile(code, ends[side, 1])
                    pending += held[top]
                    top += 1
