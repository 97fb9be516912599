"""Ranking objectives and DCG, query by query.

Query q holds the places starts[q] .. starts[q + 1] - 1 of the array `order`, which lists the rows by query; inside a
query places count from 0.  `rank` keeps, for each query, its places in order of falling score from one call to the
next: sorting is cheap when little has changed, and as equal scores are ordered by place, the outcome does not depend
on what was there before.
"""

import numpy as np

from hyperplan._core.jit import fast_kernel, inner_kernel, view_kernel

RUN = 8  # as many places are sorted by insertion, longer runs by merging
CLOSENESS = 0.01  # of scores: closer pairs count no more than such ones
WIDE = 600.0  # exp of larger differences of scores would leave the range of double precision
SCORE, LEVEL, GAIN, WEIGHT, WINS, CHANGE, SLOPE, CURVE, N_LINES = 0, 1, 2, 3, 4, 5, 6, 7, 8  # lines of a task's memory


@inner_kernel
def _precedes(score, a, b):
    return score[a] > score[b] or (score[a] == score[b] and a < b)


@view_kernel
def sort_places(score, rank, spare):  # OUT: rank, spare
    """Sort the places in `rank` by falling score; among equal scores by place.  Merge sort, quick on sorted runs."""
    n = rank.shape[0]
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            item, j = rank[i], i
            while j > start and _precedes(score, item, rank[j - 1]):
                rank[j] = rank[j - 1]
                j -= 1
            rank[j] = item
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            middle, stop = start + width, min(start + 2 * width, n)
            if not _precedes(score, rank[middle], rank[middle - 1]):
                continue
            for i in range(start, middle):
                spare[i] = rank[i]
            left, right = start, middle
            for out in range(start, stop):
                if left == middle:
                    break  # what is left of the right run is in place
                if right < stop and _precedes(score, rank[right], spare[left]):
                    rank[out] = rank[right]
                    right += 1
                else:
                    rank[out] = spare[left]
                    left += 1
        width *= 2


@fast_kernel
def fill_wins(own_score, own_level, score, level, sigma, wide, wins):  # OUT: wins
    """``wins[j] = 1 / (1 + exp(sigma (own_score - score[j])))``: the odds that j belongs before the place in question.

    Levels are exp(sigma score) up to a factor, so that a pair costs a division and no exponential; `wide` says that
    these would leave the range of double precision.
    """
    if wide:
        for j in range(wins.shape[0]):
            wins[j] = 1.0 / (1.0 + np.exp(sigma * (own_score - score[j])))
    else:
        for j in range(wins.shape[0]):
            wins[j] = level[j] / (own_level + level[j])


@fast_kernel
def fill_changes(own_gain, own_discount, own_weight, gain, discount, weight, change):  # OUT: change
    """What swapping a place with each one ranked behind it does to the NDCG, times their weights.

    Gains are divided by the DCG of the best order.  Positive where the place in question is the more relevant one.
    """
    for j in range(change.shape[0]):
        change[j] = (own_gain - gain[j]) * (own_discount - discount[j]) * own_weight * weight[j]


@fast_kernel
def fill_orders(own_gain, own_weight, gain, weight, change):  # OUT: change
    """1 where a place is more relevant than the one behind it, -1 where it is less, times their weights."""
    for j in range(change.shape[0]):
        difference = own_gain - gain[j]
        sign = 1.0 if difference > 0.0 else (-1.0 if difference < 0.0 else 0.0)
        change[j] = sign * own_weight * weight[j]


@fast_kernel
def favour_close(own_score, score, change):  # OUT: change
    """Divide by 0.01 + the difference of the scores, which are not above `own_score`."""
    near = CLOSENESS + own_score
    for j in range(change.shape[0]):
        change[j] /= near - score[j]


@fast_kernel
def add_pairs(wins, change, slope, curve):  # OUT: slope, curve
    """Derivatives, over sigma and sigma^2, of the losses of pairs of one place with places j.

    The more relevant of a pair is a (the one place if change[j] > 0, else j), the other one b, and the loss is
    |change[j]| log(1 + exp(-sigma (s_a - s_b))).  Adds to slope[j] and curve[j]; returns the sums for the one place.
    """
    own_slope, own_curve = 0.0, 0.0
    for j in range(wins.shape[0]):
        lost = 1.0 - wins[j]
        pull = change[j] * (wins[j] if change[j] > 0.0 else lost)
        bend = abs(change[j]) * wins[j] * lost
        slope[j] += pull
        curve[j] += bend
        own_slope -= pull
        own_curve += bend
    return own_slope, own_curve


@view_kernel
def meet_others(i, first, lines, sigma, wide):  # OUT: lines
    """Pairs of place i with all from `first` on, whose weights are in the line CHANGE."""
    fill_wins(
        lines[SCORE, i], lines[LEVEL, i], lines[SCORE, first:], lines[LEVEL, first:], sigma, wide, lines[WINS, first:]
    )
    slope, curve = add_pairs(lines[WINS, first:], lines[CHANGE, first:], lines[SLOPE, first:], lines[CURVE, first:])
    lines[SLOPE, i] += slope
    lines[CURVE, i] += curve


@view_kernel
def raise_levels(sigma, score, level):  # OUT: level
    """``level = exp(sigma (score - max score))``; returns whether that leaves the range of double precision."""
    low, high = score[0], score[0]
    for j in range(1, score.shape[0]):
        low, high = min(low, score[j]), max(high, score[j])
    for j in range(score.shape[0]):
        level[j] = np.exp(sigma * (score[j] - high))
    return not sigma * (high - low) < WIDE


@view_kernel
def store_query(rows, lines, slope_scale, curve_scale, gradient, hessian, sums):  # OUT: gradient, hessian, sums
    """Scaled derivatives of a query to its rows; sums += (sum |gradient|, sum hessian)."""
    for p in range(rows.shape[0]):
        g, h = slope_scale * lines[SLOPE, p], curve_scale * lines[CURVE, p]
        gradient[rows[p]], hessian[rows[p]] = g, h
        sums[0] += abs(g)
        sums[1] += h


@view_kernel
def fill_pairwise(places, scale, sigma, raw, first, last, memory, gradient, hessian, sums):
    # OUT: memory, gradient, hessian, sums
    """Derivatives of the sum of pair losses, for those of the queries first .. last - 1 that have scale[q] > 0.

    Places are in order of falling relevance (`places.gain`): the partners of a place are all those from the first less
    relevant one on.
    """
    for q in range(first, last):
        if scale[q] == 0.0:
            continue
        start, stop = places.starts[q], places.starts[q + 1]
        n, rows, gain = stop - start, places.order[start:stop], places.gain[start:stop]
        lines = memory[: N_LINES * n].reshape(N_LINES, n)
        for p in range(n):
            lines[SCORE, p], lines[WEIGHT, p] = raw[rows[p]], places.weight[start + p]
            lines[SLOPE, p], lines[CURVE, p] = 0.0, 0.0
        wide = raise_levels(sigma, lines[SCORE], lines[LEVEL])
        lower = 0
        for i in range(n):
            while lower < n and gain[lower] == gain[i]:
                lower += 1
            for j in range(lower, n):
                lines[CHANGE, j] = lines[WEIGHT, i] * lines[WEIGHT, j]
            meet_others(i, lower, lines, sigma, wide)
        store_query(rows, lines, scale[q] * sigma, scale[q] * sigma * sigma, gradient, hessian, sums)


@view_kernel
def load_ranked(rows, gain, weight, scale, raw, ranked, spare, lines):  # OUT: ranked, spare, lines
    """Sort a query by score; then scores, scaled gains, weights and (in `spare`) rows in this order; slopes 0."""
    for p in range(rows.shape[0]):
        lines[WINS, p] = raw[rows[p]]
    sort_places(lines[WINS], ranked, spare)
    for r in range(rows.shape[0]):
        p = ranked[r]
        spare[r], lines[SCORE, r] = rows[p], lines[WINS, p]
        lines[GAIN, r], lines[WEIGHT, r] = scale * gain[p], weight[p]
        lines[SLOPE, r], lines[CURVE, r] = 0.0, 0.0


@view_kernel
def damping(slope, sigma):
    """``log2(1 + L) / L`` with L the sum of the absolute slopes: large queries count more, but not in proportion."""
    total = 0.0
    for r in range(slope.shape[0]):
        total += abs(slope[r])
    total *= sigma
    return np.log2(1.0 + total) / total if total > 0.0 else 1.0


@view_kernel
def fill_lambdas(places, scale, shape, discount, raw, first, last, rank, memory, gradient, hessian, sums):
    # OUT: rank, memory, gradient, hessian, sums
    """Derivatives for queries first .. last - 1, of pairs with one of the first `truncation` ranks.

    scale[q] divides the gains by the DCG of the best order, 0 for a query without pairs, which is skipped; `shape` is a
    `PairShape`.
    """
    for q in range(first, last):
        if scale[q] == 0.0:
            continue
        start, stop = places.starts[q], places.starts[q + 1]
        n, ranked_rows = stop - start, rank[1, start:stop]
        lines = memory[: N_LINES * n].reshape(N_LINES, n)
        load_ranked(
            places.order[start:stop], places.gain[start:stop], places.weight[start:stop], scale[q], raw,
            rank[0, start:stop], ranked_rows, lines,
        )  # fmt: skip
        wide = raise_levels(shape.sigma, lines[SCORE], lines[LEVEL])
        spread = lines[SCORE, 0] > lines[SCORE, n - 1]
        for i in range(min(n - 1, shape.truncation)):
            gain, weight, change = lines[GAIN, i + 1 :], lines[WEIGHT, i + 1 :], lines[CHANGE, i + 1 :]
            if shape.swaps:
                fill_changes(lines[GAIN, i], discount[i], lines[WEIGHT, i], gain, discount[i + 1 : n], weight, change)
            else:
                fill_orders(lines[GAIN, i], lines[WEIGHT, i], gain, weight, change)
            if shape.normalize and spread:
                favour_close(lines[SCORE, i], lines[SCORE, i + 1 :], change)
            meet_others(i, i + 1, lines, shape.sigma, wide)
        factor = shape.sigma * (damping(lines[SLOPE], shape.sigma) if shape.normalize else 1.0)
        store_query(ranked_rows, lines, factor, factor * shape.sigma, gradient, hessian, sums)


@view_kernel
def fill_dcg(places, raw, discount, first, last, rank, memory, dcg):  # OUT: rank, memory, dcg
    """DCG of queries first .. last - 1, averaged over all orders of equal scores; discount is 0 from some rank on."""
    for q in range(first, last):
        start, stop = places.starts[q], places.starts[q + 1]
        n, rows, ranked = stop - start, places.order[start:stop], rank[0, start:stop]
        score = memory[:n]
        for p in range(n):
            score[p] = raw[rows[p]]
        sort_places(score, ranked, rank[1, start:stop])
        total, i = 0.0, 0
        while i < n and discount[i] > 0.0:
            gains, discounts, j = 0.0, 0.0, i
            while j < n and score[ranked[j]] == score[ranked[i]]:
                gains += places.gain[start + ranked[j]]
                discounts += discount[j]
                j += 1
            total += gains / (j - i) * discounts
            i = j
        dcg[q] = total
