"""Kernels of the linear support vector machines: products with a design matrix and sums of the band loss.

The design is C-ordered (dense) or CSR, float32 or float64, one row per observation; sums are float64.
`scale` is the constant appended to each row for the intercept; 0 means that there is none.
A row wants its score inside a band [low, high]; code -1 means below it, +1 above it, 0 inside.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def dense_scores(X, weights, bias, scores):  # X C-ordered; scores OUT
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * weights[j]
        scores[i] = total + bias


@fast_kernel
def dense_combine(X, pull, out):  # X C-ordered; out OUT: X' pull
    d = X.shape[1]
    out[:] = 0.0
    n_quads = X.shape[0] // 4
    for q in range(n_quads):
        i = 4 * q
        a, b, c, e = pull[i], pull[i + 1], pull[i + 2], pull[i + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or e != 0.0:
            for j in range(d):
                out[j] += a * X[i, j] + b * X[i + 1, j] + c * X[i + 2, j] + e * X[i + 3, j]
    for i in range(4 * n_quads, X.shape[0]):
        a = pull[i]
        for j in range(d):
            out[j] += a * X[i, j]


@kernel
def dense_panel(X, rows, root, extra, scale, panel):  # X C-ordered; panel OUT: root * [x, scale, extra]
    d = X.shape[1]
    last = panel.shape[1] - 1
    for k in range(rows.shape[0]):
        i = rows[k]
        r = root[k]
        for j in range(d):
            panel[k, j] = X[i, j] * r
        panel[k, d] = scale * r  # overwritten by the next line when there is no intercept column
        panel[k, last] = extra[k] * r


@kernel
def dense_columns(X, columns, scale, out):  # X C-ordered; out OUT: chosen columns, index X.shape[1] is the constant
    d = X.shape[1]
    for i in range(X.shape[0]):
        for k in range(columns.shape[0]):
            out[i, k] = X[i, columns[k]] if columns[k] < d else scale


@fast_kernel
def dense_norms(X, scale, norms):  # X C-ordered; norms OUT: squared lengths of the rows
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += np.float64(X[i, j]) * np.float64(X[i, j])
        norms[i] = total + scale * scale


@kernel
def csr_scores(X, first, last, weights, bias, scores):  # X CSR; scores OUT, of rows first..last-1
    data, indices, indptr = X.data, X.indices, X.indptr
    for i in range(first, last):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):  # plain order: rows are short, gathers are slower
            total += data[p] * weights[indices[p]]
        scores[i] = total + bias


@kernel
def csr_combine(X, first, last, pull, out):  # X CSR; out OUT: sum of pull[i] * x_i over the rows
    out[:] = 0.0
    for i in range(first, last):
        a = pull[i]
        if a != 0.0:
            for p in range(X.indptr[i], X.indptr[i + 1]):
                out[X.indices[p]] += a * X.data[p]


@kernel
def csr_panel(X, rows, root, extra, scale, panel):  # X CSR; panel OUT: root * [x, scale, extra]
    d = X.n_cols
    last = panel.shape[1] - 1
    panel[:] = 0.0
    for k in range(rows.shape[0]):
        i = rows[k]
        r = root[k]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            panel[k, X.indices[p]] += X.data[p] * r
        panel[k, d] = scale * r
        panel[k, last] = extra[k] * r


@fast_kernel
def csr_norms(X, scale, norms):  # X CSR; norms OUT
    for i in range(X.n_rows):
        total = 0.0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            total += np.float64(X.data[p]) * np.float64(X.data[p])
        norms[i] = total + scale * scale


@kernel
def band_codes(scores, low, high, codes):  # codes OUT
    for i in range(scores.shape[0]):
        codes[i] = -1 if scores[i] < low[i] else (1 if scores[i] > high[i] else 0)


@fast_kernel
def squared_band(scores, low, high, cost):
    """Sum of cost times squared distance to the band."""
    total = 0.0
    for i in range(scores.shape[0]):
        miss = max(low[i] - scores[i], scores[i] - high[i], 0.0)
        total += cost[i] * miss * miss
    return total


@fast_kernel
def absolute_band(scores, low, high, cost):
    """Sum of cost times distance to the band."""
    total = 0.0
    for i in range(scores.shape[0]):
        total += cost[i] * max(low[i] - scores[i], scores[i] - high[i], 0.0)
    return total


@fast_kernel
def squared_band_slope(scores, direction, step, low, high, cost):
    """First and second derivative in `step` of the squared band loss at scores + step * direction."""
    slope = 0.0
    curvature = 0.0
    for i in range(scores.shape[0]):
        score = scores[i] + step * direction[i]
        miss = min(score - low[i], 0.0) + max(score - high[i], 0.0)
        pull = 2.0 * cost[i] * direction[i]
        slope += pull * miss
        curvature += pull * direction[i] if miss != 0.0 else 0.0
    return slope, curvature


@kernel
def squared_band_pull(scores, low, high, cost, pull):  # pull OUT: minus the derivative of the loss of each row
    for i in range(scores.shape[0]):
        pull[i] = 2.0 * cost[i] * (max(low[i] - scores[i], 0.0) - max(scores[i] - high[i], 0.0))


@fast_kernel
def band_excess(scores, pull, low, high, cost):
    """Sum over rows of ``loss + conjugate - score * dual`` for the absolute band loss: zero at the optimum.

    `pull` is dual feasible, |pull| <= cost, positive where a row pulls its score up to `low`.  Every term is a
    product of two factors of one sign, so that nothing cancels near the optimum.
    """
    total = 0.0
    for i in range(scores.shape[0]):
        below = low[i] - scores[i]
        above = scores[i] - high[i]
        loss = cost[i] * max(below, above, 0.0)
        if pull[i] > 0.0:
            loss -= pull[i] * below
        elif pull[i] < 0.0:
            loss += pull[i] * above
        total += max(loss, 0.0)
    return total


@fast_kernel
def squared_band_excess(scores, pull, low, high, cost):
    """The twin of `band_excess` for the squared band loss, whose dual points have no bound."""
    total = 0.0
    for i in range(scores.shape[0]):
        miss = low[i] - scores[i] if pull[i] > 0.0 else scores[i] - high[i]
        wrong = scores[i] - high[i] if pull[i] > 0.0 else low[i] - scores[i]  # outside at the other end
        half = abs(pull[i]) / (2.0 * cost[i])
        if pull[i] == 0.0:
            miss = max(miss, wrong, 0.0)
            total += cost[i] * miss * miss
        elif miss >= 0.0:
            total += cost[i] * (miss - half) * (miss - half)
        else:
            wrong = max(wrong, 0.0)
            total += cost[i] * (half * half - 2.0 * half * miss + wrong * wrong)
    return total
