"""Multiway trees: scores of a column in a node, dealing rows to the branches, walks with fractions of rows.

Columns are the rows of `values` (float64, one line per column, C order): codes 0, 1, ... of categories or numbers, NaN
where missing.  A row stands in a node with the weight ``weight[row]``; where the split's column is missing it goes to
every branch with a fraction of that weight.
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

GAIN, GAIN_RATIO, MANTARAS = range(3)
SCORE, INFORMATION, SPLIT_ENTROPY, THRESHOLD, N_FOUND = range(5)
NEARLY = 1e-12  # two scores closer than this are equal, and the first one wins


@kernel
def x_log_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def spread(counts):
    """Weight of a vector of class weights times its entropy in bits."""
    total, terms = 0.0, 0.0
    for k in range(counts.shape[0]):
        total += counts[k]
        terms += x_log_x(counts[k])
    return max(x_log_x(total) - terms, 0.0)


@kernel
def table_scores(counts, n_branches, n_missing, least, found):  # OUT: found
    """Information, score by distance and split entropy of a table (branches x classes); False if not admissible.

    At least two branches need the weight `least`.  Information is that of the known rows times their share of all
    rows; the missing ones count as one more branch in the split entropy.
    """
    K = counts.shape[1]
    known, remaining, sizes, large = 0.0, 0.0, 0.0, 0
    for b in range(n_branches):
        size = 0.0
        for k in range(K):
            size += counts[b, k]
        known += size
        sizes += x_log_x(size)
        remaining += spread(counts[b])
        large += size >= least and size > 0.0
    if large < 2:
        return False
    before, terms = 0.0, 0.0
    for k in range(K):
        column = 0.0
        for b in range(n_branches):
            column += counts[b, k]
        terms += x_log_x(column)
    before = x_log_x(known) - terms
    total = known + n_missing
    branching = x_log_x(known) - sizes
    found[INFORMATION] = (before - remaining) / total
    found[SPLIT_ENTROPY] = (x_log_x(total) - sizes - x_log_x(n_missing)) / total
    joint = branching + remaining  # H(split, classes) of the known rows, times their weight
    found[SCORE] = known / total * (before - remaining) / joint if joint > 0.0 else 0.0
    return True


@kernel
def score_categories(column, rows, weight, codes, least, counts, n_values, found):  # OUT: counts, found
    """One branch per category."""
    counts[:n_values] = 0.0
    missing = 0.0
    for p in range(rows.shape[0]):
        row = rows[p]
        if math.isnan(column[row]):
            missing += weight[row]
        else:
            counts[np.intp(column[row]), codes[row]] += weight[row]
    return table_scores(counts, n_values, missing, least, found)


@kernel
def score_threshold(column, order, weight, codes, least, distance, counts, trial, found):  # OUT: counts, trial, found
    """The threshold of most information (or least distance): two branches; `order` sorts the node's rows by value."""
    m = order.shape[0]
    while m > 0 and math.isnan(column[order[m - 1]]):
        m -= 1
    missing = 0.0
    for p in range(m, order.shape[0]):
        missing += weight[order[p]]
    counts[:2] = 0.0
    for p in range(m):
        counts[1, codes[order[p]]] += weight[order[p]]
    n_boundaries, best, admissible = 0, -math.inf, False
    for p in range(m - 1):
        row, following = order[p], order[p + 1]
        counts[0, codes[row]] += weight[row]
        counts[1, codes[row]] -= weight[row]
        if not column[row] < column[following]:
            continue
        n_boundaries += 1
        if not both_heavy(counts, least) or not table_scores(counts, 2, missing, least, trial):
            continue
        score = trial[SCORE] if distance else trial[INFORMATION]
        if score > best + NEARLY:
            best, admissible = score, True
            found[:] = trial
            found[THRESHOLD] = middle(column[row], column[following])
    return n_boundaries if admissible else 0


@kernel
def both_heavy(counts, least):
    left, right = 0.0, 0.0
    for k in range(counts.shape[1]):
        left += counts[0, k]
        right += counts[1, k]
    return left >= least and right >= least


@kernel
def middle(low, high):
    """Halfway; the lower value itself where rounding would reach the upper one."""
    found = 0.5 * low + 0.5 * high
    return found if low <= found < high else low


@kernel
def score_columns(
    values, lists, place, n_values, weight, codes, rule, counts, trial, found
):  # OUT: counts, trial, found
    """Scores of all columns of a node; -inf where no split is admissible.  ``rule = (criterion, least weight, total)``.

    ``lists[0]`` are the node's rows, ``lists[place[j]]`` those rows sorted by the numerical column j.
    """
    criterion, least, total = rule
    for j in range(values.shape[0]):
        column = values[j]
        if n_values[j] > 0:
            usable = score_categories(column, lists[0], weight, codes, least, counts, n_values[j], found[j])
        else:
            order = lists[place[j]]
            n = score_threshold(column, order, weight, codes, least, criterion == MANTARAS, counts, trial, found[j])
            usable = n > 0
            if usable and criterion == GAIN_RATIO:
                found[j, INFORMATION] -= math.log2(np.float64(n)) / total
        if not usable or found[j, INFORMATION] <= NEARLY:
            found[j, SCORE] = -math.inf
        elif criterion == GAIN:
            found[j, SCORE] = found[j, INFORMATION]
        elif criterion == GAIN_RATIO:
            found[j, SCORE] = found[j, INFORMATION] / found[j, SPLIT_ENTROPY]


@kernel
def choose(found, criterion):
    """The best column, the first of equals, -1 without one; by gain ratio among those with at least average gain."""
    total, count, best, chosen = 0.0, 0, -math.inf, -1
    for j in range(found.shape[0]):
        if found[j, SCORE] > -math.inf:
            total += found[j, INFORMATION]
            count += 1
    for j in range(found.shape[0]):
        enough = criterion != GAIN_RATIO or found[j, INFORMATION] * count >= total * (1.0 - NEARLY)
        if enough and found[j, SCORE] > best + NEARLY:
            best, chosen = found[j, SCORE], j
    return chosen


@kernel
def assign_branches(column, rows, weight, threshold, by_code, branch, size):  # OUT: by_code, branch, size
    """Branch of each row (-1: missing) and weights of the branches.

    Without `by_code` a threshold decides; else it turns from marks into branch numbers: only the categories of the
    node have a branch.  Returns the number of branches.
    """
    size[:] = 0.0
    n_branches = 2
    if by_code.shape[0] > 0:
        by_code[:] = -1
        for p in range(rows.shape[0]):
            if not math.isnan(column[rows[p]]):
                by_code[np.intp(column[rows[p]])] = 0
        n_branches = 0
        for c in range(by_code.shape[0]):
            if by_code[c] == 0:
                by_code[c] = n_branches
                n_branches += 1
    for p in range(rows.shape[0]):
        row = rows[p]
        x = column[row]
        branch[row] = -1
        if not math.isnan(x):
            branch[row] = by_code[np.intp(x)] if by_code.shape[0] > 0 else (0 if x <= threshold else 1)
            size[branch[row]] += weight[row]
    return n_branches


@kernel
def count_dealt(rows, weight, branch, share, least, count):  # OUT: count
    """Rows that each branch gets."""
    count[:] = 0
    for p in range(rows.shape[0]):
        row = rows[p]
        if branch[row] >= 0:
            count[branch[row]] += 1
        else:
            for b in range(share.shape[0]):
                count[b] += weight[row] * share[b] >= least


@kernel
def deal(lists, weight, branch, share, least, starts, cursor, dealt, dealt_weight):  # OUT: cursor, dealt, dealt_weight
    """Copy the node's lists to its branches, whose parts begin at `starts`; missing rows go to all of them."""
    for i in range(lists.shape[0]):
        for b in range(share.shape[0]):
            cursor[b] = starts[b]
        for p in range(lists.shape[1]):
            row = lists[i, p]
            for b in range(share.shape[0]) if branch[row] < 0 else range(branch[row], branch[row] + 1):
                part = weight[row] if branch[row] >= 0 else weight[row] * share[b]
                if branch[row] >= 0 or part >= least:
                    dealt[i, cursor[b]] = row
                    if i == 0:
                        dealt_weight[cursor[b]] = part
                    cursor[b] += 1


@kernel
def class_sums(rows, weight, codes, sums):  # OUT: sums
    """Class weights of rows whose weights are given in the same order."""
    sums[:] = 0.0
    for p in range(rows.shape[0]):
        sums[codes[rows[p]]] += weight[p]


@kernel
def branch_at(x, node, nodes):
    """The child that a known value leads to; -1 for a category that the node never saw."""
    if nodes.table_start[node] < 0:
        return nodes.first_child[node] + (0 if x <= nodes.threshold[node] else 1)
    start = nodes.table_start[node]
    if not 0.0 <= x < nodes.n_values[nodes.feature[node]]:
        return -1
    return nodes.table[start + np.intp(x)]


@kernel
def spread_rows(X, nodes, pending, part, answer, leaf):  # OUT: pending, part, answer, leaf
    """Class shares of each row (lines of X are rows) and the node that most of it ends in.

    A missing value sends the row down all branches, with fractions like the branches' training weights; a category
    that a node never saw ends there.
    """
    for i in range(X.shape[0]):
        answer[i, :] = 0.0
        pending[0], part[0], n, most = 0, 1.0, 1, -1.0
        while n > 0:
            n -= 1
            node, fraction = pending[n], part[n]
            child = -1
            if nodes.n_children[node] > 0:
                x = X[i, nodes.feature[node]]
                if math.isnan(x):
                    first = nodes.first_child[node]
                    for c in range(first + nodes.n_children[node] - 1, first - 1, -1):
                        pending[n], part[n] = c, fraction * nodes.share[c]
                        n += 1
                    continue
                child = branch_at(x, node, nodes)
            if child >= 0:
                pending[n], part[n] = child, fraction
                n += 1
                continue
            for k in range(answer.shape[1]):
                answer[i, k] += fraction * nodes.value[node, k]
            if fraction > most:
                most, leaf[i] = fraction, node
