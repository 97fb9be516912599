"""Split criteria as integer codes: sums of a node, its impurity and value, and the score of a split.

A node is described by one vector ``tot``: ``[weight, second moment, lower, upper, impurity, sums...]``.  The sums are
class weights (``n_outputs`` blocks of ``stride`` classes) or sums of the centred targets (one per output); lower and
upper are the bounds that monotone constraints put on the node's value.  No X here.
"""

import math

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel

GINI, ENTROPY, MISCLASSIFICATION, GAIN_RATIO, MANTARAS, COST_GINI, COST_RISK, SQUARED, ABSOLUTE, POISSON = range(10)
WEIGHT, MOMENT, LOWER, UPPER, IMPURITY, HEAD = range(6)
EPSILON = 2.220446049250313e-16  # below this an impurity counts as zero, and a Poisson sum as empty


@inner_kernel
def clear_totals(tot):  # OUT: tot, bounds kept
    tot[WEIGHT] = 0.0
    tot[MOMENT] = 0.0
    for i in range(HEAD, tot.shape[0]):
        tot[i] = 0.0


@inner_kernel
def copy_vector(source, target):  # OUT: target
    for i in range(source.shape[0]):
        target[i] = source[i]


@inner_kernel
def row_weight(weight, row):
    return weight[row] if weight.shape[0] > 0 else 1.0


@inner_kernel
def add_row(codes, real, weight, stride, row, sign, tot):  # OUT: tot
    """Add (sign = 1) or take away (sign = -1) one row."""
    w = sign * row_weight(weight, row)
    tot[WEIGHT] += w
    if codes.shape[0] > 0:
        for k in range(codes.shape[1]):
            tot[HEAD + k * stride + codes[row, k]] += w
    else:
        for k in range(real.shape[1]):
            y = real[row, k]
            tot[HEAD + k] += w * y
            tot[MOMENT] += w * y * y


@inner_kernel
def gini(tot, n_classes, stride):
    found = 0.0
    w = tot[WEIGHT]
    for k in range(n_classes.shape[0]):
        squares = 0.0
        for c in range(n_classes[k]):
            count = tot[HEAD + k * stride + c]
            squares += count * count
        found += 1.0 - squares / (w * w)
    return found / n_classes.shape[0]


@inner_kernel
def entropy(tot, n_classes, stride):
    """Mean over outputs of the entropy in bits."""
    found = 0.0
    for k in range(n_classes.shape[0]):
        for c in range(n_classes[k]):
            share = tot[HEAD + k * stride + c] / tot[WEIGHT]
            if share > 0.0:
                found -= share * math.log2(share)
    return found / n_classes.shape[0]


@inner_kernel
def misclassification(tot, n_classes, stride):
    found = 0.0
    for k in range(n_classes.shape[0]):
        most = 0.0
        for c in range(n_classes[k]):
            most = max(most, tot[HEAD + k * stride + c])
        found += 1.0 - most / tot[WEIGHT]
    return found / n_classes.shape[0]


@inner_kernel
def expected_cost(tot, costs, mixed):
    """One output: cost of answering as the node's shares are drawn (`mixed`), or of the cheapest single answer."""
    K = costs.shape[0]
    w = tot[WEIGHT]
    mean, least = 0.0, math.inf
    for j in range(K):
        cost = 0.0
        for i in range(K):
            cost += costs[i, j] * tot[HEAD + i] / w
        mean += cost * tot[HEAD + j] / w
        least = min(least, cost)
    return mean if mixed else least


@inner_kernel
def variance(tot, q, scale):
    w = tot[WEIGHT]
    found = tot[MOMENT] / w
    for k in range(q):
        mean = tot[HEAD + k] / w
        found -= mean * mean
    return max(found, 0.0) / q * scale * scale


@view_kernel
def mean_impurity(criterion, tot, n_classes, scale):
    """One output: Gini impurity of two classes, or variance."""
    return gini(tot, n_classes, 2) if criterion == GINI else variance(tot, 1, scale)


@view_kernel
def impurity(criterion, tot, targets):
    """Impurity from the sums; the absolute and the Poisson criterion need the rows and are computed elsewhere."""
    n_classes, stride = targets.n_classes, targets.stride
    if criterion == GINI:
        return gini(tot, n_classes, stride)
    if criterion in (ENTROPY, GAIN_RATIO, MANTARAS):
        return entropy(tot, n_classes, stride)
    if criterion == MISCLASSIFICATION:
        return misclassification(tot, n_classes, stride)
    if criterion in (COST_GINI, COST_RISK):
        return expected_cost(tot, targets.cost, criterion == COST_GINI)
    return variance(tot, n_classes.shape[0], targets.scale)


@view_kernel
def split_entropy(left_weight, right_weight):
    """Entropy in bits of the two shares."""
    a, b = left_weight / (left_weight + right_weight), right_weight / (left_weight + right_weight)
    return (-a * math.log2(a) if a > 0.0 else 0.0) - (b * math.log2(b) if b > 0.0 else 0.0)


@inner_kernel
def poisson_score(left, right, q):
    """Sum over children and outputs of ``s log(s / w)``: the deviance it saves, up to a constant of the node."""
    score = 0.0
    for k in range(q):
        a, b = left[HEAD + k], right[HEAD + k]
        if a <= EPSILON or b <= EPSILON:
            return -math.inf
        score += a * math.log(a / left[WEIGHT]) + b * math.log(b / right[WEIGHT])
    return score


@view_kernel
def split_score(criterion, left, right, tot, targets):
    """How good a split is; only comparisons within one node count (larger is better)."""
    wl, wr, q = left[WEIGHT], right[WEIGHT], targets.n_classes.shape[0]
    if criterion == SQUARED:
        score = 0.0
        for k in range(q):
            score += left[HEAD + k] * left[HEAD + k] / wl + right[HEAD + k] * right[HEAD + k] / wr
        return score
    if criterion == POISSON:
        return poisson_score(left, right, q)
    if criterion == ABSOLUTE:
        return 0.0  # needs the rows: computed with the medians
    a, b = impurity(criterion, left, targets), impurity(criterion, right, targets)
    if criterion in (GAIN_RATIO, MANTARAS):
        remaining = (wl * a + wr * b) / (wl + wr)
        gain = tot[IMPURITY] - remaining
        if criterion == GAIN_RATIO:
            return gain
        joint = split_entropy(wl, wr) + remaining
        return gain / joint if joint > 0.0 else -math.inf  # one minus the distance of De Mantaras
    return -wl * a - wr * b


@inner_kernel
def keeps_order(cst, left_value, right_value, lower, upper):
    """Whether children with these values respect the monotone constraint `cst` and the node's bounds."""
    low, high = min(left_value, right_value), max(left_value, right_value)
    return low >= lower and high <= upper and (left_value - right_value) * cst <= 0.0


@inner_kernel
def node_value(tot, divisor, bounded, is_real, centre, scale, value):  # OUT: value
    """Class shares, means or medians (from the sums); number `bounded` (-1: none) is kept within the node's bounds."""
    for i in range(value.shape[0]):
        value[i] = tot[HEAD + i] / divisor
    if bounded >= 0:
        i = bounded
        value[i] = min(max(value[i], tot[LOWER]), tot[UPPER])
        if i == 1:
            value[0] = 1.0 - value[1]
    if is_real:
        for k in range(value.shape[0]):
            value[k] = centre[k] + scale * value[k]


@view_kernel
def integer_log_table(table):  # OUT: table[k] = k log2 k
    for k in range(table.shape[0]):
        table[k] = k * math.log2(np.float64(k)) if k > 0 else 0.0
