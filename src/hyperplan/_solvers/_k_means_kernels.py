"""Nearest centres: scores in float32 that bounds and float64 settle, and sums of clusters by what changes.

X is C-ordered (n, d), float32 or float64; `table` holds the same rows in float32, shifted and scaled.  `limits` holds
six numbers: the largest and second largest movement of a centre, whose the largest is, the relative error of float32
scores, the largest norm of a centre, and what rounding may have added to bounds.
"""

import math

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel

SURE = 1.0 - 1e-9  # a bound must win by more than the rounding of its updates
TINY = 1e-30  # below, products in float32 lose all their digits


@fast_kernel
def fill_table(X, middle, scale, table, squares):  # OUT: table, squares
    """Rows minus the middle times the scale in float32, and their squared norms."""
    for i in range(X.shape[0]):
        row, target, total = X[i], table[i], 0.0
        for j in range(row.shape[0]):
            value = np.float32((row[j] - middle[j]) * scale)
            target[j] = value
            total += np.float64(value) * np.float64(value)
        squares[i] = total


@fast_kernel
def row_squares(table, squares):  # OUT: squares
    for i in range(table.shape[0]):
        row, total = table[i], 0.0
        for j in range(row.shape[0]):
            total += np.float64(row[j]) * np.float64(row[j])
        squares[i] = total


@fast_kernel
def add_columns(X, shift, sums, squares):  # OUT: sums, squares
    """Sums and squares of the columns of X - shift."""
    for i in range(X.shape[0]):
        row = X[i]
        for j in range(row.shape[0]):
            value = row[j] - shift[j]
            sums[j] += value
            squares[j] += value * value


@view_kernel
def gather(table, chosen, out):  # OUT: out
    for r in range(chosen.shape[0]):
        row, target = table[chosen[r]], out[r]
        for j in range(row.shape[0]):
            target[j] = row[j]


@fast_kernel
def quick_gap(x, y):
    """Squared distance, in the precision of the arguments."""
    total = np.float32(0.0)
    for j in range(x.shape[0]):
        gap = x[j] - y[j]
        total += gap * gap
    return total


@inner_kernel
def ordered_gap(x, y):
    """Squared distance in float64, summed in an order that no compiler changes: who wins is the same everywhere."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = x.shape[0] - x.shape[0] % 4
    for j in range(0, whole, 4):
        p, q = np.float64(x[j]) - y[j], np.float64(x[j + 1]) - y[j + 1]
        r, s = np.float64(x[j + 2]) - y[j + 2], np.float64(x[j + 3]) - y[j + 3]
        a += p * p
        b += q * q
        c += r * r
        d += s * s
    for j in range(whole, x.shape[0]):
        p = np.float64(x[j]) - y[j]
        a += p * p
    return (a + b) + (c + d)


@view_kernel
def half_nearest(centres, apart):  # OUT: apart
    """Half the distance of each centre to the nearest other one: whoever is nearer to a centre has no nearer one."""
    for a in range(centres.shape[0]):
        apart[a] = np.inf
    for a in range(centres.shape[0]):
        for b in range(a):
            gap = 0.5 * math.sqrt(quick_gap(centres[a], centres[b]))
            apart[a], apart[b] = min(apart[a], gap), min(apart[b], gap)


@view_kernel
def half_between(centres, half):  # OUT: half
    """Half the distances between centres, (k, k)."""
    for a in range(centres.shape[0]):
        half[a, a] = 0.0
        for b in range(a):
            gap = 0.5 * math.sqrt(quick_gap(centres[a], centres[b]))
            half[a, b], half[b, a] = gap, gap


@view_kernel
def select(table, squares, labels, upper, lower, centres, shift, apart, limits, chosen):  # OUT: upper, lower, chosen
    """Rows whose bounds do not prove that their centre is still the nearest; returns how many there are.

    A row is at most `upper` from its own centre and at least `lower` from all others (Hamerly, 2010).
    """
    # table: (n, d) and centres: (k, d) float32; shift, apart: (k,) float64; chosen: intp, with room for all rows
    error, largest, slack = limits[3], limits[4], limits[5]
    mover, count = np.int64(limits[2]), 0
    for i in range(table.shape[0]):
        own = labels[i]
        far = upper[i] + shift[own]
        near = lower[i] - (limits[1] if own == mover else limits[0])
        lower[i] = near
        bar = max(near, apart[own]) * SURE - slack
        if not far < bar:
            root = math.sqrt(squares[i]) + largest
            far = min(far, math.sqrt(np.float64(quick_gap(table[i], centres[own])) + error * root * root + TINY))
            if not far < bar:
                chosen[count] = i
                count += 1
        upper[i] = far
    return count


@view_kernel
def top_two(tile, half, best, second, place):  # OUT: best, second, place
    """Largest and second largest of ``tile - half`` in each column, and where the largest is; the first of equals."""
    # tile: (k, m) float32, C order; half: (k,) float32; best, second: (m,) float32; place: (m,) int32
    for r in range(best.shape[0]):
        best[r], second[r], place[r] = -np.inf, -np.inf, 0
    for c in range(tile.shape[0]):
        offer_scores(tile[c], half[c], np.int32(c), best, second, place)


@inner_kernel
def offer_scores(scores, half, number, best, second, place):
    for r in range(scores.shape[0]):
        value, top, other = scores[r] - half, best[r], second[r]
        better = value > top
        loser = top if better else value
        second[r] = loser if loser > other else other
        place[r] = number if better else place[r]
        best[r] = value if better else top


@view_kernel
def settle(X, chosen, centres, tile, half, best, second, place, squares, limits, upper, lower):
    # OUT: place (the nearest centre, exactly; of equally near ones the first), upper, lower
    # X: (n, d); chosen: (m,) its rows that are the columns of the tile; centres: (k, d) float64; squares: (n,)
    for r in range(chosen.shape[0]):
        i = chosen[r]
        root = math.sqrt(squares[i]) + limits[4]
        doubt = limits[3] * root * root + TINY
        top, next_one = np.float64(best[r]), np.float64(second[r])
        if not top - next_one > doubt:
            place[r] = nearest_among(X[i], centres, tile, r, half, top - doubt)
            next_one = top
        far, near = squares[i] - 2.0 * top + doubt, squares[i] - 2.0 * next_one - doubt
        upper[i] = math.sqrt(far) if far >= 0.0 else np.inf
        lower[i] = math.sqrt(near) if near >= 0.0 else 0.0


@inner_kernel
def nearest_among(row, centres, tile, r, half, least):
    """The nearest of the centres whose score is not below `least`."""
    nearest, place = np.inf, np.int32(0)
    for c in range(centres.shape[0]):
        if not tile[c, r] - half[c] < least:
            gap = ordered_gap(row, centres[c])
            if gap < nearest:
                nearest, place = gap, np.int32(c)
    return place


@fast_kernel
def add_row(row, middle, weight, total):  # OUT: total
    """Add a weighted row to a sum; returns its weighted square."""
    square = 0.0
    for j in range(row.shape[0]):
        value = row[j] - middle[j]
        total[j] += weight * value
        square += value * value
    return weight * square


@view_kernel
def move(X, weight, middle, chosen, place, labels, counts, masses, totals, spreads):
    # OUT: labels, and the changes of counts (rows with a weight), masses (weights), totals (k, d) and spreads (squares)
    # X: (n, d); weight: (n,), or empty when all rows count once; a label of -1 means that the row was nowhere yet
    moved = 0
    for r in range(chosen.shape[0]):
        i, new = chosen[r], place[r]
        old = labels[i]
        if new == old:
            continue
        labels[i] = new
        moved += 1
        w = weight[i] if weight.shape[0] > 0 else 1.0
        if w == 0.0:
            continue
        if old >= 0:
            counts[old] -= 1.0
            masses[old] -= w
            spreads[old] += add_row(X[i], middle, -w, totals[old])
        counts[new] += 1.0
        masses[new] += w
        spreads[new] += add_row(X[i], middle, w, totals[new])
    return moved


@fast_kernel
def own_gaps(X, labels, centres, gaps):  # OUT: gaps
    """Squared distances of rows to their centres."""
    for i in range(X.shape[0]):
        gaps[i] = quick_gap(X[i], centres[labels[i]])


@view_kernel
def elkan_pass(X, centres, shift, apart, half, slack, upper, lowers, place):  # OUT: upper, lowers, place
    """Nearest centres with a lower bound for every centre (Elkan, 2003); `place` holds the last ones on entry."""
    # X: (n, d); centres: (k, d) float64; half: (k, k) float64; lowers: (n, k) float64; place: (n,) int32
    for i in range(X.shape[0]):
        own, bounds = place[i], lowers[i]
        far = upper[i] + shift[own]
        for c in range(bounds.shape[0]):
            bounds[c] -= shift[c]
        if far < apart[own] * SURE - slack:
            upper[i] = far
            continue
        gap, measured = 0.0, False
        for c in range(bounds.shape[0]):
            if c == own or far < max(bounds[c], half[own, c]) * SURE - slack:
                continue
            if not measured:
                gap, measured = ordered_gap(X[i], centres[own]), True
                far = math.sqrt(gap) / SURE
                bounds[own] = far * SURE * SURE
                if far < max(bounds[c], half[own, c]) * SURE - slack:
                    continue
            other = ordered_gap(X[i], centres[c])
            bounds[c] = math.sqrt(other) * SURE
            if other < gap or (other == gap and c < own):
                own, gap, far = np.int32(c), other, math.sqrt(other) / SURE
        upper[i], place[i] = far, own


@view_kernel
def sparse_pass(matrix, squares, columns, half, shift, apart, limits, scores, upper, lower, place):
    # OUT: upper, lower, place, which holds the last centres on entry, -1 for none
    # matrix: CSR; columns: (d, k) float64, the centres; half: (k,) halves of their squared norms; scores: (k,) scratch
    mover = np.int64(limits[2])
    for i in range(matrix.n_rows):
        own = place[i]
        if own >= 0:
            upper[i] += shift[own]
            lower[i] -= limits[1] if own == mover else limits[0]
            if upper[i] < max(lower[i], apart[own]) * SURE - limits[5]:
                continue
        for c in range(scores.shape[0]):
            scores[c] = -half[c]
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            add_scaled(np.float64(matrix.data[e]), columns[matrix.indices[e]], scores)
        best, second, own = -np.inf, -np.inf, np.int32(0)
        for c in range(scores.shape[0]):
            if scores[c] > best:
                best, second, own = scores[c], best, np.int32(c)
            elif scores[c] > second:
                second = scores[c]
        root = math.sqrt(squares[i]) + limits[4]
        doubt = limits[3] * root * root
        far, near = squares[i] - 2.0 * best + doubt, squares[i] - 2.0 * second - doubt
        upper[i] = math.sqrt(far) if far >= 0.0 else np.inf
        lower[i] = math.sqrt(near) if near >= 0.0 else 0.0
        place[i] = own


@inner_kernel
def add_scaled(factor, values, sums):  # OUT: sums
    for c in range(sums.shape[0]):
        sums[c] += factor * values[c]


@view_kernel
def sparse_move(matrix, weight, squares, place, labels, counts, masses, totals, spreads):
    # OUT: labels and the changes of the sums, as for `move`
    moved = 0
    for i in range(matrix.n_rows):
        old, new = labels[i], place[i]
        if new == old:
            continue
        labels[i] = new
        moved += 1
        w = weight[i] if weight.shape[0] > 0 else 1.0
        if w == 0.0:
            continue
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            value = w * matrix.data[e]
            totals[new, matrix.indices[e]] += value
            if old >= 0:
                totals[old, matrix.indices[e]] -= value
        counts[new] += 1.0
        masses[new] += w
        spreads[new] += w * squares[i]
        if old >= 0:
            counts[old] -= 1.0
            masses[old] -= w
            spreads[old] -= w * squares[i]
    return moved


@view_kernel
def sparse_own_gaps(matrix, squares, labels, centres, norms, gaps):  # OUT: gaps
    """Squared distances of sparse rows to their centres; `norms` are the squared norms of the centres."""
    for i in range(matrix.n_rows):
        own, product = labels[i], 0.0
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            product += matrix.data[e] * centres[own, matrix.indices[e]]
        gaps[i] = max(squares[i] - 2.0 * product + norms[own], 0.0)
