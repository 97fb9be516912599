"""Kernels of binary logistic regression: one pass over the rows, entropy of the dual, coordinate descent.

A pass computes for rows ``x_i`` with target ``y_i in {0, 1}``, weight ``s_i`` and score ``f_i = x_i w + b``

    loss       sum s_i (log(1 + e^f_i) - y_i f_i)
    residual   r_i = s_i (p_i - y_i)             p_i = 1 / (1 + e^-f_i)
    curvature  k_i = s_i p_i (1 - p_i)
    sums       sum r_i [x_i, 1],  sum k_i [x_i, 1]

reading each row once.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@kernel
def logistic_terms(score, target, weight):
    """(loss, residual, curvature) of one row; keeps relative precision in both tails."""
    small = math.exp(-abs(score))
    near, far = 1.0 / (1.0 + small), small / (1.0 + small)
    positive = near if score >= 0.0 else far
    negative = far if score >= 0.0 else near
    loss = math.log1p(small) + max(score, 0.0) - target * score
    residual = (1.0 - target) * positive - target * negative
    return weight * loss, weight * residual, weight * positive * negative


@fast_kernel
def dense_scores(X, theta, scores):
    # X: C order; theta = [w, b]
    # OUT: scores
    n, d = X.shape
    n4 = n - n % 4
    for i in range(0, n4, 4):
        a0 = a1 = a2 = a3 = 0.0
        for j in range(d):
            w = theta[j]
            a0 += X[i, j] * w
            a1 += X[i + 1, j] * w
            a2 += X[i + 2, j] * w
            a3 += X[i + 3, j] * w
        scores[i] = a0 + theta[d]
        scores[i + 1] = a1 + theta[d]
        scores[i + 2] = a2 + theta[d]
        scores[i + 3] = a3 + theta[d]
    for i in range(n4, n):
        total = 0.0
        for j in range(d):
            total += X[i, j] * theta[j]
        scores[i] = total + theta[d]


@kernel
def terms_of_scores(scores, target, weight, residual, curvature):
    # OUT: residual, curvature; returns the loss
    loss = 0.0
    for i in range(scores.shape[0]):
        value, residual[i], curvature[i] = logistic_terms(scores[i], target[i], weight[i])
        loss += value
    return loss


@fast_kernel
def dense_sums(X, residual, curvature, sums):
    # X: C order
    # OUT: sums (2, d + 1), added to: X' residual and X' curvature, the constant column last
    n, d = X.shape
    n4 = n - n % 4
    for i in range(0, n4, 4):
        r0, r1, r2, r3 = residual[i], residual[i + 1], residual[i + 2], residual[i + 3]
        k0, k1, k2, k3 = curvature[i], curvature[i + 1], curvature[i + 2], curvature[i + 3]
        for j in range(d):
            x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
            sums[0, j] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3
            sums[1, j] += k0 * x0 + k1 * x1 + k2 * x2 + k3 * x3
        sums[0, d] += r0 + r1 + r2 + r3
        sums[1, d] += k0 + k1 + k2 + k3
    for i in range(n4, n):
        for j in range(d):
            sums[0, j] += residual[i] * X[i, j]
            sums[1, j] += curvature[i] * X[i, j]
        sums[0, d] += residual[i]
        sums[1, d] += curvature[i]


@kernel
def dense_pass(X, target, weight, theta, block, scores, residual, curvature, sums):
    # X: C order; rows are taken `block` at a time so that the second read of a row is from cache
    # OUT: scores, residual, curvature (n,), sums (2, d + 1) added to; returns the loss
    loss = 0.0
    for start in range(0, X.shape[0], block):
        stop = min(start + block, X.shape[0])
        dense_scores(X[start:stop], theta, scores[start:stop])
        loss += terms_of_scores(
            scores[start:stop], target[start:stop], weight[start:stop], residual[start:stop], curvature[start:stop]
        )
        dense_sums(X[start:stop], residual[start:stop], curvature[start:stop], sums)
    return loss


@kernel
def csr_pass(X, target, weight, theta, start, stop, scores, residual, curvature, sums):
    # X: CompressedMatrix by rows; rows start..stop
    # OUT: scores, residual, curvature (n,), sums (2, d + 1) added to; returns the loss
    loss = 0.0
    d = X.n_cols
    for i in range(start, stop):
        score = theta[d]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            score += X.data[p] * theta[X.indices[p]]
        value, r, k = logistic_terms(score, target[i], weight[i])
        loss += value
        scores[i] = score
        residual[i] = r
        curvature[i] = k
        for p in range(X.indptr[i], X.indptr[i + 1]):
            j = X.indices[p]
            sums[0, j] += r * X.data[p]
            sums[1, j] += k * X.data[p]
        sums[0, d] += r
        sums[1, d] += k
    return loss


@kernel
def csr_gram(X, curvature, start, stop, gram):
    # X: CompressedMatrix by rows
    # OUT: gram (d, d), the sum over rows start..stop of k_i x_i x_i' added to both triangles
    for i in range(start, stop):
        for p in range(X.indptr[i], X.indptr[i + 1]):
            scaled = curvature[i] * X.data[p]
            row = X.indices[p]
            for q in range(X.indptr[i], X.indptr[i + 1]):
                gram[row, X.indices[q]] += scaled * X.data[q]


@kernel
def csr_squares(X, curvature, start, stop, diagonal):
    # X: CompressedMatrix by rows
    # OUT: diagonal (d,), the sum over rows start..stop of k_i x_ij^2 added to
    for i in range(start, stop):
        for p in range(X.indptr[i], X.indptr[i + 1]):
            diagonal[X.indices[p]] += curvature[i] * X.data[p] * X.data[p]


@kernel
def scaled_rows(X, scale, panel):
    # X: C order
    # OUT: panel = sqrt(scale_i) x_i, in the precision of the panel
    n, d = X.shape
    for i in range(n):
        root = math.sqrt(scale[i])
        for j in range(d):
            panel[i, j] = root * X[i, j]


@kernel
def dual_entropy(residual, curvature, weight, shift, scale):
    """``sum s_i h(scale |r_i + shift k_i| / s_i)``, h the entropy of a coin: the first part of the dual."""
    total = 0.0
    for i in range(residual.shape[0]):
        if weight[i] > 0.0:
            a = min(1.0, scale * abs(residual[i] + shift * curvature[i]) / weight[i])
            if 0.0 < a < 1.0:
                total -= weight[i] * (a * math.log(a) + (1.0 - a) * math.log1p(-a))
    return total


@kernel
def trial_loss(scores, change, step, target, weight):
    """The loss at scores + step * change."""
    loss = 0.0
    for i in range(scores.shape[0]):
        score = scores[i] + step * change[i]
        loss += weight[i] * (math.log1p(math.exp(-abs(score))) + max(score, 0.0) - target[i] * score)
    return loss


@kernel
def gather_columns(X, columns, scale, out):
    # X: C order
    # OUT: out (n, len(columns)) = sqrt(scale_i) X[i, columns], in the precision of `out`
    for i in range(X.shape[0]):
        root = math.sqrt(scale[i])
        for c in range(columns.shape[0]):
            out[i, c] = root * X[i, columns[c]]


@fast_kernel
def add_scaled_row(slope, row, factor):
    # OUT: slope += factor * row
    for j in range(slope.shape[0]):
        slope[j] += factor * row[j]


@kernel
def quadratic_descent(hessian, ridge, lasso, tolerance, max_sweeps, slope, z):
    # hessian: C order, symmetric, without the ridge part
    # OUT: slope = gradient of the smooth part at z, z = minimiser of the quadratic model plus penalties;
    # returns the number of sweeps
    size = z.shape[0]
    full = True  # sweep over everything, then over the non-zeros only until they settle
    for sweep in range(max_sweeps):
        worst = 0.0
        for j in range(size):
            if not full and z[j] == 0.0:
                continue
            curvature = hessian[j, j] + ridge[j]
            if curvature <= 0.0:
                continue
            old = z[j]
            point = curvature * old - slope[j]
            new = math.copysign(max(abs(point) - lasso[j], 0.0), point) / curvature
            if new != old:
                change = new - old
                z[j] = new
                add_scaled_row(slope, hessian[j], change)
                slope[j] += ridge[j] * change
                worst = max(worst, abs(change) * curvature)
        if not worst < 1e150:  # the model has no minimum
            return max_sweeps
        if worst <= tolerance:
            if full:
                return sweep + 1
            full = True
        else:
            full = False
    return max_sweeps


@kernel
def softened(values, threshold):
    """Sum of ``max(|v_j| - threshold, 0)^2``."""
    total = 0.0
    for j in range(values.shape[0]):
        total += max(abs(values[j]) - threshold, 0.0) ** 2
    return total


@kernel
def gather_scaled(X, root, columns, indptr, indices, values):
    # X: CompressedMatrix by columns; the constant column stands beyond its last
    # OUT: indptr, indices, values: the columns in this order, row i times root_i
    p = 0
    for c in range(columns.shape[0]):
        j = columns[c]
        indptr[c] = p
        if j == X.n_cols:
            for i in range(root.shape[0]):
                indices[p], values[p] = i, root[i]
                p += 1
        else:
            for q in range(X.indptr[j], X.indptr[j + 1]):
                indices[p], values[p] = X.indices[q], root[X.indices[q]] * X.data[q]
                p += 1
    indptr[columns.shape[0]] = p


@fast_kernel
def sparse_slope(indices, values, vector):
    """Inner product of a sparse column with a vector."""
    total = 0.0
    for p in range(indices.shape[0]):
        total += values[p] * vector[indices[p]]
    return total


@kernel
def soft_minimum(slope, bend, lasso, old):
    """The minimiser of a parabola with this slope at `old`, plus ``lasso |z|``."""
    point = bend * old - slope
    return math.copysign(max(abs(point) - lasso, 0.0), point) / bend


@kernel
def constant_update(values, diagonal, first, penalty, image, z):
    # values: the constant column, scaled, no entry missing; arguments of the one coordinate as in `sparse_sweep`
    # OUT: image, z (1,); returns |change| * diagonal
    slope = first[0] + penalty[0, 0] * (z[0] - penalty[2, 0])
    for i in range(image.shape[0]):
        slope += values[i] * image[i]
    change = soft_minimum(slope, diagonal[0], penalty[1, 0], z[0]) - z[0]
    z[0] += change
    for i in range(image.shape[0]):
        image[i] += np.float64(values[i]) * change
    return abs(change) * diagonal[0]


@kernel
def sparse_sweep(indptr, indices, values, cross, diagonal, first, penalty, image, z):
    # columns scaled by the roots of the curvatures, as `gather_scaled` leaves them; diagonal with the ridge part
    # cross: products of the columns with the constant one, which is then the last; all zero when there is none
    # penalty (3, m): ridge, lasso and start of the columns; first: slopes at the start
    # OUT: image = scaled columns times (z - start); z; returns the largest |change| * diagonal
    m, worst, shift, share = z.shape[0], 0.0, 0.0, 0.0
    constant = m - 1 if m > 0 and cross[m - 1] > 0.0 else m
    full = values[indptr[constant] :]
    if constant < m:
        fixed = (full, diagonal[constant:], first[constant:], penalty[:, constant:])
        worst = constant_update(fixed[0], fixed[1], fixed[2], fixed[3], image, z[constant:])
        # where its sign is settled the constant follows every change, shift in sum, to its own minimum
        share = 1.0 / diagonal[constant] if z[constant] != 0.0 or penalty[1, constant] == 0.0 else 0.0
    for c in range(constant):
        if diagonal[c] <= 0.0:
            continue
        begin, end, old, follow = indptr[c], indptr[c + 1], z[c], cross[c] * share
        bend = diagonal[c] - cross[c] * follow
        if bend < 1e-6 * diagonal[c]:
            bend, follow = diagonal[c], 0.0
        slope = first[c] + penalty[0, c] * (old - penalty[2, c]) + cross[c] * shift
        slope += sparse_slope(indices[begin:end], values[begin:end], image)
        new = soft_minimum(slope, bend, penalty[1, c], old)
        if new != old:
            change = new - old
            z[c] = new
            worst = max(worst, abs(change) * bend)
            shift -= follow * change
            for p in range(begin, end):
                image[indices[p]] += np.float64(values[p]) * change
    if shift != 0.0:
        z[constant] += shift
        for i in range(image.shape[0]):
            image[i] += full[i] * shift
    return worst


@kernel
def sparse_products(indptr, indices, values, root, cross, diagonal):
    # OUT: cross, diagonal: products of the columns with `root` and with themselves
    for c in range(diagonal.shape[0]):
        total, square = 0.0, 0.0
        for p in range(indptr[c], indptr[c + 1]):
            value = np.float64(values[p])
            total += value * root[indices[p]]
            square += value * value
        cross[c], diagonal[c] = total, square
