"""Passes over the rows between two trees: derivatives of the loss, their quantisation, sums over leaves, the update."""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._math._exponential_kernels import vector_exp
from hyperplan._math._loss_kernels import (
    EPSILON_INSENSITIVE,
    LOG_LOSS,
    QUANTILE,
    SQUARED,
    loss_curvature,
    loss_slope,
    loss_value,
)

EVEN_ROWS = 50_000  # more rows have their derivatives rounded up or down by turns


@kernel
def fill_derivatives(code, parameter, y, raw, weight, start, stop, gradient, hessian, sums):
    # OUT: gradient, hessian, sums
    """Weighted derivatives of loss(y, raw) for rows start .. stop - 1; sums = (sum |gradient|, sum hessian).

    weight and hessian may be empty: all weights 1, hessian constant (1).
    """
    weighted, curved = weight.shape[0] > 0, hessian.shape[0] > 0
    total_g, total_h = 0.0, 0.0
    for i in range(start, stop):
        w = weight[i] if weighted else 1.0
        if code == SQUARED:
            g, h = w * (raw[i] - y[i]), w
        elif code == QUANTILE:  # a row that is met exactly (frequent: leaf values are quantiles) counts as above
            g, h = w * (-parameter if y[i] >= raw[i] else 1.0 - parameter), w
        elif code == EPSILON_INSENSITIVE:  # the absolute error
            g, h = w * (-1.0 if y[i] >= raw[i] else 1.0), w
        elif SQUARED < code < LOG_LOSS:  # other losses of the residual: curvature 1 by decree
            g, h = w * loss_slope(code, parameter, y[i], raw[i]), w
        else:
            g, h = w * loss_slope(code, parameter, y[i], raw[i]), w * loss_curvature(code, parameter, y[i], raw[i])
        gradient[i] = g
        total_g += abs(g)
        if curved:
            hessian[i] = h
            total_h += h
    sums[0], sums[1] = total_g, total_h


@fast_kernel
def fill_log_loss(y, raw, weight, start, stop, gradient, hessian, sums):  # OUT: gradient, hessian, sums
    """`fill_derivatives` of the logistic loss."""
    # views from 0 on: an index that might be negative would not vectorise
    y, raw, g_out, h_out = y[start:stop], raw[start:stop], gradient[start:stop], hessian[start:stop]
    total_g, total_h = 0.0, 0.0
    for i in range(y.shape[0]):
        p = 1.0 / (1.0 + vector_exp(-raw[i]))
        g, h = p - y[i], p * (1.0 - p)
        g_out[i], h_out[i] = g, h
        total_g += abs(g)
        total_h += h
    if weight.shape[0] > 0:
        total_g, total_h = weigh(weight[start:stop], g_out, h_out)
    sums[0], sums[1] = total_g, total_h


@fast_kernel
def weigh(weight, gradient, hessian):  # OUT: gradient, hessian
    """Multiply derivatives by weights; returns sum |gradient| and sum hessian."""
    total_g, total_h = 0.0, 0.0
    for i in range(weight.shape[0]):
        gradient[i] *= weight[i]
        hessian[i] *= weight[i]
        total_g += abs(np.float64(gradient[i]))
        total_h += np.float64(hessian[i])
    return total_g, total_h


@fast_kernel
def fill_softmax(codes, raw, weight, start, stop, gradient, hessian, sums):  # OUT: gradient, hessian, sums
    # raw, gradient, hessian: (n_classes, n_samples), C order.  sums: (n_classes, 2)
    n_classes, n = raw.shape[0], stop - start
    codes, top, total = codes[start:stop], raw[0, start:stop].copy(), np.zeros(n)
    for c in range(1, n_classes):
        scores = raw[c, start:stop]
        for i in range(n):
            top[i] = max(top[i], scores[i])
    for c in range(n_classes):
        scores = raw[c, start:stop]
        for i in range(n):
            total[i] += vector_exp(scores[i] - top[i])
    for c in range(n_classes):
        scores, g_out, h_out = raw[c, start:stop], gradient[c, start:stop], hessian[c, start:stop]
        total_g, total_h = 0.0, 0.0
        for i in range(n):
            p = vector_exp(scores[i] - top[i]) / total[i]
            g, h = p - (1.0 if codes[i] == c else 0.0), p * (1.0 - p)
            g_out[i], h_out[i] = g, h
            total_g += abs(g)
            total_h += h
        if weight.shape[0] > 0:
            total_g, total_h = weigh(weight[start:stop], g_out, h_out)
        sums[c, 0], sums[c, 1] = total_g, total_h


@kernel
def loss_sum(code, parameter, y, raw, weight, start, stop):
    """Weighted sum of the loss over rows start .. stop - 1; weight may be empty."""
    weighted, total = weight.shape[0] > 0, 0.0
    for i in range(start, stop):
        total += (weight[i] if weighted else 1.0) * loss_value(code, parameter, y[i], raw[i])
    return total


@kernel
def softmax_loss_sum(codes, raw, weight, start, stop):
    # raw: (n_classes, n_samples)
    weighted, result = weight.shape[0] > 0, 0.0
    for i in range(start, stop):
        top = raw[0, i]
        for c in range(1, raw.shape[0]):
            top = max(top, raw[c, i])
        total = 0.0
        for c in range(raw.shape[0]):
            total += math.exp(raw[c, i] - top)
        result += (weight[i] if weighted else 1.0) * (top + math.log(total) - raw[np.int64(codes[i]), i])
    return result


@kernel
def dither(row, multiplier):
    """A number in [0, 1) for a row: multiples of an irrational number modulo 1 are spread evenly."""
    return np.float64(np.uint32(np.uint32(row) * np.uint32(multiplier))) * 2.0**-32


@fast_kernel
def quantise(gradient, hessian, g_scale, h_scale, start, stop, packed):  # OUT: packed
    """``packed = (round(gradient g_scale) << 32) + round(hessian h_scale)``; an empty hessian means 1 for every row.

    Returns the sum of packed.  |gradient| g_scale must stay below 2^31 and hessian h_scale >= 0.  Where many rows
    leave few bits to each, derivatives that are equal in all rows of a class would all be rounded to the same side,
    and sums would be off by a part in 10 000: there, a row is rounded up with a probability equal to the part that is
    cut off (`dither`), and errors cancel.
    """
    total = np.int64(0)
    many = gradient.shape[0] > EVEN_ROWS
    gradient, packed = gradient[start:stop], packed[start:stop]
    if hessian.shape[0] == 0:
        for i in range(gradient.shape[0]):
            shift = dither(start + i, 2654435769) if many else 0.5
            value = (np.int64(np.int32(np.floor(gradient[i] * g_scale + shift))) << 32) + 1
            packed[i] = value
            total += value
        return total
    hessian = hessian[start:stop]
    for i in range(gradient.shape[0]):
        g_shift, h_shift = (dither(start + i, 2654435769), dither(start + i, 1779033703)) if many else (0.5, 0.5)
        g = np.int64(np.int32(np.floor(gradient[i] * g_scale + g_shift)))
        value = (g << 32) + np.int64(np.int32(np.floor(hessian[i] * h_scale + h_shift)))
        packed[i] = value
        total += value
    return total


@kernel
def sum_leaves(rows, bounds, gradient, hessian, start, stop, sums):  # OUT: sums
    """Sums of derivatives over rows[start:stop] by leaf; leaf j holds rows[bounds[j]:bounds[j + 1]]. sums: (n, 2)."""
    curved = hessian.shape[0] > 0
    for leaf in range(bounds.shape[0] - 1):
        first, last = max(start, bounds[leaf]), min(stop, bounds[leaf + 1])
        g, h = 0.0, 0.0
        if curved:
            for i in range(first, last):
                g += float(gradient[rows[i]])
                h += float(hessian[rows[i]])
        else:
            for i in range(first, last):
                g += float(gradient[rows[i]])
            h = float(max(last - first, 0))
        sums[leaf, 0], sums[leaf, 1] = g, h


@kernel
def add_leaves(rows, bounds, values, start, stop, raw):  # OUT: raw
    """``raw[rows[i]] += values[leaf of i]`` for i in start .. stop - 1."""
    for leaf in range(bounds.shape[0] - 1):
        value = values[leaf]
        for i in range(max(start, bounds[leaf]), min(stop, bounds[leaf + 1])):
            raw[rows[i]] += value


@kernel
def mark_leaves(rows, bounds, start, stop, leaf_of):  # OUT: leaf_of
    """``leaf_of[rows[i]]`` is the leaf of i, for i in start .. stop - 1: leaf j holds rows[bounds[j]:bounds[j + 1]]."""
    for leaf in range(bounds.shape[0] - 1):
        for i in range(max(start, bounds[leaf]), min(stop, bounds[leaf + 1])):
            leaf_of[rows[i]] = leaf


@kernel
def sum_marked(leaf_of, gradient, hessian, start, stop, sums):  # OUT: sums
    """`sum_leaves` of rows start .. stop - 1, in their own order; sums: (n_leaves, 2), zeros at first."""
    curved = hessian.shape[0] > 0
    for i in range(start, stop):
        leaf = leaf_of[i]
        sums[leaf, 0] += float(gradient[i])
        sums[leaf, 1] += float(hessian[i]) if curved else 1.0


@kernel
def add_marked(leaf_of, values, start, stop, raw):  # OUT: raw
    """``raw[i] += values[leaf_of[i]]`` for i in start .. stop - 1."""
    for i in range(start, stop):
        raw[i] += values[leaf_of[i]]
