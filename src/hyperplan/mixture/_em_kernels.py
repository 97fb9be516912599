"""Gaussians by strips of rows, turned into short columns, so that loops run over rows at full width.

BLAS is slow on matrices of a few columns.  `work` is (2 d + 3, STRIP): the columns of a strip of rows, the same about a
mean, and three rows of scratch.
"""

from hyperplan._core.jit import fast_kernel

STRIP = 64  # rows at a time: the scratch stays in the first-level cache


@fast_kernel
def _load_strip(X, start, count, work):
    # X is C-ordered (n, d); the first d rows of work are OUT: columns of the strip
    for j in range(X.shape[1]):
        column = work[j]
        for r in range(count):
            column[r] = X[start + r, j]


@fast_kernel
def strip_scores(X, means, factors, constant, work, out):
    # X is C-ordered (n, d), means (k, d), factors (k, d, d) upper triangular, constant (k,);
    # out (n, k) is OUT: constant - |(x - mean)' factor|^2 / 2
    n, d = X.shape
    norm, y = work[2 * d], work[2 * d + 1]
    for start in range(0, n, STRIP):
        count = min(STRIP, n - start)
        _load_strip(X, start, count, work)
        for k in range(means.shape[0]):
            for r in range(count):
                norm[r] = 0.0
            for j in range(d):
                column, z, mean = work[j], work[d + j], means[k, j]
                last = factors[k, j, j]
                for r in range(count):
                    z[r] = column[r] - mean
                    y[r] = last * z[r]
                for i in range(j):
                    z, u = work[d + i], factors[k, i, j]
                    for r in range(count):
                        y[r] += u * z[r]
                for r in range(count):
                    norm[r] += y[r] * y[r]
            for r in range(count):
                out[start + r, k] = constant[k] - 0.5 * norm[r]


@fast_kernel
def add_strip_moments(X, share, shift, work, counts, first, second):
    # X is C-ordered (n, d), share (n, k), shift (k, d); counts (k,), first (k, d) and the upper triangles of
    # second (k, d, d) are OUT and added to: weighted moments of X - shift[k]
    n, d = X.shape
    w, wz = work[2 * d], work[2 * d + 1]
    for start in range(0, n, STRIP):
        count = min(STRIP, n - start)
        _load_strip(X, start, count, work)
        for k in range(share.shape[1]):
            total = 0.0
            for r in range(count):
                w[r] = share[start + r, k]
                total += w[r]
            counts[k] += total
            if total > 0.0:
                for j in range(d):
                    column, z, mean = work[j], work[d + j], shift[k, j]
                    total = 0.0
                    for r in range(count):
                        z[r] = column[r] - mean
                        wz[r] = w[r] * z[r]
                        total += wz[r]
                    first[k, j] += total
                    for i in range(j + 1):
                        z, total = work[d + i], 0.0
                        for r in range(count):
                            total += wz[r] * z[r]
                        second[k, i, j] += total


@fast_kernel
def add_strip_squares(X, share, shift, work, counts, first, second):
    # as add_strip_moments, with second (k, d) the squares of single columns
    n, d = X.shape
    w = work[2 * d]
    for start in range(0, n, STRIP):
        count = min(STRIP, n - start)
        _load_strip(X, start, count, work)
        for k in range(share.shape[1]):
            total = 0.0
            for r in range(count):
                w[r] = share[start + r, k]
                total += w[r]
            counts[k] += total
            if total > 0.0:
                for j in range(d):
                    column, mean = work[j], shift[k, j]
                    total = square = 0.0
                    for r in range(count):
                        z = column[r] - mean
                        total += w[r] * z
                        square += w[r] * z * z
                    first[k, j] += total
                    second[k, j] += square
