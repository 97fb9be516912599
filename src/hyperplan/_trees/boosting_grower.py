"""Grows trees on binned rows to second-order statistics (gradients and hessians).

For leaf values w the loss drops, to second order, by ``-sum_j (G_j w_j + (H_j + lambda) w_j^2 / 2)``, which the leaf
value ``-G_j / (H_j + lambda)`` maximises; a split gains
``(G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)) / 2 - beta``.

Splits are chosen on integers (`quantise`), whose sums are exact; leaf values come from the float sums of the leaf.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import effective_n_jobs, spans, split_map
from hyperplan._trees import _boosting_kernels as k
from hyperplan._trees import _boosting_loss_kernels as passes
from hyperplan._trees import _boosting_nodes_kernels as node_kernels
from hyperplan._trees import _boosting_rows_kernels as rows_kernels
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees._rules_kernels import Rules
from hyperplan._trees.binning import BinnedData
from hyperplan._trees.bundles import make_bundles
from hyperplan._trees.histogram import (
    UNLIMITED,
    Constraints,
    GrowthOptions,
    make_nodes,
    make_workspace,
    node_capacity,
)

ROWS = 65_536  # rows of one task in passes over rows
MARKED_ROWS = 65_536  # more rows are told their leaves, and further passes go by rows instead of by leaves
MARKED_LEAVES = 65_536  # as many as 16 bits can tell apart
SERIAL_COST = 300_000.0  # nanoseconds, roughly: cheaper nodes are not worth threads
LINE_BYTES = 2**22  # smaller tables are in the cache, and gathers from their columns are cheap
LINE_BLOCK = 16_384  # rows of one task when lines are made
PART_ROWS = 600  # nodes with more rows per feature are cut into parts of rows, others by features
CACHE_BYTES = 2**19  # histograms of a node that stay in the cache, beside those of another
RANGE = 2**31 - 2  # sums of quantised derivatives stay below
CATEGORY_SUPPORT = 10.0  # rows a category needs to take part in a split; also smooths its mean
DIRECT_SMALL, DIRECT_LARGE = (
    1,
    6,
)  # rows per bin that are read as fast as histograms are kept, inside and outside the cache


class Tree(NamedTuple):
    """A grown tree; node 0 is the root, children follow their parent, leaves have left = -1."""

    feature: np.ndarray  # int32
    bin: np.ndarray  # int32: bins <= this go left
    missing_left: np.ndarray  # uint8
    chosen: np.ndarray  # (n_nodes, 8) uint32: bins that go left, for categorical features
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    value: np.ndarray  # float64: contribution to the raw prediction (learning rate included)
    gain: np.ndarray  # float64: twice the drop of the second-order objective by the split, without the leaf cost
    count: np.ndarray  # int64: training rows
    hessian: np.ndarray  # float64: their sum of hessians
    depth: np.ndarray  # int32

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.left < 0))


class Leaves(NamedTuple):
    """Where the training rows ended: leaf j is node `node[j]` and holds ``rows[bounds[j]:bounds[j + 1]]``."""

    node: np.ndarray
    bounds: np.ndarray
    sums: np.ndarray  # (n_leaves, 2): exact sums of gradients and hessians
    lower: np.ndarray
    upper: np.ndarray
    marks: np.ndarray | None  # the leaf of each row, or None


def lines_of(words) -> np.ndarray:
    """Words (n_words, n_samples) row by row; no row for small tables."""
    n_words, n = words.shape
    lines = np.empty((n if words.nbytes > LINE_BYTES else 0, n_words), np.uint32)
    split_map(lambda s: rows_kernels.fill_lines(words, s.start, s.stop, lines), spans(lines.shape[0], LINE_BLOCK))
    return lines


def direct_rows(bundles) -> int:
    """Rows up to which reading a node's rows again is cheaper than to keep its histograms for its children."""
    n_words, n_codes = bundles.words.shape[0], bundles.n_codes
    stays = 8 * n_words * WIDTH * n_codes <= CACHE_BYTES
    return n_codes * (DIRECT_SMALL if stays else DIRECT_LARGE)


class Grower:
    """Grows one tree after another on the same rows, reusing all memory.

    Parameters
    ----------
    data : BinnedData
        Training rows.
    options : GrowthOptions
        Shape of the trees.
    constraints : Constraints
        Monotone and interaction constraints.
    constant_hessian : bool
        Whether every row's hessian is 1.
    """

    def __init__(self, data: BinnedData, options: GrowthOptions, constraints: Constraints, constant_hessian: bool):
        oblivious = options.growth == "oblivious"
        data, bundles = make_bundles(data, None if oblivious else options.max_conflict_rate)
        self.data, self.options, self.constraints = data, options, constraints
        self.constant_hessian = constant_hessian
        n, n_words = data.n_samples, bundles.words.shape[0]
        capacity = node_capacity(n, options)
        self.order = int(options.growth != "leaf") if options.max_leaves < UNLIMITED else 2
        self.direct_rows = 0 if oblivious else direct_rows(bundles)
        slots = min(capacity, math.ceil(math.log2(n + 1)) + 3) if self.order == 2 else (capacity + 1) // 2 + 1
        slots = min(slots, n // (self.direct_rows + 1) + 1)  # leaves with stored histograms, and a sibling
        bytes_each = n_words * WIDTH * bundles.n_codes * (12 if oblivious else 8)
        require_memory(slots * bytes_each, "histograms of the open leaves", "lower max_leaf_nodes or max_bins")
        self.nodes = make_nodes(capacity, constraints.groups.shape[0])
        self.n_words, self.n_columns = n_words, bundles.member_start.shape[0] - 1
        self.n_parts = effective_n_jobs() if self._shares_rows(n) else 0
        indicators, lines = bundles.indicators(data, constraints.monotone), lines_of(bundles.words)
        self.work = make_workspace(
            data.n_features, bundles, indicators, lines, slots, capacity, max(1, self.n_parts), oblivious
        )
        self.packed = np.empty(n, np.int64)

    def grow(self, gradient, hessian, sums, rows=None, seed=0) -> Leaves:
        """Grow a tree; `sums` = (sum |gradient|, sum hessian) over `rows` (all when None)."""
        work = self.work
        n_rows = self.data.n_samples if rows is None else rows.shape[0]
        self.scales = g_scale, h_scale = self._scales(sums, n_rows)
        self.rules = self._rules(g_scale, h_scale, hessian)
        work.seed[0] = seed
        total = self._quantise(gradient, hessian, rows)
        work.rows[:n_rows] = np.arange(n_rows, dtype=np.uint32) if rows is None else rows
        self._grow_nodes(n_rows, total)
        return self._leaves(gradient, hessian)

    def _shares_rows(self, n_rows):
        """Whether threads share the rows of a node of that size; they share the features of smaller ones."""
        return n_rows > PART_ROWS * self.n_columns

    def _grow_nodes(self, n_rows, total):
        data, nodes, work, rules = self.data, self.nodes, self.work, self.rules
        arguments = (data, self.packed, nodes, rules, self.constraints, work)
        if effective_n_jobs() == 1 or n_rows * (2 + self.n_words) <= SERIAL_COST:
            k.grow_alone(*arguments, n_rows, total)
            return
        if not k.plant(nodes, rules, self.constraints, work, n_rows, total):
            return
        self._expand_root(n_rows)
        node = k.go_on(*arguments, (0, -1), SERIAL_COST)
        while node >= 0:
            node = self._split_large(node, arguments)

    def _expand_root(self, n_rows):
        if not (self.n_parts and n_rows == self.data.n_samples):
            self._expand(0, -1, 0)
            return
        bounds = self._part_bounds(0, n_rows)
        split_map(
            lambda j: k.add_whole_part(self.packed, self.work, j, bounds[j], bounds[j + 1]),
            range(self.n_parts),
        )
        self._expand(0, -1, self.n_parts)

    def _part_bounds(self, start, stop):
        return start + (stop - start) * np.arange(self.n_parts + 1) // self.n_parts

    def _scales(self, sums, n_rows):
        room, g, h = RANGE - n_rows, float(sums[0]), float(sums[1])  # rounding adds at most one unit per row
        g_scale = room / g if g > 0 else 1.0
        h_scale = room / h if h > 0 and not self.constant_hessian else 1.0
        return min(g_scale, 1e300), min(h_scale, 1e300)

    def _rules(self, g_scale, h_scale, hessian):
        o = self.options
        smallest, largest = 1.0, 1.0  # hessian of a row, whichever way it is rounded
        if not self.constant_hessian:
            smallest = math.floor(float(hessian.min(initial=np.inf)) * h_scale)
            largest = math.floor(float(hessian.max(initial=0.0)) * h_scale) + 1.0
        min_hessian = max(o.min_hessian * h_scale, o.min_samples_leaf * smallest)  # as min_samples_leaf rows have
        return Rules(
            min_samples=o.min_samples_leaf,
            max_leaves=o.max_leaves,
            max_depth=o.max_depth,
            order=self.order,
            min_hessian=float(min_hessian),  # an integer of another type would compile every kernel again
            l2=o.l2 * h_scale,
            min_gain=2.0 * o.leaf_cost * g_scale * g_scale / h_scale,
            category_support=CATEGORY_SUPPORT,
            category_smoothing=CATEGORY_SUPPORT * h_scale,
            feature_share=float(o.max_features),
            hessian_counts=int(self.constant_hessian),
            safe_hessian=float(o.min_samples_leaf) * largest if o.min_samples_leaf > 1 else 0.0,
            direct_rows=self.direct_rows,
        )

    def _quantise(self, gradient, hessian, rows):
        parts = split_map(
            lambda s: passes.quantise(gradient, hessian, *self.scales, s.start, s.stop, self.packed),
            spans(gradient.shape[0], ROWS),
        )
        return sum(parts) if rows is None else int(self.packed[rows].sum())

    def _expand(self, small, large, n_parts):
        """Scan the features of two nodes; sums are exact: how threads share features changes no bit."""
        arguments = (self.data, self.packed, self.nodes, self.rules, self.constraints, self.work, small, large, n_parts)
        shares = spans(self.n_words, -(-self.n_words // effective_n_jobs()))
        split_map(lambda share: k.expand(*arguments, share.start, share.stop), shares)

    def _split_large(self, node, arguments):
        """What `advance` does for one node, in tasks; returns the next node that is large."""
        nodes, work = self.nodes, self.work
        if self.n_parts and self._shares_rows(int(nodes.stop[node] - nodes.start[node])):
            bounds, n_left = self._partition(node, True)
            return k.go_on_with_parts(*arguments, node, bounds, n_left, SERIAL_COST)
        n_left = rows_kernels.divide(self.data, nodes, node, work)
        pair = k.branch(nodes, node, n_left, -1, self.rules, self.constraints, work)
        if pair[0] >= 0:
            self._expand(*pair, 0)
        return k.go_on(*arguments, pair, SERIAL_COST)

    def _partition(self, node, filled):
        """Partition the rows of a node, in parts, maybe with histograms; bounds of the parts, how many go left.

        Rows are in work.scratch and wait for `move_part`.
        """
        bounds = self._part_bounds(int(self.nodes.start[node]), int(self.nodes.stop[node]))
        arguments = (self.data, self.packed, self.nodes, node, self.rules, self.work, filled)

        def split(j):
            return k.split_part(*arguments, j, bounds[j], bounds[j + 1])

        return bounds, np.array(split_map(split, range(self.n_parts)))

    def _leaves(self, gradient, hessian):
        nodes, n_nodes = self.nodes, int(self.work.state[node_kernels.N_NODES])
        n_leaves = (n_nodes + 1) // 2
        leaf, bounds = np.empty(n_leaves, np.int64), np.empty(n_leaves + 1, np.int64)
        node_kernels.list_leaves(nodes.left, nodes.right, nodes.start, nodes.stop, leaf, bounds)
        pieces = spans(int(bounds[-1]), ROWS)
        parts = np.zeros((len(pieces), leaf.shape[0], 2))
        marks = self._marks(leaf, bounds)

        def add(j):
            piece = pieces[j].start, pieces[j].stop
            if marks is None:
                passes.sum_leaves(self.work.rows, bounds, gradient, hessian, *piece, parts[j])
            else:
                passes.sum_marked(marks, gradient, hessian, *piece, parts[j])

        split_map(add, range(len(pieces)))
        unit = self.scales[1] / self.scales[0]
        return Leaves(leaf, bounds, parts.sum(axis=0), nodes.lower[leaf] * unit, nodes.upper[leaf] * unit, marks)

    def _marks(self, leaf, bounds):
        """The leaf of each row where that saves time, else None; in memory that the next tree will write over."""
        n = int(bounds[-1])
        if n != self.data.n_samples or n <= MARKED_ROWS or leaf.shape[0] > MARKED_LEAVES:
            return None
        marks = self.work.scratch[0].view(np.uint16)[:n]
        split_map(lambda s: passes.mark_leaves(self.work.rows, bounds, s.start, s.stop, marks), spans(n, ROWS))
        return marks

    def newton_values(self, leaves: Leaves):
        """``-G / (H + lambda)`` of each leaf from the exact sums, within its monotone bounds."""
        values = -leaves.sums[:, 0] / (leaves.sums[:, 1] + self.options.l2 + 1e-15)
        return np.minimum(np.maximum(values, leaves.lower), leaves.upper)

    def tree(self, leaves: Leaves, values) -> Tree:
        """The grown tree as a record of its own; `values` are those of the leaves."""
        nodes, n = self.nodes, int(self.work.state[node_kernels.N_NODES])
        g_scale, h_scale = self.scales
        value = np.zeros(n)
        value[leaves.node] = values
        tree = Tree(
            feature=nodes.feature[:n].copy(),
            bin=nodes.bin[:n].copy(),
            missing_left=nodes.missing_left[:n].copy(),
            chosen=nodes.chosen[:n].copy(),
            left=nodes.left[:n].copy(),
            right=nodes.right[:n].copy(),
            value=value,
            gain=nodes.gain[:n] * (h_scale / g_scale**2),
            count=nodes.stop[:n] - nodes.start[:n],
            hessian=(nodes.packed[:n] & 0xFFFFFFFF) / h_scale,
            depth=nodes.depth[:n].copy(),
        )
        node_kernels.complete_nodes(
            tree.left, tree.right, tree.count, self.data.has_missing, self.data.missing_bin,
            tree.feature, tree.missing_left, tree.chosen, tree.gain, tree.value,
        )  # fmt: skip
        return tree

    def update(self, leaves: Leaves, values, raw):
        """Add the leaves' values to the raw predictions of the rows that the tree was grown on."""

        def add(s):
            if leaves.marks is None:
                passes.add_leaves(self.work.rows, leaves.bounds, values, s.start, s.stop, raw)
            else:
                passes.add_marked(leaves.marks, values, s.start, s.stop, raw)

        split_map(add, spans(int(leaves.bounds[-1]), ROWS))
