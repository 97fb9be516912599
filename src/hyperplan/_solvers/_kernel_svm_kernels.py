"""Pair steps on the dual of support vector machines, and the sums of kernel rows around them.

    minimise   1/2 b'Kb + sum_i l_i(b_i),   low_i <= b_i <= high_i,   sum of b fixed within each group

with l_i(b) = above_i b for b >= 0 and below_i b for b <= 0: one signed coefficient per row.  Classification has
above = below and bounds on one side of zero, regression has below < above and bounds on both.  A pair step moves two
coefficients of one group against each other; it never crosses zero, where the slope of l changes.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel

FLAT = 1e-12  # least curvature along a pair: kernels that are not positive, and equal rows, have none
PANEL = 1024  # columns of a sum of rows that stay in the first cache


@inner_kernel
def open_directions(terms, beta, score, t, up, down):  # OUT: up, down
    """First-order gain of raising and (with the sign changed) of lowering coefficient t; infinite at its bounds."""
    # terms: (4, n) low, high, below, above; beta, score, up, down: (n,)
    b, up[t], down[t] = beta[t], -np.inf, np.inf
    if b < terms[1, t]:
        up[t] = -(score[t] + (terms[3, t] if b >= 0.0 else terms[2, t]))
    if b > terms[0, t]:
        down[t] = -(score[t] + (terms[3, t] if b > 0.0 else terms[2, t]))


@view_kernel
def slopes(terms, beta, score, up, down):  # OUT: up, down
    """`open_directions` for all coefficients."""
    # terms: (4, n) C order, the rest (n,), float64
    for t in range(beta.shape[0]):
        open_directions(terms, beta, score, t, up, down)


@inner_kernel
def worst_pair(up, down, start, stop):
    """Position of the largest `up` of a group, and by how much it exceeds the smallest `down` (-inf if none)."""
    place, highest, lowest = -1, -np.inf, np.inf
    for t in range(start, stop):
        if up[t] > highest:
            highest, place = up[t], t
    for t in range(start, stop):
        if down[t] < lowest:
            lowest = down[t]
    return place, highest - lowest if place >= 0 and lowest < np.inf else -np.inf


@inner_kernel
def best_partner(row, diagonal, i, best, start, stop, down, gain):  # OUT: gain
    """Who is to be lowered when i is raised: largest decrease of the objective along the pair, without bounds."""
    # row: (n,) kernel values of i; two loops, of which the first uses whole registers
    own = diagonal[i]
    for t in range(start, stop):
        gap = best - down[t]
        curve = own + diagonal[t] - 2.0 * row[t]
        curve = curve if curve > FLAT else FLAT
        gain[t] = gap * gap / curve if gap > 0.0 else -1.0
    place, largest = start, -2.0
    for t in range(start, stop):
        if gain[t] > largest:
            place, largest = t, gain[t]
    return place


@inner_kernel
def move_pair(K, diagonal, terms, i, j, gap, beta):  # OUT: beta
    """Raise i and lower j by the best common amount that bounds and zero allow; returns that amount."""
    top = 0.0 if beta[i] < 0.0 else terms[1, i]
    bottom = 0.0 if beta[j] > 0.0 else terms[0, j]
    curve = diagonal[i] + diagonal[j] - 2.0 * K[i, j]
    step = gap / (curve if curve > FLAT else FLAT)
    room_above, room_below = top - beta[i], beta[j] - bottom
    step = min(step, min(room_above, room_below))
    beta[i] = top if step == room_above else beta[i] + step
    beta[j] = bottom if step == room_below else beta[j] - step
    return step


@inner_kernel
def follow(first, second, step, score, up, down):  # OUT: score, up, down
    """What a pair step changes for everyone."""
    for t in range(score.shape[0]):
        change = step * (first[t] - second[t])
        score[t] += change
        up[t] -= change
        down[t] -= change


@view_kernel
def improve_pairs(K, diagonal, terms, split, target, max_iter, beta, score, work):  # OUT: beta, score, work
    """Pair steps until no pair violates the optimality conditions by more than `target`.

    Groups are the coefficients before and from `split`; the one with the worse pair is served first.  Returns the
    number of steps and the largest violation (with NaN in K: at once).
    """
    # K: (n, n) symmetric, C order, float32 or float64; terms: (4, n); beta, score = K beta: (n,); work: (3, n)
    up, down, gain = work[0], work[1], work[2]
    n, n_iter = beta.shape[0], 0
    slopes(terms, beta, score, up, down)
    while True:
        start, stop = 0, split
        i, worst = worst_pair(up, down, 0, split)
        if split < n:
            other, violation = worst_pair(up, down, split, n)
            if violation > worst:
                i, worst, start, stop = other, violation, split, n
        if not worst > target or n_iter >= max_iter:
            return n_iter, worst
        j = best_partner(K[i], diagonal, i, up[i], start, stop, down, gain)
        before_i, before_j = beta[i], beta[j]
        step = move_pair(K, diagonal, terms, i, j, up[i] - down[j], beta)
        if beta[i] == before_i and beta[j] == before_j:
            return n_iter, worst  # the step is below the precision of the coefficients
        follow(K[i], K[j], step, score, up, down)
        open_directions(terms, beta, score, i, up, down)
        open_directions(terms, beta, score, j, up, down)
        n_iter += 1


@fast_kernel
def add_rows(rows, slots, weights, first, last, total):  # OUT: total
    """total[c] += sum_r weights[r] rows[slots[r], c] for first <= c < last; sums in float64."""
    # rows: (capacity, n) C order, float32 or float64; slots, weights: (k,); total: (n,) float64
    n_rows = slots.shape[0]
    for left in range(first, last, PANEL):
        right = min(left + PANEL, last)
        for r in range(0, n_rows - 3, 4):
            a, b, c, d = rows[slots[r]], rows[slots[r + 1]], rows[slots[r + 2]], rows[slots[r + 3]]
            u, v, w, x = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
            for t in range(left, right):
                total[t] += (u * a[t] + v * b[t]) + (w * c[t] + x * d[t])
        for r in range(n_rows - n_rows % 4, n_rows):
            a, u = rows[slots[r]], weights[r]
            for t in range(left, right):
                total[t] += u * a[t]


@view_kernel
def gather(rows, slots, columns, first, last, out):  # OUT: out
    """out[i, j] = rows[slots[i], columns[j]] for first <= i < last."""
    # rows: (capacity, n), out: (len(slots), len(columns)), both C order and of one type
    for i in range(first, last):
        row = rows[slots[i]]
        for j in range(columns.shape[0]):
            out[i, j] = row[columns[j]]


@view_kernel
def pack(buffer, width, slots, columns):  # OUT: buffer
    """Keep some rows and columns of a matrix that lies row by row in `buffer`, in place: row k is slots[k] of before.

    `slots` and `columns` ascend, so that nothing is overwritten before it has been read.
    """
    # buffer: (any length,); slots, columns: (k,), (m,)
    place = 0
    for k in range(slots.shape[0]):
        begin = slots[k] * width
        for c in range(columns.shape[0]):
            buffer[place] = buffer[begin + columns[c]]
            place += 1
