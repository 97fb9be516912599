"""The best split of a node, feature by feature: bounds of the gains for all, the exact gain for those that may win.

A scan in single precision, rounded up, costs a third of an exact one and tells that most features cannot win; a split
that may leave too few rows on a side (numbers of rows are not in the histograms) is such a bound too.  `choose` makes
bounds exact, the largest first, until the largest of all is exact: the result is that of exact scans of all features.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, kernel
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees._bundle_kernels import unbundle
from hyperplan._trees._histogram_kernels import (
    HESSIAN,
    ROUNDING,
    TINY,
    bound_numbers,
    scan_bounded,
    scan_categories,
    scan_numbers,
)
from hyperplan._trees._rules_kernels import Rules

NO, YES = np.int64(0), np.int64(1)  # a literal 0 handed to a kernel would compile one more version of it
UNKNOWN = -2  # the bin of a split of which only a bound of the gain is known
FEW_BINS = 16  # features with fewer are scanned exactly at once
MANY_LIMIT = 2.0**40  # single precision has no room for larger penalties
FEW_ROWS = 4096  # nodes with more leave few splits with too few rows on a side
MOST_SAMPLES = 64  # larger least numbers of rows would take long to look for
TRIES = 16  # bounds made exact in their order; beyond (copies of a column) features come by number, without a search


@inner_kernel
def facts_of(nodes, node, counted):
    """What scans need to know of a node."""
    n_rows = nodes.stop[node] - nodes.start[node]
    return nodes.packed[node], n_rows, counted, nodes.lower[node], nodes.upper[node]


@kernel
def scan_buffers(work):
    """Room for the scan of one feature: running sums, gains, bins in use, its histogram, what bounds need, counts."""
    n = work.hist.shape[2] + 1
    prefix, rough = np.empty(n, np.int64), np.empty(n, np.float32)
    bound = prefix, prefix.view(np.int32), rough, rough.view(np.int32)
    return prefix, np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), bound, np.empty(n, np.int32)


@inner_kernel
def scan_feature(data, nodes, node, side, f, hist, rules, constraints, work, counts, counted, buffers):
    # OUT: work (found)
    """Best split of feature f at `node` from its histogram, into row `side` of the found_ arrays.

    Exact about rows when `counted`.
    """
    prefix, gains, order, _, _, _ = buffers
    facts = facts_of(nodes, node, counted)
    out = (work.found_gain[side], work.found_bin[side], work.found_missing[side], work.found_left[side])
    n_bins, missing, missing_bin = data.n_bins[f], np.int64(data.has_missing[f]), data.missing_bin
    monotone = constraints.monotone[f]
    if data.categorical[f]:
        chosen = work.found_chosen[side, f]
        scan_categories(
            hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, (gains, order), f, out, chosen
        )  # fmt: skip
    elif monotone != 0 or nodes.lower[node] > -np.inf or nodes.upper[node] < np.inf:
        scan_bounded(hist, counts, n_bins, missing, missing_bin, facts, rules, monotone, f, out)
    else:
        scan_numbers(hist, counts, n_bins, missing, missing_bin, facts, rules, (prefix, gains, order), f, out)


@kernel
def rules_of(packed, nodes, node, rules, work):
    """Rules of one node: no side has less hessian than the `min_samples` rows with the least hessian together.

    Sides with too few rows, which histograms do not tell, mostly have too little hessian then, and need no counting.
    """
    start, stop, most = nodes.start[node], nodes.stop[node], rules.min_samples
    if rules.hessian_counts == 1 or most < 2 or most > MOST_SAMPLES or stop - start > FEW_ROWS or stop - start < most:
        return rules
    least, n, total = np.empty(most, np.int64), np.int64(0), np.int64(0)
    for i in range(start, stop):  # `least` holds the least hessians so far in increasing order
        h = packed[work.rows[i]] & HESSIAN
        if n == most and h >= least[n - 1]:
            continue
        n = min(n + 1, most)
        j = n - 1
        while j > 0 and least[j - 1] > h:
            least[j] = least[j - 1]
            j -= 1
        least[j] = h
    for j in range(n):
        total += least[j]
    return Rules(
        rules.min_samples, rules.max_leaves, rules.max_depth, rules.order, max(rules.min_hessian, np.float64(total)),
        rules.l2, rules.min_gain, rules.category_support, rules.category_smoothing, rules.feature_share,
        rules.hessian_counts, rules.safe_hessian, rules.direct_rows,
    )  # fmt: skip


@inner_kernel
def own_term(total, rules):
    """What a node itself contributes to the gain of its splits."""
    g, h = np.float64(total >> 32), np.float64(total & HESSIAN)
    return g * g / (h + rules.l2 + TINY)


@inner_kernel
def scan_two_bins(column, code, usual, total, parent, rules, f, out):  # OUT: out
    """`scan_feature` of a feature with two bins (an indicator, say) and no constraint, from its column's histogram."""
    gain_out, bin_out, missing_out, left_out = out
    left = column[code]
    if usual == 0:  # the histogram of the column has the other bin only
        left = total - left
    right = total - left
    g_left, h_left = np.float64(left >> 32), np.float64(left & HESSIAN)
    g_right, h_right = np.float64(right >> 32), np.float64(right & HESSIAN)
    a, c = h_left + (rules.l2 + TINY), h_right + (rules.l2 + TINY)
    gain = (g_left * g_left * c + g_right * g_right * a) / (a * c)
    enough = h_left >= rules.min_hessian and h_right >= rules.min_hessian and left != 0 and right != 0
    better = enough and gain > parent * (1.0 + ROUNDING) + rules.min_gain
    gain_out[f] = gain - parent if better else -1.0
    bin_out[f], missing_out[f], left_out[f] = 0, 0, left


@inner_kernel
def scan_indicators(column, members, usual, allowed, total, parent, rules, gains, out):  # OUT: gains, out
    """`scan_two_bins` of all features of a column, which have two bins each and the codes 1, 2, ..."""
    gain_out, bin_out, missing_out, left_out = out
    g_total, h_total = np.float64(np.int32(total >> 32)), np.float64(total & HESSIAN)
    l2, least, codes = rules.l2 + TINY, rules.min_hessian, column[1 : members.shape[0] + 1]
    enough = parent * (1.0 + ROUNDING) + rules.min_gain
    for j in range(codes.shape[0]):  # the same gain whichever side the code goes to
        g, h = np.float64(np.int32(codes[j] >> 32)), np.float64(codes[j] & HESSIAN)
        g_rest, h_rest = g_total - g, h_total - h
        a, c = h + l2, h_rest + l2
        gain = (g * g * c + g_rest * g_rest * a) / (a * c)
        gains[j] = gain - parent if (h >= least) & (h_rest >= least) & (gain > enough) else -1.0
    for j in range(codes.shape[0]):
        f, rest = members[j], total - codes[j]
        gain_out[f] = gains[j] if codes[j] != 0 and rest != 0 and allowed[f] else -1.0
        bin_out[f], missing_out[f], left_out[f] = 0, 0, rest if usual[f] == 0 else codes[j]


@inner_kernel
def scan_free(column, shape, total, rules, buffers, f, out):  # OUT: buffers, out
    """A bound of the gain of a numerical feature without constraints, from its column's histogram.

    shape: (n_bins, has_missing, missing_bin, offset, usual).
    """
    n_bins, missing, missing_bin, offset, usual = shape
    hist = column
    if usual >= 0:
        unbundle(column, total, offset, usual, n_bins, buffers[3])
        hist = buffers[3]
    out[0][f] = bound_numbers(hist, n_bins, missing, missing_bin, total, rules, buffers[4])
    out[1][f] = UNKNOWN


@inner_kernel
def scan_unit(data, nodes, node, side, unit, hist, rules, constraints, work, buffers):  # OUT: work (found)
    """Best split, or a bound of its gain, of each feature of four columns, whose histograms are hist[0] .. hist[3]."""
    end = min(unit * WIDTH + WIDTH, work.member_start.shape[0] - 1)
    simple = nodes.lower[node] == -np.inf and nodes.upper[node] == np.inf
    total = nodes.packed[node]
    parent = own_term(total, rules)
    out = (work.found_gain[side], work.found_bin[side], work.found_missing[side], work.found_left[side])
    m, stop = np.int64(work.member_start[unit * WIDTH]), np.int64(work.member_start[end])
    while m < stop:  # one loop: records with many arrays are costly to hand to a kernel for each feature
        f = work.member[m]
        c = np.int64(work.column[f])
        column, offset, usual = hist[c - unit * WIDTH], np.int64(work.offset[f]), np.int64(work.usual[f])
        if simple and work.indicators[c]:
            members = work.member[m : work.member_start[c + 1]]
            scan_indicators(column, members, work.usual, work.allowed[side], total, parent, rules, buffers[1], out)
            m += members.shape[0]
            continue
        m += 1
        n_bins, missing = data.n_bins[f], np.int64(data.has_missing[f])
        free = simple and not data.categorical[f] and constraints.monotone[f] == 0
        if not work.allowed[side, f] or n_bins + missing < 2:
            work.found_gain[side, f] = -1.0
        elif free and n_bins == 2 and not missing:
            scan_two_bins(column, offset, usual, total, parent, rules, f, out)
        elif free and n_bins >= FEW_BINS and rules.l2 < MANY_LIMIT:
            scan_free(column, (n_bins, missing, data.missing_bin, offset, usual), total, rules, buffers, f, out)
        else:
            if usual >= 0:
                unbundle(column, total, offset, usual, n_bins, buffers[3])
                column = buffers[3]
            scan_feature(
                data, nodes, node, side, f, column, rules, constraints, work, work.counts[0, 0], NO, buffers
            )  # fmt: skip


@inner_kernel
def feature_histogram(data, packed, nodes, node, f, work, own):  # OUT: own
    """The histogram of one feature at `node`: from its column's if that is stored, else from the rows."""
    slot = nodes.slot[node]
    if slot >= 0:
        column = work.hist[slot, work.column[f]]
        if work.usual[f] >= 0:
            unbundle(column, nodes.packed[node], work.offset[f], work.usual[f], data.n_bins[f], own)
            return
        for b in range(column.shape[0]):
            own[b] = column[b]
        return
    words, shift = data.words[f // WIDTH], np.uint32(8 * (f % WIDTH))
    for b in range(own.shape[0]):
        own[b] = 0
    for i in range(nodes.start[node], nodes.stop[node]):
        row = work.rows[i]
        own[(words[row] >> shift) & np.uint32(255)] += packed[row]


@inner_kernel
def count_bins(data, nodes, node, f, work, counts):  # OUT: counts
    """Rows of `node` in each bin of feature f."""
    for b in range(counts.shape[0]):
        counts[b] = 0
    words, shift = data.words[f // WIDTH], np.uint32(8 * (f % WIDTH))
    for i in range(nodes.start[node], nodes.stop[node]):
        counts[(words[work.rows[i]] >> shift) & np.uint32(255)] += 1


@inner_kernel
def has_enough_rows(nodes, node, left, rules):
    """Whether both sides of a split certainly have `min_samples` rows, by their sums of hessians."""
    h_left, h = left & HESSIAN, nodes.packed[node] & HESSIAN
    return rules.hessian_counts == 1 or (h_left >= rules.safe_hessian and h - h_left >= rules.safe_hessian)


@inner_kernel
def make_exact(data, packed, nodes, node, side, f, rules, constraints, work, buffers):  # OUT: work (found)
    """Best split of feature f at `node` with at least `min_samples` rows on each side."""
    hist, counts = buffers[3], buffers[5]
    feature_histogram(data, packed, nodes, node, f, work, hist)
    if work.found_bin[side, f] == UNKNOWN:
        scan_feature(data, nodes, node, side, f, hist, rules, constraints, work, counts, NO, buffers)
    if work.found_gain[side, f] > 0.0 and not has_enough_rows(nodes, node, work.found_left[side, f], rules):
        count_bins(data, nodes, node, f, work, counts)
        scan_feature(data, nodes, node, side, f, hist, rules, constraints, work, counts, YES, buffers)


@inner_kernel
def best_feature(gains):
    """The first feature with the largest gain; -1 when no gain is positive."""
    best, feature = 0.0, np.int64(-1)
    for f in range(gains.shape[0]):
        if gains[f] > best:
            best, feature = gains[f], f
    return feature


@kernel
def choose(data, packed, nodes, node, side, rules, constraints, work):  # OUT: work (found)
    """The feature of the best split (the first of equal ones), whose entries in the found_ arrays are exact; or -1."""
    buffers, gains, rules = scan_buffers(work), work.found_gain[side], rules_of(packed, nodes, node, rules, work)
    exact = np.zeros(gains.shape[0], np.uint8)
    for _ in range(TRIES):
        best = best_feature(gains)
        if best < 0 or exact[best]:
            return best
        make_exact(data, packed, nodes, node, side, best, rules, constraints, work, buffers)
        exact[best] = 1
    best, most = np.int64(-1), 0.0
    for f in range(gains.shape[0]):
        if exact[f] and gains[f] > most:
            best, most = f, gains[f]
    for f in range(gains.shape[0]):
        if not exact[f] and (gains[f] > most or (gains[f] == most and f < best)):
            make_exact(data, packed, nodes, node, side, f, rules, constraints, work, buffers)
            if gains[f] > most or (gains[f] == most and f < best):
                best, most = f, gains[f]
    return best
