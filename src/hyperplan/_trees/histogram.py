"""Records of growing one tree on histograms; the algorithm is in `boosting_grower`, the loops in the kernels."""

from typing import NamedTuple

import numpy as np

from hyperplan._trees._binning_kernels import WIDTH

UNLIMITED = 2**30


class GrowthOptions(NamedTuple):
    """What a tree may look like, in the user's units.

    Attributes
    ----------
    max_leaves, max_depth : int
        Limits; ``UNLIMITED`` for none.
    min_samples_leaf : int
        Least rows of a leaf (exact).
    min_hessian : float
        Least sum of second derivatives of a leaf.
    l2 : float
        Penalty lambda of the squared leaf values.
    leaf_cost : float
        What one more leaf costs (beta): a split must gain more than this.
    growth : str
        "leaf" (best gain first), "level" (breadth first) or "oblivious" (one test for all nodes of a level).
    max_features : float
        Share of the features drawn for each node.
    max_conflict_rate : float or None
        Share of rows in which sparse features of one bundle may meet; None for no bundles.
    """

    max_leaves: int = 31
    max_depth: int = UNLIMITED
    min_samples_leaf: int = 20
    min_hessian: float = 1e-3
    l2: float = 0.0
    leaf_cost: float = 0.0
    growth: str = "leaf"
    max_features: float = 1.0
    max_conflict_rate: float | None = 0.0


class Constraints(NamedTuple):
    """Monotone directions per feature (-1, 0, 1) and interaction groups (n_groups, n_features), both possibly void."""

    monotone: np.ndarray
    groups: np.ndarray


class Nodes(NamedTuple):
    """Nodes of the tree under construction, one entry each; children have larger numbers than their parent."""

    feature: np.ndarray  # int32; -1 in leaves
    bin: np.ndarray  # int32: rows with a bin <= this go left
    missing_left: np.ndarray  # uint8
    chosen: np.ndarray  # (n, 8) uint32: bins that go left, for categorical features
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    depth: np.ndarray  # int32
    start: np.ndarray  # int64: its rows are rows[start:stop]
    stop: np.ndarray  # int64
    packed: np.ndarray  # int64: sums of gradients and hessians
    left_packed: np.ndarray  # int64: the same of the left child of its best split
    gain: np.ndarray  # float64: of its best split
    lower: np.ndarray  # float64: bounds of the value, from monotone ancestors
    upper: np.ndarray  # float64
    slot: np.ndarray  # int32: where its histogram is, -1 for none
    groups: np.ndarray  # (n, n_groups) uint8: interaction groups still open


class Workspace(NamedTuple):
    """Memory that all trees of a fit share."""

    rows: np.ndarray  # uint32: row numbers, those of a node side by side and, as long as possible, ascending
    scratch: np.ndarray  # (2, n) uint32
    words: np.ndarray  # (n_words, n) uint32: columns of the histograms, see `bundles`
    lines: np.ndarray  # (n or 0, n_words) uint32: the same row by row, for many rows
    member_start: np.ndarray  # int32: which features are in which column, see `Bundles`
    member: np.ndarray
    column: np.ndarray
    offset: np.ndarray
    usual: np.ndarray
    indicators: np.ndarray  # uint8: columns of features with two bins each
    hist: np.ndarray  # (n_slots, n_padded_columns, n_codes) int64
    parts: np.ndarray  # (n_threads, n_padded_columns, n_codes) int64: histograms of parts of a node
    counts: np.ndarray  # like hist, int32: numbers of rows, for oblivious trees
    heap: np.ndarray  # int32: open nodes
    keys: np.ndarray  # float64: what the heap is ordered by
    free: np.ndarray  # int32: stack of free slots
    state: np.ndarray  # int64: see the constants of `_boosting_kernels`
    seed: np.ndarray  # uint64: random state of the choice of features
    allowed: np.ndarray  # (2, n_features) uint8: features open to the two nodes being evaluated
    found_gain: np.ndarray  # (2, n_features) float64: best split of each feature
    found_bin: np.ndarray  # int32
    found_missing: np.ndarray  # uint8
    found_left: np.ndarray  # int64
    found_chosen: np.ndarray  # (2, n_features, 8) uint32


def node_capacity(n_rows, options) -> int:
    """Largest number of nodes that a tree on `n_rows` rows can have."""
    leaves = min(options.max_leaves, max(1, n_rows // max(1, options.min_samples_leaf)))
    if options.max_depth < 31:
        leaves = min(leaves, 2**options.max_depth)
    return 2 * leaves + 1


def make_nodes(capacity, n_groups) -> Nodes:
    """Room for `capacity` nodes."""
    dtypes = {"missing_left": np.uint8, "chosen": np.uint32, "groups": np.uint8}
    dtypes |= dict.fromkeys(("start", "stop", "packed", "left_packed"), np.int64)
    dtypes |= dict.fromkeys(("gain", "lower", "upper"), np.float64)
    shapes = {"chosen": (capacity, 8), "groups": (capacity, n_groups)}
    return Nodes(**{name: np.zeros(shapes.get(name, capacity), dtypes.get(name, np.int32)) for name in Nodes._fields})


def make_workspace(n_features, bundles, indicators, lines, n_slots, capacity, n_parts, counts) -> Workspace:
    """Buffers for trees on the rows of `bundles`; `counts`: histograms of numbers of rows too."""
    n_rows = bundles.words.shape[1]
    shape = (n_slots, bundles.words.shape[0] * WIDTH, bundles.n_codes)
    return Workspace(
        rows=np.empty(n_rows, np.uint32),
        scratch=np.empty((2, n_rows), np.uint32),
        words=bundles.words,
        lines=lines,
        member_start=bundles.member_start,
        member=bundles.member,
        column=bundles.column,
        offset=bundles.offset,
        usual=bundles.usual,
        indicators=indicators,
        hist=np.empty(shape, np.int64),
        parts=np.empty((n_parts, *shape[1:]), np.int64),
        counts=np.empty(shape if counts else (1, 1, 1), np.int32),  # kernels point at it unread
        heap=np.empty(capacity, np.int32),
        keys=np.empty(capacity),
        free=np.empty(n_slots, np.int32),
        state=np.zeros(8, np.int64),
        seed=np.zeros(1, np.uint64),
        allowed=np.ones((2, n_features), np.uint8),
        found_gain=np.empty((2, n_features)),
        found_bin=np.empty((2, n_features), np.int32),
        found_missing=np.empty((2, n_features), np.uint8),
        found_left=np.empty((2, n_features), np.int64),
        found_chosen=np.zeros((2, n_features, 8), np.uint32),
    )
