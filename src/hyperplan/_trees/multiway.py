"""Multiway trees (ID3, C4.5): one branch per category, two per threshold, missing values by fractions of rows.

With C the class and A the branch of a row: information ``I(A; C) = H(C) - H(C | A)``, gain ratio ``I / H(A)`` among the
columns with at least average information, De Mantaras' distance ``1 - I(A; C) / H(A, C)``.  All in bits, over the rows
whose value is known; I counts by their share of the node.

>>> import numpy as np
>>> {name: round(value, 6) for name, value in split_measures(np.array([[200.0, 400.0], [200.0, 0.0]])).items()}
{'gain': 0.311278, 'gain_ratio': 0.383689, 'mantaras': 0.792481}
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._multiway_kernels import (
    GAIN,
    GAIN_RATIO,
    INFORMATION,
    MANTARAS,
    N_FOUND,
    SCORE,
    SPLIT_ENTROPY,
    THRESHOLD,
    assign_branches,
    choose,
    class_sums,
    count_dealt,
    deal,
    score_columns,
    spread,
    spread_rows,
    table_scores,
)

CRITERIA = {"gain": GAIN, "gain_ratio": GAIN_RATIO, "mantaras": MANTARAS}
LEAST_FRACTION = 1e-3  # of a row: smaller ones say nothing, and there could be one per leaf
ROWS_PER_TASK = 4096
CAUTION = 1e-9  # pruning keeps a subtree only if it is expected to be better by more than rounding


class Rule(NamedTuple):
    """When to stop: depth, weight of a node that may be split, weight that two branches need."""

    criterion: int
    max_depth: float
    min_split: float
    min_leaf: float


class MultiwayNodes(NamedTuple):
    """One entry per node; children are numbered one after the other from `first_child`.

    ``table[table_start[i] + code]`` is the child of a category in node i, or -1; ``table_start`` is -1 for thresholds.
    `share` is the part of the parent's known weight that went to a node.
    """

    first_child: np.ndarray
    n_children: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    table_start: np.ndarray
    share: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray
    table: np.ndarray
    n_values: np.ndarray


def split_measures(counts):
    """Gain, gain ratio and De Mantaras' distance of a split given as a table (branches x classes)."""
    found = np.zeros(N_FOUND)
    table_scores(np.ascontiguousarray(counts, dtype=np.float64), len(counts), 0.0, 0.0, found)
    gain, entropy = float(found[INFORMATION]), float(found[SPLIT_ENTROPY])
    return {"gain": gain, "gain_ratio": gain / entropy, "mantaras": 1.0 - float(found[SCORE])}


class _Nodes:
    """Nodes under construction, as lists."""

    def __init__(self, n_values):
        self.rows = {name: [] for name in MultiwayNodes._fields[:9]}
        self.tables, self.n_table, self.n_values = [], 0, n_values

    def add(self, sums, share, n_rows):
        """A leaf; its number."""
        total = sums.sum()
        leaf = (-1, 0, -2, -2.0, -1, share, sums / total, total, n_rows)
        for column, item in zip(self.rows.values(), leaf):
            column.append(item)
        return len(self.rows["share"]) - 1

    def split(self, node, feature, threshold, children, table):
        """Make a leaf an inner node."""
        for name, item in (("first_child", children[0]), ("n_children", len(children)), ("feature", feature)):
            self.rows[name][node] = item
        if table is None:
            self.rows["threshold"][node] = threshold
        else:
            self.rows["table_start"][node] = self.n_table
            self.tables.append(np.where(table >= 0, table + children[0], -1))
            self.n_table += table.shape[0]

    def finished(self) -> MultiwayNodes:
        ints = {"first_child", "n_children", "feature", "table_start", "n_rows"}
        arrays = {n: np.array(c, dtype=np.int64 if n in ints else np.float64) for n, c in self.rows.items()}
        table = np.concatenate([np.zeros(0, dtype=np.int64), *self.tables])
        return MultiwayNodes(**arrays, table=table, n_values=self.n_values)


class _Scratch:
    """Arrays that the nodes share, by row number of the whole table."""

    def __init__(self, values, n_values, codes, weight, n_classes):
        d, n = values.shape
        self.values, self.n_values, self.codes = values, n_values, codes
        numeric = np.flatnonzero(n_values == 0)
        self.place = np.zeros(d, dtype=np.int64)
        self.place[numeric] = 1 + np.arange(numeric.shape[0])
        self.lists = np.empty((1 + numeric.shape[0], n), dtype=np.int64)
        self.lists[0] = np.arange(n)
        for j in numeric:
            self.lists[self.place[j]] = np.argsort(values[j], kind="stable")
        self.weight, self.branch = np.zeros(n), np.zeros(n, dtype=np.int64)
        self.least = LEAST_FRACTION * float(weight.min())
        self.counts = np.zeros((max(2, int(n_values.max(initial=0))), n_classes))
        self.trial, self.found = np.zeros(N_FOUND), np.zeros((d, N_FOUND))


def grow(values, n_values, codes, weight, n_classes, rule) -> MultiwayNodes:
    """Grow a tree on columns `values` (d, n) with ``n_values[j]`` categories (0: numbers); all weights positive."""
    work, nodes = _Scratch(values, n_values, codes, weight, n_classes), _Nodes(n_values)
    sums = np.empty(n_classes)
    class_sums(work.lists[0], weight, codes, sums)
    pending = [(nodes.add(sums, 1.0, codes.shape[0]), 0, work.lists, weight)]
    while pending:
        node, depth, lists, part = pending.pop()
        value, total = nodes.rows["value"][node], nodes.rows["weight"][node]
        if depth >= rule.max_depth or total < rule.min_split or value.max() >= 1.0:
            continue
        work.weight[lists[0]] = part
        how = (rule.criterion, float(rule.min_leaf), float(total))
        score_columns(values, lists, work.place, n_values, work.weight, codes, how, work.counts, work.trial, work.found)
        j = choose(work.found, rule.criterion)
        if j >= 0:
            branches = _divide(work, nodes, node, j, lists)
            pending += [(child, depth + 1, *rest) for child, *rest in reversed(branches)]
    return nodes.finished()


def _divide(work, nodes, node, j, lists):
    """Split a node at column j: ``(number, lists, weights)`` of its children."""
    threshold, column = float(work.found[j, THRESHOLD]), work.values[j]
    by_code = np.empty(work.n_values[j], dtype=np.int64)
    size = np.empty(max(2, by_code.shape[0]))
    n_branches = assign_branches(column, lists[0], work.weight, threshold, by_code, work.branch, size)
    share = size[:n_branches] / size[:n_branches].sum()
    count, cursor = np.empty(n_branches, dtype=np.int64), np.empty(n_branches, dtype=np.int64)
    count_dealt(lists[0], work.weight, work.branch, share, work.least, count)
    ends = np.cumsum(count)
    dealt = np.empty((lists.shape[0], int(ends[-1])), dtype=np.int64)
    dealt_weight = np.empty(dealt.shape[1])
    deal(lists, work.weight, work.branch, share, work.least, ends - count, cursor, dealt, dealt_weight)
    children = []
    for b in range(n_branches):
        part = slice(int(ends[b] - count[b]), int(ends[b]))
        sums = np.empty(work.counts.shape[1])
        class_sums(dealt[0, part], dealt_weight[part], work.codes, sums)
        number = nodes.add(sums, share[b], int(count[b]))
        children.append((number, np.ascontiguousarray(dealt[:, part]), dealt_weight[part]))
    nodes.split(node, j, threshold, [child[0] for child in children], by_code if by_code.shape[0] else None)
    return children


def impurities(nodes) -> np.ndarray:
    """Entropy of each node in bits."""
    return np.array([spread(shares) for shares in nodes.value])


def decreases(nodes) -> np.ndarray:
    """Weighted entropy that each inner node saves, as a share of the total weight; 0 for leaves."""
    mass = nodes.weight * impurities(nodes)
    found = np.zeros(mass.shape[0])
    for node in np.flatnonzero(nodes.n_children):
        first = nodes.first_child[node]
        found[node] = mass[node] - mass[first : first + nodes.n_children[node]].sum()
    return found / nodes.weight[0]


def predicted_errors(errors, weight, confidence):
    """Upper end of the one-sided binomial confidence interval for the number of errors among `weight` new rows.

    >>> [round(float(predicted_errors(0.0, n, 0.25) / n), 3) for n in (6.0, 9.0, 1.0)]
    [0.206, 0.143, 0.75]
    """
    sure = weight - errors < 1e-9
    rate = betaincinv(errors + 1.0, np.where(sure, 1.0, weight - errors), 1.0 - confidence)
    return weight * np.where(sure, 1.0, rate)


def pruned(nodes, confidence) -> MultiwayNodes:
    """Error-based pruning: from the bottom up, a subtree that is not expected to beat its root becomes a leaf."""
    expected = predicted_errors(nodes.weight * (1.0 - nodes.value.max(axis=1)), nodes.weight, confidence)
    n_children = nodes.n_children.copy()
    for node in np.flatnonzero(nodes.n_children)[::-1]:  # children follow their parents
        first = nodes.first_child[node]
        below = expected[first : first + n_children[node]].sum()
        if expected[node] <= below + CAUTION:
            n_children[node] = 0
        else:
            expected[node] = below
    return _without(nodes, n_children)


def _without(nodes, n_children):
    """The nodes that still hang on the root, renumbered; the children of a node stay together."""
    order, first_child = [0], []
    for node in order:  # grows while it is read
        kept = n_children[node]
        first_child.append(len(order) if kept else -1)
        order.extend(range(nodes.first_child[node], nodes.first_child[node] + kept))
    new_number = np.full(n_children.shape[0], -1)
    new_number[order] = np.arange(len(order))
    fields = {name: getattr(nodes, name)[order] for name in MultiwayNodes._fields[:9]}
    fields["first_child"], fields["n_children"] = np.array(first_child, dtype=np.int64), n_children[order]
    leaves = fields["n_children"] == 0
    fields["feature"][leaves], fields["threshold"][leaves], fields["table_start"][leaves] = -2, -2.0, -1
    table = np.where(nodes.table >= 0, new_number[nodes.table], -1)
    return MultiwayNodes(**fields, table=table, n_values=nodes.n_values)


def answers(nodes, X, n_jobs=None):
    """Class shares and main leaf of each row of a float64 X (n, d)."""
    shares = np.empty((X.shape[0], nodes.value.shape[1]))
    leaves = np.empty(X.shape[0], dtype=np.int64)

    def task(part):
        pending, fraction = np.empty(nodes.weight.shape[0], dtype=np.int64), np.empty(nodes.weight.shape[0])
        spread_rows(X[part], nodes, pending, fraction, shares[part], leaves[part])

    thread_map(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return shares, leaves
