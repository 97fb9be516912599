"""One pass over a design: means, norms, correlations with the target, and centred blocks."""

import math

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def dense_column_statistics(X, weight, target, center, total, first, last, mean, norm2, xy):
    """Weighted mean, centred squared norm and (x_j - mean)'target of the columns first <= j < last.

    `target` already carries the weights.  A column is read twice, the second time from cache.
    """
    # X is F-ordered; mean, norm2, xy are OUT
    n = X.shape[0]
    for j in range(first, last):
        m = 0.0
        if center:
            for i in range(n):
                m += weight[i] * X[i, j]
            m /= total
        square = product = 0.0
        for i in range(n):
            x = X[i, j] - m
            square += weight[i] * x * x
            product += target[i] * x
        mean[j] = m
        norm2[j] = square
        xy[j] = product


@fast_kernel
def sparse_column_statistics(design, target, target_sum, center, total, first, last, mean, norm2, column_sum, xy):
    """The same for a CSC design, and the weighted column sums; `design` holds data, indices, indptr and weight."""
    # mean, norm2, column_sum, xy are OUT
    for j in range(first, last):
        m = column = inside = 0.0
        for k in range(design.indptr[j], design.indptr[j + 1]):
            s = design.weight[design.indices[k]]
            column += s * design.data[k]
            inside += s
        if center:
            m = column / total
        square = product = 0.0
        for k in range(design.indptr[j], design.indptr[j + 1]):
            i = design.indices[k]
            x = design.data[k] - m
            square += design.weight[i] * x * x
            product += design.data[k] * target[i]
        mean[j] = m
        norm2[j] = square + max(total - inside, 0.0) * m * m
        column_sum[j] = column
        xy[j] = product - m * target_sum


@kernel
def gather_columns(X, mean, root, columns, Z):
    """Z[:, k] = root * (X[:, columns[k]] - mean), in float64."""
    # X and Z are F-ordered; Z is OUT
    for k in range(columns.shape[0]):
        j = columns[k]
        m = mean[j]
        for i in range(X.shape[0]):
            Z[i, k] = root[i] * (X[i, j] - m)


@kernel
def transpose_tile(X, first, last, F):
    """F[:, first:last] = X[:, first:last] by tiles that stay in cache."""
    # X is C-ordered, F is F-ordered (OUT)
    for top in range(0, X.shape[0], 64):
        bottom = min(top + 64, X.shape[0])
        for left in range(first, last, 16):
            right = min(left + 16, last)
            for j in range(left, right):
                for i in range(top, bottom):
                    F[i, j] = X[i, j]


@kernel
def uncertain(c, norm, seen, moved, w, bound, needed):
    """needed[j] = whether |x_j'r| may reach `bound`; return how many may.

    `c[j]` was exact for the residual numbered ``seen[j]``; the residual has moved by ``moved[seen[j]]`` since, so that
    Cauchy and Schwarz bound today's correlation by ``|c[j]| + norm[j] * moved``.
    """
    # needed is OUT
    count = 0
    for j in range(c.shape[0]):
        needed[j] = w[j] != 0.0 or not abs(c[j]) + norm[j] * moved[seen[j]] < bound
        count += needed[j]
    return count


@fast_kernel
def distance(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += (a[i] - b[i]) ** 2
    return math.sqrt(total)
