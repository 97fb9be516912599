"""Trees grown on bins, joined into flat arrays that predict.

`Forest` is the plain form (walk from the root), `LeafMasks` the form for bulk prediction, see
`_boosting_predict_kernels`.  Both take raw values: a test on bins is the test on values.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _boosting_predict_kernels as k

ROWS = 2048  # rows of one task
FEW_ROWS = 16  # fewer are walked
MAX_MASK_LEAVES = 256  # trees with more leaves are walked
LOW_BIT = np.array([8] + [(b & -b).bit_length() - 1 for b in range(1, 256)], dtype=np.uint8)


class Forest(NamedTuple):
    """All trees in flat arrays; children by their position in these arrays, -1 in leaves."""

    root: np.ndarray  # (n_trees,) int64: position of the root
    output: np.ndarray  # (n_trees,) int64: which raw prediction the tree adds to
    feature: np.ndarray
    bin: np.ndarray
    missing_left: np.ndarray
    category: np.ndarray  # uint8: test by set of bins
    chosen: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray


class LeafMasks(NamedTuple):
    """Trees as tests that clear leaves: node j of tree t is in node_start[t] .. node_start[t + 1] - 1."""

    used: np.ndarray  # int64: features with a test, ascending: no other needs to be binned
    n_planes: np.ndarray
    output: np.ndarray
    node_start: np.ndarray
    feature: np.ndarray  # int64: position in `used`
    first: np.ndarray  # uint8: bins first .. first + span - 1 go right
    span: np.ndarray  # uint8
    category: np.ndarray  # int32: row of `chosen`, -1 for numbers
    chosen: np.ndarray
    mask_start: np.ndarray  # masks of node j: mask_start[j] .. mask_start[j + 1] - 1
    plane: np.ndarray
    keep: np.ndarray  # uint8
    value_start: np.ndarray
    value: np.ndarray


def join_trees(trees, outputs, categorical) -> Forest:
    """`Forest` of a list of `Tree`; outputs[t] says which raw prediction tree t adds to."""
    sizes = [tree.left.shape[0] for tree in trees]
    root = np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)

    def joined(name, dtype):
        return np.concatenate([getattr(tree, name) for tree in trees]).astype(dtype)

    shift = np.repeat(root, sizes)
    left, right, feature = joined("left", np.int64), joined("right", np.int64), joined("feature", np.int64)
    inner = left >= 0
    return Forest(
        root=root,
        output=np.asarray(outputs, dtype=np.int64),
        feature=feature,
        bin=joined("bin", np.int64),
        missing_left=joined("missing_left", np.uint8),
        category=np.where(inner, categorical[feature], 0).astype(np.uint8),
        chosen=joined("chosen", np.uint32),
        left=np.where(inner, left + shift, -1),
        right=np.where(inner, right + shift, -1),
        value=joined("value", np.float64),
    )


def leaf_masks(forest, n_leaves, bin_map) -> LeafMasks | None:
    """`LeafMasks` of a `Forest` whose trees have `n_leaves` leaves; None if a tree has too many."""
    if n_leaves.max(initial=0) > MAX_MASK_LEAVES:
        return None
    first_leaf, end_leaf = _leaf_ranges(forest)
    inner, leaf = np.flatnonzero(forest.left >= 0), np.flatnonzero(forest.left < 0)
    tree = np.searchsorted(forest.root, np.arange(forest.left.shape[0]), side="right") - 1
    # a test clears the leaves low .. high - 1 of its left side, which touch planes of 8 leaves
    low, high = first_leaf[forest.left[inner]], end_leaf[forest.left[inner]]
    n_masks = (high - 1) // 8 - low // 8 + 1
    mask_start = _starts(n_masks)
    owner = np.repeat(np.arange(inner.shape[0]), n_masks)
    plane = low[owner] // 8 + np.arange(owner.shape[0]) - mask_start[owner]
    cleared = (1 << np.minimum(high[owner] - 8 * plane, 8)) - (1 << np.maximum(low[owner] - 8 * plane, 0))
    n_planes = -(-n_leaves // 8)
    value_start = _starts(8 * (n_planes + 1))
    value = np.zeros(value_start[-1])
    value[value_start[tree[leaf]] + first_leaf[leaf]] = forest.value[leaf]
    category = forest.category[inner] > 0
    threshold = np.where(category, 0, forest.bin[inner])
    used, feature = np.unique(forest.feature[inner], return_inverse=True)
    return LeafMasks(
        used=used,
        n_planes=n_planes,
        output=forest.output,
        node_start=_starts(n_leaves - 1),
        feature=feature.astype(np.int64),
        first=(threshold + 1).astype(np.uint8),
        span=(bin_map.missing_bin - threshold - forest.missing_left[inner]).astype(np.uint8),
        category=np.where(category, np.cumsum(category) - 1, -1).astype(np.int32),
        chosen=forest.chosen[inner[category]],
        mask_start=mask_start,
        plane=plane,
        keep=(255 - cleared).astype(np.uint8),
        value_start=value_start[:-1],
        value=value,
    )


def _starts(counts):
    """Where parts of these sizes begin, and at last where the last one ends."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _leaf_ranges(forest):
    """For each node the range of its leaves, numbered from left to right within the tree."""
    first, end = np.empty((2, forest.left.shape[0]), np.int64)
    k.fill_leaf_ranges(forest.root, forest.left, forest.right, first, end)
    return first, end


class Predictor(NamedTuple):
    """Everything needed to predict: the bins and the trees in both forms."""

    bin_map: object
    forest: Forest
    masks: LeafMasks | None
    n_outputs: int


def make_predictor(trees, outputs, bin_map, n_outputs) -> Predictor:
    """`Predictor` of a list of trees (at least one)."""
    forest = join_trees(trees, outputs, bin_map.categorical)
    n_leaves = np.array([tree.n_leaves for tree in trees], dtype=np.int64)
    return Predictor(bin_map, forest, leaf_masks(forest, n_leaves, bin_map), n_outputs)


def predict_raw(predictor: Predictor, X, baseline) -> np.ndarray:
    """Raw predictions (n_outputs, n_samples): `baseline` (one per output) plus all trees, for X in any order."""
    bins, forest = predictor.bin_map, predictor.forest
    n, n_trees = X.shape[0], forest.root.shape[0]
    out = np.empty((predictor.n_outputs, n))
    out[:] = np.reshape(baseline, (-1, 1))
    if n < FEW_ROWS or predictor.masks is None:
        for_rows = lambda s: k.walk_rows(  # noqa: E731
            X, bins.edges, bins.limits, bins.missing_bin, forest, s.start, s.stop, n_trees, out
        )
        if n < FEW_ROWS:
            for_rows(slice(0, n))
            return out
    else:
        for_rows = lambda s: k.predict_rows(  # noqa: E731
            X, bins.edges, bins.limits, bins.missing_bin, predictor.masks, LOW_BIT, s.start, s.stop, n_trees, out
        )
    thread_map(for_rows, spans(n, ROWS))
    return out


def add_trees(predictor: Predictor, data, first_tree, last_tree, raw, rows=None) -> None:
    """Add some trees to `raw` (n_outputs, n_samples) for binned rows (all when `rows` is None)."""
    if rows is None and predictor.masks is not None:
        masks = predictor.masks
        thread_map(
            lambda s: k.predict_words(data.words, masks, LOW_BIT, s.start, s.stop, first_tree, last_tree, raw),
            spans(data.n_samples, ROWS),
        )
        return
    rows = np.arange(data.n_samples) if rows is None else rows
    thread_map(
        lambda s: k.walk_words(data.words, data.missing_bin, predictor.forest, rows[s], first_tree, last_tree, raw),
        spans(rows.shape[0], ROWS),
    )
