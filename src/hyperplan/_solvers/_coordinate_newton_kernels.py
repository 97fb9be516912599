"""Cholesky factor of a Gram matrix over a changing support: one column more or less costs the square of its size."""

import math

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def partial_dot(a, b, length):
    total = 0.0
    for i in range(length):
        total += a[i] * b[i]
    return total


@kernel
def factor_append(G, ridge, j, size, members, L):
    """Append coordinate j to the factor of ``G[members][:, members] + ridge``; False if it depends on the others."""
    # G and L are C-ordered, L lower triangular; members and L are OUT
    row = L[size]
    for i in range(size):
        row[i] = (G[j, members[i]] - partial_dot(row, L[i], i)) / L[i, i]
    pivot = G[j, j] + ridge - partial_dot(row, row, size)
    if not pivot > 1e-11 * (G[j, j] + ridge):
        return False
    row[size] = math.sqrt(pivot)
    members[size] = j
    return True


@kernel
def factor_remove(position, size, cosines, sines, members, L):
    """Remove the member at `position`: the rows below move up and are made triangular again by rotations."""
    # L is C-ordered; cosines and sines are work space; members and L are OUT
    for r in range(position, size - 1):
        members[r] = members[r + 1]
        new, old = L[r], L[r + 1]
        for i in range(position):
            new[i] = old[i]
        carried = old[position]
        for i in range(position, r):
            other = old[i + 1]
            new[i] = cosines[i] * carried + sines[i] * other
            carried = cosines[i] * other - sines[i] * carried
        other = old[r + 1]
        length = math.sqrt(carried * carried + other * other)
        cosines[r] = carried / length
        sines[r] = other / length
        new[r] = length


@kernel
def factor_solve(L, size, b):
    """b = (L L')^-1 b."""
    # L is C-ordered; b is OUT
    for i in range(size):
        b[i] = (b[i] - partial_dot(L[i], b, i)) / L[i, i]
    for i in range(size - 1, -1, -1):
        b[i] /= L[i, i]
        x = b[i]
        row = L[i]
        for k in range(i):
            b[k] -= x * row[k]


@kernel
def subtract_rows(G, rows, factors, c):
    """c -= sum_i factors[i] * G[rows[i]], four rows at a time."""
    # G is C-ordered; c is OUT
    n = rows.shape[0]
    m = c.shape[0]
    start = n - n % 4
    for i in range(0, start, 4):
        a, b, d, e = G[rows[i]], G[rows[i + 1]], G[rows[i + 2]], G[rows[i + 3]]
        fa, fb, fd, fe = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for k in range(m):
            c[k] -= fa * a[k] + fb * b[k] + fd * d[k] + fe * e[k]
    for i in range(start, n):
        row = G[rows[i]]
        for k in range(m):
            c[k] -= factors[i] * row[k]
