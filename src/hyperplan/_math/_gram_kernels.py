"""Kernel values made of inner products and of sums of absolute differences, in place, in single and double precision.

Rectangles come as one flat array, the position of their first entry and the distance between rows: so a rectangle
inside a larger matrix is written without a copy, and the compiler still knows that neighbours in a row are neighbours
in memory.
"""

import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._math._exponential_kernels import LARGEST, vector_exp

PANEL = 256  # columns that absolute differences are summed for together
SINGLE_LOWEST = np.float32(-87.0)  # exp of it is a normal number; below, kernels are zero
_LARGEST_SINGLE = np.float32(88.0)
_LOG2_E, _ROUND = np.float32(1.4426950408889634), np.float32(12582912.0)  # adding 1.5 2^23 rounds to whole numbers
_LOG_2_HIGH, _LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # their sum is log 2; k HIGH is exact
_C2, _C3, _C4 = np.float32(1.0 / 2.0), np.float32(1.0 / 6.0), np.float32(1.0 / 24.0)
_C5, _C6, _C7 = np.float32(1.0 / 120.0), np.float32(1.0 / 720.0), np.float32(1.0 / 5040.0)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@kernel
def single_exp(x):
    """exp(x) in single precision within 2 units in the last place for -87 <= x <= 88; beyond, the value at the border.

    As `vector_exp`, with Taylor's polynomial of degree 7.
    """
    x = min(max(x, SINGLE_LOWEST), _LARGEST_SINGLE)
    k = (x * _LOG2_E + _ROUND) - _ROUND
    r = (x - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    p = _C7 * r + _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * r + _ONE
    p = p * r + _ONE
    return p * np.int32((np.int32(k) + 127) << 23).view(np.float32)


@kernel
def gaussian_single(a_squares, b_squares, gamma, start, step, flat):  # OUT: flat
    """Inner products ab become ``exp(-gamma (|a|^2 + |b|^2 - 2 ab))``; all float32."""
    n = b_squares.shape[0]
    for i in range(a_squares.shape[0]):
        size = a_squares[i]
        line = flat[start + i * step : start + i * step + n]
        for j in range(n):
            x = min(gamma * ((line[j] + line[j]) - (size + b_squares[j])), _ZERO)
            value = single_exp(x)
            line[j] = value if x >= SINGLE_LOWEST else _ZERO


@kernel
def gaussian_double(a_squares, b_squares, gamma, start, step, flat):  # OUT: flat
    """Inner products ab become ``exp(-gamma (|a|^2 + |b|^2 - 2 ab))``; all float64."""
    n = b_squares.shape[0]
    for i in range(a_squares.shape[0]):
        size = a_squares[i]
        line = flat[start + i * step : start + i * step + n]
        for j in range(n):
            x = min(gamma * ((line[j] + line[j]) - (size + b_squares[j])), 0.0)
            value = vector_exp(x)
            line[j] = value if x >= -LARGEST else 0.0


@kernel
def repair_gaussian(a, b, a_squares, b_squares, gamma, trusted, least, start, step, flat):  # OUT: flat
    """Compute again, from differences, the values that cancellation in ``|a|^2 + |b|^2 - 2 ab`` has spoilt.

    Its error is a few eps of the sum: values of at least `least` where ``gamma (|a|^2 + |b|^2)`` exceeds `trusted`.
    """
    # a: (m, d), b: (n, d), C order
    for i in range(a.shape[0]):
        size = a_squares[i]
        for j in range(b.shape[0]):
            place = start + i * step + j
            if gamma * (size + b_squares[j]) > trusted and not flat[place] < least:
                total = 0.0
                for k in range(a.shape[1]):
                    gap = np.float64(a[i, k]) - np.float64(b[j, k])
                    total += gap * gap
                flat[place] = np.exp(-gamma * total)


@kernel
def exponential_single(n_rows, n, gamma, start, step, flat):  # OUT: flat
    """Distances d become ``exp(-gamma d)``; float32."""
    for i in range(n_rows):
        line = flat[start + i * step : start + i * step + n]
        for j in range(n):
            x = -gamma * line[j]
            value = single_exp(x)
            line[j] = value if x >= SINGLE_LOWEST else _ZERO


@kernel
def exponential_double(n_rows, n, gamma, start, step, flat):  # OUT: flat
    """Distances d become ``exp(-gamma d)``; float64."""
    for i in range(n_rows):
        line = flat[start + i * step : start + i * step + n]
        for j in range(n):
            x = -gamma * line[j]
            value = vector_exp(x)
            line[j] = value if x >= -LARGEST else 0.0


@kernel
def sizes_of_differences(a, b, start, step, turned, flat):  # OUT: turned, flat
    """Sums of absolute differences of rows, in the precision of the tables; `turned` (d + d % 2, PANEL) is scratch."""
    # a: (m, d), b: (n, d), C order; panels of b are turned, so that neighbours belong to neighbouring columns
    d = a.shape[1]
    for first in range(0, b.shape[0], PANEL):
        width = min(PANEL, b.shape[0] - first)
        for j in range(width):
            for k in range(d):
                turned[k, j] = b[first + j, k]
        for i in range(a.shape[0]):
            place = start + i * step + first
            line = flat[place : place + width]
            for j in range(width):
                line[j] = 0.0
            for k in range(0, d - 1, 2):
                x, y, left, right = a[i, k], a[i, k + 1], turned[k], turned[k + 1]
                for j in range(width):
                    line[j] += abs(x - left[j]) + abs(y - right[j])
            if d % 2:
                x, left = a[i, d - 1], turned[d - 1]
                for j in range(width):
                    line[j] += abs(x - left[j])
