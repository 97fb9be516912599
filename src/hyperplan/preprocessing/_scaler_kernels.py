"""Kernels of StandardScaler: moments and scaling, one pass over memory each.

X is C-ordered, float32 or float64; kernels named `line_...` take the transpose of an F-ordered array, one line per
column.  Moments are taken over panels of rows small enough to stay in cache, twice each
(mean, then squared deviations), and merged: as accurate as two passes over memory.  All sums
are about a `shift` near the data: large means cost no digits, and constant columns have variance zero exactly.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel

PANEL_ROWS = 64
LINE_PANEL = 2048


@fast_kernel
def panel_moments(X, shift, first, last, mean, square):  # mean, square OUT, of rows first..last-1
    count = last - first
    d = X.shape[1]
    for j in range(d):
        mean[j] = 0.0
        square[j] = 0.0
    for i in range(first, last):
        for j in range(d):
            mean[j] += X[i, j] - shift[j]
    for j in range(d):
        mean[j] /= count
    for i in range(first, last):
        for j in range(d):
            deviation = X[i, j] - shift[j] - mean[j]
            square[j] += deviation * deviation
    return float(count)


@fast_kernel
def weighted_panel_moments(X, weight, shift, first, last, mean, square):  # mean, square OUT
    d = X.shape[1]
    for j in range(d):
        mean[j] = 0.0
        square[j] = 0.0
    total = 0.0
    for i in range(first, last):
        total += weight[i]
        for j in range(d):
            mean[j] += weight[i] * (X[i, j] - shift[j])
    for j in range(d):
        mean[j] = mean[j] / total if total > 0.0 else 0.0
    for i in range(first, last):
        for j in range(d):
            deviation = X[i, j] - shift[j] - mean[j]
            square[j] += weight[i] * deviation * deviation
    return total


@kernel
def merge_moments(total, part_total, part_mean, part_square, mean, square):  # mean, square OUT: Chan's update
    if part_total <= 0.0:
        return total
    new_total = total + part_total
    share = part_total / new_total
    for j in range(mean.shape[0]):
        difference = part_mean[j] - mean[j]
        mean[j] += share * difference
        square[j] += part_square[j] + difference * difference * total * share
    return new_total


@kernel
def block_moments(X, weight, shift, mean, square):  # mean, square OUT; weight is empty for equal weights
    """Mean above the shift and sum of squared deviations of each column; returns the weight."""
    d = X.shape[1]
    part_mean, part_square = np.empty(d), np.empty(d)
    mean[:] = 0.0
    square[:] = 0.0
    total = 0.0
    for first in range(0, X.shape[0], PANEL_ROWS):
        last = min(first + PANEL_ROWS, X.shape[0])
        if weight.shape[0]:
            part = weighted_panel_moments(X, weight, shift, first, last, part_mean, part_square)
        else:
            part = panel_moments(X, shift, first, last, part_mean, part_square)
        total = merge_moments(total, part, part_mean, part_square, mean, square)
    return total


@fast_kernel
def line_panel(line, weight, shift, first, last):
    """Weight, mean and squared deviations of part of one line."""
    total = 0.0
    mean = 0.0
    square = 0.0
    if weight.shape[0]:
        for i in range(first, last):
            total += weight[i]
            mean += weight[i] * (line[i] - shift)
        mean = mean / total if total > 0.0 else 0.0
        for i in range(first, last):
            square += weight[i] * (line[i] - shift - mean) * (line[i] - shift - mean)
    else:
        total = float(last - first)
        for i in range(first, last):
            mean += line[i] - shift
        mean /= total
        for i in range(first, last):
            square += (line[i] - shift - mean) * (line[i] - shift - mean)
    return total, mean, square


@kernel
def line_moments(lines, weight, shift, mean, square):  # lines C-ordered, one per column; mean, square OUT
    total = 0.0
    for j in range(lines.shape[0]):
        total, mean[j], square[j] = 0.0, 0.0, 0.0
        for first in range(0, lines.shape[1], LINE_PANEL):
            last = min(first + LINE_PANEL, lines.shape[1])
            part, part_mean, part_square = line_panel(lines[j], weight, shift[j], first, last)
            if part > 0.0:
                new_total = total + part
                difference = part_mean - mean[j]
                mean[j] += part / new_total * difference
                square[j] += part_square + difference * difference * total * part / new_total
                total = new_total
    return total


@kernel
def scale_block(X, mean, scale, centre, divide, out):  # out OUT: (X - mean) / scale; may be X itself
    """Returns whether an infinity was written."""
    infinite = False
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = X[i, j]
            if centre:
                value = value - mean[j]
            if divide:
                value = value / scale[j]
            out[i, j] = value
            infinite |= math.isinf(value)
    return infinite


@kernel
def unscale_block(X, mean, scale, centre, multiply, out):  # out OUT: X * scale + mean; may be X itself
    infinite = False
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = X[i, j]
            if multiply:
                value = value * scale[j]
            if centre:
                value = value + mean[j]
            out[i, j] = value
            infinite |= math.isinf(value)
    return infinite


@kernel
def scale_lines(lines, mean, scale, centre, divide, out):  # out OUT; may be lines itself
    infinite = False
    for j in range(lines.shape[0]):
        for i in range(lines.shape[1]):
            value = lines[j, i]
            if centre:
                value = value - mean[j]
            if divide:
                value = value / scale[j]
            out[j, i] = value
            infinite |= math.isinf(value)
    return infinite


@kernel
def unscale_lines(lines, mean, scale, centre, multiply, out):  # out OUT; may be lines itself
    infinite = False
    for j in range(lines.shape[0]):
        for i in range(lines.shape[1]):
            value = lines[j, i]
            if multiply:
                value = value * scale[j]
            if centre:
                value = value + mean[j]
            out[j, i] = value
            infinite |= math.isinf(value)
    return infinite
