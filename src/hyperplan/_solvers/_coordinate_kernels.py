"""Coordinate descent for least squares with an l1 + l2 penalty: kernels on a Gram matrix and on residuals.

All work on the centred and weighted problem

    minimise  1/2 sum_i s_i (y_i - (x_i - mean)'w)^2 + l1 |w|_1 + l2/2 |w|_2^2

without forming ``X - mean``: the mean is subtracted while a column is read.  Dense X is F-ordered; sparse X is CSC
and the constant that centring adds to every residual travels in one number, `offset`.
"""

import math

from hyperplan._core._rng_kernels import next_below
from hyperplan._core.jit import fast_kernel, kernel


@kernel
def duality_gap(l1, l2, r2, ry, w_l1, w_l2, correlation, gradient2):
    """Gap between the objective and the dual at the residual, scaled until it is feasible.

    `correlation` is max |X'r - l2 w| and `gradient2` the squared norm of X'r, used where no l1 penalty bounds the dual:
    with l2 alone the dual is unconstrained, without any penalty the squared gradient stands for the gap.
    """
    if l1 > 0.0:
        scale = l1 / correlation if correlation > l1 else 1.0
        both = r2 + l2 * w_l2
        return 0.5 * both * (1.0 + scale * scale) + l1 * w_l1 - scale * ry
    if l2 > 0.0:
        return r2 + 0.5 * l2 * w_l2 - ry + gradient2 / (2.0 * l2)
    return gradient2


@fast_kernel
def coefficient_sums(penalty, w, c):
    """(|w|_1, |w|_2^2, max_j |c_j - l2 w_j|, sum c_j^2) for c = X'r; the maximum is one-sided for w >= 0."""
    w_l1 = w_l2 = gradient2 = correlation = 0.0
    for j in range(w.shape[0]):
        w_l1 += abs(w[j])
        w_l2 += w[j] * w[j]
        gradient2 += c[j] * c[j]
        score = c[j] - penalty.l2 * w[j]
        if not penalty.positive:
            score = abs(score)
        if score > correlation:
            correlation = score
    return w_l1, w_l2, correlation, gradient2


@fast_kernel
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def new_coefficient(target, norm2, penalty):
    """Minimiser over one coordinate: the soft threshold of `target` divided by its curvature."""
    if target > penalty.l1:
        return (target - penalty.l1) / (norm2 + penalty.l2)
    if target < -penalty.l1 and not penalty.positive:
        return (target + penalty.l1) / (norm2 + penalty.l2)
    return 0.0


@kernel
def safe_gap(gap, y2):
    """The gap, or the rounding error of computing it if that is larger."""
    return max(abs(gap), 1e-14 * y2)


@kernel
def outside_safe_sphere(score, norm2, correlation, gap, penalty):
    """Gap Safe rule (Fercoq, Gramfort, Salmon 2015): True when the coefficient must be zero at the optimum.

    `gap` must not be below its own rounding error (see `safe_gap`): a sphere of radius zero excludes everything.
    """
    radius = math.sqrt(2.0 * gap) / penalty.l1
    reached = score / max(penalty.l1, correlation)
    if not penalty.positive:
        reached = abs(reached)
    return (1.0 - reached) / math.sqrt(norm2 + penalty.l2) > radius


@kernel
def gram_gap(penalty, y2, q, w, c):
    """(gap, max |X'r - l2 w|) from the Gram matrix's point of view: c = q - G w, |r|^2 = y2 - w'q - w'c."""
    w_l1, w_l2, correlation, gradient2 = coefficient_sums(penalty, w, c)
    wq = dot(w, q)
    r2 = y2 - wq - dot(w, c)
    return duality_gap(penalty.l1, penalty.l2, r2, y2 - wq, w_l1, w_l2, correlation, gradient2), correlation


@kernel
def gram_screen(G, penalty, gap, correlation, active, n_active, w, c):
    """Drop from `active` what the safe rule excludes, zeroing its coefficients; return how many remain."""
    # G is C-ordered and symmetric
    kept = 0
    for a in range(n_active):
        j = active[a]
        score = c[j] - penalty.l2 * w[j]
        if penalty.l1 > 0.0 and outside_safe_sphere(score, G[j, j], correlation, gap, penalty):
            if w[j] != 0.0:
                for k in range(c.shape[0]):
                    c[k] += w[j] * G[j, k]
                w[j] = 0.0
        else:
            active[kept] = j
            kept += 1
    return kept


@kernel
def gram_descent(G, q, penalty, stop, rng, active, w, c):
    """Cycle over the coordinates, each step costing one row of G; return (epochs, gap, settled).

    Stops after an epoch whose largest step is at most ``stop.step`` relative to the largest coefficient (settled) and
    whose duality gap is at most ``stop.goal``; or after ``stop.epochs`` epochs; or at once if ``stop.entry`` is set and
    the gap is small enough.  `rng` holds a random state, or nothing for cyclic order.
    """
    # G is C-ordered and symmetric; w and c = q - G w are updated in place (OUT), active is work space
    gap, correlation = gram_gap(penalty, stop.y2, q, w, c)
    if stop.entry and 0.0 <= gap <= stop.goal:
        return 0, gap, True
    settled = False
    n_active = 0
    for j in range(w.shape[0]):
        if G[j, j] > 0.0:
            active[n_active] = j
            n_active += 1
        else:
            w[j] = 0.0
    n_active = gram_screen(G, penalty, safe_gap(gap, stop.y2), correlation, active, n_active, w, c)
    for epoch in range(stop.epochs):
        largest = change = 0.0
        for a in range(n_active):
            j = active[next_below(rng, n_active)] if rng.shape[0] else active[a]
            old = w[j]
            w[j] = new_coefficient(c[j] + G[j, j] * old, G[j, j], penalty)
            step = w[j] - old
            if step != 0.0:
                for k in range(c.shape[0]):
                    c[k] -= step * G[j, k]
            change = max(change, abs(step))
            largest = max(largest, abs(w[j]))
        settled = change <= stop.step * largest
        if settled or epoch == stop.epochs - 1:
            gap, correlation = gram_gap(penalty, stop.y2, q, w, c)
            if gap <= stop.goal:
                return epoch + 1, gap, settled
            n_active = gram_screen(G, penalty, safe_gap(gap, stop.y2), correlation, active, n_active, w, c)
    return stop.epochs, gap, settled


@kernel
def enter_worst(G, penalty, count, w, c):
    """Move the `count` zero coordinates that violate optimality most to their minimisers, worst first."""
    # G is C-ordered and symmetric; w and c are updated in place (OUT)
    for _ in range(count):
        worst, where = 0.0, -1
        for j in range(w.shape[0]):
            if w[j] == 0.0 and G[j, j] > 0.0:
                score = c[j] if penalty.positive else abs(c[j])
                if score - penalty.l1 > worst:
                    worst, where = score - penalty.l1, j
        if where < 0:
            return
        w[where] = new_coefficient(c[where], G[where, where], penalty)
        for k in range(c.shape[0]):
            c[k] -= w[where] * G[where, k]


@fast_kernel
def column_dot(design, j, rho, offset):
    """(x_j - mean_j)'rho, where a sparse design's residual is ``rho - offset * weight``."""
    # design.X is F-ordered
    total = 0.0
    if design.sparse:
        for k in range(design.indptr[j], design.indptr[j + 1]):
            total += design.data[k] * rho[design.indices[k]]
        return total - offset * design.column_sum[j]
    mean = design.mean[j]
    for i in range(rho.shape[0]):
        total += (design.X[i, j] - mean) * rho[i]
    return total


@kernel
def column_step(design, j, step, rho, offset):
    """rho -= step * weight * (x_j - mean_j); return the new offset (dense designs have none)."""
    # design.X is F-ordered; rho is OUT
    mean = design.mean[j]
    if design.sparse:
        for k in range(design.indptr[j], design.indptr[j + 1]):
            i = design.indices[k]
            rho[i] -= step * design.weight[i] * design.data[k]
        return offset - step * mean
    if design.weighted:
        for i in range(rho.shape[0]):
            rho[i] -= step * design.weight[i] * (design.X[i, j] - mean)
    else:
        for i in range(rho.shape[0]):
            rho[i] -= step * (design.X[i, j] - mean)
    return offset


@kernel
def correlations(design, rho, offset, needed, first, last, c):
    """c[j] = (x_j - mean_j)'rho for the columns first <= j < last that are needed."""
    # c is OUT
    for j in range(first, last):
        if needed[j]:
            c[j] = column_dot(design, j, rho, offset)


@fast_kernel
def residual_sums(design, y, rho, offset):
    """(|r|^2, r'y) under the weights, for y centred."""
    r2 = ry = 0.0
    for i in range(rho.shape[0]):
        s = design.weight[i]
        if s > 0.0:
            r = rho[i] / s - offset
            r2 += s * r * r
            ry += s * r * y[i]
    return r2, ry


@kernel
def residual_gap(design, y, penalty, rho, offset, w, c):
    """(gap, max |X'r - l2 w|) with c = X'r computed anew."""
    # c is OUT
    for j in range(w.shape[0]):
        c[j] = column_dot(design, j, rho, offset)
    w_l1, w_l2, correlation, gradient2 = coefficient_sums(penalty, w, c)
    r2, ry = residual_sums(design, y, rho, offset)
    return duality_gap(penalty.l1, penalty.l2, r2, ry, w_l1, w_l2, correlation, gradient2), correlation


@kernel
def residual_descent(design, y, penalty, stop, rng, active, w, rho, offset, c):
    """As `gram_descent`, each step costing one or two passes over a column.

    Returns (epochs, gap, settled, offset).
    """
    # w, rho, c = X'r are updated in place (OUT), active is work space
    gap, correlation = residual_gap(design, y, penalty, rho, offset, w, c)
    if stop.entry and gap <= stop.goal:
        return 0, gap, True, offset
    settled = False
    n_active = 0
    for j in range(w.shape[0]):
        keep = design.norm2[j] > 0.0
        if keep and penalty.l1 > 0.0:
            score, safe = c[j] - penalty.l2 * w[j], safe_gap(gap, stop.y2)
            keep = not outside_safe_sphere(score, design.norm2[j], correlation, safe, penalty)
        if keep:
            active[n_active] = j
            n_active += 1
        elif w[j] != 0.0:
            offset = column_step(design, j, -w[j], rho, offset)
            w[j] = 0.0
    for epoch in range(stop.epochs):
        largest = change = 0.0
        for a in range(n_active):
            j = active[next_below(rng, n_active)] if rng.shape[0] else active[a]
            old = w[j]
            w[j] = new_coefficient(column_dot(design, j, rho, offset) + design.norm2[j] * old, design.norm2[j], penalty)
            step = w[j] - old
            if step != 0.0:
                offset = column_step(design, j, step, rho, offset)
            change = max(change, abs(step))
            largest = max(largest, abs(w[j]))
        settled = change <= stop.step * largest
        if settled or epoch == stop.epochs - 1:
            gap, correlation = residual_gap(design, y, penalty, rho, offset, w, c)
            if gap <= stop.goal:
                return epoch + 1, gap, settled, offset
            kept = 0
            for a in range(n_active):
                j = active[a]
                score, safe = c[j] - penalty.l2 * w[j], safe_gap(gap, stop.y2)
                if penalty.l1 > 0.0 and outside_safe_sphere(score, design.norm2[j], correlation, safe, penalty):
                    if w[j] != 0.0:
                        offset = column_step(design, j, -w[j], rho, offset)
                        w[j] = 0.0
                else:
                    active[kept] = j
                    kept += 1
            n_active = kept
    return stop.epochs, gap, settled, offset
