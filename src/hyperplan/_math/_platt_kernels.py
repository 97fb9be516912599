"""One pass over scores for the sigmoid that turns them into probabilities."""

import math

from hyperplan._core.jit import kernel


@kernel
def platt_sums(scores, targets, weight, slope, intercept, sums):  # OUT: sums
    """Loss, gradient and Hessian of ``sum_i w_i [t_i f_i + log(1 + exp(-f_i))]`` with ``f_i = slope s_i + intercept``.

    sums: loss, d/da, d/db, d2/da2, d2/dadb, d2/db2.
    """
    # scores, targets, weight: (n,) float64; sums: (6,)
    loss = da = db = daa = dab = dbb = 0.0
    for i in range(scores.shape[0]):
        s, t, w = scores[i], targets[i], weight[i]
        f = slope * s + intercept
        small = math.exp(-abs(f))
        p = small / (1.0 + small) if f >= 0.0 else 1.0 / (1.0 + small)
        loss += w * ((t * f if f >= 0.0 else (t - 1.0) * f) + math.log1p(small))
        first, second = w * (t - p), w * p * (1.0 - p)
        da += first * s
        db += first
        daa += second * s * s
        dab += second * s
        dbb += second
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = loss, da, db, daa, dab, dbb
