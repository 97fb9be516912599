"""Rotations and reflections that diagonalise symmetric matrices.

Matrices are full and symmetric, in C order.  Bases are kept transposed, one vector per row, so that a rotation of two
vectors runs through contiguous memory.  Callers scale matrices to entries of order one.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

EPS = 2.220446049250313e-16
STEEP = 1e8  # beyond this cotangent of the double angle the square root adds nothing


@kernel
def turn_rows(rows, p, q, c, s):  # OUT: rows
    """Rows p and q become ``c p - s q`` and ``s p + c q``."""
    for r in range(rows.shape[1]):
        g, h = rows[p, r], rows[q, r]
        rows[p, r] = c * g - s * h
        rows[q, r] = s * g + c * h


@kernel
def jacobi_sweep(a, basis, threshold):  # OUT: a, basis
    """One visit of every pair (p, q); returns how many rotations were made.

    A rotation makes ``a[p, q]`` zero, so that the sum of squares off the diagonal falls by twice its square.
    """
    n, rotations = a.shape[0], 0
    for p in range(n - 1):
        for q in range(p + 1, n):
            x = a[p, q]
            if abs(x) <= threshold or abs(x) <= EPS * math.sqrt(abs(a[p, p] * a[q, q])):
                continue
            app, aqq = a[p, p], a[q, q]
            cotangent = (aqq - app) / (2.0 * x)
            if abs(cotangent) > STEEP:
                t = 0.5 / cotangent
            else:  # the smaller of the two angles; an angle of 45 degrees counts as positive
                sign = -1.0 if cotangent < 0.0 else 1.0
                t = sign / (abs(cotangent) + math.sqrt(cotangent * cotangent + 1.0))
            c = 1.0 / math.sqrt(t * t + 1.0)
            s = t * c
            turn_rows(a, p, q, c, s)
            for r in range(n):
                a[r, p] = a[p, r]
                a[r, q] = a[q, r]
            a[p, p] = app - t * x
            a[q, q] = aqq + t * x
            a[p, q] = 0.0
            a[q, p] = 0.0
            turn_rows(basis, p, q, c, s)
            rotations += 1
    return rotations


@kernel
def givens_tridiagonal(a, basis):  # OUT: a, basis
    """Rotations in the planes (k + 1, q) that kill ``a[q, k]`` below the subdiagonal; returns their number."""
    n, rotations = a.shape[0], 0
    for k in range(n - 2):
        p = k + 1
        for q in range(k + 2, n):
            if a[k, q] == 0.0:
                continue
            length = math.hypot(a[k, p], a[k, q])
            c, s = a[k, p] / length, -a[k, q] / length
            turn_rows(a, p, q, c, s)
            for r in range(n):
                g, h = a[r, p], a[r, q]
                a[r, p] = c * g - s * h
                a[r, q] = s * g + c * h
            a[k, q] = 0.0
            a[q, k] = 0.0
            turn_rows(basis, p, q, c, s)
            rotations += 1
    return rotations


@kernel
def householder_tridiagonal(a, basis):  # OUT: a, basis
    """Reflections ``I - beta v v'``, one per column; returns their number.

    Afterwards the diagonals of `a` hold the tridiagonal matrix, and the rows of `basis` the columns of the product of
    the reflections.  The vectors v wait in the rows of `a` until the product is made, from the last to the first.
    """
    n = a.shape[0]
    betas, w = np.zeros(n), np.empty(n)
    subdiagonal = np.zeros(n)
    for k in range(n - 2):
        square = 0.0
        for j in range(k + 2, n):
            square += a[k, j] * a[k, j]
        if square == 0.0:
            subdiagonal[k] = a[k, k + 1]
            continue
        head = a[k, k + 1]
        length = math.sqrt(head * head + square)
        image = -length if head >= 0.0 else length
        v = a[k]
        v[k + 1] = head - image
        beta = 2.0 / (v[k + 1] * v[k + 1] + square)
        reflect_both_sides(a, v, beta, k + 1, w)
        betas[k] = beta
        subdiagonal[k] = image
    if n > 1:
        subdiagonal[n - 2] = a[n - 2, n - 1]
    reflections = 0
    for k in range(n - 3, -1, -1):
        if betas[k] != 0.0:
            reflect_rows(basis, a[k], betas[k], k + 1)
            reflections += 1
    for i in range(n):
        for j in range(n):
            if j == i + 1:
                a[i, j] = subdiagonal[i]
            elif j == i - 1:
                a[i, j] = subdiagonal[j]
            elif j != i:
                a[i, j] = 0.0
    return reflections


@kernel
def reflect_both_sides(a, v, beta, first, w):  # OUT: a, w
    """``a - v w' - w v'`` on rows and columns from `first` on, with w such that this is P a P."""
    n = a.shape[0]
    product = 0.0
    for i in range(first, n):
        total = 0.0
        for j in range(first, n):
            total += a[i, j] * v[j]
        w[i] = beta * total
        product += w[i] * v[i]
    half = 0.5 * beta * product
    for i in range(first, n):
        w[i] -= half * v[i]
    for i in range(first, n):
        vi, wi = v[i], w[i]
        for j in range(first, n):
            a[i, j] -= vi * w[j] + wi * v[j]


@kernel
def reflect_rows(rows, v, beta, first):  # OUT: rows
    """Each row from `first` on times the reflection."""
    n = rows.shape[0]
    for i in range(first, n):
        total = 0.0
        for j in range(first, n):
            total += rows[i, j] * v[j]
        total *= beta
        for j in range(first, n):
            rows[i, j] -= total * v[j]


@kernel
def negligible(e, a, b):
    """Whether an off-diagonal entry between two diagonal ones can be taken for zero."""
    return abs(e) <= EPS * (abs(a) + abs(b))


@kernel
def ql_tridiagonal(d, e, basis, limit, steps):  # OUT: d, e, basis, steps
    """QL iteration with implicit shifts: eigenvalues appear in d from the top, one after the other.

    d: (n,) diagonal; e: (n,) subdiagonal, its last entry is scratch; basis: rows are turned along; steps: (n,) counts
    of iterations per eigenvalue.  Returns -1, or the index of the eigenvalue that needed more than `limit` iterations.
    """
    n = d.shape[0]
    for first in range(n):
        while True:
            last = first
            while last < n - 1 and not negligible(e[last], d[last], d[last + 1]):
                last += 1
            if last == first:
                break
            if steps[first] == limit:
                return first
            steps[first] += 1
            # the eigenvalue of the leading 2 x 2 block nearer to d[first], as the difference to it
            g = (d[first + 1] - d[first]) / (2.0 * e[first])
            root = math.hypot(g, 1.0)
            g = d[last] - d[first] + e[first] / (g + (root if g >= 0.0 else -root))
            c, s, shift = 1.0, 1.0, 0.0
            i = last - 1
            while i >= first:  # a bulge is chased from the bottom of the block to its top
                f, b = s * e[i], c * e[i]
                length = math.hypot(f, g)
                e[i + 1] = length
                if length == 0.0:  # the block falls apart on the way
                    d[i + 1] -= shift
                    e[last] = 0.0
                    break
                c, s = g / length, f / length
                g = d[i + 1] - shift
                mixed = (d[i] - g) * s + 2.0 * c * b
                shift = s * mixed
                d[i + 1] = g + shift
                g = c * mixed - b
                turn_rows(basis, i, i + 1, c, s)
                i -= 1
            if i < first:
                d[first] -= shift
                e[first] = g
                e[last] = 0.0
    return -1


@kernel
def qr_tridiagonal(d, e, basis, limit, steps):  # OUT: d, e, basis, steps
    """QR iteration with implicit Wilkinson shifts: eigenvalues appear in d from the bottom; see `ql_tridiagonal`."""
    last = d.shape[0] - 1
    while last > 0:
        if negligible(e[last - 1], d[last - 1], d[last]):
            e[last - 1] = 0.0
            last -= 1
            continue
        if steps[last] == limit:
            return last
        steps[last] += 1
        first = last - 1
        while first > 0 and not negligible(e[first - 1], d[first - 1], d[first]):
            first -= 1
        half = 0.5 * (d[last - 1] - d[last])
        root = math.hypot(half, e[last - 1])
        shift = d[last] - e[last - 1] * e[last - 1] / (half + (root if half >= 0.0 else -root))
        x, bulge = d[first] - shift, e[first]
        for k in range(first, last):
            length = math.hypot(x, bulge)
            c, s = (x / length, -bulge / length) if length > 0.0 else (1.0, 0.0)
            if k > first:
                e[k - 1] = length
            top, side, bottom = d[k], e[k], d[k + 1]
            d[k] = c * c * top - 2.0 * c * s * side + s * s * bottom
            d[k + 1] = s * s * top + 2.0 * c * s * side + c * c * bottom
            e[k] = c * s * (top - bottom) + (c * c - s * s) * side
            if k < last - 1:
                x, bulge = e[k], -s * e[k + 1]
                e[k + 1] *= c
            turn_rows(basis, k, k + 1, c, s)
    return -1
