"""Kernels of softmax regression.

For a row with scores ``f_ik = x_i w_k + b_k``, class c_i and weight s_i the loss is
``s_i (log sum_l exp(f_il) - f_i,c_i)`` and the residual ``s_i (p_ik - 1{k = c_i})``.
"""

import math

from hyperplan._core.jit import kernel


@kernel
def softmax_terms(scores, bias, codes, weight, residual):
    # scores, residual: C order (n, K), may be the same array
    # OUT: residual; returns the loss
    n, n_classes = scores.shape
    loss = 0.0
    for i in range(n):
        top = scores[i, 0] + bias[0]
        for k in range(1, n_classes):
            top = max(top, scores[i, k] + bias[k])
        code = codes[i]
        own = scores[i, code] + bias[code]
        total = 0.0
        for k in range(n_classes):
            value = math.exp(scores[i, k] + bias[k] - top)
            residual[i, k] = value
            total += value
        loss += weight[i] * (math.log(total) + top - own)
        factor = weight[i] / total
        others = 0.0
        for k in range(n_classes):
            residual[i, k] *= factor
            if k != code:
                others += residual[i, k]
        residual[i, code] = -others  # p - 1 without cancellation
    return loss


@kernel
def csr_softmax_pass(X, theta, codes, weight, start, stop, residual, sums):
    # X: CompressedMatrix by rows; theta, sums: C order (d + 1, K), the constant column last
    # OUT: residual (n, K), sums added to; returns the loss
    d = X.n_cols
    for i in range(start, stop):
        for k in range(theta.shape[1]):
            residual[i, k] = 0.0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            for k in range(theta.shape[1]):
                residual[i, k] += X.data[p] * theta[X.indices[p], k]
    loss = softmax_terms(residual[start:stop], theta[d], codes[start:stop], weight[start:stop], residual[start:stop])
    csr_residual_sums(X, residual, start, stop, sums)
    return loss


@kernel
def csr_residual_sums(X, residual, start, stop, sums):
    # X: CompressedMatrix by rows
    # OUT: sums (d + 1, K) += [X, 1]' residual over rows start..stop
    d = X.n_cols
    for i in range(start, stop):
        for p in range(X.indptr[i], X.indptr[i + 1]):
            for k in range(residual.shape[1]):
                sums[X.indices[p], k] += X.data[p] * residual[i, k]
        for k in range(residual.shape[1]):
            sums[d, k] += residual[i, k]


@kernel
def probabilities(residual, codes, weight, out):
    # OUT: out (n, K) = residual / weight + 1{k = code}; rows without weight get zeros
    for i in range(residual.shape[0]):
        for k in range(residual.shape[1]):
            out[i, k] = residual[i, k] / weight[i] if weight[i] > 0.0 else 0.0
        if weight[i] > 0.0:
            out[i, codes[i]] += 1.0


@kernel
def class_panel(X, probability, weight, plain, panel):
    # X: C order (n, D); probability (n, K)
    # OUT: plain (n, D) = sqrt(s_i) x_i, panel (n, K D) = sqrt(s_i) p_ik x_i
    n, width = X.shape
    for i in range(n):
        root = math.sqrt(weight[i])
        for j in range(width):
            plain[i, j] = root * X[i, j]
        for k in range(probability.shape[1]):
            factor = root * probability[i, k]
            for j in range(width):
                panel[i, k * width + j] = factor * X[i, j]


@kernel
def mixed_entropy(probability, codes, weight, mix, towards, keep, residual):
    """Entropy of ``Q = keep ((1 - mix) P + mix towards) + (1 - keep) Y``, summed with the weights."""
    # OUT: residual = weight (Q - Y)
    total = 0.0
    for i in range(probability.shape[0]):
        for k in range(probability.shape[1]):
            q = keep * ((1.0 - mix) * probability[i, k] + mix * towards[k])
            own = 0.0
            if k == codes[i]:
                q += 1.0 - keep
                own = 1.0
            if q > 0.0:
                total -= weight[i] * q * math.log(q)
            residual[i, k] = weight[i] * (q - own)
    return total
