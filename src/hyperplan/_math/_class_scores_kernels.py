"""Scores of rows by class, the largest of each row, and their logarithmic normalisation.

Every X is C-ordered (n, d), in float32 or float64; sums are float64.  Four rows at a time share the loads of what
belongs to a class; inner loops run over slices from 0, where the compiler sees that no index is negative.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._math._exponential_kernels import vector_exp

NO_SHARE = 1e-250  # smaller shares count as none: their products would be subnormal, a hundred times slower


@fast_kernel
def diagonal_scores(X, mean, precision, constant, out):
    # X is C-ordered (n, d), mean and precision (k, d), constant (k,);
    # out (n, k) is OUT: constant[k] - sum_j precision[k, j] (x_j - mean[k, j])^2 / 2
    rows, columns = X.shape
    whole = rows - rows % 4
    for k in range(mean.shape[0]):
        m, p, top = mean[k], precision[k], constant[k]
        for i in range(0, whole, 4):
            a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
            ta = tb = tc = td = 0.0
            for j in range(columns):
                centre, scale = m[j], p[j]
                za, zb, zc, zd = a[j] - centre, b[j] - centre, c[j] - centre, d[j] - centre
                ta += za * za * scale
                tb += zb * zb * scale
                tc += zc * zc * scale
                td += zd * zd * scale
            out[i, k], out[i + 1, k] = top - 0.5 * ta, top - 0.5 * tb
            out[i + 2, k], out[i + 3, k] = top - 0.5 * tc, top - 0.5 * td
        for i in range(whole, rows):
            a, total = X[i], 0.0
            for j in range(columns):
                z = a[j] - m[j]
                total += z * z * p[j]
            out[i, k] = top - 0.5 * total


@fast_kernel
def present_scores(X, mean, precision, half_log, constant, out):
    # as diagonal_scores, with NaN for missing in X: such an entry adds nothing;
    # half_log (k, d) is subtracted for each entry that is there; out (n, k) is OUT
    for i in range(X.shape[0]):
        row = X[i]
        for k in range(mean.shape[0]):
            m, p, h, total = mean[k], precision[k], half_log[k], 0.0
            for j in range(row.shape[0]):
                x = row[j]
                z = x - m[j]
                total += 0.5 * z * z * p[j] + h[j] if x == x else 0.0
            out[i, k] = constant[k] - total


@fast_kernel
def linear_class_scores(X, coef, constant, out):
    # X is C-ordered (n, d), coef (k, d), constant (k,); out (n, k) is OUT: constant[k] + coef[k] x
    rows, columns = X.shape
    whole = rows - rows % 4
    for k in range(coef.shape[0]):
        v, top = coef[k], constant[k]
        for i in range(0, whole, 4):
            a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
            ta = tb = tc = td = 0.0
            for j in range(columns):
                x = v[j]
                ta += a[j] * x
                tb += b[j] * x
                tc += c[j] * x
                td += d[j] * x
            out[i, k], out[i + 1, k], out[i + 2, k], out[i + 3, k] = top + ta, top + tb, top + tc, top + td
        for i in range(whole, rows):
            a, total = X[i], 0.0
            for j in range(columns):
                total += a[j] * v[j]
            out[i, k] = top + total


@fast_kernel
def binary_class_scores(X, threshold, coef, constant, out):
    # X is C-ordered (n, d), coef (k, d), constant (k,); out (n, k) is OUT: constant + sum of coef where x > threshold;
    # a NaN or an infinity makes the scores of its row NaN
    for k in range(coef.shape[0]):
        v, top = coef[k], constant[k]
        for i in range(X.shape[0]):
            row, total = X[i], 0.0
            for j in range(row.shape[0]):
                total += (v[j] if row[j] > threshold else 0.0) + 0.0 * row[j]
            out[i, k] = top + total


@fast_kernel
def add_category_scores(X, offsets, table, out):
    # X is C-ordered (n, q), whole numbers, negative for missing; row offsets[j] + v of table (all categories, k) is
    # added for category v of column j; out (n, k) is OUT
    for i in range(X.shape[0]):
        row, scores = X[i], out[i]
        for j in range(row.shape[0]):
            if row[j] >= 0:
                part = table[offsets[j] + row[j]]
                for k in range(scores.shape[0]):
                    scores[k] += part[k]


@kernel
def row_winners(scores, out):
    # scores is C-ordered (n, k); out (n,) is OUT: the first of the largest scores of each row
    for i in range(scores.shape[0]):
        row, best = scores[i], 0
        for k in range(1, row.shape[0]):
            if row[k] > row[best]:
                best = k
        out[i] = best


@kernel
def log_normalise(scores, norms):
    # scores is C-ordered (n, k) and OUT: minus norms (n,), OUT, the logarithms of the sums of exponentials
    for i in range(scores.shape[0]):
        row = scores[i]
        top = row[0]
        for k in range(1, row.shape[0]):
            top = max(top, row[k])
        total = 0.0
        for k in range(row.shape[0]):
            total += np.exp(row[k] - top)
        norms[i] = top + np.log(total)
        for k in range(row.shape[0]):
            row[k] -= norms[i]


@kernel
def normalise_shares(scores, norms):
    # scores is C-ordered (n, k) and OUT: the exponentials, divided by their sums; norms (n,) is OUT: logs of sums
    for i in range(scores.shape[0]):
        row = scores[i]
        top = row[0]
        for k in range(1, row.shape[0]):
            top = max(top, row[k])
        for k in range(row.shape[0]):
            row[k] = vector_exp(row[k] - top)
        total = 0.0
        for k in range(row.shape[0]):
            total += row[k]
        norms[i] = top + np.log(total)
        for k in range(row.shape[0]):
            share = row[k] / total
            row[k] = 0.0 if share < NO_SHARE else share
