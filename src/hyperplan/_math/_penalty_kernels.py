"""Penalty kernels: every separable penalty here is ``l1 |w|_1 + (l2 / 2) |w|_2^2``.  Arrays are contiguous float64."""

from hyperplan._core.jit import kernel


@kernel
def soft_threshold_scalar(z, threshold):
    """sign(z) (|z| - threshold)_+"""
    if z > threshold:
        return z - threshold
    if z < -threshold:
        return z + threshold
    return 0.0


@kernel
def penalty_value(w, l1, l2):
    size = square = 0.0
    for j in range(w.shape[0]):
        size += abs(w[j])
        square += w[j] * w[j]
    return (l1 * size if l1 > 0.0 else 0.0) + (0.5 * l2 * square if l2 > 0.0 else 0.0)


@kernel
def prox_elastic_net(z, l1, l2, out):  # OUT: out
    """argmin_w 1/2 |w - z|^2 + l1 |w|_1 + (l2 / 2) |w|^2, coordinate by coordinate."""
    for j in range(z.shape[0]):
        out[j] = soft_threshold_scalar(z[j], l1) / (1.0 + l2)


@kernel
def subdifferential_distance(gradient, w, l1, l2):
    """Largest distance of -gradient_j to the subdifferential of the penalty at w_j: 0 exactly at an optimum."""
    worst = 0.0
    for j in range(w.shape[0]):
        g = gradient[j] + l2 * w[j]
        if w[j] > 0.0:
            miss = abs(g + l1)
        elif w[j] < 0.0:
            miss = abs(g - l1)
        else:
            miss = max(abs(g) - l1, 0.0)
        if miss != miss:  # a NaN is never optimal
            return miss
        worst = max(worst, miss)
    return worst
