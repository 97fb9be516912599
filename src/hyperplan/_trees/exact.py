"""Exact trees: every threshold between two values of a column is a candidate.

``presort`` sorts each column once, into (value, row) pairs; ``grow`` partitions them from node to node.  A presort can
be shared: trees on the same X with other targets or weights (boosting, bootstrap counts) copy it instead of sorting.
Values are compared as float32, thresholds are midpoints in float64.

>>> import numpy as np
>>> from hyperplan._trees.criteria import real_targets
>>> from hyperplan._trees.exact import Growth, grow, presort
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
>>> tree = grow(presort(X), real_targets(np.array([[0.0], [0.0], [5.0], [5.0]])), Growth(), seed=0)
>>> tree.threshold[0], tree.value[1:, 0].tolist()
(np.float64(1.5), [0.0, 5.0])
"""

import math

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import exact_threads
from hyperplan._trees._criterion_kernels import IMPURITY, LOWER, UPPER, mean_impurity
from hyperplan._trees._exact_front_kernels import grow_best_first
from hyperplan._trees._exact_grow_kernels import fill_impurity
from hyperplan._trees._exact_pairs_kernels import keep_rows, label_rows
from hyperplan._trees._exact_scan_kernels import N_CANDIDATE, add_rows
from hyperplan._trees.criteria import MEAN, MEDIAN, scan_kind
from hyperplan._trees.exact_span import (
    Columns,
    Front,
    Growth,
    Presorted,
    columns_of,
    empty_stack,
    grow_span,
    kind_of,
    labelled,
    most_nodes,
    place_root,
    rule_of,
    sets_of,
    workspace,
)
from hyperplan._trees.nodes import Nodes, empty_nodes, resized

ENTRIES_PER_SORT = 2**18  # values sorted by one task


def presort(X, n_jobs=None) -> Presorted:
    """Sort every column of X: float32 array, or CSC matrix (its columns become dense a few at a time).

    Takes 8 bytes per entry of X, zeros of a sparse matrix included.
    """
    n, d = X.shape
    require_memory(8.0 * n * d, f"sorting the {d} columns of {n} rows", "use fewer rows or columns, or histograms")
    pairs = np.empty((d, n), dtype=np.int64)
    missing = np.zeros(d, dtype=np.uint8)

    def task(part):
        missing[part] = _sort_block(X[:, part], pairs[part])

    blocks = spans(d, max(1, ENTRIES_PER_SORT // max(n, 1)))
    if len(blocks) == 1:  # on small data the call of the thread pool would cost more than the sort
        task(blocks[0])
    else:
        thread_map(task, blocks, n_jobs)
    return Presorted(pairs, missing)


def _sort_block(X, pairs):
    """Fill `pairs` with the sorted columns of X; which of them have missing values."""
    block = np.ascontiguousarray((X if isinstance(X, np.ndarray) else X.toarray()).T, dtype=np.float32)
    absent = np.isnan(block)
    missing = absent.any(axis=1)
    if missing.any():
        block = np.where(absent, np.float32(np.nan), block)  # a negative NaN would come first
    upper = pairs.view(np.int32)[:, 1::2]
    upper[:] = _flip_negative(block.view(np.int32))
    pairs.view(np.int32)[:, 0::2] = np.arange(X.shape[0], dtype=np.int32)
    pairs.sort(axis=1)
    upper[:] = _flip_negative(upper)
    return missing


def _flip_negative(bits):
    """Between float32 bits and integers of the same order (the map is its own inverse)."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def _tree_columns(presorted, targets, own, n_values) -> Columns:
    """A tree's own pairs: without rows of weight zero, with rows by target for the absolute error.

    Categorical columns come a second time at the end (see `_categorical_kernels`).
    """
    pairs = presorted.pairs
    if scan_kind(targets) == MEDIAN:
        by_target = np.argsort(targets.real, axis=0, kind="stable").T.astype(np.int64)
        pairs, own = np.concatenate([pairs, by_target]), True
    if n_values is not None:
        pairs, own = np.concatenate([pairs, presorted.pairs[n_values > 0]]), True
    keep = targets.weight != 0.0
    if keep.all():  # also without weights
        pairs = pairs if own else pairs.copy()
        if labelled(targets):
            label_rows(pairs, targets.codes)
        return columns_of(pairs)
    kept = np.empty((pairs.shape[0], int(keep.sum())), dtype=np.int64)
    keep_rows(pairs, keep, kept)
    return columns_of(kept)


def grow(presorted, targets, growth=None, *, seed=0, own=False, n_jobs=None) -> Nodes:
    """Grow one tree.

    Parameters
    ----------
    presorted : Presorted
        Sorted columns; left as they are unless `own`.
    targets : Targets
        What to predict, with weights (rows of weight zero are left out: bootstrap counts go here).
    growth : Growth
        Stopping rules and search.
    seed : int
        64-bit seed: the order in which features are tried (it decides between equal splits), the subset of
        `max_features`, and random thresholds.
    own : bool
        Whether the tree may reorder the presorted pairs in place, which spares a copy.
    n_jobs : int or None
        Threads; the tree does not depend on it.

    Returns
    -------
    nodes : Nodes
        Depth first, left before right; in order of creation with `max_leaf_nodes`.
    """
    growth = growth or Growth()
    columns = _tree_columns(presorted, targets, own, growth.n_values)
    rule = rule_of(growth, targets, presorted.missing)
    n = columns.pairs.shape[1]
    work = workspace(targets, rule, n)
    root = _root_totals(columns, targets, rule, work)
    key = np.uint64(seed)
    if growth.max_leaf_nodes:
        return _best_first(columns, targets, rule, growth, root, key, work)
    if n * rule.n_features >= exact_threads.BIG_NODE:
        return exact_threads.grow_in_threads(columns, targets, rule, growth, root, key, work, n_jobs)
    return grow_span(columns, targets, rule, growth, (0, n, 0), root, key, work)


def _root_totals(columns, targets, rule, work):
    """Sums, impurity and (absent) bounds of the root."""
    root, n = np.zeros(targets.width), columns.pairs.shape[1]
    root[LOWER], root[UPPER] = -math.inf, math.inf
    add_rows(columns.rows[0], 0, n, targets.codes, targets.real, targets.weight, targets.stride, root)
    if rule.kind == MEAN:
        root[IMPURITY] = mean_impurity(rule.criterion, root, targets.n_classes, targets.scale)
    else:
        fill_impurity(columns, 0, 0, n, work.goes_left, 2, targets, rule, kind_of(rule), root)
    return root


def _best_first(columns, targets, rule, growth, root, key, work) -> Nodes:
    limit = most_nodes(growth, columns.pairs.shape[1])
    front = Front(
        *empty_stack(limit, targets.width),
        gain=np.empty(limit),
        feature=np.empty(limit, dtype=np.int64),
        cand=np.empty((limit, N_CANDIDATE)),
        heap=np.empty(limit, dtype=np.int64),
    )
    nodes = empty_nodes(limit, targets.width - 5, rule.n_words)
    place_root(front, (0, columns.pairs.shape[1], 0), key, root)
    progress, sets = np.zeros(3, dtype=np.int64), sets_of(targets, rule, columns.pairs.shape[1])
    leaves = int(min(growth.max_leaf_nodes, math.ceil(limit / 2)))
    grow_best_first(columns, targets, rule, kind_of(rule), leaves, front, nodes, work, sets, progress)
    return resized(nodes, int(progress[1]))
