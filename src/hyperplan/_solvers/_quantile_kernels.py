"""Kernels of quantile regression: the row-wise parts of an interior-point step, and the pivot's line search.

No kernel here sees X.  Rows carry a dual variable x in [0, u] with slack s = u - x and multipliers z, w of the two
bounds; z - w is minus the residual.  All arrays are contiguous float64.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel


@fast_kernel
def barrier_weights(x, s, z, w, q, qr):
    # X is not seen
    """q = 1 / (z/x + w/s), the weights of the normal equations, and q (z - w)."""
    # OUT q (n,), qr (n,)
    for i in range(x.shape[0]):
        q[i] = 1.0 / (z[i] / x[i] + w[i] / s[i])
        qr[i] = q[i] * (z[i] - w[i])


@kernel
def affine_step(x, s, z, w, q, score, dx, totals):
    # X is not seen; score = X @ step of the multipliers
    """The predictor: dx, the longest steps in x and in (z, w), and the sums that tell the next barrier parameter."""
    # OUT dx (n,), totals (10,) = primal step, dual step, zx, z dx, dz x, dz dx, ws, -w dx, dw s, -dw dx
    primal = dual = 1e20
    zx = zdx = dzx = dzdx = ws = wds = dws = dwds = 0.0
    for i in range(x.shape[0]):
        d = q[i] * (score[i] - (z[i] - w[i]))
        dz = -z[i] * (1.0 + d / x[i])
        dw = -w[i] * (1.0 - d / s[i])
        dx[i] = d
        if d < 0.0:
            primal = min(primal, -x[i] / d)
        elif d > 0.0:
            primal = min(primal, s[i] / d)
        if dz < 0.0:
            dual = min(dual, -z[i] / dz)
        if dw < 0.0:
            dual = min(dual, -w[i] / dw)
        zx += z[i] * x[i]
        zdx += z[i] * d
        dzx += dz * x[i]
        dzdx += dz * d
        ws += w[i] * s[i]
        wds -= w[i] * d
        dws += dw * s[i]
        dwds -= dw * d
    totals[0], totals[1] = primal, dual
    totals[2], totals[3], totals[4], totals[5] = zx, zdx, dzx, dzdx
    totals[6], totals[7], totals[8], totals[9] = ws, wds, dws, dwds


@fast_kernel
def corrector_rhs(x, s, z, w, q, dx, mu, rhs):
    # X is not seen
    """The corrector's addition to the right-hand side of the normal equations."""
    # OUT rhs (n,)
    for i in range(x.shape[0]):
        dz = -z[i] * (1.0 + dx[i] / x[i])
        dw = -w[i] * (1.0 - dx[i] / s[i])
        rhs[i] = q[i] * ((dx[i] * dz - mu) / x[i] + (dx[i] * dw + mu) / s[i])


@kernel
def corrected_step(x, s, z, w, q, score, mu, dx, dz, dw, steps):
    # X is not seen; dx holds the predictor on entry
    """Predictor and corrector together, and their longest steps."""
    # OUT dx (n,), dz (n,), dw (n,), steps (2,)
    primal = dual = 1e20
    for i in range(x.shape[0]):
        first = dx[i]
        first_dz = -z[i] * (1.0 + first / x[i])
        first_dw = -w[i] * (1.0 - first / s[i])
        second_order = (mu - first * first_dz) / x[i] - (mu + first * first_dw) / s[i]
        d = q[i] * (score[i] + second_order - (z[i] - w[i]))
        a = (mu - z[i] * d - first * first_dz) / x[i] - z[i]
        b = (mu + w[i] * d + first * first_dw) / s[i] - w[i]
        dx[i], dz[i], dw[i] = d, a, b
        if d < 0.0:
            primal = min(primal, -x[i] / d)
        elif d > 0.0:
            primal = min(primal, s[i] / d)
        if a < 0.0:
            dual = min(dual, -z[i] / a)
        if b < 0.0:
            dual = min(dual, -w[i] / b)
    steps[0], steps[1] = primal, dual


@fast_kernel
def move(primal, dual, dx, dz, dw, x, s, z, w):
    # X is not seen
    """Take the steps; return the gap z'x + w's."""
    # OUT x (n,), s (n,), z (n,), w (n,)
    gap = 0.0
    for i in range(x.shape[0]):
        x[i] += primal * dx[i]
        s[i] -= primal * dx[i]
        z[i] += dual * dz[i]
        w[i] += dual * dw[i]
        gap += z[i] * x[i] + w[i] * s[i]
    return gap


@kernel
def crossings(residual, change, weight, share, psi, basic, time, rise):
    # X is not seen; change = X @ direction
    """Where each non-basic residual crosses zero along a direction, and by how much the slope rises there.

    Rows at zero already cross at once, and their slope rises from the dual value psi to the end of its interval.
    Returns how many cross.
    """
    # OUT time (n,), rise (n,): infinite and 0 for rows that never cross
    count = 0
    for i in range(residual.shape[0]):
        time[i] = np.inf
        rise[i] = 0.0
        if basic[i] or change[i] == 0.0:
            continue
        if residual[i] == 0.0:
            down = change[i] > 0.0
            room = (1.0 - share[i]) * weight[i] + psi[i] if down else share[i] * weight[i] - psi[i]
            time[i] = 0.0
            rise[i] = room * abs(change[i])
            count += 1
        elif (residual[i] > 0.0) == (change[i] > 0.0):
            time[i] = residual[i] / change[i]
            rise[i] = weight[i] * abs(change[i])
            count += 1
    return count
