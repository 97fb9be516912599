"""Trees grown on bins, joined into flat arrays that predict.

`Forest` is the plain form (walk from the root), `LeafMasks` the form for bulk prediction, see
`_boosting_predict_kernels`.  Both take raw values, which are binned first: a test on bins is the test on values.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _boosting_predict_kernels as k

ROWS = 8192  # rows of one task
FEW_ROWS = 16  # fewer are walked
MAX_MASK_LEAVES = 256  # trees with more leaves are walked
LOW_BIT = np.array([8] + [(b & -b).bit_length() - 1 for b in range(1, 256)], dtype=np.uint8)
PLACES = np.zeros(32, dtype=np.uint8)
for _bit in range(32):
    PLACES[((0x077CB531 << _bit) & 0xFFFFFFFF) >> 27] = _bit
TABLES = (LOW_BIT, PLACES)


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

    n_planes: np.ndarray
    output: np.ndarray
    node_start: np.ndarray
    feature: np.ndarray
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


def leaf_masks(trees, outputs, bin_map) -> LeafMasks | None:
    """`LeafMasks` of a list of `Tree`; None if a tree has too many leaves."""
    if max((tree.n_leaves for tree in trees), default=0) > MAX_MASK_LEAVES:
        return None
    feature, first, span, category, chosen, mask_count, plane, keep = [], [], [], [], [], [], [], []
    value, value_start, node_start, n_planes = [], [], [0], []
    for tree in trees:
        order, low, high = _leaf_ranges(tree)
        value_start.append(len(value))
        value.extend(tree.value[order])
        value.extend([0.0] * (-len(value) % 8 + 8))
        n_planes.append(-(-len(order) // 8))
        for node in np.flatnonzero(tree.left >= 0):
            a, b = low[tree.left[node]], high[tree.left[node]]
            touched = range(a // 8, (b - 1) // 8 + 1)
            for p in touched:
                bits = sum(1 << j for j in range(8) if a <= 8 * p + j < b)
                plane.append(p)
                keep.append(255 - bits)
            mask_count.append(len(touched))
            f, threshold = tree.feature[node], int(tree.bin[node])
            feature.append(f)
            if bin_map.categorical[f]:
                category.append(len(chosen))
                chosen.append(tree.chosen[node])
                threshold = 0
            else:
                category.append(-1)
            first.append(threshold + 1)
            span.append(bin_map.missing_bin - threshold - int(tree.missing_left[node]))
        node_start.append(len(feature))
    as_int = {"dtype": np.int64}
    return LeafMasks(
        n_planes=np.array(n_planes, **as_int),
        output=np.asarray(outputs, dtype=np.int64),
        node_start=np.array(node_start, **as_int),
        feature=np.array(feature, **as_int),
        first=np.array(first, dtype=np.uint8),
        span=np.array(span, dtype=np.uint8),
        category=np.array(category, dtype=np.int32),
        chosen=np.array(chosen, dtype=np.uint32).reshape(-1, 8),
        mask_start=np.concatenate(([0], np.cumsum(mask_count))).astype(np.int64),
        plane=np.array(plane, **as_int),
        keep=np.array(keep, dtype=np.uint8),
        value_start=np.array(value_start, **as_int),
        value=np.array(value),
    )


def _leaf_ranges(tree):
    """Leaves from left to right, and for each node the range of its leaves in that order."""
    n = tree.left.shape[0]
    low, high, order = np.zeros(n, dtype=int), np.zeros(n, dtype=int), []
    stack = [(0, False)]
    while stack:
        node, done = stack.pop()
        if tree.left[node] < 0:
            low[node] = len(order)
            order.append(node)
            high[node] = len(order)
        elif done:
            low[node], high[node] = low[tree.left[node]], high[tree.right[node]]
        else:
            stack += [(node, True), (tree.right[node], False), (tree.left[node], False)]
    return np.array(order), low, high


class Predictor(NamedTuple):
    """Everything needed to predict: the bins and the trees in both forms."""

    bin_map: object
    forest: Forest
    masks: LeafMasks | None
    n_outputs: int


def make_predictor(trees, outputs, bin_map, n_outputs) -> Predictor:
    """`Predictor` of a list of trees (at least one)."""
    forest = join_trees(trees, outputs, bin_map.categorical)
    return Predictor(bin_map, forest, leaf_masks(trees, outputs, bin_map), n_outputs)


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
            X, bins.edges, bins.limits, bins.missing_bin, predictor.masks, TABLES, s.start, s.stop, n_trees, out
        )
    thread_map(for_rows, spans(n, ROWS))
    return out


def add_trees(predictor: Predictor, data, first_tree, last_tree, raw, rows=None) -> None:
    """Add some trees to `raw` (n_outputs, n_samples) for binned rows (all when `rows` is None)."""
    if rows is None and predictor.masks is not None:
        thread_map(
            lambda s: k.predict_words(
                data.words, data.n_features, predictor.masks, TABLES, s.start, s.stop, first_tree, last_tree, raw
            ),
            spans(data.n_samples, ROWS),
        )
        return
    rows = np.arange(data.n_samples) if rows is None else rows
    thread_map(
        lambda s: k.walk_words(
            data.words, data.n_features, data.missing_bin, predictor.forest, rows[s], first_tree, last_tree, raw
        ),
        spans(rows.shape[0], ROWS),
    )
