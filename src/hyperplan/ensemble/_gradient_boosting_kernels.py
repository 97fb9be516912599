"""Gradient boosting between two trees: residuals, loss, leaf values; and the walk of rows through many trees.

Walks take X as float32, one row per observation, in C order.  Raw predictions have shape (n_trees_per_stage, n_rows).
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

SQUARED, ABSOLUTE, QUANTILE, HUBER, BINOMIAL, EXPONENTIAL, MULTINOMIAL = range(7)
LEAST_CURVATURE = 1e-150  # a leaf with less curvature than this stays at 0
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
BLOCK = 256  # rows that walk through all trees together, while they are in the cache


@kernel
def expit(x):
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@kernel
def residual_of(code, parameter, y, f):
    """Minus the derivative of the loss in f."""
    if code == SQUARED:
        return y - f
    if code == ABSOLUTE:
        return 1.0 if f <= y else -1.0
    if code == QUANTILE:
        return parameter if y >= f else parameter - 1.0
    if code == HUBER:
        r = y - f
        if abs(r) <= parameter:
            return r
        return parameter if r > 0.0 else -parameter
    if code == BINOMIAL:
        return y - expit(f)
    return math.exp(-f) if y > 0.5 else -math.exp(f)


@kernel
def value_of(code, parameter, y, f):
    """Loss; squared error and log-loss as half of what `train_score_` shows."""
    r = y - f
    if code == SQUARED:
        return 0.5 * r * r
    if code == ABSOLUTE:
        return abs(r)
    if code == QUANTILE:
        return parameter * r if r >= 0.0 else (parameter - 1.0) * r
    if code == HUBER:
        return 0.5 * r * r if abs(r) <= parameter else parameter * (abs(r) - 0.5 * parameter)
    if code == BINOMIAL:
        return max(f, 0.0) + math.log1p(math.exp(-abs(f))) - y * f
    return math.exp(-f) if y > 0.5 else math.exp(f)


@kernel
def residuals(code, parameter, y, raw, start, stop, out):  # OUT: out, shape (n_trees_per_stage, n_rows)
    n_classes = raw.shape[0]
    for i in range(start, stop):
        if code != MULTINOMIAL:
            out[0, i] = residual_of(code, parameter, y[i], raw[0, i])
            continue
        top = raw[0, i]
        for c in range(1, n_classes):
            top = max(top, raw[c, i])
        total = 0.0
        for c in range(n_classes):
            out[c, i] = math.exp(raw[c, i] - top)
            total += out[c, i]
        for c in range(n_classes):
            out[c, i] = (1.0 if y[i] == c else 0.0) - out[c, i] / total


@kernel
def loss_sums(code, parameter, y, raw, weight, mask, start, stop, sums):  # OUT: sums
    """Weighted loss and weight of the rows in the mask (sums[1]) and of the others (sums[0])."""
    for i in range(start, stop):
        if code == MULTINOMIAL:
            top = raw[0, i]
            for c in range(1, raw.shape[0]):
                top = max(top, raw[c, i])
            total = 0.0
            for c in range(raw.shape[0]):
                total += math.exp(raw[c, i] - top)
            value = top + math.log(total) - raw[np.intp(y[i]), i]
        else:
            value = value_of(code, parameter, y[i], raw[0, i])
        side = sums[mask[i]]
        side[0] += weight[i] * value
        side[1] += weight[i]


@kernel
def rows_by_leaf(leaves, mask, n_nodes, bounds, rows):  # OUT: bounds, rows
    """Rows of the mask grouped by leaf: leaf j holds ``rows[bounds[j]:bounds[j + 1]]``; bounds: n_nodes + 2 zeros."""
    for i in range(leaves.shape[0]):
        if mask[i]:
            bounds[leaves[i] + 2] += 1
    for j in range(2, n_nodes + 2):
        bounds[j] += bounds[j - 1]
    for i in range(leaves.shape[0]):
        if mask[i]:
            rows[bounds[leaves[i] + 1]] = i
            bounds[leaves[i] + 1] += 1


@kernel
def newton_leaves(code, n_classes, k, y, residual, weight, bounds, rows, left, value):  # OUT: value
    """One Newton step per leaf: mean residual over mean curvature (times (K - 1) / K for K classes)."""
    for leaf in range(left.shape[0]):
        if left[leaf] >= 0:
            continue
        slope, curvature, total = 0.0, 0.0, 0.0
        for i in range(bounds[leaf], bounds[leaf + 1]):
            row = rows[i]
            r, w = residual[row], weight[row]
            target = y[row] if code != MULTINOMIAL else (1.0 if y[row] == k else 0.0)
            p = target - r
            slope += w * r
            curvature += w * (abs(r) if code == EXPONENTIAL else p * (1.0 - p))
            total += w
        factor = (n_classes - 1.0) / n_classes if code == MULTINOMIAL else 1.0
        usable = total != 0.0 and abs(curvature / total) >= LEAST_CURVATURE
        value[leaf] = factor * slope / curvature if usable else 0.0


@kernel
def quantile_leaves(gaps, weight, bounds, level, delta, left, value):  # OUT: value
    """Least gap ``y - f`` of each leaf at which the weight reaches `level` times its total; sorted by leaf and gap.

    With delta > 0 (Huber's loss) plus one step from there: the mean of the rest, cut at +-delta.
    """
    for leaf in range(left.shape[0]):
        start, end = bounds[leaf], bounds[leaf + 1]
        if left[leaf] >= 0 or start == end:
            continue
        total = 0.0
        for i in range(start, end):
            total += weight[i]
        wanted, reached, at = max(level * total, 5e-324), 0.0, start
        while at < end - 1:
            reached += weight[at]
            if reached >= wanted:
                break
            at += 1
        value[leaf] = gaps[at]
        if delta > 0.0 and total != 0.0:
            step = 0.0
            for i in range(start, end):
                step += weight[i] * min(max(gaps[i] - gaps[at], -delta), delta)
            value[leaf] = gaps[at] + step / total


@kernel
def in_bag(uniform, n_bag, mask):  # OUT: mask
    """Draw exactly `n_bag` rows, one after another."""
    n, drawn = uniform.shape[0], 0
    for i in range(n):
        mask[i] = 1 if uniform[i] * (n - i) < n_bag - drawn else 0
        drawn += mask[i]


@kernel
def add_leaf_values(leaves, value, factor, start, stop, raw):  # OUT: raw
    for i in range(start, stop):
        raw[i] += factor * value[leaves[i]]


@kernel
def step(x, cut, node):
    """Place of a node's child in `child`."""
    return node * TWO + (ONE if x > cut else ZERO)


@kernel
def add_trees(X, trees, first, last, raw):  # OUT: raw, shape (n_rows, n_columns)
    """Add the leaf of each row in trees [first, last): ``amount`` of the leaf to its ``column``.  No missing values.

    Four rows walk side by side until all are at leaves, so that the processor need not wait for one; a leaf is its own
    child.  Unsigned places spare tests.
    """
    child, feature, cut, n = trees.child, trees.feature, trees.threshold, X.shape[0]
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        for t in range(first, last):
            for i in range(start, end, 4):
                j, k, m = min(i + 1, end - 1), min(i + 2, end - 1), min(i + 3, end - 1)
                a = b = c = d = np.uint64(trees.roots[t])
                moved = True
                while moved:
                    e, f = child[step(X[i, feature[a]], cut[a], a)], child[step(X[j, feature[b]], cut[b], b)]
                    g, h = child[step(X[k, feature[c]], cut[c], c)], child[step(X[m, feature[d]], cut[d], d)]
                    moved = (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) != 0
                    a, b, c, d = np.uint64(e), np.uint64(f), np.uint64(g), np.uint64(h)
                raw[i, trees.column[a]] += trees.amount[a]
                if i + 1 < end:
                    raw[j, trees.column[b]] += trees.amount[b]
                if i + 2 < end:
                    raw[k, trees.column[c]] += trees.amount[c]
                if i + 3 < end:
                    raw[m, trees.column[d]] += trees.amount[d]


@kernel
def below(x, cut, node):
    """Place of the child in a complete tree."""
    return node * TWO + (TWO if x > cut else ONE)


@kernel
def add_complete_trees(X, trees, first, last, raw):  # OUT: raw, shape (n_rows, n_columns)
    """`add_trees` for trees that are complete: the children of node i are 2 i + 1 and 2 i + 2.

    Four rows walk side by side here, too.
    """
    n, n_inner, depth = X.shape[0], np.uint64(trees.feature.shape[1]), trees.depth
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        for t in range(first, last):
            feature, cut, column, amount = trees.feature[t], trees.threshold[t], trees.column[t], trees.amount[t]
            i = start
            while i + 4 <= end:
                a = b = c = d = np.uint64(0)
                for _ in range(depth):
                    a, b = below(X[i, feature[a]], cut[a], a), below(X[i + 1, feature[b]], cut[b], b)
                    c, d = below(X[i + 2, feature[c]], cut[c], c), below(X[i + 3, feature[d]], cut[d], d)
                a, b, c, d = a - n_inner, b - n_inner, c - n_inner, d - n_inner
                raw[i, column[a]] += amount[a]
                raw[i + 1, column[b]] += amount[b]
                raw[i + 2, column[c]] += amount[c]
                raw[i + 3, column[d]] += amount[d]
                i += 4
            for r in range(i, end):
                a = np.uint64(0)
                for _ in range(depth):
                    a = below(X[r, feature[a]], cut[a], a)
                raw[r, column[a - n_inner]] += amount[a - n_inner]
