"""Kernels that multiply a panel of rows: scores, gradient sums, scaled copies.

Dense X is C-ordered, float32 or float64; sparse X is a CSR `CompressedMatrix`.  Sums are float64.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def dense_scores(X, centre, coef, eta):
    # X C order, one panel
    """eta = (X - centre) @ coef."""
    # OUT eta (n,)
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += (np.float64(X[i, j]) - centre[j]) * coef[j]
        eta[i] = total


@fast_kernel
def dense_adjoint(X, centre, slope, cross, total):
    # X C order, one panel; cross (n, q) C order
    """Add (X - centre)'slope to total[0] and (X - centre)'cross to total[1:]."""
    # OUT total (1 + q, d)
    d = X.shape[1]
    q = cross.shape[1]
    for i in range(X.shape[0]):
        s = slope[i]
        if q == 1:
            h = cross[i, 0]
            for j in range(d):
                value = np.float64(X[i, j]) - centre[j]
                total[0, j] += s * value
                total[1, j] += h * value
            continue
        for j in range(d):
            total[0, j] += s * (np.float64(X[i, j]) - centre[j])
        for k in range(q):
            h = cross[i, k]
            if h != 0.0:
                for j in range(d):
                    total[k + 1, j] += h * (np.float64(X[i, j]) - centre[j])


@fast_kernel
def dense_scaled(X, centre, curvature, scaled):
    # X C order, one panel
    """scaled = diag(sqrt(curvature)) (X - centre): its Gram matrix is the Hessian of the panel."""
    # OUT scaled (n, d)
    for i in range(X.shape[0]):
        root = math.sqrt(curvature[i])
        for j in range(X.shape[1]):
            scaled[i, j] = root * (np.float64(X[i, j]) - centre[j])


@kernel
def csr_scores(X, start, coef, eta):
    # X CSR; the rows start.. of one panel
    """eta = X[start:start + n] @ coef."""
    # OUT eta (n,)
    for i in range(eta.shape[0]):
        total = 0.0
        for k in range(X.indptr[start + i], X.indptr[start + i + 1]):
            total += np.float64(X.data[k]) * coef[X.indices[k]]
        eta[i] = total


@kernel
def csr_adjoint(X, start, slope, cross, total):
    # X CSR; the rows start.. of one panel; cross (n, q) C order
    """Add X'slope to total[0] and X'cross to total[1:]."""
    # OUT total (1 + q, d)
    for i in range(slope.shape[0]):
        for k in range(X.indptr[start + i], X.indptr[start + i + 1]):
            value = np.float64(X.data[k])
            column = X.indices[k]
            total[0, column] += value * slope[i]
            for j in range(cross.shape[1]):
                total[j + 1, column] += value * cross[i, j]


@kernel
def csr_gram(X, start, curvature, gram):
    # X CSR; the rows start.. of one panel
    """Add X'diag(curvature)X of the panel to the dense gram."""
    # OUT gram (d, d)
    for i in range(curvature.shape[0]):
        h = curvature[i]
        if h == 0.0:
            continue
        first, last = X.indptr[start + i], X.indptr[start + i + 1]
        for a in range(first, last):
            scaled = h * np.float64(X.data[a])
            row = X.indices[a]
            for b in range(first, last):
                gram[row, X.indices[b]] += scaled * np.float64(X.data[b])
